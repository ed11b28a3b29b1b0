/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loose.h - slabs of wgmma with rows that begin anywhere in memory (PRODUCERS 4, 8). No
 * tensor map describes such rows. The threads of the producing warps load a slab in pieces
 * of 16 bytes, as the aligned words that a piece lies in, shift the words together, and
 * store the piece where the box of a tensor map would have it. No operand is copied to the
 * workspace.
 *
 * A scheduler has few of these warps, and their instructions wait for each other. So the
 * fewest instructions a piece are the fastest: words need a shift each, where aligned
 * pieces of 16 bytes need the choice of words as well.
 */
#if GT_LOOSE
/* Pieces in a line of X and of Y, and lines; a thread's pieces of a slab, and how many of
 * them it loads at once. Two such batches are under way: one is loaded while the other one
 * is stored. */
enum {
    LOADERS = PRODUCERS * 32,
    WIDE_X = ALONG_X ? LINE / 16 : BM * SIZE / 16, LINES_X = ALONG_X ? BM : BK,
    WIDE_Y = ALONG_Y ? LINE / 16 : BN * SIZE / 16, LINES_Y = ALONG_Y ? BN : BK,
    PIECES_X = GT_CDIV(SLAB_X, 16 * LOADERS), PIECES_Y = GT_CDIV(SLAB_Y, 16 * LOADERS),
    PIECES = PIECES_X + PIECES_Y,
    BATCHES = PIECES > 16 ? 6 : PIECES > 8 ? 4 : 2, /* even: they alternate */
    EACH = GT_CDIV(PIECES, BATCHES)
};

/* An operand as it lies in memory: lines of `bytes` bytes, `pitch` bytes apart. */
struct loose {
    const char *from;
    gt_long pitch;
    int lines, bytes;
};

GT_INLINE struct loose loose_of(const void *from, gt_long ld, int lines, int length) {
    const struct loose o = {(const char *)from, ld * SIZE, lines, length * SIZE};
    return o;
}

/* The operands and the part of them that a slab has: rows of X and columns of Y from `row`
 * and `col` on, k from `k` on. */
struct loose_slab {
    const struct loose *x, *y;
    int row, col, k;
};

/* An operand's part of a slab: its first line and byte. */
struct corner {
    const struct loose *of;
    int line, byte;
};

GT_INLINE struct corner corner_of(const struct loose_slab *s, int of_x) {
    const struct corner x = {s->x, ALONG_X ? s->row : s->k,
                             (ALONG_X ? s->k : s->row) * SIZE};
    const struct corner y = {s->y, ALONG_Y ? s->col : s->k,
                             (ALONG_Y ? s->k : s->col) * SIZE};
    return of_x ? x : y;
}

/* The address of a piece in shared memory. */
GT_INLINE int piece_to(int stage, int of_x, int line, int piece) {
    const int along = of_x ? ALONG_X : ALONG_Y;
    const int span = along ? LINE : of_x ? SPAN_X : SPAN_Y;
    const int box = along ? 0 : piece * 16 / span;
    return stage + (of_x ? 0 : SLAB_X) +
           gt_swizzled((box * BK + line) * span + piece * 16 - box * span, span);
}

/* Stores a piece at an address in shared memory. */
GT_INLINE void store_piece(const unsigned *words, int to) {
    asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(words[0]),
                 "r"(words[1]), "r"(words[2]), "r"(words[3])
                 : "memory");
}

/* ---- slabs without the first and the last bytes of an operand ---------------------- */

/* Pieces on their way: the words that each lies in, and by how many bits it begins there
 * after the first one's beginning. Four-byte elements are words. */
struct batch {
    unsigned words[EACH][5];
    int shift[EACH];
};

/* Loads a batch. A line past the operand's last one becomes that one, and the bytes past a
 * line's end are the next line's: no sum of theirs is stored. */
GT_INLINE void load_batch(struct batch *b, const struct loose_slab *s, int number, int t) {
    GT_UNROLL
    for (int i = 0; i < EACH; i++) {
        const int piece = number * EACH + i, of_x = piece < PIECES_X;
        const int n = (of_x ? piece : piece - PIECES_X) * LOADERS + t;
        const int wide = of_x ? WIDE_X : WIDE_Y;
        const struct corner c = corner_of(s, of_x);
        const int line = GT_MIN(c.line + n / wide, c.of->lines - 1);
        const char *const from = c.of->from + line * c.of->pitch + (c.byte + n % wide * 16);
        const int begin = SIZE == 4 ? 0 : (int)((gt_long)from & 3);
        const unsigned *const at = (const unsigned *)(from - begin);
        if (piece >= PIECES)
            continue;
        b->shift[i] = begin * 8;
        GT_UNROLL
        for (int w = 0; w < (SIZE == 4 ? 4 : 5); w++)
            b->words[i][w] = at[w];
    }
}

GT_INLINE void store_batch(const struct batch *b, int stage, int number, int t) {
    GT_UNROLL
    for (int i = 0; i < EACH; i++) {
        const int piece = number * EACH + i, of_x = piece < PIECES_X;
        const int n = (of_x ? piece : piece - PIECES_X) * LOADERS + t;
        const int wide = of_x ? WIDE_X : WIDE_Y;
        unsigned words[4];
        if (piece >= PIECES)
            continue;
        GT_UNROLL
        for (int w = 0; w < 4; w++)
            words[w] = SIZE == 4 ? b->words[i][w]
                                 : __funnelshift_r(b->words[i][w], b->words[i][w + 1],
                                                   b->shift[i]);
        if ((of_x ? SLAB_X : SLAB_Y) % (16 * LOADERS) == 0 ||
            n < (of_x ? SLAB_X : SLAB_Y) / 16)
            store_piece(words, piece_to(stage, of_x, n / wide, n % wide));
    }
}

/* ---- slabs at an edge -------------------------------------------------------------- */

/* Whether the words of the slab's pieces may reach out of an operand, or past the last k.
 * 16 lines follow an inner slab. They must be as long as the line of a tile. */
GT_INLINE int is_at_edge(const struct loose_slab *s, int k) {
    enum {
        LEAST_X = ALONG_X ? 32 : GT_MAX(32, BM * SIZE / 16),
        LEAST_Y = GT_MAX(32, BN * SIZE / 16)
    };
    return (s->k == 0 && (s->row == 0 || s->col == 0)) || s->k + BK + 16 > k ||
           s->x->pitch < LEAST_X || s->y->pitch < LEAST_Y;
}

GT_INLINE int is_inside(const struct loose *o, const char *grain) {
    return grain >= o->from &&
           grain + 16 <= o->from + (o->lines - 1) * o->pitch + o->bytes;
}

/* Makes words[0..3] a piece that may not exist whole. Zeros follow the operand's end. */
GT_INLINE void load_at_edge(unsigned *words, const struct loose *o, int line, int byte) {
    const int there = line < o->lines ? GT_MIN(o->bytes - byte, 16) : 0;
    const char *const from = o->from + line * o->pitch + byte;
    const int shift = (int)((gt_long)from & 15);
    const char *const left = from - shift, *const right = left + (shift > 0 ? 16 : 0);
    GT_UNROLL
    for (int w = 0; w < 8; w++)
        words[w] = 0;
    if (there > 0 && is_inside(o, left) && is_inside(o, right)) {
        gt_load_words(16, SIZE, words, left, 16);
        gt_load_words(16, SIZE, words + 4, right, 16);
        gt_repack_shift(words, shift);
        gt_repack_cut(words, there);
    } else if (there > 0) {
        GT_UNROLL
        for (int w = 0; w < 4; w++)
            words[w] = gt_word_of(SIZE, from + 4 * w, there - 4 * w);
    }
}

GT_INLINE void copy_at_edge(const struct loose_slab *s, int stage, int of_x, int t) {
    const int wide = of_x ? WIDE_X : WIDE_Y, lines = of_x ? LINES_X : LINES_Y;
    const struct corner c = corner_of(s, of_x);
    GT_UNROLL_BY(2)
    for (int n = t; n < lines * wide; n += LOADERS) {
        unsigned words[8];
        load_at_edge(words, c.of, c.line + n / wide, c.byte + n % wide * 16);
        store_piece(words, piece_to(stage, of_x, n / wide, n % wide));
    }
}

/* ---- all slabs --------------------------------------------------------------------- */

/* Hides from the compiler that t is the same in each round, so that it keeps no place of a
 * piece in registers from one round to the next. */
GT_INLINE int hidden(int t) {
    asm volatile("" : "+r"(t));
    return t;
}

/* Tells the readers of a stage that this warp has stored its part of the slab. */
GT_INLINE void tell_readers(const struct gt_stages *r, struct gt_turn turn, int t) {
    gt_async_sees_stores();
    gt_warp_barrier();
    if (t % 32 == 0)
        gt_barrier_arrive(r->full + turn.stage * 8);
}

/* Copies slabs until one is at an edge; at least one. Returns how many. Of the next slab a
 * batch is loaded while the last batch of this one is stored. */
GT_INLINE int copy_inner_slabs(struct loose_slab *s, const struct gt_stages *r,
                               struct gt_turn *turn, int slabs, int k) {
    struct batch even, odd;
    int count = 0, more = 1;
    load_batch(&even, s, 0, GT_THREAD_X - READERS);
    GT_UNROLL_BY(1)
    for (; more; count++, *turn = gt_turn_next(STAGES, *turn)) {
        const int stage = r->stages + turn->stage * SLAB;
        const int t = hidden(GT_THREAD_X - READERS);
        load_batch(&odd, s, 1, t);
        gt_barrier_wait(r->empty + turn->stage * 8, turn->parity ^ 1);
        GT_UNROLL
        for (int i = 0; i + 2 < BATCHES; i += 2) {
            store_batch(&even, stage, i, t);
            load_batch(&even, s, i + 2, t);
            store_batch(&odd, stage, i + 1, t);
            load_batch(&odd, s, i + 3, t);
        }
        store_batch(&even, stage, BATCHES - 2, t);
        s->k += BK;
        more = count + 1 < slabs && !is_at_edge(s, k);
        if (more)
            load_batch(&even, s, 0, t);
        store_batch(&odd, stage, BATCHES - 1, t);
        tell_readers(r, *turn, t);
    }
    return count;
}

/* All threads of the producing warps copy all slabs of the block's items. */
GT_INLINE void produce_loose(struct plan *p, const struct gt_stages *r, struct item first,
                             const struct loose *x, const struct loose *y, int k) {
    const int t = GT_THREAD_X - READERS;
    struct gt_turn turn = {0, 0};
    GT_UNROLL_BY(1)
    for (int number = p->first; number < p->items; number += p->step) {
        const struct item it = was_found(number - p->first) ? first : item_of(p, number);
        struct loose_slab slab = {x, y, it.row, it.col, it.first * BK};
        GT_UNROLL_BY(1)
        for (int s = 0; s < it.slabs;) {
            if (!is_at_edge(&slab, k)) {
                s += copy_inner_slabs(&slab, r, &turn, it.slabs - s, k);
                continue;
            }
            gt_barrier_wait(r->empty + turn.stage * 8, turn.parity ^ 1);
            copy_at_edge(&slab, r->stages + turn.stage * SLAB, 1, t);
            copy_at_edge(&slab, r->stages + turn.stage * SLAB, 0, t);
            tell_readers(r, turn, t);
            turn = gt_turn_next(STAGES, turn);
            slab.k += BK;
            s++;
        }
    }
}
#endif
