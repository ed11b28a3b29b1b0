/* SPDX-License-Identifier: Apache-2.0 */
/* types.h - types of cuBLAS's and gemmtune's. Every call asks for some, so the functions
 * are inline. */
#ifndef GT_SHIM_TYPES_H
#define GT_SHIM_TYPES_H

#include "include/gemmtune.h"
#include "shim/blas.h"

#include <stdbool.h>

enum { GT_SHIM_TYPE_COUNT = 8, GT_SHIM_THEIR_TYPES = 32 };

/* The type of ours with the number of theirs; -1: there is none. */
static inline int gt_shim_type(unsigned theirs) {
    static const int8_t types[GT_SHIM_THEIR_TYPES] = {
        [GT_SHIM_R_32F] = 1 + GEMMTUNE_F32,   [GT_SHIM_R_64F] = 1 + GEMMTUNE_F64,
        [GT_SHIM_R_16F] = 1 + GEMMTUNE_F16,   [GT_SHIM_R_16BF] = 1 + GEMMTUNE_BF16,
        [GT_SHIM_R_E4M3] = 1 + GEMMTUNE_E4M3, [GT_SHIM_R_E5M2] = 1 + GEMMTUNE_E5M2,
        [GT_SHIM_R_8I] = 1 + GEMMTUNE_I8,     [GT_SHIM_R_32I] = 1 + GEMMTUNE_I32,
    };
    return theirs < GT_SHIM_THEIR_TYPES ? types[theirs] - 1 : -1;
}

/* Whether a scalar in host memory is 0; `type` is F32, F64 or I32. */
static inline bool gt_shim_is_zero(const void *scalar, int type) {
    union {
        float f32;
        double f64;
        int32_t i32;
    } value;
    if (type == GEMMTUNE_F64) {
        __builtin_memcpy(&value.f64, scalar, sizeof value.f64);
        return value.f64 == 0;
    }
    __builtin_memcpy(&value.i32, scalar, sizeof value.i32);
    return type == GEMMTUNE_I32 ? value.i32 == 0 : value.f32 == 0;
}

#endif
