/* SPDX-License-Identifier: Apache-2.0 */
/* bound.c - how far an element of C may be from its reference; tuner/lab/check.h derives
 * it. */
#include "core/split.h"
#include "tuner/lab/check_internal.h"

#include <math.h>

bool gt_case_is_exact(const struct gt_case *t) {
    return t->spec.mode == GT_DATA_SMALL || t->spec.mode == GT_DATA_UNIT ||
           t->spec.mode == GT_DATA_HIGH || t->spec.mode == GT_DATA_SPECIAL ||
           !gt_type_is_float(t->checker->wide);
}

/* Whether tensor cores may compute the sum. They drop the bits that do not fit. */
static bool may_truncate(const gemmtune_problem *p) {
    return gt_type_size(p->type_a) < gt_type_size(p->type_acc) ||
           p->math == GEMMTUNE_MATH_TF32;
}

/* The units of a sum of parts. Uniform data demand more than any data. */
static double split_units(const struct gt_case *t) {
    const gemmtune_problem *p = &t->spec.problem;
    const double any = gt_split_error(p->math, p->k);
    return t->spec.mode != GT_DATA_UNIFORM
               ? any
               : fmin(any, GT_TOLERANCE + gt_split_parts(p->math, p->k));
}

/* The bits that tensor cores drop: for uniform data see check.h. With wide exponents a term
 * may be far below the largest one, and loses up to two units of it. */
static double truncation(const struct gt_case *t) {
    const gemmtune_problem *p = &t->spec.problem;
    if (!may_truncate(p))
        return 0;
    return t->spec.mode == GT_DATA_WIDE
               ? 2 * (double)p->k
               : (double)gt_type_size(p->type_a) / 4 * sqrt((double)gt_sum_depth(p));
}

struct gt_bound gt_bound_of(const struct gt_case *t) {
    const gemmtune_problem *p = &t->spec.problem;
    const double u_c = gt_type_unit(p->type_c), u_in = gt_input_unit(p);
    const double units =
        gt_math_splits(p->math) ? split_units(t) : GT_TOLERANCE + truncation(t);
    const double outer = p->math == GEMMTUNE_MATH_PROMOTED ? GT_TOLERANCE : 0;
    const double sum = units * gt_sum_unit(p) * gt_sum_spread(p) +
                       outer * gt_type_unit(p->type_acc) + u_in * (2 + u_in);
    return (struct gt_bound){.sum = sum * (1 + u_c),
                             .rounding = u_c + gt_type_unit(t->checker->wide),
                             .least = gt_type_least(p->type_c)};
}
