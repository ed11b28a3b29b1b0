/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.h - the program's worker processes, as the parent uses them. One runs kernels on the
 * device, the others compile in advance. A worker that dies, hangs or sends nonsense costs
 * its job and is replaced. Workers die with their parent.
 */
#ifndef GT_TUNER_WORK_POOL_H
#define GT_TUNER_WORK_POOL_H

#include "core/text.h"
#include "tuner/work/proto.h"

struct gt_pool;

struct gt_pool_setup {
    const struct gt_texts *templates; /* --templates folders for the workers; may be NULL */
    int compilers; /* number of compile workers; 0: the run worker compiles */
    /* limit for a candidate's compilation and for its launches, by the clock; 0: a minute,
     * and a limit that depends on the problem, both longer on busy cores */
    double timeout_s;
    /* Is no longer 0 when the user wants an end; may be NULL. The next gt_pool_wait kills
     * busy workers, and their jobs end without an event: no event comes after the wish. */
    volatile const int *stop;
    bool own_core; /* the run worker gets a core that no other worker of ours uses */
};

/* With `own_core` the program itself stays off that core until the pool is destroyed. */
gt_status gt_pool_create(struct gt_pool **out, const struct gt_pool_setup *setup,
                         struct gt_err *err);
/* Ends all workers. Each gets a twentieth of a second, then SIGKILL. */
void gt_pool_destroy(struct gt_pool *p);

bool gt_pool_idle(const struct gt_pool *p);        /* the run worker has no job */
bool gt_pool_can_run(const struct gt_pool *p);     /* no job waits for the run worker */
bool gt_pool_can_compile(const struct gt_pool *p); /* a compile worker is idle */
/* Whether a compile worker has the first candidate of the job, for the same problem or for
 * one that may have the same source. When it is done, the image may be in the cache. */
bool gt_pool_compiles(const struct gt_pool *p, const struct gt_job *job);
/* Hands a job to an idle worker, and starts the worker where needed. One job may wait for
 * the run worker while it is busy; it is handed over at once when the worker is free, so
 * that the device does not wait until the program has stored the last result. When a job
 * FAILED for a reason that is not a candidate's, the waiting job is dropped. */
gt_status gt_pool_send(struct gt_pool *p, const struct gt_job *job, struct gt_err *err);

/* Seconds since the pool was made, by the run worker's activity. For the rest of the time
 * there was no job for it. */
struct gt_pool_use {
    double preparing_s;    /* opening the device, making data and references */
    double building_s;     /* compiling kernels, or loading compiled ones */
    double running_s;      /* checking and timing kernels: the device works */
    double compile_wait_s; /* idle, because all candidates were still being compiled */
};
struct gt_pool_use gt_pool_use(struct gt_pool *p);

/* A job that ended. The stage of `report` is DONE or FAILED. The death of a worker and a
 * missed deadline are results too: crashed or timeout for every candidate of the job. */
struct gt_event {
    enum gt_job_kind kind;
    /* Another program killed the worker, and also the fresh worker that got the job again.
     * This is not an outcome of the candidate. The report is FAILED; a waiting job still
     * runs. */
    bool killed;
    struct gt_report report;
};
/* Sets the time, by the monotonic clock, at which all jobs end: busy workers are killed,
 * and their jobs end without an event. HUGE_VAL, as at first: no limit. */
void gt_pool_end_at(struct gt_pool *p, double when);
/* Whether jobs were ended in this way since the last gt_pool_end_at. */
bool gt_pool_was_ended(const struct gt_pool *p);
/* Waits at most `seconds` for the next event; *got is false when there was none. */
gt_status gt_pool_wait(bool *got, struct gt_event *out, struct gt_pool *p, double seconds,
                       struct gt_err *err);

/* Seconds of one launch of a slow kernel: 100 GFLOP/s on a GPU,
 * 0.2 for each core of a CPU. */
double gt_pool_slow_seconds(const struct gt_device *d, const gemmtune_problem *p);
/* The limit for a job's launches, in seconds. */
double gt_pool_launch_seconds(const struct gt_job *job);

/* Starts the process that will replace the run worker when that is ended or dies, and gives
 * it `job`, an OPEN. Does nothing when there is a standby. If only one process may open the
 * device, the run worker must have opened it. A standby that dies or hangs costs nothing:
 * even its first job is then done by a fresh worker. */
void gt_pool_start_standby(struct gt_pool *p, const struct gt_job *job);
/* Ends the standby, because its part of the device is needed. */
void gt_pool_end_standby(struct gt_pool *p);

/* Ends the run worker, so that the next job gets a fresh process. It must be idle. */
gt_status gt_pool_refresh(struct gt_pool *p, struct gt_err *err);

/* Runs one job from start to end. Events of other jobs are dropped meanwhile. An error when
 * the job FAILED, and when gt_pool_end_at or the user ended it. */
gt_status gt_pool_run(struct gt_report *out, struct gt_pool *p, const struct gt_job *job,
                      struct gt_err *err);
/* The same for candidates that are measured together, with `fresh` in a fresh process.
 * A candidate is tried again, alone in a fresh process, if its failure may be the fault of
 * another. */
gt_status gt_pool_run_final(struct gt_report *out, struct gt_pool *p,
                            const struct gt_job *job, bool fresh, struct gt_err *err);

#endif
