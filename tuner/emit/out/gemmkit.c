/* SPDX-License-Identifier: Apache-2.0 */
/* gemmkit.c - contexts, plans and calls: see gemmkit.h. */
#include "gemmkit_inside.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 1024 }; /* of a context's own plans and of the exact kernels */

static _Thread_local char line[512];

const char *gemmkit_errmsg(void) {
    return line;
}

gemmkit_status gk_fail(gemmkit_status status, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    return status;
}

/* ---- contexts ---- */

union value {
    int32_t i32;
    int64_t i64;
    const void *ptr;
    double room;
};

struct gemmkit_plan {
    gemmkit_ctx *ctx;
    const struct gk_kernel *kernel;
    const struct gk_loaded *loaded; /* NULL: C has no elements */
    const char *name;               /* of an exact kernel's problem */
    struct gk_problem problem;
    bool swapped;
    struct gk_fit fit;
    union value value[GK_MAP];      /* of the arguments that the problem decides */
    _Atomic(gemmkit_plan *) narrow; /* for pointers that are aligned to elements only */
};

/* A plan that the context keeps for gemmkit_gemm. */
struct kept {
    struct kept *next;
    gemmkit_problem problem;
    size_t workspace;
    gemmkit_plan *plan;
};

struct gemmkit_ctx {
    void *context;
    const struct gk_arch *arch;
    struct gk_device device;
    pthread_mutex_t lock;      /* of `loaded`, and for adding to `kept` and `narrow` */
    struct gk_loaded **loaded; /* by kernel */
    _Atomic(struct kept *) kept[BUCKETS];
    int first[BUCKETS]; /* exact kernels by hash: 1 + index; 0: none */
    int *next;
};

const struct gk_arch *gk_arch_of(const gemmkit_ctx *ctx) {
    return ctx->arch;
}

/* The newest architecture that the device runs; of one architecture PTX comes last. */
static const struct gk_arch *arch_for(int cc) {
    const struct gk_arch *best = NULL;
    for (int i = 0; i < gk_arch_count; i++)
        if (cc >= gk_archs[i].cc && cc <= gk_archs[i].cc_last &&
            (best == NULL || gk_archs[i].cc > best->cc ||
             (gk_archs[i].cc == best->cc && gk_archs[i].cc_last < best->cc_last)))
            best = &gk_archs[i];
    return best;
}

static gemmkit_status fail_arch(int cc) {
    char all[256] = "";
    for (int i = 0; i < gk_arch_count; i++) {
        const size_t length = strlen(all);
        (void)snprintf(all + length, sizeof all - length, "%s%s", i > 0 ? ", " : "",
                       gk_archs[i].name);
    }
    return gk_fail(GEMMKIT_ENOTFOUND, "the device is sm_%d, and there are kernels for %s",
                   cc, all);
}

static void index_exact(gemmkit_ctx *ctx) {
    for (int i = ctx->arch->exacts - 1; i >= 0; i--) {
        const uint32_t at = gk_hash(&ctx->arch->exact[i].problem) % BUCKETS;
        ctx->next[i] = ctx->first[at];
        ctx->first[at] = i + 1;
    }
}

gemmkit_status gemmkit_open(gemmkit_ctx **out, void *context) {
    struct gk_device device = {0, 0, 0};
    *out = NULL;
    const gemmkit_status status = gk_driver_open(&context, &device);
    if (status != GEMMKIT_OK)
        return status;
    const struct gk_arch *arch = arch_for(device.cc);
    if (arch == NULL)
        return fail_arch(device.cc);
    gemmkit_ctx *ctx = calloc(1, sizeof *ctx);
    if (ctx != NULL) {
        ctx->loaded = calloc((size_t)gk_kernel_count + 1, sizeof *ctx->loaded);
        ctx->next = calloc((size_t)arch->exacts + 1, sizeof *ctx->next);
    }
    if (ctx == NULL || ctx->loaded == NULL || ctx->next == NULL) {
        if (ctx != NULL) {
            free(ctx->loaded);
            free(ctx->next);
        }
        free(ctx);
        return gk_fail(GEMMKIT_ENOMEM, "out of memory");
    }
    ctx->context = context;
    ctx->arch = arch;
    ctx->device = device;
    (void)pthread_mutex_init(&ctx->lock, NULL);
    index_exact(ctx);
    *out = ctx;
    return GEMMKIT_OK;
}

void gemmkit_close(gemmkit_ctx *ctx) {
    if (ctx == NULL)
        return;
    for (int i = 0; i < BUCKETS; i++)
        for (struct kept *k = atomic_load(&ctx->kept[i]); k != NULL;) {
            struct kept *const next = k->next;
            gemmkit_plan_destroy(k->plan);
            free(k);
            k = next;
        }
    for (int i = 0; i < gk_kernel_count; i++)
        gk_unload(ctx->loaded[i]);
    (void)pthread_mutex_destroy(&ctx->lock);
    free(ctx->loaded);
    free(ctx->next);
    free(ctx);
}

/* ---- the choice of a kernel ---- */

static bool is_empty(const struct gk_problem *p) {
    return p->m == 0 || p->n == 0 || p->batch == 0;
}

/* A kernel that counts on more multiprocessors than there are may wait for ever. */
bool gk_fits_device(const gemmkit_ctx *ctx, int kernel, const struct gk_fit *fit) {
    bool fits = gk_kernels[kernel].units <= ctx->device.units;
    for (int i = 0; i < fit->passes; i++)
        fits = fits && fit->launch[i].smem <= ctx->device.smem;
    return fits;
}

static const struct gk_exact *find_exact(const gemmkit_ctx *ctx, const struct gk_problem *p,
                                         size_t workspace_max) {
    for (int i = ctx->first[gk_hash(p) % BUCKETS]; i > 0; i = ctx->next[i - 1]) {
        const struct gk_exact *const x = &ctx->arch->exact[i - 1];
        if (gk_same(&x->problem, p) &&
            gk_fits_device(ctx, x->kernel, gk_kernels[x->kernel].fit) &&
            (uint64_t)gk_kernels[x->kernel].fit->workspace <= workspace_max)
            return x;
    }
    return NULL;
}

/* A kernel for batches serves a single product, and strict arithmetic any other. */
static bool serves(const struct gk_kind *kernel, const struct gk_kind *p) {
    return kernel->type_a == p->type_a && kernel->type_b == p->type_b &&
           kernel->type_c == p->type_c && kernel->type_acc == p->type_acc &&
           kernel->trans_a == p->trans_a && kernel->trans_b == p->trans_b &&
           (kernel->math == p->math || kernel->math == GEMMKIT_MATH_STRICT) &&
           kernel->epilogue == p->epilogue &&
           (kernel->batch == p->batch || (kernel->batch == 1 && p->batch == 0));
}

/* The general kernel with the least guess of its time; -1: there is none. */
static int find_general(struct gk_fit *fit, const gemmkit_ctx *ctx,
                        const struct gk_problem *p, int pointer_align) {
    int best = -1;
    double least = 0;
    for (int i = 0; i < ctx->arch->generals; i++) {
        const struct gk_general *const g = &ctx->arch->general[i];
        struct gk_fit own;
        if (!serves(&g->kind, &p->kind) ||
            !gk_fit_general(&own, &gk_kernels[g->kernel], p, pointer_align) ||
            !gk_fits_device(ctx, g->kernel, &own))
            continue;
        const double tiles = (double)((p->m + g->tile[0] - 1) / g->tile[0]) *
                             (double)((p->n + g->tile[1] - 1) / g->tile[1]) *
                             (double)p->batch;
        const double rounds = (double)(int64_t)(tiles / ctx->device.units + 0.999);
        const double guess = (rounds > 1 ? rounds : 1) * g->tile[0] * g->tile[1] *
                             (double)(p->k + 64) * g->cost;
        if (best < 0 || guess < least) {
            best = g->kernel;
            least = guess;
            *fit = own;
        }
    }
    return best;
}

/* ---- plans ---- */

static void set_values(gemmkit_plan *plan) {
    const struct gk_problem *p = &plan->problem;
    union value *v = plan->value;
    v[GK_M].i32 = (int32_t)p->m;
    v[GK_N].i32 = (int32_t)p->n;
    v[GK_K].i32 = (int32_t)p->k;
    v[GK_BATCH].i32 = (int32_t)p->batch;
    v[GK_LDA].i64 = p->lda;
    v[GK_LDB].i64 = p->ldb;
    v[GK_LDC].i64 = p->ldc;
    v[GK_STRIDE_A].i64 = p->stride[0];
    v[GK_STRIDE_B].i64 = p->stride[1];
    v[GK_STRIDE_C].i64 = p->stride[2];
    v[GK_STRIDE_W].i64 = plan->fit.step / (int64_t)gk_type_size(p->kind.type_acc);
}

/* Loads the kernel, unless the context has it. */
static gemmkit_status load(gemmkit_plan *plan) {
    gemmkit_ctx *const ctx = plan->ctx;
    struct gk_loaded **at = &ctx->loaded[plan->kernel - gk_kernels];
    gemmkit_status status = GEMMKIT_OK;
    (void)pthread_mutex_lock(&ctx->lock);
    if (*at == NULL)
        status = gk_load(at, ctx->context, plan->kernel, &plan->fit);
    plan->loaded = *at;
    (void)pthread_mutex_unlock(&ctx->lock);
    return status;
}

static gemmkit_status create(gemmkit_plan **out, gemmkit_ctx *ctx,
                             const struct gk_problem *p, bool swapped, int kernel,
                             const struct gk_fit *fit, const char *name) {
    gemmkit_plan *plan = calloc(1, sizeof *plan);
    if (plan == NULL)
        return gk_fail(GEMMKIT_ENOMEM, "out of memory");
    plan->ctx = ctx;
    plan->problem = *p;
    plan->swapped = swapped;
    plan->kernel = &gk_kernels[kernel];
    plan->fit = *fit;
    plan->name = name;
    set_values(plan);
    const gemmkit_status status = is_empty(p) ? GEMMKIT_OK : load(plan);
    if (status == GEMMKIT_OK)
        *out = plan;
    else
        free(plan);
    return status;
}

static gemmkit_status create_general(gemmkit_plan **out, gemmkit_ctx *ctx,
                                     const struct gk_problem *p, bool swapped,
                                     int pointer_align) {
    struct gk_problem filled = *p; /* nothing runs where C has no elements */
    struct gk_fit fit;
    filled.m += p->m == 0;
    filled.n += p->n == 0;
    filled.batch += p->batch == 0;
    const int kernel = find_general(&fit, ctx, &filled, pointer_align);
    if (kernel < 0)
        return gk_fail(GEMMKIT_EUNSUPPORTED,
                       "there is no kernel for these types, layout, epilogue and kind of "
                       "batch on %s",
                       ctx->arch->name);
    return create(out, ctx, p, swapped, kernel, &fit, "");
}

gemmkit_status gemmkit_plan_create(gemmkit_plan **out, gemmkit_ctx *ctx,
                                   const gemmkit_problem *problem, size_t workspace_max) {
    struct gk_problem p;
    bool swapped = false;
    *out = NULL;
    const gemmkit_status status = gk_settle(&p, &swapped, problem);
    if (status != GEMMKIT_OK)
        return status;
    const struct gk_exact *x = is_empty(&p) ? NULL : find_exact(ctx, &p, workspace_max);
    return x != NULL ? create(out, ctx, &p, swapped, x->kernel, gk_kernels[x->kernel].fit,
                              x->name)
                     : create_general(out, ctx, &p, swapped, 16);
}

gemmkit_status gk_plan_of(gemmkit_plan **out, gemmkit_ctx *ctx,
                          const gemmkit_problem *problem, int kernel) {
    struct gk_problem p;
    struct gk_fit fit;
    bool swapped = false;
    *out = NULL;
    const gemmkit_status status = gk_settle(&p, &swapped, problem);
    if (status != GEMMKIT_OK)
        return status;
    if (!gk_fit_general(&fit, &gk_kernels[kernel], &p, 16) ||
        !gk_fits_device(ctx, kernel, &fit))
        return gk_fail(GEMMKIT_EUNSUPPORTED, "the kernel does not run this problem");
    return create(out, ctx, &p, swapped, kernel, &fit, "");
}

void gemmkit_plan_destroy(gemmkit_plan *plan) {
    if (plan == NULL)
        return;
    free(atomic_load(&plan->narrow));
    free(plan);
}

void gemmkit_plan_describe(const gemmkit_plan *plan, gemmkit_plan_info *info) {
    info->exact = plan->kernel->fit != NULL;
    info->name = plan->name;
    info->family = plan->kernel->family;
    info->params = plan->kernel->params;
    info->workspace_bytes = (size_t)plan->fit.workspace;
    info->workspace_align = GK_WORKSPACE_ALIGN;
}

/* The plan for pointers that are aligned to their elements only, made once. */
static gemmkit_status narrow_of(const gemmkit_plan **out, const gemmkit_plan *plan) {
    gemmkit_plan *const wide = (gemmkit_plan *)(uintptr_t)plan; /* `narrow` is atomic */
    gemmkit_plan *made = atomic_load(&wide->narrow), *expected = NULL;
    if (made == NULL) {
        const gemmkit_status status =
            create_general(&made, plan->ctx, &plan->problem, false, 1);
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
static int add_epilogue(void **params, int count, union value *value,
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
    union value value[GK_MAP], more[2 * GK_OPERANDS + 4];
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
        (args->d2_ld != 0 && args->d2_ld < p->n))
        return gk_fail(GEMMKIT_EINVAL, "d2 is missing, too much, C, or its rows overlap");
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
    if (is_empty(p))
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
    for (const struct kept *k = atomic_load(&ctx->kept[bucket]); k != NULL; k = k->next)
        if (k->workspace == workspace && memcmp(&k->problem, p, sizeof *p) == 0)
            return k->plan;
    return NULL;
}

static gemmkit_status keep(const gemmkit_plan **out, gemmkit_ctx *ctx, uint32_t bucket,
                           const gemmkit_problem *p, size_t workspace) {
    struct kept *k = calloc(1, sizeof *k);
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
