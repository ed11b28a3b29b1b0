/* SPDX-License-Identifier: Apache-2.0 */
/* pool.c - see pool.h. Every way in which a worker can end goes through retire(). */
#include "tuner/work/pool.h"

#include "core/clock.h"
#include "core/io.h"
#include "runtime/driver.h"
#include "tuner/work/process.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    WORKERS_MAX = 33,      /* one that runs, 32 that compile */
    PREPARE_SECONDS = 300, /* opening a device, references of large problems */
    COMPILE_SECONDS = 60,  /* for one candidate */
    STOP_SECONDS = 1,      /* for what runs when the user wants an end */
};

struct worker {
    struct gt_process process;
    bool busy;
    bool stood_by; /* it did, and has reported nothing since */
    enum gt_stage stage;
    double deadline; /* by monotonic clock, for the present stage */
    struct gt_job job;
    struct gt_report report; /* the next one, of which `heard` bytes have come */
    size_t heard;
};

struct gt_pool {
    struct gt_pool_setup setup;
    int count; /* worker[0] runs, the others compile */
    struct worker worker[WORKERS_MAX];
    struct gt_process standby;      /* the next worker[0]: it has been sent an OPEN */
    struct gt_core_set before, own; /* cores: the program's, the run worker's; none: all */
    bool waits; /* `next` is for the run worker, once it has done what it is at */
    struct gt_job next;
    struct gt_pool_use use;
    double seen;  /* by monotonic clock: up to when `use` counts */
    double until; /* by monotonic clock: the end of all jobs */
    bool stopped; /* `until` heeds the user's wish */
    bool cut;     /* jobs were ended by `until` */
};

/* ---- workers ---- */

static void retire(struct worker *w, char how[96]) {
    gt_process_end(&w->process, how);
    w->busy = false;
}

static const struct gt_core_set no_cores; /* of its own: those of the program */

static gt_status start(struct gt_pool *p, struct worker *w, struct gt_err *err) {
    const bool runs = w == &p->worker[0];
    w->heard = 0;
    w->stood_by = runs && p->standby.pid != 0;
    if (!w->stood_by)
        return gt_process_start(&w->process, p->setup.templates, runs ? &p->own : &no_cores,
                                err);
    w->process = p->standby;
    p->standby = (struct gt_process){0};
    gt_cores_keep_other(w->process.pid, &p->own);
    return GEMMTUNE_OK;
}

/* Beside the compilers: the run worker's core is in use. */
void gt_pool_stand_by(struct gt_pool *p, const struct gt_job *job) {
    struct gt_err unread;
    if (p->standby.pid != 0 ||
        gt_process_start(&p->standby, p->setup.templates, &no_cores, &unread))
        return;
    if (!gt_write_all(p->standby.to, job, sizeof *job))
        gt_pool_stand_down(p);
}

void gt_pool_stand_down(struct gt_pool *p) {
    char how[96];
    gt_process_end(&p->standby, how);
}

/* Compile workers inherit what is left. */
static void leave_a_core(struct gt_pool *p) {
    struct gt_core_set rest;
    gt_cores_allowed(&p->before);
    if (gt_cores_split(&p->own, &rest, &p->before, gt_cores_beside))
        gt_cores_keep(&rest);
}

gt_status gt_pool_create(struct gt_pool **out, const struct gt_pool_setup *setup,
                         struct gt_err *err) {
    struct gt_pool *p = calloc(1, sizeof *p);
    *out = p;
    if (!p)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for the worker processes");
    p->setup = *setup;
    p->seen = gt_seconds();
    p->until = HUGE_VAL;
    if (setup->own_core)
        leave_a_core(p);
    p->count =
        1 + (setup->compilers < WORKERS_MAX - 1 ? setup->compilers : WORKERS_MAX - 1);
    signal(SIGPIPE, SIG_IGN); /* a dead worker's pipe is an error of write, not our end */
    return GEMMTUNE_OK;
}

void gt_pool_destroy(struct gt_pool *p) {
    char how[96];
    if (!p)
        return;
    for (int i = 0; i < p->count; i++)
        if (p->worker[i].busy)
            gt_process_kill(&p->worker[i].process);
    for (int i = 0; i < p->count; i++)
        retire(&p->worker[i], how);
    gt_pool_stand_down(p);
    gt_cores_keep(&p->before);
    free(p);
}

/* ---- jobs ---- */

static struct worker *idle_compiler(struct gt_pool *p) {
    for (int i = 1; i < p->count; i++)
        if (!p->worker[i].busy)
            return &p->worker[i];
    return NULL;
}

bool gt_pool_idle(const struct gt_pool *p) {
    return !p->worker[0].busy;
}

bool gt_pool_can_run(const struct gt_pool *p) {
    return !p->waits;
}

bool gt_pool_can_compile(const struct gt_pool *p) {
    for (int i = 1; i < p->count; i++)
        if (!p->worker[i].busy)
            return true;
    return false;
}

bool gt_pool_compiles(const struct gt_pool *p, const struct gt_job *job) {
    for (int i = 1; i < p->count; i++) {
        const struct gt_job *own = &p->worker[i].job;
        if (p->worker[i].busy && strcmp(own->problem, job->problem) == 0 &&
            gt_candidate_same(&own->candidate[0], &job->candidate[0]))
            return true;
    }
    return false;
}

double gt_pool_slow_seconds(const struct gt_device *d, const gemmtune_problem *p) {
    return gt_problem_flops(p) / (d->is_cpu ? 2e8 * fmax(d->units, 1) : 1e11);
}

/* Generous: ten seconds, and twenty times the time that a slow kernel takes for the dozen
 * launches of a trial. Only a hang costs so much. A driver that goes on compiling at the
 * first launch has thirty seconds: PoCL takes many. */
double gt_pool_launch_seconds(const struct gt_job *job) {
    gemmtune_problem problem;
    const double base = gt_driver_of(job->device.backend)->compiles_late ? 30 : 10;
    if (gt_problem_from_name(&problem, job->problem, NULL))
        return base;
    return fmax(job->count, 1) * (base + 20 * gt_pool_slow_seconds(&job->device, &problem));
}

/* Whether the stage is work of this machine's cores, not of a GPU. */
static bool is_for_cores(const struct worker *w) {
    return w->stage == GT_STAGE_PREPARING || w->stage == GT_STAGE_COMPILING ||
           w->job.device.is_cpu;
}

static double usual_seconds(const struct gt_pool *p, const struct worker *w) {
    const double own = p->setup.timeout_s, candidates = fmax(w->job.count, 1);
    switch (w->stage) {
    case GT_STAGE_PREPARING:
        return PREPARE_SECONDS + gt_pool_launch_seconds(&w->job);
    case GT_STAGE_COMPILING:
        return (own > 0 ? fmin(own, COMPILE_SECONDS) : COMPILE_SECONDS) * candidates;
    default:
        return own > 0 ? own * candidates : gt_pool_launch_seconds(&w->job);
    }
}

/* Beside busy neighbours the cores take longer for the same work. */
static double stage_seconds(const struct gt_pool *p, const struct worker *w) {
    return usual_seconds(p, w) * (is_for_cores(w) ? gt_cores_crowding() : 1);
}

static void enter(struct gt_pool *p, struct worker *w, enum gt_stage stage) {
    w->stage = stage;
    w->deadline = gt_seconds() + stage_seconds(p, w);
}

/* Counts the time since it was last counted for what the run worker does, or for the
 * compilers when it has nothing to do and the program does nothing but wait. */
static void count_time(struct gt_pool *p, bool waited) {
    const struct worker *w = &p->worker[0];
    const double now = gt_seconds(), spent = now - p->seen;
    bool compiling = false;
    for (int i = 1; i < p->count; i++)
        compiling = compiling || p->worker[i].busy;
    p->seen = now;
    if (w->busy && w->stage == GT_STAGE_PREPARING)
        p->use.preparing_s += spent;
    else if (w->busy && w->stage == GT_STAGE_COMPILING)
        p->use.building_s += spent;
    else if (w->busy)
        p->use.running_s += spent;
    else if (waited && compiling)
        p->use.compile_wait_s += spent;
}

struct gt_pool_use gt_pool_use(struct gt_pool *p) {
    count_time(p, false);
    return p->use;
}

static gt_status hand(struct gt_pool *p, struct worker *w, const struct gt_job *job,
                      struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    char how[96];
    /* one that died while idle is found out here, and so is the one that stood by for it */
    for (int attempt = 0; status == GEMMTUNE_OK && attempt < 3; attempt++) {
        if (w->process.pid == 0)
            status = start(p, w, err);
        if (status == GEMMTUNE_OK && gt_write_all(w->process.to, job, sizeof *job)) {
            w->job = *job;
            w->busy = true;
            enter(p, w,
                  job->kind == GT_JOB_COMPILE ? GT_STAGE_COMPILING : GT_STAGE_PREPARING);
            return GEMMTUNE_OK;
        }
        retire(w, how);
    }
    return status != GEMMTUNE_OK
               ? status
               : gt_fail(err, GEMMTUNE_EDEVICE, "the worker process %s", how);
}

gt_status gt_pool_send(struct gt_pool *p, const struct gt_job *job, struct gt_err *err) {
    struct worker *w = job->kind == GT_JOB_COMPILE ? idle_compiler(p) : &p->worker[0];
    count_time(p, false);
    if (!w || (w->busy && p->waits))
        return gt_fail(err, GEMMTUNE_EINVAL, "the worker is busy");
    if (!w->busy)
        return hand(p, w, job, err);
    p->next = *job;
    p->waits = true;
    return GEMMTUNE_OK;
}

/* Whatever became of the job before it, unless that says that none can be done. */
static gt_status hand_next(struct gt_pool *p, enum gt_stage ended, struct gt_err *err) {
    if (!p->waits || p->worker[0].busy)
        return GEMMTUNE_OK;
    p->waits = false;
    return ended == GT_STAGE_FAILED ? GEMMTUNE_OK : hand(p, &p->worker[0], &p->next, err);
}

/* ---- events ---- */

static void blame(struct gt_event *out, const struct worker *w, gt_outcome outcome,
                  const char *text) {
    out->kind = w->job.kind;
    /* before anything of the candidate ran, it is not the candidate's doing */
    const bool ours = w->stage == GT_STAGE_PREPARING;
    gt_report_init(&out->report, w->job.id, ours ? GT_STAGE_FAILED : GT_STAGE_DONE);
    out->report.status = GEMMTUNE_EDEVICE;
    snprintf(out->report.error, sizeof out->report.error, "%s", text);
    out->report.count = w->job.count;
    for (int i = 0; i < w->job.count; i++) {
        out->report.result[i].outcome = outcome;
        out->report.result[i].registers = out->report.result[i].spill_bytes = -1;
        out->report.result[i].smem_bytes = -1;
        snprintf(out->report.result[i].error, sizeof out->report.result[i].error, "%s",
                 text);
    }
}

static const char *doing(const struct worker *w) {
    return w->stage == GT_STAGE_PREPARING   ? "preparing"
           : w->stage == GT_STAGE_COMPILING ? "compiling"
                                            : "running";
}

/* What a process was lost over that stood by may be what it had open before the job came.
 * Once only: no second one of its kind takes its place. */
static bool hand_again(struct gt_pool *p, struct worker *w, const struct worker *was) {
    struct gt_err unread;
    if (!was->stood_by)
        return false;
    gt_pool_stand_down(p);
    return hand(p, w, &was->job, &unread) == GEMMTUNE_OK;
}

/* These are false when the job did not end with the worker. */
static bool died(struct gt_event *out, struct gt_pool *p, struct worker *w) {
    char how[96], text[160];
    struct worker was = *w;
    retire(w, how);
    if (hand_again(p, w, &was))
        return false;
    snprintf(text, sizeof text, "the worker %s while %s", how, doing(&was));
    blame(out, &was, GT_CRASHED, text);
    return true;
}

static bool overdue(struct gt_event *out, struct gt_pool *p, struct worker *w) {
    char how[96], text[160];
    struct worker was = *w;
    gt_process_kill(&w->process);
    retire(w, how);
    if (hand_again(p, w, &was))
        return false;
    snprintf(text, sizeof text, "still %s after %.3g s", doing(&was),
             stage_seconds(p, &was));
    blame(out, &was, GT_TIMEOUT, text);
    return true;
}

/* Reads what there is: one that is stopped inside a frame must not hold us up. True when
 * the job ended with it. */
static bool hear(struct gt_event *out, struct gt_pool *p, struct worker *w) {
    char how[96];
    const ssize_t n =
        read(w->process.from, (char *)&w->report + w->heard, sizeof w->report - w->heard);
    if (n < 0 && errno == EINTR)
        return false;
    if (n > 0)
        w->stood_by = false;
    if (n > 0 && (w->heard += (size_t)n) < sizeof w->report)
        return false;
    if (n <= 0 || !gt_report_sound(&w->report) || w->report.id != w->job.id)
        return died(out, p, w);
    out->report = w->report;
    w->heard = 0;
    if (out->report.stage != GT_STAGE_DONE && out->report.stage != GT_STAGE_FAILED) {
        enter(p, w, out->report.stage);
        return false;
    }
    if (out->report.stage == GT_STAGE_DONE && w->job.kind != GT_JOB_PREPARE &&
        out->report.count != w->job.count)
        return died(out, p, w);
    out->kind = w->job.kind;
    w->busy = false;
    gt_process_hush(&w->process);
    bool fatal = out->report.stage == GT_STAGE_FAILED;
    for (int i = 0; i < out->report.count; i++)
        fatal = fatal || out->report.result[i].fatal;
    if (fatal)
        retire(w, how);
    return true;
}

/* ---- the end of all jobs ---- */

void gt_pool_until(struct gt_pool *p, double when) {
    p->until = p->stopped ? fmin(when, p->until) : when;
    p->cut = false;
}

bool gt_pool_was_cut(const struct gt_pool *p) {
    return p->cut;
}

static void heed_user(struct gt_pool *p) {
    if (p->stopped || p->setup.stop == NULL || *p->setup.stop == 0)
        return;
    p->stopped = true;
    p->until = fmin(p->until, gt_seconds() + STOP_SECONDS);
}

static void cut_off(struct gt_pool *p) {
    char how[96];
    if (gt_seconds() < p->until)
        return;
    for (int i = 0; i < p->count; i++)
        if (p->worker[i].busy) {
            gt_process_kill(&p->worker[i].process);
            p->cut = true;
        }
    for (int i = 0; i < p->count; i++)
        if (p->worker[i].busy)
            retire(&p->worker[i], how);
    p->waits = false;
}

static double until_next_deadline(const struct gt_pool *p, double seconds) {
    double t = fmin(seconds, p->until - gt_seconds());
    for (int i = 0; i < p->count; i++)
        if (p->worker[i].busy)
            t = fmin(t, p->worker[i].deadline - gt_seconds());
    return t < 0 ? 0 : t;
}

static bool find_overdue(struct gt_event *out, struct gt_pool *p) {
    for (int i = 0; i < p->count; i++)
        if (p->worker[i].busy && gt_seconds() > p->worker[i].deadline &&
            overdue(out, p, &p->worker[i]))
            return true;
    return false;
}

gt_status gt_pool_wait(bool *got, struct gt_event *out, struct gt_pool *p, double seconds,
                       struct gt_err *err) {
    struct pollfd fds[WORKERS_MAX];
    int who[WORKERS_MAX], n = 0;
    *got = false;
    heed_user(p);
    cut_off(p);
    for (int i = 0; i < p->count; i++)
        if (p->worker[i].busy) {
            fds[n] = (struct pollfd){.fd = p->worker[i].process.from, .events = POLLIN};
            who[n++] = i;
        }
    const int ms = (int)(until_next_deadline(p, seconds) * 1e3) + 1;
    count_time(p, false);
    const int ready = poll(fds, (nfds_t)n, ms);
    count_time(p, true);
    if (ready < 0 && errno != EINTR)
        return gt_fail(err, GEMMTUNE_EDEVICE, "cannot wait for the workers: %s",
                       strerror(errno));
    for (int i = 0; ready > 0 && i < n && !*got; i++)
        if (fds[i].revents)
            *got = hear(out, p, &p->worker[who[i]]);
    if (!*got)
        *got = find_overdue(out, p);
    return *got ? hand_next(p, out->report.stage, err) : GEMMTUNE_OK;
}

gt_status gt_pool_refresh(struct gt_pool *p, struct gt_err *err) {
    char how[96];
    if (!gt_pool_idle(p))
        return gt_fail(err, GEMMTUNE_EINVAL, "the run worker is busy");
    retire(&p->worker[0], how);
    return GEMMTUNE_OK;
}

gt_status gt_pool_run(struct gt_report *out, struct gt_pool *p, const struct gt_job *job,
                      struct gt_err *err) {
    struct gt_event event;
    bool got = false;
    gt_status status = gt_pool_send(p, job, err);
    while (status == GEMMTUNE_OK && !(got && event.kind == job->kind)) {
        status = gt_pool_wait(&got, &event, p, 0.2, err);
        if (status == GEMMTUNE_OK && !got && gt_pool_idle(p))
            status = gt_fail(err, GEMMTUNE_EDEVICE, "stopped before it was done");
    }
    if (status == GEMMTUNE_OK)
        *out = event.report;
    if (status == GEMMTUNE_OK && out->stage == GT_STAGE_FAILED)
        status = gt_fail(err, out->status != GEMMTUNE_OK ? out->status : GEMMTUNE_EDEVICE,
                         "%s", out->error);
    return status;
}

/* A lost context or worker takes others along, what computes wrongly may have written to
 * data that others are judged by, and a failure of timing several together is charged to
 * all. */
static bool may_be_anothers(gt_outcome outcome) {
    return outcome == GT_CRASHED || outcome == GT_TIMEOUT || outcome == GT_WRONG_RESULT ||
           outcome == GT_LAUNCH || outcome == GT_OUT_OF_MEMORY;
}

static gt_status run_alone(struct gt_result *out, struct gt_pool *p,
                           const struct gt_job *job, int i, struct gt_err *err) {
    struct gt_job one = *job;
    struct gt_report report;
    one.count = 1;
    one.candidate[0] = job->candidate[i];
    gt_status status = gt_pool_refresh(p, err);
    if (status == GEMMTUNE_OK)
        status = gt_pool_run(&report, p, &one, err);
    if (status == GEMMTUNE_OK)
        *out = report.result[0];
    return status;
}

gt_status gt_pool_run_final(struct gt_report *out, struct gt_pool *p,
                            const struct gt_job *job, struct gt_err *err) {
    gt_status status = gt_pool_refresh(p, err);
    if (status == GEMMTUNE_OK)
        status = gt_pool_run(out, p, job, err);
    for (int i = 0; status == GEMMTUNE_OK && job->count > 1 && i < job->count; i++)
        if (may_be_anothers(out->result[i].outcome))
            status = run_alone(&out->result[i], p, job, i, err);
    return status;
}
