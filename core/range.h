/* SPDX-License-Identifier: Apache-2.0 */
/*
 * range.h - intervals of doubles that hold whatever a device's arithmetic may return.
 *
 * An operation on ranges gives the results on all members, computed on the host in
 * doubles: its ends may be off by the host's own roundoff. gt_range_round adds that, and
 * the roundoff of the device. Method: interval arithmetic with outward rounding (Moore,
 * Kearfott and Cloud, Introduction to Interval Analysis, 2009).
 */
#ifndef GT_CORE_RANGE_H
#define GT_CORE_RANGE_H

#include "core/dtype.h"

/* All numbers from low to high, which may be infinite, and NaN when `nan` is set. */
struct gt_range {
    double low, high;
    bool nan;
};

/* An arithmetic. With `exact`, results are not widened: a range of one number stays one. */
struct gt_arithmetic {
    double unit, least, most; /* unit roundoff, smallest normal and largest number */
    bool exact;
};

/* The arithmetic of a floating-point type. */
struct gt_arithmetic gt_arithmetic_of(gemmtune_dtype type);

struct gt_range gt_range_point(double value); /* of NaN: NaN and the number 0 */
/* All numbers within `error` of the value, and a little more. */
struct gt_range gt_range_about(double value, double error);
struct gt_range gt_range_join(struct gt_range x, struct gt_range y);
bool gt_range_is_point(struct gt_range x);

struct gt_range gt_range_add(struct gt_range x, struct gt_range y);
struct gt_range gt_range_negate(struct gt_range x);
struct gt_range gt_range_multiply(struct gt_range x, struct gt_range y);
struct gt_range gt_range_divide(struct gt_range x, struct gt_range y);
/* A NaN operand may give the other operand, as fmin does, or NaN. */
struct gt_range gt_range_min(struct gt_range x, struct gt_range y);
struct gt_range gt_range_max(struct gt_range x, struct gt_range y);
struct gt_range gt_range_abs(struct gt_range x);
/* f never decreases. */
struct gt_range gt_range_rising(double (*f)(double), struct gt_range x);
/* f falls down to `bottom` at `turn`, and rises from there. */
struct gt_range gt_range_dipping(double (*f)(double), double turn, double bottom,
                                 struct gt_range x);

/* How far a result may be from the exact one: relative |result| + absolute. */
struct gt_slack {
    double relative, absolute;
};

/* Widens x by the slack and, unless both are 0, by the host's roundoff. A number below
 * `least` may become 0, since devices may flush subnormal numbers; a number beyond `most`
 * becomes infinite. */
struct gt_range gt_range_round(struct gt_range x, struct gt_slack slack,
                               const struct gt_arithmetic *a);

/* The range of elements of `type` that the numbers of x become, rounded to the nearest.
 * `saturate`: numbers beyond the largest element become the largest. Integers always
 * saturate, and NaN becomes 0 as one. */
struct gt_range gt_range_convert(struct gt_range x, gemmtune_dtype type, bool saturate);

#endif
