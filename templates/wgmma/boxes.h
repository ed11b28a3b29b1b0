/* SPDX-License-Identifier: Apache-2.0 */
/*
 * boxes.h - the way out of wgmma that the accelerator takes: boxes of C in shared memory.
 */
#if GT_STORE
/* Stores two neighbouring elements of C. */
GT_INLINE void put_words(int at, const unsigned *word) {
    if (GT_SIZEOF_C == 1)
        asm volatile("st.shared.b16 [%0], %1;" ::"r"(at), "h"((unsigned short)word[0])
                     : "memory");
    else if (GT_SIZEOF_C == 2)
        asm volatile("st.shared.b32 [%0], %1;" ::"r"(at), "r"(word[0]) : "memory");
    else
        asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(at), "r"(word[0]),
                     "r"(word[1])
                     : "memory");
}

/* A turn of boxes is 64 rows of X by TURN_COLS columns of Y, in one box of C; with SWAP,
 * in boxes of SPAN_C bytes of a row of C by 32 rows of C. */
enum {
    SPAN_C = GT_SPAN_C, /* bytes of a box's row */
    TURN_COLS = SWAP ? 32 : SPAN_C / GT_SIZEOF_C,
    TURN_LINES = SWAP ? 32 : 64,         /* rows of C */
    TURN = 64 * TURN_COLS * GT_SIZEOF_C, /* bytes */
    BOX_BYTES = SWAP ? 32 * SPAN_C : TURN
};
GT_STATIC_ASSERT(GT_PLACES * TURN <= STAGED, boxes_have_room);

/* Where the element of this row of X and column of Y lies in a turn's boxes. */
GT_INLINE int place_in_boxes(int row, int col) {
    const int byte = (SWAP ? row : col) * GT_SIZEOF_C, line = SWAP ? col : row;
    return byte / SPAN_C * BOX_BYTES +
           gt_swizzled(line * SPAN_C + byte % SPAN_C, SPAN_C);
}

/* The pairs of neighbours in C that a thread has in a turn: where sum number `at` of pair
 * i lies among the fragment's, and the row of X and the column of Y of the first one. */
enum { PAIRS = TURN_COLS / 8 * 2 };

GT_INLINE int sum_of_pair(int i, int at) {
    return i / 2 * 4 + i % 2 * (SWAP ? 1 : 2) + at * (SWAP ? 2 : 1);
}

GT_INLINE int row_of_pair(int t, int i) {
    return row_of(t, SWAP ? 0 : i % 2);
}

GT_INLINE int col_of_pair(int t, int i) {
    return i / 2 * 8 + t % 4 * 2 + (SWAP ? i % 2 : 0);
}

/* The first row of X and column of Y of a turn. */
enum { ACROSS = WN / TURN_COLS, TURNS = FRAGS * ACROSS };

GT_INLINE int turn_row(int turn) {
    return turn / ACROSS * 64;
}

GT_INLINE int turn_col(int turn) {
    return turn % ACROSS * TURN_COLS;
}

/* put_boxes puts a turn's elements of C to its boxes at `at`. */
#if GT_EPILOGUE
/* The boxes have the boxed operand. The operands of a few pairs are read before the first
 * of these is made. */
GT_INLINE void put_boxes(int at, int turn, const gt_acc *sums, gt_acc alpha,
                         const struct part *p, int t GT_PLACE_PARAMS) {
    enum { EACH = GT_MIN(PAIRS, FRAGS * SUMS > 176 ? 2 : FRAGS * SUMS > 128 ? 4 : 8) };
    const int line0 = SWAP ? turn_col(turn) : turn_row(turn);
    const int at0 = SWAP ? turn_row(turn) : turn_col(turn);
    GT_UNROLL
    for (int b = 0; b < PAIRS; b += EACH) {
        struct gt_operands of[EACH][2] = {{{0}}};
        GT_UNROLL
        for (int e = 0; e < EACH; e++) {
            const int row = row_of_pair(t, b + e), col = col_of_pair(t, b + e);
            fetch_pair(of[e], p, line0 + (SWAP ? col : row),
                       at0 + (SWAP ? row : col) GT_PLACE(gt_i, gt_j));
#if GT_EPI_BOXED
            gt_boxed_read(of[e], at + place_in_boxes(row, col));
#endif
        }
        GT_UNROLL
        for (int e = 0; e < EACH; e++) {
            const int row = row_of_pair(t, b + e), col = col_of_pair(t, b + e);
            const int line = line0 + (SWAP ? col : row), from = at0 + (SWAP ? row : col);
            gt_result x[2];
            unsigned word[GT_PAIR_WORDS];
            GT_UNROLL
            for (int i = 0; i < 2; i++)
                x[i] = made(alpha, sums[sum_of_pair(b + e, i)], of[e][i], p->rows - line,
                            p->cols - from - i GT_PLACE(gt_i + line, gt_j + from + i));
            gt_round_pair(word, x[0], x[1]);
            put_words(at + place_in_boxes(row, col), word);
        }
    }
}
#else
/* Elements have two bytes at least: elements of one byte come of an epilogue. */
GT_INLINE void put_boxes(int at, int turn, const gt_acc *sums, gt_acc alpha,
                         const struct part *p, int t) {
    GT_UNROLL
    for (int i = 0; i < PAIRS; i++) {
        const union {
            gt_c c[2];
            unsigned word[GT_SIZEOF_C / 2];
        } pair = {{gt_to_c(alpha * sums[sum_of_pair(i, 0)]),
                   gt_to_c(alpha * sums[sum_of_pair(i, 1)])}};
        put_words(at + place_in_boxes(row_of_pair(t, i), col_of_pair(t, i)), pair.word);
    }
}
#endif

#if GT_EPI_BOXED
/* Starts to copy the boxed operand to the boxes of a turn. */
GT_INLINE void request_turn(const struct part *p, int turn, int t GT_PLACE_PARAMS) {
    enum { LINE_BYTES = SWAP ? 64 * GT_SIZEOF_C : SPAN_C, A_LINE = LINE_BYTES / 16 };
    const int line0 = SWAP ? turn_col(turn) : turn_row(turn);
    const int at0 = SWAP ? turn_row(turn) : turn_col(turn);
    GT_UNROLL
    for (int e = 0; e < TURN / 16; e += 128) {
        const int line = (e + t) / A_LINE, byte = (e + t) % A_LINE * 16;
        const int to = p->boxes + turn % GT_PLACES * TURN + byte / SPAN_C * BOX_BYTES +
                       gt_swizzled(line * SPAN_C + byte % SPAN_C, SPAN_C);
        const int left = line0 + line < p->rows ? (p->cols - at0) * GT_SIZEOF_C - byte : 0;
        gt_boxed_copy(to, GT_MAX(GT_MIN(left, 16), 0) GT_PLACE(
                              gt_i + line0 + line, gt_j + at0 + byte / GT_SIZEOF_C));
    }
}
#else
GT_INLINE void request_turn(const struct part *p, int turn, int t GT_PLACE_PARAMS) {}
#endif

/* Stores those rows and columns of a turn that exist, C's first one at `c`. */
GT_INLINE void take_boxes(int at, gt_c *c, gt_long ldc, int rows, int cols, int t) {
    enum {
        PIECE = 16 / GT_SIZEOF_C, /* elements */
        A_LINE = (SWAP ? 64 : TURN_COLS) / PIECE /* pieces */
    };
    const int high = SWAP ? cols : rows, wide = SWAP ? rows : cols;
    GT_UNROLL_BY(2)
    for (int e = t; e < TURN_LINES * A_LINE; e += 128) {
        const int line = e / A_LINE, first = e % A_LINE * PIECE;
        unsigned x[4];
        if (line >= high || first >= wide)
            continue;
        asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                     : "r"(at + place_in_boxes(SWAP ? first : line, SWAP ? line : first))
                     : "memory");
        *(uint4 *)(c + line * ldc + first) = make_uint4(x[0], x[1], x[2], x[3]);
    }
}

/* A turn begins when at most READING stores of boxes still read their places. It asks for
 * the boxed operand of the turn that comes AHEAD turns later. */
#define READING (GT_EPI_BOXED && GT_PLACES == 2 ? 0 : 1)
enum { AHEAD = GT_PLACES - 1 - READING };

/* GT_PLACES places in shared memory take turns. Without a boxed operand there are two of
 * them, which take turns also from a tile to the warpgroup's next one. Below a product of a
 * batch may lie another one. So the threads store its incomplete boxes. */
GT_INLINE void leave_by_boxes(const struct leaving *l, const gt_acc *sums GT_PLACE_PARAMS) {
    const struct target *const to = &l->c;
    const int row = l->row + (SWAP ? 0 : l->it.ahead_c); /* in the map of C */
    const int col = l->col + (SWAP ? l->it.ahead_c : 0);
    const int at = boxes_of(&l->g), group = l->g.number, t = l->g.t % 128;
    const gt_acc alpha = l->out.alpha;
    const int odd = TURNS % 2 && !GT_EPI_BOXED ? l->before % 2 : 0;
    GT_UNROLL
    for (int i = 0; i < TURNS; i++) {
        const int row0 = turn_row(i), col0 = turn_col(i);
        const int turn = at + (odd + i) % GT_PLACES * TURN;
        if (t == 0)
            GT_BULK_STORES_READ(READING);
        if (GT_EPI_BOXED)
            GT_COPY_WAIT(READING); /* for this turn's: each turn closes one group */
        gt_group_barrier(1 + group, 128);
        if (GT_EPI_BOXED && i + AHEAD >= GT_PLACES && i + AHEAD < TURNS)
            request_turn(&l->part, i + AHEAD, t GT_PLACE(gt_i, gt_j));
        if (GT_EPI_BOXED)
            GT_COPY_COMMIT();
        put_boxes(turn, i, sums + i / ACROSS * SUMS + col0 / 2, alpha, &l->part,
                  t GT_PLACE(gt_i, gt_j));
        gt_async_sees_stores();
        gt_group_barrier(1 + group, 128);
        const int rows = to->rows - row0, cols = to->cols - col0;
        if (IS_BATCH && (SWAP ? cols : rows) < TURN_LINES) {
            take_boxes(turn, (gt_c *)to->at + place_in(to, row0, col0), to->ld, rows, cols,
                       t);
            if (t == 0)
                gt_bulk_stores_commit(); /* every turn has a group */
            continue;
        }
        if (t == 0) {
            GT_UNROLL
            for (int b = 0; b < TURN / BOX_BYTES; b++)
                gt_box_store(l->out.map,
                             SWAP ? row + row0 + b * (SPAN_C / GT_SIZEOF_C) : col + col0,
                             SWAP ? col + col0 : row + row0, turn + b * BOX_BYTES);
            gt_bulk_stores_commit();
        }
    }
}

/* Before a store of boxes, or the block's end: waits until the boxes before were read. */
GT_INLINE void await_boxes(void) {
    GT_BULK_STORES_READ(0);
}
#else
GT_INLINE void leave_by_boxes(const struct leaving *l,
                              const gt_acc *sums GT_PLACE_PARAMS) {}
GT_INLINE void await_boxes(void) {}
#endif
