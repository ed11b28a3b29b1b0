/* SPDX-License-Identifier: Apache-2.0 */
/* packed.c - see packed.h. */
#include "core/problem/packed.h"

#include <inttypes.h>

/* Tensor cores of 8-bit and tf32 operands read along k only, and tensor cores of 16-bit
 * operands are fastest so. Kernels of other types load rows along n. */
static gemmtune_trans layout_of(const gemmtune_problem *p) {
    const bool wide = gt_type_size(p->type_b) >= 4;
    return wide && p->math != GEMMTUNE_MATH_TF32 ? GEMMTUNE_NOTRANS : GEMMTUNE_TRANS;
}

int64_t gt_packed_ld(const gemmtune_problem *p) {
    const int64_t elements = GT_PACKED_ROW_BYTES / (int64_t)gt_type_size(p->type_b);
    const int64_t row = gt_shape_least_ld(gt_problem_shape_b(p));
    return p->packed_b ? (row + elements - 1) / elements * elements : row;
}

/* False when 64 bits do not count the bytes. */
static bool count_bytes(int64_t *bytes, const gemmtune_problem *p) {
    const struct gt_shape b = gt_problem_shape_b(p);
    const int64_t row = b.cols > 0 ? p->ldb * (int64_t)gt_type_size(p->type_b) : 0;
    const int64_t matrices = p->stride_b == 0 ? 1 : p->batch;
    return !__builtin_mul_overflow(matrices, b.rows, bytes) &&
           !__builtin_mul_overflow(*bytes, row, bytes);
}

gt_status gt_packed_settle(gemmtune_problem *p, struct gt_err *err) {
    int64_t bytes;
    p->trans_b = layout_of(p);
    p->ldb = gt_packed_ld(p);
    if (p->stride_b != 0)
        p->stride_b = GEMMTUNE_PACKED;
    if (p->ldb > GT_DIM_MAX)
        return gt_fail(err, GEMMTUNE_EINVAL,
                       "packed_b: a packed row of B has %" PRId64
                       " elements, must be at most %" PRId64,
                       p->ldb, GT_DIM_MAX);
    return count_bytes(&bytes, p)
               ? GEMMTUNE_OK
               : gt_fail(err, GEMMTUNE_EINVAL,
                         "packed_b: the packed B has more bytes than 64 bits count");
}

int64_t gt_packed_bytes(const gemmtune_problem *p) {
    int64_t bytes;
    return count_bytes(&bytes, p) ? bytes : 0; /* gt_packed_settle has refused others */
}
