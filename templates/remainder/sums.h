/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sums.h - the sums of a tile of remainder: their residues, whether they can be trusted,
 * and elements of C.
 */
/* A thread's part of a tile: the first row and column. Element e of fragment f lies at
 * row + row_of(f, e), col + col_of(f, e). `a` and `b` are the lines there. */
struct part {
    int row, col;
    const struct gt_line *a, *b;
};

GT_INLINE int row_of(int f, int e) {
    return f / FRAGS_N * APART + e / 2 * 8;
}

GT_INLINE int col_of(int f, int e) {
    return f % FRAGS_N * 8 + e % 2;
}

GT_INLINE int all_trusted(const int sizes[FRAGS][4], struct part p, int k) {
    const double allowed = gt_allowed(k);
    int trusted = 1;
    GT_UNROLL
    for (int f = 0; f < FRAGS; f++)
        GT_UNROLL
        for (int e = 0; e < 4; e++)
            trusted &= gt_trusted(p.a[row_of(f, e)], p.b[col_of(f, e)], sizes[f][e], k,
                                  allowed);
    return trusted;
}

/* Stores the residues, WORKERS words apart. */
GT_INLINE void put_residues(unsigned *to, const int acc[FRAGS][4], struct gt_divisor d) {
    GT_UNROLL
    for (int f = 0; f < FRAGS; f++) {
        unsigned y[4];
        GT_UNROLL
        for (int e = 0; e < 4; e++)
            y[e] = gt_sum_residue((unsigned)acc[f][e], d);
        to[f * WORKERS] = gt_pack_bytes(y[0], y[1], y[2], y[3]);
    }
}

/* Adds a trio to the sums of four elements. Byte e of a word is that of element e. */
GT_INLINE void add_trio(struct gt_total total[4], struct gt_cofactor cofactor,
                        const unsigned word[GT_TRIO]) {
    const unsigned upper = __byte_perm(word[0], word[1], 0x5140);
    const unsigned lower = __byte_perm(word[0], word[1], 0x7362);
    gt_total_add(MODULI, &total[0], cofactor, __byte_perm(upper, word[2], 0x0410));
    gt_total_add(MODULI, &total[1], cofactor, __byte_perm(upper, word[2], 0x0532));
    gt_total_add(MODULI, &total[2], cofactor, __byte_perm(lower, word[2], 0x0610));
    gt_total_add(MODULI, &total[3], cofactor, __byte_perm(lower, word[2], 0x0732));
}

/* The sums of a fragment's elements from the words of its residues. */
GT_INLINE void get_sums(gt_acc sum[4], const unsigned *from,
                        const struct gt_cofactor *cofactors, int f, struct part p) {
    struct gt_total total[4];
    unsigned word[TRIOS * GT_TRIO];
    GT_UNROLL
    for (int l = 0; l < TRIOS * GT_TRIO; l++)
        word[l] = l < MODULI ? from[(l * FRAGS + f) * WORKERS] : 0;
    GT_UNROLL
    for (int e = 0; e < 4; e++)
        gt_total_clear(&total[e]);
    GT_UNROLL
    for (int trio = 0; trio < TRIOS; trio++)
        add_trio(total, cofactors[trio], word + trio * GT_TRIO);
    GT_UNROLL
    for (int e = 0; e < 4; e++)
        sum[e] = gt_total_value(&total[e], cofactors[TRIOS],
                                -p.a[row_of(f, e)].shift - p.b[col_of(f, e)].shift);
}

/* Stores the four elements of a fragment at c, pairs of neighbours in a row. */
GT_INLINE void store(gt_c *c, gt_long ldc, gt_acc alpha, const gt_acc sum[4], gt_acc beta,
                     int rows, int cols GT_PLACE_PARAMS) {
    GT_UNROLL
    for (int e = 0; e < 4; e++)
        if (e / 2 * 8 < rows && e % 2 < cols)
            gt_store_c(c + e / 2 * 8 * ldc + e % 2, alpha, sum[e],
                       beta GT_PLACE(gt_i + e / 2 * 8, gt_j + e % 2));
}
