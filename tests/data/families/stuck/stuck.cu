/* SPDX-License-Identifier: Apache-2.0 */
/* stuck - With BAD, threads wait for a barrier that nobody arrives at. */
GT_KERNEL(gemm, 32, 1, 1)(GT_PARAMS) {
    GT_SHARED_ARRAY(gt_acc, barrier, 2);
    const gt_long e = GT_BLOCK * (gt_long)32 + GT_THREAD_X;
    const int at = gt_shared_address(barrier), i = (int)(e / n), j = (int)(e % n);
    gt_acc acc = 0;

    if (GT_THREAD_X == 0) {
        gt_barrier_init(at, 1);
        gt_barrier_init_done();
        if (!GT_BAD)
            gt_barrier_arrive(at);
    }
    GT_BARRIER();
    gt_barrier_wait(at, 0);
    for (int p = 0; i < m && p < (alpha == (gt_acc)0 ? 0 : k); p++)
        acc = gt_fma(a[i * lda + p], b[p * ldb + j], acc);
    if (i < m)
        gt_store_c(c + i * ldc + j, alpha, acc, beta);
}
