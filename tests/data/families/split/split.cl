/* SPDX-License-Identifier: Apache-2.0 */
/*
 * split - three kernels that share a workspace: SPLIT sums of m x n, then B column by
 * column.
 *
 *     pack   B, transposed, to the workspace                    when PACK
 *     gemm   slice y of k to sum y; or all of k to C            always
 *     add    the sums to C                                      when SPLIT > 1
 *
 * Without a workspace gemm computes everything sixteen times, so that it never wins. BAD 1
 * adds to sums that nobody set to zero, 2 writes past the end of the workspace, 3 forgets
 * the last slice.
 */
#if GT_OPENCL
#define SLICE ((int)get_group_id(1))
#else
#define SLICE ((int)blockIdx.y)
#endif
#define SUMS     (GT_SPLIT > 1 ? GT_SPLIT : 0)
#define TIMES    (GT_SPLIT == 1 && !GT_PACK ? 16 : 1)

GT_KERNEL(pack, 8, 8, 1)(GT_PARAMS) {
    const int across = (n - 1) / 8 + 1;
    const int p = GT_BLOCK / across * 8 + GT_THREAD_Y;
    const int j = GT_BLOCK % across * 8 + GT_THREAD_X;
    GT_GLOBAL gt_acc *columns = workspace + SUMS * (gt_long)m * n;
    if (p < k && j < n)
        columns[(gt_long)j * k + p] = b[p * ldb + j];
}

GT_KERNEL(gemm, 8, 8, 1)(GT_PARAMS) {
    const int across = (n - 1) / 8 + 1;
    const int i = GT_BLOCK / across * 8 + GT_THREAD_Y;
    const int j = GT_BLOCK % across * 8 + GT_THREAD_X;
    const GT_GLOBAL gt_acc *column =
        GT_PACK ? workspace + SUMS * (gt_long)m * n + (gt_long)j * k : b + j;
    const gt_long step = GT_PACK ? 1 : ldb;
    const int depth = (k + GT_SPLIT - 1) / GT_SPLIT;
    const int end = GT_MIN((SLICE + 1) * depth, k);
    gt_acc acc = 0;
    if (i >= m || j >= n)
        return;
    for (int again = 0; again < TIMES; again++) {
        acc = 0;
        for (int p = SLICE * depth; p < end; p++)
            acc = gt_fma(a[i * lda + p], column[p * step], acc);
    }
    if (GT_SPLIT == 1)
        gt_store_c(c + i * ldc + j, alpha, acc, beta);
    else if (GT_BAD == 1)
        workspace[((gt_long)SLICE * m + i) * n + j] += acc;
    else
        workspace[((gt_long)SLICE * m + i) * n + j] = acc;
    if (GT_BAD == 2 && i == m - 1 && j == n - 1)
        workspace[SUMS * (gt_long)m * n + (gt_long)k * n] = 1;
}

GT_KERNEL(add, 64, 1, 1)(GT_PARAMS) {
    const gt_long size = (gt_long)m * n, e = (gt_long)GT_BLOCK * 64 + GT_THREAD_X;
    gt_acc acc = 0;
    if (e >= size)
        return;
    for (int s = 0; s < GT_SPLIT - (GT_BAD == 3); s++)
        acc += workspace[s * size + e];
    gt_store_c(c + e / n * ldc + e % n, alpha, acc, beta);
}
