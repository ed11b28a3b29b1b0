/* SPDX-License-Identifier: Apache-2.0 */
/*
 * naive - one thread computes one element of C straight from global memory: no tile, no
 * shared memory, any size. Other families are compared with it, in speed and in results.
 *
 * C[m,n] = alpha op(A) op(B) + beta C, row-major: C is n wide, neighbours in memory are
 * neighbours in a row.
 *
 *              n ->            A block of threads covers a rectangle of C.
 *          +---------+         MAP 0: the lanes of a warp run DOWN a column of C, so each
 *        k |    B  | |                reads its own row of A and writes its own row of C:
 *          |       | |                a memory transaction a lane. The first rung.
 *     k    +-------|-+         MAP 1: lanes run ALONG a row of C: one row of B is read in
 *   +----+ +-------|-+                one transaction, A's element is the same for all.
 * m |  A | |    C  | |
 *   | ---+-|-------x |         x: the thread's element, the sum over k of A's row times
 *   +----+ +---------+            B's column.
 *
 * MAP  0 down a column, 1 along a row     BX  threads of a block along the lanes' direction
 * BY   threads across that direction      KU  steps of k in a turn of the loop
 *
 * gemmtune trial f32-nn-1024x1024x1024 --family naive --point "MAP=1 BX=32 BY=8 KU=4"
 */

GT_KERNEL(gemm, GT_BX, GT_BY, 1)(GT_PARAMS) {
    GT_PRODUCT();
    const int tiles_n = (n - 1) / GT_COLUMNS + 1; /* n + COLUMNS - 1 may overflow */
    const int row0 = GT_BLOCK / tiles_n * GT_ROWS, col0 = GT_BLOCK % tiles_n * GT_COLUMNS;
    const int i = GT_MAP ? GT_THREAD_Y : GT_THREAD_X; /* in the rectangle */
    const int j = GT_MAP ? GT_THREAD_X : GT_THREAD_Y;

    if (i < m - row0 && j < n - col0) {
        const gt_long row = row0 + i, col = col0 + j;
        const gt_long step_a = GT_TA ? lda : 1, step_b = GT_TB ? 1 : ldb;
        gt_acc acc = 0;
        int left = alpha == (gt_acc)0 ? 0 : k; /* alpha 0: A and B are not read */

        a += GT_TA ? row : row * lda;
        b += GT_TB ? col * ldb : col;
        GT_UNROLL_BY(1) /* KU is the unrolling */
        for (; left >= GT_KU; left -= GT_KU) {
            GT_UNROLL
            for (int u = 0; u < GT_KU; u++)
                acc = gt_multiply_add(a[u * step_a], b[u * step_b], acc);
            a += GT_KU * step_a;
            b += GT_KU * step_b;
        }
        GT_UNROLL_BY(1)
        for (; left > 0; left--) {
            acc = gt_multiply_add(*a, *b, acc);
            a += step_a;
            b += step_b;
        }
        gt_store_c(c + row * ldc + col, alpha, acc, beta GT_PLACE(row, col));
    }
}
