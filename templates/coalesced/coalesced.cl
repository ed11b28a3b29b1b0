/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coalesced - straight from global memory, in loads that suit a memory controller: the
 * lanes of a warp read neighbouring elements, as vectors. Each thread computes a small
 * patch of C, so that each loaded element is used more than once. No shared memory.
 *
 * C[m,n] = alpha op(A) op(B) + beta C, row-major.
 *
 *                   n ->
 *             +--------------+     A thread owns EM rows x EN columns of C. Lanes run along
 *         k   |  [EN][EN]..  |     a row of C: each loads EN adjacent elements of a row of
 *             +--------------+     B, and the EM elements of A are the same for the warp.
 *      k ->
 *     +-----+ +--------------+     Stored transposed, an operand is contiguous the other
 *   m | EM  | |  [EN x EM]   |     way: B (n x k) is read KU elements of k at a time, A
 *     |     | |              |     (k x m) EM elements of m. When both are, lanes run down
 *     +-----+ +--------------+     a column of C, where A is contiguous.
 *
 * EN  columns a thread      BX  threads along the lanes' direction
 * EM  rows a thread         BY  threads across that direction
 * KU  steps of k in a turn of the loop, and vector width of loads along k
 *
 * gemmtune trial f32-nn-1024x1024x1024 --family coalesced
 *     --point "BX=32 BY=8 EN=4 EM=4 KU=4"
 */

enum {
    EN = GT_EN, EM = GT_EM, KU = GT_KU,
    VM = GT_MIN(EM, 4) /* widest move along m */
};

/* One turn of the loop for a complete patch and KU complete steps. a and b point to the
 * patch's first element at this turn's first k. */
GT_INLINE void turn(gt_acc acc[EM * EN], const GT_GLOBAL gt_ab *a, gt_long lda,
                    const GT_GLOBAL gt_ab *b, gt_long ldb) {
    gt_ab fa[EM * KU], fb[KU * EN]; /* [i][u] or, transposed, [u][i]; [u][j] or [j][u] */

    if (GT_TA) {
        GT_UNROLL
        for (int u = 0; u < KU; u++)
            GT_UNROLL
            for (int i = 0; i < EM; i += VM)
                gt_load_global(VM, fa + u * EM + i, a + u * lda + i);
    } else {
        GT_UNROLL
        for (int i = 0; i < EM; i++)
            gt_load_global(KU, fa + i * KU, a + i * lda);
    }
    if (GT_TB) {
        GT_UNROLL
        for (int j = 0; j < EN; j++)
            gt_load_global(KU, fb + j * KU, b + j * ldb);
    } else {
        GT_UNROLL
        for (int u = 0; u < KU; u++)
            gt_load_global(EN, fb + u * EN, b + u * ldb);
    }
    GT_UNROLL
    for (int u = 0; u < KU; u++)
        GT_UNROLL
        for (int i = 0; i < EM; i++)
            GT_UNROLL
            for (int j = 0; j < EN; j++)
                acc[i * EN + j] =
                    gt_multiply_add(fa[GT_TA ? u * EM + i : i * KU + u],
                                    fb[GT_TB ? j * KU + u : u * EN + j],
                                    acc[i * EN + j]);
}

GT_KERNEL(gemm, GT_BX, GT_BY, 1)(GT_PARAMS) {
    GT_PRODUCT();
    const int tiles_n = (n - 1) / GT_COLUMNS + 1;
    const int row0 = GT_BLOCK / tiles_n * GT_ROWS, col0 = GT_BLOCK % tiles_n * GT_COLUMNS;
    const int i0 = EM * (GT_DOWN ? GT_THREAD_X : GT_THREAD_Y);
    const int j0 = EN * (GT_DOWN ? GT_THREAD_Y : GT_THREAD_X);
    const int rows = m - row0 - i0, cols = n - col0 - j0; /* of C, to its edges */
    const gt_long step_a = GT_TA ? lda : 1, step_b = GT_TB ? 1 : ldb; /* one k */
    const gt_long next_a = GT_TA ? 1 : lda, next_b = GT_TB ? ldb : 1; /* a row, a column */

    if (rows > 0 && cols > 0) {
        const gt_long row = (gt_long)row0 + i0, col = (gt_long)col0 + j0;
        gt_acc acc[EM * EN];
        int left = alpha == (gt_acc)0 ? 0 : k;

        GT_UNROLL
        for (int e = 0; e < EM * EN; e++)
            acc[e] = 0;
        a += row * next_a;
        b += col * next_b;
        if (rows >= EM && cols >= EN) {
            GT_UNROLL_BY(1) /* KU is the unrolling */
            for (; left >= KU; left -= KU) {
                turn(acc, a, lda, b, ldb);
                a += KU * step_a;
                b += KU * step_b;
            }
        }
        /* The last steps of k, and patches over the edge: element by element. Rows and
         * columns past the edge repeat the last one that exists, and are not stored. */
        GT_UNROLL_BY(1)
        for (; left > 0; left--) {
            gt_ab fb[EN];
            GT_UNROLL
            for (int j = 0; j < EN; j++)
                fb[j] = b[GT_MIN(j, cols - 1) * next_b];
            GT_UNROLL
            for (int i = 0; i < EM; i++) {
                const gt_ab fa = a[GT_MIN(i, rows - 1) * next_a];
                GT_UNROLL
                for (int j = 0; j < EN; j++)
                    acc[i * EN + j] = gt_multiply_add(fa, fb[j], acc[i * EN + j]);
            }
            a += step_a;
            b += step_b;
        }
        c += row * ldc + col;
        const int inside = rows >= EM && cols >= EN && gt_aligned(EN, c, ldc);
        GT_UNROLL
        for (int i = 0; i < EM; i++) {
            const int end = i < rows ? cols : 0;
            gt_c old[EN];
            gt_load_c(EN, old, c + i * ldc, beta, inside, 0, end);
            gt_store_row(EN, c + i * ldc, alpha, acc + i * EN, beta, old, inside, 0,
                         end GT_PLACE(row + i, col));
        }
    }
}
