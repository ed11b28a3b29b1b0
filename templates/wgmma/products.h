/* SPDX-License-Identifier: Apache-2.0 */
/*
 * products.h - slabs of wgmma: a few threads have them copied to shared memory, warpgroups
 * multiply them.
 */
/* Whether the block's item that comes after `before` others was found before the barriers
 * were made. The first one was, except in a walk. */
GT_INLINE int was_found(int before) {
    return !GT_WALK && before == 0;
}

/* The barrier of a team. */
GT_INLINE int order_at(const struct gt_stages *r, int team) {
    return r->stages + AT_ORDER + team * 8;
}

GT_INLINE void init_barriers(const struct gt_stages *r) {
    gt_ring_make(STAGES, r, ARRIVALS, TEAM * 4 * CLUSTER); /* warps */
    for (int s = 0; s < TEAMS; s++)
        gt_barrier_init(order_at(r, s), TEAM * 4);
    gt_barrier_init_done();
}

/* All threads call it. Afterwards all blocks of the cluster have their barriers. */
GT_INLINE void make_barriers(const struct gt_stages *r, int t) {
    if (t == 0)
        init_barriers(r);
    if (CLUSTER * ADDERS > 1)
        GT_CLUSTER_ARRIVE();
    if (CLUSTER > 1)
        GT_CLUSTER_WAIT();
    else
        GT_BARRIER();
}

/* ---- the producer ------------------------------------------------------------------ */

/* How slabs of an operand are copied: along k or not, from planes or not, the rows or
 * columns of a slab, the bytes of a box's row, and the blocks that need the same slab. */
struct source {
    const struct gt_tensor_map *map;
    int along, planes, wide, span, sharers;
};

/* plane: the product's, where the source has planes. */
GT_INLINE void load_box(int to, const struct source *from, int inner, int outer, int plane,
                        int barrier) {
    enum { ALL = (1 << CLUSTER) - 1 };
    if (from->planes && from->sharers > 1)
        gt_plane_load_to(to, from->map, inner, outer, plane, barrier, ALL);
    else if (from->planes)
        gt_plane_load(to, from->map, inner, outer, plane, barrier);
    else if (from->sharers > 1)
        gt_box_load_to(to, from->map, inner, outer, barrier, ALL);
    else
        gt_box_load(to, from->map, inner, outer, barrier);
}

/* Starts to copy a slab of an operand, from row or column `at` of its product and k on.
 * When several blocks need the same slab, each copies a part of it to all. A box has at
 * most 256 rows. ahead: the rows or planes of the map that come before the product. */
GT_INLINE void load_slab(int to, const struct source *from, int rank, int at, int k,
                         int ahead, int barrier) {
    const int pieces = !from->along         ? from->wide * SIZE / from->span
                       : from->sharers > 1  ? from->sharers
                       : from->wide > 256   ? 2
                                            : 1;
    const int side = from->wide / pieces, deep = BK / from->sharers;
    const int first = at + (from->along && !from->planes ? ahead : 0);
    const int first_k = k + (!from->along && !from->planes ? ahead : 0);
    GT_UNROLL
    for (int i = 0; i < pieces; i++) {
        if (from->along && (from->sharers == 1 || i == rank))
            load_box(to + i * side * LINE, from, first_k, first + i * side, ahead, barrier);
        else if (!from->along)
            load_box(to + (i * BK + rank * deep) * from->span, from, first + i * side,
                     first_k + rank * deep, ahead, barrier);
    }
}

/* Waits until all slabs up to this turn were read in all blocks: a block must not end while
 * another one arrives at its barriers. */
GT_INLINE void await_readers(const struct gt_stages *r, struct gt_turn turn) {
    GT_UNROLL_BY(1)
    for (int s = 0; s < STAGES; s++, turn = gt_turn_next(STAGES, turn))
        gt_barrier_wait(r->empty + turn.stage * 8, turn.parity ^ 1);
}

/* Whether the thread starts its warp's copies. With PRODUCERS all lanes ask together. */
GT_INLINE int starts_copies(void) {
    return PRODUCERS > 0 ? gt_is_elected() : GT_THREAD_X == READERS;
}

/* One thread of each producing warp has slabs copied, and each warp has its stages; with
 * GT_WALK the whole warp comes along. first: the block's first item, when it was found. */
GT_INLINE void produce(struct plan *p, const struct gt_stages *r, struct item first,
                       const struct gt_tensor_map *map_x,
                       const struct gt_tensor_map *map_y) {
    const struct source x = {map_x, ALONG_X, PLANES_X, BM, SPAN_X, CN};
    const struct source y = {map_y, ALONG_Y, PLANES_Y, BN, SPAN_Y, CM};
    struct gt_turn turn = {0, 0};
    const int warp = PRODUCERS > 1 ? (GT_THREAD_X - READERS) / 32 : 0;
    GT_UNROLL_BY(1)
    for (int number = p->first; number < p->items; number += p->step) {
        const struct item it = was_found(number - p->first) ? first : item_of(p, number);
        if (!it.exists)
            break;
        if (GT_WALK && !starts_copies())
            continue;
        GT_UNROLL_BY(1)
        for (int s = 0; s < it.slabs; s++, turn = gt_turn_next(STAGES, turn)) {
            const int stage = r->stages + turn.stage * SLAB;
            const int full = r->full + turn.stage * 8, k = (it.first + s) * BK;
            if (turn.stage % FILLERS != warp)
                continue;
            gt_claim_stage(r, turn, full, SLAB);
            load_slab(stage, &x, CN > 1 ? p->rank : 0, it.row, k, it.ahead_x, full);
            load_slab(stage + SLAB_X, &y, CM > 1 ? p->rank : 0, it.col, k, it.ahead_y,
                      full);
        }
    }
    if (CLUSTER > 1 && (!GT_WALK || starts_copies()))
        await_readers(r, turn);
}

/* ---- products ---------------------------------------------------------------------- */

/* Waits until the products of the slab before have ended. With PROMOTE they have. */
GT_INLINE void await_before(void) {
    if (!PROMOTE)
        GT_WGMMA_WAIT(1);
}

/* With PROMOTE: waits for the products of a slab and adds them to the item's sums. */
GT_INLINE void promote(gt_acc *sums, gt_acc *of_slab) {
    if (!PROMOTE)
        return;
    GT_WGMMA_WAIT(0);
    gt_wgmma_hold(FRAGS * SUMS, of_slab);
    GT_UNROLL
    for (int e = 0; e < FRAGS * SUMS; e++)
        sums[e] += of_slab[e];
}

/* A warp tells the producers of all blocks that copy to it that the stage was read. */
GT_INLINE void release(const struct gt_stages *r, int stage, int lane) {
    if (CLUSTER == 1 && lane == 0)
        gt_barrier_arrive(r->empty + stage * 8);
    if (CLUSTER > 1 && lane < CLUSTER)
        gt_barrier_arrive_in(r->empty + stage * 8, lane);
}

/* Teams take items in turns. Before it waits for slabs of its item, a team waits until the
 * other one has all slabs of the item before: a barrier tells two phases apart, not three.
 * For the same reason no lane may be left behind in this wait when its warp arrives. */
GT_INLINE void await_item_before(const struct gt_stages *r, int turns) {
    const struct gt_turn before = gt_turn_at(TEAMS, turns - 1);
    if (TEAMS > 1 && turns > 0)
        gt_barrier_wait(order_at(r, before.stage), before.parity);
    if (TEAMS > 1)
        gt_warp_barrier();
}
