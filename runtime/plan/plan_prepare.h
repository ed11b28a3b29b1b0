/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan_prepare.h - kernels that are built into the image cache by a thread of the context,
 * so that nobody waits for them: gemmtune_plan_prepare, and the better kernels of plans
 * with GEMMTUNE_OPEN_BUILD_BEHIND.
 */
#ifndef GT_RUNTIME_PLAN_PLAN_PREPARE_H
#define GT_RUNTIME_PLAN_PLAN_PREPARE_H

#include "core/status.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct gt_plan_order; /* one problem to prepare */
struct gt_plan_ask;

/* The state of a problem's better kernel: shared by its order and the plans that serve
 * meanwhile. */
struct gt_better {
    atomic_int users;
    atomic_int state; /* a gemmtune_better */
};

/* The lock guards everything else. */
struct gt_preparer {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* an order came, or the thread is to end */
    pthread_t thread;
    bool started;
    atomic_bool ends; /* written under the lock, read without it between two compiles */
    struct gt_plan_order *orders; /* the oldest first */
    int ended;                    /* the number of orders that no longer wait */
};

gt_status gt_preparer_init(struct gt_preparer *p, struct gt_err *err);
/* Ends the thread, after the compile that it is in, and frees all orders. */
void gt_preparer_end(struct gt_preparer *p);

/* Orders the kernels that gemmtune_plan_create would take, unless they are ordered already.
 * NULL: they will not come, since they have failed before or no thread can be started. The
 * caller releases the result. */
struct gt_better *gt_better_order(gemmtune_ctx *ctx, const struct gt_plan_ask *ask);
void gt_better_release(struct gt_better *b); /* accepts NULL */

#endif
