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

enum { STEP_MAX = 16, BITS = 24, SLAB = 32 };

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
    int extra;       /* bits of addends that are kept beyond the bits of an f32 */
    bool spread;     /* neighbours of k belong to different steps of a slab */
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

/* sum + a[0] b[0] + ... + a[n - 1] b[n - 1]: addends are cut `extra` bits after the last
 * bit of the largest one, the result is cut to 24 bits. */
static inline double add_products(double sum, const float *a, const float *b, int n,
                                  int extra) {
    int most = exponent_of(sum);
    for (int i = 0; i < n; i++) {
        const int e = exponent_of((double)a[i] * (double)b[i]);
        most = e > most ? e : most;
    }
    const int last = most - BITS - extra;
    double all = cut_below(sum, last);
    for (int i = 0; i < n; i++)
        all += cut_below((double)a[i] * (double)b[i], last);
    return cut_below(all, exponent_of(all) - BITS);
}

static inline double add_step(double sum, const float *a, const float *b,
                              const struct way *w) {
    for (int i = 0; i < w->format->step; i += w->together)
        sum = add_products(sum, a + i, b + i, w->together, w->extra);
    return sum;
}

static inline void split_into(float *high, float *low, float x, const struct way *w) {
    *high = part_of(x, w->format, w->cut_parts);
    *low = part_of(x - *high, w->format, !w->format->converted);
}

/* Product number 0, 1 or 2 of a step's parts, added to the sum: small ones come first. */
static inline double add_part(double sum, int number, const float *a, const float *b,
                              const struct way *w) {
    float high_a[STEP_MAX] = {0}, low_a[STEP_MAX] = {0};
    float high_b[STEP_MAX] = {0}, low_b[STEP_MAX] = {0};
    for (int i = 0; i < w->format->step; i++) {
        split_into(&high_a[i], &low_a[i], a[i], w);
        split_into(&high_b[i], &low_b[i], b[i], w);
    }
    return add_step(sum, number == 0 ? low_a : high_a, number == 1 ? low_b : high_b, w);
}

/* The sum and the products of a step. */
static inline double add_split(double sum, const float *a, const float *b,
                               const struct way *w) {
    for (int number = w->drop_cross; number < 3; number++)
        sum = add_part(sum, number, a, b, w);
    return sum;
}

/* The element of k that has place i in the steps. */
static inline int64_t element_at(int64_t i, const struct way *w) {
    const int64_t steps = SLAB / w->format->step, in = i % SLAB;
    return w->spread ? i - in + in % w->format->step * steps + in / w->format->step : i;
}

static inline float split_dot(const float *a, const float *b, int64_t k,
                              const struct way *w) {
    float total = 0;
    double sum = 0;
    const int64_t step = w->format->step,
                  end = w->spread ? (k + SLAB - 1) / SLAB * SLAB : k;
    for (int64_t i = 0; i < end; i += step) {
        float x[STEP_MAX] = {0}, y[STEP_MAX] = {0};
        for (int64_t j = 0; j < step; j++) {
            const int64_t at = element_at(i + j, w);
            x[j] = at < k ? a[at] : 0;
            y[j] = at < k ? b[at] : 0;
        }
        sum = add_split(sum, x, y, w);
        if ((i + step) % w->depth == 0 || i + step >= end) {
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
