/* SPDX-License-Identifier: Apache-2.0 */
/*
 * range.h - intervals of doubles that hold whatever a device's arithmetic may return.
 *
 * An operation on ranges gives the results on all members, computed on the host in
 * doubles: its ends may be off by the host's own roundoff. gt_range_round adds that, and
 * the roundoff of the device. Method: interval arithmetic with outward rounding (Moore,
 * Kearfott and Cloud, Introduction to Interval Analysis, 2009).
 *
 * A check of a large product with an epilogue evaluates hundreds of millions of ranges. The
 * functions are inline, since a call hands ranges over in memory, which takes longer than
 * the arithmetic.
 */
#ifndef GT_CORE_RANGE_H
#define GT_CORE_RANGE_H

#include "core/dtype.h"

#include <float.h>
#include <math.h>

/* All numbers from low to high, which may be infinite, and NaN when `nan` is set. The ends
 * are never NaN. */
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

/* The lesser and the greater of two numbers, neither NaN. fmin and fmax would also look for
 * NaN, and are calls. */
static inline double gt_range_lesser(double x, double y) {
    return x < y ? x : y;
}

static inline double gt_range_greater(double x, double y) {
    return x > y ? x : y;
}

/* A number below x by a unit of its last place or two, or x if it is infinite. nextafter
 * takes three times as long. */
static inline double gt_range_below(double x) {
    return isinf(x) ? x : x - (fabs(x) * 0x1p-52 + DBL_MIN);
}

/* The range of one number; of NaN: NaN and the number 0. */
static inline struct gt_range gt_range_point(double value) {
    return isnan(value) ? (struct gt_range){0, 0, true}
                        : (struct gt_range){value, value, false};
}

/* All numbers within `error` of the value, and a little more. */
static inline struct gt_range gt_range_about(double value, double error) {
    const double low = gt_range_below(value - error);
    const double high = -gt_range_below(-value - error);
    return isnan(low) || isnan(high) ? gt_range_point(NAN)
                                     : (struct gt_range){low, high, false};
}

static inline struct gt_range gt_range_join(struct gt_range x, struct gt_range y) {
    return (struct gt_range){gt_range_lesser(x.low, y.low),
                             gt_range_greater(x.high, y.high), x.nan || y.nan};
}

static inline bool gt_range_is_point(struct gt_range x) {
    return !x.nan && x.low >= x.high && x.low <= x.high;
}

/* ---- arithmetic ------------------------------------------------------------ */

static inline struct gt_range gt_range_add(struct gt_range x, struct gt_range y) {
    struct gt_range sum = {x.low + y.low, x.high + y.high, x.nan || y.nan};
    sum.nan = sum.nan || (isinf(x.high) && isinf(y.low) && x.high > y.low) ||
              (isinf(x.low) && isinf(y.high) && x.low < y.high);
    if (isnan(sum.low))
        sum.low = -INFINITY;
    if (isnan(sum.high))
        sum.high = INFINITY;
    return sum;
}

static inline struct gt_range gt_range_negate(struct gt_range x) {
    return (struct gt_range){-x.high, -x.low, x.nan};
}

/* The range of four results at the ends; one that is NaN counts as 0, its limit. */
static inline struct gt_range gt_range_of_ends(double a, double b, double c, double d,
                                               bool nan) {
    if (isnan(a) || isnan(b) || isnan(c) || isnan(d)) {
        nan = true;
        a = isnan(a) ? 0 : a;
        b = isnan(b) ? 0 : b;
        c = isnan(c) ? 0 : c;
        d = isnan(d) ? 0 : d;
    }
    return (struct gt_range){
        gt_range_lesser(gt_range_lesser(a, b), gt_range_lesser(c, d)),
        gt_range_greater(gt_range_greater(a, b), gt_range_greater(c, d)), nan};
}

static inline bool gt_range_holds_zero(struct gt_range x) {
    return x.low <= 0 && x.high >= 0;
}

static inline bool gt_range_holds_infinity(struct gt_range x) {
    return isinf(x.low) || isinf(x.high);
}

static inline struct gt_range gt_range_multiply(struct gt_range x, struct gt_range y) {
    const bool nan = x.nan || y.nan ||
                     (gt_range_holds_zero(x) && gt_range_holds_infinity(y)) ||
                     (gt_range_holds_infinity(x) && gt_range_holds_zero(y));
    return gt_range_of_ends(x.low * y.low, x.low * y.high, x.high * y.low, x.high * y.high,
                            nan);
}

static inline struct gt_range gt_range_divide(struct gt_range x, struct gt_range y) {
    const bool nan =
        x.nan || y.nan || (gt_range_holds_infinity(x) && gt_range_holds_infinity(y));
    return gt_range_holds_zero(y)
               ? (struct gt_range){-INFINITY, INFINITY, nan || gt_range_holds_zero(x)}
               : gt_range_of_ends(x.low / y.low, x.low / y.high, x.high / y.low,
                                  x.high / y.high, nan);
}

/* A NaN operand may give the other operand, as fmin does, or NaN. */
static inline struct gt_range gt_range_min(struct gt_range x, struct gt_range y) {
    const struct gt_range least = {gt_range_lesser(x.low, y.low),
                                   gt_range_lesser(x.high, y.high), x.nan || y.nan};
    return least.nan ? gt_range_join(least, gt_range_join(x, y)) : least;
}

static inline struct gt_range gt_range_max(struct gt_range x, struct gt_range y) {
    return gt_range_negate(gt_range_min(gt_range_negate(x), gt_range_negate(y)));
}

static inline struct gt_range gt_range_abs(struct gt_range x) {
    struct gt_range out = gt_range_max(x, gt_range_negate(x));
    out.low = gt_range_holds_zero(x) ? 0 : gt_range_lesser(fabs(x.low), fabs(x.high));
    return out;
}

/* ---- functions ------------------------------------------------------------- */

/* f never decreases. */
static inline struct gt_range gt_range_rising(double (*f)(double), struct gt_range x) {
    return (struct gt_range){f(x.low), f(x.high), x.nan};
}

/* f falls down to `bottom` at `turn`, and rises from there. */
static inline struct gt_range gt_range_dipping(double (*f)(double), double turn,
                                               double bottom, struct gt_range x) {
    const double low = f(x.low), high = f(x.high);
    const bool turns = x.low <= turn && turn <= x.high;
    return (struct gt_range){turns ? bottom : gt_range_lesser(low, high),
                             gt_range_greater(low, high), x.nan};
}

/* ---- rounding -------------------------------------------------------------- */

/* How far a result may be from the exact one: relative |result| + absolute. */
struct gt_slack {
    double relative, absolute;
};

/* The lower end of numbers from x on after rounding. */
static inline double gt_range_lower(double x, struct gt_slack slack,
                                    const struct gt_arithmetic *a) {
    /* The host's roundoff in one operation: its own, and the two ulp of libm's functions.
     */
    const double host = 0x1p-50;
    const bool rounds = slack.relative > 0 || slack.absolute > 0;
    if (isinf(x))
        return x > 0 ? a->most : x;
    const double less = (slack.relative + host) * fabs(x) + slack.absolute;
    const double wide = rounds ? gt_range_below(x - less) : x;
    return wide < -a->most ? -INFINITY : gt_range_lesser(wide, a->most);
}

/* Widens x by the slack and, unless both are 0, by the host's roundoff. A number below
 * `least` may become 0, since devices may flush subnormal numbers; a number beyond `most`
 * becomes infinite. */
static inline struct gt_range gt_range_round(struct gt_range x, struct gt_slack slack,
                                             const struct gt_arithmetic *a) {
    if (a->exact)
        return x;
    /* An infinite end that was reached stays: nothing finite rounds from it. */
    const bool up = isinf(x.low) && x.low > 0, down = isinf(x.high) && x.high < 0;
    const double low = up ? x.low : gt_range_lower(x.low, slack, a);
    const double high = down ? x.high : -gt_range_lower(-x.high, slack, a);
    return low < a->least && high > -a->least
               ? (struct gt_range){gt_range_lesser(low, 0), gt_range_greater(high, 0),
                                   x.nan}
               : (struct gt_range){low, high, x.nan};
}

/* ---- conversion ------------------------------------------------------------ */

/* The range of elements of `type` that the numbers of x become, rounded to the nearest.
 * `saturate`: numbers beyond the largest element become the largest. Integers always
 * saturate, and NaN becomes 0 as one. */
struct gt_range gt_range_convert(struct gt_range x, gemmtune_dtype type, bool saturate);

#endif
