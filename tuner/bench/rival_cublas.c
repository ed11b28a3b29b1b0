/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rival_cublas.c - cuBLAS as most programs call it: with its own choice of kernel, in
 * default and in pedantic arithmetic. A batch is one call with strides.
 */
#include "tuner/bench/cublas_api.h"
#include "tuner/bench/rival.h"

#include <stdio.h>
#include <stdlib.h>

/* Kinds of arithmetic for matrices of f32 and f64. */
static const struct kind {
    gt_cublas_type type;
    gt_cublas_compute compute;
    const char *name;
} kinds[] = {
    {GT_CUBLAS_F32, GT_CUBLAS_COMPUTE_F32_PEDANTIC, "strict f32"},
    {GT_CUBLAS_F32, GT_CUBLAS_COMPUTE_TF32, "tf32"},
    {GT_CUBLAS_F32, GT_CUBLAS_COMPUTE_BF16X9, "bf16x9"},
    {GT_CUBLAS_F64, GT_CUBLAS_COMPUTE_F64_PEDANTIC, "strict f64"},
    {GT_CUBLAS_F64, GT_CUBLAS_COMPUTE_FIXED, "fixed point"},
};

struct cublas {
    const struct gt_bench_workspace *workspace;
    const struct gt_cublas *api;
    cublasHandle_t handle;
    struct gt_cublas_shape shape;
    const struct kind *kind[GT_VARIANTS_MAX]; /* for gt_rival_cublas_kinds */
};

static void close_cublas(void *self) {
    struct cublas *c = self;
    if (c->handle)
        (void)c->api->cublasDestroy(c->handle);
    free(c);
}

static gt_status open_cublas(void **self, const struct gt_rival_setup *setup,
                             struct gt_err *err) {
    struct cublas *c = calloc(1, sizeof *c);
    *self = NULL;
    if (!c)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory to open cuBLAS");
    const gt_status status =
        gt_cublas_open(&c->api, &c->handle, gt_rig_head(setup->rig)->stream, err);
    if (status != GEMMTUNE_OK) {
        close_cublas(c);
        return status;
    }
    c->workspace = setup->workspace;
    *self = c;
    return GEMMTUNE_OK;
}

static gt_status prepare(int *variants, void *self, const gemmtune_problem *p,
                         struct gt_err *err) {
    struct cublas *c = self;
    c->shape = gt_cublas_shape_of(p);
    *variants = 2;
    return gt_cublas_result(
        c->api->cublasSetWorkspace(c->handle, c->workspace->memory, c->workspace->bytes),
        "cublasSetWorkspace", err);
}

static gt_status enqueue_batch(const struct cublas *c, gt_cublas_compute compute,
                               const struct gt_call *x, struct gt_err *err) {
    const struct gt_cublas_shape *s = &c->shape;
    return gt_cublas_result(c->api->cublasGemmStridedBatchedEx(
                                c->handle, s->op_a, s->op_b, s->m, s->n, s->k, x->alpha,
                                x->b, s->type_a, s->lda, s->stride_a, x->a, s->type_b,
                                s->ldb, s->stride_b, x->beta, x->c, s->type_c, s->ldc,
                                s->stride_c, s->batch, compute, GT_CUBLAS_ALGO_DEFAULT),
                            "cublasGemmStridedBatchedEx", err);
}

static gt_status enqueue_as(const struct cublas *c, gt_cublas_compute compute,
                            const struct gt_call *x, struct gt_err *err) {
    const struct gt_cublas_shape *s = &c->shape;
    if (s->batch > 1)
        return enqueue_batch(c, compute, x, err);
    return gt_cublas_result(
        c->api->cublasGemmEx(c->handle, s->op_a, s->op_b, s->m, s->n, s->k, x->alpha, x->b,
                             s->type_a, s->lda, x->a, s->type_b, s->ldb, x->beta, x->c,
                             s->type_c, s->ldc, compute, GT_CUBLAS_ALGO_DEFAULT),
        "cublasGemmEx", err);
}

static gt_status enqueue(void *self, int variant, const struct gt_call *x,
                         struct gt_err *err) {
    const struct cublas *c = self;
    return enqueue_as(c, variant == 0 ? c->shape.compute : c->shape.pedantic, x, err);
}

static void describe_as(char text[GT_RIVAL_TEXT_MAX], const struct cublas *c,
                        const char *arithmetic, const char *note) {
    char version[32];
    int number = 0;
    (void)c->api->cublasGetVersion(c->handle, &number);
    gt_cublas_version(version, (size_t)number);
    snprintf(text, GT_RIVAL_TEXT_MAX, "cuBLAS %s, %s%s", version, arithmetic, note);
}

static void describe(char text[GT_RIVAL_TEXT_MAX], void *self, int variant) {
    const struct cublas *c = self;
    describe_as(text, c, variant == 0 ? "default" : "pedantic", c->shape.note);
}

const struct gt_rival gt_rival_cublas = {
    .name = "cublas",
    .about = "cuBLAS's own choice",
    .serves = gt_cublas_serves,
    .open = open_cublas,
    .close = close_cublas,
    .prepare = prepare,
    .enqueue = enqueue,
    .describe = describe,
};

/* ---- all kinds of arithmetic ---- */

/* Emulation is asked for on every device, also where the library would rather not. */
static gt_status prepare_kinds(int *variants, void *self, const gemmtune_problem *p,
                               struct gt_err *err) {
    struct cublas *c = self;
    gt_status status = prepare(variants, self, p, err);
    *variants = 0;
    if (status == GEMMTUNE_OK && c->api->cublasSetEmulationStrategy != NULL)
        status = gt_cublas_result(
            c->api->cublasSetEmulationStrategy(c->handle, GT_CUBLAS_STRATEGY_EAGER),
            "cublasSetEmulationStrategy", err);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].type == c->shape.type_c)
            c->kind[(*variants)++] = &kinds[i];
    return status;
}

static gt_status enqueue_kind(void *self, int variant, const struct gt_call *x,
                              struct gt_err *err) {
    const struct cublas *c = self;
    return enqueue_as(c, c->kind[variant]->compute, x, err);
}

static void describe_kind(char text[GT_RIVAL_TEXT_MAX], void *self, int variant) {
    const struct cublas *c = self;
    describe_as(text, c, c->kind[variant]->name, "");
}

const struct gt_rival gt_rival_cublas_kinds = {
    .name = "cublas",
    .about = "cuBLAS in every arithmetic for f32 or f64",
    .by_name_only = true,
    .serves = gt_cublas_serves,
    .open = open_cublas,
    .close = close_cublas,
    .prepare = prepare_kinds,
    .enqueue = enqueue_kind,
    .describe = describe_kind,
};
