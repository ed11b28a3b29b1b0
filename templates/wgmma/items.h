/* SPDX-License-Identifier: Apache-2.0 */
/*
 * items.h - what a block of wgmma computes: the constants of a point, its instructions, the
 * kernels beside it, and the items of a block. wgmma.cu explains the words.
 */
/* With REDUCE 2 a block has all parts of its tile, so a tile is one item. */
#if GT_REDUCE == 2
#define PARTS_OF_BLOCK GT_SPLIT
#define BLOCKS_OF_TILE 1
#define ITEMS (GT_ITEMS / GT_SPLIT)
#else
#define BLOCKS_OF_TILE GT_SPLIT
#define ITEMS GT_ITEMS
#endif

enum {
    BM = GT_BM, BN = GT_BN, BK = GT_BK, SIZE = GT_SIZEOF_A, STAGES = GT_STAGES,
    SPLIT = BLOCKS_OF_TILE, SWAP = GT_SWAP, RS = GT_RS, PROMOTE = GT_PROMOTE,
    PARTIAL = SPLIT > 1 && !GT_REDUCE, /* stored sums are parts, not C yet */
    ADDERS = GT_REDUCE ? SPLIT : 1,    /* blocks that add up together */
    ALONG_X = GT_ALONG_X, ALONG_Y = GT_ALONG_Y, /* whether the operand lies along k */
    SPAN_X = GT_SPAN_X, SPAN_Y = GT_SPAN_Y,     /* bytes of a box's row */
    LINE = 128,                                 /* bytes of k in a slab */
    SLAB_X = BM * LINE, SLAB_Y = BN * LINE, SLAB = SLAB_X + SLAB_Y,
    CM = GT_CM, CN = GT_CN, CLUSTER = CM * CN,
    HIGH = GT_HIGH, WIDE = GT_WIDE, /* the cluster's tile */

    /* A team of warpgroups has a tile; each of them has WM x WN of it, in fragments of
     * 64 rows. */
    WM = GT_WM, WN = GT_WN, TEAM = GT_TEAM, TEAMS = 1 + GT_PINGPONG,
    GROUPS = GT_GROUPS, READERS = GROUPS * 128,
    FRAGS = WM / 64, SUMS = WN / 2, /* of a thread in a fragment */
    STEPS = LINE / 32, /* products of a fragment in a slab */
    PRODUCERS = GT_PRODUCERS, FILLERS = GT_MAX(1, PRODUCERS), /* warps */

    STAGED = GT_STAGED /* bytes of shared memory in which a warpgroup turns C */
};

/* Whether the threads of the producing warps copy slabs by loads of their own, and how many
 * arrivals tell that a slab is there: a warp each, or a thread with its copies. */
#define GT_LOOSE (GT_PRODUCERS >= 4)
#if GT_LOOSE
#define ARRIVALS PRODUCERS
#else
#define ARRIVALS 1
#endif

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

/* Whether each matrix of an operand is a plane of its tensor map. A is no plane where its
 * rows belong to groups or are masked. */
#if GT_GROUPED || GT_MASKED
#define PLANES_A 0
#else
#define PLANES_A GT_PLANES
#endif
#define PLANES_B GT_PLANES
enum { PLANES_X = SWAP ? PLANES_B : PLANES_A, PLANES_Y = SWAP ? PLANES_A : PLANES_B };

/* Tensor maps have the matrices of all products, one below the other or as planes. These
 * are the rows, or planes, ahead of the block's; with GT_WALK, from a matrix to the next
 * one. */
#ifndef GT_BATCH
enum { IS_BATCH = 0 };
#define BEFORE_A 0
#define BEFORE_B 0
#define BEFORE_C 0
#else
enum { IS_BATCH = 1 };
#if GT_WALK
#define BEFORE_A ((int)(PLANES_A ? stride_a != 0 : stride_a / lda))
#define BEFORE_B ((int)(PLANES_B ? stride_b != 0 : stride_b / ldb))
#define BEFORE_C ((int)(stride_c / ldc))
#elif GT_GROUPED || GT_MASKED
#define BEFORE_A GT_ROWS_BEFORE_A
#define BEFORE_B ((int)(PLANES_B ? (stride_b != 0) * gt_slot.group : GT_ROWS_BEFORE_B))
#define BEFORE_C GT_ROWS_BEFORE_C
#else
#define BEFORE_A \
    ((int)(PLANES_A ? (stride_a != 0) * gt_product : gt_product * stride_a / lda))
#define BEFORE_B \
    ((int)(PLANES_B ? (stride_b != 0) * gt_product : gt_product * stride_b / ldb))
#define BEFORE_C ((int)(gt_product * stride_c / ldc))
#endif
#endif

/* The workspace has the copies of A and B, then the sums of parts. */
#define PART_SUMS ((gt_acc *)((char *)workspace + GT_PACKED_A + GT_PACKED_B))

#if GT_REPACK >= 4
/* A panel of C. The copies of rows that the panel before had too are there already, and
 * their pointer is 0. */
GT_ALONG_KERNEL(repack, GT_PACK_A && !GT_TURN_A && a != 0,
                GT_PACK_B && !GT_TURN_B && b != 0, GT_TURN_A && a != 0,
                GT_TURN_B && b != 0, GT_PACKED_A)
#elif GT_REPACK
GT_ALONG_KERNEL(repack, GT_PACK_A && !GT_TURN_A, GT_PACK_B && !GT_TURN_B, GT_TURN_A,
                GT_TURN_B, GT_PACKED_A)
#endif

#if GT_SPLIT > 1 && !GT_REDUCE
GT_REDUCE_KERNEL(reduce, GT_SPLIT, GT_LANES, PART_SUMS)
#endif

#if GT_PIECES
GT_FINISH_KERNEL(finish, HIGH, WIDE, GT_GROUP, GT_PIECES, GT_CAPACITY, PART_SUMS)
#endif

#if GT_STREAM
/* Behind the sums of parts: how many parts have arrived, of each warpgroup's place in a
 * shared tile. */
#define ARRIVED(part_sums, shared) \
    ((unsigned *)((part_sums) + (gt_long)(GT_CAPACITY + (shared)) * HIGH * WIDE))
GT_CLEAR_KERNEL(clear, ARRIVED(PART_SUMS, GT_SHARED_FIRST), GT_ARRIVALS)
#endif

/* ---- items ------------------------------------------------------------------------- */

/* The numbers that all items share. */
struct plan {
    int high, wide;  /* rows of X, columns of Y */
    int tiles, items;
    int slabs;       /* of all k; 0: neither A nor B is read */
    int rank;        /* the block's in its cluster */
    int first, step; /* the items of the block's cluster: first, first + step, ... */
    int before_x, before_y, before_c; /* BEFORE_A and so on */
#if GT_WALK
    gt_long step_c; /* from a group's C to the next one's; GT_GROUPED: from row to row */
    struct gt_walk walk;
#endif
#if GT_STREAM
    struct gt_share share;
#endif
};

/* A block's part of an item. */
struct item {
    int exists;
    struct gt_work work;
    int row, col;     /* of X and Y, where its tile begins */
    int first, slabs; /* of k */
    int high, wide;   /* rows of X, columns of Y of its product */
    int ahead_x, ahead_y, ahead_c; /* rows or planes of the maps ahead of its product */
    gt_long ahead;                 /* elements of C ahead of its product */
    gt_long rows_ahead; /* rows of all products ahead of it, which an epilogue counts */
    int product;        /* its number, or the group's */
};

/* Sets where the block's tile of an item begins. */
GT_INLINE void place_tile(struct item *it, const struct plan *p, int tile) {
    gt_tile_place(&it->row, &it->col, tile, HIGH, WIDE, GT_GROUP, it->high, it->wide);
    it->row += p->rank / CN * BM;
    it->col += p->rank % CN * BN;
}

#if GT_WALK
/* A row of C has WALK_ACROSS(n) tiles of WALK_HIGH rows. */
#define WALK_HIGH (SWAP ? WIDE : HIGH)
#define WALK_ACROSS(n) gt_cdiv(n, SWAP ? HIGH : WIDE)

/* Whether X (Y) is op(A) of grouped rows: one matrix, whose groups follow one another. */
enum { GROUPED_X = !SWAP && GT_GROUPED, GROUPED_Y = SWAP && GT_GROUPED };

/* All lanes of a warp call it together. */
GT_INLINE struct item item_of(struct plan *p, int number) {
    struct item it = {};
    struct gt_walk_tile of;
    it.exists = gt_walk_find(&of, &p->walk, number);
    if (!it.exists)
        return it;
    it.work = {0, 0, 1, 1, 0, 0};
    it.slabs = p->slabs;
    it.high = SWAP ? p->high : of.rows;
    it.wide = SWAP ? of.rows : p->wide;
    it.ahead_x = GROUPED_X ? of.begin : of.group * p->before_x;
    it.ahead_y = GROUPED_Y ? of.begin : of.group * p->before_y;
    it.ahead_c = GT_GROUPED ? of.begin : of.group * p->before_c;
    it.ahead = (GT_GROUPED ? of.begin : of.group) * p->step_c;
    it.rows_ahead = GT_GROUPED ? of.begin : of.group * (gt_long)p->walk.m;
    it.product = of.group;
    place_tile(&it, p, of.tile);
    return it;
}
#elif GT_STREAM
/* The parts of the block's share come first, then whole tiles. A block may have no item. */
GT_INLINE struct item item_of(const struct plan *p, int number) {
    const int turn = number / p->step, whole = turn - p->share.parts;
    const int tile = GT_MIN(p->share.tiles + whole * p->step + p->first, p->tiles - 1);
    struct item it = {1, {tile, 0, 1, 1, 0, 0}, 0, 0, 0, p->slabs, p->high, p->wide};
    if (whole < 0) {
        const struct gt_part part = gt_share_part(&p->share, turn);
        it.work = {part.tile, part.part, part.parts, 1, 0, 0};
        it.first = part.first;
        it.slabs = p->slabs > 0 ? part.slabs : 0;
    }
    place_tile(&it, p, it.work.tile);
    return it;
}
#else
GT_INLINE struct item item_of(const struct plan *p, int number) {
    struct item it;
    /* Items of one part of k are neighbours: their tiles share its slabs in the L2
     * cache. */
    const int block = PARTIAL ? number % p->tiles * SPLIT + number / p->tiles : number;
    it.exists = 1;
    it.work = gt_work_of(GT_PIECES, GT_CAPACITY, SPLIT, block, p->tiles);
    it.high = p->high;
    it.wide = p->wide;
    it.ahead_x = p->before_x;
    it.ahead_y = p->before_y;
    it.ahead_c = p->before_c;
    it.ahead = 0;
    it.rows_ahead = 0;
    place_tile(&it, p, it.work.tile);
    it.slabs = gt_work_slabs(&it.work, p->slabs, &it.first);
    return it;
}
#endif
