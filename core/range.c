/* SPDX-License-Identifier: Apache-2.0 */
/* range.c - see range.h. The functions here need the elements of a type. */
#include "core/range.h"

#include "core/element.h"

#include <math.h>

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
    const double inside =
        saturate ? gt_range_lesser(gt_range_greater(end, -most), most) : end;
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
