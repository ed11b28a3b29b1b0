/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target.h - where the sums of a warpgroup of wgmma go, and what an epilogue reads there.
 */
/* The destination of a warpgroup's sums, X's row 0 and Y's column 0 of which lie at `at`:
 * with SWAP, X's rows are columns there. */
struct target {
    void *at;
    gt_long ld;
    int rows, cols; /* of X and of Y that exist from there */
};

/* How far a row of X and a column of Y lie from the target's beginning. */
GT_INLINE gt_long place_in(const struct target *to, int row, int col) {
    return SWAP ? col * to->ld + row : row * to->ld + col;
}

/* The row, of a fragment's 64, of the thread's sums 4 j + 2 h and 4 j + 2 h + 1. */
GT_INLINE int row_of(int t, int h) {
#if GT_RS
    return gt_across_line(SIZE, t, h);
#else
    return t / 32 * 16 + t % 32 / 4 + h * 8;
#endif
}

/* The part of C that a warpgroup has: its rows and columns are those of C,
 * also with SWAP. */
enum { LINES_C = SWAP ? WN : WM, LENGTH_C = SWAP ? WM : WN };

struct part {
    char *vectors;  /* in shared memory: the operands with a value a row or a column */
    int boxes;      /* its address in shared memory: where C's boxes are made */
    int rows, cols; /* that exist */
};

#if GT_EPILOGUE
/* The operands of two neighbouring elements of a part. When vectors wait in shared
 * memory, the boxed operand is left out. Otherwise all operands are read where they lie,
 * and gt_boxed_read overwrites the boxed one. */
GT_INLINE void fetch_pair(struct gt_operands *to, const struct part *p, int row,
                          int col GT_PLACE_PARAMS) {
    enum { ALL_STAGED = GT_VECTORS == GT_VECTORS_ALL };
    if (ALL_STAGED)
        gt_vectors_read(to, p->vectors, LINES_C, LENGTH_C, row, col);
    GT_UNROLL
    for (int e = 0; e < 2; e++)
        if (row < p->rows && col + e < p->cols) {
            if (ALL_STAGED)
                gt_others_fetch(&to[e] GT_PLACE(gt_i + row, gt_j + col + e));
            else
                gt_fetch(&to[e] GT_PLACE(gt_i + row, gt_j + col + e));
        }
}

/* An element of C, of which rows x cols exist from there on. */
GT_INLINE gt_result made(gt_acc alpha, gt_acc sum, struct gt_operands operands, int rows,
                         int cols GT_PLACE_PARAMS) {
    if (GT_HAS_D2 && (rows <= 0 || cols <= 0)) /* nor does d2 */
        return 0;
    return gt_result_of(0, alpha, sum, 0, 0, operands GT_PLACE(gt_i, gt_j));
}
#endif
