/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plain.h - remainder's kernel for the tiles that were given up: f64 multiply-adds.
 */
/* The element at column `at` of k of a line; 0 past the edges. */
GT_INLINE gt_ab element(struct operand of, gt_long line, int at, int k) {
    return line < of.count && at < k ? of.at[line * of.line_step + at * of.k_step] : 0;
}

/* PLAIN_K of PLAIN lines, as rows of k. */
GT_INLINE void gather_plain(gt_ab *to, struct operand of, int line0, int k0, int k, int t) {
    const int along = of.k_step == 1;
    GT_UNROLL
    for (int i = 0; i < PLAIN * PLAIN_K / GT_HELPERS; i++) {
        const int e = t + i * GT_HELPERS;
        const int line = along ? e / PLAIN_K : e % PLAIN;
        const int at = along ? e % PLAIN_K : e / PLAIN;
        to[at * PLAIN + line] = element(of, line0 + line, k0 + at, k);
    }
}

GT_KERNEL(plain, GT_HELPERS, 1, 2)(GT_PARAMS) {
    GT_SHARED_ARRAY(gt_ab, slab, 2 * PLAIN * PLAIN_K);
    GT_FOLLOW();
    GT_PRODUCT();
    enum { EACH = PLAIN_EACH, APART = PLAIN / EACH };
    const int t = GT_THREAD_X, across = gt_cdiv(n, PLAIN), tiles_n = gt_cdiv(n, BN);
    const int row0 = GT_BLOCK / across * PLAIN, col0 = GT_BLOCK % across * PLAIN;
    if (*GT_MARK_AT(row0 / BM * tiles_n + col0 / BN) == 0)
        return;
    const struct operand of_a = GT_OPERAND_OF(0), of_b = GT_OPERAND_OF(GT_HIGH);
    gt_acc acc[EACH][EACH];
    GT_UNROLL
    for (int e = 0; e < EACH * EACH; e++)
        acc[e / EACH][e % EACH] = 0;
    for (int k0 = 0; k0 < k; k0 += PLAIN_K) {
        gather_plain(slab, of_a, row0, k0, k, t);
        gather_plain(slab + PLAIN * PLAIN_K, of_b, col0, k0, k, t);
        GT_BARRIER();
        GT_UNROLL
        for (int at = 0; at < PLAIN_K; at++)
            GT_UNROLL
            for (int e = 0; e < EACH * EACH; e++)
                acc[e / EACH][e % EACH] = gt_multiply_add(
                    slab[at * PLAIN + t / APART + e / EACH * APART],
                    slab[(PLAIN_K + at) * PLAIN + t % APART + e % EACH * APART],
                    acc[e / EACH][e % EACH]);
        GT_BARRIER();
    }
    GT_UNROLL
    for (int e = 0; e < EACH * EACH; e++) {
        const gt_long row = row0 + t / APART + e / EACH * APART;
        const int col = col0 + t % APART + e % EACH * APART;
        if (row < m && col < n)
            gt_store_c(c + row * ldc + col, alpha, acc[e / EACH][e % EACH],
                       beta GT_PLACE(row, col));
    }
}
