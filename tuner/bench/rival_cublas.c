/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rival_cublas.c - cuBLAS as most programs call it: with its own choice of kernel, in
 * default and in pedantic arithmetic. A batch is one call, with strides or with arrays of
 * pointers. Grouped and masked rows are one call or many: cublas_rows.h.
 */
#include "tuner/bench/cublas_rows.h"
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

/* One of the ways to compute the present problem. */
struct way {
    bool pedantic;
    bool in_one; /* of grouped and masked rows: one call for all groups */
};

struct cublas {
    const struct gt_bench_workspace *workspace;
    const struct gt_cublas *api;
    cublasHandle_t handle;
    gt_cublas_algo algo; /* of cublasGemmEx and its batches */
    struct gt_cublas_shape shape;
    struct gt_cublas_rows rows; /* used where the shape has rows */
    int ways;
    struct way way[GT_VARIANTS_MAX];
    const struct kind *kind[GT_VARIANTS_MAX]; /* for gt_rival_cublas_kinds */
};

static void close_cublas(void *self) {
    struct cublas *c = self;
    gt_cublas_rows_clear(&c->rows);
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
    c->algo = GT_CUBLAS_ALGO_DEFAULT;
    c->rows = (struct gt_cublas_rows){
        .api = c->api, .handle = c->handle, .store = {.lab = setup->lab}};
    *self = c;
    return GEMMTUNE_OK;
}

/* Default and pedantic arithmetic. Rows come in one call where it serves them, and in a
 * call for each group. */
static void list_ways(struct cublas *c, const gemmtune_problem *p) {
    c->ways = 0;
    for (int in_one = c->shape.has_rows; in_one >= 0; in_one--)
        for (int pedantic = 0; pedantic < 2; pedantic++)
            if (!in_one || gt_cublas_rows_in_one(p, pedantic))
                c->way[c->ways++] = (struct way){pedantic, in_one};
}

static gt_status prepare(int *variants, void *self, const gemmtune_problem *p,
                         struct gt_err *err) {
    struct cublas *c = self;
    c->shape = gt_cublas_shape_of(p);
    list_ways(c, p);
    *variants = c->ways;
    const gt_status status = gt_cublas_result(
        c->api->cublasSetWorkspace(c->handle, c->workspace->memory, c->workspace->bytes),
        "cublasSetWorkspace", err);
    return status == GEMMTUNE_OK && c->shape.has_rows
               ? gt_cublas_rows_prepare(&c->rows, p, err)
               : status;
}

static gt_status enqueue_batch(const struct cublas *c, gt_cublas_compute compute,
                               const struct gt_call *x, struct gt_err *err) {
    const struct gt_cublas_shape *s = &c->shape;
    return gt_cublas_result(c->api->cublasGemmStridedBatchedEx(
                                c->handle, s->op_a, s->op_b, s->m, s->n, s->k, x->alpha,
                                x->b, s->type_a, s->lda, s->stride_a, x->a, s->type_b,
                                s->ldb, s->stride_b, x->beta, x->c, s->type_c, s->ldc,
                                s->stride_c, s->batch, compute, c->algo),
                            "cublasGemmStridedBatchedEx", err);
}

/* The operands of the call are arrays of pointers in device memory. */
static gt_status enqueue_pointers(const struct cublas *c, gt_cublas_compute compute,
                                  const struct gt_call *x, struct gt_err *err) {
    const struct gt_cublas_shape *s = &c->shape;
    if (c->api->cublasGemmBatchedEx == NULL)
        return gt_fail(err, GEMMTUNE_EUNSUPPORTED,
                       "this cuBLAS has no cublasGemmBatchedEx");
    return gt_cublas_result(
        c->api->cublasGemmBatchedEx(c->handle, s->op_a, s->op_b, s->m, s->n, s->k, x->alpha,
                                    (const void *const *)x->b, s->type_a, s->lda,
                                    (const void *const *)x->a, s->type_b, s->ldb, x->beta,
                                    (void *const *)x->c, s->type_c, s->ldc, s->batch,
                                    compute, c->algo),
        "cublasGemmBatchedEx", err);
}

static gt_status enqueue_as(struct cublas *c, gt_cublas_compute compute, bool in_one,
                            const struct gt_call *x, struct gt_err *err) {
    const struct gt_cublas_shape *s = &c->shape;
    if (s->has_rows)
        return gt_cublas_rows_enqueue(&c->rows, in_one, compute, x, err);
    if (s->has_pointers)
        return enqueue_pointers(c, compute, x, err);
    if (s->batch > 1)
        return enqueue_batch(c, compute, x, err);
    return gt_cublas_result(c->api->cublasGemmEx(c->handle, s->op_a, s->op_b, s->m, s->n,
                                                 s->k, x->alpha, x->b, s->type_a, s->lda,
                                                 x->a, s->type_b, s->ldb, x->beta, x->c,
                                                 s->type_c, s->ldc, compute, c->algo),
                            "cublasGemmEx", err);
}

static gt_status enqueue(void *self, int variant, const struct gt_call *x,
                         struct gt_err *err) {
    struct cublas *c = self;
    const struct way *way = &c->way[variant];
    return enqueue_as(c, way->pedantic ? c->shape.pedantic : c->shape.compute, way->in_one,
                      x, err);
}

static int version(const void *self) {
    const struct cublas *c = self;
    int number = 0;
    (void)c->api->cublasGetVersion(c->handle, &number);
    return number;
}

static void describe_as(char text[GT_RIVAL_TEXT_MAX], const struct cublas *c,
                        const char *arithmetic, const char *note) {
    char digits[32];
    gt_cublas_version(digits, (size_t)version(c));
    snprintf(text, GT_RIVAL_TEXT_MAX, "cuBLAS %s, %s%s", digits, arithmetic, note);
}

/* Says what the library was given of grouped and masked rows. */
static const char *rows_text(const struct cublas *c, const struct way *way) {
    return !c->shape.has_rows ? ""
           : way->in_one      ? ", one call, sizes on the host"
                              : ", a call for each group, sizes on the host";
}

static void describe(char text[GT_RIVAL_TEXT_MAX], void *self, int variant) {
    const struct cublas *c = self;
    const struct way *way = &c->way[variant];
    char note[96];
    snprintf(note, sizeof note, "%s%s", c->shape.note, rows_text(c, way));
    describe_as(text, c, way->pedantic ? "pedantic" : "default", note);
}

const struct gt_rival gt_rival_cublas = {
    .name = "cublas",
    .about = "cuBLAS's own choice",
    .serves = gt_cublas_serves,
    .open = open_cublas,
    .close = close_cublas,
    .prepare = prepare,
    .enqueue = enqueue,
    .version = version,
    .describe = describe,
};

/* ---- its own tuning ---- */

/* The first call of a product outside of a capture times candidates, and the handle keeps
 * the fastest. The check makes that call. cuBLAS before 13.0 refuses it. */
static gt_status open_autotune(void **self, const struct gt_rival_setup *setup,
                               struct gt_err *err) {
    const gt_status status = open_cublas(self, setup, err);
    if (status == GEMMTUNE_OK)
        ((struct cublas *)*self)->algo = GT_CUBLAS_ALGO_AUTOTUNE;
    return status;
}

static bool serves_autotune(const struct gt_device *d, const gemmtune_problem *p) {
    return gt_cublas_serves(d, p) && !gt_cublas_shape_of(p).has_rows;
}

static void describe_autotune(char text[GT_RIVAL_TEXT_MAX], void *self, int variant) {
    const struct cublas *c = self;
    char note[96];
    snprintf(note, sizeof note, ", tuned by itself%s", c->shape.note);
    describe_as(text, c, c->way[variant].pedantic ? "pedantic" : "default", note);
}

const struct gt_rival gt_rival_cublas_autotune = {
    .name = "cublas-autotune",
    .about = "cuBLAS's choice by its own timing (CUBLAS_GEMM_AUTOTUNE)",
    .by_name_only = true,
    .serves = serves_autotune,
    .open = open_autotune,
    .close = close_cublas,
    .prepare = prepare,
    .enqueue = enqueue,
    .describe = describe_autotune,
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
    struct cublas *c = self;
    return enqueue_as(c, c->kind[variant]->compute, false, x, err);
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
