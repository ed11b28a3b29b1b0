/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warp_tiles.h - the products of a tile of C that one warp computes by mma.sync (CUDA),
 * from fragments of f64 (doubles.h) or of 16-bit types (fragments.h). The tile of tm x tn
 * has tm / 16 rows of tn / 8 instructions' sums, four a lane.
 */
#if !GT_OPENCL && ((GT_SIZEOF_A == 8 && __CUDA_ARCH__ >= 800) ||                           \
                   (GT_SIZEOF_A == 2 && GT_SIZEOF_ACC == 4))
#if GT_SIZEOF_A == 8
typedef gt_ab gt_fragment[4];
#define GT_MULTIPLY_FRAGMENTS gt_mma_double
enum { GT_FRAGMENT_K = GT_DOUBLE_K };
#else
typedef unsigned gt_fragment[4];
#define GT_MULTIPLY_FRAGMENTS gt_mma
enum { GT_FRAGMENT_K = GT_FRAGMENT_BYTES / 2 };
#endif

/* acc += the products of all fragments of A and fragment j of B, which is y. Of the last
 * one the tile may have the first half alone. */
GT_INLINE void gt_tile_multiply(int tm, int tn, gt_acc *acc, const gt_fragment *x,
                                const gt_fragment y, int j) {
    GT_UNROLL
    for (int i = 0; i < tm / 8; i++)
        if (2 * j + i % 2 < tn / 8)
            GT_MULTIPLY_FRAGMENTS(acc + (i / 2 * (tn / 8) + 2 * j + i % 2) * 4, x[i / 2], y,
                                  i % 2);
}
#endif
