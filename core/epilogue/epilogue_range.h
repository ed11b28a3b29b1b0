/* SPDX-License-Identifier: Apache-2.0 */
/*
 * epilogue_range.h - what an epilogue gives for one element, and how far a right kernel may
 * be from it.
 *
 * The value is computed in doubles. The range follows from acc's error, and from the
 * errors that epilogue_op.h allows each operation of the kernel's arithmetic. A kernel may
 * fuse a product and a sum, and may flush subnormal f32 and f64 numbers. Where the ranges
 * of its operands meet, a comparison may have either result. An element outside the range
 * is wrong.
 */
#ifndef GT_CORE_EPILOGUE_EPILOGUE_RANGE_H
#define GT_CORE_EPILOGUE_EPILOGUE_RANGE_H

#include "core/epilogue/epilogue.h"
#include "core/range.h"

/* ---- one element ----------------------------------------------------------- */

/* The numbers of one element. Numbers that the expression does not read may be anything. */
struct gt_epi_values {
    double acc, acc_error; /* |kernel's sum - acc| <= acc_error; 0 when sums are integers */
    double c, alpha, beta; /* c is not read when only x uses it and beta is 0 */
    const double *operand; /* in the order of declarations */
};

struct gt_epi_result {
    double value;          /* of the expression before it is stored; NaN when no one
                            * number is right, as after a division by 0 */
    struct gt_range store; /* the elements that a right kernel may store */
};

/* Writes what d is and, when there is one, d2. */
void gt_epilogue_eval(struct gt_epi_result out[2], const struct gt_epilogue *e,
                      const struct gt_epi_values *values);

/* ---- many elements --------------------------------------------------------- */

enum { GT_EPI_BLOCK = 64 }; /* elements that are evaluated together */

/* The numbers of a block's elements, as in gt_epi_values. */
struct gt_epi_block {
    double alpha, beta;
    double acc[GT_EPI_BLOCK], acc_error[GT_EPI_BLOCK], c[GT_EPI_BLOCK];
    double operand[GT_EPILOGUE_OPERANDS_MAX][GT_EPI_BLOCK];
};

/* The ranges of a block's elements. `nan` is 0 or 1: numbers of one size fit the same
 * vectors. */
struct gt_epi_ranges {
    double low[GT_EPI_BLOCK], high[GT_EPI_BLOCK], nan[GT_EPI_BLOCK];
};

/* Writes the elements that a right kernel may store to d and, when there is one, to d2, for
 * the first `count` elements of a block. */
void gt_epilogue_ranges(struct gt_epi_ranges out[2], const struct gt_epilogue *e,
                        const struct gt_epi_block *block, int count);

#endif
