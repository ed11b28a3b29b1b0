/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_run.c - see bench_run.h. One child after another goes through the lines of the
 * sweep. Which rivals the next child leaves out after a failure: bench_blame.h.
 */
#define _DEFAULT_SOURCE /* for MAP_ANONYMOUS */
#include "tuner/bench/bench_run.h"

#include "core/clock.h"
#include "tuner/bench/bench_blame.h"
#include "tuner/bench/bench_process.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

/* A side's stay: from the moment when it was seen to begin. */
struct stay {
    unsigned entrance;
    double since; /* gt_seconds */
    bool said;    /* that it takes long */
};

struct run {
    const struct gt_bench_listener *on;
    struct gt_bench_task task; /* the next child's */
    struct gt_bench_blame blame;
    struct gt_bench_process child;
    struct stay stay;
    bool late_rival; /* the child was ended because a rival took too long */
    bool rivals_reported, refused;
    bool restart_line; /* it failed and is begun again with fewer rivals */
    size_t at;         /* the next line to report */
    int failed_lines;  /* in a row, without any rival present */
};

static bool is_stopped(const struct run *r) {
    return r->refused || (r->on->stopped && r->on->stopped());
}

static void give_a_line_more(struct run *r) {
    r->child.deadline = gt_seconds() + gt_bench_line_seconds(&r->task, r->at);
}

/* ---- a line's end ---- */

/* Whether ours was not measured. */
static bool has_failed(const struct gt_bench_line *line, const char *text) {
    return text || !line->own.timed;
}

static void begin_line_again(struct run *r, const struct gt_bench_line *line,
                             gt_outcome outcome, const char *text) {
    gt_bench_blame_rivals(&r->blame, atomic_load(&r->task.active->who), line, outcome,
                          text);
    r->restart_line = true;
}

static void report_line(struct run *r, const struct gt_bench_line *line, gt_outcome outcome,
                        const char *text) {
    struct gt_bench_line whole = *line;
    gt_bench_blame_settle(&whole, &r->blame, has_failed(line, text));
    r->on->line(r->on->user, r->at, &whole, outcome, text);
    r->at++;
    if (r->at < r->task.sweep->count)
        give_a_line_more(r);
}

/* ---- frames ---- */

static void terminate_texts(struct gt_bench_side *s) {
    s->what[sizeof s->what - 1] = s->error[sizeof s->error - 1] = '\0';
}

/* The child may have been crashing when it wrote the frame. */
static void check_line(struct gt_bench_frame *f) {
    struct gt_bench_line *l = &f->line.measured;
    f->line.text[sizeof f->line.text - 1] = '\0';
    l->kernel.family[sizeof l->kernel.family - 1] = '\0';
    l->kernel.point[sizeof l->kernel.point - 1] = '\0';
    terminate_texts(&l->own);
    for (int i = 0; i < GT_RIVALS; i++)
        terminate_texts(&l->rival[i]);
    if (l->best >= GT_RIVALS || (unsigned)f->line.outcome >= GT_OUTCOMES)
        *l = (struct gt_bench_line){.best = -1};
}

static void handle_rivals(struct run *r, struct gt_bench_frame *f) {
    for (int i = 0; i < GT_RIVALS; i++)
        f->why[i].text[sizeof f->why[i].text - 1] = '\0';
    r->refused = !r->rivals_reported && !r->on->rivals(r->on->user, f->why);
    r->rivals_reported = true;
    give_a_line_more(r);
}

static void handle_floor(struct run *r, const struct gt_bench_frame *f) {
    if (f->floor.row < GT_DTYPES) {
        r->task.has_floor[f->floor.row] = true;
        r->on->floor(r->on->user, f->floor.row, f->floor.value);
    }
    give_a_line_more(r);
}

static void handle_line(struct run *r, struct gt_bench_frame *f) {
    const struct gt_bench_line *line = &f->line.measured;
    check_line(f);
    const char *text = f->line.text[0] ? f->line.text : NULL;
    if (gt_bench_blame_present(&r->blame) && has_failed(line, text)) {
        begin_line_again(r, line, text ? f->line.outcome : line->own.outcome,
                         text ? text : line->own.error);
        return;
    }
    r->failed_lines = 0;
    report_line(r, line, f->line.outcome, text);
}

static gt_status handle_frame(struct run *r, struct gt_bench_frame *f, struct gt_err *err) {
    switch (f->kind) {
    case GT_FRAME_RIVALS:
        handle_rivals(r, f);
        return GEMMTUNE_OK;
    case GT_FRAME_FLOOR:
        handle_floor(r, f);
        return GEMMTUNE_OK;
    case GT_FRAME_LINE:
        handle_line(r, f);
        return GEMMTUNE_OK;
    default:
        return gt_bench_process_failure(f, err);
    }
}

/* ---- a rival that takes long ---- */

static void begin_stay(struct stay *s, unsigned entrance) {
    *s = (struct stay){.entrance = entrance, .since = gt_seconds()};
}

/* Says that a rival takes long, and ends the child when it takes too long. */
static void watch_rival(struct run *r) {
    enum { PATIENCE_S = 3 };
    const int who = atomic_load(&r->task.active->who);
    const unsigned entrance = atomic_load(&r->task.active->entrances);
    const double now = gt_seconds();
    if (entrance != r->stay.entrance)
        begin_stay(&r->stay, entrance);
    if (who < 0 || who >= GT_RIVALS || !r->rivals_reported)
        return;
    const double limit_s = gt_bench_rival_seconds(&r->task, r->at);
    if (!r->stay.said && now > r->stay.since + PATIENCE_S) {
        r->stay.said = true;
        if (r->on->waiting)
            r->on->waiting(r->on->user, r->at, gt_rivals[who], limit_s);
    }
    r->late_rival = now > r->stay.since + limit_s;
    if (r->late_rival)
        r->child.deadline = 0;
}

static bool look(void *user) {
    struct run *r = user;
    watch_rival(r);
    return r->on->stopped && r->on->stopped();
}

/* ---- one child ---- */

/* The child ended too early. If rivals were present, some are left out; otherwise the line
 * has failed. */
static gt_status handle_loss(struct run *r, bool late, struct gt_err *err) {
    static const struct gt_bench_line nothing = {.best = -1};
    const gt_outcome outcome = late ? GT_TIMEOUT : GT_CRASHED;
    char text[160];
    if (late && r->late_rival)
        snprintf(text, sizeof text, "not ready after %.0f s; --timeout gives it more",
                 gt_bench_rival_seconds(&r->task, r->at));
    else if (late)
        snprintf(text, sizeof text, "not done after %.0f s",
                 gt_bench_line_seconds(&r->task, r->at));
    else
        snprintf(text, sizeof text, "the measuring process %s", r->child.end);
    if (gt_bench_blame_present(&r->blame)) {
        begin_line_again(r, &nothing, outcome, text);
        return GEMMTUNE_OK;
    }
    if (++r->failed_lines == GT_BENCH_FAILURES_MAX)
        return gt_fail(err, GEMMTUNE_EDEVICE, "%s, %d times in a row", text,
                       GT_BENCH_FAILURES_MAX);
    report_line(r, &nothing, outcome, text);
    return GEMMTUNE_OK;
}

static gt_status start_child(struct run *r, struct gt_err *err) {
    r->restart_line = false;
    r->task.first = r->at;
    r->task.only_one = gt_bench_blame_any_skips(&r->blame);
    r->task.rivals = gt_bench_blame_present(&r->blame);
    r->late_rival = false;
    begin_stay(&r->stay, atomic_load(&r->task.active->entrances));
    atomic_store(&r->task.active->who, -1); /* before there is a child that sets it */
    return gt_bench_process_start(&r->child, gt_bench_child_compare, &r->task, err);
}

/* Handles the child's frames until a line is begun again, all lines are done, the child
 * has failed, or `last` is no frame. */
static gt_status listen_to_child(enum gt_bench_event *last, struct run *r,
                                 struct gt_err *err) {
    struct gt_bench_frame f;
    gt_status status = GEMMTUNE_OK;
    *last = GT_GOT_FRAME;
    while (status == GEMMTUNE_OK && !r->restart_line && !r->refused &&
           *last == GT_GOT_FRAME && r->at < r->task.sweep->count) {
        *last = gt_bench_process_receive(&f, &r->child, look, r);
        if (*last == GT_GOT_FRAME)
            status = handle_frame(r, &f, err);
    }
    return status;
}

/* Runs one child from start to end. */
static gt_status run_child(struct run *r, struct gt_err *err) {
    enum gt_bench_event last;
    gt_status status = start_child(r, err);
    if (status != GEMMTUNE_OK)
        return status;
    status = listen_to_child(&last, r, err);
    gt_bench_process_end(&r->child, last);
    /* A child that ends normally wants a fresh process after a line that spoiled the
     * device. */
    const bool gave_up =
        last == GT_CHILD_ENDED && strcmp(r->child.end, "exited with code 0") == 0;
    if (status != GEMMTUNE_OK || last == GT_STOPPED || last == GT_GOT_FRAME ||
        (gave_up && r->at > r->task.first))
        return status;
    return handle_loss(r, last == GT_TIMED_OUT, err);
}

/* ---- the run ---- */

/* Makes numbers that a child may write and that outlive the child. */
static gt_status share(struct gt_bench_active **out, struct gt_err *err) {
    const int how = MAP_SHARED | MAP_ANONYMOUS;
    /* cppcheck-suppress invalidFunctionArg ; -1 is no file */
    void *page = mmap(NULL, sizeof **out, PROT_READ | PROT_WRITE, how, -1, 0);
    *out = page == MAP_FAILED ? NULL : page;
    if (!*out)
        return gt_fail(err, GEMMTUNE_ENOMEM, "cannot share memory: %s", strerror(errno));
    atomic_init(&(*out)->who, -1);
    atomic_init(&(*out)->entrances, 0);
    return GEMMTUNE_OK;
}

static void unshare(struct gt_bench_active *shared) {
    if (shared)
        (void)munmap(shared, sizeof *shared);
}

gt_status gt_bench_run(const struct gt_device *d, const struct gt_bench_options *options,
                       const struct gt_sweep *sweep, bool with_floor,
                       const struct gt_bench_listener *on, struct gt_err *err) {
    struct run r = {
        .on = on,
        .blame = {.requested = options->rivals},
        .task = {
            .device = d, .options = options, .sweep = sweep, .with_floor = with_floor}};
    gt_status status = share(&r.task.active, err);
    while (status == GEMMTUNE_OK && r.at < sweep->count && !is_stopped(&r))
        status = run_child(&r, err);
    unshare(r.task.active);
    return status;
}
