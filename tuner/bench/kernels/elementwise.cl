/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elementwise - an epilogue as a kernel of its own, behind a product that is in C already:
 * it is the second half of the rivals "cublas+kernel" and "cublaslt+kernel". It is launched
 * with alpha 0 and beta 1, so x is the old element of C. A and B are not read.
 *
 * A thread computes EM rows of V neighbours. It loads all of them ahead of the first store.
 */
GT_KERNEL(elementwise, GT_BX, GT_BY, 1)(GT_PARAMS) {
    const int tiles_n = (n - 1) / GT_COLUMNS + 1;
    const gt_long row0 = (gt_long)(GT_BLOCK / tiles_n) * GT_ROWS + GT_THREAD_Y;
    const int col = GT_BLOCK % tiles_n * GT_COLUMNS + GT_THREAD_X * GT_V;
    gt_c x[GT_EM][GT_V];

    if (col >= n)
        return;
    c += row0 * ldc + col;
    GT_UNROLL
    for (int u = 0; u < GT_EM; u++)
        if (row0 + u * GT_BY < m)
            gt_load_global_c(GT_V, x[u], c + u * GT_BY * ldc);
    GT_UNROLL
    for (int u = 0; u < GT_EM; u++) {
        GT_UNROLL
        for (int v = 0; v < GT_V; v++)
            if (row0 + u * GT_BY < m)
                x[u][v] = gt_element(alpha, (gt_acc)0, beta,
                                     x[u][v] GT_PLACE(row0 + u * GT_BY, col + v));
    }
    GT_UNROLL
    for (int u = 0; u < GT_EM; u++)
        if (row0 + u * GT_BY < m)
            gt_store_global_c(GT_V, c + u * GT_BY * ldc, x[u]);
}
