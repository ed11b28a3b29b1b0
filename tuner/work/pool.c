/* SPDX-License-Identifier: Apache-2.0 */
/* pool.c - see pool.h. retire() ends every worker, however its end came about. */
#include "tuner/work/pool.h"

#include "core/clock.h"
#include "core/io.h"
#include "runtime/drivers/driver.h"
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
    WORKERS_MAX = 33,      /* one runs kernels, 32 compile */
    ROUNDS_MAX = 20,       /* of a stage's time, for a worker that is kept from its work */
    PREPARE_SECONDS = 300, /* opening a device, references of large problems */
    COMPILE_SECONDS = 60,  /* for one candidate */
};

struct worker {
    struct gt_process process;
    bool busy;
    bool was_standby; /* it was the standby and has not reported since */
    bool second_try;  /* another program killed the first worker of its job */
    enum gt_stage stage;
    /* The present stage's limit in seconds, and its end by the monotonic clock. */
    double limit_s, deadline;
    double worked, worked_now; /* gt_process_worked: then, and when it was last looked at */
    struct gt_job job;
    struct gt_report report; /* the report under way: `received` bytes have arrived */
    size_t received;
};

struct gt_pool {
    struct gt_pool_setup setup;
    int count; /* worker[0] runs kernels, the others compile */
    struct worker worker[WORKERS_MAX];
    struct gt_process standby; /* will be the next worker[0]; it has got an OPEN job */
    /* of the program, of the run worker; an empty set: any core */
    struct gt_core_set program_cores, run_cores;
    bool next_waits; /* `next` is the run worker's next job */
    struct gt_job next;
    struct gt_pool_use use;
    double counted_until; /* monotonic clock: `use` has counted the time up to here */
    double ends_at;       /* monotonic clock: the end of all jobs */
    bool jobs_ended;      /* jobs were ended at `ends_at` */
};

/* ---- workers ---- */

/* Ends a worker. True when another program killed it. */
static bool retire(struct worker *w, char how[96]) {
    w->busy = false;
    return gt_process_end(&w->process, how);
}

static const struct gt_core_set any_core; /* the worker uses the cores of the program */

static gt_status start_process(struct gt_process *out, const struct gt_pool *p,
                               const struct gt_core_set *cores, struct gt_err *err) {
    const struct gt_texts *templates = p->setup.templates;
    const struct gt_process_setup setup = {.command = "worker",
                                           .word = templates ? templates->text : NULL,
                                           .words = templates ? templates->count : 0,
                                           .cores = cores};
    return gt_process_start(out, &setup, err);
}

static gt_status start(struct gt_pool *p, struct worker *w, struct gt_err *err) {
    const bool runs = w == &p->worker[0];
    w->received = 0;
    w->was_standby = runs && p->standby.pid != 0;
    if (!w->was_standby)
        return start_process(&w->process, p, runs ? &p->run_cores : &any_core, err);
    w->process = p->standby;
    p->standby = (struct gt_process){0};
    gt_cores_keep_other(w->process.pid, &p->run_cores);
    return GEMMTUNE_OK;
}

/* The standby shares the cores of the compilers; the run worker's core is in use. */
void gt_pool_start_standby(struct gt_pool *p, const struct gt_job *job) {
    struct gt_err unread;
    if (p->standby.pid != 0 ||
        start_process(&p->standby, p, &any_core, &unread) != GEMMTUNE_OK)
        return;
    if (!gt_write_all(p->standby.to, job, sizeof *job))
        gt_pool_end_standby(p);
}

void gt_pool_end_standby(struct gt_pool *p) {
    char how[96];
    gt_process_end(&p->standby, how);
}

/* Compile workers inherit the cores that are left. */
static void reserve_core(struct gt_pool *p) {
    struct gt_core_set rest;
    gt_cores_allowed(&p->program_cores);
    if (gt_cores_split(&p->run_cores, &rest, &p->program_cores, gt_cores_beside))
        gt_cores_keep(&rest);
}

gt_status gt_pool_create(struct gt_pool **out, const struct gt_pool_setup *setup,
                         struct gt_err *err) {
    struct gt_pool *p = calloc(1, sizeof *p);
    *out = p;
    if (!p)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for the worker processes");
    p->setup = *setup;
    p->counted_until = gt_seconds();
    p->ends_at = HUGE_VAL;
    if (setup->own_core)
        reserve_core(p);
    p->count =
        1 + (setup->compilers < WORKERS_MAX - 1 ? setup->compilers : WORKERS_MAX - 1);
    signal(SIGPIPE, SIG_IGN); /* writing to a dead worker then fails instead of ending us */
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
    gt_pool_end_standby(p);
    gt_cores_keep(&p->program_cores);
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
    return !p->next_waits;
}

bool gt_pool_can_compile(const struct gt_pool *p) {
    for (int i = 1; i < p->count; i++)
        if (!p->worker[i].busy)
            return true;
    return false;
}

/* Whether a point may have the same source for both: their types and layouts are the same,
 * with which the names of problems begin. */
static bool may_share_source(const char *a, const char *b) {
    int dashes = 0;
    for (; dashes < 2 && *a == *b && *a != '\0'; a++, b++)
        dashes += *a == '-';
    return dashes == 2;
}

bool gt_pool_compiles(const struct gt_pool *p, const struct gt_job *job) {
    for (int i = 1; i < p->count; i++) {
        const struct gt_job *own = &p->worker[i].job;
        if (p->worker[i].busy && may_share_source(own->problem, job->problem) &&
            gt_candidate_same(&own->candidate[0], &job->candidate[0]))
            return true;
    }
    return false;
}

double gt_pool_slow_seconds(const struct gt_device *d, const gemmtune_problem *p) {
    return gt_problem_flops(p) / (d->is_cpu ? 2e8 * fmax(d->units, 1) : 1e11);
}

/* The limit is generous: ten seconds, and twenty times the time of a slow kernel for a
 * trial's dozen launches. Only a hang takes that long. A driver that still compiles at the
 * first launch gets thirty seconds, since PoCL needs many. */
double gt_pool_launch_seconds(const struct gt_job *job) {
    gemmtune_problem problem;
    const double base = gt_driver_of(job->device.backend)->compiles_late ? 30 : 10;
    if (gt_problem_from_name(&problem, job->problem, NULL) != GEMMTUNE_OK)
        return base;
    return fmax(job->count, 1) * (base + 20 * gt_pool_slow_seconds(&job->device, &problem));
}

/* Whether the stage is work for this machine's cores, not for a GPU. */
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

/* Whether the limit of the stage is the user's. */
static bool is_stated(const struct gt_pool *p, const struct worker *w) {
    return p->setup.timeout_s > 0 && w->stage != GT_STAGE_PREPARING;
}

/* When other programs keep the cores busy, the same work takes longer. A limit that the
 * user has stated holds as it is. */
static double stage_seconds(const struct gt_pool *p, const struct worker *w) {
    return usual_seconds(p, w) *
           (is_for_cores(w) && !is_stated(p, w) ? gt_cores_crowding() : 1);
}

static void enter_stage(struct gt_pool *p, struct worker *w, enum gt_stage stage) {
    w->stage = stage;
    w->limit_s = stage_seconds(p, w);
    w->deadline = gt_seconds() + w->limit_s;
    w->worked = w->worked_now = gt_process_worked(&w->process);
}

/* At the deadline: whether other programs have kept the worker from its work. It has worked
 * since it was last looked at, but in all less than the stage may take. Then it gets as
 * long again, up to ROUNDS_MAX times. */
static bool was_kept_waiting(struct gt_pool *p, struct worker *w) {
    const double least = 0.01; /* of its time; a worker that waits for ever works less */
    const double worked = gt_process_worked(&w->process), round_s = stage_seconds(p, w);
    const bool waited = is_for_cores(w) && w->limit_s < ROUNDS_MAX * round_s &&
                        worked - w->worked < usual_seconds(p, w) &&
                        worked - w->worked_now > least * usual_seconds(p, w);
    w->worked_now = worked;
    if (waited) {
        w->limit_s += round_s;
        w->deadline = gt_seconds() + round_s;
    }
    return waited;
}

/* Adds the time since the last call to the run worker's stage, or to the wait for compilers
 * when it is idle and the program only waits. */
static void count_time(struct gt_pool *p, bool waited) {
    const struct worker *w = &p->worker[0];
    const double now = gt_seconds(), spent = now - p->counted_until;
    bool compiling = false;
    for (int i = 1; i < p->count; i++)
        compiling = compiling || p->worker[i].busy;
    p->counted_until = now;
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

static gt_status hand_job(struct gt_pool *p, struct worker *w, const struct gt_job *job,
                          struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    char how[96];
    /* A write fails when the worker died while it was idle, and again when its standby had
     * died too. */
    for (int attempt = 0; status == GEMMTUNE_OK && attempt < 3; attempt++) {
        if (w->process.pid == 0)
            status = start(p, w, err);
        if (status == GEMMTUNE_OK && gt_write_all(w->process.to, job, sizeof *job)) {
            w->job = *job;
            w->busy = true;
            w->second_try = false;
            enter_stage(p, w,
                        job->kind == GT_JOB_COMPILE ? GT_STAGE_COMPILING
                                                    : GT_STAGE_PREPARING);
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
    if (!w || (w->busy && p->next_waits))
        return gt_fail(err, GEMMTUNE_EINVAL, "the worker is busy");
    if (!w->busy)
        return hand_job(p, w, job, err);
    p->next = *job;
    p->next_waits = true;
    return GEMMTUNE_OK;
}

/* Hands the waiting job to the run worker. It is dropped when the job before it failed for
 * a reason that would make every job fail. */
static gt_status hand_next_job(struct gt_pool *p, const struct gt_event *ended,
                               struct gt_err *err) {
    if (!p->next_waits || p->worker[0].busy)
        return GEMMTUNE_OK;
    p->next_waits = false;
    return ended->report.stage == GT_STAGE_FAILED && !ended->killed
               ? GEMMTUNE_OK
               : hand_job(p, &p->worker[0], &p->next, err);
}

/* ---- events ---- */

static void report_loss(struct gt_event *out, const struct worker *w, gt_outcome outcome,
                        const char *text) {
    out->kind = w->job.kind;
    /* A worker that is lost before a kernel ran, or is killed by others, says nothing about
     * the job. */
    const bool ours = w->stage == GT_STAGE_PREPARING || out->killed;
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

static const char *stage_name(const struct worker *w) {
    return w->stage == GT_STAGE_PREPARING   ? "preparing"
           : w->stage == GT_STAGE_COMPILING ? "compiling"
                                            : "running";
}

/* Hands a lost worker's job to a fresh worker, once:
 * - A standby that dies on its first job may have died of its own set-up.
 * - A worker that another program killed says nothing about its job.
 * The fresh worker is not a standby again. */
static bool retry_job(struct gt_pool *p, struct worker *w, const struct worker *was,
                      bool killed) {
    struct gt_err unread;
    if (!was->was_standby && (!killed || was->second_try))
        return false;
    gt_pool_end_standby(p);
    if (hand_job(p, w, &was->job, &unread) != GEMMTUNE_OK)
        return false;
    w->second_try = killed;
    return true;
}

/* The next two end a lost worker. They return false when its job goes on. */
static bool worker_died(struct gt_event *out, struct gt_pool *p, struct worker *w) {
    char how[96], text[200];
    struct worker was = *w;
    const bool killed = retire(w, how);
    if (retry_job(p, w, &was, killed))
        return false;
    out->killed = killed;
    snprintf(text, sizeof text, "the worker %s while %s%s", how, stage_name(&was),
             killed ? ", by another program: is memory short?" : "");
    report_loss(out, &was, GT_CRASHED, text);
    return true;
}

static bool worker_overdue(struct gt_event *out, struct gt_pool *p, struct worker *w) {
    char how[96], text[160];
    struct worker was = *w;
    if (was_kept_waiting(p, w))
        return false;
    gt_process_kill(&w->process);
    retire(w, how);
    if (retry_job(p, w, &was, false))
        return false;
    snprintf(text, sizeof text, "still %s after %.3g s", stage_name(&was), was.limit_s);
    report_loss(out, &was, GT_TIMEOUT, text);
    return true;
}

/* Reads the bytes that have arrived; a worker that is stopped inside a frame must not block
 * us. True when its job has ended. */
static bool read_report(struct gt_event *out, struct gt_pool *p, struct worker *w) {
    char how[96];
    const ssize_t n = read(w->process.from, (char *)&w->report + w->received,
                           sizeof w->report - w->received);
    if (n < 0 && errno == EINTR)
        return false;
    if (n > 0)
        w->was_standby = false;
    if (n > 0 && (w->received += (size_t)n) < sizeof w->report)
        return false;
    if (n <= 0 || !gt_report_sound(&w->report) || w->report.id != w->job.id)
        return worker_died(out, p, w);
    out->report = w->report;
    w->received = 0;
    if (out->report.stage != GT_STAGE_DONE && out->report.stage != GT_STAGE_FAILED) {
        enter_stage(p, w, out->report.stage);
        return false;
    }
    if (out->report.stage == GT_STAGE_DONE && w->job.kind != GT_JOB_PREPARE &&
        out->report.count != w->job.count)
        return worker_died(out, p, w);
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

void gt_pool_end_at(struct gt_pool *p, double when) {
    p->ends_at = when;
    p->jobs_ended = false;
}

bool gt_pool_was_ended(const struct gt_pool *p) {
    return p->jobs_ended;
}

static bool is_stopped(const struct gt_pool *p) {
    return p->setup.stop != NULL && *p->setup.stop != 0;
}

static void end_jobs(struct gt_pool *p) {
    char how[96];
    if (!is_stopped(p) && gt_seconds() < p->ends_at)
        return;
    for (int i = 0; i < p->count; i++)
        if (p->worker[i].busy) {
            gt_process_kill(&p->worker[i].process);
            p->jobs_ended = true;
        }
    for (int i = 0; i < p->count; i++)
        if (p->worker[i].busy)
            retire(&p->worker[i], how);
    p->next_waits = false;
}

static double until_next_deadline(const struct gt_pool *p, double seconds) {
    double t = fmin(seconds, p->ends_at - gt_seconds());
    for (int i = 0; i < p->count; i++)
        if (p->worker[i].busy)
            t = fmin(t, p->worker[i].deadline - gt_seconds());
    return t < 0 ? 0 : t;
}

static bool find_overdue(struct gt_event *out, struct gt_pool *p) {
    for (int i = 0; i < p->count; i++)
        if (p->worker[i].busy && gt_seconds() > p->worker[i].deadline &&
            worker_overdue(out, p, &p->worker[i]))
            return true;
    return false;
}

gt_status gt_pool_wait(bool *got, struct gt_event *out, struct gt_pool *p, double seconds,
                       struct gt_err *err) {
    struct pollfd fds[WORKERS_MAX];
    int who[WORKERS_MAX], n = 0;
    *got = out->killed = false;
    end_jobs(p);
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
    if (is_stopped(p)) /* what a worker says from now on may be the signal's doing */
        return GEMMTUNE_OK;
    for (int i = 0; ready > 0 && i < n && !*got; i++)
        if (fds[i].revents)
            *got = read_report(out, p, &p->worker[who[i]]);
    if (!*got)
        *got = find_overdue(out, p);
    return *got ? hand_next_job(p, out, err) : GEMMTUNE_OK;
}

gt_status gt_pool_refresh(struct gt_pool *p, struct gt_err *err) {
    char how[96];
    if (!gt_pool_idle(p))
        return gt_fail(err, GEMMTUNE_EINVAL, "the run worker is busy");
    retire(&p->worker[0], how);
    return GEMMTUNE_OK;
}
