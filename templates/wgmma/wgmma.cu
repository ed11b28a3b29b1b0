/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wgmma - products of 16-bit, 8-bit and tf32 matrices on the tensor cores of sm_90. One
 * thread has slabs copied to shared memory by the tensor memory accelerator; warpgroups of
 * 128 threads multiply them from there, and keep the sums.
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
 * STAGES    slabs in shared memory  PINGPONG  1: two warpgroups with a tile each, in turns:
 * CM CN     tiles of a cluster                one stores while the other one multiplies
 * GROUP     rows of tiles that are walked together, for the L2 cache
 * PERSIST   1: as many blocks as fit the device, each with a tile after another
 * MINB      blocks that must fit a multiprocessor
 * SPLIT     parts of k, a block each
 * REDUCE    where they are added up: 0 in the workspace by a second kernel, 1 in the shared
 *           memory of a cluster. Always in the order of k: the sum is the same
 * TAIL      pieces of k of the last tiles, when these would leave units idle. The idle
 *           units compute some of the pieces, and a second kernel adds up; 0: no sharing
 * REPACK    operands that a kernel copies to the workspace first: 1 A, 2 B, 3 both. Then
 *           rows may begin anywhere. Elements that the instruction takes along k only
 *           become contiguous along k, other operands stay as they lie
 * SWAP      1: the transpose is computed       STORE  1: see above
 * RS        1: X comes from registers
 *
 * gemmtune trial bf16-nn-4096x4096x4096 --family wgmma --point
 *  "BM=128 BN=256 WGM=2 WGN=1 STAGES=4 CM=2 CN=1 GROUP=8 PERSIST=1 PINGPONG=0 MINB=1
 *   SPLIT=1 REDUCE=0 TAIL=0 REPACK=0 SWAP=0 STORE=1 RS=0"
 *
 * Method: warp specialisation, Bauer, Cook, Khailany, CudaDMA (2011).
 */

enum {
    BM = GT_BM, BN = GT_BN, BK = GT_BK, SIZE = GT_SIZEOF_A, STAGES = GT_STAGES,
    SPLIT = GT_SPLIT, SWAP = GT_SWAP, RS = GT_RS, PROMOTE = GT_PROMOTE,
    PARTIAL = SPLIT > 1 && !GT_REDUCE, /* stored sums are parts, not C yet */
    ADDERS = GT_REDUCE ? SPLIT : 1,    /* blocks that add up together */
    ALONG_X = GT_ALONG_X, ALONG_Y = GT_ALONG_Y, /* whether the operand lies along k */
    SPAN_X = GT_SPAN_X, SPAN_Y = GT_SPAN_Y,     /* bytes of a box's row */
    LINE = 128,                                 /* bytes of k in a slab */
    SLAB_X = BM * LINE, SLAB_Y = BN * LINE, SLAB = SLAB_X + SLAB_Y,
    CM = GT_CM, CN = GT_CN, CLUSTER = CM * CN,
    HIGH = BM * CM, WIDE = BN * CN, /* the cluster's tile */

    /* A team of warpgroups has a tile; each of them has WM x WN of it, in fragments of
     * 64 rows. */
    WM = GT_WM, WN = GT_WN, TEAM = GT_TEAM, TEAMS = 1 + GT_PINGPONG,
    GROUPS = TEAM * TEAMS, READERS = GROUPS * 128,
    FRAGS = WM / 64, SUMS = WN / 2, /* of a thread in a fragment */
    STEPS = LINE / 32, /* products of a fragment in a slab */

    STAGED = GT_STAGED /* bytes of shared memory in which a warpgroup turns C */
};

#if GT_SWAP
#define GT_TYPE_X GT_TYPE_B
#define GT_TYPE_Y GT_TYPE_A
#else
#define GT_TYPE_X GT_TYPE_A
#define GT_TYPE_Y GT_TYPE_B
#endif
#if GT_RS
GT_ACROSS_WGMMA(multiply_add, GT_WN, GT_TYPE_X, GT_TYPE_Y)
#else
GT_WGMMA(multiply_add, GT_WN, GT_TYPE_X, GT_TYPE_Y, GT_ACROSS_X, GT_ACROSS_Y)
#endif
/* A slab's first product. */
#if !GT_PROMOTE
#define multiply_first multiply_add
#elif GT_RS
GT_ACROSS_WGMMA_FRESH(multiply_first, GT_WN, GT_TYPE_X, GT_TYPE_Y)
#else
GT_WGMMA_FRESH(multiply_first, GT_WN, GT_TYPE_X, GT_TYPE_Y, GT_ACROSS_X, GT_ACROSS_Y)
#endif

/* Tensor maps have the matrices of all products, one below the other. These are the rows
 * ahead of the block's; with GT_WALK, from a matrix to the next. */
#ifndef GT_BATCH
#define ROWS_BEFORE_A 0
#define ROWS_BEFORE_B 0
#define ROWS_BEFORE_C 0
#elif GT_WALK
#define ROWS_BEFORE_A ((int)(stride_a / lda))
#define ROWS_BEFORE_B ((int)(stride_b / ldb))
#define ROWS_BEFORE_C ((int)(stride_c / ldc))
#elif GT_GROUPED || GT_MASKED
#define ROWS_BEFORE_A GT_ROWS_BEFORE_A
#define ROWS_BEFORE_B GT_ROWS_BEFORE_B
#define ROWS_BEFORE_C GT_ROWS_BEFORE_C
#else
#define ROWS_BEFORE_A ((int)(gt_product * stride_a / lda))
#define ROWS_BEFORE_B ((int)(gt_product * stride_b / ldb))
#define ROWS_BEFORE_C ((int)(gt_product * stride_c / ldc))
#endif

/* The workspace has the copies of A and B, then the sums of parts. */
#define PART_SUMS ((gt_acc *)((char *)workspace + GT_PACKED_A + GT_PACKED_B))

#if GT_REPACK
GT_ALONG_KERNEL(repack, GT_PACK_A && !GT_TURN_A, GT_PACK_B && !GT_TURN_B, GT_TURN_A,
                GT_TURN_B, GT_PACKED_A)
#endif

#if GT_SPLIT > 1 && !GT_REDUCE
GT_REDUCE_KERNEL(reduce, GT_SPLIT, GT_LANES, PART_SUMS)
#endif

#if GT_TAIL
GT_FINISH_KERNEL(finish, HIGH, WIDE, GT_GROUP, GT_TAIL, GT_CAPACITY, PART_SUMS)
#endif

/* ---- items ------------------------------------------------------------------------- */

/* The numbers that all items share. */
struct plan {
    int high, wide;  /* rows of X, columns of Y */
    int tiles, items;
    int slabs;       /* of all k; 0: neither A nor B is read */
    int rank;        /* the block's in its cluster */
    int first, step; /* the items of the block's cluster: first, first + step, ... */
#if GT_WALK
    int n, lane;
    struct gt_walk walk;
#endif
};

/* A block's part of an item. */
struct item {
    struct gt_work work;
    int row, col;     /* of X and Y, where its tile begins */
    int first, slabs; /* of k */
#if GT_WALK
    struct gt_walk_tile of;
#endif
};

#if GT_WALK
/* A row of C has WALK_ACROSS(n) tiles of WALK_HIGH rows. */
#define WALK_HIGH (SWAP ? WIDE : HIGH)
#define WALK_ACROSS(n) gt_cdiv(n, SWAP ? HIGH : WIDE)

/* All lanes of a warp call it together. When there are not so many items, it has no tile.
 */
GT_INLINE struct item item_of(struct plan *p, int number) {
    struct item it = {{0, 0, 1, 1, 0, 0}, 0, 0, 0, p->slabs, {0, 0, 0, -1}};
    if (!gt_walk_find(&it.of, &p->walk, number, WALK_HIGH, WALK_ACROSS(p->n), p->lane))
        return it;
    const int high = SWAP ? p->n : it.of.rows, wide = SWAP ? it.of.rows : p->n;
    gt_tile_place(&it.row, &it.col, it.of.tile, HIGH, WIDE, GT_GROUP, high, wide);
    it.row += p->rank / CN * BM;
    it.col += p->rank % CN * BN;
    return it;
}

/* Whether the item exists; the rows of maps ahead of its product, where those from a matrix
 * to the next are given; the rows of X and columns of Y of its product, and its C. */
#define IS_ITEM(it) ((it).of.tile >= 0)
#define AHEAD_A(it, step) gt_walk_rows_ahead(&(it).of, step)
#define AHEAD_B(it, step) ((it).of.group * (step))
#define AHEAD_X(it, step) (SWAP ? AHEAD_B(it, step) : AHEAD_A(it, step))
#define AHEAD_Y(it, step) (SWAP ? AHEAD_A(it, step) : AHEAD_B(it, step))
#define AHEAD_C(it) AHEAD_A(it, ROWS_BEFORE_C)
#define ITEM_HIGH(it) (SWAP ? n : (it).of.rows)
#define ITEM_WIDE(it) (SWAP ? (it).of.rows : n)
#define ITEM_C(it) \
    (c + (GT_MASKED ? (it).of.group * stride_c : (gt_long)(it).of.begin * ldc))
#else
GT_INLINE struct item item_of(const struct plan *p, int number) {
    struct item it;
    /* Items of one part of k are neighbours: their tiles share its slabs in the L2
     * cache. */
    const int block = PARTIAL ? number % p->tiles * SPLIT + number / p->tiles : number;
    it.work = gt_work_of(GT_TAIL, GT_CAPACITY, SPLIT, block, p->tiles);
    gt_tile_place(&it.row, &it.col, it.work.tile, HIGH, WIDE, GT_GROUP, p->high, p->wide);
    it.row += p->rank / CN * BM;
    it.col += p->rank % CN * BN;
    it.slabs = gt_work_slabs(&it.work, p->slabs, &it.first);
    return it;
}

#define IS_ITEM(it) 1
#define AHEAD_X(it, x0) x0
#define AHEAD_Y(it, y0) y0
#define AHEAD_C(it) ROWS_BEFORE_C
#define ITEM_HIGH(it) high
#define ITEM_WIDE(it) wide
#define ITEM_C(it) c
#endif

/* Whether it is the item that a block has ahead of its barriers: `before` items came ahead
 * of it. A walk has none. */
#define IS_FIRST(before) (!GT_WALK && (before) == 0)

/* Addresses in shared memory: the stages, the first of STAGES barriers each, and the first
 * of a barrier for each team, where it tells that it has all slabs of an item. */
struct ring {
    int stages, full, empty, order;
};

/* ---- the producer ------------------------------------------------------------------ */

GT_INLINE void load_box(int to, const struct gt_tensor_map *map, int inner, int outer,
                        int barrier, int shared) {
    if (shared)
        gt_box_load_to(to, map, inner, outer, barrier, (1 << CLUSTER) - 1);
    else
        gt_box_load(to, map, inner, outer, barrier);
}

/* Starts to copy a slab of `wide` rows or columns of an operand, from `at` and k on. When
 * `sharers` blocks need the same slab, each copies a part of it to all. A box has at most
 * 256 rows. */
GT_INLINE void load_slab(int to, const struct gt_tensor_map *map, int along, int wide,
                         int span, int sharers, int rank, int at, int k, int barrier) {
    const int pieces = along ? (sharers > 1 ? sharers : wide > 256 ? 2 : 1)
                             : wide * SIZE / span;
    const int side = wide / pieces, deep = BK / sharers;
    GT_UNROLL
    for (int i = 0; i < pieces; i++) {
        if (along && (sharers == 1 || i == rank))
            load_box(to + i * side * LINE, map, k, at + i * side, barrier, sharers > 1);
        else if (!along)
            load_box(to + (i * BK + rank * deep) * span, map, at + i * side,
                     k + rank * deep, barrier, sharers > 1);
    }
}

/* first: the block's first item, but with GT_WALK. x0, y0: rows of the maps ahead of the
 * product's; with GT_WALK, from a matrix to the next. One thread has slabs copied; with
 * GT_WALK its warp comes along. */
GT_INLINE void produce(struct plan *p, const struct ring *r, struct item first,
                       const struct gt_tensor_map *map_x,
                       const struct gt_tensor_map *map_y, int x0, int y0) {
    struct gt_turn turn = {0, 0};
    GT_UNROLL_BY(1)
    for (int number = p->first; number < p->items; number += p->step) {
        const struct item it = IS_FIRST(number - p->first) ? first : item_of(p, number);
        const int x1 = AHEAD_X(it, x0), y1 = AHEAD_Y(it, y0);
        if (!IS_ITEM(it))
            break;
        if (GT_WALK && GT_THREAD_X != READERS)
            continue;
        GT_UNROLL_BY(1)
        for (int s = 0; s < it.slabs; s++, turn = gt_turn_next(STAGES, turn)) {
            const int stage = r->stages + turn.stage * SLAB;
            const int full = r->full + turn.stage * 8, k = (it.first + s) * BK;
            /* In the first round the stage is free: the phase before the first has
             * passed. */
            gt_barrier_wait(r->empty + turn.stage * 8, turn.parity ^ 1);
            gt_barrier_arrive_expecting(full, SLAB);
            load_slab(stage, map_x, ALONG_X, BM, SPAN_X, CN, CN > 1 ? p->rank : 0,
                      it.row + (ALONG_X ? x1 : 0), k + (ALONG_X ? 0 : x1), full);
            load_slab(stage + SLAB_X, map_y, ALONG_Y, BN, SPAN_Y, CM, CM > 1 ? p->rank : 0,
                      it.col + (ALONG_Y ? y1 : 0), k + (ALONG_Y ? 0 : y1), full);
        }
    }
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

/* ---- the way out ------------------------------------------------------------------- */

/* The destination of a warpgroup's sums, X's row 0 and Y's column 0 of which lie at `at`:
 * with SWAP, X's rows are columns there. */
struct target {
    void *at;
    gt_long ld;
    int rows, cols; /* of X and of Y that exist from there */
};

/* How far a row of X and a column of Y lie from the target's beginning. */
GT_INLINE gt_long place_in(const struct target *to, int row, int col) {
    return SWAP ? col * to->ld + row : row * to->ld + col;
}

/* The row, of a fragment's 64, of the thread's sums 4 j + 2 h and 4 j + 2 h + 1. */
GT_INLINE int row_of(int t, int h) {
#if GT_RS
    return gt_across_line(SIZE, t, h);
#else
    return t / 32 * 16 + t % 32 / 4 + h * 8;
#endif
}

/* Stores sums as they are. */
GT_INLINE void store_sums(const struct target *to, const gt_acc *sums, int t) {
    const int col0 = t % 4 * 2;
    gt_acc *const at = (gt_acc *)to->at;
    const int pairs = !SWAP && gt_aligned(2, at, to->ld);
    GT_UNROLL
    for (int i = 0; i < FRAGS * 2; i++) {
        const int row = i / 2 * 64 + row_of(t, i % 2);
        GT_UNROLL
        for (int j = 0; j < WN / 8; j++) {
            const gt_acc *pair = sums + i / 2 * SUMS + j * 4 + i % 2 * 2;
            const int col = col0 + j * 8, there = row < to->rows ? to->cols - col : 0;
            if (pairs && there >= 2) {
                gt_store_global_acc(2, at + place_in(to, row, col), pair);
            } else {
                if (there >= 1)
                    at[place_in(to, row, col)] = pair[0];
                if (there >= 2)
                    at[place_in(to, row, col + 1)] = pair[1];
            }
        }
    }
}

/*
 * A chunk is 64 rows of X by 32 columns of Y, or all columns when there are fewer or
 * blocks add up together. In shared memory it lies as in C, in lines of neighbouring
 * elements. A line is 8 elements longer than it needs to be, against bank conflicts.
 */
enum {
    CHUNK = GT_CHUNK,
    LINES = SWAP ? CHUNK : 64, LENGTH = SWAP ? 64 : CHUNK, PITCH = LENGTH + 8,
    /* elements that a thread moves: those of 4 bytes of C, or 16 bytes of sums */
    WORD = ADDERS > 1 ? 4 : GT_SIZEOF_C < 4 ? 4 / GT_SIZEOF_C : 1,
    WORDS = LENGTH / WORD + (WORD > 1)             /* that a line may touch */
};

/* Puts `cols` columns of a fragment, whose first sums are given, to shared memory. */
GT_INLINE void put_chunk(gt_acc *chunk, const gt_acc *sums, int cols, int t) {
    GT_UNROLL /* a constant number of times: sums must stay in registers */
    for (int i = 0; i < CHUNK / 8 * 2; i++) {
        const gt_acc *pair = sums + i * 2;
        const int row = row_of(t, i % 2), col = i / 2 * 8 + t % 4 * 2;
        if (i / 2 * 8 >= cols)
            continue;
        if (SWAP) {
            chunk[col * PITCH + row] = pair[0];
            chunk[(col + 1) * PITCH + row] = pair[1];
        } else {
            gt_store_shared_acc(2, chunk + row * PITCH + col, pair);
        }
    }
}

#if GT_REDUCE
/* Loads WORD sums, 16 bytes, of block `rank` of the cluster. */
GT_INLINE void load_peer(gt_acc *sums, const gt_acc *from, int rank) {
    unsigned bits[WORD];
    asm volatile("{\n"
                 ".reg .b32 there;\n"
                 "mapa.shared::cluster.u32 there, %4, %5;\n"
                 "ld.shared::cluster.v4.b32 {%0, %1, %2, %3}, [there];\n"
                 "}"
                 : "=r"(bits[0]), "=r"(bits[1]), "=r"(bits[2]), "=r"(bits[3])
                 : "r"(gt_shared_address(from)), "r"(rank)
                 : "memory");
    GT_UNROLL
    for (int i = 0; i < WORD; i++)
#if GT_FLOAT
        sums[i] = GT_BITS_TO_F32(bits[i]);
#else
        sums[i] = bits[i];
#endif
}

/* The sums of all blocks for WORD elements, in the order of k. All are asked for before any
 * is added. */
GT_INLINE void add_peers(gt_acc *value, const gt_acc *from) {
    gt_acc part[ADDERS][WORD];
    GT_UNROLL
    for (int r = 0; r < ADDERS; r++)
        load_peer(part[r], from, r);
    GT_UNROLL
    for (int i = 0; i < WORD; i++) {
        value[i] = part[0][i];
        GT_UNROLL
        for (int r = 1; r < ADDERS; r++)
            value[i] += part[r][i];
    }
}
#endif

/* The sums of WORD elements of a line of a chunk from `col` on. Elements past its ends get
 * any number. Without odd lines of C, `col` is a multiple of WORD. */
GT_INLINE void sums_of(gt_acc *value, const gt_acc *line, int col) {
#if GT_REDUCE
    if (col % WORD == 0) {
        add_peers(value, line + col);
        return;
    }
#endif
    GT_UNROLL
    for (int i = 0; i < WORD; i++) {
        const gt_acc *at = line + GT_MAX(GT_MIN(col + i, LENGTH - 1), 0);
        value[i] = gt_cluster_load(ADDERS > 1, at, 0);
        GT_UNROLL
        for (int r = 1; r < ADDERS; r++)
            value[i] += gt_cluster_load(1, at, r);
    }
}

/* Stores a chunk to C, of which `lines` x `length` exist from c on. Blocks that add up
 * together, of which this is the one with number `rank`, store a part each. A thread moves
 * the elements that share a word of memory: a line may begin in the middle of one. */
GT_INLINE void take_chunk(const gt_acc *chunk, gt_c *c, gt_long ldc, gt_acc alpha,
                          gt_acc beta, int lines, int length, int rank,
                          int t GT_PLACE_PARAMS) {
    GT_UNROLL_BY(4)
    for (int e = rank * 128 + t; e < LINES * WORDS; e += ADDERS * 128) {
        const int line = e / WORDS;
        gt_c *const to = c + line * ldc;
        const int back = WORD > 1 ? (int)((gt_long)to / GT_SIZEOF_C % WORD) : 0;
        const int col = e % WORDS * WORD - back;
        const int first = col < 0 ? -col : 0, end = GT_MIN(length - col, WORD);
        gt_acc value[WORD];
        gt_c old[WORD];
        if (line >= lines || end <= first)
            continue;
        sums_of(value, chunk + line * PITCH, col);
        gt_load_c(WORD, old, to + col, beta, first == 0 && end == WORD, first, end);
        gt_store_row(WORD, to + col, alpha, value, beta, old, first == 0 && end == WORD,
                     first, end GT_PLACE(gt_i + line, gt_j + col));
    }
}

/* Waits until all parts of a chunk can be read. The producer's warps take part in it. */
GT_INLINE void meet_adders(int group) {
    if (ADDERS > 1)
        GT_CLUSTER_BARRIER(1);
    else
        gt_group_barrier(1 + group, 128);
}

/* Stores sums to C chunk by chunk. `group`: the warpgroup's number. Which sums go to
 * shared memory is decided before the program runs, since registers have no index; so
 * there is a branch for each chunk, and the code that stores one is there once. */
GT_INLINE void store_chunks(const struct target *to, const gt_acc *sums, gt_acc *chunk,
                            gt_acc alpha, gt_acc beta, int rank, int group,
                            int t GT_PLACE_PARAMS) {
    enum { ACROSS = GT_CDIV(WN, CHUNK) };
    GT_UNROLL_BY(1)
    for (int i = 0; i < FRAGS * ACROSS; i++) {
        const int row = i / ACROSS * 64, col = i % ACROSS * CHUNK;
        const int rows = GT_MIN(to->rows - row, 64);
        const int cols = GT_MIN(GT_MIN(to->cols, WN) - col, CHUNK);
        const int lines = SWAP ? cols : rows, length = SWAP ? rows : cols;
        gt_c *const c = (gt_c *)to->at + place_in(to, row, col);
        gt_group_barrier(1 + group, 128); /* the chunk before was taken */
        GT_UNROLL
        for (int j = 0; j < FRAGS * ACROSS; j++)
            if (j == i)
                put_chunk(chunk, sums + j / ACROSS * SUMS + j % ACROSS * CHUNK / 2,
                          GT_MIN(CHUNK, WN - j % ACROSS * CHUNK), t);
        meet_adders(group);
        if (beta == (gt_acc)0) /* C is not read */
            take_chunk(chunk, c, to->ld, alpha, 0, lines, length, rank,
                       t GT_PLACE(gt_i + (SWAP ? col : row), gt_j + (SWAP ? row : col)));
        else
            take_chunk(chunk, c, to->ld, alpha, beta, lines, length, rank,
                       t GT_PLACE(gt_i + (SWAP ? col : row), gt_j + (SWAP ? row : col)));
    }
}

/* ---- operands of an epilogue ------------------------------------------------------- */

#if GT_EPILOGUE
/* The part of C that a warpgroup has: its rows and columns are those of C, also with SWAP.
 */
enum { LINES_C = SWAP ? WN : WM, LENGTH_C = SWAP ? WM : WN };

struct part {
    char *vectors;  /* in shared memory: the operands with a value a row or a column */
    int boxes;      /* its address in shared memory: where C's boxes are made */
    int rows, cols; /* that exist */
};
#define PART_PARAM , const struct part *part
#define PART , &part

/* The part of which rows x cols of X and Y exist. */
GT_INLINE struct part part_of(char *vectors, int boxes, int rows, int cols) {
    const struct part p = {vectors, boxes, SWAP ? cols : rows, SWAP ? rows : cols};
    return p;
}

/* The operands of two neighbouring elements of a part, unless boxes have them. */
GT_INLINE void fetch_pair(struct gt_operands *to, const struct part *p, int row,
                          int col GT_PLACE_PARAMS) {
    enum { ALL_STAGED = GT_VECTORS == GT_VECTORS_ALL };
    if (ALL_STAGED)
        gt_vectors_read(to, p->vectors, LINES_C, LENGTH_C, row, col);
    GT_UNROLL
    for (int e = 0; e < 2; e++)
        if (row < p->rows && col + e < p->cols) {
            if (ALL_STAGED)
                gt_others_fetch(&to[e] GT_PLACE(gt_i + row, gt_j + col + e));
            else
                gt_fetch(&to[e] GT_PLACE(gt_i + row, gt_j + col + e));
        }
}

/* An element of C, of which rows x cols exist from there on. */
GT_INLINE gt_result made(gt_acc alpha, gt_acc sum, struct gt_operands operands, int rows,
                         int cols GT_PLACE_PARAMS) {
    if (GT_HAS_D2 && (rows <= 0 || cols <= 0)) /* nor does d2 */
        return 0;
    return gt_result_of(alpha, sum, 0, 0, operands GT_PLACE(gt_i, gt_j));
}
#else
#define PART_PARAM
#define PART
#endif

#if GT_ROWS
/*
 * Rows of C that may begin anywhere leave in pieces of 16 bytes. A chunk is 64 rows of X
 * by 128 bytes of C, or fewer when there are no more. In shared memory a row of it begins
 * as many bytes behind a multiple of 16 as in C, so that a piece is one there and here.
 * The last piece of a row may be incomplete; the next chunk has its elements once more,
 * and stores them.
 */
enum {
    ROW_COLS = GT_MIN(WN, 128 / GT_SIZEOF_C), /* of a chunk */
    ROW_ACROSS = GT_CDIV(WN, ROW_COLS),       /* chunks side by side */
    ROW_PITCH = ROW_COLS * GT_SIZEOF_C + 16,
    ROW_PIECES = ROW_COLS * GT_SIZEOF_C / 16
};

/* Bytes from the multiple of 16 before it. */
GT_INLINE int behind_piece(const gt_c *c) {
    return (int)((gt_long)c & 15);
}

/* Puts the elements of a chunk whose first sums and place in C are given to shared memory:
 * groups of 8 columns from number `first` on, which is -1 for the elements that the chunk
 * before has left. */
#if GT_EPILOGUE
/* The same with an epilogue. The chunk begins at row row0 and column col0 of the part. The
 * operands of a few pairs of elements are read before the first of these is made. */
GT_INLINE void put_rows_of(char *chunk, const gt_acc *sums, int first, int groups,
                           const gt_c *c, gt_long ldc, gt_acc alpha, const struct part *p,
                           int row0, int col0, int t GT_PLACE_PARAMS) {
    enum { PAIRS = ROW_COLS / 8 + 1, EACH = 3 };
    GT_UNROLL
    for (int b = 0; b < 2 * GT_CDIV(PAIRS, EACH); b++) {
        const int h = b / GT_CDIV(PAIRS, EACH);
        const int row = row_of(t, h), behind = behind_piece(c + row * ldc);
        char *const line = chunk + row * ROW_PITCH + behind;
        struct gt_operands of[EACH][2] = {{{0}}};
        GT_UNROLL
        for (int e = 0; e < EACH; e++) {
            const int j = b % GT_CDIV(PAIRS, EACH) * EACH + e - 1;
            const int col = j * 8 + t % 4 * 2;
            if (j >= first && j < groups) {
                fetch_pair(of[e], p, row0 + row, col0 + col GT_PLACE(gt_i, gt_j));
#if GT_EPI_BOXED
                for (int i = 0; i < 2; i++)
                    if (row0 + row < p->rows && col0 + col + i < p->cols)
                        gt_boxed_fetch(&of[e][i] GT_PLACE(gt_i + row0 + row,
                                                          gt_j + col0 + col + i));
#endif
            }
        }
        GT_UNROLL
        for (int e = 0; e < 2 * EACH; e++) {
            const int j = b % GT_CDIV(PAIRS, EACH) * EACH + e / 2 - 1;
            const int col = j * 8 + t % 4 * 2 + e % 2;
            if (j >= first && j < groups && behind + col * GT_SIZEOF_C >= 0)
                *(gt_c *)(line + col * GT_SIZEOF_C) =
                    gt_rounded(made(alpha, sums[j * 4 + h * 2 + e % 2], of[e / 2][e % 2],
                                    p->rows - row0 - row,
                                    p->cols - col0 - col GT_PLACE(gt_i + row0 + row,
                                                                  gt_j + col0 + col)));
        }
    }
}
#else
GT_INLINE void put_rows(char *chunk, const gt_acc *sums, int first, int groups,
                        const gt_c *c, gt_long ldc, gt_acc alpha, int t) {
    GT_UNROLL
    for (int h = 0; h < 2; h++) {
        const int row = row_of(t, h);
        const int behind = behind_piece(c + row * ldc);
        char *const line = chunk + row * ROW_PITCH + behind;
        GT_UNROLL /* a constant number of times: sums must stay in registers */
        for (int j = -2; j < ROW_COLS / 8 * 2; j++) {
            const int col = (j >> 1) * 8 + t % 4 * 2 + (j & 1);
            if (j >= first * 2 && j < groups * 2 && behind + col * GT_SIZEOF_C >= 0)
                *(gt_c *)(line + col * GT_SIZEOF_C) =
                    gt_to_c(alpha * sums[(j >> 1) * 4 + h * 2 + (j & 1)]);
        }
    }
}
#endif

/* A warp's rows of a chunk are its own. Only with tf32 from registers two warps share some
 * (across.h). */
GT_INLINE void meet_rows(int group) {
    if (RS && SIZE == 4)
        gt_group_barrier(1 + group, 128);
    else
        gt_warp_barrier();
}

/* A warp's pieces of a chunk have numbers: their row, of 16, and the byte in it. Behind all
 * whole pieces come those that only the end of a row may have. */
GT_INLINE int piece_row(int e) {
    return e < 16 * ROW_PIECES ? e / ROW_PIECES : e - 16 * ROW_PIECES;
}

GT_INLINE int piece_at(int e) {
    return 16 * (e < 16 * ROW_PIECES ? e % ROW_PIECES : ROW_PIECES);
}

/* Stores bytes [begin, end) of a piece, which is loaded already. */
GT_INLINE void take_piece(char *c, uint4 loaded, const char *piece, int begin, int end) {
    if (begin <= 0 && end >= 16) {
        *(uint4 *)c = loaded;
    } else {
        GT_UNROLL
        for (int at = 0; at < 16; at += GT_SIZEOF_C)
            if (at >= begin && at < end)
                *(gt_c *)(c + at) = *(const gt_c *)(piece + at);
    }
}

/* Stores a warp's rows of a chunk to C, of which rows x cols exist from c on. first:
 * whether no chunk is left of it. All pieces are loaded before the first is stored. */
GT_INLINE void take_rows(const char *chunk, gt_c *c, gt_long ldc, int rows, int cols,
                         int first, int t) {
    enum { PIECES = 16 * (ROW_PIECES + 1), EACH = GT_CDIV(PIECES, 32) };
    const int lane = t % 32, row0 = t / 32 * 16;
    const char *const mine = chunk + row0 * ROW_PITCH;
    uint4 loaded[EACH];
    GT_UNROLL
    for (int i = 0; i < EACH; i++) {
        const int e = GT_MIN(lane + i * 32, PIECES - 1);
        loaded[i] = *(const uint4 *)(mine + piece_row(e) * ROW_PITCH + piece_at(e));
    }
    GT_UNROLL
    for (int i = 0; i < EACH; i++) {
        const int e = lane + i * 32, row = row0 + piece_row(e), at = piece_at(e);
        gt_c *const to = c + row * ldc;
        const int behind = behind_piece(to), begin = first ? behind : 0;
        const int end = cols > ROW_COLS ? ROW_PIECES * 16 : behind + cols * GT_SIZEOF_C;
        if (e < PIECES && row < rows)
            take_piece((char *)to - behind + at, loaded[i],
                       mine + piece_row(e) * ROW_PITCH + at, begin - at, end - at);
    }
}

/* Stores sums to C chunk by chunk, without reading C. See store_chunks. */
GT_INLINE void store_rows(const struct target *to, const gt_acc *sums, char *chunk,
                          gt_acc alpha, int group, int t PART_PARAM GT_PLACE_PARAMS) {
#if GT_EPILOGUE
    if (GT_VECTORS)
        gt_group_barrier(1 + group, 128); /* all warps have copied their vectors */
#endif
    GT_UNROLL_BY(1)
    for (int i = 0; i < FRAGS * ROW_ACROSS; i++) {
        const int row = i / ROW_ACROSS * 64, col = i % ROW_ACROSS * ROW_COLS;
        const int rows = to->rows - row, cols = GT_MIN(to->cols, WN) - col;
        gt_c *const c = (gt_c *)to->at + place_in(to, row, col);
        if (rows <= 0 || cols <= 0)
            continue;
        meet_rows(group); /* the chunk before was taken */
        GT_UNROLL
        for (int j = 0; j < FRAGS * ROW_ACROSS; j++) {
            const int across = j % ROW_ACROSS, first = across > 0 ? -1 : 0;
            const int groups = GT_MIN(ROW_COLS, WN - across * ROW_COLS) / 8;
            const gt_acc *const own =
                sums + j / ROW_ACROSS * SUMS + across * ROW_COLS / 2;
            if (j == i)
#if GT_EPILOGUE
                put_rows_of(chunk, own, first, groups, c, to->ld, alpha, part, row, col,
                            t GT_PLACE(gt_i, gt_j));
#else
                put_rows(chunk, own, first, groups, c, to->ld, alpha, t);
#endif
        }
        meet_rows(group);
        take_rows(chunk, c, to->ld, rows, cols, col == 0, t);
    }
}
#endif

#if GT_STORE
/* Two elements of C, side by side. */
GT_INLINE void put_pair(int at, gt_c first, gt_c second) {
    union {
        gt_c c[2];
        unsigned word[GT_SIZEOF_C / 2];
    } pair = {{first, second}};
#if GT_SIZEOF_C == 2
    asm volatile("st.shared.b32 [%0], %1;" ::"r"(at), "r"(pair.word[0]) : "memory");
#else
    asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(at), "r"(pair.word[0]),
                 "r"(pair.word[1])
                 : "memory");
#endif
}

/* A turn of boxes is 64 rows of X by TURN_COLS columns of Y, in one box of C; with SWAP,
 * in boxes of 128 bytes of a row of C by 32 rows of C. */
enum {
    SPAN_C = GT_SPAN_C, /* bytes of a box's row */
    TURN_COLS = SWAP ? 32 : SPAN_C / GT_SIZEOF_C,
    TURN_LINES = SWAP ? 32 : 64,         /* rows of C */
    TURN = 64 * TURN_COLS * GT_SIZEOF_C, /* bytes */
    BOX_BYTES = SWAP ? 32 * SPAN_C : TURN
};

/* Where the element of this row of X and column of Y lies in a turn's boxes. */
GT_INLINE int place_in_boxes(int row, int col) {
    const int byte = (SWAP ? row : col) * GT_SIZEOF_C, line = SWAP ? col : row;
    return byte / SPAN_C * BOX_BYTES +
           gt_swizzled(line * SPAN_C + byte % SPAN_C, SPAN_C);
}

/* The pairs of neighbours in C that a thread has in a turn: where sum number `at` of pair
 * i lies among the fragment's, and the row of X and the column of Y of the first one. */
enum { PAIRS = TURN_COLS / 8 * 2 };

GT_INLINE int sum_of_pair(int i, int at) {
    return i / 2 * 4 + i % 2 * (SWAP ? 1 : 2) + at * (SWAP ? 2 : 1);
}

GT_INLINE int row_of_pair(int t, int i) {
    return row_of(t, SWAP ? 0 : i % 2);
}

GT_INLINE int col_of_pair(int t, int i) {
    return i / 2 * 8 + t % 4 * 2 + (SWAP ? i % 2 : 0);
}

/* The first row of X and column of Y of a turn. */
enum { ACROSS = WN / TURN_COLS, TURNS = FRAGS * ACROSS };

GT_INLINE int turn_row(int turn) {
    return turn / ACROSS * 64;
}

GT_INLINE int turn_col(int turn) {
    return turn % ACROSS * TURN_COLS;
}

#if GT_EPILOGUE
/* Puts a turn's elements of C to its boxes at `at`, which have the boxed operand. The
 * operands of a few pairs are read before the first of these is made. */
GT_INLINE void put_boxes_of(int at, int turn, const gt_acc *sums, gt_acc alpha,
                            const struct part *p, int t GT_PLACE_PARAMS) {
    enum { EACH = GT_MIN(PAIRS, FRAGS * SUMS > 176 ? 2 : FRAGS * SUMS > 128 ? 4 : 8) };
    const int line0 = SWAP ? turn_col(turn) : turn_row(turn);
    const int at0 = SWAP ? turn_row(turn) : turn_col(turn);
    GT_UNROLL
    for (int b = 0; b < PAIRS; b += EACH) {
        struct gt_operands of[EACH][2] = {{{0}}};
        GT_UNROLL
        for (int e = 0; e < EACH; e++) {
            const int row = row_of_pair(t, b + e), col = col_of_pair(t, b + e);
            fetch_pair(of[e], p, line0 + (SWAP ? col : row),
                       at0 + (SWAP ? row : col) GT_PLACE(gt_i, gt_j));
#if GT_EPI_BOXED
            gt_boxed_read(of[e], at + place_in_boxes(row, col));
#endif
        }
        GT_UNROLL
        for (int e = 0; e < EACH; e++) {
            const int row = row_of_pair(t, b + e), col = col_of_pair(t, b + e);
            const int line = line0 + (SWAP ? col : row), from = at0 + (SWAP ? row : col);
            gt_result x[2];
            gt_c c[2];
            GT_UNROLL
            for (int i = 0; i < 2; i++)
                x[i] = made(alpha, sums[sum_of_pair(b + e, i)], of[e][i], p->rows - line,
                            p->cols - from - i GT_PLACE(gt_i + line, gt_j + from + i));
            gt_round_pair(c, x[0], x[1]);
            put_pair(at + place_in_boxes(row, col), c[0], c[1]);
        }
    }
}
#else
/* Puts a turn's elements of C to its boxes at `at`. */
GT_INLINE void put_boxes(int at, const gt_acc *sums, gt_acc alpha, int t) {
    GT_UNROLL
    for (int i = 0; i < PAIRS; i++)
        put_pair(at + place_in_boxes(row_of_pair(t, i), col_of_pair(t, i)),
                 gt_to_c(alpha * sums[sum_of_pair(i, 0)]),
                 gt_to_c(alpha * sums[sum_of_pair(i, 1)]));
}
#endif

#if GT_EPI_BOXED
/* Starts to copy the boxed operand to the boxes of a turn. */
GT_INLINE void request_turn(const struct part *p, int turn, int t GT_PLACE_PARAMS) {
    enum { LINE_BYTES = SWAP ? 64 * GT_SIZEOF_C : SPAN_C, PIECES = LINE_BYTES / 16 };
    const int line0 = SWAP ? turn_col(turn) : turn_row(turn);
    const int at0 = SWAP ? turn_row(turn) : turn_col(turn);
    GT_UNROLL
    for (int e = 0; e < TURN / 16; e += 128) {
        const int line = (e + t) / PIECES, byte = (e + t) % PIECES * 16;
        const int to = p->boxes + turn % GT_PLACES * TURN + byte / SPAN_C * BOX_BYTES +
                       gt_swizzled(line * SPAN_C + byte % SPAN_C, SPAN_C);
        const int left = line0 + line < p->rows ? (p->cols - at0) * GT_SIZEOF_C - byte : 0;
        gt_boxed_copy(to, GT_MAX(GT_MIN(left, 16), 0) GT_PLACE(
                              gt_i + line0 + line, gt_j + at0 + byte / GT_SIZEOF_C));
    }
}
#endif

#ifdef GT_BATCH
/* Stores those rows and columns of a turn that exist, C's first one at `c`. */
GT_INLINE void take_boxes(int at, gt_c *c, gt_long ldc, int rows, int cols, int t) {
    enum {
        PIECE = 16 / GT_SIZEOF_C, /* elements */
        LENGTH = SWAP ? 64 : TURN_COLS, PIECES = LENGTH / PIECE
    };
    const int high = SWAP ? cols : rows, wide = SWAP ? rows : cols;
    GT_UNROLL_BY(2)
    for (int e = t; e < TURN_LINES * PIECES; e += 128) {
        const int line = e / PIECES, first = e % PIECES * PIECE;
        unsigned x[4];
        if (line >= high || first >= wide)
            continue;
        asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                     : "r"(at + place_in_boxes(SWAP ? first : line, SWAP ? line : first))
                     : "memory");
        *(uint4 *)(c + line * ldc + first) = make_uint4(x[0], x[1], x[2], x[3]);
    }
}
#endif

/* A turn begins when at most READING stores of boxes still read their places. It asks for
 * the boxed operand of the turn that comes AHEAD turns later. */
#if GT_EPI_BOXED && GT_PLACES == 2
#define READING 0
#else
#define READING 1
#endif

/* Stores sums to C by boxes. X's row `row` and Y's column `col` come first. PLACES places
 * from `at` on in shared memory take turns. Without a boxed operand there are two of them,
 * which take turns also from a tile to the warpgroup's next one; `before`: the warpgroup's
 * tiles before this one. Below a product of a batch may lie another one. So the threads
 * store its incomplete boxes, to `to`. */
GT_INLINE void store_boxes(const struct gt_tensor_map *map, const struct target *to,
                           const gt_acc *sums, int at, gt_acc alpha, int row, int col,
                           int before, int group, int t PART_PARAM GT_PLACE_PARAMS) {
    enum { AHEAD = GT_PLACES - 1 - READING };
    const int odd = TURNS % 2 && !GT_EPI_BOXED ? before % 2 : 0;
    GT_UNROLL
    for (int i = 0; i < TURNS; i++) {
        const int row0 = turn_row(i), col0 = turn_col(i);
        const int turn = at + (odd + i) % GT_PLACES * TURN;
        if (t == 0)
            GT_BOX_STORES_READ(READING);
#if GT_EPI_BOXED
        GT_COPY_WAIT(READING); /* for this turn's: each turn closes one group */
#endif
        gt_group_barrier(1 + group, 128);
#if GT_EPI_BOXED
        if (i + AHEAD >= GT_PLACES && i + AHEAD < TURNS)
            request_turn(part, i + AHEAD, t GT_PLACE(gt_i, gt_j));
        GT_COPY_COMMIT();
#endif
#if GT_EPILOGUE
        put_boxes_of(turn, i, sums + i / ACROSS * SUMS + col0 / 2, alpha, part,
                     t GT_PLACE(gt_i, gt_j));
#else
        put_boxes(turn, sums + i / ACROSS * SUMS + col0 / 2, alpha, t);
#endif
        gt_copies_see_stores();
        gt_group_barrier(1 + group, 128);
#ifdef GT_BATCH
        const int rows = to->rows - row0, cols = to->cols - col0;
        if ((SWAP ? cols : rows) < TURN_LINES) {
            take_boxes(turn, (gt_c *)to->at + place_in(to, row0, col0), to->ld, rows, cols,
                       t);
            if (t == 0)
                gt_box_stores_commit(); /* every turn has a group */
            continue;
        }
#endif
        if (t == 0) {
            GT_UNROLL
            for (int b = 0; b < TURN / BOX_BYTES; b++)
                gt_box_store(map,
                             SWAP ? row + row0 + b * (SPAN_C / GT_SIZEOF_C) : col + col0,
                             SWAP ? col + col0 : row + row0, turn + b * BOX_BYTES);
            gt_box_stores_commit();
        }
    }
}
#endif

#if GT_EPILOGUE
/* Has the boxed operand's part brought to the L2 cache, a line of memory at a time. */
GT_INLINE void ask(const struct part *p, int boxed, int t GT_PLACE_PARAMS) {
#if GT_STORE && GT_EPI_BOXED
    enum { EACH = 128 / GT_SIZEOF_C, LINE_ASKS = GT_CDIV(LENGTH_C, EACH) };
    GT_UNROLL_BY(1)
    for (int e = t; e < LINES_C * LINE_ASKS; e += 128) {
        const int line = e / LINE_ASKS, from = e % LINE_ASKS * EACH;
        if (boxed && line < p->rows && from < p->cols)
            gt_boxed_ask(0 GT_PLACE(gt_i + line, gt_j + from));
    }
#endif
}

/* Brings what a part needs to shared memory, ahead of its elements. `boxed`: they leave by
 * boxes. */
GT_INLINE void request(const struct part *p, int boxed, int group, int t GT_PLACE_PARAMS) {
#if GT_ROWS && GT_PERSIST
    if (GT_VECTORS)
        gt_group_barrier(1 + group, 128); /* all warps have read those of the tile before */
#endif
    if (GT_VECTORS)
        gt_vectors_copy(p->vectors, LINES_C, LENGTH_C, p->rows, p->cols, t,
                        128 GT_PLACE(gt_i, gt_j));
#if GT_STORE && GT_EPI_BOXED
    if (!boxed)
        return;
    if (t == 0)
        GT_BOX_STORES_READ(0);
    gt_group_barrier(1 + group, 128);
    GT_UNROLL_BY(1)
    for (int i = 0; i < GT_PLACES; i++) {
        if (i < TURNS)
            request_turn(p, i, t GT_PLACE(gt_i, gt_j));
        GT_COPY_COMMIT();
    }
#endif
}
#endif

/* ---- gemm -------------------------------------------------------------------------- */

GT_KERNEL(gemm, GT_THREADS, 1, GT_MINB)(GT_PARAMS) {
    extern __shared__ __align__(1024) unsigned char smem[]; /* for the swizzle */
    GT_FOLLOW();
    GT_PRODUCT();
    const int t = GT_THREAD_X, lane = t % 32;
    const int high = SWAP ? n : m, wide = SWAP ? m : n;
    struct plan p = {high,
                     wide,
                     gt_cdiv(high, HIGH) * gt_cdiv(wide, WIDE),
                     GT_WALK ? 0x7fffffff : (int)GT_ITEMS,
                     alpha == (gt_acc)0 ? 0 : gt_cdiv(k, BK),
                     GT_BLOCK % CLUSTER,
                     GT_BLOCK / CLUSTER,
                     (int)gridDim.x / CLUSTER};
    struct item first = {};
#if GT_WALK
    p.n = n;
    p.lane = lane;
    p.walk = gt_walk_begin(all_rows, batch, m, WALK_HIGH, WALK_ACROSS(n), lane);
#else
    /* Its divisions and the barriers below are under way at the same time. */
    first = item_of(&p, p.first);
#endif
    const int stages = gt_shared_address(smem), staged = stages + STAGES * SLAB;
    const int full = staged + GROUPS * STAGED;
    const struct ring ring = {stages, full, full + STAGES * 8, full + STAGES * 16};

    if (t == READERS) { /* the first copies would wait for their maps */
        gt_map_prefetch(&map_x);
        gt_map_prefetch(&map_y);
    }
    if (t == 0) {
        for (int s = 0; s < STAGES; s++) {
            gt_barrier_init(ring.full + s * 8, 1);
            gt_barrier_init(ring.empty + s * 8, TEAM * 4 * CLUSTER); /* warps */
        }
        for (int s = 0; s < TEAMS; s++)
            gt_barrier_init(ring.order + s * 8, TEAM * 4);
        gt_barrier_init_done();
    }
    GT_CLUSTER_BARRIER(CLUSTER > 1);

    if (t >= READERS) {
#if GT_GIVE
        GT_REGISTERS_GIVE(GT_GIVE);
#endif
        if (GT_WALK ? t < READERS + 32 : t == READERS)
            produce(&p, &ring, first, &map_x, &map_y,
                    SWAP ? ROWS_BEFORE_B : ROWS_BEFORE_A,
                    SWAP ? ROWS_BEFORE_A : ROWS_BEFORE_B);
        gt_warp_barrier();
        if (ADDERS > 1)
            meet_adders(0);
    } else {
#if GT_GIVE
        GT_REGISTERS_TAKE(GT_TAKE);
#endif
        /* From lane 0, so that descriptors are known to be the same in all lanes. */
        const int group = __shfl_sync(0xffffffff, t / 128, 0), member = group % TEAM;
        const int row = member / (BN / WN) * WM, col = member % (BN / WN) * WN;
#if GT_RS
        const int x = gt_across_place(SIZE, SPAN_X, BK, row, t % 128);
#else
        const int x = row * LINE;
#endif
        int used = 0, turns = 0; /* slabs of all items before; items before */
        GT_UNROLL_BY(1)
        for (int number = p.first; number < p.items; number += p.step, turns++) {
            const struct item it = IS_FIRST(turns) ? first : item_of(&p, number);
            if (!IS_ITEM(it))
                break;
            const struct gt_turn turn = gt_turn_at(STAGES, used);
            used += it.slabs;
            if (TEAMS > 1 && turns % TEAMS != group)
                continue;
            gt_acc sums[FRAGS * SUMS];
#if GT_EPILOGUE
            const struct part part =
                part_of((char *)smem + (ring.order + 16 - stages) + group * GT_VECTORS,
                        staged + group * STAGED, high - it.row - row, wide - it.col - col);
            const int boxed = !GT_READS_C(beta) && p.slabs > 0 && it.work.parts <= 1;
            if (GT_PERSIST)
                ask(&part, boxed, t % 128 GT_PLACE(SWAP ? it.col + col : it.row + row,
                                                   SWAP ? it.row + row : it.col + col));
            else
                request(&part, boxed, group,
                        t % 128 GT_PLACE(SWAP ? it.col + col : it.row + row,
                                         SWAP ? it.row + row : it.col + col));
#endif
            const int last =
                consume(sums, &ring, turn, it.slabs, x, col * LINE, turns, lane);
#if GT_EPILOGUE
            if (GT_PERSIST) /* the last products run meanwhile */
                request(&part, boxed, group,
                        t % 128 GT_PLACE(SWAP ? it.col + col : it.row + row,
                                         SWAP ? it.row + row : it.col + col));
#endif
            settle(sums, &ring, it.slabs, last, lane);
            GT_LEAD(PARTIAL);

            const int row0 = it.row + row, col0 = it.col + col;
            struct target to = {c, ldc, ITEM_HIGH(it) - row0, ITEM_WIDE(it) - col0};
            to.at = ITEM_C(it) + place_in(&to, row0, col0);
            if (PARTIAL) {
                to.ld = n;
                to.at = PART_SUMS + it.work.part * (gt_long)m * n +
                        place_in(&to, row0, col0);
                store_sums(&to, sums, t % 128);
            } else if (GT_TAIL && it.work.parts > 1) {
                to.ld = to.cols = WIDE;
                to.rows = HIGH;
                to.at = PART_SUMS + gt_work_place(&it.work, it.work.part, HIGH, WIDE) +
                        place_in(&to, p.rank / CN * BM + row, p.rank % CN * BN + col);
                store_sums(&to, sums, t % 128);
#if GT_STORE
            } else if (!GT_READS_C(beta) && p.slabs > 0) {
                const int ahead = AHEAD_C(it);
                store_boxes(&map_c, &to, sums, staged + group * STAGED, alpha,
                            row0 + (SWAP ? 0 : ahead), col0 + (SWAP ? ahead : 0),
                            turns / TEAMS, group,
                            t % 128 PART GT_PLACE(SWAP ? col0 : row0, SWAP ? row0 : col0));
#endif
#if GT_ROWS
            } else if (!GT_READS_C(beta)) {
                store_rows(&to, sums, (char *)smem + STAGES * SLAB + group * STAGED, alpha,
                           group, t % 128 PART GT_PLACE(row0, col0));
#endif
            } else {
                gt_acc *chunk = (gt_acc *)(smem + STAGES * SLAB + group * STAGED);
                store_chunks(&to, sums, chunk, alpha, beta, it.work.part, group,
                             t % 128 GT_PLACE(SWAP ? col0 : row0, SWAP ? row0 : col0));
            }
        }
#if GT_STORE
        GT_BOX_STORES_READ(0); /* shared memory must not go before it was read */
#endif
    }
    if (CLUSTER * ADDERS > 1) { /* nor while another block uses it */
        gt_warp_barrier();
        GT_CLUSTER_BARRIER(1);
    }
}
