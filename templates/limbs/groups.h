/* SPDX-License-Identifier: Apache-2.0 */
/*
 * groups.h - slabs and products of limbs with wgmma: one thread copies, warpgroups
 * multiply.
 */
#if GT_ENGINE
/* The descriptor of rows of BK bytes. */
GT_INLINE unsigned long long describe(int at) {
    return gt_wgmma_tile(at, 16, 8 * BK, BK);
}

/* Starts 64 x 32 bytes by 32 x BN. */
GT_WGMMA(multiply_add, GT_BN, u8, u8, 0, 0)

/* Starts acc += the warpgroup's rows of slab A x slab B. */
GT_INLINE void multiply(gt_acc acc[ACCS], int stage, int row0) {
    const unsigned long long a = describe(stage + row0 * BK), b = describe(stage + SLAB_A);
    gt_wgmma_hold(ACCS, acc);
    gt_wgmma_fence();
    GT_UNROLL
    for (int k = 0; k < BK / 32; k++)
        GT_UNROLL
        for (int i = 0; i < FRAGS_M; i++)
            multiply_add(acc + i * FRAGS_N * 4, a + k * 2 + i * (64 * BK / 16), b + k * 2);
    gt_wgmma_commit();
    gt_wgmma_hold(ACCS, acc);
}

/* A stage, and the parity of how often all stages have been used. */
struct turn {
    int stage, parity;
};

GT_INLINE struct turn next_turn(struct turn now) {
    struct turn next = {now.stage + 1, now.parity};
    if (next.stage == STAGES)
        next.stage = 0, next.parity ^= 1;
    return next;
}

/* full and empty are the first of STAGES barriers each. */
GT_INLINE void produce(struct walk *w, int stages, int full, int empty) {
    const int part = gt_cluster_rank() * (SLAB_B / CLUSTER);
    struct turn turn = {0, 0};
    GT_UNROLL_BY(1)
    for (; w->next_a; turn = next_turn(turn)) {
        const int stage = stages + turn.stage * SLAB, barrier = full + turn.stage * 8;
        /* The stage must be free in all blocks. In the first round it is: the phase before
         * the first has passed. */
        gt_barrier_wait(empty + turn.stage * 8, turn.parity ^ 1);
        gt_barrier_arrive_expecting(barrier, SLAB);
        gt_bulk_load(stage, w->next_a, SLAB_A, barrier);
        if (CLUSTER == 1)
            gt_bulk_load(stage + SLAB_A, w->next_b, SLAB_B, barrier);
        else
            gt_bulk_load_to(stage + SLAB_A + part, w->next_b + part, SLAB_B / CLUSTER,
                            barrier, (1 << CLUSTER) - 1);
        advance(w);
    }
}

/* Starts one batch of products while the one before it runs. The stage of the earlier batch
 * is free when that batch is done. */
GT_INLINE void consume(gt_acc acc[ACCS], int slabs, int stages, int full, int empty,
                       int row0, int lane) {
    struct turn turn = {0, 0};
    GT_UNROLL_BY(1)
    for (int group = LIMBS - 1; group >= 0; group--) {
        int before = -1; /* the stage of the running batch */
        GT_UNROLL_BY(1)
        for (int s = (group + 1) * slabs; s > 0; s--) {
            gt_barrier_wait(full + turn.stage * 8, turn.parity);
            gt_warp_barrier();
            multiply(acc, stages + turn.stage * SLAB, row0);
            GT_WGMMA_WAIT(1);
            if (lane < CLUSTER && before >= 0)
                gt_barrier_arrive_in(empty + before * 8, lane);
            before = turn.stage;
            turn = next_turn(turn);
        }
        GT_WGMMA_WAIT(0);
        gt_wgmma_hold(ACCS, acc);
        if (lane < CLUSTER && before >= 0)
            gt_barrier_arrive_in(empty + before * 8, lane);
        if (group > 0)
            shift(acc);
    }
}

GT_INLINE void compute(gt_acc acc[ACCS], struct walk *w, byte *stages, int row0, int col0,
                       int t) {
    const int at = gt_shared_address(stages), full = at + STAGES * SLAB,
              empty = full + STAGES * 8;
    if (t == 0) {
        for (int s = 0; s < STAGES; s++) {
            gt_barrier_init(full + s * 8, 1);
            gt_barrier_init(empty + s * 8, (GT_THREADS / 32 - 1) * CLUSTER);
        }
        gt_barrier_init_done();
    }
    GT_CLUSTER_MEET(CLUSTER > 1);
    if (t < GT_THREADS - 32)
        consume(acc, w->slabs, at, full, empty, row0, t % 32);
    else if (t == GT_THREADS - 32)
        produce(w, at, full, empty);
    if (CLUSTER > 1) /* no block may leave while another one writes into its memory */
        GT_CLUSTER_MEET(1);
}
#endif
