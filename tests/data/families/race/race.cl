/* SPDX-License-Identifier: Apache-2.0 */
/* race - With BAD, threads read the row of A that others have yet to write. */
/* Not GT_BARRIER: families that have that are not offered to PoCL 5, which gets these two
 * right. */
#if GT_OPENCL
#define SYNC() barrier(CLK_LOCAL_MEM_FENCE)
#else
#define SYNC() __syncthreads()
#endif

GT_KERNEL(gemm, 8, 8, 1)(GT_PARAMS) {
    GT_SHARED_ARRAY(gt_a, row, 64);
    const int across = (n - 1) / 8 + 1;
    const int i = GT_BLOCK / across * 8 + GT_THREAD_Y;
    const int j = GT_BLOCK % across * 8 + GT_THREAD_X;
    const int t = GT_THREAD_Y * 8 + GT_THREAD_X;
    gt_acc acc = 0;

    for (int p0 = 0; p0 < (alpha == (gt_acc)0 ? 0 : k); p0 += 8) {
        const int p = p0 + GT_THREAD_X;
        row[t] = i < m && p < k ? a[i * lda + p] : (gt_acc)0;
#if !GT_BAD
        SYNC();
#endif
        for (int u = 0; u < 8 && p0 + u < k; u++)
            if (j < n)
                acc = gt_fma(row[GT_THREAD_Y * 8 + u], b[(p0 + u) * ldb + j], acc);
        SYNC();
    }
    if (i < m && j < n)
        gt_store_c(c + i * ldc + j, alpha, acc, beta);
}
