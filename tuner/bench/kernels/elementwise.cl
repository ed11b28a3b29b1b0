/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elementwise - an epilogue as a kernel of its own, behind a product: it is the second half
 * of the rivals "cublas+kernel" and "cublaslt+kernel".
 *
 * The product is in C already. The kernel is launched with alpha 0 and beta 1, so x is the
 * old element of C, and neither A nor B is read.
 *
 * Where integer sums become another type (GT_CONVERTS), A is the product instead, m rows of
 * n sums for each product of a batch, and alpha and beta are the caller's.
 *
 * A thread computes EM rows of V neighbours. It loads all of them ahead of the first store.
 */
#define GT_CONVERTS                                                                        \
    (GT_NUMBER(GT_TYPE_ACC) == GT_NUMBER_i32 && GT_NUMBER(GT_TYPE_C) != GT_NUMBER_i32)

GT_KERNEL(elementwise, GT_BX, GT_BY, 1)(GT_PARAMS) {
    GT_PRODUCT();
#if defined GT_BATCH && !GT_POINTERS
    /* A has moved on by as many bytes as the caller's A has. */
    const GT_GLOBAL gt_acc *sums =
        (const GT_GLOBAL gt_acc *)(a - gt_product * stride_a) + gt_product * m * n;
#else
    const GT_GLOBAL gt_acc *sums = (const GT_GLOBAL gt_acc *)a;
#endif
    const int tiles_n = (n - 1) / GT_COLUMNS + 1;
    const gt_long row0 = (gt_long)(GT_BLOCK / tiles_n) * GT_ROWS + GT_THREAD_Y;
    const int col = GT_BLOCK % tiles_n * GT_COLUMNS + GT_THREAD_X * GT_V;
    gt_c x[GT_EM][GT_V];
    gt_acc sum[GT_EM][GT_V];

    if (col >= n)
        return;
    c += row0 * ldc + col;
    sums += row0 * n + col;
    GT_UNROLL
    for (int u = 0; u < GT_EM; u++) {
        GT_UNROLL
        for (int v = 0; v < GT_V; v++) {
            x[u][v] = gt_to_c((gt_acc)-0.0f);
            sum[u][v] = 0;
        }
        if (GT_CONVERTS && k > 0 && row0 + u * GT_BY < m)
            gt_load_global_acc(GT_V, sum[u], sums + u * GT_BY * (gt_long)n);
        if (GT_READS_C(beta) && row0 + u * GT_BY < m)
            gt_load_global_c(GT_V, x[u], c + u * GT_BY * ldc);
    }
    GT_UNROLL
    for (int u = 0; u < GT_EM; u++) {
        GT_UNROLL
        for (int v = 0; v < GT_V; v++)
            if (row0 + u * GT_BY < m)
                x[u][v] = gt_element(alpha, sum[u][v], beta,
                                     x[u][v] GT_PLACE(row0 + u * GT_BY, col + v));
    }
    GT_UNROLL
    for (int u = 0; u < GT_EM; u++)
        if (row0 + u * GT_BY < m)
            gt_store_global_c(GT_V, c + u * GT_BY * ldc, x[u]);
}
