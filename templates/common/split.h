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
/* The parts' bits. High is the tf32 number nearest to x: of two equally near, the larger
 * one. The difference is exact. Tensor cores do not look at the last 13 bits of a part, so
 * they cut it to low. A NaN has a NaN for low. */
GT_INLINE void gt_split(unsigned *high, unsigned *low, unsigned x) {
    *high = (x + 0x1000u) & 0xffffe000u;
    *low = __float_as_uint(__uint_as_float(x) - __uint_as_float(*high));
}

GT_INLINE int gt_split_finite(float x) {
    return (__float_as_uint(x) & 0x7f800000u) != 0x7f800000u;
}

/* Tensor cores see what the calling thread stored to shared memory before this. */
GT_INLINE void gt_split_fence(void) {
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

/* Arrives at a barrier of `threads` threads, whole warps, without waiting. */
GT_INLINE void gt_split_arrive(int id, int threads) {
    asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/*
 * GT_SPLIT_WGMMA(name, n, adds) defines, with warpgroups.h,
 *
 *     void name(gt_acc *sums, const unsigned *x, unsigned long long y)
 *
 * which starts sums += X Y of tf32 parts, or sums = X Y where `adds` is 0. X is 64 rows x 8
 * of k in registers, where each of four warps has 16 rows as for mma.sync; y describes n
 * columns in shared memory, along k. x must keep its values until the product has been
 * waited for.
 */
#define GT_SPLIT_ROWS_32 "{%18, %19, %20, %21}"
#define GT_SPLIT_ROWS_64 "{%34, %35, %36, %37}"
#define GT_SPLIT_ROWS_128 "{%66, %67, %68, %69}"
#define GT_SPLIT_WGMMA_(name, n, adds)                                                     \
    GT_INLINE void name(gt_acc *sums, const unsigned *x, unsigned long long y) {           \
        unsigned long long unused = 0;                                                     \
        asm volatile("wgmma.mma_async.sync.aligned.m64n" #n "k8.f32.tf32.tf32 "            \
                     "{" GT_SUM_NAMES_##n "}, " GT_SPLIT_ROWS_##n ", %0, " #adds           \
                     ", 1, 1;"                                                             \
                     : "+l"(y), "+l"(unused), GT_SUMS_##n                                  \
                     : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]));                        \
    }
#define GT_SPLIT_WGMMA(name, n, adds) GT_SPLIT_WGMMA_(name, n, adds)
#endif
