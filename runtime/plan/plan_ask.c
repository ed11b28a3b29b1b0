/* SPDX-License-Identifier: Apache-2.0 */
/* plan_ask.c - the question that a plan begins with. */
#include "runtime/plan/context.h"

gt_status gt_plan_problem(gemmtune_problem *canonical, bool *swapped,
                          const gemmtune_ctx *ctx, const gemmtune_problem *p,
                          gemmtune_match worst, struct gt_err *err) {
    if (ctx == NULL || p == NULL)
        return ctx == NULL ? gt_fail_null(err, "ctx", GEMMTUNE_ARG_CTX)
                           : gt_fail_null(err, "problem", GEMMTUNE_ARG_PROBLEM);
    if ((unsigned)worst > GEMMTUNE_MATCH_DEFAULT)
        return gt_blame(err,
                        gt_fail(err, GEMMTUNE_EINVAL,
                                "worst is %u, not a value of its enum", (unsigned)worst),
                        GEMMTUNE_ARG_OPTIONS);
    return gt_problem_canonical(canonical, swapped, p, err);
}

struct gt_query gt_ctx_query(const gemmtune_ctx *ctx, const gemmtune_problem *canonical,
                             gemmtune_match worst, size_t workspace_max) {
    return (struct gt_query){.snapshot = &ctx->snapshot,
                             .device = gt_ctx_device(ctx),
                             .device_key = ctx->device_key,
                             .problem = canonical,
                             .worst = worst,
                             .workspace_max = workspace_max,
                             .pointer_align = GT_VECTOR_BYTES,
                             .lock = ctx->lock};
}
