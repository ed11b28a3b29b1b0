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
 * the arithmetic. They choose between numbers and join conditions by | and &, so that a
 * compiler makes no branches: a loop over many ranges then takes less than half of the
 * time.
 */
#ifndef GT_CORE_RANGE_H
#define GT_CORE_RANGE_H

#include "core/element.h"

#include <float.h>
#include <math.h>

/* All numbers from low to high, which may be infinite, and NaN when `nan` is set. The ends
 * are never NaN. Where low is above high there is no number, and NaN alone is right; an
 * operation on it gives NaN, beside numbers perhaps when the other operand is infinite. */
struct gt_range {
    double low, high;
    bool nan;
};

/* An arithmetic: its unit roundoff, its smallest normal and its largest number. */
struct gt_arithmetic {
    double unit, least, most;
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

/* The library's isinf stores the number and looks at its bits. Conditions are int: clang
 * warns of | and & between calls that return bool. */
static inline int gt_range_infinite(double x) {
    return fabs(x) > DBL_MAX;
}

/* A number below x by a unit of its last place or two, or x if it is infinite. nextafter
 * takes three times as long. */
static inline double gt_range_below(double x) {
    const double below = x - (fabs(x) * 0x1p-52 + DBL_MIN);
    return gt_range_infinite(x) ? x : below;
}

/* The range of one number, or of NaN. */
static inline struct gt_range gt_range_point(double value) {
    const bool nan = isnan(value);
    return (struct gt_range){nan ? INFINITY : value, nan ? -INFINITY : value, nan};
}

/* x, or NaN alone when `nan` is set. */
static inline struct gt_range gt_range_unless_nan(struct gt_range x, bool nan) {
    return (struct gt_range){nan ? INFINITY : x.low, nan ? -INFINITY : x.high, x.nan | nan};
}

static inline bool gt_range_is_nan(struct gt_range x) {
    return x.low > x.high;
}

/* All numbers within `error` of the value, and a little more. */
static inline struct gt_range gt_range_about(double value, double error) {
    const double low = gt_range_below(value - error);
    const double high = -gt_range_below(-value - error);
    return gt_range_unless_nan((struct gt_range){low, high, false},
                               isnan(low) | isnan(high));
}

static inline struct gt_range gt_range_join(struct gt_range x, struct gt_range y) {
    return (struct gt_range){gt_range_lesser(x.low, y.low),
                             gt_range_greater(x.high, y.high), x.nan | y.nan};
}

static inline bool gt_range_is_point(struct gt_range x) {
    return !x.nan & (x.low >= x.high) & (x.low <= x.high);
}

/* ---- arithmetic ------------------------------------------------------------ */

static inline struct gt_range gt_range_add(struct gt_range x, struct gt_range y) {
    const double low = x.low + y.low, high = x.high + y.high;
    const bool above = gt_range_infinite(x.high) & gt_range_infinite(y.low);
    const bool below = gt_range_infinite(x.low) & gt_range_infinite(y.high);
    return (struct gt_range){isnan(low) ? -INFINITY : low, isnan(high) ? INFINITY : high,
                             x.nan | y.nan | (above & (x.high > y.low)) |
                                 (below & (x.low < y.high))};
}

static inline struct gt_range gt_range_negate(struct gt_range x) {
    return (struct gt_range){-x.high, -x.low, x.nan};
}

/* The range of four results at the ends; one that is NaN counts as 0, its limit. */
static inline struct gt_range gt_range_of_ends(double a, double b, double c, double d,
                                               bool nan) {
    nan = nan | isnan(a) | isnan(b) | isnan(c) | isnan(d);
    a = isnan(a) ? 0 : a;
    b = isnan(b) ? 0 : b;
    c = isnan(c) ? 0 : c;
    d = isnan(d) ? 0 : d;
    return (struct gt_range){
        gt_range_lesser(gt_range_lesser(a, b), gt_range_lesser(c, d)),
        gt_range_greater(gt_range_greater(a, b), gt_range_greater(c, d)), nan};
}

static inline int gt_range_holds_zero(struct gt_range x) {
    return (x.low <= 0) & (x.high >= 0);
}

static inline int gt_range_holds_infinity(struct gt_range x) {
    return gt_range_infinite(x.low) | gt_range_infinite(x.high);
}

static inline struct gt_range gt_range_multiply(struct gt_range x, struct gt_range y) {
    const bool nan = x.nan | y.nan | (gt_range_holds_zero(x) & gt_range_holds_infinity(y)) |
                     (gt_range_holds_infinity(x) & gt_range_holds_zero(y));
    const struct gt_range out = gt_range_of_ends(x.low * y.low, x.low * y.high,
                                                 x.high * y.low, x.high * y.high, nan);
    return gt_range_unless_nan(out, (int)gt_range_is_nan(x) | (int)gt_range_is_nan(y));
}

static inline struct gt_range gt_range_divide(struct gt_range x, struct gt_range y) {
    const bool nan =
        x.nan | y.nan | (gt_range_holds_infinity(x) & gt_range_holds_infinity(y));
    const struct gt_range out =
        gt_range_holds_zero(y)
            ? (struct gt_range){-INFINITY, INFINITY, nan | gt_range_holds_zero(x)}
            : gt_range_of_ends(x.low / y.low, x.low / y.high, x.high / y.low,
                               x.high / y.high, nan);
    return gt_range_unless_nan(out, (int)gt_range_is_nan(x) | (int)gt_range_is_nan(y));
}

/* NaN when an operand is NaN: then an end of it, infinite, is the lesser on one side. */
static inline struct gt_range gt_range_min(struct gt_range x, struct gt_range y) {
    return (struct gt_range){gt_range_lesser(x.low, y.low), gt_range_lesser(x.high, y.high),
                             x.nan | y.nan};
}

static inline struct gt_range gt_range_max(struct gt_range x, struct gt_range y) {
    return gt_range_negate(gt_range_min(gt_range_negate(x), gt_range_negate(y)));
}

static inline struct gt_range gt_range_abs(struct gt_range x) {
    const double near = gt_range_lesser(fabs(x.low), fabs(x.high));
    return (struct gt_range){gt_range_holds_zero(x) ? 0 : near,
                             gt_range_greater(x.high, -x.low), x.nan};
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
    const bool turns = (x.low <= turn) & (turn <= x.high);
    return (struct gt_range){turns ? bottom : gt_range_lesser(low, high),
                             gt_range_greater(low, high), x.nan};
}

/* ---- rounding -------------------------------------------------------------- */

/* How far a result may be from the exact one: relative |result| + absolute. */
struct gt_slack {
    double relative, absolute;
};

/* The lower end of numbers from x on after rounding. An infinite one becomes the largest
 * number. */
static inline double gt_range_lower(double x, struct gt_slack slack,
                                    const struct gt_arithmetic *a) {
    /* The host's roundoff in one operation: its own,
     * and the two ulp of libm's functions. */
    const double host = 0x1p-50;
    const bool rounds = (slack.relative > 0) | (slack.absolute > 0);
    const double less = (slack.relative + host) * fabs(x) + slack.absolute;
    const double below = gt_range_below(x - less);
    const double wide = rounds ? below : x;
    const double inside = gt_range_lesser(wide, a->most);
    return wide < -a->most ? -INFINITY : inside;
}

/* A number below `least` may become 0, since devices may flush subnormal numbers. */
static inline struct gt_range gt_range_flush(struct gt_range x, double least) {
    const double with_zero = gt_range_lesser(x.low, 0);
    const double to_zero = gt_range_greater(x.high, 0);
    const bool small = (x.low < least) & (x.high > -least);
    return (struct gt_range){small ? with_zero : x.low, small ? to_zero : x.high, x.nan};
}

/* Widens x by the slack and, unless both are 0, by the host's roundoff, then as
 * gt_range_flush does. A number beyond `most` becomes infinite. */
static inline struct gt_range gt_range_round(struct gt_range x, struct gt_slack slack,
                                             const struct gt_arithmetic *a) {
    const double lower = gt_range_lower(x.low, slack, a);
    const double upper = -gt_range_lower(-x.high, slack, a);
    /* An infinite end that was reached stays: nothing finite rounds from it. */
    const double low = x.low > DBL_MAX ? x.low : lower;
    const double high = x.high < -DBL_MAX ? x.high : upper;
    return gt_range_flush((struct gt_range){low, high, x.nan}, a->least);
}

/* ---- conversion ------------------------------------------------------------ */

/* A conversion of numbers to the nearest elements of a type. */
struct gt_conversion {
    struct gt_grid grid; /* of floats */
    double most, limit;  /* the largest element; the largest number that is not cut */
    bool integer;
};

/* The conversion to elements of `type`. `saturate`: numbers beyond the largest
 * element become the largest. Integers always saturate, and NaN becomes 0 as one. */
struct gt_conversion gt_conversion_to(gemmtune_dtype type, bool saturate);

static inline struct gt_range gt_range_to_integer(struct gt_range x,
                                                  const struct gt_conversion *to) {
    const struct gt_range out = {fmin(fmax(nearbyint(x.low), -to->most - 1), to->most),
                                 fmin(fmax(nearbyint(x.high), -to->most - 1), to->most),
                                 false};
    return x.nan ? gt_range_join(out, (struct gt_range){0, 0, false}) : out;
}

/* The range of elements that the numbers of x become. An end beyond all elements is
 * infinite; where that is NaN, it is the largest element. */
static inline struct gt_range gt_range_to_float(struct gt_range x,
                                                const struct gt_conversion *to) {
    const double inside_low =
        gt_range_lesser(gt_range_greater(x.low, -to->limit), to->limit);
    const double inside_high =
        gt_range_lesser(gt_range_greater(x.high, -to->limit), to->limit);
    const double low = gt_grid_round(&to->grid, inside_low);
    const double high = gt_grid_round(&to->grid, inside_high);
    return (struct gt_range){isnan(low) ? copysign(to->most, x.low) : low,
                             isnan(high) ? copysign(to->most, x.high) : high,
                             x.nan | isnan(low) | isnan(high)};
}

#endif
