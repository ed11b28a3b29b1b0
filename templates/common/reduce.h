/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduce.h - the second kernel of a product whose k is split among blocks.
 *
 * Integer macros of a part are names of space.json too, without GT_: the launch of the
 * kernel uses the same numbers as its code.
 */
#define GT_REDUCE_THREADS 256
#define GT_REDUCE_EACH 4 /* neighbouring elements of C that one thread adds up */

/* Whether GT_REDUCE_KERNEL has work for at most 16 blocks. So few blocks can wait beside
 * the first kernel. Measured: docs/performance.md. */
#define GT_FEW_SUMS(m, n, lanes) ((gt_long)(m) * (n) <= 16 * GT_REDUCE_EACH * (lanes))

/* Adds elements 0 to 3 of the parts `first`, first + step, ... of `parts` to sum. Parts lie
 * `stride` apart. `whole`: all four elements exist and are aligned to 16 bytes; otherwise
 * `left` of them exist. */
GT_INLINE void gt_add_parts(gt_acc *sum, const GT_GLOBAL gt_acc *at, gt_long stride,
                            int first, int parts, int step, int whole, int left) {
    GT_UNROLL
    for (int i = 0; i < GT_CDIV(parts, step); i++) {
        const int z = first + i * step;
        gt_acc more[GT_REDUCE_EACH] = {0, 0, 0, 0};
        if (whole && z < parts)
            gt_load_global_acc(GT_REDUCE_EACH, more, at + z * stride);
        GT_UNROLL
        for (int j = 0; j < GT_REDUCE_EACH && !whole; j++)
            if (j < left && z < parts)
                more[j] = at[z * stride + j];
        GT_UNROLL
        for (int j = 0; j < GT_REDUCE_EACH; j++)
            sum[j] += more[j];
    }
}

/*
 * The first kernel's blocks have left their sums of products, gt_acc [splits][m][n], at
 * `sums`, a pointer into `workspace`. This kernel adds them in a fixed order, so the result
 * does not depend on which block was first. A block takes REDUCE_EACH * `lanes` elements of
 * C. Each thread adds about `splits` * `lanes` / REDUCE_THREADS parts of REDUCE_EACH
 * elements. Choose `lanes` so that a thread can load all its parts at once. Launch:
 *
 *     "block": ["REDUCE_THREADS", "1", "1"],
 *     "grid": ["cdiv(M * N, REDUCE_EACH * LANES)", "1", "1"],
 *     "smem": "REDUCE_THREADS * REDUCE_EACH * sizeof(ACC)"
 */
#define GT_REDUCE_KERNEL(name, splits, lanes, sums)                                        \
    GT_KERNEL(name, GT_REDUCE_THREADS, 1, 1)(GT_PARAMS) {                                  \
        GT_SHARED_ARRAY(gt_acc, part_sums, GT_REDUCE_THREADS *GT_REDUCE_EACH);             \
        GT_FOLLOW();                                                                       \
        GT_PRODUCT();                                                                      \
        enum { WIDE = GT_REDUCE_EACH * (lanes), PARTS = GT_REDUCE_THREADS / (lanes) };     \
        const int lane = GT_THREAD_X % (lanes), part = GT_THREAD_X / (lanes);              \
        const gt_long all = (gt_long)m * n, first = GT_BLOCK * (gt_long)WIDE;              \
        const int count = (int)GT_MIN(all - first, WIDE);                                  \
        const int left = count - lane * GT_REDUCE_EACH;                                    \
        const GT_GLOBAL gt_acc *const at = (sums) + first + lane * GT_REDUCE_EACH;         \
        gt_acc sum[GT_REDUCE_EACH] = {0, 0, 0, 0};                                         \
        if (all % GT_REDUCE_EACH != 0)                                                     \
            gt_add_parts(sum, at, all, part, splits, PARTS, 0, left);                      \
        else if (left > 0)                                                                 \
            gt_add_parts(sum, at, all, part, splits, PARTS, 1, left);                      \
        gt_store_shared_acc(GT_REDUCE_EACH, part_sums + GT_THREAD_X * GT_REDUCE_EACH, sum);\
        GT_BARRIER();                                                                      \
        for (int e = GT_THREAD_X; e < count; e += GT_REDUCE_THREADS) {                     \
            gt_acc total = 0;                                                              \
            GT_UNROLL_BY(4)                                                                \
            for (int p = 0; p < PARTS; p++)                                                \
                total += part_sums[p * WIDE + e];                                          \
            const gt_long row = (first + e) / n;                                           \
            const gt_long col = first + e - row * n;                                       \
            gt_store_c(c + row * ldc + col, alpha, total, beta GT_PLACE(row, col));        \
        }                                                                                  \
    }
