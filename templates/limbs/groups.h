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

/* A gt_turn whose successor has other machine code, with which limbs has been tuned. */
struct turn {
    int stage, parity;
};

GT_INLINE struct turn gt_turn_next(int, struct turn now) {
    struct turn next = {now.stage + 1, now.parity};
    if (next.stage == STAGES)
        next.stage = 0, next.parity ^= 1;
    return next;
}

/* The slabs of a tile. `own` is the byte of a slab of B where the block's part begins. */
struct slabs {
    struct walk *walk;
    int own;

    GT_INLINE int left() const {
        return walk->next_a != 0;
    }
    GT_INLINE void load(int stage, int full) const {
        gt_load_slabs(CLUSTER, stage, walk->next_a, SLAB_A, walk->next_b, SLAB_B, own,
                      full);
    }
    GT_INLINE void next() {
        advance(walk);
    }
};

GT_INLINE void produce(const struct gt_stages *r, struct walk *w) {
    struct slabs slabs = {w, gt_cluster_rank() * (SLAB_B / CLUSTER)};
    struct turn turn = {0, 0};
    gt_fill(STAGES, SLAB, r, &turn, &slabs);
}

/* Starts one batch of products while the one before it runs. The stage of the earlier batch
 * is free when that batch is done. */
GT_INLINE void consume(gt_acc acc[ACCS], const struct gt_stages *r, int slabs, int row0,
                       int lane) {
    struct turn turn = {0, 0};
    GT_UNROLL_BY(1)
    for (int group = LIMBS - 1; group >= 0; group--) {
        int before = -1; /* the stage of the running batch */
        GT_UNROLL_BY(1)
        for (int s = (group + 1) * slabs; s > 0; s--) {
            gt_await_slab(r, turn);
            multiply(acc, r->stages + turn.stage * SLAB, row0);
            GT_WGMMA_WAIT(1);
            gt_leave_stage(CLUSTER, r, before, lane);
            before = turn.stage;
            turn = gt_turn_next(STAGES, turn);
        }
        GT_WGMMA_WAIT(0);
        gt_wgmma_hold(ACCS, acc);
        gt_leave_stage(CLUSTER, r, before, lane);
        if (group > 0)
            shift(acc);
    }
}

GT_INLINE void compute(gt_acc acc[ACCS], struct walk *w, byte *stages, int row0, int col0,
                       int t) {
    const int at = gt_shared_address(stages);
    const struct gt_stages ring = gt_ring_at(STAGES, at, at + GT_AT_BARRIERS);
    if (t == 0) {
        gt_ring_make(STAGES, &ring, 1, (GT_THREADS / 32 - 1) * CLUSTER);
        gt_barrier_init_done();
    }
    GT_CLUSTER_MEET(CLUSTER > 1);
    if (t < GT_THREADS - 32)
        consume(acc, &ring, w->slabs, row0, t % 32);
    else if (t == GT_THREADS - 32)
        produce(&ring, w);
    if (CLUSTER > 1) /* no block may leave while another one writes into its memory */
        GT_CLUSTER_MEET(1);
}
#endif
