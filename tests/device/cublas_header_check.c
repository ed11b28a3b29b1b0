/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cublas_header_check.c - compares our declarations of cuBLAS with the toolkit's at compile
 * time. It is built only where cublas_v2.h is found. Running it does nothing.
 */
#include "tuner/bench/cublas_api.h"

#include <cublasLt.h>
#include <cublas_v2.h>

#include <stddef.h>
#include <stdio.h>

#define X(name, theirs, value)                                                             \
    _Static_assert((long long)(theirs) == (long long)(value), #theirs " differs");
GT_CUBLAS_CONSTANTS(X)
#undef X

#define SAME_SIZE(ours, theirs) _Static_assert(sizeof(ours) == sizeof(theirs), #theirs)
#define SAME_PLACE(ours, member, theirs, their_member)                                     \
    _Static_assert(offsetof(ours, member) == offsetof(theirs, their_member) &&             \
                       sizeof(((ours *)0)->member) == sizeof(((theirs *)0)->their_member), \
                   #theirs "." #their_member)

SAME_SIZE(gt_cublaslt_algo, cublasLtMatmulAlgo_t);
SAME_SIZE(gt_cublaslt_result, cublasLtMatmulHeuristicResult_t);
SAME_PLACE(gt_cublaslt_result, algo, cublasLtMatmulHeuristicResult_t, algo);
SAME_PLACE(gt_cublaslt_result, workspace_bytes, cublasLtMatmulHeuristicResult_t,
           workspaceSize);
SAME_PLACE(gt_cublaslt_result, state, cublasLtMatmulHeuristicResult_t, state);
SAME_PLACE(gt_cublaslt_result, waves, cublasLtMatmulHeuristicResult_t, wavesCount);
SAME_PLACE(gt_cublaslt_result, reserved, cublasLtMatmulHeuristicResult_t, reserved);

/* ---- prototypes: ours, with the toolkit's types in place of ours ---- */

#define gt_cublas_status           cublasStatus_t
#define gt_cublas_op               cublasOperation_t
#define gt_cublas_type             cudaDataType
#define gt_cublas_compute          cublasComputeType_t
#define gt_cublas_algo             cublasGemmAlgo_t
#define gt_cublas_desc_attribute   cublasLtMatmulDescAttributes_t
#define gt_cublas_layout_attribute cublasLtMatrixLayoutAttribute_t
#define gt_cublas_pref_attribute   cublasLtMatmulPreferenceAttributes_t
#define gt_cublas_strategy         cublasEmulationStrategy_t
#define gt_cublaslt_desc           cublasLtMatmulDesc_t
#define gt_cublaslt_layout         cublasLtMatrixLayout_t
#define gt_cublaslt_pref           cublasLtMatmulPreference_t
#define gt_cublaslt_algo           cublasLtMatmulAlgo_t
#define gt_cublaslt_result         cublasLtMatmulHeuristicResult_t

#define X(name, symbol, needed, params)                                                    \
    _Static_assert(                                                                        \
        __builtin_types_compatible_p(cublasStatus_t(*) params, __typeof__(&symbol)),       \
        #symbol " has another prototype");
GT_CUBLAS_SYMBOLS(X)
GT_CUBLASLT_SYMBOLS(X)
#undef X
_Static_assert(__builtin_types_compatible_p(size_t (*)(void),
                                            __typeof__(&cublasLtGetVersion)),
               "cublasLtGetVersion");

/* Enumerations are passed as int or unsigned int. */
_Static_assert(__builtin_types_compatible_p(cublasStatus_t, unsigned), "status");
_Static_assert(__builtin_types_compatible_p(cublasOperation_t, unsigned), "operation");
_Static_assert(__builtin_types_compatible_p(cudaDataType, unsigned), "type");
_Static_assert(__builtin_types_compatible_p(cublasComputeType_t, unsigned), "compute");
_Static_assert(__builtin_types_compatible_p(cublasGemmAlgo_t, int), "algo");
_Static_assert(__builtin_types_compatible_p(cublasLtMatmulDescAttributes_t, unsigned),
               "descriptor");
_Static_assert(__builtin_types_compatible_p(cublasLtMatrixLayoutAttribute_t, unsigned),
               "layout");
_Static_assert(__builtin_types_compatible_p(cublasEmulationStrategy_t, unsigned),
               "strategy");
_Static_assert(__builtin_types_compatible_p(cublasLtMatmulPreferenceAttributes_t, unsigned),
               "preference");

int main(void) {
    printf("cublas_header_check: ours agrees with cublas_v2.h %d\n", CUBLAS_VERSION);
    return 0;
}
