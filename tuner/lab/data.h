/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data.h - the numbers in the matrices. A counter-based generator: any element can be had
 * from (seed, row, column) alone, on the host and on the device
 * (tuner/lab/kernels/check.cl) alike.
 */
#ifndef GT_TUNER_LAB_DATA_H
#define GT_TUNER_LAB_DATA_H

#include "core/element.h"

enum gt_data_mode {
    GT_DATA_SMALL = 0, /* integers -3..3: sums are exact */
    GT_DATA_UNIFORM =
        1, /* [-1, 1) with all bits of the significand; any integer for i32, i8 */
    GT_DATA_UNIT = 2, /* integers -1..1, where even small ones would not sum exactly */
};

/* The 32-bit words that fill memory that no kernel may touch or read. They are NaN as f64,
 * as f32 and, in both halves, as f16 and bf16. C has a word of its own: a sum over memory
 * past the end of A keeps A's word, and would not show in C. So has the workspace, which a
 * kernel may read only where it has written. */
#define GT_POISON   UINT32_C(0xfff1fff3)
#define GT_POISON_C UINT32_C(0xfff5fff6)
#define GT_POISON_W UINT32_C(0xfff9ffe1)

/* Element (row, col): a value that the type holds exactly. */
double gt_data_value(uint64_t seed, int64_t row, int64_t col, enum gt_data_mode mode,
                     gemmtune_dtype type);
/* The mode whose sums of k products are exact in the accumulator's type, in any order. */
enum gt_data_mode gt_data_exact(gemmtune_dtype acc, int64_t k);
/* rows x cols elements with leading dimension ld. */
void gt_data_fill(void *x, gemmtune_dtype type, int64_t rows, int64_t cols, int64_t ld,
                  uint64_t seed, enum gt_data_mode mode);

#endif
