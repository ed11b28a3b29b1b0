/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patches.h - a patch is the rows and columns of a tile of C that one thread computes.
 * Along either side its `count` elements lie in pieces; one instruction moves a piece. The
 * pieces of `lanes` neighbouring threads lie side by side, so that a warp reads shared
 * memory without bank conflicts and writes whole sectors of C.
 */
#define GT_PIECE(count) \
    ((count) % 4 == 0 && GT_SIZEOF_A <= 4 ? 4 : (count) % 2 == 0 ? 2 : 1)
/* Lanes of a warp along the columns of C. There are tx threads along the columns and ty
 * along the rows; the warp's other lanes lie along the rows. */
#define GT_LANES_X(ty, tx)                                                                 \
    ((tx) % 8 == 0 && (ty) % 4 == 0    ? 8                                                 \
     : (tx) % 4 == 0 && (ty) % 8 == 0  ? 4                                                 \
     : (tx) % 16 == 0 && (ty) % 2 == 0 ? 16                                                \
                                       : (tx))
#define GT_LANES_Y(ty, tx)                                                                 \
    (GT_LANES_X(ty, tx) == (tx) && !((tx) * (ty) % 32 == 0 && 32 % (tx) == 0)              \
         ? (ty)                                                                            \
         : 32 / GT_LANES_X(ty, tx))
/* The first row and the first column of thread t's patch in a tile of ty x tx patches.
 * Pairs of lanes share a column of pieces, so that half a warp reads 8 pieces of B and 2 of
 * A, each bank once. */
GT_INLINE int gt_patch_row(int ty, int tx, int tm, int pm, int t) {
    const int lx = GT_LANES_X(ty, tx), ly = GT_LANES_Y(ty, tx);
    const int pairs = ly % 2 == 0 && lx * ly == 32, lane = t % (lx * ly);
    return t / (lx * ly) / (tx / lx) * tm * ly +
           (pairs ? lane / (2 * lx) * 2 + lane % 2 : lane / lx) * pm;
}

GT_INLINE int gt_patch_column(int ty, int tx, int tn, int pn, int t) {
    const int lx = GT_LANES_X(ty, tx), ly = GT_LANES_Y(ty, tx);
    const int pairs = ly % 2 == 0 && lx * ly == 32, lane = t % (lx * ly);
    return t / (lx * ly) % (tx / lx) * tn * lx + (pairs ? lane / 2 % lx : lane % lx) * pn;
}

/* The row and the column of multiply-add s in a patch of tm x tn. `order` is 0 by rows, 1
 * by columns, 2 by pairs of rows. Every other row (column) runs backwards, so that one
 * operand stays in its register from each multiply-add to the next. */
GT_INLINE int gt_order_row(int order, int tm, int tn, int s) {
    return order == 0   ? s / tn
           : order == 1 ? (s / tm % 2 ? tm - 1 - s % tm : s % tm)
                        : s / (2 * tn) * 2 + s % 2;
}

GT_INLINE int gt_order_column(int order, int tm, int tn, int s) {
    return order == 0   ? (s / tn % 2 ? tn - 1 - s % tn : s % tn)
           : order == 1 ? s / tm
                        : (s / (2 * tn) % 2 ? tn - 1 - s / 2 % tn : s / 2 % tn);
}

/* How a patch lies along a side of C: in pieces of `piece` elements, `step` apart within a
 * piece. Pieces begin `apart` from each other. One instruction moves `width` elements. */
struct gt_side {
    int piece, step, apart, width;
};

GT_INLINE struct gt_side gt_side_of(int piece, int lanes) {
    const struct gt_side side = {piece, 1, piece * lanes, piece};
    return side;
}

/* The distance of element i of the patch from its first element. */
GT_INLINE int gt_side_at(const struct gt_side *side, int i) {
    return i / side->piece * side->apart + i % side->piece * side->step;
}

/* Loads the operands of one side for one k. */
GT_INLINE void gt_patch_load(int count, int piece, int lanes, gt_ab *to,
                             const GT_SHARED gt_ab *from) {
    const struct gt_side side = gt_side_of(piece, lanes);
    GT_UNROLL
    for (int i = 0; i < count; i += piece)
        gt_load_shared(piece, to + i, from + gt_side_at(&side, i));
}

/* acc += the patch's product for one k, from its rows x and its columns y. */
GT_INLINE void gt_patch_multiply(int tm, int tn, int order, gt_acc *acc, const gt_ab *x,
                                 const gt_ab *y) {
    GT_UNROLL
    for (int s = 0; s < tm * tn; s++) {
        const int i = gt_order_row(order, tm, tn, s);
        const int j = gt_order_column(order, tm, tn, s);
        acc[i * tn + j] = gt_multiply_add(x[i], y[j], acc[i * tn + j]);
    }
}

/* Stores a patch of tm x tn. c points to its first element; `rows` x `cols` of C exist from
 * there. `inside`: all of the patch exists, and is aligned for each instruction. */
GT_INLINE void gt_patch_store(int tm, int tn, struct gt_side down, struct gt_side along,
                              GT_GLOBAL gt_c *c, gt_long ldc, gt_acc alpha,
                              const gt_acc *acc, gt_acc beta, int inside, int rows,
                              int cols GT_PLACE_PARAMS) {
    GT_UNROLL
    for (int i = 0; i < tm; i++) {
        GT_GLOBAL gt_c *row = c + gt_side_at(&down, i) * ldc;
        const int end = gt_side_at(&down, i) < rows ? cols : 0;
        gt_c old[16];
        GT_UNROLL
        for (int j = 0; j < tn; j += along.width)
            gt_load_c(along.width, old + j, row + gt_side_at(&along, j), beta, inside, 0,
                      end - gt_side_at(&along, j));
        GT_UNROLL
        for (int j = 0; j < tn; j += along.width)
            gt_store_row(along.width, row + gt_side_at(&along, j), alpha, acc + i * tn + j,
                         beta, old + j, inside, 0,
                         end - gt_side_at(&along, j)
                             GT_PLACE(gt_i + gt_side_at(&down, i),
                                      gt_j + gt_side_at(&along, j)));
    }
}
