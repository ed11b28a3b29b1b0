/* SPDX-License-Identifier: Apache-2.0 */
/* calls.c - see step.h. */
#include "tests/shim/step.h"

#include "shim/blas.h"

#include <string.h>

#define HEAD                                                                               \
    void *handle, unsigned op_a, unsigned op_b, int m, int n, int k, const void *alpha
#define START handle, 0, 0, p->m, p->n, p->k, alpha

static int lda(const struct product *p) {
    return p->lda != 0 ? p->lda : p->m;
}

unsigned call_gemm(void *handle, const struct product *p, const void *alpha,
                   const void *beta) {
    const unsigned compute = p->type == GT_SHIM_R_64F ? GT_SHIM_64F : GT_SHIM_32F;
    if (p->batch > 1)
        return CALL("cublasGemmStridedBatchedEx",
                    (HEAD, const void *a, unsigned ta, int lda, long long sa, const void *b,
                     unsigned tb, int ldb, long long sb, const void *beta, void *c,
                     unsigned tc, int ldc, long long sc, int batch, unsigned how, int algo),
                    (START, p->a, p->type, lda(p), (long long)p->m * p->k, p->b, p->type,
                     p->k, (long long)p->k * p->n, beta, p->c, p->type, p->m,
                     (long long)p->m * p->n, p->batch, compute, -1));
    if (p->type == GT_SHIM_R_16BF)
        return CALL("cublasGemmEx",
                    (HEAD, const void *a, unsigned ta, int lda, const void *b, unsigned tb,
                     int ldb, const void *beta, void *c, unsigned tc, int ldc, unsigned how,
                     int algo),
                    (START, p->a, p->type, lda(p), p->b, p->type, p->k, beta, p->c, p->type,
                     p->m, compute, -1));
    return CALL(p->type == GT_SHIM_R_64F ? "cublasDgemm_v2" : "cublasSgemm_v2",
                (HEAD, const void *a, int lda, const void *b, int ldb, const void *beta,
                 void *c, int ldc),
                (START, p->a, lda(p), p->b, p->k, beta, p->c, p->m));
}

static void *layout(const struct product *p, unsigned type, int rows, int cols, int ld,
                    int32_t order) {
    const int64_t stride = (int64_t)rows * cols;
    void *out = NULL;
    (void)CALL("cublasLtMatrixLayoutCreate",
               (void **, unsigned, uint64_t, uint64_t, int64_t),
               (&out, type, (uint64_t)rows, (uint64_t)cols,
                ld != 0                      ? ld
                : order == GT_SHIM_ORDER_ROW ? cols
                                             : rows));
    (void)CALL("cublasLtMatrixLayoutSetAttribute", (void *, unsigned, const void *, size_t),
               (out, GT_SHIM_LAYOUT_ORDER, &order, sizeof order));
    (void)CALL("cublasLtMatrixLayoutSetAttribute", (void *, unsigned, const void *, size_t),
               (out, GT_SHIM_LAYOUT_BATCH, &p->batch, sizeof p->batch));
    (void)CALL("cublasLtMatrixLayoutSetAttribute", (void *, unsigned, const void *, size_t),
               (out, GT_SHIM_LAYOUT_STRIDE, &stride, sizeof stride));
    return out;
}

static void *describe(const struct product *p, int sms) {
    void *desc = NULL;
    const struct {
        unsigned attribute;
        const void *value;
        size_t size;
    } rows[] = {{GT_SHIM_DESC_EPILOGUE, &p->epilogue, sizeof p->epilogue},
                {GT_SHIM_DESC_BIAS, &p->bias, sizeof p->bias},
                {GT_SHIM_DESC_BIAS_TYPE, &p->bias_type, sizeof p->bias_type},
                {GT_SHIM_DESC_AUX, &p->aux, sizeof p->aux},
                {GT_SHIM_DESC_AUX_LD, &p->aux_ld, sizeof p->aux_ld},
                {GT_SHIM_DESC_SMS, &sms, sizeof sms},
                {(unsigned)p->attribute, &p->of_attribute, sizeof p->of_attribute}};
    const int count = (int)(sizeof rows / sizeof *rows) - (p->attribute == 0);
    (void)CALL("cublasLtMatmulDescCreate", (void **, unsigned, unsigned),
               (&desc, p->type == GT_SHIM_R_64F ? GT_SHIM_64F : GT_SHIM_32F,
                p->type == GT_SHIM_R_64F ? GT_SHIM_R_64F : GT_SHIM_R_32F));
    for (int i = 0; i < count; i++)
        (void)CALL("cublasLtMatmulDescSetAttribute",
                   (void *, unsigned, const void *, size_t),
                   (desc, rows[i].attribute, rows[i].value, rows[i].size));
    return desc;
}

unsigned call_lt(void *handle, void *stream, const struct product *p, const void *alpha,
                 const void *beta, int sms) {
    void *desc = describe(p, sms);
    void *a = layout(p, p->type, p->m, p->k, p->lda, p->order);
    void *b = layout(p, p->type, p->k, p->n, 0, p->order);
    void *c = layout(p, p->type_c, p->m, p->n, 0, p->order_c);
    void *d = layout(p, p->type_c, p->m, p->n, 0, p->order);
    struct gt_shim_heuristic found = {.algo = {{99}}};
    int count = 0;
    if (p->algo == 1)
        (void)CALL("cublasLtMatmulAlgoGetHeuristic",
                   (void *, void *, void *, void *, void *, void *, void *, int,
                    struct gt_shim_heuristic *, int *),
                   (handle, desc, a, b, c, d, NULL, 1, &found, &count));
    const unsigned status = CALL("cublasLtMatmul",
                                 (void *, void *, const void *, const void *, void *,
                                  const void *, void *, const void *, const void *, void *,
                                  void *, void *, const void *, void *, size_t, void *),
                                 (handle, desc, alpha, p->a, a, p->b, b, beta, p->c, c,
                                  p->d, d, p->algo == 0 ? NULL : &found.algo, p->workspace,
                                  (size_t)p->workspace_bytes, stream));
    (void)CALL("cublasLtMatrixLayoutDestroy", (void *), (d));
    (void)CALL("cublasLtMatrixLayoutDestroy", (void *), (c));
    (void)CALL("cublasLtMatrixLayoutDestroy", (void *), (b));
    (void)CALL("cublasLtMatrixLayoutDestroy", (void *), (a));
    (void)CALL("cublasLtMatmulDescDestroy", (void *), (desc));
    return status;
}
