/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.h - the way out of wgmma for rows of C that may begin anywhere.
 */
#if GT_ROWS
/*
 * Rows of C that may begin anywhere leave in pieces of 16 bytes. A chunk is 64 rows of X
 * by 128 bytes of C, or fewer when there are no more. In shared memory a row of it begins
 * as many bytes behind a multiple of 16 as in C, so that a piece is one there and here.
 * The last piece of a row may be incomplete; the next chunk has its elements once more,
 * and stores them.
 */
enum {
    ROW_COLS = GT_MIN(WN, 128 / GT_SIZEOF_C), /* of a chunk */
    ROW_ACROSS = GT_CDIV(WN, ROW_COLS),       /* chunks side by side */
    ROW_PIECES = GT_CDIV(ROW_COLS * GT_SIZEOF_C, 16),
    ROW_PITCH = ROW_PIECES * 16 + 16,
    /* groups of columns into which the last piece of the chunk before may reach */
    ROW_LEFT = GT_CDIV(16 / GT_SIZEOF_C, 8)
};
GT_STATIC_ASSERT(64 * ROW_PITCH <= STAGED, rows_have_room);

/* Bytes from the multiple of 16 before it. */
GT_INLINE int behind_piece(const gt_c *c) {
    return (int)((gt_long)c & 15);
}

/* put_rows puts the elements of a chunk, whose first sums and place in C are given, to
 * shared memory: groups of 8 columns from number `first` on, which is -ROW_LEFT for the
 * elements that the chunk before has left. The chunk begins at row row0 and column col0 of
 * the part. */
#if GT_EPILOGUE
/* The operands of a few pairs of elements are read before the first of these is made. */
GT_INLINE void put_rows(char *chunk, const gt_acc *sums, int first, int groups,
                        const gt_c *c, gt_long ldc, gt_acc alpha, const struct part *p,
                        int row0, int col0, int t GT_PLACE_PARAMS) {
    enum { PAIRS = ROW_COLS / 8 + ROW_LEFT, EACH = 3 };
    GT_UNROLL
    for (int b = 0; b < 2 * GT_CDIV(PAIRS, EACH); b++) {
        const int h = b / GT_CDIV(PAIRS, EACH);
        const int row = row_of(t, h), behind = behind_piece(c + row * ldc);
        char *const line = chunk + row * ROW_PITCH + behind;
        struct gt_operands of[EACH][2] = {{{0}}};
        GT_UNROLL
        for (int e = 0; e < EACH; e++) {
            const int j = b % GT_CDIV(PAIRS, EACH) * EACH + e - ROW_LEFT;
            const int col = j * 8 + t % 4 * 2;
            if (j >= first && j < groups) {
                fetch_pair(of[e], p, row0 + row, col0 + col GT_PLACE(gt_i, gt_j));
#if GT_EPI_BOXED
                for (int i = 0; i < 2; i++)
                    if (row0 + row < p->rows && col0 + col + i < p->cols)
                        gt_boxed_fetch(&of[e][i] GT_PLACE(gt_i + row0 + row,
                                                          gt_j + col0 + col + i));
#endif
            }
        }
        GT_UNROLL
        for (int e = 0; e < 2 * EACH; e++) {
            const int j = b % GT_CDIV(PAIRS, EACH) * EACH + e / 2 - ROW_LEFT;
            const int col = j * 8 + t % 4 * 2 + e % 2;
            if (j >= first && j < groups && behind + col * GT_SIZEOF_C >= 0)
                *(gt_c *)(line + col * GT_SIZEOF_C) =
                    gt_rounded(made(alpha, sums[j * 4 + h * 2 + e % 2], of[e / 2][e % 2],
                                    p->rows - row0 - row,
                                    p->cols - col0 - col GT_PLACE(gt_i + row0 + row,
                                                                  gt_j + col0 + col)));
        }
    }
}
#else
GT_INLINE void put_rows(char *chunk, const gt_acc *sums, int first, int groups,
                        const gt_c *c, gt_long ldc, gt_acc alpha, const struct part *p,
                        int row0, int col0, int t) {
    GT_UNROLL
    for (int h = 0; h < 2; h++) {
        const int row = row_of(t, h);
        const int behind = behind_piece(c + row * ldc);
        char *const line = chunk + row * ROW_PITCH + behind;
        GT_UNROLL /* a constant number of times: sums must stay in registers */
        for (int j = -2 * ROW_LEFT; j < ROW_COLS / 8 * 2; j++) {
            const int col = (j >> 1) * 8 + t % 4 * 2 + (j & 1);
            if (j >= first * 2 && j < groups * 2 && behind + col * GT_SIZEOF_C >= 0)
                *(gt_c *)(line + col * GT_SIZEOF_C) =
                    gt_to_c(alpha * sums[(j >> 1) * 4 + h * 2 + (j & 1)]);
        }
    }
}
#endif

/* A warp's rows of a chunk are its own. Only with tf32 from registers two warps share some
 * (across.h). */
GT_INLINE void meet_rows(int group) {
    if (RS && SIZE == 4)
        gt_group_barrier(1 + group, 128);
    else
        gt_warp_barrier();
}

/* A warp's pieces of a chunk have numbers: their row, of 16, and the byte in it. Behind all
 * whole pieces come those that only the end of a row may have. */
GT_INLINE int piece_row(int e) {
    return e < 16 * ROW_PIECES ? e / ROW_PIECES : e - 16 * ROW_PIECES;
}

GT_INLINE int piece_at(int e) {
    return 16 * (e < 16 * ROW_PIECES ? e % ROW_PIECES : ROW_PIECES);
}

/* Stores bytes [begin, end) of a piece, which is loaded already. */
GT_INLINE void take_piece(char *c, uint4 loaded, const char *piece, int begin, int end) {
    if (begin <= 0 && end >= 16) {
        *(uint4 *)c = loaded;
    } else {
        GT_UNROLL
        for (int at = 0; at < 16; at += GT_SIZEOF_C)
            if (at >= begin && at < end)
                *(gt_c *)(c + at) = *(const gt_c *)(piece + at);
    }
}

/* Stores a warp's rows of a chunk to C, of which rows x cols exist from c on. first:
 * whether no chunk is left of it. All pieces are loaded before the first is stored. */
GT_INLINE void take_rows(const char *chunk, gt_c *c, gt_long ldc, int rows, int cols,
                         int first, int t) {
    enum { ALL = 16 * (ROW_PIECES + 1), EACH = GT_CDIV(ALL, 32) };
    const int lane = t % 32, row0 = t / 32 * 16;
    const char *const mine = chunk + row0 * ROW_PITCH;
    uint4 loaded[EACH];
    GT_UNROLL
    for (int i = 0; i < EACH; i++) {
        const int e = GT_MIN(lane + i * 32, ALL - 1);
        loaded[i] = *(const uint4 *)(mine + piece_row(e) * ROW_PITCH + piece_at(e));
    }
    GT_UNROLL
    for (int i = 0; i < EACH; i++) {
        const int e = lane + i * 32, row = row0 + piece_row(e), at = piece_at(e);
        gt_c *const to = c + row * ldc;
        const int behind = behind_piece(to), begin = first ? behind : 0;
        const int end = cols > ROW_COLS ? ROW_PIECES * 16 : behind + cols * GT_SIZEOF_C;
        if (e < ALL && row < rows)
            take_piece((char *)to - behind + at, loaded[i],
                       mine + piece_row(e) * ROW_PITCH + at, begin - at, end - at);
    }
}

/* Stores sums chunk by chunk, without reading C. See leave_by_chunks. */
GT_INLINE void leave_by_rows(const struct leaving *l, const gt_acc *sums GT_PLACE_PARAMS) {
    const struct target *const to = &l->c;
    char *const chunk = turned_of(&l->g);
    const gt_acc alpha = l->out.alpha;
    const int group = l->g.number, t = l->g.t % 128;
    if (GT_VECTORS)
        gt_group_barrier(1 + group, 128); /* all warps have copied their vectors */
    GT_UNROLL_BY(1)
    for (int i = 0; i < FRAGS * ROW_ACROSS; i++) {
        const int row = i / ROW_ACROSS * 64, col = i % ROW_ACROSS * ROW_COLS;
        const int rows = to->rows - row, cols = GT_MIN(to->cols, WN) - col;
        gt_c *const c = (gt_c *)to->at + place_in(to, row, col);
        if (rows <= 0 || cols <= 0)
            continue;
        meet_rows(group); /* the chunk before was taken */
        GT_UNROLL
        for (int j = 0; j < FRAGS * ROW_ACROSS; j++) {
            const int across = j % ROW_ACROSS, first = across > 0 ? -ROW_LEFT : 0;
            const int groups = GT_MIN(ROW_COLS, WN - across * ROW_COLS) / 8;
            const gt_acc *const own =
                sums + j / ROW_ACROSS * SUMS + across * ROW_COLS / 2;
            if (j == i)
                put_rows(chunk, own, first, groups, c, to->ld, alpha, &l->part, row, col,
                         t GT_PLACE(gt_i, gt_j));
        }
        meet_rows(group);
        take_rows(chunk, c, to->ld, rows, cols, col == 0, t);
    }
}
#else
GT_INLINE void leave_by_rows(const struct leaving *l, const gt_acc *sums GT_PLACE_PARAMS) {}
#endif
