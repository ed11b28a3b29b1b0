/* SPDX-License-Identifier: Apache-2.0 */
/*
 * split.h - f32 numbers as sums of two tf32 numbers, for products of f32 on tensor cores
 * (CUDA, sm_80 and later). docs/split.md derives the error.
 *
 *     x = high + low + rest,   |low| <= 2^-11 |x|,   |rest| <= 2^-23 |x|
 *     x y is about low(x) high(y) + high(x) low(y) + high(x) high(y)
 *
 * Tensor cores cut bits off the sum of every instruction, towards zero. So a sum of theirs
 * may run over GT_SPLIT_DEPTH of k at most. It is then added to an f32 that ordinary cores
 * round to nearest.
 *
 * The parts of an infinity are an infinity and a NaN, and a number that is nearly as large
 * may have such parts too. A sum that is not finite is therefore computed again without
 * parts (gt_split_finite).
 */
#define GT_SPLIT_DEPTH 32 /* of k: the accuracy of f32@split. core/dtype.h has it too */

#if !GT_OPENCL
/* The tf32 number nearest to x: of two equally near, the larger one. A NaN stays one. */
GT_INLINE unsigned gt_split_nearest(float x) {
    unsigned part = 0;
#if __CUDA_ARCH__ >= 800
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(part) : "f"(x));
#endif
    return part;
}

/* The difference is exact. */
GT_INLINE void gt_split(unsigned *high, unsigned *low, unsigned x) {
    *high = gt_split_nearest(__uint_as_float(x));
    *low = gt_split_nearest(__uint_as_float(x) - __uint_as_float(*high));
}

GT_INLINE int gt_split_finite(float x) {
    return (__float_as_uint(x) & 0x7f800000u) != 0x7f800000u;
}
#endif
