/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expr_native.h - the operators of expressions that became C functions
 * (tools/print_expr.c). An operator that fails sets *bad, and its value means nothing. The
 * nodes of the expression are evaluated then, for the error's words.
 */
#ifndef GT_CORE_EXPR_NATIVE_H
#define GT_CORE_EXPR_NATIVE_H

#include <stdbool.h>
#include <stdint.h>

static inline int64_t gt_native_add(int64_t a, int64_t b, bool *bad) {
    int64_t sum = 0;
    *bad |= __builtin_add_overflow(a, b, &sum);
    return sum;
}

static inline int64_t gt_native_sub(int64_t a, int64_t b, bool *bad) {
    int64_t difference = 0;
    *bad |= __builtin_sub_overflow(a, b, &difference);
    return difference;
}

static inline int64_t gt_native_mul(int64_t a, int64_t b, bool *bad) {
    int64_t product = 0;
    *bad |= __builtin_mul_overflow(a, b, &product);
    return product;
}

static inline int64_t gt_native_negate(int64_t a, bool *bad) {
    return gt_native_sub(0, a, bad);
}

/* The divisor, or 1 where the quotient has no value. */
static inline int64_t gt_native_divisor(int64_t a, int64_t b, bool *bad) {
    const bool none = b == 0 || (a == INT64_MIN && b == -1);
    *bad |= none;
    return none ? 1 : b;
}

static inline int64_t gt_native_div(int64_t a, int64_t b, bool *bad) {
    return a / gt_native_divisor(a, b, bad);
}

static inline int64_t gt_native_mod(int64_t a, int64_t b, bool *bad) {
    return a % gt_native_divisor(a, b, bad);
}

static inline int64_t gt_native_cdiv(int64_t a, int64_t b, bool *bad) {
    const int64_t by = gt_native_divisor(a, b, bad);
    *bad |= a < 0 || b < 0;
    return a / by + (a % by != 0);
}

static inline int64_t gt_native_min(int64_t a, int64_t b, const bool *bad) {
    (void)bad;
    return a < b ? a : b;
}

static inline int64_t gt_native_max(int64_t a, int64_t b, const bool *bad) {
    (void)bad;
    return a > b ? a : b;
}

#endif
