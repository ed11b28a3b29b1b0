/* SPDX-License-Identifier: Apache-2.0 */
/* ragged - With BAD, rows of a block that hangs over the bottom edge lack a product. */
GT_KERNEL(gemm, 8, 8, 1)(GT_PARAMS) {
    const int across = (n - 1) / 8 + 1;
    const int i = GT_BLOCK / across * 8 + GT_THREAD_Y;
    const int j = GT_BLOCK % across * 8 + GT_THREAD_X;
    gt_acc acc = 0;
    if (i >= m || j >= n)
        return;
    for (int p = 0; p < (alpha == (gt_acc)0 ? 0 : k); p++)
        acc = gt_fma(a[i * lda + p], b[p * ldb + j], acc);
    if (GT_BAD && m % 8 != 0 && i >= m / 8 * 8 && alpha != (gt_acc)0 && k > 0)
        acc -= a[i * lda + k - 1] * b[(k - 1) * ldb + j];
    gt_store_c(c + i * ldc + j, alpha, acc, beta);
}
