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

/* Addresses in shared memory: the stages, where the warpgroups turn C, the first of STAGES
 * barriers each, and the first of a barrier for each team, where it tells that it has all
 * slabs of an item. */
struct ring {
    int stages, turned, full, empty, order;
};

GT_INLINE struct ring ring_at(int stages) {
    const int turned = stages + STAGES * SLAB, full = turned + GROUPS * STAGED;
    const struct ring r = {stages, turned, full, full + STAGES * 8, full + STAGES * 16};
    return r;
}

GT_INLINE void make_barriers(const struct ring *r) {
    for (int s = 0; s < STAGES; s++) {
        gt_barrier_init(r->full + s * 8, 1);
        gt_barrier_init(r->empty + s * 8, TEAM * 4 * CLUSTER); /* warps */
    }
    for (int s = 0; s < TEAMS; s++)
        gt_barrier_init(r->order + s * 8, TEAM * 4);
    gt_barrier_init_done();
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
GT_INLINE void await_readers(const struct ring *r, struct gt_turn turn) {
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
GT_INLINE void produce(struct plan *p, const struct ring *r, struct item first,
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
            /* In the first round the stage is free: the phase before the first has
             * passed. */
            gt_barrier_wait(r->empty + turn.stage * 8, turn.parity ^ 1);
            gt_barrier_arrive_expecting(full, SLAB);
            load_slab(stage, &x, CN > 1 ? p->rank : 0, it.row, k, it.ahead_x, full);
            load_slab(stage + SLAB_X, &y, CM > 1 ? p->rank : 0, it.col, k, it.ahead_y,
                      full);
        }
    }
    if (CLUSTER > 1 && (!GT_WALK || starts_copies()))
        await_readers(r, turn);
}

/* ---- products ---------------------------------------------------------------------- */

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
#else
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
#endif

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
GT_INLINE void release(const struct ring *r, int stage, int lane) {
    if (CLUSTER == 1 && lane == 0)
        gt_barrier_arrive(r->empty + stage * 8);
    if (CLUSTER > 1 && lane < CLUSTER)
        gt_barrier_arrive_in(r->empty + stage * 8, lane);
}

/* Teams take items in turns. Before it waits for slabs of its item, a team waits until the
 * other one has all slabs of the item before: a barrier tells two phases apart, not three.
 * For the same reason no lane may be left behind in this wait when its warp arrives. */
GT_INLINE void await_item_before(const struct ring *r, int turns) {
    const struct gt_turn before = gt_turn_at(TEAMS, turns - 1);
    if (TEAMS > 1 && turns > 0)
        gt_barrier_wait(r->order + before.stage * 8, before.parity);
    if (TEAMS > 1)
        gt_warp_barrier();
}

/* Waits until the slab of this turn is in shared memory. */
GT_INLINE void await_slab(const struct ring *r, struct gt_turn turn) {
    gt_barrier_wait(r->full + turn.stage * 8, turn.parity);
    gt_warp_barrier();
}

#if GT_RS
/* Starts the products of the slab of this turn, whose rows of X are loaded already. Then it
 * loads the next slab's, when there are more. The products before are waited for: they read
 * the registers that this writes. */
GT_INLINE void advance(gt_acc *sums, gt_acc *of_slab, const struct rows *now,
                       struct rows *next, const struct ring *r, struct gt_turn turn,
                       int is_first, int more, int x, int y, int lane) {
    const int before = (turn.stage == 0 ? STAGES : turn.stage) - 1;
    multiply(PROMOTE ? of_slab : sums, now, r->stages + turn.stage * SLAB + SLAB_X + y);
    await_before();
    if (!is_first)
        release(r, before, lane);
    if (more) {
        const struct gt_turn after = gt_turn_next(STAGES, turn);
        await_slab(r, after);
        load_rows(next, r->stages + after.stage * SLAB + x, lane);
    }
    promote(sums, of_slab);
}

/* Multiplies all slabs of an item, two in a round. Returns the last one's stage. */
GT_INLINE int multiply_all(gt_acc *sums, gt_acc *of_slab, const struct ring *r,
                           struct gt_turn turn, int slabs, int x, int y, int lane) {
    struct rows even, odd;
    int last = turn.stage;
    if (slabs > 0) {
        await_slab(r, turn);
        load_rows(&even, r->stages + turn.stage * SLAB + x, lane);
    }
    GT_UNROLL_BY(1)
    for (int s = 0; s < slabs; s += 2) {
        advance(sums, of_slab, &even, &odd, r, turn, s == 0, s + 1 < slabs, x, y, lane);
        last = turn.stage;
        turn = gt_turn_next(STAGES, turn);
        if (s + 1 < slabs) {
            advance(sums, of_slab, &odd, &even, r, turn, 0, s + 2 < slabs, x, y, lane);
            last = turn.stage;
            turn = gt_turn_next(STAGES, turn);
        }
    }
    return last;
}
#else
/* Multiplies all slabs of an item. A batch of products runs while the next one is started.
 * Returns the last slab's stage. */
GT_INLINE int multiply_all(gt_acc *sums, gt_acc *of_slab, const struct ring *r,
                           struct gt_turn turn, int slabs, int x, int y, int lane) {
    int before = 0; /* the stage of the running batch */
    GT_UNROLL_BY(1)
    for (int s = 0; s < slabs; s++) {
        const int stage = r->stages + turn.stage * SLAB;
        await_slab(r, turn);
        multiply(PROMOTE ? of_slab : sums, stage + x, stage + SLAB_X + y);
        await_before();
        if (s > 0)
            release(r, before, lane);
        promote(sums, of_slab);
        before = turn.stage;
        turn = gt_turn_next(STAGES, turn);
    }
    return before;
}
#endif

/* Starts all products of an item, after `turns` items of this block. x: the warpgroup's
 * part of a slab of X; with RS, the thread's. y: the warpgroup's part of a slab of Y.
 * Returns the last slab's stage, whose products still run. */
GT_INLINE int consume(gt_acc *sums, const struct ring *r, struct gt_turn turn, int slabs,
                      int x, int y, int turns, int lane) {
    gt_acc of_slab[PROMOTE ? FRAGS * SUMS : 1] = {0};
    await_item_before(r, turns);
    GT_UNROLL
    for (int e = 0; e < FRAGS * SUMS; e++)
        sums[e] = 0;
    const int last = multiply_all(sums, of_slab, r, turn, slabs, x, y, lane);
    if (TEAMS > 1 && lane == 0)
        gt_barrier_arrive(r->order + turns % TEAMS * 8);
    return last;
}

/* Waits for the last products, of the slab in stage `last`. */
GT_INLINE void settle(gt_acc *sums, const struct ring *r, int slabs, int last, int lane) {
    GT_WGMMA_WAIT(0);
    gt_wgmma_hold(FRAGS * SUMS, sums);
    if (slabs > 0)
        release(r, last, lane);
}
