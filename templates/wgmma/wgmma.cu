/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wgmma - products of 16-bit, 8-bit and tf32 matrices on the tensor cores of sm_90. One
 * thread or two have slabs copied to shared memory by the tensor memory accelerator;
 * warpgroups of 128 threads multiply them from there, and keep the sums.
 *
 * C[m,n] = alpha op(A) op(B) + beta C, row-major.
 *
 * A tile has BM rows of X and BN columns of Y, where X Y is op(A) op(B), or with SWAP its
 * transpose: X is op(B) transposed, Y is op(A) transposed. A thin product has few columns
 * of Y then, and C^T is turned back on its way out. A slab has 128 bytes of k.
 *
 *     producer               STAGES, k outermost             warpgroups
 *     --------               -------------------             ----------
 *     waits: empty[s]        X: BM x 128 bytes               wait: full[s]
 *     boxes of X and Y, -->  Y: BN x 128 bytes          -->  start the products; when the
 *     told to full[s]                                        slab before is multiplied:
 *                                                            arrive at its empty[s]
 *
 * In memory an operand lies along k or along its width. From shared memory the instruction
 * takes 16-bit elements in both layouts, others along k only. With RS it takes X from
 * registers: a warpgroup loads X's part of the next slab, which lies along the width, while
 * it multiplies a slab (across.h). Past the edges a box has zeros, so ragged tiles and the
 * end of k need no code.
 *
 * The tensor cores keep 14 bits of a sum of 8-bit floats. With PROMOTE (@promoted) such a
 * sum is that of a slab, 128 of k. It is added to the others in f32, while products of
 * another warpgroup run.
 *
 * In a batch the matrices of all products lie one below the other in a tensor map. Where k
 * is no whole number of slabs, the last slab of an operand with k outermost would have rows
 * of the next matrix, and a NaN there is one here. Then each matrix of both operands is a
 * plane of its map instead (PLANES), but for the rows of groups.
 *
 * Work is counted in items: a tile of a cluster, or a part of its k. A cluster of two
 * blocks has two tiles, one below the other (CM 2) or side by side (CN 2). They share a
 * slab of Y (of X): each block copies half of it to both.
 *
 * The way out:
 * - sums that another kernel adds up go from registers to the workspace;
 * - STORE: with beta 0 they become elements of C in shared memory, and the accelerator
 *   copies boxes of them to C, while the next tile is computed when PERSIST;
 * - with beta 0 and without STORE they become elements of C in shared memory, and leave in
 *   pieces of 16 bytes wherever a row of C begins;
 * - otherwise 32 columns at a time go through shared memory, so that a warp stores
 *   neighbouring elements of a row of C.
 *
 * BM BN     tile of X Y             WGM WGN   warpgroups that share it, along X, along Y
 * STAGES    slabs in shared memory  PINGPONG  1: two teams of warpgroups with a tile each,
 * CM CN     tiles of a cluster                in turns: one stores, one multiplies
 * GROUP     rows of tiles that are walked together, for the L2 cache
 * PERSIST   1: as many blocks as fit the device, each with a tile after another
 * MINB      blocks that must fit a multiprocessor
 * SPLIT     parts of k, a block each; with REDUCE 2 one block has them all
 * REDUCE    where they are added up: 0 in the workspace by a second kernel, 1 in the shared
 *           memory of a cluster, 2 in registers: one block computes all parts in turns.
 *           Always in the order of k: the sum is the same. 2 is for many rows that must
 *           have the bits of few rows
 * TAIL      how last tiles that would leave units idle are shared; 0: not at all.
 *           1: all blocks have equal shares of the slabs of these and of as many tiles as
 *           there are blocks, then whole tiles (shares.h).
 *           2 and more: pieces of k. The idle units compute some of the pieces, and a
 *           second kernel adds up (tiles.h)
 * REPACK    operands that a kernel copies to the workspace first: 1 A, 2 B, 3 both. Then
 *           rows may begin anywhere. Elements that the instruction takes along k only
 *           become contiguous along k, other operands stay as they lie. 5, 6, 7: the same
 *           for one panel of C after another, so that the copies fit 32 MiB
 * SWAP      1: the transpose is computed       STORE  1: see above
 * RS        1: X comes from registers
 * PRODUCERS warps that have slabs copied, each by the thread that it elects and for its own
 *           stages; 0: one thread, known by its number. 4 and more: they copy slabs by
 *           their own loads, so rows may begin anywhere (loose.h)
 *
 * gemmtune trial bf16-nn-4096x4096x4096 --family wgmma --point
 *  "BM=128 BN=256 WGM=2 WGN=1 STAGES=4 CM=2 CN=1 GROUP=8 PERSIST=1 PINGPONG=0 MINB=1
 *   SPLIT=1 REDUCE=0 TAIL=0 REPACK=0 SWAP=0 STORE=1 RS=0 PRODUCERS=0"
 *
 * Method: warp specialisation, Bauer, Cook, Khailany, CudaDMA (2011).
 */

/* ---- an item ------------------------------------------------------------------------ */

#if GT_REDUCE == 2
/* Computes one part of the item's k after the other and adds each to the sums, as a cluster
 * adds the parts of its blocks. The first part is copied: added to 0, a sum of -0
 * would become +0, and a cluster keeps -0. The last slab's stage is not released yet. */
GT_INLINE int add_parts(gt_acc *sums, const struct gt_stages *r, struct gt_turn turn,
                        int slabs, const struct group *g) {
    const int deep = slabs / PARTS_OF_BLOCK;
    int last = turn.stage;
    GT_UNROLL_BY(1)
    for (int part = 0; part < PARTS_OF_BLOCK && deep > 0; part++) {
        gt_acc of_part[FRAGS * SUMS];
        GT_UNROLL
        for (int e = 0; e < FRAGS * SUMS; e++)
            of_part[e] = 0;
        if (part > 0)
            release(r, last, g->lane);
        last = multiply_all(of_part, of_part, r, turn, deep, g);
        GT_WGMMA_WAIT(0);
        gt_wgmma_hold(FRAGS * SUMS, of_part);
        GT_UNROLL
        for (int e = 0; e < FRAGS * SUMS; e++)
            sums[e] = part == 0 ? of_part[e] : sums[e] + of_part[e];
        const int stages = turn.stage + deep;
        turn.parity ^= stages / STAGES & 1;
        turn.stage = stages % STAGES;
    }
    return last;
}
#endif

/* Starts all products of an item that comes after `turns` others of the block and whose
 * first slab has this turn. Returns the last slab's stage. Its products still
 * run, except with REDUCE 2. */
GT_INLINE int consume(gt_acc *sums, const struct gt_stages *r, struct gt_turn turn,
                      int slabs, const struct group *g, int turns) {
    gt_acc of_slab[PROMOTE ? FRAGS * SUMS : 1] = {0};
    await_item_before(r, turns);
    GT_UNROLL
    for (int e = 0; e < FRAGS * SUMS; e++)
        sums[e] = 0;
#if GT_REDUCE == 2
    const int last = add_parts(sums, r, turn, slabs, g);
#else
    const int last = multiply_all(sums, of_slab, r, turn, slabs, g);
#endif
    if (TEAMS > 1 && g->lane == 0)
        gt_barrier_arrive(order_at(r, turns % TEAMS));
    return last;
}

/* Waits for the last products, of the slab in stage `last`. */
GT_INLINE void await_products(gt_acc *sums, const struct gt_stages *r, int slabs, int last,
                              int lane) {
    GT_WGMMA_WAIT(0);
    gt_wgmma_hold(FRAGS * SUMS, sums);
    if (slabs > 0)
        release(r, last, lane);
}

/* Brings the sums of a shared tile together. Returns whether the warpgroup has them all. If
 * not, the next tile's first boxes may go to any place. */
#if GT_STREAM
GT_INLINE int meet(gt_acc *sums, const struct plan *p, const struct item *it,
                   const struct group *g, gt_acc *part_sums) {
    const int place = p->rank * TEAM + g->number % TEAM; /* in the cluster's tile */
    const struct gt_work *const w = &it->work;
    const struct gt_meeting m = {
        part_sums + place * (WM * WN), HIGH * WIDE,
        ARRIVED(part_sums, p->share.tiles) + w->tile * (CLUSTER * TEAM) + place,
        GT_CAPACITY, 1 + g->number, w->tile, w->part, w->parts, p->first - w->part};
    const int has_all = gt_parts_add(FRAGS * SUMS, sums, &m, g->t % 128);
    if (GT_STORE && !has_all && g->t % 128 == 0)
        await_boxes();
    return has_all;
}
#else
GT_INLINE int meet(gt_acc *sums, const struct plan *p, const struct item *it,
                   const struct group *g, gt_acc *part_sums) {
    return 1;
}
#endif

/* Takes the sums of an item to C, or to the workspace when they are parts. */
GT_INLINE void leave(const struct leaving *l, const gt_acc *sums GT_PLACE_PARAMS) {
    if (PARTIAL || (GT_PIECES && l->it.work.parts > 1))
        leave_as_sums(l, sums GT_PLACE(gt_i, gt_j));
    else if (GT_STORE && !GT_READS_C(l->out.beta) && l->p.slabs > 0)
        leave_by_boxes(l, sums GT_PLACE(gt_i, gt_j));
    else if (GT_ROWS && !GT_READS_C(l->out.beta))
        leave_by_rows(l, sums GT_PLACE(gt_i, gt_j));
    else
        leave_by_chunks(l, sums GT_PLACE(gt_i, gt_j));
}

/* Computes an item that comes after `turns` others of the block and whose first slab has
 * this turn. The place is that of the first element of the warpgroup's part. */
GT_INLINE void compute(const struct plan *p, const struct item *it, const struct group *g,
                       const struct gt_stages *ring, struct gt_turn turn, int turns,
                       const struct output *out GT_PLACE_PARAMS) {
    const int t = g->t % 128;
    const struct part part =
        part_of(g, it->high - it->row - g->row, it->wide - it->col - g->col);
    const int boxed = GT_EPI_BOXED && !GT_READS_C(out->beta) && p->slabs > 0 &&
                      it->work.parts <= 1;
    const int shared = GT_STREAM && it->work.parts > 1; /* it may leave elsewhere */
    gt_acc sums[FRAGS * SUMS];
    if (!shared)
        request(&part, boxed, g->number, t GT_PLACE(gt_i, gt_j));
    const int last = consume(sums, ring, turn, it->slabs, g, turns);
    await_products(sums, ring, it->slabs, last, g->lane);
    GT_LEAD(PARTIAL);
    if (shared && !meet(sums, p, it, g, out->sums))
        return;
    if (shared)
        request(&part, GT_EPI_BOXED && !GT_READS_C(out->beta), g->number,
                t GT_PLACE(gt_i, gt_j));
    const int row = it->row + g->row, col = it->col + g->col;
    struct leaving l = {
        *out, *p, *it, *g, part, {out->c, out->ldc, it->high - row, it->wide - col},
        row, col, turns / TEAMS};
    l.c.at = out->c + it->ahead + place_in(&l.c, row, col);
    leave(&l, sums GT_PLACE(gt_i, gt_j));
}

/* ---- the kernel --------------------------------------------------------------------- */

GT_KERNEL(gemm, GT_THREADS, 1, GT_MINB)(GT_PARAMS) {
    extern __shared__ __align__(1024) unsigned char smem[]; /* for the swizzle */
    GT_FOLLOW();
    GT_PRODUCT();
    const int t = GT_THREAD_X, lane = t % 32;
    const int high = SWAP ? n : m, wide = SWAP ? m : n;
    struct plan p = {high, wide, gt_cdiv(high, HIGH) * gt_cdiv(wide, WIDE),
                     GT_WALK ? 0x7fffffff : (int)ITEMS,
                     alpha == (gt_acc)0 ? 0 : gt_cdiv(k, BK), GT_BLOCK % CLUSTER,
                     GT_BLOCK / CLUSTER, (int)gridDim.x / CLUSTER,
                     SWAP ? BEFORE_B : BEFORE_A,
                     SWAP ? BEFORE_A : BEFORE_B, BEFORE_C};
    struct item first = {};
#if GT_WALK
    p.step_c = GT_GROUPED ? ldc : stride_c;
    p.walk = GT_WALK_BEGIN(WALK_HIGH, WALK_ACROSS(n), lane);
#else
#if GT_STREAM
    p.share = gt_share_of(GT_CAPACITY, p.tiles, p.slabs, p.first);
    p.items = (p.share.parts + (p.tiles - p.share.tiles) / p.step) * p.step;
#endif
    /* Its divisions and the barriers below are under way at the same time. */
    first = item_of(&p, p.first);
#endif
    const int at = gt_shared_address(smem);
    const struct gt_stages ring = gt_ring_at(STAGES, at, at + AT_BARRIERS);
#if !GT_LOOSE
    if (t == READERS) { /* the first copies would wait for their maps */
        gt_map_prefetch(&map_x);
        gt_map_prefetch(&map_y);
    }
#endif
    make_barriers(&ring, t);
    if (t >= READERS) {
        GT_REGISTERS_GIVE(GT_GIVE);
#if GT_LOOSE
        const struct loose of_a = loose_of(a, lda, GT_TA ? k : m, GT_TA ? m : k);
        const struct loose of_b = loose_of(b, ldb, GT_TB ? n : k, GT_TB ? k : n);
        produce_loose(&p, &ring, first, SWAP ? &of_b : &of_a, SWAP ? &of_a : &of_b, k);
#else
        if (t < READERS + 32 * FILLERS && (GT_WALK || starts_copies()))
            produce(&p, &ring, first, &map_x, &map_y);
#endif
        gt_warp_barrier();
        if (ADDERS > 1) {
            GT_CLUSTER_WAIT();
            meet_adders(0);
        }
    } else {
        GT_REGISTERS_TAKE(GT_GIVE ? GT_TAKE : 0);
        const struct group g = group_of(smem, at, t, lane);
        int used = 0, turns = 0; /* slabs of all items before; items before */
        GT_UNROLL_BY(1)
        for (int number = p.first; number < p.items; number += p.step, turns++) {
            const struct item it = was_found(turns) ? first : item_of(&p, number);
            if (!it.exists)
                break;
            const struct gt_turn turn = gt_turn_at(STAGES, used);
            used += it.slabs;
            if (TEAMS > 1 && turns % TEAMS != g.number / TEAM)
                continue;
#if GT_WALK
            GT_MOVE_PRODUCT(it.product);
#endif
            const struct output out = {&map_c, c, ldc, PART_SUMS, alpha, beta};
            compute(&p, &it, &g, &ring, turn, turns,
                    &out GT_PLACE(
                        it.rows_ahead + (SWAP ? it.col + g.col : it.row + g.row),
                        SWAP ? it.row + g.row : it.col + g.col));
        }
        await_boxes(); /* shared memory must not go before it was read */
    }
}
