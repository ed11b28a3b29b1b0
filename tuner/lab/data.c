/* SPDX-License-Identifier: Apache-2.0 */
/* data.c - see data.h. The arithmetic mirrors gt_mix and gt_datum in
 * tuner/lab/kernels/check.cl. */
#include "tuner/lab/data.h"

#include <string.h>

/* splitmix64's finalizer (Steele, Lea, Flood 2014) over a Weyl sequence of row and column.
 */
static uint64_t mix(uint64_t seed, int64_t row, int64_t col) {
    uint64_t z = seed + (uint64_t)row * UINT64_C(0x9e3779b97f4a7c15) +
                 (uint64_t)col * UINT64_C(0xd1b54a32d192ed03);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static double uniform(uint64_t z, gemmtune_dtype type) {
    switch (type) {
    case GEMMTUNE_F64:
        return (double)((int64_t)(z >> 11) - (INT64_C(1) << 52)) * 0x1p-52;
    case GEMMTUNE_I32:
        return (double)(int32_t)(uint32_t)(z >> 32);
    default:
        return (double)((int64_t)(z >> 40) - (INT64_C(1) << 23)) * 0x1p-23;
    }
}

double gt_data_value(uint64_t seed, int64_t row, int64_t col, enum gt_data_mode mode,
                     gemmtune_dtype type) {
    const uint64_t z = mix(seed, row, col);
    switch (mode) {
    case GT_DATA_SMALL:
        return (double)(int)((z >> 32) % 7) - 3;
    case GT_DATA_UNIT:
        return (double)(int)((z >> 32) % 3) - 1;
    default:
        return uniform(z, type);
    }
}

enum gt_data_mode gt_data_exact(gemmtune_dtype type, int64_t k) {
    /* 9 k + 9 < 2^24 keeps every partial sum of -3..3 products exact in f32; alpha and beta
     * of the exact cases are 1 and 2 in size, which three bits cover. */
    const int64_t limit = type == GEMMTUNE_F32 ? (INT64_C(1) << 21) / 9 - 1 : INT64_MAX;
    return k <= limit ? GT_DATA_SMALL : GT_DATA_UNIT;
}

void gt_data_put(void *p, gemmtune_dtype type, double value) {
    const float f = (float)value;
    const int32_t i = type == GEMMTUNE_I32 ? (int32_t)value : 0;
    switch (type) {
    case GEMMTUNE_F64:
        memcpy(p, &value, sizeof value);
        break;
    case GEMMTUNE_I32:
        memcpy(p, &i, sizeof i);
        break;
    default:
        memcpy(p, &f, sizeof f);
        break;
    }
}

double gt_data_get(const void *p, gemmtune_dtype type) {
    double d;
    float f;
    int32_t i;
    switch (type) {
    case GEMMTUNE_F64:
        memcpy(&d, p, sizeof d);
        return d;
    case GEMMTUNE_I32:
        memcpy(&i, p, sizeof i);
        return i;
    default:
        memcpy(&f, p, sizeof f);
        return (double)f;
    }
}

void gt_data_fill(void *x, gemmtune_dtype type, int64_t rows, int64_t cols, int64_t ld,
                  uint64_t seed, enum gt_data_mode mode) {
    const size_t size = gt_type_size(type);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            gt_data_put((char *)x + (size_t)(i * ld + j) * size, type,
                        gt_data_value(seed, i, j, mode, type));
}
