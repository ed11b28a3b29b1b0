/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data.h - the numbers in the matrices. A counter-based generator: any element can be had
 * from (seed, row, column) alone, on the host and on the device
 * (tuner/lab/kernels/check.cl) alike.
 */
#ifndef GT_TUNER_LAB_DATA_H
#define GT_TUNER_LAB_DATA_H

#include "core/dtype.h"

enum gt_data_mode {
    GT_DATA_SMALL = 0,   /* integers -3..3: sums are exact */
    GT_DATA_UNIFORM = 1, /* [-1, 1) with a full mantissa; any 32 bits for i32 */
    GT_DATA_UNIT = 2,    /* integers -1..1, where even small ones would not sum exactly */
};

/* The 32-bit words that fill what no kernel may touch or read. NaN as f32 and as f64. C has
 * one of its own: a sum over what lies past the end of A keeps A's word, and would not show
 * in C. So has the workspace, which a kernel may read only where it has written. */
#define GT_POISON   UINT32_C(0xfff1a5c3)
#define GT_POISON_C UINT32_C(0xfff5b6d2)
#define GT_POISON_W UINT32_C(0xfff9c7e1)

/* Element (row, col); i32 as its value, exact in a double. */
double gt_data_value(uint64_t seed, int64_t row, int64_t col, enum gt_data_mode mode,
                     gemmtune_dtype type);
/* The mode whose sums of k products are exact in the type. */
enum gt_data_mode gt_data_exact(gemmtune_dtype type, int64_t k);
/* One element at p, converted from a double. */
void gt_data_put(void *p, gemmtune_dtype type, double value);
double gt_data_get(const void *p, gemmtune_dtype type);
/* rows x cols elements with leading dimension ld. */
void gt_data_fill(void *x, gemmtune_dtype type, int64_t rows, int64_t cols, int64_t ld,
                  uint64_t seed, enum gt_data_mode mode);

#endif
