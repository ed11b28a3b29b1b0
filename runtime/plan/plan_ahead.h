/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan_ahead.h - the narrow kernel of a plan, which a thread compiles into the image cache
 * while the plan's maker compiles the wide one. The compiler takes about as long for each,
 * so a plan without cached kernels is ready in less than two thirds of the time.
 */
#ifndef GT_RUNTIME_PLAN_PLAN_AHEAD_H
#define GT_RUNTIME_PLAN_PLAN_AHEAD_H

#include "runtime/lookup/match.h"
#include "runtime/drivers/driver.h"

#include <pthread.h>

struct gt_plan_ahead {
    struct gt_gpu *gpu;
    struct gt_query query;
    struct gt_choice wide;
    pthread_t thread;
    bool started;
};

/* Starts the thread, if the plan with this wide kernel has a narrow one from the beginning
 * and the image cache keeps images. The problem of the query must live until
 * gt_plan_ahead_end. */
void gt_plan_ahead_begin(struct gt_plan_ahead *a, struct gt_gpu *gpu,
                         const struct gt_query *query, const struct gt_choice *wide);
/* Waits for the thread. Only the image cache says whether it built the kernel. */
void gt_plan_ahead_end(struct gt_plan_ahead *a);

#endif
