/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sums.h - a tile's walk through the slabs of limbs, and the way of its sums to C.
 */
/* The next slabs of a tile, in the order of use. */
struct walk {
    const byte *a, *b;           /* the first slabs of group 3 */
    const byte *next_a, *next_b; /* NULL past the end */
    gt_long step;                /* bytes from a slab to the next */
    int slabs, group, left;      /* slabs left in the group */
};

GT_INLINE void enter_group(struct walk *w, int group) {
    const int there = group >= 0 && w->slabs > 0;
    w->group = group;
    w->left = (group + 1) * w->slabs;
    w->next_a = there ? w->a : 0;
    w->next_b = there ? w->b + (LIMBS - 1 - group) * (w->slabs * w->step) : 0;
}

GT_INLINE void advance(struct walk *w) {
    w->next_a += w->step;
    w->next_b += w->step;
    if (--w->left == 0)
        enter_group(w, w->group - 1);
}

/* Shifts the accumulators between two groups. */
GT_INLINE void shift(gt_acc acc[ACCS]) {
    GT_UNROLL
    for (int e = 0; e < ACCS; e++)
        acc[e] <<= 8;
}

/* Stores a thread's accumulators, pairs of neighbours in a row, RUN pairs at a time. c
 * points to the thread's first element; rows and cols count from there. */
GT_INLINE void store(gt_c *c, gt_long ldc, gt_acc alpha, const gt_acc *acc,
                     gt_acc beta, int inside, int rows, int cols GT_PLACE_PARAMS) {
    GT_UNROLL
    for (int i = 0; i < FRAGS_M * 2; i++) {
        const int row = i / 2 * APART + i % 2 * 8;
        gt_c *to = c + row * ldc;
        GT_UNROLL
        for (int j0 = 0; j0 < FRAGS_N; j0 += RUN) {
            gt_c old[RUN * 2];
            GT_UNROLL
            for (int j = 0; j < RUN; j++)
                gt_load_c(2, old + j * 2, to + (j0 + j) * 8, beta, inside, 0,
                          row < rows ? cols - (j0 + j) * 8 : 0);
            GT_UNROLL
            for (int j = 0; j < RUN; j++)
                gt_store_row(2, to + (j0 + j) * 8, alpha,
                             acc + (i / 2 * FRAGS_N + j0 + j) * 4 + i % 2 * 2, beta,
                             old + j * 2, inside, 0,
                             row < rows ? cols - (j0 + j) * 8
                                        : 0 GT_PLACE(gt_i + row, gt_j + (j0 + j) * 8));
        }
    }
}
