/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entries.h - the public functions of cuBLAS and cublasLt that the shim defines.
 *
 * GT_SHIM_GEMMS(X): X(form, symbol, type of sizes, type of elements, compute type)
 * - SINGLE: (handle, ops, m n k, alpha, A, lda, B, ldb, beta, C, ldc)
 * - STRIDED: the same with strides and a number of products
 * - ARRAYS: the same with arrays of pointers and a number of products
 * - SINGLE_EX: SINGLE with a type after each matrix
 * - SINGLE_ANY, STRIDED_ANY, ARRAYS_ANY: with types, a compute type and an algorithm
 * - GROUPS: arrays of ops, sizes, scalars, pointers and leading dimensions
 * - GROUPS_ANY: the same with types and a compute type
 *
 * GT_SHIM_OTHERS(X): X(symbol), the functions with a form of their own.
 *
 * shim/entry.c has a body for each form. The auditor reads the same list, so both number
 * the functions alike.
 */
#ifndef GT_SHIM_ENTRIES_H
#define GT_SHIM_ENTRIES_H

/* Each function has two forms: sizes are int, or int64_t in the function with _64. */
#define GT_SHIM_BOTH(X, form, symbol, type, compute)                                       \
    X(form, symbol, int, type, compute)                                                    \
    X(form, symbol##_64, int64_t, type, compute)

#define GT_SHIM_GEMMS(X)                                                                   \
    GT_SHIM_BOTH(X, SINGLE, cublasSgemm_v2, GT_SHIM_R_32F, GT_SHIM_32F)                    \
    GT_SHIM_BOTH(X, SINGLE, cublasDgemm_v2, GT_SHIM_R_64F, GT_SHIM_64F)                    \
    GT_SHIM_BOTH(X, SINGLE, cublasHgemm, GT_SHIM_R_16F, GT_SHIM_16F)                       \
    GT_SHIM_BOTH(X, SINGLE, cublasCgemm_v2, GT_SHIM_C_32F, GT_SHIM_32F)                    \
    GT_SHIM_BOTH(X, SINGLE, cublasZgemm_v2, GT_SHIM_C_64F, GT_SHIM_64F)                    \
    GT_SHIM_BOTH(X, SINGLE, cublasCgemm3m, GT_SHIM_C_32F, GT_SHIM_32F)                     \
    GT_SHIM_BOTH(X, SINGLE, cublasZgemm3m, GT_SHIM_C_64F, GT_SHIM_64F)                     \
    GT_SHIM_BOTH(X, STRIDED, cublasSgemmStridedBatched, GT_SHIM_R_32F, GT_SHIM_32F)        \
    GT_SHIM_BOTH(X, STRIDED, cublasDgemmStridedBatched, GT_SHIM_R_64F, GT_SHIM_64F)        \
    GT_SHIM_BOTH(X, STRIDED, cublasHgemmStridedBatched, GT_SHIM_R_16F, GT_SHIM_16F)        \
    GT_SHIM_BOTH(X, STRIDED, cublasCgemmStridedBatched, GT_SHIM_C_32F, GT_SHIM_32F)        \
    GT_SHIM_BOTH(X, STRIDED, cublasZgemmStridedBatched, GT_SHIM_C_64F, GT_SHIM_64F)        \
    GT_SHIM_BOTH(X, STRIDED, cublasCgemm3mStridedBatched, GT_SHIM_C_32F, GT_SHIM_32F)      \
    GT_SHIM_BOTH(X, ARRAYS, cublasSgemmBatched, GT_SHIM_R_32F, GT_SHIM_32F)                \
    GT_SHIM_BOTH(X, ARRAYS, cublasDgemmBatched, GT_SHIM_R_64F, GT_SHIM_64F)                \
    GT_SHIM_BOTH(X, ARRAYS, cublasHgemmBatched, GT_SHIM_R_16F, GT_SHIM_16F)                \
    GT_SHIM_BOTH(X, ARRAYS, cublasCgemmBatched, GT_SHIM_C_32F, GT_SHIM_32F)                \
    GT_SHIM_BOTH(X, ARRAYS, cublasZgemmBatched, GT_SHIM_C_64F, GT_SHIM_64F)                \
    GT_SHIM_BOTH(X, ARRAYS, cublasCgemm3mBatched, GT_SHIM_C_32F, GT_SHIM_32F)              \
    GT_SHIM_BOTH(X, SINGLE_EX, cublasSgemmEx, GT_SHIM_R_32F, GT_SHIM_32F)                  \
    GT_SHIM_BOTH(X, SINGLE_EX, cublasCgemmEx, GT_SHIM_C_32F, GT_SHIM_32F)                  \
    GT_SHIM_BOTH(X, SINGLE_EX, cublasCgemm3mEx, GT_SHIM_C_32F, GT_SHIM_32F)                \
    GT_SHIM_BOTH(X, SINGLE_ANY, cublasGemmEx, 0, 0)                                        \
    GT_SHIM_BOTH(X, STRIDED_ANY, cublasGemmStridedBatchedEx, 0, 0)                         \
    GT_SHIM_BOTH(X, ARRAYS_ANY, cublasGemmBatchedEx, 0, 0)                                 \
    GT_SHIM_BOTH(X, GROUPS, cublasSgemmGroupedBatched, GT_SHIM_R_32F, GT_SHIM_32F)         \
    GT_SHIM_BOTH(X, GROUPS, cublasDgemmGroupedBatched, GT_SHIM_R_64F, GT_SHIM_64F)         \
    GT_SHIM_BOTH(X, GROUPS_ANY, cublasGemmGroupedBatchedEx, 0, 0)

/* A product, and what must be known for products. */
#define GT_SHIM_OTHERS(X)                                                                  \
    X(cublasLtMatmul)                                                                      \
    X(cublasLtMatmulAlgoGetHeuristic)                                                      \
    X(cublasSetStream_v2)                                                                  \
    X(cublasSetWorkspace_v2)                                                               \
    X(cublasDestroy_v2)

/* The number of each function, in the order of the lists. */
enum gt_shim_id {
#define X(form, symbol, whole, type, compute) GT_SHIM_##symbol,
    GT_SHIM_GEMMS(X)
#undef X
#define X(symbol) GT_SHIM_##symbol,
        GT_SHIM_OTHERS(X)
#undef X
            GT_SHIM_IDS
};

/* Function by number. The auditor writes the addresses of their originals into this array
 * of the shim, which it finds by its name. */
#define GT_SHIM_ORIGINALS "gemmtune_blas_originals"

#endif
