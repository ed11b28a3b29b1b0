/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan_kernels.h - the kernels of a plan, chosen and built. In a context with the flag
 * GEMMTUNE_OPEN_BUILD_BEHIND, a kernel that is there serves while a better one is built.
 */
#ifndef GT_RUNTIME_PLAN_PLAN_KERNELS_H
#define GT_RUNTIME_PLAN_PLAN_KERNELS_H

#include "runtime/plan/plan_choose.h"

/* The kernel for aligned memory, and the choice that it was. *for_now becomes true when it
 * serves while a better one is not built; it is left alone otherwise. With `only_cached`
 * nothing is compiled, and the best kernel in the image cache is taken. Errors of
 * gt_plan_choose. */
gt_status gt_kernel_wide(struct gt_exec **out, bool *for_now, struct gt_choice *choice,
                         gemmtune_ctx *ctx, const struct gt_query *query, bool only_cached,
                         struct gt_err *err);

/* The kernel for other memory, beside the choice `wide`. */
gt_status gt_kernel_narrow(struct gt_exec **out, bool *for_now, gemmtune_ctx *ctx,
                           const struct gt_query *query, const struct gt_choice *wide,
                           bool only_cached, struct gt_err *err);

#endif
