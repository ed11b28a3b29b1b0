/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cublas_api.h - the part of cuBLAS and cublasLt (11 and newer) that a comparison calls. It
 * is declared from their public documentation and opened at run time.
 * tests/device/cublas_header_check.c compares it with cublas_v2.h and cublasLt.h. The
 * libraries are baselines: only `gemmtune bench` opens them.
 */
#ifndef GT_TUNER_BENCH_CUBLAS_API_H
#define GT_TUNER_BENCH_CUBLAS_API_H

#include "core/device.h"
#include "core/problem/problem.h"
#include "runtime/drivers/cuda_api.h"

typedef struct cublasContext *cublasHandle_t;
typedef struct cublasLtContext *cublasLtHandle_t;

/* Enumerations are passed as int or unsigned, as compilers do. */
typedef unsigned gt_cublas_status, gt_cublas_op, gt_cublas_type, gt_cublas_compute;
typedef unsigned gt_cublas_desc_attribute, gt_cublas_layout_attribute;
typedef unsigned gt_cublas_pref_attribute, gt_cublas_strategy;
typedef int gt_cublas_algo;

/* X(our name, their name, value) */
#define GT_CUBLAS_CONSTANTS(X)                                                             \
    X(GT_CUBLAS_SUCCESS, CUBLAS_STATUS_SUCCESS, 0)                                         \
    X(GT_CUBLAS_INVALID_VALUE, CUBLAS_STATUS_INVALID_VALUE, 7)                             \
    X(GT_CUBLAS_NOT_SUPPORTED, CUBLAS_STATUS_NOT_SUPPORTED, 15)                            \
    X(GT_CUBLAS_N, CUBLAS_OP_N, 0)                                                         \
    X(GT_CUBLAS_T, CUBLAS_OP_T, 1)                                                         \
    X(GT_CUBLAS_F32, CUDA_R_32F, 0)                                                        \
    X(GT_CUBLAS_F64, CUDA_R_64F, 1)                                                        \
    X(GT_CUBLAS_F16, CUDA_R_16F, 2)                                                        \
    X(GT_CUBLAS_I8, CUDA_R_8I, 3)                                                          \
    X(GT_CUBLAS_I32, CUDA_R_32I, 10)                                                       \
    X(GT_CUBLAS_BF16, CUDA_R_16BF, 14)                                                     \
    X(GT_CUBLAS_E4M3, CUDA_R_8F_E4M3, 28)                                                  \
    X(GT_CUBLAS_E5M2, CUDA_R_8F_E5M2, 29)                                                  \
    X(GT_CUBLAS_COMPUTE_F32, CUBLAS_COMPUTE_32F, 68)                                       \
    X(GT_CUBLAS_COMPUTE_F32_PEDANTIC, CUBLAS_COMPUTE_32F_PEDANTIC, 69)                     \
    X(GT_CUBLAS_COMPUTE_F64, CUBLAS_COMPUTE_64F, 70)                                       \
    X(GT_CUBLAS_COMPUTE_F64_PEDANTIC, CUBLAS_COMPUTE_64F_PEDANTIC, 71)                     \
    X(GT_CUBLAS_COMPUTE_I32, CUBLAS_COMPUTE_32I, 72)                                       \
    X(GT_CUBLAS_COMPUTE_I32_PEDANTIC, CUBLAS_COMPUTE_32I_PEDANTIC, 73)                     \
    X(GT_CUBLAS_COMPUTE_TF32, CUBLAS_COMPUTE_32F_FAST_TF32, 77)                            \
    X(GT_CUBLAS_COMPUTE_BF16X9, CUBLAS_COMPUTE_32F_EMULATED_16BFX9, 78)                    \
    X(GT_CUBLAS_COMPUTE_FIXED, CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT, 79)                 \
    X(GT_CUBLAS_STRATEGY_EAGER, CUBLAS_EMULATION_STRATEGY_EAGER, 2)                        \
    X(GT_CUBLAS_ALGO_DEFAULT, CUBLAS_GEMM_DEFAULT, -1)                                     \
    X(GT_CUBLAS_ALGO_AUTOTUNE, CUBLAS_GEMM_AUTOTUNE, 999)                                  \
    X(GT_CUBLASLT_DESC_TRANSA, CUBLASLT_MATMUL_DESC_TRANSA, 3)                             \
    X(GT_CUBLASLT_DESC_TRANSB, CUBLASLT_MATMUL_DESC_TRANSB, 4)                             \
    X(GT_CUBLASLT_DESC_EPILOGUE, CUBLASLT_MATMUL_DESC_EPILOGUE, 7)                         \
    X(GT_CUBLASLT_DESC_BIAS, CUBLASLT_MATMUL_DESC_BIAS_POINTER, 8)                         \
    X(GT_CUBLASLT_DESC_BIAS_TYPE, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, 26)                 \
    X(GT_CUBLASLT_RELU, CUBLASLT_EPILOGUE_RELU, 2)                                         \
    X(GT_CUBLASLT_BIAS, CUBLASLT_EPILOGUE_BIAS, 4)                                         \
    X(GT_CUBLASLT_RELU_BIAS, CUBLASLT_EPILOGUE_RELU_BIAS, 6)                               \
    X(GT_CUBLASLT_GELU, CUBLASLT_EPILOGUE_GELU, 32)                                        \
    X(GT_CUBLASLT_GELU_BIAS, CUBLASLT_EPILOGUE_GELU_BIAS, 36)                              \
    X(GT_CUBLASLT_DESC_FAST_SUMS, CUBLASLT_MATMUL_DESC_FAST_ACCUM, 25)                     \
    X(GT_CUBLASLT_LAYOUT_BATCH, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, 5)                     \
    X(GT_CUBLASLT_LAYOUT_STRIDE, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, 6)           \
    X(GT_CUBLASLT_PREF_WORKSPACE, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, 1)

enum gt_cublas_constant {
#define X(name, theirs, value) name = value,
    GT_CUBLAS_CONSTANTS(X)
#undef X
};

/* cublasLtMatmulAlgo_t, which is passed on unchanged. */
typedef struct gt_cublaslt_algo {
    uint64_t data[8];
} gt_cublaslt_algo;

/* cublasLtMatmulHeuristicResult_t */
typedef struct gt_cublaslt_result {
    gt_cublaslt_algo algo;
    size_t workspace_bytes;
    gt_cublas_status state; /* the other members are valid when this is a success */
    float waves;
    int reserved[4];
} gt_cublaslt_result;

typedef struct gt_cublaslt_desc *gt_cublaslt_desc; /* opaque types of the library */
typedef struct gt_cublaslt_layout *gt_cublaslt_layout;
typedef struct gt_cublaslt_pref *gt_cublaslt_pref;

/* X(name, exported symbol, 1 needed or 0 optional, parameters). All functions return a
 * status. */
#define GT_CUBLAS_SYMBOLS(X)                                                               \
    X(cublasCreate, cublasCreate_v2, 1, (cublasHandle_t * handle))                         \
    X(cublasDestroy, cublasDestroy_v2, 1, (cublasHandle_t handle))                         \
    X(cublasGetVersion, cublasGetVersion_v2, 1, (cublasHandle_t handle, int *version))     \
    X(cublasSetStream, cublasSetStream_v2, 1, (cublasHandle_t handle, CUstream stream))    \
    X(cublasSetWorkspace, cublasSetWorkspace_v2, 1,                                        \
      (cublasHandle_t handle, void *workspace, size_t bytes))                              \
    X(cublasGemmEx, cublasGemmEx, 1,                                                       \
      (cublasHandle_t handle, gt_cublas_op op_a, gt_cublas_op op_b, int m, int n, int k,   \
       const void *alpha, const void *a, gt_cublas_type type_a, int lda, const void *b,    \
       gt_cublas_type type_b, int ldb, const void *beta, void *c, gt_cublas_type type_c,   \
       int ldc, gt_cublas_compute compute, gt_cublas_algo algo))                           \
    X(cublasGemmStridedBatchedEx, cublasGemmStridedBatchedEx, 1,                           \
      (cublasHandle_t handle, gt_cublas_op op_a, gt_cublas_op op_b, int m, int n, int k,   \
       const void *alpha, const void *a, gt_cublas_type type_a, int lda,                   \
       long long stride_a, const void *b, gt_cublas_type type_b, int ldb,                  \
       long long stride_b, const void *beta, void *c, gt_cublas_type type_c, int ldc,      \
       long long stride_c, int batch, gt_cublas_compute compute, gt_cublas_algo algo))     \
    X(cublasGemmBatchedEx, cublasGemmBatchedEx, 0,                                         \
      (cublasHandle_t handle, gt_cublas_op op_a, gt_cublas_op op_b, int m, int n, int k,   \
       const void *alpha, const void *const *a, gt_cublas_type type_a, int lda,            \
       const void *const *b, gt_cublas_type type_b, int ldb, const void *beta,             \
       void *const *c, gt_cublas_type type_c, int ldc, int batch,                          \
       gt_cublas_compute compute, gt_cublas_algo algo))                                    \
    X(cublasGemmGroupedBatchedEx, cublasGemmGroupedBatchedEx, 0,                           \
      (cublasHandle_t handle, const gt_cublas_op *op_a, const gt_cublas_op *op_b,          \
       const int *m, const int *n, const int *k, const void *alpha, const void *const *a,  \
       gt_cublas_type type_a, const int *lda, const void *const *b, gt_cublas_type type_b, \
       const int *ldb, const void *beta, void *const *c, gt_cublas_type type_c,            \
       const int *ldc, int groups, const int *group_size, gt_cublas_compute compute))      \
    X(cublasSetEmulationStrategy, cublasSetEmulationStrategy, 0,                           \
      (cublasHandle_t handle, gt_cublas_strategy strategy))                                \
    X(cublasSgemm, cublasSgemm_v2, 1,                                                      \
      (cublasHandle_t handle, gt_cublas_op op_a, gt_cublas_op op_b, int m, int n, int k,   \
       const float *alpha, const float *a, int lda, const float *b, int ldb,               \
       const float *beta, float *c, int ldc))

#define GT_CUBLASLT_SYMBOLS(X)                                                             \
    X(cublasLtCreate, cublasLtCreate, 1, (cublasLtHandle_t * handle))                      \
    X(cublasLtDestroy, cublasLtDestroy, 1, (cublasLtHandle_t handle))                      \
    X(cublasLtMatmulDescCreate, cublasLtMatmulDescCreate, 1,                               \
      (gt_cublaslt_desc * desc, gt_cublas_compute compute, gt_cublas_type scale))          \
    X(cublasLtMatmulDescDestroy, cublasLtMatmulDescDestroy, 1, (gt_cublaslt_desc desc))    \
    X(cublasLtMatmulDescSetAttribute, cublasLtMatmulDescSetAttribute, 1,                   \
      (gt_cublaslt_desc desc, gt_cublas_desc_attribute what, const void *value,            \
       size_t size))                                                                       \
    X(cublasLtMatrixLayoutCreate, cublasLtMatrixLayoutCreate, 1,                           \
      (gt_cublaslt_layout * layout, gt_cublas_type type, uint64_t rows, uint64_t cols,     \
       int64_t ld))                                                                        \
    X(cublasLtMatrixLayoutSetAttribute, cublasLtMatrixLayoutSetAttribute, 1,               \
      (gt_cublaslt_layout layout, gt_cublas_layout_attribute what, const void *value,      \
       size_t size))                                                                       \
    X(cublasLtMatrixLayoutDestroy, cublasLtMatrixLayoutDestroy, 1,                         \
      (gt_cublaslt_layout layout))                                                         \
    X(cublasLtMatmulPreferenceCreate, cublasLtMatmulPreferenceCreate, 1,                   \
      (gt_cublaslt_pref * pref))                                                           \
    X(cublasLtMatmulPreferenceDestroy, cublasLtMatmulPreferenceDestroy, 1,                 \
      (gt_cublaslt_pref pref))                                                             \
    X(cublasLtMatmulPreferenceSetAttribute, cublasLtMatmulPreferenceSetAttribute, 1,       \
      (gt_cublaslt_pref pref, gt_cublas_pref_attribute what, const void *value,            \
       size_t size))                                                                       \
    X(cublasLtMatmulAlgoGetHeuristic, cublasLtMatmulAlgoGetHeuristic, 1,                   \
      (cublasLtHandle_t handle, gt_cublaslt_desc desc, gt_cublaslt_layout a,               \
       gt_cublaslt_layout b, gt_cublaslt_layout c, gt_cublaslt_layout d,                   \
       gt_cublaslt_pref pref, int room, gt_cublaslt_result *results, int *count))          \
    X(cublasLtMatmul, cublasLtMatmul, 1,                                                   \
      (cublasLtHandle_t handle, gt_cublaslt_desc desc, const void *alpha, const void *a,   \
       gt_cublaslt_layout layout_a, const void *b, gt_cublaslt_layout layout_b,            \
       const void *beta, const void *c, gt_cublaslt_layout layout_c, void *d,              \
       gt_cublaslt_layout layout_d, const gt_cublaslt_algo *algo, void *workspace,         \
       size_t workspace_bytes, CUstream stream))

struct gt_cublas {
#define X(name, symbol, needed, params) gt_cublas_status(*name) params;
    GT_CUBLAS_SYMBOLS(X)
#undef X
};

struct gt_cublaslt {
#define X(name, symbol, needed, params) gt_cublas_status(*name) params;
    GT_CUBLASLT_SYMBOLS(X)
#undef X
    size_t (*cublasLtGetVersion)(void);
};

/* Opens the library, or the file that $GEMMTUNE_LIBCUBLASLT names. It is opened once and
 * never closed. ENODRIVER with a sentence. Not thread-safe. */
gt_status gt_cublaslt_api(const struct gt_cublaslt **out, struct gt_err *err);

/* EUNSUPPORTED when the library says that it does not support the call, else EDEVICE:
 * "call: cuBLAS status 13". */
gt_status gt_cublas_result(gt_cublas_status status, const char *call, struct gt_err *err);
/* Writes 130100 as "13.1.0". */
void gt_cublas_version(char text[32], size_t version);

/* A row-major product as a column-major library sees it: the transpose, with B first. */
struct gt_cublas_shape {
    gt_cublas_op op_a, op_b; /* for the first and second matrix passed: our B and A */
    int m, n, k, lda, ldb, ldc;
    int batch;         /* products */
    bool has_pointers; /* a, b and c of a call are arrays of `batch` pointers */
    bool has_rows;     /* a call says how many of n each product has */
    /* elements from a product's matrix to the next product's; 0: all share it */
    int64_t stride_a, stride_b, stride_c;
    gt_cublas_type type_a, type_b,
        type_c;           /* of the first and second matrix passed, and of C */
    gt_cublas_type scale; /* type of alpha and beta */
    gt_cublas_compute compute, pedantic;
    int8_t fast; /* 1: sums of 8-bit floats may have fewer bits */
    /* Said after the library's name when its arithmetic is not the problem's, else "". */
    const char *note;
};
struct gt_cublas_shape gt_cublas_shape_of(const gemmtune_problem *p);
/* Opens the library with a handle and a stream. After a failure the caller must destroy
 * *handle if it is not NULL. Setting a stream removes the workspace: set that later. */
gt_status gt_cublas_open(const struct gt_cublas **api, cublasHandle_t *handle,
                         CUstream stream, struct gt_err *err);
/* The epilogue of cublasLt that computes an epilogue of ours, given as canonical text; 0:
 * there is none. With *bias its only operand is a bias, one element a column of C. */
uint32_t gt_cublaslt_epilogue(bool *bias, const char *text);
/* Whether cublasGemmEx or cublasLtMatmul may have a kernel for these types. */
bool gt_cublas_serves(const struct gt_device *d, const gemmtune_problem *p);
bool gt_cublaslt_serves(const struct gt_device *d, const gemmtune_problem *p);

#endif
