/* SPDX-License-Identifier: Apache-2.0 */
/* range.c - see range.h. */
#include "core/range.h"

#include "core/element.h"

#include <float.h>
#include <math.h>

/* The host's roundoff in one operation: its own, and the two ulp of libm's functions. */
static const double host_slack = 0x1p-50;

/* The largest number: (2 - 2 u) 2^e, where 2^(1 - e) is the smallest normal number. */
static double type_most(gemmtune_dtype type) {
    if (type == GEMMTUNE_E4M3)
        return 448; /* it has no infinity, so its largest exponent has numbers too */
    return gt_type_is_float(type) ? (2 - 2 * gt_type_unit(type)) / gt_type_least(type) * 2
                                  : gt_type_exact(type);
}

struct gt_arithmetic gt_arithmetic_of(gemmtune_dtype type) {
    return (struct gt_arithmetic){gt_type_unit(type), gt_type_least(type), type_most(type),
                                  false};
}

/* A number below x by a unit of its last place or two, or x if it is infinite. nextafter
 * takes three times as long. */
static double below(double x) {
    return isinf(x) ? x : x - (fabs(x) * 0x1p-52 + DBL_MIN);
}

struct gt_range gt_range_point(double value) {
    return isnan(value) ? (struct gt_range){0, 0, true}
                        : (struct gt_range){value, value, false};
}

struct gt_range gt_range_about(double value, double error) {
    const double low = below(value - error), high = -below(-value - error);
    return isnan(low) || isnan(high) ? gt_range_point(NAN)
                                     : (struct gt_range){low, high, false};
}

struct gt_range gt_range_join(struct gt_range x, struct gt_range y) {
    return (struct gt_range){fmin(x.low, y.low), fmax(x.high, y.high), x.nan || y.nan};
}

bool gt_range_is_point(struct gt_range x) {
    return !x.nan && x.low >= x.high && x.low <= x.high;
}

/* ---- arithmetic ------------------------------------------------------------ */

struct gt_range gt_range_add(struct gt_range x, struct gt_range y) {
    struct gt_range sum = {x.low + y.low, x.high + y.high, x.nan || y.nan};
    sum.nan = sum.nan || (isinf(x.high) && isinf(y.low) && x.high > y.low) ||
              (isinf(x.low) && isinf(y.high) && x.low < y.high);
    if (isnan(sum.low))
        sum.low = -INFINITY;
    if (isnan(sum.high))
        sum.high = INFINITY;
    return sum;
}

struct gt_range gt_range_negate(struct gt_range x) {
    return (struct gt_range){-x.high, -x.low, x.nan};
}

/* The range of four results at the ends; one that is NaN counts as 0, its limit. */
static struct gt_range of_ends(const double end[4], bool nan) {
    struct gt_range out = {INFINITY, -INFINITY, nan};
    for (int i = 0; i < 4; i++) {
        out = gt_range_join(out, gt_range_point(isnan(end[i]) ? 0 : end[i]));
        out.nan = out.nan || isnan(end[i]);
    }
    return out;
}

static bool holds_zero(struct gt_range x) {
    return x.low <= 0 && x.high >= 0;
}

static bool holds_infinity(struct gt_range x) {
    return isinf(x.low) || isinf(x.high);
}

struct gt_range gt_range_multiply(struct gt_range x, struct gt_range y) {
    const double ends[] = {x.low * y.low, x.low * y.high, x.high * y.low, x.high * y.high};
    return of_ends(ends, x.nan || y.nan || (holds_zero(x) && holds_infinity(y)) ||
                             (holds_infinity(x) && holds_zero(y)));
}

struct gt_range gt_range_divide(struct gt_range x, struct gt_range y) {
    const double ends[] = {x.low / y.low, x.low / y.high, x.high / y.low, x.high / y.high};
    const bool nan = x.nan || y.nan || (holds_infinity(x) && holds_infinity(y));
    return holds_zero(y) ? (struct gt_range){-INFINITY, INFINITY, nan || holds_zero(x)}
                         : of_ends(ends, nan);
}

struct gt_range gt_range_min(struct gt_range x, struct gt_range y) {
    const struct gt_range least = {fmin(x.low, y.low), fmin(x.high, y.high),
                                   x.nan || y.nan};
    return least.nan ? gt_range_join(least, gt_range_join(x, y)) : least;
}

struct gt_range gt_range_max(struct gt_range x, struct gt_range y) {
    return gt_range_negate(gt_range_min(gt_range_negate(x), gt_range_negate(y)));
}

struct gt_range gt_range_abs(struct gt_range x) {
    const struct gt_range turned = gt_range_negate(x);
    struct gt_range out = gt_range_max(x, turned);
    out.low = holds_zero(x) ? 0 : fmin(fabs(x.low), fabs(x.high));
    return out;
}

/* ---- functions ------------------------------------------------------------- */

struct gt_range gt_range_rising(double (*f)(double), struct gt_range x) {
    return (struct gt_range){f(x.low), f(x.high), x.nan};
}

struct gt_range gt_range_dipping(double (*f)(double), double turn, double bottom,
                                 struct gt_range x) {
    struct gt_range out = {f(x.low), f(x.high), x.nan};
    out = (struct gt_range){fmin(out.low, out.high), fmax(out.low, out.high), out.nan};
    if (x.low <= turn && turn <= x.high)
        out.low = bottom;
    return out;
}

/* ---- rounding -------------------------------------------------------------- */

/* The lower end of numbers from x on after rounding. */
static double lower(double x, struct gt_slack slack, const struct gt_arithmetic *a) {
    const bool rounds = slack.relative > 0 || slack.absolute > 0;
    if (isinf(x))
        return x > 0 ? a->most : x;
    const double less = (slack.relative + host_slack) * fabs(x) + slack.absolute;
    const double wide = rounds ? below(x - less) : x;
    return wide < -a->most ? -INFINITY : fmin(wide, a->most);
}

struct gt_range gt_range_round(struct gt_range x, struct gt_slack slack,
                               const struct gt_arithmetic *a) {
    if (a->exact)
        return x;
    /* An infinite end that was reached stays: nothing finite rounds from it. */
    const bool up = isinf(x.low) && x.low > 0, down = isinf(x.high) && x.high < 0;
    struct gt_range out = {up ? x.low : lower(x.low, slack, a),
                           down ? x.high : -lower(-x.high, slack, a), x.nan};
    if (out.low < a->least && out.high > -a->least)
        out = gt_range_join(out, (struct gt_range){0, 0, false});
    return out;
}

/* ---- conversion ------------------------------------------------------------ */

static struct gt_range to_integer(struct gt_range x, gemmtune_dtype type) {
    const double most = gt_type_exact(type), least = -most - 1;
    struct gt_range out = {fmin(fmax(nearbyint(x.low), least), most),
                           fmin(fmax(nearbyint(x.high), least), most), false};
    return x.nan ? gt_range_join(out, (struct gt_range){0, 0, false}) : out;
}

/* One end of a range as an element; one beyond all elements is infinite, or NaN. */
static double to_element(bool *nan, double end, gemmtune_dtype type, bool saturate) {
    const double most = saturate ? type_most(type) : INFINITY;
    const double inside = saturate ? fmin(fmax(end, -most), most) : end;
    const double element = gt_element_round(type, inside);
    *nan = *nan || isnan(element);
    return isnan(element) ? copysign(type_most(type), end) : element;
}

struct gt_range gt_range_convert(struct gt_range x, gemmtune_dtype type, bool saturate) {
    struct gt_range out = x;
    if (!gt_type_is_float(type))
        return to_integer(x, type);
    out.low = to_element(&out.nan, x.low, type, saturate);
    out.high = to_element(&out.nan, x.high, type, saturate);
    return out;
}
