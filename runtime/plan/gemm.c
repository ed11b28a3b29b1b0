/* SPDX-License-Identifier: Apache-2.0 */
/* gemm.c - a product in one call, with a plan of the context's own (plan_cache.c). */
#include "runtime/plan/context.h"

/* ---- running --------------------------------------------------------------------- */

/* Runs the context's plan with so much workspace. *starved: the stream has none after all,
 * and nothing was enqueued. */
static gt_status run_within(bool *starved, gemmtune_ctx *ctx, const gemmtune_problem *p,
                            size_t workspace_max, bool swapped, const struct gt_call *call,
                            struct gt_err *err) {
    struct gt_plan_use use;
    struct gt_call own = *call;
    struct gt_workspace *w = NULL;
    *starved = false;
    gt_status status = gt_plan_use_begin(&use, ctx, p, workspace_max, err);
    if (status != GEMMTUNE_OK)
        return status;
    if (gt_plan_workspace(use.plan) > 0) {
        w = gt_workspace_take(ctx, call->stream);
        *starved = w == NULL;
        own.workspace = w != NULL ? w->memory : NULL;
    }
    if (!*starved)
        status = gt_plan_run(use.plan, swapped, &own, err);
    gt_workspace_give(w);
    gt_plan_use_end(&use);
    return status;
}

static gt_status run(gemmtune_ctx *ctx, const gemmtune_problem *p,
                     const struct gt_call *call, struct gt_err *err) {
    gemmtune_problem canonical;
    bool swapped, starved;
    if (ctx == NULL || p == NULL)
        return ctx == NULL ? gt_fail_null(err, "ctx", GEMMTUNE_ARG_CTX)
                           : gt_fail_null(err, "problem", GEMMTUNE_ARG_PROBLEM);
    gt_status status = gt_problem_canonical(&canonical, &swapped, p, err);
    if (status == GEMMTUNE_OK)
        status = gt_call_check_scalars(&canonical, call, err);
    if (status != GEMMTUNE_OK || gt_call_is_idle(&canonical, call))
        return status;
    status = run_within(&starved, ctx, &canonical, gt_workspace_room(ctx, call->stream),
                        swapped, call, err);
    if (status == GEMMTUNE_OK && starved)
        status = run_within(&starved, ctx, &canonical, 0, swapped, call, err);
    return status;
}

/* ---- public ---------------------------------------------------------------------- */

gemmtune_status gemmtune_gemm(gemmtune_ctx *ctx, const gemmtune_problem *p,
                              const void *alpha, const void *a, const void *b,
                              const void *beta, void *c, void *stream) {
    const struct gt_call call = {.alpha = alpha,
                                 .a = gt_device_pointer(a),
                                 .b = gt_device_pointer(b),
                                 .beta = beta,
                                 .c = c,
                                 .stream = stream};
    return run(ctx, p, &call, gt_public_entry());
}

/* The part of a problem that the typed calls have besides its type and sizes. */
struct form {
    gemmtune_layout layout;
    gemmtune_trans trans_a, trans_b;
    int64_t lda, ldb, ldc;
};

static gemmtune_problem problem_of(gemmtune_dtype type, int64_t m, int64_t n, int64_t k,
                                   struct form form) {
    gemmtune_problem p;
    gemmtune_problem_init(&p, type, m, n, k);
    p.layout = form.layout;
    p.trans_a = form.trans_a;
    p.trans_b = form.trans_b;
    p.lda = form.lda;
    p.ldb = form.ldb;
    p.ldc = form.ldc;
    return p;
}

gemmtune_status gemmtune_sgemm(gemmtune_ctx *ctx, gemmtune_layout layout,
                               gemmtune_trans trans_a, gemmtune_trans trans_b, int64_t m,
                               int64_t n, int64_t k, float alpha, const void *a,
                               int64_t lda, const void *b, int64_t ldb, float beta, void *c,
                               int64_t ldc, void *stream) {
    const struct form form = {layout, trans_a, trans_b, lda, ldb, ldc};
    const gemmtune_problem p = problem_of(GEMMTUNE_F32, m, n, k, form);
    return gemmtune_gemm(ctx, &p, &alpha, a, b, &beta, c, stream);
}

gemmtune_status gemmtune_dgemm(gemmtune_ctx *ctx, gemmtune_layout layout,
                               gemmtune_trans trans_a, gemmtune_trans trans_b, int64_t m,
                               int64_t n, int64_t k, double alpha, const void *a,
                               int64_t lda, const void *b, int64_t ldb, double beta,
                               void *c, int64_t ldc, void *stream) {
    const struct form form = {layout, trans_a, trans_b, lda, ldb, ldc};
    const gemmtune_problem p = problem_of(GEMMTUNE_F64, m, n, k, form);
    return gemmtune_gemm(ctx, &p, &alpha, a, b, &beta, c, stream);
}

gemmtune_status gemmtune_igemm(gemmtune_ctx *ctx, gemmtune_layout layout,
                               gemmtune_trans trans_a, gemmtune_trans trans_b, int64_t m,
                               int64_t n, int64_t k, int32_t alpha, const void *a,
                               int64_t lda, const void *b, int64_t ldb, int32_t beta,
                               void *c, int64_t ldc, void *stream) {
    const struct form form = {layout, trans_a, trans_b, lda, ldb, ldc};
    const gemmtune_problem p = problem_of(GEMMTUNE_I32, m, n, k, form);
    return gemmtune_gemm(ctx, &p, &alpha, a, b, &beta, c, stream);
}
