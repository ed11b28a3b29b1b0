/* SPDX-License-Identifier: Apache-2.0 */
/*
 * groups.h - slabs and products of remainder with wgmma: one thread copies, warpgroups
 * multiply.
 */
#if GT_ENGINE
/* Starts 64 x 32 bytes by 32 x BN. */
GT_WGMMA(multiply_add, GT_BN, i8, s8, 0, 0)

/* Starts acc += the warpgroup's rows of slab A x slab B. */
GT_INLINE void multiply(int acc[FRAGS][4], int stage, int row0) {
    const unsigned long long a = gt_wgmma_along_k(stage + row0 * BK),
                             b = gt_wgmma_along_k(stage + SLAB_A);
    gt_wgmma_hold(FRAGS * 4, acc[0]);
    gt_wgmma_fence();
    GT_UNROLL
    for (int k = 0; k < BK / 32; k++)
        GT_UNROLL
        for (int i = 0; i < FRAGS_M; i++)
            multiply_add(acc[i * FRAGS_N], a + k * 2 + i * (64 * BK / 16), b + k * 2);
    gt_wgmma_commit();
    gt_wgmma_hold(FRAGS * 4, acc[0]);
}

/* The slabs that are left of a walk. `own` is the byte of a slab of B where the block's
 * part begins. */
struct slabs {
    struct walk walk;
    int own;

    GT_INLINE int left() const {
        return walk.left > 0;
    }
    GT_INLINE void load(int stage, int full) const {
        gt_load_slabs(CLUSTER, stage, walk.a, SLAB_A, walk.b, SLAB_B, own, full);
    }
    GT_INLINE void next() {
        walk.a += walk.step;
        walk.b += walk.step;
        walk.left--;
    }
};

/* The ring and the turn of the next slab. */
struct ring {
    struct gt_stages at;
    struct gt_turn turn;
};

GT_INLINE struct ring ring_of(char *stages) {
    const int at = gt_shared_address(stages);
    const struct ring r = {gt_ring_at(STAGES, at, at + GT_AT_BARRIERS), {0, 0}};
    return r;
}

GT_INLINE void ring_init(struct ring r) {
    gt_ring_make(STAGES, &r.at, 1, WORKERS / 32 * CLUSTER);
    gt_barrier_init(r.at.stages + GT_AT_DOUBT + 8, CLUSTER);
    gt_barrier_init_done();
}

/* Copies slabs. */
GT_INLINE void produce(struct ring *r, struct walk w) {
    struct slabs slabs = {w, gt_cluster_rank() * (SLAB_B / CLUSTER)};
    gt_fill(STAGES, SLAB, &r->at, &r->turn, &slabs);
}

/* acc += the product of some slabs. One batch of products starts while the one before it
 * runs. The stage of the earlier batch is free when that batch is done. */
GT_INLINE void multiply_slabs(int acc[FRAGS][4], struct ring *r, int slabs, int t) {
    int before = -1; /* the stage of the running batch */
    GT_UNROLL_BY(1)
    for (int s = 0; s < slabs; s++) {
        gt_await_slab(&r->at, r->turn);
        multiply(acc, r->at.stages + r->turn.stage * SLAB, warp_m_of(t));
        GT_WGMMA_WAIT(1);
        gt_leave_stage(CLUSTER, &r->at, before, t % 32);
        before = r->turn.stage;
        r->turn = gt_turn_next(STAGES, r->turn);
    }
    GT_WGMMA_WAIT(0);
    gt_wgmma_hold(FRAGS * 4, acc[0]);
    gt_leave_stage(CLUSTER, &r->at, before, t % 32);
}

/* Tells the other block of the cluster of a doubt; `doubt` is its shared address. */
GT_INLINE void tell_doubt(int doubt) {
    if (CLUSTER > 1)
        asm volatile("{\n"
                     ".reg .b32 there;\n"
                     "mapa.shared::cluster.u32 there, %0, %1;\n"
                     "st.shared::cluster.u32 [there], 1;\n"
                     "}" ::"r"(doubt),
                     "r"(gt_cluster_rank() ^ 1)
                     : "memory");
}

/* Waits until all blocks of the cluster have told. */
GT_INLINE void end_doubt(int barrier, int parity) {
    if (CLUSTER == 1)
        return;
    asm volatile("fence.acq_rel.cluster;" ::: "memory");
    for (int rank = 0; rank < CLUSTER; rank++)
        gt_barrier_arrive_in(barrier, rank);
    gt_barrier_wait(barrier, parity);
    asm volatile("fence.acq_rel.cluster;" ::: "memory");
}

/* The barriers of gemm's threads besides number 0, which all of them meet at. */
enum barrier {
    WORKERS_MEET = 1,
    VERDICT = 2,       /* workers and the copying warp: a look has ended */
    RESIDUES_MADE = 3, /* workers, then finishers: for the tiles in turn, 3 and 4 */
    RESIDUES_READ = 5  /* finishers, then workers: 5 and 6 */
};

#define GT_WORKERS_BARRIER() gt_group_barrier(WORKERS_MEET, WORKERS)
#endif
