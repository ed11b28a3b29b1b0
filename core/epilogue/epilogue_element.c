/* SPDX-License-Identifier: Apache-2.0 */
/* epilogue_element.c - see epilogue_element.h. */
#include "core/epilogue/epilogue_element.h"

#include <math.h>

/* ---- functions of one number ----------------------------------------------- */

static double sigmoid(double t) {
    return 1 / (1 + exp(-t));
}

static double silu(double t) {
    return t < -DBL_MAX ? 0 : t * sigmoid(t);
}

/* t / 2 erfc(-t / sqrt 2): as t / 2 (1 + erf(t / sqrt 2)), without cancellation. */
static double gelu(double t) {
    static const double root_half = 0.70710678118654752440;
    return t < -DBL_MAX ? 0 : 0.5 * t * erfc(-t * root_half);
}

/* (1 + tanh z) / 2 is the sigmoid of 2 z. */
static double gelu_tanh(double t) {
    static const double root_two_by_pi = 0.79788456080286535588;
    return t < -DBL_MAX ? 0 : t * sigmoid(2 * root_two_by_pi * (t + 0.044715 * t * t * t));
}

static const struct gt_epi_function {
    enum gt_epi_op_id op;
    double (*f)(double);
    double turn, bottom; /* where the function is least, and its value; both 0: it rises */
} functions[] = {
    {GT_EPI_EXP, exp, 0, 0},
    {GT_EPI_LOG, log, 0, 0},
    {GT_EPI_TANH, tanh, 0, 0},
    {GT_EPI_ERF, erf, 0, 0},
    {GT_EPI_SQRT, sqrt, 0, 0},
    {GT_EPI_SIGMOID, sigmoid, 0, 0},
    {GT_EPI_GELU, gelu, -0.75179152469131, -0.16997120747990369},
    {GT_EPI_GELU_TANH, gelu_tanh, -0.75246142174, -0.17004075057125412},
    {GT_EPI_SILU, silu, -1.2784645427610738, -0.27846454276107379},
};

const struct gt_epi_function *gt_epi_function_of(enum gt_epi_op_id op) {
    const struct gt_epi_function *f = functions;
    while (f->op != op)
        f++;
    return f;
}

struct gt_range gt_epi_function_range(const struct gt_epi_function *f, struct gt_range t) {
    const bool dips = f->bottom < 0;
    const bool positive = f->op == GT_EPI_LOG || f->op == GT_EPI_SQRT; /* NaN below 0 */
    const bool endless = dips && t.low < -DBL_MAX; /* -0, or minus infinity times 0 */
    const bool nan = t.nan || (positive && t.low < 0) || endless;
    const bool only_nan = gt_range_is_nan(t) || (positive && t.high < 0);
    if (positive)
        t = (struct gt_range){gt_range_greater(t.low, 0), gt_range_greater(t.high, 0),
                              t.nan};
    struct gt_range out =
        dips ? gt_range_dipping(f->f, f->turn, f->bottom, t) : gt_range_rising(f->f, t);
    out.nan = nan;
    return gt_range_unless_nan(out, only_nan);
}

/* ---- integers: modulo 2^32 ------------------------------------------------- */

static const struct gt_range all_integers = {INT32_MIN, INT32_MAX, false};

static int32_t wrapped(int64_t value) {
    const int64_t low = (int64_t)((uint64_t)value & UINT32_MAX);
    return (int32_t)(low > INT32_MAX ? low - INT64_C(4294967296) : low);
}

/* The integers from low to high, or all when some are beyond 32 bits. */
static struct gt_range integers(int64_t low, int64_t high) {
    if (low == high)
        return gt_range_point(wrapped(low));
    return low < INT32_MIN || high > INT32_MAX
               ? all_integers
               : (struct gt_range){(double)low, (double)high, false};
}

static struct gt_range multiply_integers(struct gt_range x, struct gt_range y) {
    const int64_t ends[] = {
        (int64_t)x.low * (int64_t)y.low, (int64_t)x.low * (int64_t)y.high,
        (int64_t)x.high * (int64_t)y.low, (int64_t)x.high * (int64_t)y.high};
    int64_t low = ends[0], high = ends[0];
    for (int i = 1; i < 4; i++) {
        low = ends[i] < low ? ends[i] : low;
        high = ends[i] > high ? ends[i] : high;
    }
    return integers(low, high);
}

struct gt_range gt_epi_integer_range(enum gt_epi_op_id op, struct gt_range x,
                                     struct gt_range y) {
    const int64_t x_low = (int64_t)x.low, x_high = (int64_t)x.high;
    const int64_t y_low = (int64_t)y.low, y_high = (int64_t)y.high;
    struct gt_range size;
    switch (op) {
    case GT_EPI_ADD:
        return integers(x_low + y_low, x_high + y_high);
    case GT_EPI_SUB:
        return integers(x_low - y_high, x_high - y_low);
    case GT_EPI_MUL:
        return multiply_integers(x, y);
    case GT_EPI_NEGATE:
        return integers(-x_high, -x_low);
    case GT_EPI_MIN:
        return gt_range_min(x, y);
    case GT_EPI_MAX:
        return gt_range_max(x, y);
    case GT_EPI_RELU:
        return gt_range_max(x, gt_range_point(0));
    default: /* abs */
        size = gt_range_abs(x);
        return integers((int64_t)size.low, (int64_t)size.high);
    }
}

/* ---- comparisons: 0 is false, 1 true, [0, 1] either ------------------------ */

static struct gt_range truth(bool can_be_false, bool can_be_true) {
    return (struct gt_range){can_be_false ? 0 : 1, can_be_true ? 1 : 0, false};
}

static struct gt_range less(struct gt_range x, struct gt_range y) {
    return truth(x.high >= y.low, x.low < y.high);
}

static struct gt_range inverse(struct gt_range x) {
    return (struct gt_range){1 - x.high, 1 - x.low, false};
}

static struct gt_range equal(struct gt_range x, struct gt_range y) {
    const bool one = gt_range_is_point(x) && gt_range_is_point(y);
    const bool meet = x.low <= y.high && y.low <= x.high;
    return truth(!one || !meet, meet);
}

struct gt_range gt_epi_truth_range(enum gt_epi_op_id op, struct gt_range x,
                                   struct gt_range y) {
    if (x.nan || y.nan)
        return truth(true, true);
    switch (op) {
    case GT_EPI_LT:
        return less(x, y);
    case GT_EPI_GT:
        return less(y, x);
    case GT_EPI_LE:
        return inverse(less(y, x));
    case GT_EPI_GE:
        return inverse(less(x, y));
    case GT_EPI_EQ:
        return equal(x, y);
    default:
        return inverse(equal(x, y));
    }
}
