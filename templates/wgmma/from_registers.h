/* SPDX-License-Identifier: Apache-2.0 */
/*
 * from_registers.h - the products of an item of wgmma with RS: X from registers, to which a
 * warpgroup loads its rows of a slab while it multiplies the slab before (across.h).
 */
#if GT_RS
/* The warpgroup's rows of a slab of X. */
struct rows {
    unsigned f[STEPS * FRAGS][4];
};

/* x: the thread's place in a slab of X. */
GT_INLINE void load_rows(struct rows *to, int x, int lane) {
    GT_UNROLL
    for (int i = 0; i < STEPS * FRAGS; i++)
        gt_across_load(SIZE, SPAN_X, BK, to->f[i], x, i % FRAGS, i / FRAGS, lane);
}

/* Starts sums += these rows of X by the warpgroup's columns of Y, at y. With PROMOTE sums
 * begin anew. */
GT_INLINE void multiply(gt_acc *sums, const struct rows *x, int y) {
    const unsigned long long of_y = gt_wgmma_along_k(y);
    gt_wgmma_hold(FRAGS * SUMS, sums);
    gt_wgmma_fence();
    GT_UNROLL
    for (int i = 0; i < FRAGS; i++)
        multiply_first(sums + i * SUMS, x->f[i], of_y);
    GT_UNROLL
    for (int i = FRAGS; i < STEPS * FRAGS; i++)
        multiply_add(sums + i % FRAGS * SUMS, x->f[i], of_y + i / FRAGS * 2);
    gt_wgmma_commit();
    gt_wgmma_hold(FRAGS * SUMS, sums);
}

/* Starts the products of the slab of this turn, whose rows of X are loaded already. Then it
 * loads the next slab's, when there are more. The products before are waited for: they read
 * the registers that this writes. */
GT_INLINE void advance(gt_acc *sums, gt_acc *of_slab, const struct rows *now,
                       struct rows *next, const struct gt_stages *r, struct gt_turn turn,
                       int is_first, int more, const struct group *g) {
    const int before = (turn.stage == 0 ? STAGES : turn.stage) - 1;
    multiply(PROMOTE ? of_slab : sums, now, r->stages + turn.stage * SLAB + SLAB_X + g->y);
    await_before();
    if (!is_first)
        release(r, before, g->lane);
    if (more) {
        const struct gt_turn after = gt_turn_next(STAGES, turn);
        gt_await_slab(r, after);
        load_rows(next, r->stages + after.stage * SLAB + g->x, g->lane);
    }
    promote(sums, of_slab);
}

/* Multiplies all slabs of an item, two in a round. Returns the last one's stage. */
GT_INLINE int multiply_all(gt_acc *sums, gt_acc *of_slab, const struct gt_stages *r,
                           struct gt_turn turn, int slabs, const struct group *g) {
    struct rows even, odd;
    int last = turn.stage;
    if (slabs > 0) {
        gt_await_slab(r, turn);
        load_rows(&even, r->stages + turn.stage * SLAB + g->x, g->lane);
    }
    GT_UNROLL_BY(1)
    for (int s = 0; s < slabs; s += 2) {
        advance(sums, of_slab, &even, &odd, r, turn, s == 0, s + 1 < slabs, g);
        last = turn.stage;
        turn = gt_turn_next(STAGES, turn);
        if (s + 1 < slabs) {
            advance(sums, of_slab, &odd, &even, r, turn, 0, s + 2 < slabs, g);
            last = turn.stage;
            turn = gt_turn_next(STAGES, turn);
        }
    }
    return last;
}
#endif
