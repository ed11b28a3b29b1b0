/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rival_cublaslt.c - cublasLt as careful programs call it: all candidates of its heuristic
 * are tried, and the fastest here takes part. An epilogue that is one of its own is in the
 * same call.
 */
#include "tuner/bench/cublas_api.h"
#include "tuner/bench/rival.h"

#include <stdio.h>
#include <stdlib.h>

struct cublaslt {
    const struct gt_cublaslt *api;
    cublasLtHandle_t handle;
    const struct gt_bench_workspace *workspace;
    CUstream stream;
    /* for the present problem */
    gt_cublaslt_desc desc;
    gt_cublaslt_layout layout[3]; /* of the first and second matrix passed, and of C */
    const char *note;
    bool has_bias; /* the epilogue's operand */
    int count;
    struct gt_cublaslt_result result[GT_VARIANTS_MAX];
};

static void forget(struct cublaslt *c) {
    for (int i = 0; i < 3; i++) {
        if (c->layout[i])
            (void)c->api->cublasLtMatrixLayoutDestroy(c->layout[i]);
        c->layout[i] = NULL;
    }
    if (c->desc)
        (void)c->api->cublasLtMatmulDescDestroy(c->desc);
    c->desc = NULL;
    c->count = 0;
}

static void close_cublaslt(void *self) {
    struct cublaslt *c = self;
    forget(c);
    if (c->handle)
        (void)c->api->cublasLtDestroy(c->handle);
    free(c);
}

static gt_status open_cublaslt(void **self, const struct gt_rival_setup *setup,
                               struct gt_err *err) {
    struct cublaslt *c = calloc(1, sizeof *c);
    *self = NULL;
    if (!c)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory to open cublasLt");
    c->workspace = setup->workspace;
    c->stream = gt_rig_head(setup->rig)->stream;
    gt_status status = gt_cublaslt_api(&c->api, err);
    if (status == GEMMTUNE_OK)
        status =
            gt_cublas_result(c->api->cublasLtCreate(&c->handle), "cublasLtCreate", err);
    if (status != GEMMTUNE_OK) {
        close_cublaslt(c);
        return status;
    }
    *self = c;
    return GEMMTUNE_OK;
}

/* ---- one problem ---- */

static gt_status set(struct cublaslt *c, gt_cublas_desc_attribute what, const void *value,
                     size_t size, struct gt_err *err) {
    return gt_cublas_result(
        c->api->cublasLtMatmulDescSetAttribute(c->desc, what, value, size),
        "cublasLtMatmulDescSetAttribute", err);
}

static gt_status make_desc(struct cublaslt *c, const struct gt_cublas_shape *s,
                           struct gt_err *err) {
    gt_status status =
        gt_cublas_result(c->api->cublasLtMatmulDescCreate(&c->desc, s->compute, s->scale),
                         "cublasLtMatmulDescCreate", err);
    if (status == GEMMTUNE_OK)
        status = set(c, GT_CUBLASLT_DESC_TRANSA, &s->op_a, sizeof s->op_a, err);
    if (status == GEMMTUNE_OK)
        status = set(c, GT_CUBLASLT_DESC_TRANSB, &s->op_b, sizeof s->op_b, err);
    if (status == GEMMTUNE_OK && s->fast)
        status = set(c, GT_CUBLASLT_DESC_FAST_SUMS, &s->fast, sizeof s->fast, err);
    return status;
}

/* Whether a bias without a declared type has another type than D. */
static bool has_other_bias(const struct gt_cublas_shape *s) {
    const bool narrow = s->type_a == GT_CUBLAS_E4M3 || s->type_a == GT_CUBLAS_E5M2 ||
                        s->type_b == GT_CUBLAS_E4M3 || s->type_b == GT_CUBLAS_E5M2;
    return narrow && s->type_c != GT_CUBLAS_F16 && s->type_c != GT_CUBLAS_BF16;
}

/* The library looks at the alignment of a bias before it has one: an address that is
 * aligned like device memory stands for it. */
static gt_status set_epilogue(struct cublaslt *c, const gemmtune_problem *p,
                              const struct gt_cublas_shape *s, struct gt_err *err) {
    void *const stand_in = gt_device_pointer((const void *)(uintptr_t)GT_WORKSPACE_ALIGN);
    c->has_bias = false;
    if (p->epilogue == NULL)
        return GEMMTUNE_OK;
    const uint32_t epilogue = gt_cublaslt_epilogue(&c->has_bias, p->epilogue);
    gt_status status = set(c, GT_CUBLASLT_DESC_EPILOGUE, &epilogue, sizeof epilogue, err);
    if (status == GEMMTUNE_OK && c->has_bias)
        status = set(c, GT_CUBLASLT_DESC_BIAS, &stand_in, sizeof stand_in, err);
    if (status == GEMMTUNE_OK && c->has_bias && has_other_bias(s))
        status = set(c, GT_CUBLASLT_DESC_BIAS_TYPE, &s->type_c, sizeof s->type_c, err);
    return status;
}

static gt_status set_batch(struct cublaslt *c, gt_cublaslt_layout layout, int32_t batch,
                           int64_t stride, struct gt_err *err) {
    gt_status status =
        gt_cublas_result(c->api->cublasLtMatrixLayoutSetAttribute(
                             layout, GT_CUBLASLT_LAYOUT_BATCH, &batch, sizeof batch),
                         "cublasLtMatrixLayoutSetAttribute", err);
    if (status == GEMMTUNE_OK)
        status =
            gt_cublas_result(c->api->cublasLtMatrixLayoutSetAttribute(
                                 layout, GT_CUBLASLT_LAYOUT_STRIDE, &stride, sizeof stride),
                             "cublasLtMatrixLayoutSetAttribute", err);
    return status;
}

/* Rows and columns as stored, column-major. */
static gt_status make_layouts(struct cublaslt *c, const struct gt_cublas_shape *s,
                              struct gt_err *err) {
    const bool ta = s->op_a == GT_CUBLAS_T, tb = s->op_b == GT_CUBLAS_T;
    const int rows[3] = {ta ? s->k : s->m, tb ? s->n : s->k, s->m};
    const int cols[3] = {ta ? s->m : s->k, tb ? s->k : s->n, s->n};
    const int ld[3] = {s->lda, s->ldb, s->ldc};
    const int64_t stride[3] = {s->stride_a, s->stride_b, s->stride_c};
    const gt_cublas_type type[3] = {s->type_a, s->type_b, s->type_c};
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; status == GEMMTUNE_OK && i < 3; i++) {
        status = gt_cublas_result(
            c->api->cublasLtMatrixLayoutCreate(&c->layout[i], type[i], (uint64_t)rows[i],
                                               (uint64_t)cols[i], ld[i]),
            "cublasLtMatrixLayoutCreate", err);
        if (status == GEMMTUNE_OK && s->batch > 1)
            status = set_batch(c, c->layout[i], s->batch, stride[i], err);
    }
    return status;
}

static gt_status ask(struct cublaslt *c, gt_cublaslt_pref pref, struct gt_err *err) {
    struct gt_cublaslt_result found[GT_VARIANTS_MAX];
    const size_t bytes = c->workspace->bytes;
    int count = 0;
    gt_status status =
        gt_cublas_result(c->api->cublasLtMatmulPreferenceSetAttribute(
                             pref, GT_CUBLASLT_PREF_WORKSPACE, &bytes, sizeof bytes),
                         "cublasLtMatmulPreferenceSetAttribute", err);
    if (status == GEMMTUNE_OK)
        status = gt_cublas_result(
            c->api->cublasLtMatmulAlgoGetHeuristic(c->handle, c->desc, c->layout[0],
                                                   c->layout[1], c->layout[2], c->layout[2],
                                                   pref, GT_VARIANTS_MAX, found, &count),
            "cublasLtMatmulAlgoGetHeuristic", err);
    for (int i = 0; status == GEMMTUNE_OK && i < count && i < GT_VARIANTS_MAX; i++)
        if (found[i].state == GT_CUBLAS_SUCCESS)
            c->result[c->count++] = found[i];
    return status;
}

static gt_status find_candidates(struct cublaslt *c, struct gt_err *err) {
    gt_cublaslt_pref pref = NULL;
    gt_status status = gt_cublas_result(c->api->cublasLtMatmulPreferenceCreate(&pref),
                                        "cublasLtMatmulPreferenceCreate", err);
    if (status != GEMMTUNE_OK)
        return status;
    status = ask(c, pref, err);
    (void)c->api->cublasLtMatmulPreferenceDestroy(pref);
    if (status == GEMMTUNE_OK && c->count == 0)
        status = gt_fail(err, GEMMTUNE_EUNSUPPORTED, "cublasLt offers no candidate");
    return status;
}

/* The library's own rules for 8-bit floats on sm_89 and sm_90: k contiguous in both
 * factors, and rows of whole 16 bytes. */
static gt_status check_float_8(const gemmtune_problem *p, struct gt_err *err) {
    enum { STEP = 16 };
    if (!gt_dtype_is_float_8(gt_dtype_of(p)))
        return GEMMTUNE_OK;
    if (p->trans_a || !p->trans_b)
        return gt_fail(err, GEMMTUNE_EUNSUPPORTED,
                       "cublasLt multiplies 8-bit floats in layout nt only");
    if (p->n % STEP != 0 || p->k % STEP != 0 || p->lda % STEP != 0 || p->ldb % STEP != 0)
        return gt_fail(err, GEMMTUNE_EUNSUPPORTED,
                       "cublasLt multiplies 8-bit floats in multiples of 16 only");
    return GEMMTUNE_OK;
}

static gt_status prepare(int *variants, void *self, const gemmtune_problem *p,
                         struct gt_err *err) {
    struct cublaslt *c = self;
    const struct gt_cublas_shape shape = gt_cublas_shape_of(p);
    forget(c);
    c->note = shape.note;
    *variants = 0;
    gt_status status = check_float_8(p, err);
    if (status == GEMMTUNE_OK)
        status = make_desc(c, &shape, err);
    if (status == GEMMTUNE_OK)
        status = set_epilogue(c, p, &shape, err);
    if (status == GEMMTUNE_OK)
        status = make_layouts(c, &shape, err);
    if (status == GEMMTUNE_OK)
        status = find_candidates(c, err);
    *variants = c->count;
    return status;
}

static gt_status enqueue(void *self, int variant, const struct gt_call *x,
                         struct gt_err *err) {
    struct cublaslt *c = self;
    const gt_status status = c->has_bias ? set(c, GT_CUBLASLT_DESC_BIAS, &x->operand[0],
                                               sizeof x->operand[0], err)
                                         : GEMMTUNE_OK;
    if (status != GEMMTUNE_OK)
        return status;
    return gt_cublas_result(
        c->api->cublasLtMatmul(c->handle, c->desc, x->alpha, x->b, c->layout[0], x->a,
                               c->layout[1], x->beta, x->c, c->layout[2], x->c,
                               c->layout[2], &c->result[variant].algo, c->workspace->memory,
                               c->workspace->bytes, c->stream),
        "cublasLtMatmul", err);
}

static int version(const void *self) {
    return (int)((const struct cublaslt *)self)->api->cublasLtGetVersion();
}

static void describe(char text[GT_RIVAL_TEXT_MAX], void *self, int variant) {
    const struct cublaslt *c = self;
    char digits[32];
    gt_cublas_version(digits, (size_t)version(c));
    snprintf(text, GT_RIVAL_TEXT_MAX, "cublasLt %s, candidate %d of %d%s", digits,
             variant + 1, c->count, c->note);
}

const struct gt_rival gt_rival_cublaslt = {
    .name = "cublaslt",
    .about = "the fastest of the candidates that cublasLt's heuristic offers",
    .serves = gt_cublaslt_serves,
    .open = open_cublaslt,
    .close = close_cublaslt,
    .prepare = prepare,
    .enqueue = enqueue,
    .version = version,
    .describe = describe,
};
