/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cublas_shim_header_check.c - compares the shim's functions and constants of cuBLAS with
 * the toolkit's at compile time. It is built only where cublasLt.h is found. Running it
 * does nothing.
 */
#include "shim/blas.h"
#include "shim/entries.h"

#include <cublasLt.h>
#include <cublas_v2.h>

#include <stddef.h>
#include <stdio.h>

#define X(name, theirs, value)                                                             \
    _Static_assert((long long)(theirs) == (long long)(value), #theirs " differs");
GT_SHIM_CONSTANTS(X)
#undef X

_Static_assert(sizeof(struct gt_shim_algo) == sizeof(cublasLtMatmulAlgo_t), "algorithm");
_Static_assert(sizeof(struct gt_shim_heuristic) == sizeof(cublasLtMatmulHeuristicResult_t),
               "result of the heuristic");

/* ---- prototypes: the shim's arguments have the sizes of theirs ---- */

/* The parameters of a form, with the toolkit's type of elements and scalars. */
#define HEAD(whole, type)                                                                  \
    cublasHandle_t, cublasOperation_t, cublasOperation_t, whole, whole, whole, const type *
#define SINGLE(whole, type)                                                                \
    (HEAD(whole, type), const type *, whole, const type *, whole, const type *, type *,    \
     whole)
#define SINGLE_EX(whole, type)                                                             \
    (HEAD(whole, type), const void *, cudaDataType, whole, const void *, cudaDataType,     \
     whole, const type *, void *, cudaDataType, whole)
#define SINGLE_ANY(whole, type)                                                            \
    (HEAD(whole, void), const void *, cudaDataType, whole, const void *, cudaDataType,     \
     whole, const void *, void *, cudaDataType, whole, cublasComputeType_t,                \
     cublasGemmAlgo_t)
#define STRIDED(whole, type)                                                               \
    (HEAD(whole, type), const type *, whole, long long, const type *, whole, long long,    \
     const type *, type *, whole, long long, whole)
#define STRIDED_ANY(whole, type)                                                           \
    (HEAD(whole, void), const void *, cudaDataType, whole, long long, const void *,        \
     cudaDataType, whole, long long, const void *, void *, cudaDataType, whole, long long, \
     whole, cublasComputeType_t, cublasGemmAlgo_t)
#define ARRAYS(whole, type)                                                                \
    (HEAD(whole, type), const type *const *, whole, const type *const *, whole,            \
     const type *, type *const *, whole, whole)
#define ARRAYS_ANY(whole, type)                                                            \
    (HEAD(whole, void), const void *const *, cudaDataType, whole, const void *const *,     \
     cudaDataType, whole, const void *, void *const *, cudaDataType, whole, whole,         \
     cublasComputeType_t, cublasGemmAlgo_t)
#define GROUP_HEAD(whole, type)                                                            \
    cublasHandle_t, const cublasOperation_t *, const cublasOperation_t *, const whole *,   \
        const whole *, const whole *, const type *
#define GROUPS(whole, type)                                                                \
    (GROUP_HEAD(whole, type), const type *const *, const whole *, const type *const *,     \
     const whole *, const type *, type *const *, const whole *, whole, const whole *)
#define GROUPS_ANY(whole, type)                                                            \
    (GROUP_HEAD(whole, void), const void *const *, cudaDataType, const whole *,            \
     const void *const *, cudaDataType, const whole *, const void *, void *const *,        \
     cudaDataType, const whole *, whole, const whole *, cublasComputeType_t)

/* The type of elements and scalars of a number of theirs. The toolkit declares functions of
 * half precision for C++ alone. */
#define CHECK_GT_SHIM_R_32F(form, symbol, whole) CHECK(form, symbol, whole, float)
#define CHECK_GT_SHIM_R_64F(form, symbol, whole) CHECK(form, symbol, whole, double)
#define CHECK_GT_SHIM_R_16F(form, symbol, whole)
#define CHECK_GT_SHIM_C_32F(form, symbol, whole) CHECK(form, symbol, whole, cuComplex)
#define CHECK_GT_SHIM_C_64F(form, symbol, whole) CHECK(form, symbol, whole, cuDoubleComplex)
#define CHECK_0(form, symbol, whole)             CHECK(form, symbol, whole, void)

#define CHECK(form, symbol, whole, type)                                                   \
    _Static_assert(__builtin_types_compatible_p(cublasStatus_t(*) form(whole, type),       \
                                                __typeof__(&symbol)),                      \
                   #symbol " has another prototype");
#define X(form, symbol, whole, type, compute) CHECK_##type(form, symbol, whole)
GT_SHIM_GEMMS(X)
#undef X

int main(void) {
    puts("the shim's functions are cuBLAS's");
    return 0;
}
