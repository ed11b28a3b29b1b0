/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tailored - for batches of products of medium size: tiles of C that fit the matrices. A
 * side of 200 is two tiles of 100 or five of 40, where a family of fixed tiles computes 256
 * or 240.
 *
 * C[m,n] = alpha op(A) op(B) + beta C, row-major, for each product.
 *
 *      stage 0        1        2   ...      in shared memory, k outermost:
 *     +--------+ +--------+ +--------+
 *     | A [BK] | | A      | | A      |          A [BK][LINE_A]    B [BK][LINE_B]
 *     | B [BK] | | B      | | B      |
 *     +--------+ +--------+ +--------+      slab s lies in stage s % STAGES; while it is
 *        read      coming     coming        multiplied, STAGES - 1 more are coming.
 *
 * Slabs of 16-bit types that are contiguous along k stay so: [BM][LINE_A], [BN][LINE_B].
 * With ENGINE=1, where rows of C are not whole vectors, the tile of C is gathered in the
 * place of the slabs, so that neighbouring threads store neighbouring elements.
 *
 * The kernel is compiled for one m, n and k, and for the distances of rows. A side is cut
 * into as few parts of at most BM or BN as will do, all as long as whole patches make them,
 * but for the last one; k is cut likewise. A slab is unrolled as a whole, and copies have
 * constant places. Any number of threads may have a patch.
 *
 * ENGINE    0: multiply-adds; 1: mma.sync, for f64 and elements of 16 bits
 * BM BN     rows and columns of a part, rounded up to whole patches
 * BK        k of a slab, rounded up to an even number, with ENGINE=1 to 8 (f64) or 16
 * TM TN     patch of a thread; with ENGINE=1 part of a warp: a multiple of 16 rows and one
 *           of 8 columns, 16 at least
 * STAGES    slabs in shared memory; with ENGINE=1 there is room for no more than SLABS
 * ORDER     of the multiply-adds, as in multistage
 *
 * gemmtune trial f32-nn-100x100x100,batch=4000 --family tailored
 *     --point "ENGINE=0 BM=128 BN=128 BK=20 TM=20 TN=4 STAGES=2 ORDER=0"
 */

GT_KERNEL(gemm, GT_THREADS, 1, GT_FIT)(GT_PARAMS) {
    GT_SHARED_ARRAY(gt_ab, smem, GT_SMEM / GT_SIZEOF_A);
    const int t = GT_THREAD_X, tile = GT_BLOCK % (CUTS_M * CUTS_N);
    const gt_long product = GT_BLOCK / (CUTS_M * CUTS_N);
    const int row0 = tile / CUTS_N * BM, col0 = tile % CUTS_N * BN;
    const gt_long ld_a = GT_ROW_A, ld_b = GT_ROW_B, ld_c = GT_ROW_C; /* constants */
    struct part part = part_of(t);
    struct source from = {0, 0, ROWS - row0, COLS - col0,
                          k > 0 && alpha != (gt_acc)0 ? SLABS : 0};
    if (from.slabs > 0) {
        from.x = GT_MATRIX(a, product) + (ALONG_A ? row0 * ld_a : row0) +
                 gt_slab_from(ALONG_A, BM, BK, VA, COPIERS_A, ld_a, t);
        from.y = GT_MATRIX(b, product) + (ALONG_B ? col0 * ld_b : col0) +
                 gt_slab_from(ALONG_B, BN, BK, VB, COPIERS_B, ld_b, t);
    }
    gt_acc acc[SUMS];
    GT_UNROLL
    for (int i = 0; i < SUMS; i++)
        acc[i] = 0;
    GT_UNROLL
    for (int s = 0; s < STAGES - 1; s++)
        fetch_next(smem + s * STAGE, &from, s, t);
    sum_up(acc, smem, from, part, t);
    part = part_to_give(smem, acc, part, t);
    if (part.gives) {
        const struct target to = {
            GT_MATRIX(c, product) + (row0 + part.row) * ld_c + col0 + part.col,
            from.rows - part.row, from.cols - part.col, alpha, beta};
        give_all(to, acc, smem,
                 t GT_PLACE(product * ROWS + row0 + part.row, col0 + part.col));
    }
}
