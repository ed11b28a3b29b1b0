/* SPDX-License-Identifier: Apache-2.0 */
/*
 * meeting - One warp copies elements of A to shared memory, two warps multiply them. The
 * three meet at a barrier with a number and a count (PTX ISA, bar.sync), once for each k.
 * Nothing is missing. Warps that meet at different places of the code (PLACES=2) are errors
 * for synccheck 2025.3 all the same. With REST=1 the block has a warp more, which has no
 * part in this.
 */
enum { LANES = 32, READERS = 2 * LANES, MEMBERS = READERS + LANES };

GT_KERNEL(gemm, MEMBERS + GT_REST * LANES, 1, 1)(GT_PARAMS) {
    GT_SHARED_ARRAY(gt_acc, copies, 2 * READERS);
    const int t = GT_THREAD_X, lane = t % READERS;
    const gt_long e = GT_BLOCK * (gt_long)READERS + lane;
    const int j = (int)(e % n), depth = alpha == (gt_acc)0 ? 0 : k;
    gt_acc acc = 0;

    for (int p = 0; p < depth && t < MEMBERS; p++) {
        gt_acc *const now = copies + p % 2 * READERS;
        if (t >= READERS) {
            for (int r = 0; r < 2; r++) {
                const gt_long of = GT_BLOCK * (gt_long)READERS + r * LANES + t % LANES;
                now[r * LANES + t % LANES] = a[GT_MIN((int)(of / n), m - 1) * lda + p];
            }
            if (GT_PLACES == 2)
                gt_group_barrier(1, MEMBERS);
        }
        if (GT_PLACES == 1)
            gt_group_barrier(1, MEMBERS);
        if (t < READERS) {
            if (GT_PLACES == 2)
                gt_group_barrier(1, MEMBERS);
            acc = gt_fma(now[lane], b[p * ldb + j], acc);
        }
    }
    GT_BARRIER();
    if (t < READERS && e < m * (gt_long)n)
        gt_store_c(c + (int)(e / n) * ldc + j, alpha, acc, beta);
}
