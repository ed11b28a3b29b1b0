/* SPDX-License-Identifier: Apache-2.0 */
/*
 * results.h - the way of sums to C: element by element, or gathered in shared memory and
 * stored as a run, in pieces as wide as the runs of groups allow.
 */
#if GT_PIECE_C == 16
typedef uint4 piece_c;
#elif GT_PIECE_C == 8
typedef uint2 piece_c;
#elif GT_PIECE_C == 4
typedef unsigned piece_c;
#else
typedef gt_c piece_c;
#endif
#if GT_POINTERS
/* Stores the piece from element e on of a matrix, which is gathered from `place` on. */
GT_INLINE void store_piece(gt_c *at, struct outputs c, int e, int place) {
    const gt_c *const from = c.gathered + PLACE_IN_C(place + e);
    gt_c *const piece = at + piece_place(e, sizeof(gt_c), COLS, ONE_C, c.ld, ONE_C);
    if (ONE_C % VECTOR_C == 0 || e + VECTOR_C <= ONE_C)
        *(uint4 *)piece = *(const uint4 *)from;
    else
        for (int v = 0; v < ONE_C % VECTOR_C; v++)
            piece[v] = from[v];
}

/* Stores `count` gathered matrices of C. Threads share the pieces as they do when they
 * fetch A and B (copies.h). */
GT_INLINE void store_run(struct outputs c, int count) {
    enum { PIECES = GT_CDIV(ONE_C, VECTOR_C) };
    GT_UNROLL_BY(1)
    for (int z = 0; z < count && PIECES >= GT_THREADS; z++)
        GT_UNROLL_BY(4)
        for (int i = 0; i < GT_CDIV(PIECES, GT_THREADS); i++) {
            const int e = (GT_THREAD_X + i * GT_THREADS) * VECTOR_C;
            if (PIECES % GT_THREADS == 0 || e < ONE_C)
                store_piece(MATRIX(c, z), c, e, z * PITCH_C);
        }
    GT_UNROLL_BY(1)
    for (int i = GT_THREAD_X; i < count * PIECES && PIECES < GT_THREADS; i += GT_THREADS)
        store_piece(MATRIX(c, i / PIECES), c, i % PIECES * VECTOR_C, i / PIECES * PITCH_C);
}
#else
/* Stores `count` gathered matrices of C. */
GT_INLINE void store_run(struct outputs c, int count) {
    enum { PIECE = sizeof(piece_c) / sizeof(gt_c) };
    const int all = count * ONE_C;
    GT_UNROLL_BY(4)
    for (int e = GT_THREAD_X; e < all / PIECE; e += GT_THREADS) {
        const int x = e * PIECE;
        *(piece_c *)(c.at + piece_place(x, sizeof(gt_c), COLS, ONE_C, c.ld, c.stride)) =
            *(const piece_c *)(c.gathered + PLACE_IN_C(x));
    }
    for (int e = all / PIECE * PIECE + GT_THREAD_X; e < all; e += GT_THREADS)
        c.at[e] = c.gathered[PLACE_IN_C(e)];
}
#endif

/* An element of C that is gathered, from its sum. */
GT_INLINE gt_c gathered_element(struct outputs c, gt_acc sum GT_PLACE_PARAMS) {
#if GT_EPILOGUE
    return gt_element(c.alpha, sum, c.beta, gt_to_c((gt_acc)-0.0f) GT_PLACE(gt_i, gt_j));
#else
    return gt_to_c(c.alpha * sum);
#endif
}

/* Stores `width` sums of a row, if the product exists. The place is that of the group's
 * first product; rows of all products count. */
GT_INLINE void give(struct outputs c, int exists, int product, int row, int col, int width,
                    const gt_acc *sums GT_PLACE_PARAMS) {
    gt_c some[4];
    if (c.gathered && (exists || !GT_EPILOGUE)) {
        GT_UNROLL
        for (int j = 0; j < width; j++)
            some[j] = gathered_element(
                c, sums[j] GT_PLACE(gt_i + product * ROWS + row, gt_j + col + j));
        gt_store_global_c(
            width, c.gathered + PLACE_IN_C(product * PITCH_C + row * COLS + col), some);
    } else if (exists) {
        GT_UNROLL
        for (int j = 0; j < width; j++)
            gt_store_c(DIRECT(c, product) + row * c.ld + col + j, c.alpha, sums[j],
                       c.beta GT_PLACE(gt_i + product * ROWS + row, gt_j + col + j));
    }
}
