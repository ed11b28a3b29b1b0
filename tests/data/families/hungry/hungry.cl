/* SPDX-License-Identifier: Apache-2.0 */
/* hungry - writes the last element of WANT KiB of workspace; computes everything 256 times
 * without any, 16 times with little, once with much. */
#define TIMES (GT_WANT == 0 ? 256 : GT_WANT <= 65536 ? 16 : 1)

GT_KERNEL(gemm, 8, GT_ROWS, 1)(GT_PARAMS) {
    const int across = (n - 1) / 8 + 1;
    const int i = GT_BLOCK / across * GT_ROWS + GT_THREAD_Y;
    const int j = GT_BLOCK % across * 8 + GT_THREAD_X;
    gt_acc acc = 0;
    if (i >= m || j >= n)
        return;
    for (int again = 0; again < TIMES; again++) {
        acc = 0;
        for (int p = 0; p < k; p++)
            acc = gt_fma(a[i * lda + p], b[p * ldb + j], acc);
    }
    gt_store_c(c + i * ldc + j, alpha, acc, beta);
    if (GT_WANT > 0 && i == 0 && j == 0)
        workspace[GT_WANT * 1024 / sizeof(gt_acc) - 1] = acc;
}
