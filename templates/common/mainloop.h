/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mainloop.h - the loop over the slabs of k, on both sides of a ring of stages (ring.h).
 * One side has slabs copied to the stages. The other side, whole warpgroups, multiplies
 * slabs from there (warpgroups.h).
 *
 *     a thread, gt_fill             stage s             a warpgroup
 *     -----------------             -------             -----------
 *     gt_claim_stage: empty[s]                          gt_await_slab: full[s]
 *     starts copies of a slab,  --> a slab of A     --> starts the products of the slab,
 *     which arrive at full[s]       a slab of B         waits for those of the slab before
 *                                                       gt_leave_stage: empty[s - 1]
 *
 * The order of products differs from family to family, so each has its own loop on that
 * side. A turn is a gt_turn, or another struct with a stage, a parity and a gt_turn_next.
 * CUDA, sm_90.
 *
 * Method: load and compute of Spector, Arora, Singhal, Fu, Re, ThunderKittens: Simple,
 * Fast, and Adorable AI Kernels (2024).
 */
#if !GT_OPENCL && __CUDA_ARCH__ == 900
/* Addresses in shared memory: the stages, and the first barrier of each kind. */
struct gt_stages {
    int stages, full, empty;
};

/* The ring of `count` stages that has its 2 `count` barriers from `barriers` on. */
GT_INLINE struct gt_stages gt_ring_at(int count, int stages, int barriers) {
    const struct gt_stages r = {stages, barriers, barriers + count * 8};
    return r;
}

/* Makes the barriers; gt_barrier_init_done() follows. `fillers` threads arrive at `full`
 * for each slab, `readers` threads of all blocks at `empty`. */
GT_INLINE void gt_ring_make(int count, const struct gt_stages *r, int fillers,
                            int readers) {
    for (int s = 0; s < count; s++) {
        gt_barrier_init(r->full + s * 8, fillers);
        gt_barrier_init(r->empty + s * 8, readers);
    }
}

/* Waits until the stage of this turn is free in all blocks that copy to it, and tells its
 * full barrier how many bytes will come. In the first round all stages are free: the phase
 * before the first has passed. */
template <class Turn>
GT_INLINE void gt_claim_stage(const struct gt_stages *r, Turn turn, int full, int bytes) {
    gt_barrier_wait(r->empty + turn.stage * 8, turn.parity ^ 1);
    gt_barrier_arrive_expecting(full, bytes);
}

/*
 * Fills stages of `bytes` with slabs, from *turn on. One thread calls it. The slabs have
 *
 *     int left()                  whether there is one more
 *     load(int stage, int full)   starts to copy it to the stage at this address: `bytes`
 *                                 from all blocks of a cluster, which arrive at `full`
 *     next()                      goes on to the next one
 */
template <class Turn, class Slabs>
GT_INLINE void gt_fill(int stages, int bytes, const struct gt_stages *r, Turn *turn,
                       Slabs *slabs) {
    GT_UNROLL_BY(1)
    for (; slabs->left(); slabs->next(), *turn = gt_turn_next(stages, *turn)) {
        const int stage = r->stages + turn->stage * bytes;
        const int full = r->full + turn->stage * 8;
        gt_claim_stage(r, *turn, full, bytes);
        slabs->load(stage, full);
    }
}

/* Starts to copy a block's slab of A and its slab of B, one behind the other. The blocks of
 * a cluster have one slab of B. Each copies a part of it to all: the part that begins at
 * byte `own`. */
GT_INLINE void gt_load_slabs(int cluster, int stage, const void *a, int bytes_a,
                             const void *b, int bytes_b, int own, int full) {
    gt_bulk_load(stage, a, bytes_a, full);
    if (cluster == 1)
        gt_bulk_load(stage + bytes_a, b, bytes_b, full);
    else
        gt_bulk_load_to(stage + bytes_a + own, (const char *)b + own, bytes_b / cluster,
                        full, (1 << cluster) - 1);
}

/* Waits until the slab of this turn is in shared memory. A warp calls it. */
template <class Turn>
GT_INLINE void gt_await_slab(const struct gt_stages *r, Turn turn) {
    gt_barrier_wait(r->full + turn.stage * 8, turn.parity);
    gt_warp_barrier();
}

/* Tells all blocks that fill the stage that the warp has read it; with -1, nothing. */
GT_INLINE void gt_leave_stage(int cluster, const struct gt_stages *r, int stage, int lane) {
    if (lane < cluster && stage >= 0)
        gt_barrier_arrive_in(r->empty + stage * 8, lane);
}
#endif
