/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack.h - a kernel that runs before the main one. It copies operands to the workspace with
 * k outermost and rows aligned to 16 bytes.
 *
 * Integer macros of a part are names of space.json too, without GT_.
 */
#define GT_PACK_THREADS 256
#define GT_PACK_WIDE 64 /* a block's part of an operand: along the width */
#define GT_PACK_DEEP 32 /* and along k */
#define GT_PACK_ALIGN 4 /* the length of a packed row is a multiple of this */

/* The length of a packed row. */
#define GT_PACK_ROW(count) (GT_CDIV((gt_long)(count), GT_PACK_ALIGN) * GT_PACK_ALIGN)

/*
 * Copies op(A) to [k][GT_PACK_ROW(m)] at the beginning of the workspace when pack_a is not
 * 0, and op(B) to [k][GT_PACK_ROW(n)], `b_at` elements into it, when pack_b is not 0. An
 * operand that is contiguous along k is transposed in shared memory. Launch, with PACK_A
 * and PACK_B:
 *
 *     "block": ["PACK_THREADS", "1", "1"],
 *     "grid": [the sum over the packed operands of
 *              cdiv(width, PACK_WIDE) * cdiv(K, PACK_DEEP), at least 1, "1", "1"],
 *     "smem": "PACK_WIDE * (PACK_DEEP + 1) * sizeof(A)"
 */
#define GT_PACK_KERNEL(name, pack_a, pack_b, b_at)                                         \
    GT_KERNEL(name, GT_PACK_THREADS, 1, 1)(GT_PARAMS) {                                    \
        GT_SHARED_ARRAY(gt_ab, tile, GT_PACK_WIDE *(GT_PACK_DEEP + 1));                    \
        GT_FOLLOW();                                                                       \
        GT_PRODUCT();                                                                      \
        enum { WIDE = GT_PACK_WIDE, DEEP = GT_PACK_DEEP, ALL = WIDE * DEEP, V = 4 };       \
        const int of_a = (pack_a) ? gt_cdiv(m, WIDE) * gt_cdiv(k, DEEP) : 0;               \
        const int second = (pack_b) && (!(pack_a) || GT_BLOCK >= of_a); /* B */            \
        const int turn = second ? GT_TB : !GT_TA, wide = second ? n : m;                   \
        const int block = second ? GT_BLOCK - of_a : GT_BLOCK, t = GT_THREAD_X;            \
        const int w0 = block % gt_cdiv(wide, WIDE) * WIDE;                                 \
        const int k0 = block / gt_cdiv(wide, WIDE) * DEEP;                                 \
        const gt_long ld = second ? ldb : lda, to_ld = GT_PACK_ROW(wide);                  \
        const GT_GLOBAL gt_ab *from =                                                      \
            (second ? b : a) + (turn ? w0 * ld + k0 : k0 * ld + w0);                       \
        GT_GLOBAL gt_ab *to =                                                              \
            (GT_GLOBAL gt_ab *)workspace + (second ? (b_at) : 0) + k0 * to_ld + w0;        \
        /* In the order of memory: rows of `line`, of which `high` and `left` exist. */    \
        const int line = turn ? DEEP : WIDE, high = turn ? wide - w0 : k - k0;             \
        const int left = turn ? k - k0 : wide - w0;                                        \
        gt_ab r[V];                                                                        \
        if (high >= ALL / line && left >= line && gt_aligned(V, from, ld))                 \
            for (int e = t * V; e < ALL; e += V * GT_PACK_THREADS) {                       \
                gt_load_global(V, r, from + e / line * ld + e % line);                     \
                for (int i = 0; i < V; i++)                                                \
                    tile[e / line * (line + 1) + e % line + i] = r[i];                     \
            }                                                                              \
        else                                                                               \
            for (int e = t; e < ALL; e += GT_PACK_THREADS)                                 \
                tile[e / line * (line + 1) + e % line] =                                   \
                    e / line < high && e % line < left ? from[e / line * ld + e % line]    \
                                                       : 0;                                \
        GT_BARRIER();                                                                      \
        for (int e = t * V; e < ALL; e += V * GT_PACK_THREADS) {                           \
            const int row = e / WIDE, col = e % WIDE;                                      \
            for (int i = 0; i < V; i++)                                                    \
                r[i] = tile[turn ? (col + i) * (DEEP + 1) + row                            \
                                 : row * (WIDE + 1) + col + i];                            \
            if (k0 + row < k && w0 + col < wide)                                           \
                gt_store_global(V, to + row * to_ld + col, r);                             \
        }                                                                                  \
    }
