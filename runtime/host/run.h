/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - a host product that is running: the state that the lanes of all devices share. */
#ifndef GT_RUNTIME_HOST_RUN_H
#define GT_RUNTIME_HOST_RUN_H

#include "runtime/host/board.h"
#include "runtime/host/copier.h"
#include "runtime/host/schedule.h"

#include <pthread.h>

/* `lock` guards the members that follow it. */
struct gt_host_run {
    const struct gt_host_cut *cut;
    const void *alpha, *beta; /* of the accumulator's type */
    void *host[GT_OPERANDS];  /* A and B are never written to */
    bool staged[GT_OPERANDS]; /* copied through our own pinned memory */
    struct gt_copier *copier;
    double began; /* gt_seconds */

    pthread_mutex_t lock;
    pthread_cond_t change; /* something below changed */
    struct gt_host_board board;
    int64_t tiles_stored; /* tiles that are complete in the host's C */
    double flops_done;
    int lanes;        /* threads that have not ended */
    bool stop;        /* all lanes end after their present operations */
    gt_status status; /* the first failure */
    struct gt_err err;
};

/* Sets `cut`, the lock and the condition, and leaves the other members as they are. `cut`
 * must outlive the run. ENOMEM. */
gt_status gt_host_run_init(struct gt_host_run *run, const struct gt_host_cut *cut,
                           struct gt_err *err);
void gt_host_run_clear(struct gt_host_run *run);

/* Stores the first failure and makes all lanes end. */
void gt_host_run_fail(struct gt_host_run *run, gt_status status, const struct gt_err *err);
/* The same, while the caller holds the lock. */
void gt_host_run_fail_locked(struct gt_host_run *run, gt_status status,
                             const struct gt_err *err);

#endif
