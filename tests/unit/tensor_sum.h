/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tensor_sum.h - a dot product of f32 as f32@split computes it, on the host: parts of tf32,
 * instructions of tensor cores that cut bits off, promotion. docs/split.md has the model.
 * `struct way` can leave steps out.
 */
#ifndef TENSOR_SUM_H
#define TENSOR_SUM_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { TENSOR_STEP = 8, BITS = 24 };

struct way {
    int64_t depth;   /* elements of k between two promotions */
    int together;    /* products that are added at once: 8, or 4 as on older devices */
    bool cut_parts;  /* high parts are cut off instead of rounded */
    bool drop_cross; /* one of the products with a low part is left out */
};

static inline float tf32_of(float x, bool cut) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = (cut ? bits : bits + 0x1000) & ~UINT32_C(0x1fff);
    memcpy(&x, &bits, sizeof bits);
    return x;
}

/* x without the bits below 2^last. */
static inline double cut_below(double x, int last) {
    return ldexp(trunc(ldexp(x, -last)), last);
}

static inline int exponent_of(double x) {
    int e = -10000;
    if (x != 0)
        (void)frexp(x, &e);
    return e;
}

/* sum + a[0] b[0] + ... + a[n - 1] b[n - 1]: addends are cut at the last bit of the largest
 * one, the result is cut to 24 bits. */
static inline double add_products(double sum, const float *a, const float *b, int n) {
    int most = exponent_of(sum);
    for (int i = 0; i < n; i++) {
        const int e = exponent_of((double)a[i] * (double)b[i]);
        most = e > most ? e : most;
    }
    double all = cut_below(sum, most - BITS);
    for (int i = 0; i < n; i++)
        all += cut_below((double)a[i] * (double)b[i], most - BITS);
    return cut_below(all, exponent_of(all) - BITS);
}

static inline double add_step(double sum, const float *a, const float *b,
                              const struct way *w) {
    for (int i = 0; i < TENSOR_STEP; i += w->together)
        sum = add_products(sum, a + i, b + i, w->together);
    return sum;
}

/* The sum of n products, n at most TENSOR_STEP. */
static inline double add_split(double sum, const float *a, const float *b, int64_t n,
                               const struct way *w) {
    float high_a[TENSOR_STEP] = {0}, low_a[TENSOR_STEP] = {0};
    float high_b[TENSOR_STEP] = {0}, low_b[TENSOR_STEP] = {0};
    for (int64_t i = 0; i < n; i++) {
        high_a[i] = tf32_of(a[i], w->cut_parts);
        low_a[i] = tf32_of(a[i] - high_a[i], true);
        high_b[i] = tf32_of(b[i], w->cut_parts);
        low_b[i] = tf32_of(b[i] - high_b[i], true);
    }
    if (!w->drop_cross)
        sum = add_step(sum, low_a, high_b, w);
    sum = add_step(sum, high_a, low_b, w);
    return add_step(sum, high_a, high_b, w);
}

static inline float split_dot(const float *a, const float *b, int64_t k,
                              const struct way *w) {
    float total = 0;
    double sum = 0;
    for (int64_t i = 0; i < k; i += TENSOR_STEP) {
        sum = add_split(sum, a + i, b + i, k - i < TENSOR_STEP ? k - i : TENSOR_STEP, w);
        if ((i + TENSOR_STEP) % w->depth == 0 || i + TENSOR_STEP >= k) {
            total += (float)sum;
            sum = 0;
        }
    }
    return total;
}

static inline float plain_dot(const float *a, const float *b, int64_t k) {
    float sum = 0;
    for (int64_t i = 0; i < k; i++)
        sum = fmaf(a[i], b[i], sum);
    return sum;
}

#endif
