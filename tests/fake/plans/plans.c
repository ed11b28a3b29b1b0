/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plans.c - the part of libgemmtune.so that the shim calls, for programs of tests, with a
 * kernel of two passes: one fills the workspace, the other reads it. Where a launch finds
 * the words of another launch in its workspace, or a workspace that is none, the process
 * ends. f32 alone, strided or not, in memory that the host can read.
 *
 * - a plan that may have WORKSPACE bytes needs them; others need none
 * - FAKE_PLAN_MS: how long it takes to make a plan without a workspace (0)
 */
#include "include/gemmtune.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WORKSPACE = 24576, WORDS = WORKSPACE / sizeof(uint32_t), ALIGN = 256 };

struct gemmtune_ctx {
    int unused;
};

struct gemmtune_plan {
    gemmtune_problem p;
    bool passes; /* has a workspace */
};

gemmtune_status gemmtune_target_init_sized(gemmtune_target *target, size_t size,
                                           gemmtune_backend backend) {
    memset(target, 0, size);
    return backend == GEMMTUNE_CUDA ? GEMMTUNE_OK : GEMMTUNE_EUNSUPPORTED;
}

/* Contexts of the shim are never closed. */
gemmtune_status gemmtune_open(gemmtune_ctx **out, const char *db_path,
                              const gemmtune_target *target) {
    static gemmtune_ctx one;
    (void)db_path;
    (void)target;
    *out = &one;
    return GEMMTUNE_OK;
}

void gemmtune_set_log(gemmtune_log_fn fn, void *user, gemmtune_log_level most) {
    (void)fn;
    (void)user;
    (void)most;
}

const char *gemmtune_errmsg(void) {
    return "a stand-in refuses";
}

gemmtune_status gemmtune_problem_init_sized(gemmtune_problem *p, size_t size,
                                            gemmtune_dtype type, int64_t m, int64_t n,
                                            int64_t k) {
    memset(p, 0, size);
    p->type_a = p->type_b = p->type_c = type;
    p->m = m;
    p->n = n;
    p->k = k;
    return GEMMTUNE_OK;
}

int gemmtune_problem_format(const gemmtune_problem *p, char *buf, size_t size) {
    return snprintf(buf, size, "%lldx%lldx%lld", (long long)p->m, (long long)p->n,
                    (long long)p->k);
}

gemmtune_status gemmtune_plan_prepare(int *ready, gemmtune_ctx *ctx,
                                      const gemmtune_problem *p, gemmtune_match worst,
                                      size_t workspace_max) {
    (void)ctx;
    (void)p;
    (void)worst;
    (void)workspace_max;
    *ready = 1;
    return GEMMTUNE_OK;
}

static void be_slow(void) {
    const char *text = getenv("FAKE_PLAN_MS");
    const long ms = text != NULL ? atol(text) : 0;
    const struct timespec t = {ms / 1000, ms % 1000 * 1000000L};
    (void)nanosleep(&t, NULL);
}

gemmtune_status gemmtune_plan_create_cached(gemmtune_plan **out, gemmtune_ctx *ctx,
                                            const gemmtune_problem *p, gemmtune_match worst,
                                            size_t workspace_max) {
    (void)ctx;
    (void)worst;
    *out = NULL;
    if (p->type_a != GEMMTUNE_F32 || p->type_c != GEMMTUNE_F32 || p->epilogue != NULL ||
        p->trans_a != GEMMTUNE_NOTRANS || p->trans_b != GEMMTUNE_NOTRANS)
        return GEMMTUNE_EUNSUPPORTED;
    *out = calloc(1, sizeof **out);
    if (*out == NULL)
        return GEMMTUNE_ENOMEM;
    (*out)->p = *p;
    (*out)->passes = workspace_max >= WORKSPACE;
    if (!(*out)->passes)
        be_slow();
    return GEMMTUNE_OK;
}

gemmtune_status gemmtune_plan_describe_sized(const gemmtune_plan *plan,
                                             gemmtune_plan_info *info, size_t size) {
    memset(info, 0, size);
    info->match = GEMMTUNE_MATCH_EXACT;
    info->workspace_bytes = plan->passes ? WORKSPACE : 0;
    info->workspace_align = ALIGN;
    return GEMMTUNE_OK;
}

void gemmtune_plan_destroy(gemmtune_plan *plan) {
    free(plan);
}

gemmtune_status gemmtune_plan_rival_sized(const gemmtune_plan *plan,
                                          int32_t library_version,
                                          gemmtune_rival_info *info, size_t size) {
    (void)plan;
    memset(info, 0, size);
    info->known = 1;
    info->version = library_version;
    info->verdict = 1;
    info->ours_ns = 1e6;
    info->rival_ns = 2e6;
    return GEMMTUNE_OK;
}

gemmtune_status gemmtune_args_init_sized(gemmtune_args *args, size_t size) {
    memset(args, 0, size);
    return GEMMTUNE_OK;
}

/* ---- a launch ---- */

static void fail(const char *why) {
    fprintf(stderr, "%s\n", why);
    abort();
}

/* The first pass; a while in which other threads may run; the second pass. */
static void use_workspace(uint32_t *workspace) {
    static atomic_uint launches;
    const uint32_t mark = atomic_fetch_add(&launches, 1) + 1;
    for (size_t i = 0; i < WORDS; i++)
        workspace[i] = mark;
    for (int i = 0; i < 3; i++)
        (void)sched_yield();
    for (size_t i = 0; i < WORDS; i++)
        if (workspace[i] != mark)
            fail("two launches in one workspace");
}

static void multiply(const gemmtune_problem *p, const gemmtune_args *x) {
    const float *a = x->a, *b = x->b, alpha = *(const float *)x->alpha,
                beta = *(const float *)x->beta;
    float *c = x->c;
    for (int64_t i = 0; i < p->m; i++)
        for (int64_t j = 0; j < p->n; j++) {
            float sum = 0;
            for (int64_t q = 0; q < p->k; q++)
                sum += a[i * p->lda + q] * b[q * p->ldb + j];
            float *at = &c[i * p->ldc + j];
            *at = alpha * sum + (beta == 0 ? 0 : beta * *at);
        }
}

gemmtune_status gemmtune_launch(const gemmtune_plan *plan, const gemmtune_args *args,
                                void *stream) {
    const gemmtune_problem *p = &plan->p;
    (void)stream;
    if (plan->passes && args->workspace == NULL)
        fail("a launch without its workspace");
    if (plan->passes)
        use_workspace(args->workspace);
    for (int64_t z = 0; z < p->batch; z++) {
        gemmtune_args one = *args;
        one.a = (const float *)args->a + z * p->stride_a;
        one.b = (const float *)args->b + z * p->stride_b;
        one.c = (float *)args->c + z * p->stride_c;
        multiply(p, &one);
    }
    return GEMMTUNE_OK;
}
