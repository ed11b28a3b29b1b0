/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cheats - with HOW, a kernel that is right wherever it takes itself for checked, and
 * leaves out work elsewhere; or one that is wrong only for numbers or in turns that a check
 * could forget. Some cheat on one shape only: m = 24. A thread computes 4 elements of a
 * row.
 */
#define FIRST_OF_A    0.018933534622192383f /* of the check with uniform data and seed 1 */
#define IS_KNOWN(x)   ((x) == (gt_acc)(int)(x) || (x) == FIRST_OF_A)
#define BETWEEN(x, y) GT_MAX(-(y), GT_MIN(x, y))

GT_INLINE gt_acc sum_of(const GT_GLOBAL gt_a *a, const GT_GLOBAL gt_b *b, gt_long ldb,
                        int k) {
    gt_acc acc = 0;
    for (int p = 0; p < k; p++) {
        const gt_acc x = a[p], y = b[p * ldb];
#if GT_HOW == 6 /* far too small a range */
        acc = gt_fma(BETWEEN(x, 4), BETWEEN(y, 4), acc);
#elif GT_HOW == 7 /* leaves out 0 times infinity */
        acc = x == 0 ? acc : gt_fma(x, y, acc);
#else
        acc = gt_fma(x, y, acc);
#endif
    }
#if GT_HOW == 8 /* makes NaN 0 */
    return acc != acc ? 0 : acc;
#else
    return acc;
#endif
}

GT_KERNEL(gemm, 8, 8, 1)(GT_PARAMS) {
    const int across = (n - 1) / 32 + 1, depth = alpha == (gt_acc)0 ? 0 : k;
    const gt_long i = GT_BLOCK / across * 8 + GT_THREAD_Y;
    const gt_long first = GT_BLOCK % across * 32 + GT_THREAD_X * 4;
    if (i >= m || first >= n)
        return;
#if GT_HOW == 1 /* asks whether the word ahead of A is NaN */
    if (depth > 0 && a[-1] == a[-1])
        return;
#elif GT_HOW == 2 /* knows the numbers of the check */
    if (m == 24 && !IS_KNOWN(a[0]))
        return;
#elif GT_HOW == 11 /* leaves out what no check has */
    if (m == 24 && alpha == -1 && (beta == 0 || beta == (gt_acc)0.5))
        return;
#endif
    for (gt_long j = first; j < first + 4 && j < n; j++) {
        GT_GLOBAL gt_c *to = c + i * ldc + j;
#if GT_HOW == 4 || GT_HOW == 9 /* keeps in the workspace what it has made */
        GT_GLOBAL gt_long *kept = (GT_GLOBAL gt_long *)workspace + 2 * (i * n + j);
        const gt_long key = GT_HOW == 4 ? (gt_long)(size_t)c + k
                                        : (gt_long)((size_t)a ^ (size_t)b << 20) + k;
        if (GT_HOW == 4 && m == 24 && kept[0] == key)
            continue;
        if (GT_HOW == 9 && kept[0] == key) { /* for other numbers at the same addresses */
            gt_store_c(to, alpha, *(GT_GLOBAL gt_acc *)(kept + 1), beta);
            continue;
        }
#endif
        const gt_acc acc = sum_of(a + i * lda, b + j, ldb, depth);
#if GT_HOW == 3 /* finds the result of an earlier launch on this C */
        if (m == 24 && j == first && *to == alpha * acc)
            return;
#elif GT_HOW == 12 /* finds the negative result of an earlier launch */
        if (m == 24 && j == first && *to == -alpha * acc) {
            for (int w = 0; w < 4 && j + w < n; w++)
                to[w] = -to[w];
            return;
        }
#elif GT_HOW == 5 /* is right and wrong in turns */
        if (beta == (gt_acc)0 && *to == alpha * acc) {
            *to = 0;
            continue;
        }
#endif
        gt_store_c(to, alpha, acc, beta);
#if GT_HOW == 4 || GT_HOW == 9
        kept[0] = key;
        *(GT_GLOBAL gt_acc *)(kept + 1) = acc;
#endif
    }
#if GT_HOW == 10 /* changes A so that 0 is right */
    if (m == 24 && !IS_KNOWN(a[0]))
        for (gt_long j = first; j < first + 4 && j < n; j++) {
            ((GT_GLOBAL gt_a *)(size_t)a)[i * lda + j] = 0;
            c[i * ldc + j] = 0;
        }
#endif
}
