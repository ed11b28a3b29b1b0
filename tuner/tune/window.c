/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window.c - see window.h. Each open pick goes through asked -> compiled -> run -> told.
 */
#include "tuner/tune/window.h"

#include "core/clock.h"
#include "core/log.h"
#include "tuner/base/cores.h"
#include "tuner/lab/lab.h"
#include "tuner/tune/ahead.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the window ---- */

enum { WINDOW = 64 };

/* The number of open picks. With more of them, each is chosen with fewer results. With only
 * as many as there are compilers, compilers would be idle while the slowest candidate
 * compiles. */
static int picks_ahead(const struct gt_tuner *t) {
    const int picks = t->compilers + t->compilers / 2 + 2;
    return t->compilers == 0 ? 1 : picks < WINDOW ? picks : WINDOW;
}

/* Seconds that the finals take beside their set-up, as seen. */
static const double finals_s = 0.5;

enum entry_state { ASKED, COMPILING, READY, RUNNING, RESOLVED };

struct entry {
    struct gt_pick pick;
    bool required; /* tried however little time there is */
    struct gt_candidate candidate;
    const struct gt_family *family;
    enum entry_state state;
    int64_t id;        /* id of its jobs */
    double compile_at; /* monotonic clock: when a compile worker got it */
    int64_t trial_id;
    gt_outcome outcome;
    double median_ns;  /* at the device's highest clock */
    double compile_ms; /* of a compile worker; 0 when the image was in the cache */
};

struct search {
    struct gt_tuner *t;
    const struct gt_sweep_item *item;
    const struct gt_space *space;
    struct gt_search *search;
    struct entry entry[WINDOW]; /* ring: entries head .. head + open */
    int head, open;
    bool exhausted, waiting; /* the strategy is done; it waits for results */
    bool prepared;           /* the run worker has got the job to set the problem up */
    double limit_s;          /* as gt_tune_problem got it; 0: none */
    double began, prepare_began;
    double deadline;     /* of the search: no trial begins later */
    double best_ns;      /* median of the best, at the highest clock */
    double best_high_ns; /* upper end of its interval, at the highest clock */
    double shown_ns;     /* median of the best, as measured */
    const char *best_family;
    size_t planned; /* approximate number of trials */
    int required;   /* this many of the next picks are required */
    struct gt_tune_result *result;
    struct gt_finals *finals;
};

static struct entry *entry_at(struct search *s, int i) {
    return &s->entry[(s->head + i) % WINDOW];
}

static struct gt_db_subject subject_of(const struct search *s, const struct entry *e) {
    return (struct gt_db_subject){.device_key = s->t->device_key,
                                  .problem = s->item->name,
                                  .family = e->candidate.family,
                                  .family_hash = e->family->hash,
                                  .point = e->candidate.point};
}

/* From then on only required picks are tried. */
static bool is_late(const struct search *s) {
    return gt_seconds() > s->deadline;
}

static bool still_wanted(const struct search *s, const struct entry *e) {
    return e->required || !is_late(s);
}

static bool required_left(struct search *s) {
    bool left = s->required > 0 && !s->exhausted;
    for (int i = 0; !left && i < s->open; i++)
        left = entry_at(s, i)->required && entry_at(s, i)->state != RESOLVED;
    return left;
}

/* Whether a candidate that a compiler begins with now will come too late for a trial. */
static bool is_late_to_compile(const struct search *s) {
    return gt_seconds() + s->t->compile_s > s->deadline;
}

/* Whether the entries that are left would all be compiled too late. */
static bool is_over(struct search *s) {
    bool over = s->t->compilers > 0 && s->open > 0 && is_late_to_compile(s);
    for (int i = 0; over && i < s->open; i++)
        over = entry_at(s, i)->state == ASKED || entry_at(s, i)->state == RESOLVED;
    return over;
}

static bool out_of_time(struct search *s) {
    return *s->t->stop || gt_pool_was_ended(s->t->pool) ||
           ((is_late(s) || is_over(s)) && !required_left(s));
}

/* Counts the outcome of an entry and offers it to the finals. Trials run at different
 * times, so their times are compared as if taken at the device's highest clock. */
static void resolve(struct search *s, struct entry *e, const struct gt_trial_row *row,
                    int64_t workspace_bytes) {
    const double share = gt_clock_share(&row->time, s->t->device.clock_mhz);
    const double ns = share * row->time.median_ns;
    e->state = RESOLVED;
    e->outcome = row->outcome;
    e->median_ns = ns;
    s->result->trials++;
    s->result->outcome[row->outcome]++;
    if (row->outcome != GT_CORRECT)
        return;
    gt_finals_offer(s->finals, s->t,
                    &(struct gt_finalist){.candidate = e->candidate,
                                          .workspace_bytes = workspace_bytes,
                                          .screen_ns = ns,
                                          .low_ns = share * row->time.low_ns,
                                          .high_ns = share * row->time.high_ns,
                                          .share = share,
                                          .ended_ms = row->ended_ms});
    if (s->best_ns == 0 || ns < s->best_ns) {
        s->best_ns = ns;
        s->best_high_ns = share * row->time.high_ns;
        s->shown_ns = row->time.median_ns;
        s->best_family = e->family->name;
    }
}

/* Uses an earlier result of the candidate: of this or another run, or of a process that
 * runs now. */
static gt_status find_stored(bool *found, struct search *s, struct entry *e,
                             struct gt_err *err) {
    struct gt_trial_row row;
    const struct gt_db_subject subject = subject_of(s, e);
    const gt_status status = gt_db_trial_find(found, &row, s->t->db, &subject, err);
    if (status == GEMMTUNE_OK && *found)
        resolve(s, e, &row, gt_finals_workspace(s->t, &s->item->problem, &e->candidate));
    return status;
}

static gt_status begin_trial(bool *claimed, struct search *s, struct entry *e,
                             struct gt_err *err) {
    const struct gt_db_subject subject = subject_of(s, e);
    bool found = false;
    gt_status status =
        gt_db_trial_begin(&e->trial_id, claimed, s->t->db, s->t->run_id, &subject, err);
    if (status != GEMMTUNE_OK || *claimed)
        return status;
    status = find_stored(&found, s, e, err);
    if (status == GEMMTUNE_OK &&
        !found) { /* another process is trying it; the search learns no time */
        e->state = RESOLVED;
        e->outcome = GT_CONSTRAINTS;
        s->result->tried_elsewhere++;
    }
    return status;
}

static gt_status end_trial(struct search *s, struct entry *e, const struct gt_result *r,
                           struct gt_err *err) {
    const struct gt_trial_row row = {.subject = subject_of(s, e),
                                     .state = GT_TRIAL_DONE,
                                     .outcome = r->outcome,
                                     .time = r->time,
                                     .registers = r->registers,
                                     .spill_bytes = r->spill_bytes,
                                     .smem_bytes = r->smem_bytes,
                                     .compile_ms = fmax(r->compile_ms, e->compile_ms),
                                     .error = r->error,
                                     .provenance = "local",
                                     .run_id = s->t->run_id,
                                     .ended_ms = INT64_MAX}; /* later than all records */
    gt_status status = gt_db_trial_end(s->t->db, e->trial_id, &row, err);
    if (status == GEMMTUNE_OK)
        resolve(s, e, &row, r->workspace_bytes);
    s->result->fresh++;
    s->result->dropped += r->time.dropped;
    s->result->spent.check_s += r->spent.check_s;
    s->result->spent.time_s += r->spent.time_s;
    return status;
}

/* Records a trial that never reached the device, because the compiler refused it. */
static gt_status record_refusal(struct search *s, struct entry *e,
                                const struct gt_result *r, struct gt_err *err) {
    bool claimed = false;
    gt_status status = begin_trial(&claimed, s, e, err);
    return status != GEMMTUNE_OK || !claimed ? status : end_trial(s, e, r, err);
}

static gt_status ask_one(struct search *s, struct gt_err *err) {
    struct gt_pick pick;
    bool found = false;
    const enum gt_ask answer = gt_search_ask(s->search, &pick);
    s->exhausted = answer == GT_ASK_DONE;
    s->waiting = answer == GT_ASK_WAIT;
    if (answer != GT_ASK_PICK)
        return GEMMTUNE_OK;
    struct entry *e = entry_at(s, s->open++);
    memset(e, 0, sizeof *e);
    e->pick = pick;
    e->required = s->required > 0;
    s->required -= e->required;
    e->family = s->space[pick.space].family;
    e->id = ++s->t->next_id;
    e->state = s->t->compilers > 0 ? ASKED : READY;
    gt_tune_candidate(&e->candidate, &s->space[pick.space], pick.index);
    return find_stored(&found, s, e, err);
}

static gt_status fill_window(struct search *s, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    s->waiting = false;
    while (status == GEMMTUNE_OK && s->open < WINDOW && !s->exhausted && !s->waiting &&
           !out_of_time(s) && (s->required > 0 || !is_late(s)))
        status = ask_one(s, err);
    return status;
}

/* Tells the search the results in order: a result waits for the picks before it. */
static void drain_window(struct search *s) {
    while (s->open > 0 && entry_at(s, 0)->state == RESOLVED) {
        const struct entry *e = entry_at(s, 0);
        gt_search_tell(s->search, &e->pick, e->outcome, e->median_ns);
        s->head = (s->head + 1) % WINDOW;
        s->open--;
    }
}

static void init_job(struct gt_job *job, const struct search *s, enum gt_job_kind kind,
                     const struct entry *e) {
    gt_job_init(job, kind, &s->t->device, s->item->name);
    job->id = e->id;
    job->seed = s->t->seed;
    job->best_ns = s->best_high_ns;
    job->count = 1;
    job->candidate[0] = e->candidate;
}

/* Compilers have no more use for this problem, so the next one gets them. */
static bool compilers_are_free(const struct search *s) {
    return !s->waiting && (s->exhausted || is_late_to_compile(s));
}

/* A quarter of the mean is the latest candidate's. */
static void note_compile(struct search *s, const struct entry *e) {
    const double took = gt_seconds() - e->compile_at, mean = s->t->compile_s;
    s->t->compile_s = mean > 0 ? 0.75 * mean + 0.25 * took : took;
}

static gt_status send_compiles(struct search *s, struct gt_err *err) {
    struct gt_job job;
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; status == GEMMTUNE_OK && i < s->open && gt_pool_can_compile(s->t->pool);
         i++) {
        struct entry *e = entry_at(s, i);
        if (e->state != ASKED || !(e->required || !is_late_to_compile(s)))
            continue;
        init_job(&job, s, GT_JOB_COMPILE, e);
        if (gt_pool_compiles(s->t->pool, &job))
            /* it is being compiled since before this search began, so it will be in the
             * cache */
            continue;
        status = gt_pool_send(s->t->pool, &job, err);
        e->state = COMPILING;
        e->compile_at = gt_seconds();
    }
    return status;
}

static gt_status send_run(struct search *s, struct gt_err *err) {
    struct gt_job job;
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; status == GEMMTUNE_OK && i < s->open && gt_pool_can_run(s->t->pool);
         i++) {
        struct entry *e = entry_at(s, i);
        bool claimed = false;
        if (e->state != READY || !still_wanted(s, e))
            continue;
        status = begin_trial(&claimed, s, e, err);
        if (status != GEMMTUNE_OK || !claimed)
            continue;
        init_job(&job, s, GT_JOB_TRIAL, e);
        status = gt_pool_send(s->t->pool, &job, err);
        e->state = RUNNING;
    }
    return status;
}

static struct entry *by_id(struct search *s, int64_t id) {
    for (int i = 0; i < s->open; i++)
        if (entry_at(s, i)->id == id)
            return entry_at(s, i);
    return NULL;
}

/* Reports that the device, or the problem's set-up on it, failed. This is not an outcome of
 * a candidate. */
static gt_status report_failure(const struct gt_report *r, struct gt_err *err) {
    return gt_fail(err, r->status != GEMMTUNE_OK ? r->status : GEMMTUNE_EDEVICE, "%s",
                   r->error);
}

/* Extra time for required trials. */
static double grace_s(void) {
    return 5 * gt_cores_crowding();
}

/* The set-up has ended. Under a budget the finals, which begin with as long a set-up, must
 * end within the problem's time too. */
static void start_clock(struct search *s) {
    const double now = gt_seconds();
    if (s->limit_s > 0 && s->t->strict)
        s->deadline =
            fmax(s->began + s->limit_s - (now - s->prepare_began) - finals_s, now);
    else if (s->limit_s > 0)
        s->deadline = now + s->limit_s;
}

/* Under a budget, trials that began in time get a part of its time more when there is a
 * result already, required ones more than that. */
static void limit_jobs(struct search *s) {
    const double part = fmin(s->limit_s / 8, grace_s());
    const bool can_end = s->finals->count > 0 && !required_left(s);
    if (s->t->strict && s->deadline < HUGE_VAL)
        gt_pool_end_at(s->t->pool, s->deadline + (can_end ? part : grace_s()));
}

/* Makes a job for the run worker without a candidate. */
static void init_plain_job(struct gt_job *job, const struct search *s,
                           enum gt_job_kind kind, uint64_t seed) {
    gt_job_init(job, kind, &s->t->device, s->item->name);
    job->seed = seed;
}

/* Whether a second process can open the device too, which takes some hundred megabytes and
 * as much memory as C. The limit is below 4 GiB, since devices of 4 GiB report less. */
static bool room_for_two(const struct search *s) {
    const struct gt_device *d = &s->t->device;
    return !d->is_cpu && (double)d->mem_bytes >= 4e9 &&
           gt_lab_bytes(&s->item->problem, d) <= d->mem_bytes / 2;
}

/* Starts the standby. By now the run worker has opened the device and the checking kernels
 * are compiled. */
static void start_standby(struct search *s) {
    struct gt_job job;
    if (!room_for_two(s) || *s->t->stop)
        return;
    init_plain_job(&job, s, GT_JOB_OPEN, s->t->seed + GT_FINALS_SEED);
    gt_pool_start_standby(s->t->pool, &job);
}

/* Another program killed the worker twice, so the outcome of the trial is unknown. The
 * trial stays "running" in the name of this run, and the next run may claim it. */
static void abandon(struct search *s, struct entry *e, const char *why) {
    e->state = RESOLVED;
    e->outcome = GT_CONSTRAINTS; /* the search learns no time */
    s->result->abandoned++;
    gt_log(GEMMTUNE_LOG_WARN, "%s: %s \"%s\" is left to another run: %s", s->item->name,
           e->candidate.family, e->candidate.point, why);
}

/* Ends a candidate whose compilation took too long. Within the search's time that is its
 * outcome; after it, it says nothing. */
static gt_status end_slow(struct search *s, struct entry *e, const struct gt_result *r,
                          struct gt_err *err) {
    if (!is_late(s))
        return record_refusal(s, e, r, err);
    e->state = RESOLVED;
    e->outcome = GT_CONSTRAINTS;
    return GEMMTUNE_OK;
}

static gt_status handle_event(struct search *s, const struct gt_event *event,
                              struct gt_err *err) {
    const struct gt_report *r = &event->report;
    struct entry *e = by_id(s, r->id);
    if (event->kind == GT_JOB_PREPARE && r->stage == GT_STAGE_FAILED)
        return report_failure(r, err);
    if (event->kind == GT_JOB_PREPARE) {
        start_clock(s);
        start_standby(s);
    }
    if (!e)
        return GEMMTUNE_OK; /* it belongs to a window that was dropped */
    if (event->kind == GT_JOB_TRIAL && event->killed) {
        abandon(s, e, r->error);
        return GEMMTUNE_OK;
    }
    if (event->kind == GT_JOB_COMPILE) {
        /* Only the compiler's refusal is final. A dead worker or a missing toolchain says
         * nothing about the point; the run worker will find out. */
        const gt_outcome outcome = r->result[0].outcome;
        const bool refused = r->stage == GT_STAGE_DONE &&
                             (outcome == GT_COMPILE || outcome == GT_CONSTRAINTS);
        if (outcome == GT_TIMEOUT)
            return end_slow(s, e, &r->result[0], err);
        e->state = READY;
        note_compile(s, e);
        e->compile_ms = r->stage == GT_STAGE_DONE ? r->result[0].compile_ms : 0;
        return refused ? record_refusal(s, e, &r->result[0], err) : GEMMTUNE_OK;
    }
    return r->stage == GT_STAGE_FAILED ? report_failure(r, err)
                                       : end_trial(s, e, &r->result[0], err);
}

/* The run worker makes data and references while the first candidates compile. */
static gt_status prepare(struct search *s, struct gt_err *err) {
    struct gt_job job;
    if (s->prepared || s->open == 0 || !gt_pool_can_run(s->t->pool))
        return GEMMTUNE_OK;
    s->prepared = true;
    s->prepare_began = gt_seconds();
    if (!room_for_two(s))
        gt_pool_end_standby(s->t->pool);
    init_plain_job(&job, s, GT_JOB_PREPARE, s->t->seed);
    return gt_pool_send(s->t->pool, &job, err);
}

static void show(struct search *s, double started) {
    const double spent = gt_seconds() - started;
    const double rate = spent > 0 ? (double)s->result->fresh / spent : 0;
    const double flops = gt_problem_flops(&s->item->problem);
    const size_t done = s->result->trials;
    double left = rate > 0 && s->planned > done ? (double)(s->planned - done) / rate : -1;
    const double time_left = fmax(s->deadline - gt_seconds(), 0);
    const bool by_time = s->deadline < HUGE_VAL && (left < 0 || time_left < left);
    left = by_time ? time_left : left;
    gt_progress_show(&s->t->progress, s->item->name, done, by_time ? 0 : s->planned, rate,
                     s->best_ns > 0 ? flops / s->shown_ns : 0, s->best_family, left);
}

static gt_status send_all(struct search *s, struct gt_err *err) {
    gt_status status = send_compiles(s, err);
    if (status == GEMMTUNE_OK && compilers_are_free(s))
        gt_ahead_compile(&s->t->ahead, s->t);
    if (status == GEMMTUNE_OK)
        status = prepare(s, err);
    return status != GEMMTUNE_OK ? status : send_run(s, err);
}

static gt_status step(struct search *s, struct gt_err *err) {
    struct gt_event event;
    bool got = false;
    limit_jobs(s);
    gt_status status = out_of_time(s) ? GEMMTUNE_OK : send_all(s, err);
    const double left = fmax(s->deadline - gt_seconds(), 0);
    const double most = gt_pool_idle(s->t->pool) && !is_late(s) ? fmin(0.2, left) : 0.2;
    if (status == GEMMTUNE_OK)
        status = gt_pool_wait(&got, &event, s->t->pool, most, err);
    if (status == GEMMTUNE_OK && got)
        status = handle_event(s, &event, err);
    return status;
}

/* Asks until there is a pick to try or no more are wanted. Whole generations of picks may
 * have stored results. */
static gt_status refill(struct search *s, struct gt_err *err) {
    gt_status status;
    do {
        status = fill_window(s, err);
        drain_window(s);
    } while (status == GEMMTUNE_OK && s->open == 0 && !s->exhausted && !out_of_time(s));
    return status;
}

/* Searches until the strategy is done or the time is up. Then it waits for the trials that
 * run and for the one that waits behind them; candidates that are only compiled are
 * dropped. */
static gt_status run_search(struct search *s, struct gt_err *err) {
    const double started = gt_seconds(), set_up_s = 4 * grace_s();
    gt_pool_end_at(s->t->pool, s->t->strict ? started + s->limit_s + set_up_s : HUGE_VAL);
    gt_status status = refill(s, err);
    while (status == GEMMTUNE_OK &&
           ((s->open > 0 && !out_of_time(s)) || !gt_pool_idle(s->t->pool))) {
        status = step(s, err);
        drain_window(s);
        if (status == GEMMTUNE_OK)
            status = refill(s, err);
        show(s, started);
    }
    gt_pool_end_at(s->t->pool, HUGE_VAL);
    s->finals->hurried = s->t->strict && gt_seconds() + finals_s > s->began + s->limit_s;
    return status;
}

gt_status gt_window_search(struct gt_tune_result *result, struct gt_finals *finals,
                           const struct gt_window_setup *setup, struct gt_err *err) {
    struct gt_tuner *t = setup->tuner;
    struct gt_search_setup how = setup->search;
    struct search *s = calloc(1, sizeof *s);
    if (s == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory to tune %s", setup->item->name);
    *s = (struct search){.t = t,
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
    how.starts_ahead = t->compilers > 0 ? WINDOW : 1;
    gt_status status = gt_search_create(&s->search, t->strategy, &how, err);
    if (status == GEMMTUNE_OK)
        status = run_search(s, err);
    gt_search_destroy(s->search);
    free(s);
    return status;
}
