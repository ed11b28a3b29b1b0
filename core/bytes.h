/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bytes.h - sums and products of sizes in bytes, at most INT64_MAX: one matrix may have
 * 2^62 bytes, and a product with its reference several times as many. No size is negative.
 */
#ifndef GT_CORE_BYTES_H
#define GT_CORE_BYTES_H

#include <stdint.h>

static inline int64_t gt_bytes_sum(int64_t x, int64_t y) {
    int64_t bytes;
    return __builtin_add_overflow(x, y, &bytes) ? INT64_MAX : bytes;
}

static inline int64_t gt_bytes_product(int64_t x, int64_t y) {
    int64_t bytes;
    return __builtin_mul_overflow(x, y, &bytes) ? INT64_MAX : bytes;
}

#endif
