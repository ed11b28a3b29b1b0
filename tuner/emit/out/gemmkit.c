/* SPDX-License-Identifier: Apache-2.0 */
/* gemmkit.c - contexts and plans: see gemmkit.h. */
#include "gemmkit_plan.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
        for (struct gk_kept *k = atomic_load(&ctx->kept[i]); k != NULL;) {
            struct gk_kept *const next = k->next;
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
    union gk_value *v = plan->value;
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
    const gemmkit_status status = gk_is_empty(p) ? GEMMKIT_OK : load(plan);
    if (status == GEMMKIT_OK)
        *out = plan;
    else
        free(plan);
    return status;
}

gemmkit_status gk_plan_general(gemmkit_plan **out, gemmkit_ctx *ctx,
                               const struct gk_problem *p, bool swapped,
                               int pointer_align) {
    struct gk_problem filled = *p; /* nothing runs where C has no elements */
    struct gk_fit fit;
    filled.m += p->m == 0;
    filled.n += p->n == 0;
    filled.batch += p->batch == 0;
    const int kernel = find_general(&fit, ctx, &filled, pointer_align);
    if (kernel < 0)
        return gk_fail(
            GEMMKIT_EUNSUPPORTED,
            "there is no kernel for these types, layout, epilogue, kind of batch "
            "and size on %s",
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
    const struct gk_exact *x = gk_is_empty(&p) ? NULL : find_exact(ctx, &p, workspace_max);
    if (x == NULL && !gk_is_empty(&p) && p.kind.math != GEMMKIT_MATH_STRICT) {
        struct gk_problem strict = p;
        strict.kind.math = GEMMKIT_MATH_STRICT;
        x = find_exact(ctx, &strict, workspace_max);
    }
    return x != NULL ? create(out, ctx, &p, swapped, x->kernel, gk_kernels[x->kernel].fit,
                              x->name)
                     : gk_plan_general(out, ctx, &p, swapped, 16);
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
