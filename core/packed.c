/* SPDX-License-Identifier: Apache-2.0 */
/* packed.c - see packed.h. */
#include "core/packed.h"

#include <inttypes.h>

/* Tensor cores of 8-bit and tf32 operands read along k only, and those of 16-bit operands
 * are fastest so. Kernels of other types load rows along n. */
static gemmtune_trans layout_of(const gemmtune_problem *p) {
    const bool wide = gt_type_size(p->type_b) >= 4;
    return wide && p->math != GEMMTUNE_MATH_TF32 ? GEMMTUNE_NOTRANS : GEMMTUNE_TRANS;
}

int64_t gt_packed_ld(const gemmtune_problem *p) {
    const int64_t elements = GT_PACKED_ROW_BYTES / (int64_t)gt_type_size(p->type_b);
    const int64_t row = gt_shape_packed_ld(gt_problem_shape_b(p));
    return p->packed_b ? (row + elements - 1) / elements * elements : row;
}

gt_status gt_packed_settle(gemmtune_problem *p, struct gt_err *err) {
    p->trans_b = layout_of(p);
    p->ldb = gt_packed_ld(p);
    if (p->stride_b != 0)
        p->stride_b = GEMMTUNE_PACKED;
    return p->ldb <= GT_DIM_MAX ? GEMMTUNE_OK
                                : gt_fail(err, GEMMTUNE_EINVAL,
                                          "packed_b: a packed row of B has %" PRId64
                                          " elements, must be at most %" PRId64,
                                          p->ldb, GT_DIM_MAX);
}

int64_t gt_packed_bytes(const gemmtune_problem *p) {
    const struct gt_shape b = gt_problem_shape_b(p);
    const int64_t row = b.cols > 0 ? p->ldb * (int64_t)gt_type_size(p->type_b) : 0;
    return (p->stride_b == 0 ? 1 : p->batch) * b.rows * row;
}
