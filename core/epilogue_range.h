/* SPDX-License-Identifier: Apache-2.0 */
/*
 * epilogue_range.h - what an epilogue gives for one element, and how far a right kernel may
 * be from it.
 *
 * The value is computed in doubles. The range follows from acc's error, and from the
 * errors that epilogue_op.h allows each operation of the kernel's arithmetic. A kernel may
 * fuse a product and a sum, and may flush subnormal f32 and f64 numbers. A comparison
 * whose operands' ranges meet may have either result. An element outside the range is
 * wrong.
 */
#ifndef GT_CORE_EPILOGUE_RANGE_H
#define GT_CORE_EPILOGUE_RANGE_H

#include "core/epilogue.h"
#include "core/range.h"

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

/* Writes the elements that a right kernel may store to d and, when there is one, to d2. */
void gt_epilogue_range(struct gt_range store[2], const struct gt_epilogue *e,
                       const struct gt_epi_values *values);
/* The same, and the values. */
void gt_epilogue_eval(struct gt_epi_result out[2], const struct gt_epilogue *e,
                      const struct gt_epi_values *values);

#endif
