/* SPDX-License-Identifier: Apache-2.0 */
/*
 * splitters.h - the splitters of triple with wgmma: a warpgroup that loads slabs of B to
 * registers, splits them and stores their parts to the ring.
 */
#if GT_ENGINE
/* The halves of columns that a thread splits, or as many elements of patches. The threads
 * that split. */
enum {
    HALVES = B_PATCHES && EACH == 2 ? 2 : BN * 2 / 128,
    SPLITTERS = B_PATCHES && EACH == 2 ? BN : 128
};

GT_INLINE struct gt_split_half half_of(int i, int t) {
    return gt_split_half_of(BN, B_ALONG, t + i * 128);
}

/* Whether the thread has a part of a slab. Another one's would lie behind B. */
GT_INLINE int has_part(int t) {
    return SPLITTERS == 128 || t < SPLITTERS;
}

/* Loads a thread's part of a slab of B. Across k, all halves are of one column. */
GT_INLINE void load_halves_of(int whole, unsigned x[HALVES][16], const struct operand *b,
                              const char *const *half, int left, int t) {
    const gt_long step = B_ALONG ? (gt_long)SIZE : b->pitch;
    GT_UNROLL
    for (int i = 0; i < HALVES; i++)
        GT_UNROLL
        for (int q = 0; q < 4; q++)
            gt_split_load(x[i] + 4 * q,
                          (B_ALONG ? half[i] : half[0] + 16 * i * step) + 4 * q * step,
                          B_ALONG ? WIDE_B : SIZE, step,
                          whole ? 4 : left - half_of(i, t).upper * 16 - 4 * q);
}

GT_INLINE void load_halves(unsigned x[HALVES][16], const struct operand *b,
                           const char *const *half, int left, int t) {
    if (left >= BK)
        load_halves_of(1, x, b, half, left, t);
    else
        load_halves_of(0, x, b, half, left, t);
}

/* Loads a thread's patch of a slab of B, of which `cols` columns exist. */
GT_INLINE void load_patch_of(int whole, unsigned x[HALVES][16], const struct operand *b,
                             const char *patch, int cols, int left, int t) {
    const struct gt_split_patch at = gt_split_patch_of(BN, t);
    GT_UNROLL
    for (int i = 0; i < 4; i++) {
        GT_UNROLL
        for (int s = 0; s < HALVES; s++, patch += b->pitch) {
            const int there = gt_split_patch_k(at, s, i) < left ? cols * SIZE : 0;
            gt_load_words(16, 4, x[s] + 4 * i, patch, whole ? 16 : there);
        }
        patch += (4 - HALVES) * b->pitch;
    }
}

/* Loads a thread's chunks of a slab of B: those of every 16th column. `line`: in the first.
 * A column that does not exist is an earlier one again. */
GT_INLINE void load_chunks_of(int whole, unsigned x[HALVES][16], const struct operand *b,
                              const char *line, int left, int t) {
    const int there = GT_MIN(left - t % 8 * 4, 4) * 4;
    int col = t / 8;
    GT_UNROLL
    for (int i = 0; i < HALVES * 4; i++) {
        gt_load_words(16, 4, x[i / 4] + i % 4 * 4, line, whole ? 16 : there);
        col += 16;
        line += whole || col < b->lines ? 16 * b->pitch : 0;
    }
}

/* Loads a thread's part of a slab of B. `at`: where its halves, patch or chunks begin. */
GT_INLINE void load_part(unsigned x[HALVES][16], const struct operand *b,
                         const char *const *at, int cols, int left, int t) {
    if (B_PATCHES && left >= BK && cols == 4)
        load_patch_of(1, x, b, at[0], cols, left, t);
    else if (B_PATCHES)
        load_patch_of(0, x, b, at[0], cols, left, t);
    else if (B_CHUNKS && left >= BK && b->lines >= BN)
        load_chunks_of(1, x, b, at[0], left, t);
    else if (B_CHUNKS)
        load_chunks_of(0, x, b, at[0], left, t);
    else
        load_halves(x, b, at, left, t);
}

/* Splits a thread's part i of HALVES. `to`: the stage. */
GT_INLINE void split_part(char *to, int i, const unsigned x[HALVES][16], int t) {
    if (B_PATCHES && i % EACH == 0)
        gt_split_store_patch(to, PART, gt_split_patch_of(BN, t), i, x);
    else if (!B_PATCHES && !B_CHUNKS)
        gt_split_store(to, PART, half_of(i, t), x[i]);
    else if (B_CHUNKS)
        GT_UNROLL
        for (int c = 0; c < 4; c++)
            gt_split_store_four(to, PART, t / 8 + (4 * i + c) * 16, t % 8, x[i] + 4 * c);
}

/* Splits a thread's part of a slab and tells that it did. */
GT_INLINE void split_slab(const struct ring *r, char *smem, struct gt_turn turn,
                          unsigned x[HALVES][16], int t) {
    gt_barrier_wait(r->empty + turn.stage * 8, turn.parity ^ 1);
    GT_UNROLL
    for (int i = 0; i < HALVES; i++)
        if (has_part(t))
            split_part(smem + turn.stage * 2 * PART, i, x, t);
    gt_async_sees_stores();
    gt_warp_barrier();
    if (t % 32 == 0)
        gt_barrier_arrive(r->full + turn.stage * 8);
}

/* The work of the splitters: slabs of B go through registers to the ring. The first round
 * only loads. */
GT_INLINE void split_slabs(const struct ring *r, char *smem, const struct operand *b,
                           int slabs, int t) {
    const gt_long step = BK * (B_ALONG ? (gt_long)SIZE : b->pitch);
    unsigned x[AHEAD_B][HALVES][16];
    const char *at[HALVES];
    struct gt_turn turn = {0, 0};
    const struct gt_split_patch patch = gt_split_patch_of(BN, t);
    const int col = GT_MIN(patch.col, (b->lines - 1) / 4 * 4);
    const int cols = GT_MIN(4, b->lines - col);
    GT_UNROLL
    for (int i = 0; i < HALVES; i++)
        at[i] = B_PATCHES  ? line_at(b, B_ALONG, col, gt_split_patch_k(patch, 0, 0))
                : B_CHUNKS ? line_at(b, B_ALONG, t / 8, t % 8 * 4)
                           : line_at(b, B_ALONG, half_of(i, t).col,
                                    half_of(i, t).upper * 16);
    GT_UNROLL_BY(1)
    for (int s = -AHEAD_B; s < slabs; s += AHEAD_B)
        GT_UNROLL
        for (int d = 0; d < AHEAD_B; d++) {
            if (s >= 0 && s + d < slabs) {
                split_slab(r, smem, turn, x[d], t);
                turn = gt_turn_next(STAGES, turn);
            }
            const int left = (int)(b->left - (s + d + AHEAD_B) * (gt_long)BK);
            if (has_part(t))
                load_part(x[d], b, at, cols, left, t);
            GT_UNROLL
            for (int i = 0; i < HALVES; i++)
                at[i] += step;
        }
}
#endif
