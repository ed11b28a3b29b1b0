/* SPDX-License-Identifier: Apache-2.0 */
/* nocompile - With BAD, and always in f64, it is not a program. */
GT_KERNEL(gemm, 8, 8, 1)(GT_PARAMS) {
    const int across = (n - 1) / 8 + 1;
    const int i = GT_BLOCK / across * 8 + GT_THREAD_Y;
    const int j = GT_BLOCK % across * 8 + GT_THREAD_X;
    gt_acc acc = 0;
    if (i >= m || j >= n)
        return;
    for (int p = 0; p < (alpha == (gt_acc)0 ? 0 : k); p++)
        acc = gt_fma(a[i * lda + p], b[p * ldb + j], acc);
#if GT_BAD || GT_DTYPE_F64
    this is no statement;
#endif
    gt_store_c(c + i * ldc + j, alpha, acc, beta);
}
