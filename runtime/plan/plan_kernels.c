/* SPDX-License-Identifier: Apache-2.0 */
/* plan_kernels.c - see plan_kernels.h. */
#include "runtime/plan/plan_kernels.h"

#include "runtime/exec/programs.h"
#include "runtime/plan/context.h"
#include "runtime/plan/plan_ahead.h"

/* ---- building ---------------------------------------------------------------------- */

/* Which kernels a plan may take. */
enum way {
    BUILD,      /* the best one that builds */
    CACHED,     /* the best one in the image cache */
    BEST_CACHED /* the best one, if it is in the image cache; else ESTOPPED */
};

/* A kernel to build: where it goes, and the programs that it may be among. */
struct building {
    struct gt_exec **out;
    struct gt_sharing *programs;
    enum way way;
    /* of a wide kernel: the question, and the choice that is being tried; else NULL */
    const struct gt_query *query;
    const struct gt_choice *wide;
};

/* Compiles, and the narrow kernel of the plan beside it. */
static gt_status compile(const struct building *b, struct gt_gpu *gpu,
                         const struct gt_fit *fit, struct gt_err *err) {
    struct gt_plan_ahead ahead;
    gt_plan_ahead_begin(&ahead, gpu, b->query, b->wide);
    const gt_status status =
        gt_exec_build_shared(b->out, b->programs, gpu, fit, false, err);
    gt_plan_ahead_end(&ahead);
    return status;
}

/* A gt_try_fn: builds the kernel of *user, a struct building. */
static gt_status build(void *user, struct gt_gpu *gpu, const struct gt_fit *fit,
                       struct gt_err *err) {
    const struct building *b = user;
    if (b->way == BUILD && b->wide == NULL)
        return gt_exec_build_shared(b->out, b->programs, gpu, fit, false, err);
    const gt_status status = gt_exec_build_shared(b->out, b->programs, gpu, fit, true, err);
    if (status != GEMMTUNE_ENOTFOUND || b->way == CACHED)
        return status;
    return b->way == BUILD ? compile(b, gpu, fit, err) : GEMMTUNE_ESTOPPED;
}

/* ---- kernels that serve while a better one is built --------------------------------- */

/* Whether a plan for the question need not wait for the compiler. With a lock it does: no
 * other kernel may serve meanwhile. */
static bool may_serve(const gemmtune_ctx *ctx, const struct gt_query *query) {
    return ctx->builds_behind && ctx->lock == NULL &&
           query->worst == GEMMTUNE_MATCH_DEFAULT;
}

/* The time that is expected of the best kernel; 0: it is not known. */
static double expected_ns(const struct gt_choice *best) {
    if (best->forecast_ns > 0)
        return best->forecast_ns;
    return best->known != NULL ? best->known->median_ns : 0;
}

/* Takes the best general kernel that is built. False when there is none. */
static bool take_general(struct gt_exec **out, struct gt_choice *choice, gemmtune_ctx *ctx,
                         const struct gt_query *query, double best_ns) {
    struct gt_general_rank rank[GT_GENERALS_RANKED];
    const size_t count = gt_generals_rank(rank, &ctx->generals, query);
    bool taken = false;
    for (size_t i = 0; i < count && !taken; i++)
        taken = gt_general_choose(choice, &rank[i], query, best_ns) &&
                gt_exec_build_shared(out, ctx->programs, ctx->gpu, &choice->fit, true,
                                     NULL) == GEMMTUNE_OK;
    return taken;
}

static gt_status choose_wide(struct gt_exec **out, struct gt_choice *choice,
                             gemmtune_ctx *ctx, const struct gt_query *query, enum way way,
                             struct gt_err *err) {
    struct building building = {out, ctx->programs, way, query, choice};
    return gt_plan_choose(choice, ctx->gpu, *query, way == CACHED, build, &building, err);
}

/* The best wide kernel; while that is not built, one that is. *for_now: so it is. */
static gt_status find_wide(struct gt_exec **out, bool *for_now, struct gt_choice *choice,
                           gemmtune_ctx *ctx, const struct gt_query *query,
                           struct gt_err *err) {
    struct gt_err why = {""};
    const gt_status status = choose_wide(out, choice, ctx, query, BEST_CACHED, &why);
    if (status != GEMMTUNE_ESTOPPED)
        return status == GEMMTUNE_OK ? status : gt_fail(err, status, "%s", why.line);
    *for_now = take_general(out, choice, ctx, query, expected_ns(choice)) ||
               choose_wide(out, choice, ctx, query, CACHED, NULL) == GEMMTUNE_OK;
    return *for_now ? GEMMTUNE_OK : choose_wide(out, choice, ctx, query, BUILD, err);
}

static gt_status choose_narrow(struct gt_exec **out, struct gt_choice *choice,
                               gemmtune_ctx *ctx, const struct gt_query *query,
                               const struct gt_choice *wide, enum way way,
                               struct gt_err *err) {
    struct building building = {out, ctx->programs, way, NULL, NULL};
    return gt_plan_choose_narrow(choice, ctx->gpu, *query, wide, way == CACHED, build,
                                 &building, err);
}

/* The same for the narrow kernel. A plan that is to be made anew needs not know the best
 * one: that would take a lookup. Without a narrow one that is built the plan waits: it
 * would refuse pointers. */
static gt_status find_narrow(struct gt_exec **out, bool *for_now, gemmtune_ctx *ctx,
                             const struct gt_query *query, const struct gt_choice *wide,
                             struct gt_err *err) {
    const struct gt_query narrow = gt_narrow_query(*query);
    struct gt_choice choice;
    struct gt_err why = {""};
    if (*for_now && take_general(out, &choice, ctx, &narrow, 0))
        return GEMMTUNE_OK;
    const gt_status status =
        choose_narrow(out, &choice, ctx, query, wide, BEST_CACHED, &why);
    if (status != GEMMTUNE_ESTOPPED)
        return status == GEMMTUNE_OK ? status : gt_fail(err, status, "%s", why.line);
    if (!take_general(out, &choice, ctx, &narrow, 0))
        return choose_narrow(out, &choice, ctx, query, wide, BUILD, err);
    *for_now = true;
    return GEMMTUNE_OK;
}

/* ---- for plans ----------------------------------------------------------------------- */

gt_status gt_kernel_wide(struct gt_exec **out, bool *for_now, struct gt_choice *choice,
                         gemmtune_ctx *ctx, const struct gt_query *query, bool only_cached,
                         struct gt_err *err) {
    if (may_serve(ctx, query) && !only_cached)
        return find_wide(out, for_now, choice, ctx, query, err);
    return choose_wide(out, choice, ctx, query, only_cached ? CACHED : BUILD, err);
}

gt_status gt_kernel_narrow(struct gt_exec **out, bool *for_now, gemmtune_ctx *ctx,
                           const struct gt_query *query, const struct gt_choice *wide,
                           bool only_cached, struct gt_err *err) {
    struct gt_choice choice;
    if (may_serve(ctx, query) && !only_cached)
        return find_narrow(out, for_now, ctx, query, wide, err);
    return choose_narrow(out, &choice, ctx, query, wide, only_cached ? CACHED : BUILD, err);
}
