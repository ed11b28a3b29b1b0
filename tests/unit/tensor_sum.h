/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tensor_sum.h - a dot product of f32 as f32@split and f32@bf16x3 compute it, on the host:
 * parts of tf32 or bf16, instructions of tensor cores that cut bits off, promotion.
 * docs/split.md has the model. `struct way` can leave steps out.
 */
#ifndef TENSOR_SUM_H
#define TENSOR_SUM_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { STEP_MAX = 16, BITS = 24 };

/* The parts: how many bits of an f32 they lack, and k of an instruction. */
struct format {
    int lacks, step;
    /* An instruction rounds both parts, ties to even. Otherwise integers round the high
     * part, ties away from 0, and tensor cores cut the low part off. */
    bool converted;
};

struct way {
    const struct format *format;
    int64_t depth;   /* elements of k between two promotions */
    int together;    /* products that are added at once: a step's, or fewer */
    bool cut_parts;  /* high parts are cut off instead of rounded */
    bool drop_cross; /* one of the products with a low part is left out */
};

static inline float part_of(float x, const struct format *f, bool cut) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    const uint32_t half = UINT32_C(1) << (f->lacks - 1);
    bits += cut ? 0 : f->converted ? half - 1 + (bits >> f->lacks & 1) : half;
    bits &= ~(2 * half - 1);
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
    for (int i = 0; i < w->format->step; i += w->together)
        sum = add_products(sum, a + i, b + i, w->together);
    return sum;
}

static inline void split_into(float *high, float *low, float x, const struct way *w) {
    *high = part_of(x, w->format, w->cut_parts);
    *low = part_of(x - *high, w->format, !w->format->converted);
}

/* The sum of n products, n at most a step. */
static inline double add_split(double sum, const float *a, const float *b, int64_t n,
                               const struct way *w) {
    float high_a[STEP_MAX] = {0}, low_a[STEP_MAX] = {0};
    float high_b[STEP_MAX] = {0}, low_b[STEP_MAX] = {0};
    for (int64_t i = 0; i < n; i++) {
        split_into(&high_a[i], &low_a[i], a[i], w);
        split_into(&high_b[i], &low_b[i], b[i], w);
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
    const int64_t step = w->format->step;
    for (int64_t i = 0; i < k; i += step) {
        sum = add_split(sum, a + i, b + i, k - i < step ? k - i : step, w);
        if ((i + step) % w->depth == 0 || i + step >= k) {
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
