/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lanes - a subgroup of LANES work-items computes TM rows x LANES * TN columns of C. Each
 * lane has TN columns. An element of A is loaded by one lane, and the others read that
 * lane's register. There is neither shared memory nor a barrier (OpenCL with subgroups).
 *
 * C[m,n] = alpha op(A) op(B) + beta C, row-major.
 *
 *                   LANES * TN ->
 *                  +------+------+       B: lane l has columns l, LANES + l, ... of the
 *             k    | l    | l    |       subgroup's part: a row is read as it lies
 *                  +------+------+
 *        k ->                            A as stored: lane l loads k0 + l of TM rows, for
 *     +------+     +------+------+       LANES steps of k
 *  TM | A    |     | l    | l    |       A transposed: lane l loads row l of a step of k
 *     +------+     +------+------+
 *
 * Rows and columns past the edges of C repeat the last ones that exist, and are not stored.
 *
 * LANES    work-items of a subgroup       TM TN   rows; columns of a lane
 * STACK    subgroups of a block, one below the other
 * READ     1: a row of B is read by one instruction of the subgroup
 * GROUP    rows of tiles that are walked together, for the caches
 *
 * gemmtune trial f32-nn-1024x1024x1024 --family lanes --point
 *  "LANES=16 TM=8 TN=2 STACK=2 READ=1 GROUP=4"
 */

enum {
    LANES = GT_LANES, TM = GT_TM, TN = GT_TN, BM = TM * GT_STACK, BN = LANES * TN
};

/* The elements of B at row k of op(B), in the lane's columns. `whole`: all of the
 * subgroup's columns exist. */
GT_INLINE void load_b(gt_acc *y, const GT_GLOBAL gt_b *b, gt_long ldb, int k, int whole,
                      const int *cols) {
    GT_UNROLL
    for (int j = 0; j < TN; j++) {
#if GT_READ && !GT_TB
        if (whole) {
            const gt_i32 word = gt_words(b + k * ldb + j * LANES);
            y[j] = gt_from_b(GT_PASTE(as_, GT_PASTE(GT_WORD_, GT_TYPE_B))(word));
            continue;
        }
#endif
        y[j] = gt_from_b(b[GT_TB ? cols[j] * ldb + k : k * ldb + cols[j]]);
    }
}

/* acc += one step of k, number `step` of the slab that x holds (A as stored), or any (A
 * transposed). */
GT_INLINE void multiply(gt_acc acc[TM * TN], const gt_acc *x, const gt_acc *y, int step) {
    GT_UNROLL
    for (int i = 0; i < TM; i++) {
        const gt_acc of_row = GT_TA ? gt_of_lane(x[0], i) : gt_of_lane(x[i], step);
        GT_UNROLL
        for (int j = 0; j < TN; j++)
            acc[i * TN + j] = gt_fma(of_row, y[j], acc[i * TN + j]);
    }
}

GT_IN_SUBGROUPS(GT_LANES) GT_KERNEL(gemm, GT_THREADS, 1, 1)(GT_PARAMS) {
    GT_PRODUCT();
    const int lane = GT_LANE;
    int row0, col0;
    gt_tile_place(&row0, &col0, GT_BLOCK, BM, BN, GT_GROUP, m, n);
    row0 += GT_SUBGROUP_OF * TM;
    /* Alpha 0, or a slot without rows: A and B are not read. */
    const int depth = alpha == (gt_acc)0 || m == 0 ? 0 : k;
    const int whole = col0 + BN <= n;
    const int own_row = GT_MIN(row0 + lane, m - 1); /* with A transposed */
    int cols[TN];
    gt_acc acc[TM * TN], x[TM], y[TN];

    GT_UNROLL
    for (int j = 0; j < TN; j++) /* from col0 on */
        cols[j] = GT_MIN(col0 + j * LANES + lane, n - 1) - col0;
    b += GT_TB ? col0 * ldb : (gt_long)col0;
    GT_UNROLL
    for (int e = 0; e < TM * TN; e++)
        acc[e] = 0;

    GT_UNROLL_BY(1)
    for (int k0 = 0; k0 < depth; k0 += LANES) {
        const int left = depth - k0, own_k = k0 + GT_MIN(lane, left - 1);
        GT_UNROLL
        for (int i = 0; i < TM && !GT_TA; i++)
            x[i] = gt_from_a(a[GT_MIN(row0 + i, m - 1) * lda + own_k]);
        if (left >= LANES) {
            GT_UNROLL
            for (int step = 0; step < LANES; step++) {
                if (GT_TA)
                    x[0] = gt_from_a(a[(k0 + step) * lda + own_row]);
                load_b(y, b, ldb, k0 + step, whole, cols);
                multiply(acc, x, y, step);
            }
        } else {
            GT_UNROLL_BY(1)
            for (int step = 0; step < left; step++) {
                if (GT_TA)
                    x[0] = gt_from_a(a[(k0 + step) * lda + own_row]);
                load_b(y, b, ldb, k0 + step, whole, cols);
                multiply(acc, x, y, step);
            }
        }
    }

    GT_UNROLL
    for (int i = 0; i < TM; i++)
        GT_UNROLL
        for (int j = 0; j < TN; j++)
            if (row0 + i < m && col0 + j * LANES + lane < n)
                gt_store_c(c + (row0 + i) * ldc + col0 + j * LANES + lane, alpha,
                           acc[i * TN + j],
                           beta GT_PLACE(row0 + i, col0 + j * LANES + lane));
}
