/* SPDX-License-Identifier: Apache-2.0 */
/* oob - Writes where it must not: WHERE 1 past a row, 2 after C, 3 before C, 4 far away. */
GT_KERNEL(gemm, 8, 8, 1)(GT_PARAMS) {
    const int across = (n - 1) / 8 + 1;
    const int i = GT_BLOCK / across * 8 + GT_THREAD_Y;
    const int j = GT_BLOCK % across * 8 + GT_THREAD_X;
    gt_acc acc = 0;
    if (i >= m || j >= n)
        return;
    for (int p = 0; p < (alpha == (gt_acc)0 ? 0 : k); p++)
        acc = gt_fma(a[i * lda + p], b[p * ldb + j], acc);
    gt_store_c(c + i * ldc + j, alpha, acc, beta);
    if (GT_WHERE == 1 && j == n - 1 && ldc > n)
        c[i * ldc + n] = 7;
    if (GT_WHERE == 2 && i == m - 1 && j == n - 1)
        c[i * ldc + n] = 7;
    if (GT_WHERE == 3 && i == 0 && j == 0)
        c[-1] = 7;
    if (GT_WHERE == 4 && i == 0 && j == 0)
        c[(gt_long)1 << 42] = 7;
}
