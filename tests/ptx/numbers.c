/* SPDX-License-Identifier: Apache-2.0 */
/* numbers.c - floats of fewer bits than f64, as bits and as f64. See ptx.h. */
#include "tests/ptx/numbers.h"

/* bits: of the significand, the hidden one included. lowest: exponent of the smallest
 * normal number. most: the largest number. */
struct format {
    int bits, lowest, width;
    double most;
    bool has_infinity;
};

static const struct format *format_of(enum type type) {
    static const struct format f16 = {11, -14, 16, 65504, true},
                               bf16 = {8, -126, 16, 0x1.fep127, true},
                               tf32 = {11, -126, 32, 0x1.ffcp127, true},
                               f32 = {24, -126, 32, 0x1.fffffep127, true},
                               e4m3 = {4, -6, 8, 448, false},
                               e5m2 = {3, -14, 8, 57344, true};
    switch (type) {
    case T_F16:
    case T_F16X2:
        return &f16;
    case T_BF16:
    case T_BF16X2:
        return &bf16;
    case T_TF32:
        return &tf32;
    case T_E4M3:
    case T_E4M3X2:
        return &e4m3;
    case T_E5M2:
    case T_E5M2X2:
        return &e5m2;
    default:
        return &f32;
    }
}

double to_integer(double x, unsigned flags) {
    if (flags & (RZ | RZI))
        return trunc(x);
    if (flags & (RM | RMI))
        return floor(x);
    if (flags & (RP | RPI))
        return ceil(x);
    return flags & RNA ? round(x) : nearbyint(x);
}

/* |x| is not more than the largest number, and then some bits. */
static double rounded(const struct format *f, double x, unsigned flags) {
    int exponent;
    (void)frexp(x, &exponent); /* x = [0.5, 1) 2^exponent */
    if (exponent - 1 < f->lowest)
        exponent = f->lowest + 1;
    return ldexp(to_integer(ldexp(x, f->bits - exponent), flags), exponent - f->bits);
}

static bool overflows_to_most(double x, unsigned flags) {
    return flags & (SATFINITE | RZ) || (flags & RM && x > 0) || (flags & RP && x < 0);
}

/* The bits of a number that the format has. tf32 has the places of f32. */
static uint32_t assemble(const struct format *f, double x) {
    const int stored = f->width == 32 ? 23 : f->bits - 1, bias = 1 - f->lowest;
    const uint32_t sign = (uint32_t)(signbit(x) != 0) << (f->width - 1);
    int exponent;
    x = fabs(x);
    (void)frexp(x, &exponent);
    if (x == 0)
        return sign;
    if (exponent - 1 < f->lowest)
        return sign | (uint32_t)ldexp(x, stored - f->lowest);
    const uint32_t fraction = (uint32_t)(ldexp(x, stored + 1 - exponent)) - (1u << stored);
    return sign | (uint32_t)(exponent - 1 + bias) << stored | fraction;
}

uint32_t narrow(enum type type, double x, unsigned flags) {
    const struct format *f = format_of(type);
    const int stored = f->width == 32 ? 23 : f->bits - 1;
    const uint32_t all = f->width == 32 ? 0x7fffffffu : (1u << (f->width - 1)) - 1;
    const uint32_t infinity = all >> stored << stored;
    const uint32_t sign = (uint32_t)(signbit(x) != 0) << (f->width - 1);
    if (isnan(x))
        return all;
    if (!isinf(x))
        x = rounded(f, x, flags & (ROUND | RNA));
    if (fabs(x) <= f->most)
        return assemble(f, x);
    if (overflows_to_most(x, flags))
        return assemble(f, copysign(f->most, x));
    return f->has_infinity ? sign | infinity : sign | all;
}

double widen(enum type type, uint32_t bits) {
    const struct format *f = format_of(type);
    const int stored = f->width == 32 ? 23 : f->bits - 1;
    const uint32_t all = f->width == 32 ? 0x7fffffffu : (1u << (f->width - 1)) - 1;
    if (f->width == 32)
        return as_f32(bits);
    const uint32_t low = bits & all, fraction = low & ((1u << stored) - 1);
    const int exponent = (int)(low >> stored), top = (int)(all >> stored);
    const double sign = bits >> (f->width - 1) & 1 ? -1 : 1;
    if (!f->has_infinity && low == all)
        return NAN;
    if (f->has_infinity && exponent == top)
        return fraction ? NAN : sign * INFINITY;
    if (exponent == 0)
        return sign * ldexp(fraction, f->lowest - stored);
    return sign * ldexp(fraction + (1u << stored), exponent - 1 + f->lowest - stored);
}

/* 2^exponent, for numbers that are not subnormal. */
static double power(int exponent) {
    return as_f64((uint64_t)(exponent + 1023) << 52);
}

/* The sum of the numbers without their bits below the highest `bits` of `largest`. */
static double sum_of_cut(const double *x, int count, double largest, int bits) {
    const int last = (int)(of_f64(largest) >> 52) - 1023 - (bits - 1);
    const double unit = power(last), each = power(-last);
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += (double)(int64_t)(x[i] * each) * unit;
    return sum;
}

double tensor_sum(const double *x, int count, struct kept kept) {
    double largest = 0, plain = 0;
    for (int i = 0; i < count; i++) {
        const double size = fabs(x[i]);
        largest = size > largest ? size : largest;
        plain += x[i];
    }
    if (largest == 0 || !isfinite(plain))
        return plain;
    const double sum = sum_of_cut(x, count, largest, kept.addends);
    return sum == 0 ? 0 : sum_of_cut(&sum, 1, fabs(sum), kept.sum);
}
