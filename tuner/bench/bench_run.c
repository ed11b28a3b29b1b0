/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_run.c - see bench_run.h. The child is forked, not started as a new program: the
 * caller has no device, no library and no thread that it could inherit. The child goes
 * through the sweep and sends a frame for each result.
 *
 * A vendor's library may crash, hang, lose the context or write where ours reads. So a
 * failure is not blamed on ours while a rival is in the process. When a line fails, it is
 * begun again in a new process without the rival that was active, or without all rivals
 * when ours was active:
 * - The line succeeds: those rivals have lost it, and take part in the next line. A rival
 *   that has lost three lines in a row is dropped.
 * - The line fails again without a rival: ours is to blame, the line is reported as failed,
 *   and the next process begins with the next line.
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
    OPEN_SECONDS = 120, /* for opening a context, and libraries of half a gigabyte */
    LINE_SECONDS = 60,  /* for data and references; launches have their own limit */
    FAILURES_MAX = 3    /* lines in a row: the rival is dropped, or ours fails */
};

enum frame_kind {
    FRAME_RIVALS,
    FRAME_FLOOR,
    FRAME_LINE,
    FRAME_OVERHEAD,
    FRAME_ERRORS,
    FRAME_FAILED
};

struct frame {
    enum frame_kind kind;
    union {
        struct gt_absence why[GT_RIVALS];
        struct {
            size_t row; /* a row of dtype.h */
            double value;
        } floor;
        struct {
            struct gt_bench_line measured;
            gt_outcome outcome;
            char text[GT_VERDICT_TEXT_MAX]; /* "" when it was measured */
        } line;
        struct gt_overhead overhead;
        struct gt_errors errors;
        struct {
            gt_status status;
            char text[GT_VERDICT_TEXT_MAX];
        } failed;
    };
};

struct rival_state {
    bool skips_line;             /* left out of this line, which failed with it */
    bool dropped;                /* left out of all lines that follow */
    int lost_lines;              /* in a row: lines that were measured only without it */
    struct gt_bench_side reason; /* for being left out */
};

struct run {
    const struct gt_device *device;
    const struct gt_bench_options *options;
    const struct gt_sweep *sweep;
    const struct gt_bench_listener *on;
    bool with_floor, rivals_reported, refused;
    bool has_floor[GT_DTYPES];
    size_t at;        /* the next line */
    int failed_lines; /* in a row, without any rival present */
    struct rival_state rival[GT_RIVALS];
    atomic_int *active; /* options.active, which the child sets */
    bool restart_line;  /* it failed and is begun again with fewer rivals */
    /* the child */
    pid_t pid;
    int from;
    double deadline;
    char end[96]; /* the way it ended */
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

static bool is_left_out(const struct run *r, int i) {
    return r->rival[i].skips_line || r->rival[i].dropped;
}

/* The rivals that take part in the present line: bit i is gt_rivals[i]. */
static unsigned present_rivals(const struct run *r) {
    unsigned present = r->options->rivals;
    for (int i = 0; i < GT_RIVALS; i++)
        if (is_left_out(r, i))
            present &= ~(1u << i);
    return present;
}

static bool any_skips_line(const struct run *r) {
    for (int i = 0; i < GT_RIVALS; i++)
        if (r->rival[i].skips_line)
            return true;
    return false;
}

/* Compares our kernel with itself, in the same way as with rivals. */
static void send_floor(struct run *r, struct gt_bench *b, const gemmtune_problem *p,
                       int to) {
    struct gt_bench_line line;
    struct frame f = {.kind = FRAME_FLOOR,
                      .floor = {.row = gt_dtype_index(gt_dtype_of(p))}};
    if (!r->with_floor || r->has_floor[f.floor.row])
        return;
    if (gt_bench_measure(&line, b, p, bit_of_self(), NULL) != GEMMTUNE_OK || line.fatal ||
        line.best < 0)
        return; /* the line itself will report the reason */
    r->has_floor[f.floor.row] = true;
    f.floor.value = gt_ratio_floor(&line.rival[line.best].ratio);
    send(to, &f);
}

static void send_line(struct run *r, struct gt_bench *b, const gemmtune_problem *p,
                      int to) {
    struct gt_err err = {""};
    struct frame f = {.kind = FRAME_LINE};
    const gt_status status =
        gt_bench_measure(&f.line.measured, b, p, present_rivals(r), &err);
    if (status != GEMMTUNE_OK) {
        f.line.outcome = status == GEMMTUNE_ENOMEM ? GT_OUT_OF_MEMORY : GT_LAUNCH;
        snprintf(f.line.text, sizeof f.line.text, "%s", err.line);
    }
    send(to, &f);
    if (f.line.measured.fatal || (status != GEMMTUNE_OK && status != GEMMTUNE_ENOMEM))
        _exit(0); /* the next process opens the device again */
}

_Noreturn static void compare_in_child(struct run *r, int to) {
    struct gt_err err = {""};
    struct gt_bench_options options = *r->options;
    struct gt_bench *b = NULL;
    struct frame f = {.kind = FRAME_RIVALS};
    options.rivals = present_rivals(r) | (r->with_floor ? bit_of_self() : 0);
    options.active = r->active;
    const gt_status status = gt_bench_create(&b, r->device, &options, f.why, &err);
    if (status != GEMMTUNE_OK)
        fail(to, status, &err);
    send(to, &f);
    for (size_t i = r->at; i < r->sweep->count; i++) {
        const gemmtune_problem *p = &r->sweep->item[i].problem;
        send_floor(r, b, p, to);
        send_line(r, b, p, to);
        if (any_skips_line(r)) /* the rivals that skip this line take part in the next */
            break;
    }
    _exit(0); /* exit handlers of drivers and libraries may hang */
}

_Noreturn static void measure_overhead_in_child(struct run *r, int to) {
    struct gt_err err = {""};
    struct frame f = {.kind = FRAME_OVERHEAD};
    const gt_status status = gt_overhead_measure(&f.overhead, r->device, r->options,
                                                 &r->sweep->item[0].problem, &err);
    if (status != GEMMTUNE_OK)
        fail(to, status, &err);
    send(to, &f);
    _exit(0);
}

_Noreturn static void measure_errors_in_child(struct run *r, int to) {
    struct gt_err err = {""};
    struct frame f = {.kind = FRAME_ERRORS};
    const gt_status status = gt_errors_measure(&f.errors, r->device, r->options,
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

static gt_status start_child(struct run *r, void (*job)(struct run *r, int to),
                             struct gt_err *err) {
    int ends[2];
    if (pipe(ends) != 0)
        return gt_fail(err, GEMMTUNE_EIO, "cannot make a pipe: %s", strerror(errno));
    for (int i = 0; i < 2; i++) /* a compiler that a driver starts must not keep it open */
        (void)fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    (void)fflush(NULL); /* otherwise the child would write our buffered output too */
    r->pid = fork();
    if (r->pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        /* `ps` tells it from the child that lists devices */
        (void)prctl(PR_SET_NAME, "gemmtune-bench");
        /* the parent decides when the child ends */
        (void)signal(SIGINT, SIG_IGN);
        /* drivers print to stdout, which is for data */
        (void)dup2(STDERR_FILENO, STDOUT_FILENO);
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

static void end_child(struct run *r) {
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

enum event { GOT_FRAME, CHILD_ENDED, TIMED_OUT, STOPPED };

static bool is_stopped(const struct run *r) {
    return r->refused || (r->on->stopped && r->on->stopped());
}

/* Waits for a whole frame, the end of the child, the deadline or the wish to stop. */
static enum event receive(struct frame *f, struct run *r) {
    enum { PATIENCE_MS = 200 };
    size_t got = 0;
    while (got < sizeof *f) {
        struct pollfd wait = {.fd = r->from, .events = POLLIN};
        if (is_stopped(r))
            return STOPPED;
        if (gt_seconds() > r->deadline)
            return TIMED_OUT;
        if (poll(&wait, 1, PATIENCE_MS) <= 0)
            continue;
        const ssize_t n = read(r->from, (char *)f + got, sizeof *f - got);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return CHILD_ENDED;
        got += (size_t)n;
    }
    return GOT_FRAME;
}

/* Leaves a rival out of the line, which is begun again, and keeps the reason. */
static void leave_out(struct run *r, int i, gt_outcome outcome, const char *text) {
    struct gt_bench_side *reason = &r->rival[i].reason;
    *reason = (struct gt_bench_side){.outcome = outcome};
    snprintf(reason->error, sizeof reason->error, "%s", text);
    r->rival[i].skips_line = true;
    r->restart_line = true;
}

/* A line failed while rivals were present. Leaves out the rival that was active, or all
 * when ours was. */
static void leave_out_suspects(struct run *r, const struct gt_bench_line *line,
                               gt_outcome outcome, const char *text) {
    const unsigned all = present_rivals(r);
    const int at = atomic_load(r->active);
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

/* Whether ours was not measured. */
static bool has_failed(const struct gt_bench_line *line, const char *text) {
    return text || !line->own.timed;
}

/* A rival loses a line when ours fails beside it and not without it. */
static void count_lost_line(struct rival_state *rival, bool lost) {
    char *const reason = rival->reason.error;
    char text[sizeof rival->reason.error];
    rival->lost_lines = lost ? rival->lost_lines + 1 : 0;
    if (rival->lost_lines < FAILURES_MAX)
        return;
    rival->dropped = true;
    snprintf(text, sizeof text, "%.200s; as before: it takes no part any more", reason);
    memcpy(reason, text, sizeof text);
}

/* Ends the line for the rivals that were left out of it, and puts their reasons into it. */
static void finish_left_out(struct gt_bench_line *line, struct run *r, bool failed) {
    for (int i = 0; i < GT_RIVALS; i++) {
        count_lost_line(&r->rival[i], r->rival[i].skips_line && !failed);
        if (is_left_out(r, i))
            line->rival[i] = r->rival[i].reason;
        r->rival[i].skips_line = false;
    }
}

static void report_line(struct run *r, const struct gt_bench_line *line, gt_outcome outcome,
                        const char *text) {
    struct gt_bench_line whole = *line;
    finish_left_out(&whole, r, has_failed(line, text));
    r->on->line(r->on->user, r->at, &whole, outcome, text);
    r->at++;
    if (r->at < r->sweep->count)
        r->deadline = gt_seconds() + line_seconds(r);
}

static void terminate_texts(struct gt_bench_side *s) {
    s->what[sizeof s->what - 1] = s->error[sizeof s->error - 1] = '\0';
}

/* The child may have been crashing when it wrote the frame. */
static void check_line(struct frame *f) {
    struct gt_bench_line *l = &f->line.measured;
    f->line.text[sizeof f->line.text - 1] = '\0';
    terminate_texts(&l->own);
    for (int i = 0; i < GT_RIVALS; i++)
        terminate_texts(&l->rival[i]);
    if (l->best >= GT_RIVALS || (unsigned)f->line.outcome >= GT_OUTCOMES)
        *l = (struct gt_bench_line){.best = -1};
}

static gt_status fail_as_child_did(const struct frame *f, struct gt_err *err) {
    if (f->kind != FRAME_FAILED)
        return gt_fail(err, GEMMTUNE_EDEVICE,
                       "the measuring process sent an invalid frame");
    return gt_fail(err,
                   f->failed.status != GEMMTUNE_OK ? f->failed.status : GEMMTUNE_EDEVICE,
                   "%.*s", GT_VERDICT_TEXT_MAX - 1, f->failed.text);
}

static void handle_line(struct run *r, struct frame *f) {
    const struct gt_bench_line *line = &f->line.measured;
    check_line(f);
    const char *text = f->line.text[0] ? f->line.text : NULL;
    if (present_rivals(r) && has_failed(line, text)) {
        leave_out_suspects(r, line, text ? f->line.outcome : line->own.outcome,
                           text ? text : line->own.error);
        return;
    }
    r->failed_lines = 0;
    report_line(r, line, f->line.outcome, text);
}

static gt_status handle_frame(struct run *r, struct frame *f, struct gt_err *err) {
    switch (f->kind) {
    case FRAME_RIVALS:
        for (int i = 0; i < GT_RIVALS; i++)
            f->why[i].text[sizeof f->why[i].text - 1] = '\0';
        r->refused = !r->rivals_reported && !r->on->rivals(r->on->user, f->why);
        r->rivals_reported = true;
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
        handle_line(r, f);
        return GEMMTUNE_OK;
    default:
        return fail_as_child_did(f, err);
    }
}

/* The child ended too early. If rivals were present, some are left out; otherwise the line
 * has failed. */
static gt_status handle_loss(struct run *r, bool late, struct gt_err *err) {
    static const struct gt_bench_line nothing = {.best = -1};
    char text[160];
    if (late)
        snprintf(text, sizeof text, "not done after %.0f s", line_seconds(r));
    else
        snprintf(text, sizeof text, "the measuring process %s", r->end);
    if (present_rivals(r)) {
        leave_out_suspects(r, &nothing, late ? GT_TIMEOUT : GT_CRASHED, text);
        return GEMMTUNE_OK;
    }
    if (++r->failed_lines == FAILURES_MAX)
        return gt_fail(err, GEMMTUNE_EDEVICE, "%s, %d times in a row", text, FAILURES_MAX);
    report_line(r, &nothing, late ? GT_TIMEOUT : GT_CRASHED, text);
    return GEMMTUNE_OK;
}

/* Runs one child from start to end. */
static gt_status run_child(struct run *r, struct gt_err *err) {
    struct frame f;
    enum event event = GOT_FRAME;
    const size_t began = r->at;
    r->restart_line = false;
    atomic_store(r->active, -1); /* before there is a child that sets it */
    gt_status status = start_child(r, compare_in_child, err);
    if (status != GEMMTUNE_OK)
        return status;
    while (status == GEMMTUNE_OK && !r->restart_line && event == GOT_FRAME &&
           r->at < r->sweep->count) {
        event = receive(&f, r);
        if (event == GOT_FRAME)
            status = handle_frame(r, &f, err);
    }
    if (event != CHILD_ENDED)
        (void)kill(r->pid, SIGKILL);
    end_child(r);
    /* a child that ends normally wants a fresh process after a line that spoiled the device
     */
    const bool gave_up = event == CHILD_ENDED && strcmp(r->end, "exited with code 0") == 0;
    if (status != GEMMTUNE_OK || event == STOPPED || event == GOT_FRAME ||
        (gave_up && r->at > began))
        return status;
    return handle_loss(r, event == TIMED_OUT, err);
}

/* Makes a number that a child may write and that outlives the child. */
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
    gt_status status = share(&r.active, err);
    while (status == GEMMTUNE_OK && r.at < sweep->count && !is_stopped(&r))
        status = run_child(&r, err);
    unshare(r.active);
    return status;
}

/* A question to a child about one problem, which it answers with one frame. */
struct question {
    const struct gt_device *device;
    const struct gt_bench_options *options;
    const gemmtune_problem *problem;
    bool (*stopped)(void);
    void (*job)(struct run *r, int to);
    enum frame_kind answer;
};

static gt_status ask(struct frame *f, const struct question *q, struct gt_err *err) {
    struct gt_sweep_item item = {.problem = *q->problem};
    const struct gt_sweep one = {.count = 1, .item = &item};
    const struct gt_bench_listener nobody = {.stopped = q->stopped};
    struct run r = {
        .device = q->device, .options = q->options, .sweep = &one, .on = &nobody};
    gt_problem_name(q->problem, item.name);
    gt_status status = start_child(&r, q->job, err);
    if (status != GEMMTUNE_OK)
        return status;
    const enum event event = receive(f, &r);
    if (event != CHILD_ENDED)
        (void)kill(r.pid, SIGKILL);
    end_child(&r);
    if (event == GOT_FRAME && f->kind != q->answer)
        status = fail_as_child_did(f, err);
    else if (event != GOT_FRAME)
        status = gt_fail(err, GEMMTUNE_EDEVICE, "the measuring process %s",
                         event == STOPPED     ? "was stopped"
                         : event == TIMED_OUT ? "took too long"
                                              : r.end);
    return status;
}

gt_status gt_bench_run_overhead(struct gt_overhead *out, const struct gt_device *d,
                                const struct gt_bench_options *options,
                                const gemmtune_problem *p, bool (*stopped)(void),
                                struct gt_err *err) {
    struct frame f;
    const struct question q = {
        d, options, p, stopped, measure_overhead_in_child, FRAME_OVERHEAD};
    const gt_status status = ask(&f, &q, err);
    if (status == GEMMTUNE_OK)
        *out = f.overhead;
    return status;
}

gt_status gt_bench_run_errors(struct gt_errors *out, const struct gt_device *d,
                              const struct gt_bench_options *options,
                              const gemmtune_problem *p, bool (*stopped)(void),
                              struct gt_err *err) {
    struct frame f;
    const struct question q = {d,           options, p, stopped, measure_errors_in_child,
                               FRAME_ERRORS};
    const gt_status status = ask(&f, &q, err);
    if (status == GEMMTUNE_OK)
        *out = f.errors;
    return status;
}
