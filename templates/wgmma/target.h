/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target.h - where the sums of a warpgroup of wgmma go, and what an epilogue reads there.
 *
 * There are four ways out. Each is a file with a function of one signature,
 *
 *     leave_...(const struct leaving *l, const gt_acc *sums GT_PLACE_PARAMS)
 *
 * which takes the sums of an item to C or to the workspace. All threads of the warpgroup
 * call it. The place is that of C's element at l->row, l->col.
 *
 *     sums.h     leave_as_sums    to the workspace, where another kernel adds them up
 *     boxes.h    leave_by_boxes   STORE: the accelerator copies boxes of C
 *     rows.h     leave_by_rows    pieces of 16 bytes of rows that may begin anywhere
 *     chunks.h   leave_by_chunks  any C: 32 columns at a time through shared memory
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
    return RS ? gt_across_line(SIZE, t, h) : t / 32 * 16 + t % 32 / 4 + h * 8;
}

/* The part of C that a warpgroup has: its rows and columns are those of C,
 * also with SWAP. */
enum { LINES_C = SWAP ? WN : WM, LENGTH_C = SWAP ? WM : WN };

struct part {
    char *vectors;  /* in shared memory: the operands with a value a row or a column */
    int boxes;      /* its address in shared memory: where C's boxes are made */
    int rows, cols; /* that exist */
};

/* The warpgroup's part, of which rows x cols of X and Y exist. */
GT_INLINE struct part part_of(const struct group *g, int rows, int cols) {
    const struct part p = {vectors_of(g), boxes_of(g), SWAP ? cols : rows,
                           SWAP ? rows : cols};
    return p;
}

/* C and the workspace, for all items of a block. */
struct output {
    const struct gt_tensor_map *map; /* of C */
    gt_c *c;
    gt_long ldc;
    gt_acc *sums; /* of parts */
    gt_acc alpha, beta;
};

/* The facts that a warpgroup has about its sums of an item. */
struct leaving {
    struct output out;
    struct plan p;
    struct item it;
    struct group g;
    struct part part;
    struct target c; /* the place in C */
    int row, col;    /* of X and of Y, where the warpgroup's part begins */
    int before;      /* items that the warpgroup had before this one */
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
