/* SPDX-License-Identifier: Apache-2.0 */
/* numbers.h - floats as bits and as numbers. See ptx.h. */
#ifndef GT_TESTS_PTX_NUMBERS_H
#define GT_TESTS_PTX_NUMBERS_H

#include "tests/ptx/code.h"

#include <string.h>

/* The bits of the nearest number of a type: f16, bf16, tf32, e4m3, e5m2 or f32. flags:
 * rounding, SATFINITE. */
uint32_t narrow(enum type type, double x, unsigned flags);
double widen(enum type type, uint32_t bits);

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
