/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan_choose.h - the kernels of a plan: one for aligned pointers and, where that one has
 * vector loads, a narrow one for others. Each is the best choice of a lookup that builds.
 */
#ifndef GT_RUNTIME_PLAN_PLAN_CHOOSE_H
#define GT_RUNTIME_PLAN_PLAN_CHOOSE_H

#include "runtime/exec/exec.h"
#include "runtime/lookup/match.h"

/* Builds a kernel for the use that the caller has for it. */
typedef gt_status (*gt_try_fn)(void *user, struct gt_gpu *gpu, const struct gt_fit *fit,
                               struct gt_err *err);

/* Whether the failure of a build is about the kernel, so that the same build would fail
 * again and another kernel may succeed. Memory and the image cache fail for all alike. */
bool gt_is_about_kernel(gt_status status);
/* Takes the choices of the query in their order until `try` succeeds with one. When `try`
 * fails with all of them, the error is that of the first choice, which was the best.
 * ENOMEM, EIO and ESTOPPED of `try` say nothing about the kernel and end the walk. With
 * `only_cached`, choices that are not in the image cache are passed over, and the walk ends
 * after 64 choices. Errors of gt_match and of `try`. */
gt_status gt_plan_choose(struct gt_choice *choice, struct gt_gpu *gpu,
                         struct gt_query query, bool only_cached, gt_try_fn try, void *user,
                         struct gt_err *err);

/* Whether memory that is aligned for its types needs a narrow kernel as well. */
bool gt_wants_narrow(const struct gt_fit *fit, const gemmtune_problem *p);
/* The question for a narrow kernel. Of the pointers nothing is known but that they point to
 * elements. The worst match is for the wide kernel: any narrow one is better than a call
 * that is refused. */
struct gt_query gt_narrow_query(struct gt_query query);
/* The first choice for the narrow kernel beside `wide`: the same kernel with narrower
 * copies, or the kernel that a lookup finds. Errors of gt_match. */
gt_status gt_match_narrow(struct gt_choice *choice, struct gt_query query,
                          const struct gt_choice *wide, struct gt_err *err);
/* gt_plan_choose for the narrow kernel beside `wide`, from gt_match_narrow's choice on. */
gt_status gt_plan_choose_narrow(struct gt_choice *choice, struct gt_gpu *gpu,
                                struct gt_query query, const struct gt_choice *wide,
                                bool only_cached, gt_try_fn try, void *user,
                                struct gt_err *err);

#endif
