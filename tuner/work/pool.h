/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.h - the program's worker processes, seen from the parent: one that runs candidates
 * on the device, and some that compile ahead of it. A worker that dies, hangs or answers
 * nonsense costs its job and is replaced; workers die with their parent.
 */
#ifndef GT_TUNER_WORK_POOL_H
#define GT_TUNER_WORK_POOL_H

#include "core/text.h"
#include "tuner/work/proto.h"

struct gt_pool;

struct gt_pool_setup {
    const struct gt_texts *templates; /* --templates folders, handed on; may be NULL */
    int compilers;    /* compile workers; 0: the run worker builds for itself */
    double timeout_s; /* for a candidate's compilation, and for its launches; 0: a minute,
                         and from the size of the problem */
    /* becomes 1 when the user wants an end; NULL: never. A second later workers that are
     * still busy are killed, and their jobs end without an event. */
    volatile const int *stop;
    bool own_core; /* the run worker has a core that nothing else of ours runs on */
};

/* With `own_core` the program itself keeps off that core until the pool is destroyed. */
gt_status gt_pool_create(struct gt_pool **out, const struct gt_pool_setup *setup,
                         struct gt_err *err);
/* Ends every worker; a twentieth of a second of grace each, then SIGKILL. */
void gt_pool_destroy(struct gt_pool *p);

bool gt_pool_idle(const struct gt_pool *p);        /* the run worker has nothing to do */
bool gt_pool_can_run(const struct gt_pool *p);     /* nothing waits for the run worker */
bool gt_pool_can_compile(const struct gt_pool *p); /* a compile worker is idle */
/* Whether a compile worker is at the first candidate of the job. */
bool gt_pool_compiles(const struct gt_pool *p, const struct gt_job *job);
/* Hands a job to an idle worker; starts one where none is alive. One job may wait for the
 * run worker while it is busy, and is handed over the moment that it is not, so that the
 * device need not wait until the program has stored what came of the job before. A job that
 * FAILED, for reasons that are not a candidate's, takes the one that waits along. */
gt_status gt_pool_send(struct gt_pool *p, const struct gt_job *job, struct gt_err *err);

/* Seconds since the pool was made, by what the run worker was at; the rest it was idle for
 * lack of jobs. */
struct gt_pool_use {
    double preparing_s;    /* opening the device, data and references */
    double building_s;     /* loading what was compiled, or compiling */
    double running_s;      /* checking and timing candidates: the device is at work */
    double compile_wait_s; /* nothing: all that could be run was being compiled */
};
struct gt_pool_use gt_pool_use(struct gt_pool *p);

/* Something that ended. `report->stage` is DONE or FAILED; deaths and missed deadlines have
 * been made into results: crashed or timeout for every candidate of the job. */
struct gt_event {
    enum gt_job_kind kind;
    struct gt_report report;
};
/* All jobs end by then, by the monotonic clock: workers that are still busy are killed, and
 * their jobs end without an event. HUGE_VAL: no limit, as at first. */
void gt_pool_until(struct gt_pool *p, double when);
/* Whether jobs were ended so, since gt_pool_until was called last. */
bool gt_pool_was_cut(const struct gt_pool *p);
/* Waits at most `seconds` for the next event; *got false when there was none. */
gt_status gt_pool_wait(bool *got, struct gt_event *out, struct gt_pool *p, double seconds,
                       struct gt_err *err);

/* Seconds that one launch of a slow kernel takes: 100 GFLOP/s on a GPU, 0.2 a unit on a
 * CPU. */
double gt_pool_slow_seconds(const struct gt_device *d, const gemmtune_problem *p);
/* Seconds a job's launches may take. */
double gt_pool_launch_seconds(const struct gt_job *job);

/* Starts the process that will take the run worker's place, whether that is ended or dies,
 * and has it do the job, an OPEN, meanwhile; nothing when one stands by already. A device
 * that one process alone may open must be the run worker's by now. One that dies or hangs
 * is no loss, even with its first job in hand: that is then done by a fresh one. */
void gt_pool_stand_by(struct gt_pool *p, const struct gt_job *job);
/* Ends the one that stands by: what it holds of the device is needed. */
void gt_pool_stand_down(struct gt_pool *p);

/* Ends the run worker, so that the next job meets a fresh process. It must be idle. */
gt_status gt_pool_refresh(struct gt_pool *p, struct gt_err *err);

/* One job from start to end; events of other jobs meanwhile are dropped. FAILED is an
 * error, and so is an end by gt_pool_until or by the user. */
gt_status gt_pool_run(struct gt_report *out, struct gt_pool *p, const struct gt_job *job,
                      struct gt_err *err);
/* The same for candidates that are measured together, in a fresh process that has seen
 * nothing else; those that one among them may have taken down are tried again, each alone.
 */
gt_status gt_pool_run_final(struct gt_report *out, struct gt_pool *p,
                            const struct gt_job *job, struct gt_err *err);

#endif
