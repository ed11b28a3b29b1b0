/* SPDX-License-Identifier: Apache-2.0 */
/* numbers.h - floats as bits and as numbers. See ptx.h. */
#ifndef GT_TESTS_PTX_NUMBERS_H
#define GT_TESTS_PTX_NUMBERS_H

#include "tests/ptx/code.h"

#include <math.h>
#include <string.h>

/* The bits of the nearest number of a type: f16, bf16, tf32, e4m3, e5m2 or f32. flags:
 * rounding, SATFINITE. */
uint32_t narrow(enum type type, double x, unsigned flags);
double widen(enum type type, uint32_t bits);
/* Rounds to an integer as the flags say; to the nearest, and to even, without any. */
double to_integer(double x, unsigned flags);

/* How many bits a tensor core keeps of the numbers that it adds up, from the highest bit of
 * the largest one on, and of their sum. */
struct kept {
    int addends, sum;
};
/* As an H200 has it (docs/split.md), and its sums of 8-bit floats by wgmma. */
static const struct kept kept_bits = {26, 24}, kept_of_8_bit = {14, 14};

/* The sum as tensor cores make it: they cut bits off, towards zero. The numbers are
 * products of floats of at most 32 bits, or such floats. */
double tensor_sum(const double *x, int count, struct kept kept);

/* Subnormal numbers of f32 become zeros, as .ftz has it. */
static inline double flushed(double x) {
    return fabs(x) < 0x1p-126 ? copysign(0, x) : x;
}

/* Clipped to 0 ... 1, as .sat has it; a NaN becomes 0. */
static inline double saturated(double x) {
    return x > 0 ? (x < 1 ? x : 1) : 0;
}

static inline uint64_t ones(uint32_t count) {
    return count >= 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
}

/* The lower bits of x, as many as a type has. */
static inline uint64_t cut(enum type type, uint64_t x) {
    return x & ones(bits_of(type));
}

static inline float as_f32(uint64_t bits) {
    const uint32_t low = (uint32_t)bits;
    float x;
    memcpy(&x, &low, sizeof x);
    return x;
}

static inline double as_f64(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint64_t of_f32(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline uint64_t of_f64(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

#endif
