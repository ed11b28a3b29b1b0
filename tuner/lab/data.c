/* SPDX-License-Identifier: Apache-2.0 */
/* data.c - see data.h. The arithmetic mirrors gt_bits_at and gt_datum in
 * tuner/lab/kernels/data.cl. */
#include "tuner/lab/data.h"

#include "core/mix.h"

#include <math.h>

/* gt_mix over a Weyl sequence of row and column. */
static uint64_t mix(uint64_t seed, int64_t row, int64_t col) {
    return gt_mix(seed + (uint64_t)row * GT_MIX_STEP +
                  (uint64_t)col * UINT64_C(0xd1b54a32d192ed03));
}

/* For floats, the upper bits are a number in steps of 2^(1 - bits). */
static double uniform(uint64_t z, gemmtune_dtype type) {
    const int bits = gt_type_bits(type), size = (int)gt_type_size(type);
    if (bits > 0)
        return (double)((int64_t)(z >> (64 - bits)) - (INT64_C(1) << (bits - 1))) *
               (2 * gt_type_unit(type));
    return size == 1 ? (double)(int8_t)(uint8_t)(z >> 56)
                     : (double)(int32_t)(uint32_t)(z >> 32);
}

/* GT_DATA_SPECIAL has this in place of some numbers. */
static double special(uint64_t z) {
    static const double which[] = {INFINITY, INFINITY, -INFINITY, NAN};
    return which[z >> 7 & 3];
}

double gt_data_value(uint64_t seed, int64_t row, int64_t col, enum gt_data_mode mode,
                     gemmtune_dtype type) {
    const uint64_t z = mix(seed, row, col);
    switch (mode) {
    case GT_DATA_SMALL:
        return (double)(int)((z >> 32) % 7) - 3;
    case GT_DATA_UNIT:
        return (double)(int)((z >> 32) % 3) - 1;
    case GT_DATA_HIGH:
        return (double)(int)((z >> 32) % 3) + 5;
    case GT_DATA_POSITIVE:
        return fabs(uniform(z, type));
    case GT_DATA_WIDE:
        return ldexp(uniform(z, type),
                     type == GEMMTUNE_F16 ? (int)(z & 15) - 12 : (int)(z & 31) - 16);
    case GT_DATA_SPECIAL:
        return (z & 127) > 0 ? (double)(int)((z >> 32) % 7) - 3 : special(z);
    case GT_DATA_ONES:
        return 0x1.01fffep0;
    case GT_DATA_STEEP:
        return row == 0 || col == 0 ? 1 : fabs(uniform(z, type)) * 0x1p-10;
    case GT_DATA_FAR:
        return ldexp(uniform(z, type),
                     row < GT_DATA_NEAR && col < GT_DATA_NEAR ? 0 : (int)(z & 255) - 128);
    default:
        return uniform(z, type);
    }
}

uint32_t gt_data_nan_word(gemmtune_dtype type, uint64_t seed) {
    const uint32_t by_chance = (uint32_t)gt_mix(seed);
    return gt_type_is_float(type) && gt_type_size(type) == 1
               ? UINT32_C(0x7f7f7f7f) | (by_chance & UINT32_C(0x80808080))
               : UINT32_C(0x7ff07ff0) | (by_chance & UINT32_C(0x800f800f));
}

/* Each byte is 3x or bx in hexadecimal digits: the exponent of no type is all ones. */
uint32_t gt_data_finite_word(uint64_t seed) {
    return UINT32_C(0x30303030) | ((uint32_t)gt_mix(seed) & UINT32_C(0x8f8f8f8f));
}

/* Whether sums of k products of elements up to `largest` are exact in numbers of this unit.
 * beta C is one element more. In exact cases alpha and beta are multiples of 1/2 and at
 * most 2 in size; three more bits are enough for them. */
static bool fits(int largest, int64_t k, double unit) {
    return unit == 0 || 8.0 * largest * largest * ((double)k + 1) <= 1 / unit;
}

enum gt_data_mode gt_data_exact(const gemmtune_problem *p, int64_t k) {
    const bool promoted = p->math == GEMMTUNE_MATH_PROMOTED;
    /* With PROMOTED sums of 128 products are exact in all modes. */
    const double unit = promoted ? gt_type_unit(p->type_acc) : gt_sum_unit(p);
    const bool holds_high = p->type_c != GEMMTUNE_F16; /* f16 ends at 65504 */
    if (promoted && holds_high && k >= 1024 && fits(7, k, unit))
        return GT_DATA_HIGH;
    /* Of sums of smaller elements fewer saturate, which would hide what they are. */
    const bool saturates = p->type_c == GEMMTUNE_I8 && k > 8;
    return fits(3, k, unit) && !saturates ? GT_DATA_SMALL : GT_DATA_UNIT;
}

double gt_stack_value(const struct gt_stack *x, uint64_t seed, int64_t z, int64_t row,
                      int64_t col, enum gt_data_mode mode) {
    const int64_t at = (x->count > 1 ? z * x->stride : 0) + row * x->ld + col;
    return gt_data_value(seed, at / x->ld, at % x->ld, mode, x->type);
}

struct gt_stack gt_stack_of(const gemmtune_problem *p, int operand) {
    const struct gt_shape shape[3] = {gt_problem_shape_a(p), gt_problem_shape_b(p),
                                      gt_problem_shape_c(p)};
    const gemmtune_dtype type[3] = {p->type_a, p->type_b, p->type_c};
    const int64_t ld[3] = {p->lda, p->ldb, p->ldc};
    const int64_t outputs = gt_problem_outputs(p), count[3] = {outputs, p->batch, outputs};
    const int64_t stride[3] = {p->stride_a, p->stride_b, p->stride_c};
    return (struct gt_stack){.type = type[operand],
                             .count = stride[operand] == 0 ? 1 : count[operand],
                             .stride = stride[operand],
                             .rows = shape[operand].rows,
                             .cols = shape[operand].cols,
                             .ld = ld[operand]};
}

struct gt_stack gt_stack_row(gemmtune_dtype type, int64_t elements) {
    return (struct gt_stack){
        .type = type, .count = 1, .rows = 1, .cols = elements, .ld = elements};
}

int64_t gt_stack_elements(const struct gt_stack *x) {
    return x->rows == 0 || x->cols == 0
               ? 0
               : (x->count - 1) * x->stride + (x->rows - 1) * x->ld + x->cols;
}

void gt_data_fill_row(void *x, const struct gt_stack *stored, uint64_t seed,
                      enum gt_data_mode mode, int64_t row) {
    enum { BLOCK = 64 }; /* elements that are written together */
    const size_t size = gt_type_size(stored->type);
    const int64_t z = row / stored->rows, i = row % stored->rows;
    const int64_t at = z * stored->stride + i * stored->ld;
    double value[BLOCK];
    for (int64_t j = 0; j < stored->cols; j += BLOCK) {
        const int64_t left = stored->cols - j, count = left < BLOCK ? left : BLOCK;
        for (int64_t b = 0; b < count; b++)
            value[b] = gt_stack_value(stored, seed, z, i, j + b, mode);
        gt_elements_put((char *)x + (size_t)(at + j) * size, stored->type, value, count);
    }
}

void gt_data_fill(void *x, const struct gt_stack *stored, uint64_t seed,
                  enum gt_data_mode mode) {
    for (int64_t row = 0; row < stored->count * stored->rows; row++)
        gt_data_fill_row(x, stored, seed, mode, row);
}
