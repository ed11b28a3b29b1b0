/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plans.h - the kernels of a host product: one plan for every shape of a tile of C and a
 * slab of k. They are built before the clock starts, since building takes seconds.
 */
#ifndef GT_RUNTIME_HOST_PLANS_H
#define GT_RUNTIME_HOST_PLANS_H

#include "runtime/plan/context.h"
#include "runtime/host/schedule.h"

struct gt_host_plan {
    int64_t size[3];     /* m, n, k */
    gemmtune_plan *plan; /* also the context's, while its cache has it */
};

struct gt_host_plans {
    struct gt_host_plan *item;
    size_t count;
    size_t workspace_bytes; /* the most that any of the plans needs */
};

/* Builds the plans of all tiles, or takes the plans that the context has from an earlier
 * product. Clear *out after a failure as well. Errors as for
 * gemmtune_plan_create. */
gt_status gt_host_plans_make(struct gt_host_plans *out, gemmtune_ctx *ctx,
                             const struct gt_host_cut *cut, const struct gt_host_tile *tile,
                             size_t tiles, size_t workspace_max, struct gt_err *err);
void gt_host_plans_clear(struct gt_host_plans *plans);
/* The plan of a shape; NULL when no tile of gt_host_plans_make had it. */
const gemmtune_plan *gt_host_plans_find(const struct gt_host_plans *plans,
                                        const int64_t size[3]);

#endif
