/* SPDX-License-Identifier: Apache-2.0 */
/*
 * results.h - the way of sums to C: element by element, or gathered in shared memory and
 * stored as a run.
 */
/* Stores `count` gathered matrices of C. */
#if GT_POINTERS
GT_INLINE void store_run(struct outputs c, int count) {
    enum { WIDTH = ONE_C % VECTOR_C == 0 ? VECTOR_C : 1 };
    GT_UNROLL_BY(1)
    for (int x = GT_THREAD_X * WIDTH; x < count * ONE_C; x += GT_THREADS * WIDTH) {
        gt_c *const at = MATRIX(c, x / ONE_C);
        const int e = x % ONE_C;
        if (in_pieces(at, c.ld, ONE_C, sizeof(gt_c), COLS, ONE_C) && WIDTH > 1)
            *(uint4 *)(at + piece_place(e, sizeof(gt_c), COLS, ONE_C, c.ld, ONE_C)) =
                *(const uint4 *)(c.gathered + PLACE_IN_C(x));
        else
            GT_UNROLL_BY(1)
            for (int v = 0; v < WIDTH; v++)
                at[(e + v) / COLS * c.ld + (e + v) % COLS] = c.gathered[PLACE_IN_C(x + v)];
    }
}
#else
GT_INLINE void store_run(struct outputs c, int count) {
    const int all = count * ONE_C;
    GT_UNROLL_BY(4)
    for (int e = GT_THREAD_X; e < all / VECTOR_C; e += GT_THREADS) {
        const int x = e * VECTOR_C;
        *(uint4 *)(c.at + piece_place(x, sizeof(gt_c), COLS, ONE_C, c.ld, c.stride)) =
            *(const uint4 *)(c.gathered + PLACE_IN_C(x));
    }
    for (int e = all / VECTOR_C * VECTOR_C + GT_THREAD_X; e < all; e += GT_THREADS)
        c.at[e] = c.gathered[PLACE_IN_C(e)];
}
#endif

/* Stores `width` sums of a row, if the product exists. */
GT_INLINE void give(struct outputs c, int exists, int product, int row, int col, int width,
                    const gt_acc *sums) {
    gt_c some[4];
    if (c.gathered) {
        GT_UNROLL
        for (int j = 0; j < width; j++)
            some[j] = gt_to_c(c.alpha * sums[j]);
        gt_store_global_c(
            width, c.gathered + PLACE_IN_C(product * ONE_C + row * COLS + col), some);
    } else if (exists) {
        GT_UNROLL
        for (int j = 0; j < width; j++)
            gt_store_c(MATRIX(c, product) + row * c.ld + col + j, c.alpha, sums[j], c.beta);
    }
}
