/* SPDX-License-Identifier: Apache-2.0 */
/* slab.h - the product of one whole tile of C and one slab of k: its memory on the device,
 * and its time. */
#ifndef GT_RUNTIME_HOST_SLAB_H
#define GT_RUNTIME_HOST_SLAB_H

#include "runtime/host/link.h"
#include "runtime/host/plans.h"

/* The memory, plan and queue of a slab. */
struct gt_host_slab {
    const struct gt_host_cut *cut;
    struct gt_host_plans plans; /* one */
    void *memory[GT_OPERANDS], *workspace, *queue;
    int64_t bytes; /* of the device's memory */
};

/* Opens a slab of zeros but for its cut. The calling thread is attached to the link. Close
 * it after a failure as well. ENOMEM, and errors of gemmtune_plan_create. */
gt_status gt_host_slab_open(struct gt_host_slab *s, struct gt_link *link, gemmtune_ctx *ctx,
                            int64_t workspace_max, struct gt_err *err);
/* Waits for the queue. */
void gt_host_slab_close(struct gt_host_slab *s, struct gt_link *link);

/* Seconds of the product, of three runs the fastest, with the kernel that the host product
 * would use and on whatever the device's memory holds. Needs one slot of each operand and
 * at most `workspace_max` bytes beside them. ENOMEM, and errors of gemmtune_plan_create.
 * The calling thread is attached to the link. */
gt_status gt_host_slab_time(double *seconds, struct gt_link *link, gemmtune_ctx *ctx,
                            const struct gt_host_cut *cut, int64_t workspace_max,
                            struct gt_err *err);

#endif
