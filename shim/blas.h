/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blas.h - the part of cuBLAS and cublasLt (12 and 13) that the shim reads: values of their
 * enumerations, and the functions that it calls in the program's own library. Declared from
 * their public documentation. tests/device/cublas_shim_header_check.c compares it with
 * cublas_v2.h and cublasLt.h.
 */
#ifndef GT_SHIM_BLAS_H
#define GT_SHIM_BLAS_H

#include <stddef.h>
#include <stdint.h>

/* X(our name, their name, value) */
#define GT_SHIM_CONSTANTS(X)                                                               \
    X(GT_SHIM_SUCCESS, CUBLAS_STATUS_SUCCESS, 0)                                           \
    X(GT_SHIM_NOT_INITIALIZED, CUBLAS_STATUS_NOT_INITIALIZED, 1)                           \
    X(GT_SHIM_N, CUBLAS_OP_N, 0)                                                           \
    X(GT_SHIM_T, CUBLAS_OP_T, 1)                                                           \
    X(GT_SHIM_CONJUGATE, CUBLAS_OP_C, 2)                                                   \
    X(GT_SHIM_HOST, CUBLAS_POINTER_MODE_HOST, 0)                                           \
    X(GT_SHIM_LT_HOST, CUBLASLT_POINTER_MODE_HOST, 0)                                      \
    X(GT_SHIM_DEFAULT_MATH, CUBLAS_DEFAULT_MATH, 0)                                        \
    X(GT_SHIM_PEDANTIC_MATH, CUBLAS_PEDANTIC_MATH, 2)                                      \
    X(GT_SHIM_TF32_MATH, CUBLAS_TF32_TENSOR_OP_MATH, 3)                                    \
    X(GT_SHIM_WIDE_SUMS, CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION, 16)             \
    X(GT_SHIM_AUTOTUNE, CUBLAS_GEMM_AUTOTUNE, 999)                                         \
    X(GT_SHIM_R_32F, CUDA_R_32F, 0)                                                        \
    X(GT_SHIM_R_64F, CUDA_R_64F, 1)                                                        \
    X(GT_SHIM_R_16F, CUDA_R_16F, 2)                                                        \
    X(GT_SHIM_R_8I, CUDA_R_8I, 3)                                                          \
    X(GT_SHIM_C_32F, CUDA_C_32F, 4)                                                        \
    X(GT_SHIM_C_64F, CUDA_C_64F, 5)                                                        \
    X(GT_SHIM_C_16F, CUDA_C_16F, 6)                                                        \
    X(GT_SHIM_C_8I, CUDA_C_8I, 7)                                                          \
    X(GT_SHIM_R_32I, CUDA_R_32I, 10)                                                       \
    X(GT_SHIM_R_16BF, CUDA_R_16BF, 14)                                                     \
    X(GT_SHIM_C_16BF, CUDA_C_16BF, 15)                                                     \
    X(GT_SHIM_R_E4M3, CUDA_R_8F_E4M3, 28)                                                  \
    X(GT_SHIM_R_E5M2, CUDA_R_8F_E5M2, 29)                                                  \
    X(GT_SHIM_16F, CUBLAS_COMPUTE_16F, 64)                                                 \
    X(GT_SHIM_32F, CUBLAS_COMPUTE_32F, 68)                                                 \
    X(GT_SHIM_32F_PEDANTIC, CUBLAS_COMPUTE_32F_PEDANTIC, 69)                               \
    X(GT_SHIM_64F, CUBLAS_COMPUTE_64F, 70)                                                 \
    X(GT_SHIM_64F_PEDANTIC, CUBLAS_COMPUTE_64F_PEDANTIC, 71)                               \
    X(GT_SHIM_32I, CUBLAS_COMPUTE_32I, 72)                                                 \
    X(GT_SHIM_32I_PEDANTIC, CUBLAS_COMPUTE_32I_PEDANTIC, 73)                               \
    X(GT_SHIM_32F_TF32, CUBLAS_COMPUTE_32F_FAST_TF32, 77)                                  \
    X(GT_SHIM_32F_BF16X9, CUBLAS_COMPUTE_32F_EMULATED_16BFX9, 78)                          \
    X(GT_SHIM_64F_FIXED, CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT, 79)                       \
    X(GT_SHIM_DESC_COMPUTE, CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, 0)                          \
    X(GT_SHIM_DESC_SCALE, CUBLASLT_MATMUL_DESC_SCALE_TYPE, 1)                              \
    X(GT_SHIM_DESC_POINTER_MODE, CUBLASLT_MATMUL_DESC_POINTER_MODE, 2)                     \
    X(GT_SHIM_DESC_OP_A, CUBLASLT_MATMUL_DESC_TRANSA, 3)                                   \
    X(GT_SHIM_DESC_OP_B, CUBLASLT_MATMUL_DESC_TRANSB, 4)                                   \
    X(GT_SHIM_DESC_OP_C, CUBLASLT_MATMUL_DESC_TRANSC, 5)                                   \
    X(GT_SHIM_DESC_FILL, CUBLASLT_MATMUL_DESC_FILL_MODE, 6)                                \
    X(GT_SHIM_DESC_EPILOGUE, CUBLASLT_MATMUL_DESC_EPILOGUE, 7)                             \
    X(GT_SHIM_DESC_BIAS, CUBLASLT_MATMUL_DESC_BIAS_POINTER, 8)                             \
    X(GT_SHIM_DESC_BIAS_STRIDE, CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, 10)                \
    X(GT_SHIM_DESC_AUX, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, 11)                     \
    X(GT_SHIM_DESC_AUX_LD, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, 12)                       \
    X(GT_SHIM_DESC_AUX_STRIDE, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, 13)         \
    X(GT_SHIM_DESC_SMS, CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, 15)                          \
    X(GT_SHIM_DESC_SCALE_A, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, 17)                      \
    X(GT_SHIM_DESC_SCALE_B, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, 18)                      \
    X(GT_SHIM_DESC_SCALE_C, CUBLASLT_MATMUL_DESC_C_SCALE_POINTER, 19)                      \
    X(GT_SHIM_DESC_SCALE_D, CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, 20)                      \
    X(GT_SHIM_DESC_AMAX, CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, 21)                          \
    X(GT_SHIM_DESC_AUX_TYPE, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE, 22)              \
    X(GT_SHIM_DESC_AUX_SCALE, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_POINTER, 23)         \
    X(GT_SHIM_DESC_AUX_AMAX, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_AMAX_POINTER, 24)           \
    X(GT_SHIM_DESC_FAST, CUBLASLT_MATMUL_DESC_FAST_ACCUM, 25)                              \
    X(GT_SHIM_DESC_BIAS_TYPE, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, 26)                     \
    X(GT_SHIM_LAYOUT_TYPE, CUBLASLT_MATRIX_LAYOUT_TYPE, 0)                                 \
    X(GT_SHIM_LAYOUT_ORDER, CUBLASLT_MATRIX_LAYOUT_ORDER, 1)                               \
    X(GT_SHIM_LAYOUT_ROWS, CUBLASLT_MATRIX_LAYOUT_ROWS, 2)                                 \
    X(GT_SHIM_LAYOUT_COLS, CUBLASLT_MATRIX_LAYOUT_COLS, 3)                                 \
    X(GT_SHIM_LAYOUT_LD, CUBLASLT_MATRIX_LAYOUT_LD, 4)                                     \
    X(GT_SHIM_LAYOUT_BATCH, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, 5)                         \
    X(GT_SHIM_LAYOUT_STRIDE, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, 6)               \
    X(GT_SHIM_ORDER_COL, CUBLASLT_ORDER_COL, 0)                                            \
    X(GT_SHIM_ORDER_ROW, CUBLASLT_ORDER_ROW, 1)                                            \
    X(GT_SHIM_FILL_FULL, CUBLAS_FILL_MODE_FULL, 2)                                         \
    X(GT_SHIM_EPI_NONE, CUBLASLT_EPILOGUE_DEFAULT, 1)                                      \
    X(GT_SHIM_EPI_RELU, CUBLASLT_EPILOGUE_RELU, 2)                                         \
    X(GT_SHIM_EPI_BIAS, CUBLASLT_EPILOGUE_BIAS, 4)                                         \
    X(GT_SHIM_EPI_RELU_BIAS, CUBLASLT_EPILOGUE_RELU_BIAS, 6)                               \
    X(GT_SHIM_EPI_GELU, CUBLASLT_EPILOGUE_GELU, 32)                                        \
    X(GT_SHIM_EPI_GELU_BIAS, CUBLASLT_EPILOGUE_GELU_BIAS, 36)                              \
    X(GT_SHIM_EPI_GELU_AUX, CUBLASLT_EPILOGUE_GELU_AUX, 160)                               \
    X(GT_SHIM_EPI_GELU_AUX_BIAS, CUBLASLT_EPILOGUE_GELU_AUX_BIAS, 164)

enum gt_shim_constant {
#define X(name, theirs, value) name = value,
    GT_SHIM_CONSTANTS(X)
#undef X
};

/* cublasLtMatmulAlgo_t */
enum { GT_SHIM_ALGO_WORDS = 8 };
struct gt_shim_algo {
    uint64_t word[GT_SHIM_ALGO_WORDS];
};

/* cublasLtMatmulHeuristicResult_t */
struct gt_shim_heuristic {
    struct gt_shim_algo algo;
    size_t workspace_bytes;
    unsigned state;
    float waves;
    int reserved[4];
};

/* Functions of the program's library that the shim calls. X(member, symbol, parameters); a
 * member is NULL where the library has none. All but the versions return a status. */
#define GT_SHIM_BLAS_CALLS(X)                                                              \
    X(get_version, cublasGetVersion_v2, (void *handle, int *version))                      \
    X(get_stream, cublasGetStream_v2, (void *handle, void **stream))                       \
    X(get_pointer_mode, cublasGetPointerMode_v2, (void *handle, unsigned *mode))           \
    X(get_math_mode, cublasGetMathMode, (void *handle, unsigned *mode))                    \
    X(get_sm_target, cublasGetSmCountTarget, (void *handle, int *sms))
#define GT_SHIM_LT_CALLS(X)                                                                \
    X(get_desc, cublasLtMatmulDescGetAttribute,                                            \
      (void *desc, unsigned attribute, void *value, size_t size, size_t *written))         \
    X(get_layout, cublasLtMatrixLayoutGetAttribute,                                        \
      (void *layout, unsigned attribute, void *value, size_t size, size_t *written))

#endif
