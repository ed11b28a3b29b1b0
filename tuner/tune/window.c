/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window.c - see window.h. Each open pick goes through asked -> compiled -> run -> told:
 * the strategy is asked, jobs are sent to workers, their reports are handled.
 */
#include "tuner/tune/window_inside.h"

#include "core/clock.h"
#include "tuner/lab/lab.h"
#include "tuner/tune/ahead.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the window ---- */

/* The number of open picks. With more of them, each is chosen with fewer results. With only
 * as many as there are compilers, compilers would be idle while the slowest candidate
 * compiles. */
static int picks_ahead(const struct gt_tuner *t) {
    const int picks = t->compilers + t->compilers / 2 + 2;
    return t->compilers == 0 ? 1 : picks < GT_WINDOW_PICKS ? picks : GT_WINDOW_PICKS;
}

static gt_status ask_one(struct gt_window *w, struct gt_err *err) {
    struct gt_pick pick;
    bool found = false;
    const enum gt_ask answer = gt_search_ask(w->search, &pick);
    w->exhausted = answer == GT_ASK_DONE;
    w->waiting = answer == GT_ASK_WAIT;
    if (answer != GT_ASK_PICK)
        return GEMMTUNE_OK;
    struct gt_window_entry *e = gt_window_at(w, w->open++);
    memset(e, 0, sizeof *e);
    e->pick = pick;
    e->required = w->required > 0;
    w->required -= e->required;
    e->family = w->space[pick.space].family;
    e->id = ++w->t->next_id;
    e->state = w->t->compilers > 0 ? GT_PICK_ASKED : GT_PICK_READY;
    gt_tune_candidate(&e->candidate, &w->space[pick.space], pick.index);
    return gt_window_find_stored(&found, w, e, err);
}

static gt_status fill_window(struct gt_window *w, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    w->waiting = false;
    while (status == GEMMTUNE_OK && w->open < GT_WINDOW_PICKS && !w->exhausted &&
           !w->waiting && !gt_window_is_out_of_time(w) &&
           (w->required > 0 || !gt_window_is_late(w)))
        status = ask_one(w, err);
    return status;
}

/* Tells the search the results in order: a result waits for the picks before it. */
static void drain_window(struct gt_window *w) {
    while (w->open > 0 && gt_window_at(w, 0)->state == GT_PICK_RESOLVED) {
        const struct gt_window_entry *e = gt_window_at(w, 0);
        gt_search_tell(w->search, &e->pick, e->outcome, e->median_ns);
        w->head = (w->head + 1) % GT_WINDOW_PICKS;
        w->open--;
    }
}

static gt_status send_compiles(struct gt_window *w, struct gt_err *err) {
    struct gt_job job;
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; status == GEMMTUNE_OK && i < w->open && gt_pool_can_compile(w->t->pool);
         i++) {
        struct gt_window_entry *e = gt_window_at(w, i);
        if (e->state != GT_PICK_ASKED || !gt_window_should_compile(w, e))
            continue;
        if (gt_window_is_compiled_ahead(w, e))
            continue;
        gt_window_init_job(&job, w, GT_JOB_COMPILE, e);
        status = gt_pool_send(w->t->pool, &job, err);
        e->state = GT_PICK_COMPILING;
        e->compile_at = gt_seconds();
    }
    return status;
}

static gt_status send_run(struct gt_window *w, struct gt_err *err) {
    struct gt_job job;
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; status == GEMMTUNE_OK && i < w->open && gt_pool_can_run(w->t->pool);
         i++) {
        struct gt_window_entry *e = gt_window_at(w, i);
        bool claimed = false;
        if (e->state != GT_PICK_READY || !gt_window_wants(w, e))
            continue;
        status = gt_window_begin_trial(&claimed, w, e, err);
        if (status != GEMMTUNE_OK || !claimed)
            continue;
        gt_window_init_job(&job, w, GT_JOB_TRIAL, e);
        status = gt_pool_send(w->t->pool, &job, err);
        e->state = GT_PICK_RUNNING;
    }
    return status;
}

static struct gt_window_entry *by_id(struct gt_window *w, int64_t id) {
    for (int i = 0; i < w->open; i++)
        if (gt_window_at(w, i)->id == id)
            return gt_window_at(w, i);
    return NULL;
}

/* Reports that the device, or the problem's set-up on it, failed. This is not an outcome of
 * a candidate. */
static gt_status report_failure(const struct gt_report *r, struct gt_err *err) {
    return gt_fail(err, r->status != GEMMTUNE_OK ? r->status : GEMMTUNE_EDEVICE, "%s",
                   r->error);
}

/* Makes a job for the run worker without a candidate. */
static void init_plain_job(struct gt_job *job, const struct gt_window *w,
                           enum gt_job_kind kind, uint64_t seed) {
    gt_job_init(job, kind, &w->t->device, w->item->name);
    job->seed = seed;
}

/* Whether a second process can open the device too, which takes some hundred megabytes and
 * as much memory as C. The limit is below 4 GiB, since devices of 4 GiB report less. */
static bool room_for_two(const struct gt_window *w) {
    const struct gt_device *d = &w->t->device;
    return !d->is_cpu && (double)d->mem_bytes >= 4e9 &&
           gt_lab_bytes(&w->item->problem, d) <= d->mem_bytes / 2;
}

/* Starts the standby. By now the run worker has opened the device and the checking kernels
 * are compiled. */
static void start_standby(struct gt_window *w) {
    struct gt_job job;
    if (!room_for_two(w) || *w->t->stop)
        return;
    init_plain_job(&job, w, GT_JOB_OPEN, w->t->seed + GT_FINALS_SEED);
    gt_pool_start_standby(w->t->pool, &job);
}

/* Ends a candidate after too long a compilation. Within the search's time that is its
 * outcome; after it, it says nothing. */
static gt_status end_slow(struct gt_window *w, struct gt_window_entry *e,
                          const struct gt_result *r, struct gt_err *err) {
    if (!gt_window_is_late(w))
        return gt_window_record_refusal(w, e, r, err);
    e->state = GT_PICK_RESOLVED;
    e->outcome = GT_CONSTRAINTS;
    return GEMMTUNE_OK;
}

/* Only the compiler's refusal is final. A dead worker or a missing toolchain says nothing
 * about the point; the run worker will find out. */
static gt_status end_compile(struct gt_window *w, struct gt_window_entry *e,
                             const struct gt_report *r, struct gt_err *err) {
    const gt_outcome outcome = r->result[0].outcome;
    const bool done = r->stage == GT_STAGE_DONE;
    const bool refused = done && (outcome == GT_COMPILE || outcome == GT_CONSTRAINTS);
    if (outcome == GT_TIMEOUT)
        return end_slow(w, e, &r->result[0], err);
    e->state = GT_PICK_READY;
    e->compile_ms = done ? r->result[0].compile_ms : 0;
    if (e->compile_ms > 0)
        gt_window_note_compile(w, e);
    return refused ? gt_window_record_refusal(w, e, &r->result[0], err) : GEMMTUNE_OK;
}

static gt_status handle_event(struct gt_window *w, const struct gt_event *event,
                              struct gt_err *err) {
    const struct gt_report *r = &event->report;
    struct gt_window_entry *e = by_id(w, r->id);
    if (event->kind == GT_JOB_PREPARE && r->stage == GT_STAGE_FAILED)
        return report_failure(r, err);
    if (event->kind == GT_JOB_PREPARE) {
        gt_window_start_clock(w);
        start_standby(w);
    }
    if (!e)
        return GEMMTUNE_OK; /* it belongs to a window that was dropped */
    if (event->kind == GT_JOB_TRIAL && event->killed) {
        gt_window_abandon(w, e, r->error);
        return GEMMTUNE_OK;
    }
    if (event->kind == GT_JOB_COMPILE)
        return end_compile(w, e, r, err);
    return r->stage == GT_STAGE_FAILED ? report_failure(r, err)
                                       : gt_window_end_trial(w, e, &r->result[0], err);
}

/* The run worker makes data and references while the first candidates compile. */
static gt_status prepare(struct gt_window *w, struct gt_err *err) {
    struct gt_job job;
    if (w->prepared || w->open == 0 || !gt_pool_can_run(w->t->pool))
        return GEMMTUNE_OK;
    w->prepared = true;
    w->prepare_began = gt_seconds();
    if (!room_for_two(w))
        gt_pool_end_standby(w->t->pool);
    init_plain_job(&job, w, GT_JOB_PREPARE, w->t->seed);
    return gt_pool_send(w->t->pool, &job, err);
}

static void show(struct gt_window *w, double started) {
    const double spent = gt_seconds() - started;
    const double rate = spent > 0 ? (double)w->result->fresh / spent : 0;
    const double flops = gt_problem_flops(&w->item->problem);
    const size_t done = w->result->trials;
    const double more = w->planned > done ? (double)(w->planned - done) : 0;
    const bool by_time = rate * (w->deadline - gt_seconds()) < more;
    gt_progress_show(&w->t->progress, w->item->name, done, by_time ? 0 : w->planned, rate,
                     w->best_ns > 0 ? flops / w->shown_ns : 0, w->best_family,
                     gt_window_left(w));
}

static gt_status send_all(struct gt_window *w, struct gt_err *err) {
    gt_status status = send_compiles(w, err);
    if (status == GEMMTUNE_OK && gt_window_compilers_are_free(w))
        gt_ahead_compile(&w->t->ahead, w->t);
    if (status == GEMMTUNE_OK)
        status = prepare(w, err);
    return status != GEMMTUNE_OK ? status : send_run(w, err);
}

static gt_status step(struct gt_window *w, struct gt_err *err) {
    struct gt_event event;
    bool got = false;
    gt_window_limit_jobs(w);
    gt_status status = gt_window_is_out_of_time(w) ? GEMMTUNE_OK : send_all(w, err);
    const double left = fmax(w->deadline - gt_seconds(), 0);
    const double most =
        gt_pool_idle(w->t->pool) && !gt_window_is_late(w) ? fmin(0.2, left) : 0.2;
    if (status == GEMMTUNE_OK)
        status = gt_pool_wait(&got, &event, w->t->pool, most, err);
    if (status == GEMMTUNE_OK && got)
        status = handle_event(w, &event, err);
    return status;
}

/* Asks until there is a pick to try or no more are wanted. Whole generations of picks may
 * have stored results. */
static gt_status refill(struct gt_window *w, struct gt_err *err) {
    gt_status status;
    do {
        status = fill_window(w, err);
        drain_window(w);
    } while (status == GEMMTUNE_OK && w->open == 0 && !w->exhausted &&
             !gt_window_is_out_of_time(w));
    return status;
}

/* Searches until the strategy is done or the time is up. Then it waits for the running
 * trials and the queued one; candidates that are only compiled are
 * dropped. */
static gt_status run_search(struct gt_window *w, struct gt_err *err) {
    const double started = gt_seconds(), set_up_s = 4 * gt_window_grace_s();
    gt_pool_end_at(w->t->pool, w->t->strict ? started + w->limit_s + set_up_s : HUGE_VAL);
    gt_status status = refill(w, err);
    while (status == GEMMTUNE_OK &&
           ((w->open > 0 && !gt_window_is_out_of_time(w)) || !gt_pool_idle(w->t->pool))) {
        status = step(w, err);
        drain_window(w);
        if (status == GEMMTUNE_OK)
            status = refill(w, err);
        show(w, started);
    }
    gt_pool_end_at(w->t->pool, HUGE_VAL);
    w->finals->hurried = gt_window_hurries_finals(w);
    w->finals->until = w->t->strict && w->limit_s > 0 ? w->began + w->limit_s : 0;
    return status;
}

gt_status gt_window_search(struct gt_tune_result *result, struct gt_finals *finals,
                           const struct gt_window_setup *setup, struct gt_err *err) {
    struct gt_tuner *t = setup->tuner;
    struct gt_search_setup how = setup->search;
    struct gt_window *w = calloc(1, sizeof *w);
    if (w == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory to tune %s", setup->item->name);
    *w = (struct gt_window){.t = t,
                            .item = setup->item,
                            .space = how.space,
                            .limit_s = setup->limit_s,
                            .began = setup->began,
                            .deadline = HUGE_VAL,
                            .planned = setup->planned,
                            .required = setup->required,
                            .result = result,
                            .finals = finals};
    how.ahead = picks_ahead(t);
    how.starts_ahead = t->compilers > 0 ? GT_WINDOW_PICKS : 1;
    gt_status status = gt_search_create(&w->search, t->strategy, &how, err);
    if (status == GEMMTUNE_OK)
        status = run_search(w, err);
    gt_search_destroy(w->search);
    free(w);
    return status;
}
