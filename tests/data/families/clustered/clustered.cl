/* SPDX-License-Identifier: Apache-2.0 */
/* clustered - Blocks past the last row, which fill the last cluster, find nothing to do. */
GT_KERNEL(gemm, 8, 8, 1)
(int m, int n, int k, gt_elem alpha, const GT_GLOBAL gt_elem *a, gt_long lda,
 const GT_GLOBAL gt_elem *b, gt_long ldb, gt_elem beta, GT_GLOBAL gt_elem *c, gt_long ldc)
{
    const int across = (n - 1) / 8 + 1;
    const int i = GT_BLOCK / across * 8 + GT_THREAD_Y;
    const int j = GT_BLOCK % across * 8 + GT_THREAD_X;
    gt_acc acc = 0;
    if (i >= m || j >= n)
        return;
    for (int p = 0; p < (alpha == (gt_elem)0 ? 0 : k); p++)
        acc = gt_fma(a[i * lda + p], b[p * ldb + j], acc);
    gt_store_c(c + i * ldc + j, alpha, acc, beta);
}
