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

/* A ring of stages that one thread fills. Each stage has two barriers: `full`, at which
 * copies arrive, and `empty`, at which warps do when they have read it. */
struct ring {
    int stages, full, empty; /* shared addresses */
    struct gt_turn turn;
};

GT_INLINE struct ring ring_of(char *stages) {
    const int at = gt_shared_address(stages), full = at + GT_AT_BARRIERS;
    const struct ring r = {at, full, full + STAGES * 8, {0, 0}};
    return r;
}

GT_INLINE void ring_init(struct ring r) {
    for (int s = 0; s < STAGES; s++) {
        gt_barrier_init(r.full + s * 8, 1);
        gt_barrier_init(r.empty + s * 8, WORKERS / 32 * CLUSTER);
    }
    gt_barrier_init(r.stages + GT_AT_DOUBT + 8, CLUSTER);
    gt_barrier_init_done();
}

/* Copies slabs. In the first round all stages are free: the phase before the first has
 * passed. */
GT_INLINE void produce(struct ring *r, struct walk w) {
    const int part = gt_cluster_rank() * (SLAB_B / CLUSTER);
    GT_UNROLL_BY(1)
    for (; w.left > 0; w.left--) {
        const int stage = r->stages + r->turn.stage * SLAB;
        const int barrier = r->full + r->turn.stage * 8;
        gt_barrier_wait(r->empty + r->turn.stage * 8, r->turn.parity ^ 1);
        gt_barrier_arrive_expecting(barrier, SLAB);
        gt_bulk_load(stage, w.a, SLAB_A, barrier);
        if (CLUSTER == 1)
            gt_bulk_load(stage + SLAB_A, w.b, SLAB_B, barrier);
        else
            gt_bulk_load_to(stage + SLAB_A + part, w.b + part, SLAB_B / CLUSTER, barrier,
                            (1 << CLUSTER) - 1);
        w.a += w.step;
        w.b += w.step;
        r->turn = gt_turn_next(STAGES, r->turn);
    }
}

/* Tells the blocks that fill the stage that this warp has read it. */
GT_INLINE void release(const struct ring *r, int stage, int lane) {
    if (lane < CLUSTER && stage >= 0)
        gt_barrier_arrive_in(r->empty + stage * 8, lane);
}

/* acc += the product of some slabs. One batch of products starts while the one before it
 * runs. The stage of the earlier batch is free when that batch is done. */
GT_INLINE void multiply_slabs(int acc[FRAGS][4], struct ring *r, int slabs, int t) {
    int before = -1; /* the stage of the running batch */
    GT_UNROLL_BY(1)
    for (int s = 0; s < slabs; s++) {
        gt_barrier_wait(r->full + r->turn.stage * 8, r->turn.parity);
        gt_warp_barrier();
        multiply(acc, r->stages + r->turn.stage * SLAB, warp_m_of(t));
        GT_WGMMA_WAIT(1);
        release(r, before, t % 32);
        before = r->turn.stage;
        r->turn = gt_turn_next(STAGES, r->turn);
    }
    GT_WGMMA_WAIT(0);
    gt_wgmma_hold(FRAGS * 4, acc[0]);
    release(r, before, t % 32);
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
