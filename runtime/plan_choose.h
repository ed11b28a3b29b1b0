/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan_choose.h - the kernels of a plan: one for aligned pointers and, where that one has
 * vector loads, a narrow one for others. Each is the best choice of a lookup that builds.
 */
#ifndef GT_RUNTIME_PLAN_CHOOSE_H
#define GT_RUNTIME_PLAN_CHOOSE_H

#include "runtime/exec.h"
#include "runtime/match.h"

/* Builds a kernel for the use that the caller has for it. */
typedef gt_status (*gt_try_fn)(void *user, struct gt_gpu *gpu, const struct gt_fit *fit,
                               struct gt_err *err);

/* Takes the choices of the query in their order until `try` succeeds with one. Where it
 * fails with all, gives the error of the first one, which was the best. With `only_cached`
 * it passes over choices that are not in the image cache, and gives up after 64. Errors of
 * gt_match and of `try`. */
gt_status gt_plan_choose(struct gt_choice *choice, struct gt_gpu *gpu,
                         struct gt_query query, bool only_cached, gt_try_fn try, void *user,
                         struct gt_err *err);

/* Whether pointers that are aligned for their types need a narrow kernel as well. */
bool gt_wants_narrow(const struct gt_fit *fit, const struct gt_gpu *gpu,
                     const gemmtune_problem *p);
/* The alignment, in bytes, of the pointers of a narrow kernel. */
int64_t gt_narrow_align(const gemmtune_problem *p);

#endif
