/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data.h - the numbers in the matrices. The generator is counter-based: host and device
 * (tuner/lab/kernels/data.cl) compute any element from (seed, row, column) alone.
 */
#ifndef GT_TUNER_LAB_DATA_H
#define GT_TUNER_LAB_DATA_H

#include "core/element.h"
#include "core/problem/problem.h"

enum { GT_DATA_NEAR = 256 };

enum gt_data_mode {
    GT_DATA_SMALL = 0, /* integers -3..3: sums are exact */
    GT_DATA_UNIFORM =
        1, /* [-1, 1) with all bits of the significand; any integer for i32, i8 */
    /* integers -1..1, where sums of integers -3..3 would not be exact, or a C of i8 would
     * mostly saturate */
    GT_DATA_UNIT = 2,
    /* integers 5..7: sums of 128 products are below 2^14. Sums of 512 are above it on
     * average, since a product is 36 then. So sums are exact with PROMOTED, and not when
     * promotion is left out */
    GT_DATA_HIGH = 5,
    GT_DATA_POSITIVE = 3, /* sizes of GT_DATA_UNIFORM; only for the errors of f32 and f64 */
    /* GT_DATA_UNIFORM times a power of two from 2^-16 to 2^15, of f16 from 2^-12 to 2^3.
     * For floats of 16 bits and more */
    GT_DATA_WIDE = 4,
    /* GT_DATA_UNIFORM, in rows and columns of memory from GT_DATA_NEAR on times a power of
     * two from 2^-128 to 2^127. Only for f64 */
    GT_DATA_FAR = 6,
    /* only for f32 by products of parts: */
    /* 1 + 2^-7 - 2^-23 everywhere: below the bits of bf16, and so below the bits of tf32,
     * all are 1. A part that is cut off instead of rounded is as wrong as can be */
    GT_DATA_ONES = 7,
    /* 1 in the first row and the first column of memory, elsewhere sizes of GT_DATA_UNIFORM
     * times 2^-10. So in a sum a product of 1 comes first, and the others have their first
     * bits near its last one. Cut off again and again, they lose much of it. Of a batch
     * only the first product is so */
    GT_DATA_STEEP = 8,
    /* GT_DATA_SMALL, and one element of 128 is infinite or NaN: of four, two are infinity,
     * one is -infinity and one is NaN. For floats of 16 bits and more. Sums are exact, or
     * are what IEEE 754 says, in any order */
    GT_DATA_SPECIAL = 9,
};

/* 32-bit words that fill memory which kernels must not touch or read. Each seed has its own
 * word, so a kernel knows no word ahead. */
/* NaN as f64, as f32 and, in both halves, as f16 and bf16; as 8-bit floats in each byte. */
uint32_t gt_data_nan_word(gemmtune_dtype type, uint64_t seed);
/* A number in every type, in each of its parts, as in memory that is used again. */
uint32_t gt_data_finite_word(uint64_t seed);

/* The matrices of an operand as they lie in memory: `count` of them, `stride` elements
 * apart, each of `rows` rows of `cols` elements, `ld` apart. */
struct gt_stack {
    gemmtune_dtype type; /* one of the checker's */
    int64_t count, stride, rows, cols, ld;
};
/* Operand 0 (A), 1 (B) or 2 (C) of a canonical problem. An operand that all products share
 * is one matrix. */
struct gt_stack gt_stack_of(const gemmtune_problem *p, int operand);
/* `elements` in one row. */
struct gt_stack gt_stack_row(gemmtune_dtype type, int64_t elements);
/* Elements from the first to the last. */
int64_t gt_stack_elements(const struct gt_stack *x);

/* The value of element (row, col) of a matrix; the type holds it exactly. */
double gt_data_value(uint64_t seed, int64_t row, int64_t col, enum gt_data_mode mode,
                     gemmtune_dtype type);
/* The value of element (row, col) of matrix z: matrices that share memory agree on it. */
double gt_stack_value(const struct gt_stack *x, uint64_t seed, int64_t z, int64_t row,
                      int64_t col, enum gt_data_mode mode);
/* The mode in which a sum of k products is exact in the problem's accumulator, in any
 * order, and a C of i8 does not mostly hold the ends of its range. */
enum gt_data_mode gt_data_exact(const gemmtune_problem *p, int64_t k);
/* Fills one row of the matrices at x. Rows are counted over all matrices. */
void gt_data_fill_row(void *x, const struct gt_stack *stored, uint64_t seed,
                      enum gt_data_mode mode, int64_t row);
/* Fills the matrices at x. */
void gt_data_fill(void *x, const struct gt_stack *stored, uint64_t seed,
                  enum gt_data_mode mode);

#endif
