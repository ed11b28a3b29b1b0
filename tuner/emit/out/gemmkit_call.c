/* SPDX-License-Identifier: Apache-2.0 */
/* gemmkit_call.c - calls of plans, and the plans that a context keeps: see gemmkit.h. */
#include "gemmkit_plan.h"

#include <stdlib.h>
#include <string.h>

/* The plan for pointers that are aligned to their elements only, made once. */
static gemmkit_status narrow_of(const gemmkit_plan **out, const gemmkit_plan *plan) {
    gemmkit_plan *const wide = (gemmkit_plan *)(uintptr_t)plan; /* `narrow` is atomic */
    gemmkit_plan *made = atomic_load(&wide->narrow), *expected = NULL;
    if (made == NULL) {
        const gemmkit_status status =
            gk_plan_general(&made, plan->ctx, &plan->problem, false, 1);
        if (status != GEMMKIT_OK)
            return status;
        if (!atomic_compare_exchange_strong(&wide->narrow, &expected, made)) {
            gemmkit_plan_destroy(made);
            made = expected;
        }
    }
    *out = made;
    return GEMMKIT_OK;
}

/* ---- calls ---- */

static double number_of(const void *scalar, int type) {
    if (type == GEMMKIT_F64)
        return *(const double *)scalar;
    return type == GEMMKIT_I32 ? *(const int32_t *)scalar : *(const float *)scalar;
}

/* The arguments of an epilogue, after the kernel's own. */
static int add_epilogue(void **params, int count, union gk_value *value,
                        const gemmkit_plan *plan, const gemmkit_args *args) {
    const struct gk_problem *const p = &plan->problem;
    const struct gk_epilogue *const e = &gk_epilogues[p->kind.epilogue - 1];
    for (int i = 0; i < e->operands; i++) {
        value->ptr = args->operand[i];
        params[count++] = value++;
        if (e->operand[i].shape != GK_MATRIX && e->operand[i].shape != GK_ROWS_PER_PRODUCT)
            continue;
        const int64_t ld = args->operand_ld != NULL ? args->operand_ld[i] : 0;
        value->i64 = ld != 0 ? ld : p->n;
        params[count++] = value++;
    }
    if (e->products) {
        value->i32 = 0;
        params[count++] = value++;
    }
    if (e->alpha) {
        memcpy(value, args->alpha, gk_type_size(p->kind.type_acc));
        params[count++] = value++;
    }
    if (e->d2 >= 0) {
        value->ptr = args->d2;
        params[count++] = value++;
        value->i64 = args->d2_ld != 0 ? args->d2_ld : p->n;
        params[count++] = value++;
    }
    return count;
}

static gemmkit_status launch(const gemmkit_plan *plan, const gemmkit_args *args,
                             void *stream, bool reads_ab) {
    const struct gk_kernel *const k = plan->kernel;
    const size_t scalar = gk_type_size(plan->problem.kind.type_acc);
    union gk_value value[GK_MAP], more[2 * GK_OPERANDS + 4];
    struct gk_tensor_map map[GK_MAPS];
    void *params[GK_ARGS], *base[GK_MAPS];
    memcpy(value, plan->value, sizeof value);
    value[GK_A].ptr = args->a;
    value[GK_B].ptr = args->b;
    value[GK_C].ptr = args->c;
    value[GK_WORKSPACE].ptr = args->workspace;
    memcpy(&value[GK_BETA], args->beta, scalar);
    if (reads_ab)
        memcpy(&value[GK_ALPHA], args->alpha, scalar);
    else
        value[GK_K].i32 = 0;
    for (int i = 0; i < plan->fit.maps; i++) {
        const struct gk_map *const m = &plan->fit.map[i];
        const char *const at = value[m->base].ptr;
        base[i] = reads_ab && !m->absent ? (void *)(uintptr_t)(at + m->at) : NULL;
        if (base[i] == NULL)
            memset(&map[i], 0, sizeof map[i]);
    }
    for (int i = 0; i < k->args; i++)
        params[i] = k->arg[i] < GK_MAP ? (void *)&value[k->arg[i]]
                                       : (void *)&map[k->arg[i] - GK_MAP];
    if (plan->problem.kind.epilogue != 0)
        (void)add_epilogue(params, k->args, more, plan, args);
    return gk_run(plan->loaded, &plan->fit, params, map, base, stream);
}

enum { ALIGNED, NARROW, MISALIGNED };

static int alignment_of(const gemmkit_plan *plan, const void *const at[3], bool reads_ab) {
    const struct gk_kind *const kind = &plan->problem.kind;
    const int type[3] = {kind->type_a, kind->type_b, kind->type_c};
    int worst = ALIGNED;
    for (int i = reads_ab ? 0 : 2; i < 3; i++) {
        const size_t each = kind->batch == 2 ? sizeof(void *) : gk_type_size(type[i]);
        if ((uintptr_t)at[i] % each != 0)
            return MISALIGNED;
        if (kind->batch != 2 && (uintptr_t)at[i] % (size_t)plan->fit.align[i] != 0)
            worst = NARROW;
    }
    return worst;
}

static gemmkit_status check_epilogue(const gemmkit_plan *plan, const gemmkit_args *args) {
    const struct gk_problem *const p = &plan->problem;
    const struct gk_epilogue none = {.d2 = -1};
    const struct gk_epilogue *const e =
        p->kind.epilogue != 0 ? &gk_epilogues[p->kind.epilogue - 1] : &none;
    if (args->operands != e->operands || (e->operands > 0 && args->operand == NULL))
        return gk_fail(GEMMKIT_EINVAL, "the call has %d operands, the plan's epilogue %d",
                       args->operands, e->operands);
    for (int i = 0; i < e->operands; i++) {
        const int64_t ld = args->operand_ld != NULL ? args->operand_ld[i] : 0;
        if (args->operand[i] == NULL || args->operand[i] == args->c ||
            (uintptr_t)args->operand[i] % gk_type_size(e->operand[i].type) != 0)
            return gk_fail(GEMMKIT_EINVAL,
                           "operand %s is NULL, is C, or is not aligned to its elements",
                           e->operand[i].name);
        if (ld != 0 && (ld < p->n || ld > INT32_MAX))
            return gk_fail(GEMMKIT_EINVAL, "the leading dimension of %s is %lld",
                           e->operand[i].name, (long long)ld);
    }
    if ((e->d2 >= 0) != (args->d2 != NULL) || (args->d2 != NULL && args->d2 == args->c) ||
        (args->d2_ld != 0 && (args->d2_ld < p->n || args->d2_ld > INT32_MAX)))
        return gk_fail(GEMMKIT_EINVAL, "d2 is missing, too much, C, or its rows overlap");
    if (e->d2 >= 0 && (uintptr_t)args->d2 % gk_type_size(e->d2) != 0)
        return gk_fail(GEMMKIT_EINVAL, "d2 is not aligned to its elements");
    return GEMMKIT_OK;
}

static gemmkit_status check(const gemmkit_plan *plan, const gemmkit_args *args,
                            bool reads_ab) {
    if (args->c == NULL || (reads_ab && (args->a == NULL || args->b == NULL)))
        return gk_fail(GEMMKIT_EINVAL, "a, b or c is NULL");
    if (args->c == args->a || args->c == args->b)
        return gk_fail(GEMMKIT_EINVAL, "C begins where A or B begins");
    if (plan->fit.workspace > 0 &&
        (args->workspace == NULL || (uintptr_t)args->workspace % GK_WORKSPACE_ALIGN != 0))
        return gk_fail(GEMMKIT_EWORKSPACE,
                       "the kernel needs %lld bytes of workspace, aligned to %d",
                       (long long)plan->fit.workspace, GK_WORKSPACE_ALIGN);
    return check_epilogue(plan, args);
}

gemmkit_status gemmkit_launch(const gemmkit_plan *plan, const gemmkit_args *given,
                              void *stream) {
    const struct gk_problem *const p = &plan->problem;
    gemmkit_args args = *given;
    if (plan->swapped) {
        args.a = given->b;
        args.b = given->a;
    }
    if (gk_is_empty(p))
        return GEMMKIT_OK;
    if (args.alpha == NULL || args.beta == NULL)
        return gk_fail(GEMMKIT_EINVAL, "alpha or beta is NULL");
    const bool reads_ab = p->k > 0 && number_of(args.alpha, p->kind.type_acc) != 0;
    if (!reads_ab && p->kind.epilogue == 0 && number_of(args.beta, p->kind.type_acc) == 1)
        return GEMMKIT_OK;
    gemmkit_status status = check(plan, &args, reads_ab);
    if (status != GEMMKIT_OK)
        return status;
    const int alignment =
        alignment_of(plan, (const void *const[3]){args.a, args.b, args.c}, reads_ab);
    if (alignment == MISALIGNED)
        return gk_fail(GEMMKIT_EINVAL, "a, b or c is not aligned to its elements");
    if (alignment == NARROW)
        status = narrow_of(&plan, plan);
    return status == GEMMKIT_OK ? launch(plan, &args, stream, reads_ab) : status;
}

gemmkit_status gemmkit_execute(const gemmkit_plan *plan, const void *alpha, const void *a,
                               const void *b, const void *beta, void *c, void *workspace,
                               void *stream) {
    const gemmkit_args args = {
        .alpha = alpha, .beta = beta, .a = a, .b = b, .c = c, .workspace = workspace};
    return gemmkit_launch(plan, &args, stream);
}

/* ---- the call that keeps its plans ---- */

static uint32_t hash_of(const gemmkit_problem *p) {
    uint64_t word[sizeof *p / sizeof(uint64_t)], h = 0;
    memcpy(word, p, sizeof word);
    for (size_t i = 0; i < sizeof word / sizeof *word; i++)
        h = (h ^ word[i]) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(h >> 32) % BUCKETS;
}

static const gemmkit_plan *find_kept(gemmkit_ctx *ctx, uint32_t bucket,
                                     const gemmkit_problem *p, size_t workspace) {
    for (const struct gk_kept *k = atomic_load(&ctx->kept[bucket]); k != NULL; k = k->next)
        if (k->workspace == workspace && memcmp(&k->problem, p, sizeof *p) == 0)
            return k->plan;
    return NULL;
}

static gemmkit_status keep(const gemmkit_plan **out, gemmkit_ctx *ctx, uint32_t bucket,
                           const gemmkit_problem *p, size_t workspace) {
    struct gk_kept *k = calloc(1, sizeof *k);
    if (k == NULL)
        return gk_fail(GEMMKIT_ENOMEM, "out of memory");
    const gemmkit_status status = gemmkit_plan_create(&k->plan, ctx, p, workspace);
    if (status != GEMMKIT_OK) {
        free(k);
        return status;
    }
    k->problem = *p;
    k->workspace = workspace;
    *out = k->plan;
    k->next = atomic_load(&ctx->kept[bucket]);
    while (!atomic_compare_exchange_weak(&ctx->kept[bucket], &k->next, k))
        continue; /* a plan that two threads make at once is kept twice */
    return GEMMKIT_OK;
}

gemmkit_status gemmkit_gemm(gemmkit_ctx *ctx, const gemmkit_problem *p, const void *alpha,
                            const void *a, const void *b, const void *beta, void *c,
                            void *workspace, size_t workspace_bytes, void *stream) {
    const size_t room = workspace != NULL ? workspace_bytes : 0;
    const uint32_t bucket = hash_of(p);
    const gemmkit_plan *plan = find_kept(ctx, bucket, p, room);
    const gemmkit_status status =
        plan != NULL ? GEMMKIT_OK : keep(&plan, ctx, bucket, p, room);
    return status == GEMMKIT_OK
               ? gemmkit_execute(plan, alpha, a, b, beta, c, workspace, stream)
               : status;
}
