/* SPDX-License-Identifier: Apache-2.0 */
/*
 * from_shared.h - the products of an item of wgmma without RS: X and Y from shared memory.
 */
#if !GT_RS
/* Starts sums += the warpgroup's rows of X, at x, by its columns of Y, at y. With PROMOTE
 * sums begin anew. */
GT_INLINE void multiply(gt_acc *sums, int x, int y) {
    enum {
        STEP_X = ALONG_X ? 2 : SPAN_X, STEP_Y = ALONG_Y ? 2 : SPAN_Y, /* 16 bytes each */
        NEXT = 64 * LINE / 16 /* from a fragment to the next */
    };
    const unsigned long long of_x = ALONG_X ? gt_wgmma_along_k(x)
                                            : gt_wgmma_along_width(x, SPAN_X, BK);
    const unsigned long long of_y = ALONG_Y ? gt_wgmma_along_k(y)
                                            : gt_wgmma_along_width(y, SPAN_Y, BK);
    gt_wgmma_hold(FRAGS * SUMS, sums);
    gt_wgmma_fence();
    GT_UNROLL
    for (int f = 0; f < FRAGS; f++)
        multiply_first(sums + f * SUMS, of_x + f * NEXT, of_y);
    GT_UNROLL
    for (int k = 1; k < STEPS; k++)
        GT_UNROLL
        for (int f = 0; f < FRAGS; f++)
            multiply_add(sums + f * SUMS, of_x + f * NEXT + k * STEP_X, of_y + k * STEP_Y);
    gt_wgmma_commit();
    gt_wgmma_hold(FRAGS * SUMS, sums);
}

/* Multiplies all slabs of an item. A batch of products runs while the next one is started.
 * Returns the last slab's stage. */
GT_INLINE int multiply_all(gt_acc *sums, gt_acc *of_slab, const struct gt_stages *r,
                           struct gt_turn turn, int slabs, const struct group *g) {
    int before = 0; /* the stage of the running batch */
    GT_UNROLL_BY(1)
    for (int s = 0; s < slabs; s++) {
        const int stage = r->stages + turn.stage * SLAB;
        gt_await_slab(r, turn);
        multiply(PROMOTE ? of_slab : sums, stage + g->x, stage + SLAB_X + g->y);
        await_before();
        if (s > 0)
            release(r, before, g->lane);
        promote(sums, of_slab);
        before = turn.stage;
        turn = gt_turn_next(STAGES, turn);
    }
    return before;
}
#endif
