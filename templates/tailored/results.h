/* SPDX-License-Identifier: Apache-2.0 */
/*
 * results.h - the part of a tile that a thread (patches.h) or a warp (warps.h) computes,
 * and the way of its sums to C.
 */
/* The first row and column in the tile. A thread without a part does the same as another
 * one, and gives nothing. */
struct part {
    int row, col, gives;
};

/* Where sums go: from an element of C on, of whose rows and columns so many exist. */
struct target {
    GT_GLOBAL gt_c *c;
    int rows, cols;
    gt_acc alpha, beta;
};

/* Stores `width` neighbours in a row. Where rows of C are whole vectors, a vector exists as
 * a whole or not at all; elsewhere those that exist are stored. The place is that of the
 * target. */
GT_INLINE void give(int width, struct target to, int row, int col,
                    const gt_acc *acc GT_PLACE_PARAMS) {
    const int end = WHOLE || row < to.rows ? to.cols - col : 0;
    if (!GT_VECTORS_C || WHOLE || end > 0) {
        GT_GLOBAL gt_c *const c = to.c + row * (gt_long)GT_ROW_C + col;
        gt_c old[4];
        gt_load_c(width, old, c, to.beta, GT_VECTORS_C, 0, end);
        gt_store_row(width, c, to.alpha, acc, to.beta, old, GT_VECTORS_C, 0,
                     end GT_PLACE(gt_i + row, gt_j + col));
    }
}
