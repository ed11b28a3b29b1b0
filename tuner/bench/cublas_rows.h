/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cublas_rows.h - grouped and masked rows by cuBLAS, which takes sizes on the host: in one
 * call of cublasGemmGroupedBatchedEx (12.5 and newer), or in one call of cublasGemmEx for
 * each group. The sizes and addresses are made before timing. Our kernels read the sizes
 * on the device.
 */
#ifndef GT_TUNER_BENCH_CUBLAS_ROWS_H
#define GT_TUNER_BENCH_CUBLAS_ROWS_H

#include "tuner/bench/cublas_api.h"
#include "tuner/bench/pieces.h"

/* Numbers of a group of the call with groups; only n differs from group to group. */
enum gt_cublas_number {
    GT_CUBLAS_M,
    GT_CUBLAS_K,
    GT_CUBLAS_LDA,
    GT_CUBLAS_LDB,
    GT_CUBLAS_LDC,
    GT_CUBLAS_SIZE, /* products of the group: 1 */
    GT_CUBLAS_NUMBERS
};

struct gt_cublas_rows {
    const struct gt_cublas *api; /* given by the owner, as is the store's lab */
    cublasHandle_t handle;
    struct gt_piece_store store;
    struct gt_cublas_shape shape;
    /* arrays of one entry for each group */
    gt_cublas_op *op[2];
    int *number[GT_CUBLAS_NUMBERS];
    union gt_value *scale[2]; /* packed alpha and beta, in the type of sums */
};

/* Whether the call with groups serves the problem, in pedantic arithmetic or in the other.
 * It wants a C of the type of A and B, and for tensor cores matrices that are aligned to 16
 * bytes. */
bool gt_cublas_rows_in_one(const gemmtune_problem *p, bool pedantic);

/* Gets ready for the problem that is set up in the lab. */
gt_status gt_cublas_rows_prepare(struct gt_cublas_rows *r, const gemmtune_problem *p,
                                 struct gt_err *err);
/* Enqueues the product in one call, or in one for each group. */
gt_status gt_cublas_rows_enqueue(struct gt_cublas_rows *r, bool in_one,
                                 gt_cublas_compute compute, const struct gt_call *x,
                                 struct gt_err *err);
void gt_cublas_rows_clear(struct gt_cublas_rows *r);

#endif
