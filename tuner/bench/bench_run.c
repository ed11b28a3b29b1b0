/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_run.c - see bench_run.h. The child is forked, not started anew: the caller has no
 * device, no library and no thread that it could inherit. It goes through the sweep and
 * sends a frame for whatever it has found.
 *
 * A vendor's library may crash, hang, lose the context or write where ours reads. So ours
 * is found guilty of nothing in a process that has a rival in it: when a line fails,
 * whoever was being called then is left out and the line is begun again in the next
 * process; when it was ours, all of them are. What still fails is ours, and the next
 * process begins behind that line.
 */
#define _DEFAULT_SOURCE /* for prctl's declaration on old C libraries */
#include "tuner/bench/bench_run.h"

#include "core/clock.h"
#include "core/io.h"
#include "tuner/bench/bench_stats.h"
#include "tuner/lab/ratio.h"
#include "tuner/work/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    OPEN_SECONDS = 120, /* for a context, and for libraries of half a gigabyte */
    LINE_SECONDS = 60,  /* for data and references, besides what launches take */
    DEATHS_MAX =
        3 /* in a row: it is not the problems. A rival's: it takes no part any more */
};

enum frame_kind { FRAME_RIVALS, FRAME_FLOOR, FRAME_LINE, FRAME_OVERHEAD, FRAME_FAILED };

struct frame {
    enum frame_kind kind;
    union {
        struct gt_absence why[GT_RIVALS];
        struct {
            size_t row; /* of dtype.h */
            double value;
        } floor;
        struct {
            struct gt_bench_line measured;
            gt_outcome outcome;
            char text[GT_VERDICT_TEXT_MAX]; /* "": measured */
        } line;
        struct gt_overhead overhead;
        struct {
            gt_status status;
            char text[GT_VERDICT_TEXT_MAX];
        } failed;
    };
};

struct run {
    const struct gt_device *device;
    const struct gt_bench_options *options;
    const struct gt_sweep *sweep;
    const struct gt_bench_listener *on;
    bool with_floor, introduced, refused;
    bool has_floor[GT_DTYPES];
    size_t at; /* the line that is next */
    int deaths;
    /* rivals, bit i of gt_rivals[i] */
    unsigned out;                           /* not in this line: it failed with them */
    unsigned gone;                          /* nor in any that follows */
    struct gt_bench_side fallen[GT_RIVALS]; /* why not */
    int losses[GT_RIVALS]; /* lines in a row that went well without it only */
    atomic_int *calling;   /* the child tells it: options.at */
    bool again;            /* the line is to be begun again */
    /* the child */
    pid_t pid;
    int from;
    double deadline;
    char end[96]; /* how it ended */
};

/* ---- the child ---- */

static void send(int to, const struct frame *f) {
    if (!gt_write_all(to, f, sizeof *f))
        _exit(1);
}

_Noreturn static void fail(int to, gt_status status, const struct gt_err *err) {
    struct frame f = {.kind = FRAME_FAILED, .failed = {.status = status}};
    snprintf(f.failed.text, sizeof f.failed.text, "%s", err->line);
    send(to, &f);
    _exit(0);
}

static unsigned bit_of_self(void) {
    unsigned bit = 0;
    for (int i = 0; i < GT_RIVALS; i++)
        bit |= gt_rivals[i] == &gt_rival_self ? 1u << i : 0;
    return bit;
}

static unsigned partakers(const struct run *r) {
    return r->options->rivals & ~r->out & ~r->gone;
}

/* Our kernel against itself, by the same road as against the others. */
static void send_floor(struct run *r, struct gt_bench *b, const gemmtune_problem *p,
                       int to) {
    struct gt_bench_line line;
    struct frame f = {.kind = FRAME_FLOOR,
                      .floor = {.row = gt_dtype_index(gt_dtype_of(p))}};
    if (!r->with_floor || r->has_floor[f.floor.row])
        return;
    if (gt_bench_measure(&line, b, p, bit_of_self(), NULL) || line.fatal || line.best < 0)
        return; /* the line itself will say why */
    r->has_floor[f.floor.row] = true;
    f.floor.value = gt_ratio_floor(&line.rival[line.best].ratio);
    send(to, &f);
}

static void send_line(struct run *r, struct gt_bench *b, const gemmtune_problem *p,
                      int to) {
    struct gt_err err = {""};
    struct frame f = {.kind = FRAME_LINE};
    const gt_status status = gt_bench_measure(&f.line.measured, b, p, partakers(r), &err);
    if (status != GEMMTUNE_OK) {
        f.line.outcome = status == GEMMTUNE_ENOMEM ? GT_OUT_OF_MEMORY : GT_LAUNCH;
        snprintf(f.line.text, sizeof f.line.text, "%s", err.line);
    }
    send(to, &f);
    if (f.line.measured.fatal || (status != GEMMTUNE_OK && status != GEMMTUNE_ENOMEM))
        _exit(0); /* whoever comes next opens the device anew */
}

_Noreturn static void work(struct run *r, int to) {
    struct gt_err err = {""};
    struct gt_bench_options options = *r->options;
    struct gt_bench *b = NULL;
    struct frame f = {.kind = FRAME_RIVALS};
    options.rivals = partakers(r) | (r->with_floor ? bit_of_self() : 0);
    options.at = r->calling;
    const gt_status status = gt_bench_create(&b, r->device, &options, f.why, &err);
    if (status != GEMMTUNE_OK)
        fail(to, status, &err);
    send(to, &f);
    for (size_t i = r->at; i < r->sweep->count; i++) {
        const gemmtune_problem *p = &r->sweep->item[i].problem;
        send_floor(r, b, p, to);
        send_line(r, b, p, to);
        if (r->out) /* those behind it are others' as well */
            break;
    }
    _exit(0); /* exit handlers of drivers and libraries are one more thing that can hang */
}

_Noreturn static void work_overhead(struct run *r, int to) {
    struct gt_err err = {""};
    struct frame f = {.kind = FRAME_OVERHEAD};
    const gt_status status = gt_overhead_measure(&f.overhead, r->device, r->options,
                                                 &r->sweep->item[0].problem, &err);
    if (status != GEMMTUNE_OK)
        fail(to, status, &err);
    send(to, &f);
    _exit(0);
}

/* ---- the parent: starting and ending a child ---- */

static double line_seconds(const struct run *r) {
    struct gt_job job;
    if (r->options->timeout_s > 0)
        return r->options->timeout_s;
    gt_job_init(&job, GT_JOB_FINAL, r->device, r->sweep->item[r->at].name);
    job.count = 2; /* sides */
    return LINE_SECONDS + gt_pool_launch_seconds(&job) + gt_bench_seconds(r->options);
}

static gt_status start(struct run *r, void (*job)(struct run *r, int to),
                       struct gt_err *err) {
    int ends[2];
    if (pipe(ends) != 0)
        return gt_fail(err, GEMMTUNE_EIO, "cannot make a pipe: %s", strerror(errno));
    for (int i = 0; i < 2; i++) /* a compiler that a driver starts must not keep it open */
        (void)fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    (void)fflush(NULL); /* else the child would have our unwritten words as well */
    r->pid = fork();
    if (r->pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)signal(SIGINT, SIG_IGN);            /* the parent decides when it ends */
        (void)dup2(STDERR_FILENO, STDOUT_FILENO); /* drivers print; stdout is data */
        (void)close(ends[0]);
        job(r, ends[1]);
    }
    (void)close(ends[1]);
    r->from = ends[0];
    r->deadline = gt_seconds() + OPEN_SECONDS + line_seconds(r);
    if (r->pid > 0)
        return GEMMTUNE_OK;
    (void)close(ends[0]);
    return gt_fail(err, GEMMTUNE_EIO, "cannot start a process: %s", strerror(errno));
}

static void end(struct run *r) {
    int state = 0;
    (void)close(r->from);
    while (waitpid(r->pid, &state, 0) < 0 && errno == EINTR)
        ;
    if (WIFSIGNALED(state))
        snprintf(r->end, sizeof r->end, "ended by signal %d (%s)", WTERMSIG(state),
                 strsignal(WTERMSIG(state)));
    else
        snprintf(r->end, sizeof r->end, "exited with code %d", WEXITSTATUS(state));
    r->pid = 0;
}

/* ---- the parent: listening ---- */

enum heard { HEARD_FRAME, HEARD_END, HEARD_LATE, HEARD_STOP };

static bool is_stopped(const struct run *r) {
    return r->refused || (r->on->stopped && r->on->stopped());
}

/* A whole frame, the child's end, the deadline, or a wish to stop. */
static enum heard hear(struct frame *f, struct run *r) {
    enum { PATIENCE_MS = 200 };
    size_t got = 0;
    while (got < sizeof *f) {
        struct pollfd wait = {.fd = r->from, .events = POLLIN};
        if (is_stopped(r))
            return HEARD_STOP;
        if (gt_seconds() > r->deadline)
            return HEARD_LATE;
        if (poll(&wait, 1, PATIENCE_MS) <= 0)
            continue;
        const ssize_t n = read(r->from, (char *)f + got, sizeof *f - got);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return HEARD_END;
        got += (size_t)n;
    }
    return HEARD_FRAME;
}

/* Leaves a rival out of the line that is to be begun again, and remembers why. */
static void leave_out(struct run *r, int i, gt_outcome outcome, const char *text) {
    struct gt_bench_side *s = &r->fallen[i];
    *s = (struct gt_bench_side){.outcome = outcome};
    snprintf(s->error, sizeof s->error, "%s", text);
    r->out |= 1u << i;
    r->again = true;
}

/* The line failed with rivals in the process: the one that was being called is left out, or
 * all when that was ours. */
static void suspect(struct run *r, const struct gt_bench_line *line, gt_outcome outcome,
                    const char *text) {
    const unsigned all = partakers(r);
    const int at = atomic_load(r->calling);
    if (at >= 0 && at < GT_RIVALS && all & 1u << at) {
        leave_out(r, at, outcome, text);
        return;
    }
    for (int i = 0; i < GT_RIVALS; i++) {
        const struct gt_bench_side *s = &line->rival[i];
        char beside[GT_VERDICT_TEXT_MAX];
        snprintf(beside, sizeof beside, "ours failed beside it (%.200s)", text);
        if (all & 1u << i)
            leave_out(r, i, s->error[0] ? s->outcome : outcome,
                      s->error[0] ? s->error : beside);
    }
}

/* Ours was not measured. */
static bool has_failed(const struct gt_bench_line *line, const char *text) {
    return text || !line->own.timed;
}

/* A rival has lost a line when ours fails beside it and not without it. */
static void count_loss(struct run *r, int i, bool lost) {
    struct gt_bench_side *s = &r->fallen[i];
    char text[sizeof s->error];
    r->losses[i] = lost ? r->losses[i] + 1 : 0;
    if (r->losses[i] < DEATHS_MAX)
        return;
    r->gone |= 1u << i;
    snprintf(text, sizeof text, "%.200s; as before: it takes no part any more", s->error);
    memcpy(s->error, text, sizeof text);
}

/* Those left out say why. */
static void merge_fallen(struct gt_bench_line *line, struct run *r, bool failed) {
    for (int i = 0; i < GT_RIVALS; i++) {
        count_loss(r, i, r->out & 1u << i && !failed);
        if ((r->out | r->gone) & 1u << i)
            line->rival[i] = r->fallen[i];
    }
}

static void tell_line(struct run *r, const struct gt_bench_line *line, gt_outcome outcome,
                      const char *text) {
    struct gt_bench_line whole = *line;
    merge_fallen(&whole, r, has_failed(line, text));
    r->on->line(r->on->user, r->at, &whole, outcome, text);
    r->at++;
    r->out = 0;
    if (r->at < r->sweep->count)
        r->deadline = gt_seconds() + line_seconds(r);
}

static void end_texts(struct gt_bench_side *s) {
    s->what[sizeof s->what - 1] = s->error[sizeof s->error - 1] = '\0';
}

/* A frame comes from a process that may have been dying. */
static void mend_line(struct frame *f) {
    struct gt_bench_line *l = &f->line.measured;
    f->line.text[sizeof f->line.text - 1] = '\0';
    end_texts(&l->own);
    for (int i = 0; i < GT_RIVALS; i++)
        end_texts(&l->rival[i]);
    if (l->best >= GT_RIVALS || (unsigned)f->line.outcome >= GT_OUTCOMES)
        *l = (struct gt_bench_line){.best = -1};
}

static gt_status take_failure(const struct frame *f, struct gt_err *err) {
    if (f->kind != FRAME_FAILED)
        return gt_fail(err, GEMMTUNE_EDEVICE, "the process that measures sent nonsense");
    return gt_fail(err,
                   f->failed.status != GEMMTUNE_OK ? f->failed.status : GEMMTUNE_EDEVICE,
                   "%.*s", GT_VERDICT_TEXT_MAX - 1, f->failed.text);
}

static void take_line(struct run *r, struct frame *f) {
    const struct gt_bench_line *line = &f->line.measured;
    mend_line(f);
    const char *text = f->line.text[0] ? f->line.text : NULL;
    if (partakers(r) && has_failed(line, text)) {
        suspect(r, line, text ? f->line.outcome : line->own.outcome,
                text ? text : line->own.error);
        return;
    }
    r->deaths = 0;
    tell_line(r, line, f->line.outcome, text);
}

static gt_status take(struct run *r, struct frame *f, struct gt_err *err) {
    switch (f->kind) {
    case FRAME_RIVALS:
        for (int i = 0; i < GT_RIVALS; i++)
            f->why[i].text[sizeof f->why[i].text - 1] = '\0';
        r->refused = !r->introduced && !r->on->rivals(r->on->user, f->why);
        r->introduced = true;
        r->deadline = gt_seconds() + line_seconds(r);
        return GEMMTUNE_OK;
    case FRAME_FLOOR:
        if (f->floor.row < GT_DTYPES) {
            r->has_floor[f->floor.row] = true;
            r->on->floor(r->on->user, f->floor.row, f->floor.value);
        }
        r->deadline = gt_seconds() + line_seconds(r);
        return GEMMTUNE_OK;
    case FRAME_LINE:
        take_line(r, f);
        return GEMMTUNE_OK;
    default:
        return take_failure(f, err);
    }
}

/* The child is gone before its time: a rival pays for it, or without any the line that it
 * was at. */
static gt_status blame(struct run *r, bool late, struct gt_err *err) {
    static const struct gt_bench_line nothing = {.best = -1};
    char text[160];
    if (late)
        snprintf(text, sizeof text, "not done after %.0f s", line_seconds(r));
    else
        snprintf(text, sizeof text, "the process that measures %s", r->end);
    if (partakers(r)) {
        suspect(r, &nothing, late ? GT_TIMEOUT : GT_CRASHED, text);
        return GEMMTUNE_OK;
    }
    if (++r->deaths == DEATHS_MAX)
        return gt_fail(err, GEMMTUNE_EDEVICE, "%s, %d times in a row", text, DEATHS_MAX);
    tell_line(r, &nothing, late ? GT_TIMEOUT : GT_CRASHED, text);
    return GEMMTUNE_OK;
}

/* One child from start to end. */
static gt_status go_on(struct run *r, struct gt_err *err) {
    struct frame f;
    enum heard heard = HEARD_FRAME;
    const size_t began = r->at;
    r->again = false;
    atomic_store(r->calling, -1); /* before there is a child that tells it */
    gt_status status = start(r, work, err);
    if (status != GEMMTUNE_OK)
        return status;
    while (status == GEMMTUNE_OK && !r->again && heard == HEARD_FRAME &&
           r->at < r->sweep->count) {
        heard = hear(&f, r);
        if (heard == HEARD_FRAME)
            status = take(r, &f, err);
    }
    if (heard != HEARD_END)
        (void)kill(r->pid, SIGKILL);
    end(r);
    /* one that ended well gave the device back because a line had spoiled it */
    const bool gave_up = heard == HEARD_END && strcmp(r->end, "exited with code 0") == 0;
    if (status != GEMMTUNE_OK || heard == HEARD_STOP || heard == HEARD_FRAME ||
        (gave_up && r->at > began))
        return status;
    return blame(r, heard == HEARD_LATE, err);
}

/* A number that a child may write and outlives it. */
static gt_status share(atomic_int **out, struct gt_err *err) {
    const int how = MAP_SHARED | MAP_ANONYMOUS;
    /* cppcheck-suppress invalidFunctionArg ; -1 is no file */
    void *page = mmap(NULL, sizeof **out, PROT_READ | PROT_WRITE, how, -1, 0);
    *out = page == MAP_FAILED ? NULL : page;
    if (!*out)
        return gt_fail(err, GEMMTUNE_ENOMEM, "cannot share memory: %s", strerror(errno));
    atomic_init(*out, -1);
    return GEMMTUNE_OK;
}

static void unshare(atomic_int *shared) {
    if (shared)
        (void)munmap(shared, sizeof *shared);
}

gt_status gt_bench_run(const struct gt_device *d, const struct gt_bench_options *options,
                       const struct gt_sweep *sweep, bool with_floor,
                       const struct gt_bench_listener *on, struct gt_err *err) {
    struct run r = {.device = d,
                    .options = options,
                    .sweep = sweep,
                    .on = on,
                    .with_floor = with_floor};
    gt_status status = share(&r.calling, err);
    while (status == GEMMTUNE_OK && r.at < sweep->count && !is_stopped(&r))
        status = go_on(&r, err);
    unshare(r.calling);
    return status;
}

gt_status gt_bench_run_overhead(struct gt_overhead *out, const struct gt_device *d,
                                const struct gt_bench_options *options,
                                const gemmtune_problem *p, bool (*stopped)(void),
                                struct gt_err *err) {
    struct gt_sweep_item item = {.problem = *p};
    const struct gt_sweep one = {.count = 1, .item = &item};
    const struct gt_bench_listener nobody = {.stopped = stopped};
    struct run r = {.device = d, .options = options, .sweep = &one, .on = &nobody};
    struct frame f;
    gt_problem_name(p, item.name);
    gt_status status = start(&r, work_overhead, err);
    if (status != GEMMTUNE_OK)
        return status;
    const enum heard heard = hear(&f, &r);
    if (heard != HEARD_END)
        (void)kill(r.pid, SIGKILL);
    end(&r);
    if (heard == HEARD_FRAME && f.kind == FRAME_OVERHEAD)
        *out = f.overhead;
    else if (heard == HEARD_FRAME)
        status = take_failure(&f, err);
    else
        status = gt_fail(err, GEMMTUNE_EDEVICE, "the process that measures %s",
                         heard == HEARD_STOP   ? "was stopped"
                         : heard == HEARD_LATE ? "took too long"
                                               : r.end);
    return status;
}
