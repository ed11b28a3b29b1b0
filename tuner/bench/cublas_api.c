/* SPDX-License-Identifier: Apache-2.0 */
/* cublas_api.c - see cublas_api.h. */
#include "tuner/bench/cublas_api.h"

#include "runtime/drivers/driver_util.h"

#include <stdio.h>
#include <string.h>

_Static_assert(sizeof(struct gt_cublaslt_result) == 96, "64 + 8 + 4 + 4 + 16");

static const struct gt_symbol cublas_symbols[] = {
#define X(name, symbol, needed, params) {#symbol, offsetof(struct gt_cublas, name), needed},
    GT_CUBLAS_SYMBOLS(X)
#undef X
};

static const struct gt_symbol cublaslt_symbols[] = {
#define X(name, symbol, needed, params)                                                    \
    {#symbol, offsetof(struct gt_cublaslt, name), needed},
    GT_CUBLASLT_SYMBOLS(X)
#undef X
        {"cublasLtGetVersion", offsetof(struct gt_cublaslt, cublasLtGetVersion), true},
};

/* Opens the library `stem`, "libcublas", or the file that the variable `override` names. */
static gt_status open_library(void *table, const char *stem, const char *override,
                              const struct gt_symbol *symbols, size_t count,
                              struct gt_err *err) {
    static const char *const forms[] = {"%s.so.13",
                                        "%s.so.12",
                                        "%s.so.11",
                                        "%s.so",
                                        "/usr/local/cuda/lib64/%s.so.13",
                                        "/usr/local/cuda/lib64/%s.so.12"};
    enum { FORMS = sizeof forms / sizeof *forms };
    char text[FORMS][64], why[GT_LIBRARY_TEXT_MAX];
    const char *names[FORMS + 1] = {NULL};
    for (int i = 0; i < FORMS; i++) {
        snprintf(text[i], sizeof text[i], forms[i], stem);
        names[i] = text[i];
    }
    void *library = gt_library_open(override, names, why);
    if (!library)
        return gt_fail(err, GEMMTUNE_ENODRIVER, "it %s", why);
    const char *missing = gt_library_fill(table, library, symbols, count);
    return missing ? gt_fail(err, GEMMTUNE_ENODRIVER,
                             "it has no %s: version 11.2 or newer is needed", missing)
                   : GEMMTUNE_OK;
}

static gt_status cublas_api(const struct gt_cublas **out, struct gt_err *err) {
    static struct gt_cublas api;
    gt_status status = GEMMTUNE_OK;
    if (api.cublasCreate == NULL)
        status = open_library(&api, "libcublas", "GEMMTUNE_LIBCUBLAS", cublas_symbols,
                              sizeof cublas_symbols / sizeof *cublas_symbols, err);
    *out = status == GEMMTUNE_OK ? &api : NULL;
    return status;
}

gt_status gt_cublaslt_api(const struct gt_cublaslt **out, struct gt_err *err) {
    static struct gt_cublaslt api;
    gt_status status = GEMMTUNE_OK;
    if (api.cublasLtCreate == NULL)
        status = open_library(&api, "libcublasLt", "GEMMTUNE_LIBCUBLASLT", cublaslt_symbols,
                              sizeof cublaslt_symbols / sizeof *cublaslt_symbols, err);
    *out = status == GEMMTUNE_OK ? &api : NULL;
    return status;
}

gt_status gt_cublas_result(gt_cublas_status status, const char *call, struct gt_err *err) {
    if (status == GT_CUBLAS_SUCCESS)
        return GEMMTUNE_OK;
    return gt_fail(err,
                   status == GT_CUBLAS_NOT_SUPPORTED || status == GT_CUBLAS_INVALID_VALUE
                       ? GEMMTUNE_EUNSUPPORTED
                       : GEMMTUNE_EDEVICE,
                   "%s: cuBLAS status %u", call, status);
}

void gt_cublas_version(char text[32], size_t version) {
    snprintf(text, 32, "%zu.%zu.%zu", version / 10000 % 1000, version / 100 % 100,
             version % 100);
}

static const gt_cublas_type types[] = {
    [GEMMTUNE_F32] = GT_CUBLAS_F32,   [GEMMTUNE_F64] = GT_CUBLAS_F64,
    [GEMMTUNE_F16] = GT_CUBLAS_F16,   [GEMMTUNE_BF16] = GT_CUBLAS_BF16,
    [GEMMTUNE_E4M3] = GT_CUBLAS_E4M3, [GEMMTUNE_E5M2] = GT_CUBLAS_E5M2,
    [GEMMTUNE_I8] = GT_CUBLAS_I8,     [GEMMTUNE_I32] = GT_CUBLAS_I32,
};

/* The type of alpha and beta, and two kinds of arithmetic:
 * the usual one and the strictest. */
static const struct sums {
    gemmtune_dtype acc;
    gemmtune_math math;
    gt_cublas_compute compute, pedantic;
} sums[] = {
    {GEMMTUNE_F32, GEMMTUNE_MATH_STRICT, GT_CUBLAS_COMPUTE_F32,
     GT_CUBLAS_COMPUTE_F32_PEDANTIC},
    {GEMMTUNE_F32, GEMMTUNE_MATH_TF32, GT_CUBLAS_COMPUTE_TF32,
     GT_CUBLAS_COMPUTE_F32_PEDANTIC},
    {GEMMTUNE_F32, GEMMTUNE_MATH_FAST, GT_CUBLAS_COMPUTE_F32,
     GT_CUBLAS_COMPUTE_F32_PEDANTIC},
    {GEMMTUNE_F32, GEMMTUNE_MATH_PROMOTED, GT_CUBLAS_COMPUTE_F32,
     GT_CUBLAS_COMPUTE_F32_PEDANTIC},
    {GEMMTUNE_F32, GEMMTUNE_MATH_SPLIT, GT_CUBLAS_COMPUTE_F32,
     GT_CUBLAS_COMPUTE_F32_PEDANTIC},
    {GEMMTUNE_F32, GEMMTUNE_MATH_BF16X3, GT_CUBLAS_COMPUTE_F32,
     GT_CUBLAS_COMPUTE_F32_PEDANTIC},
    {GEMMTUNE_F64, GEMMTUNE_MATH_STRICT, GT_CUBLAS_COMPUTE_F64,
     GT_CUBLAS_COMPUTE_F64_PEDANTIC},
    {GEMMTUNE_F64, GEMMTUNE_MATH_RESIDUES, GT_CUBLAS_COMPUTE_F64,
     GT_CUBLAS_COMPUTE_F64_PEDANTIC},
    {GEMMTUNE_I32, GEMMTUNE_MATH_STRICT, GT_CUBLAS_COMPUTE_I32,
     GT_CUBLAS_COMPUTE_I32_PEDANTIC},
};

/* The first row for types that the libraries do not serve. */
static const struct sums *sums_of(const gemmtune_problem *p) {
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        if (sums[i].acc == p->type_acc && sums[i].math == p->math)
            return &sums[i];
    return sums;
}

struct gt_cublas_shape gt_cublas_shape_of(const gemmtune_problem *p) {
    const struct sums *how = sums_of(p);
    return (struct gt_cublas_shape){
        .op_a = p->trans_b ? GT_CUBLAS_T : GT_CUBLAS_N,
        .op_b = p->trans_a ? GT_CUBLAS_T : GT_CUBLAS_N,
        .m = (int)p->n,
        .n = (int)p->m,
        .k = (int)p->k,
        .lda = (int)p->ldb,
        .ldb = (int)p->lda,
        .ldc = (int)p->ldc,
        .batch = (int)p->batch,
        .has_pointers = gt_problem_has_pointers(p),
        .has_rows = gt_problem_has_rows(p),
        .stride_a = p->stride_b,
        .stride_b = p->stride_a,
        .stride_c = p->stride_c,
        .type_a = types[p->type_b],
        .type_b = types[p->type_a],
        .type_c = types[p->type_c],
        .scale = types[p->type_acc],
        .compute = how->compute,
        .pedantic = how->pedantic,
        .fast = p->math == GEMMTUNE_MATH_FAST,
        .note = !gt_math_is_own(p->math)      ? ""
                : p->type_acc == GEMMTUNE_F64 ? ", strict f64"
                                              : ", strict f32",
    };
}

gt_status gt_cublas_open(const struct gt_cublas **api, cublasHandle_t *handle,
                         CUstream stream, struct gt_err *err) {
    gt_status status = cublas_api(api, err);
    if (status == GEMMTUNE_OK)
        status = gt_cublas_result((*api)->cublasCreate(handle), "cublasCreate", err);
    if (status == GEMMTUNE_OK)
        status = gt_cublas_result((*api)->cublasSetStream(*handle, stream),
                                  "cublasSetStream", err);
    return status;
}

/* Their GELU is the form with tanh. A row of ours is a column of theirs, so that a bias of
 * ours for each column is one of theirs for each row, as they have it. */
uint32_t gt_cublaslt_epilogue(bool *bias, const char *text) {
    static const struct {
        const char *text;
        uint32_t epilogue;
        bool bias;
    } rows[] = {
        {"bias", GT_CUBLASLT_BIAS, true},
        {"relu", GT_CUBLASLT_RELU, false},
        {"bias_relu", GT_CUBLASLT_RELU_BIAS, true},
        {"gelu_tanh", GT_CUBLASLT_GELU, false},
        {"bias_gelu_tanh", GT_CUBLASLT_GELU_BIAS, true},
    };
    *bias = false;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(text, rows[i].text) == 0) {
            *bias = rows[i].bias;
            return rows[i].epilogue;
        }
    return 0;
}

/* Products of matrices at strides, with sizes that the host knows. */
static bool is_plain(const gemmtune_problem *p) {
    return p->batch_kind == GEMMTUNE_BATCH_STRIDED && p->epilogue == NULL;
}

/* A and B have one type, C has that type or the accumulator's. Neither library multiplies
 * i32. */
static bool serves_types(const struct gt_device *d, const gemmtune_problem *p) {
    const struct gt_dtype *row = gt_dtype_of(p);
    return d->backend == GEMMTUNE_CUDA && row != NULL && !gt_dtype_is_float_8(row) &&
           row->a != GEMMTUNE_I32 && row->b == row->a &&
           (row->c == row->a || row->c == row->acc);
}

bool gt_cublas_serves(const struct gt_device *d, const gemmtune_problem *p) {
    return p->epilogue == NULL && serves_types(d, p);
}

/* cublasLt multiplies 8-bit floats as well, but not e5m2 by e5m2. Floats may have one of
 * its epilogues. */
bool gt_cublaslt_serves(const struct gt_device *d, const gemmtune_problem *p) {
    const struct gt_dtype *row = gt_dtype_of(p);
    bool bias;
    if (row == NULL || (!is_plain(p) && (p->epilogue == NULL || gt_problem_is_batch(p) ||
                                         p->type_acc == GEMMTUNE_I32 ||
                                         gt_cublaslt_epilogue(&bias, p->epilogue) == 0)))
        return false;
    if (!gt_dtype_is_float_8(row))
        return serves_types(d, p);
    return d->backend == GEMMTUNE_CUDA && d->cc >= 89 &&
           (row->a == GEMMTUNE_E4M3 || row->b == GEMMTUNE_E4M3);
}
