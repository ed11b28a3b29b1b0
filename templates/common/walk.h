/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk.h - a walk over the tiles of a batch, for a kernel whose blocks take tiles of all
 * products in turns ("walk" in "launch" of space.json). GT_WALK is 1 in its source; other
 * kernels have nothing of this.
 *
 * At strides and behind pointers all products have the same tiles. Tile t is one of product
 * t / tiles. GT_POINTERS 1: all_a, all_b and all_c are arrays of pointers, as in batch.h.
 * Then a, b and c are the first product's matrices.
 *
 * GT_GROUPED 1: A and C are one matrix each, of m rows in `batch` groups. Group g is
 * multiplied by matrix g of B, and ends ahead of row all_rows[g].
 * GT_MASKED 1: the first all_rows[z] rows of product z are computed. "Group" means product
 * here.
 *
 * A tile lies within one group. Tiles are numbered group by group; a group without rows has
 * none. Only the list says how many tiles there are. So every warp that needs to know a
 * tile walks along the list by itself: its lanes have 32 groups, whose tiles they add up.
 * Numbers that a warp asks for never fall, so it reads the list once. All 32 lanes call
 * these functions together. CUDA.
 */
#if GT_WALK
#undef GT_PRODUCT
#if GT_POINTERS
/* The first product's matrices, as GT_POINTER of batch.h has the block's. */
#define GT_FIRST(type, x, exists)                                                          \
    type *GT_RESTRICT x = (exists) ? all_##x[0] : 0;                                       \
    __builtin_assume(__isGlobal(x))
#define GT_PRODUCT()                                                                       \
    GT_FIRST(const gt_a, a, k > 0);                                                        \
    GT_FIRST(const gt_b, b, k > 0);                                                        \
    GT_FIRST(gt_c, c, 1)

/* A step leads from the first product's matrix to others. It has the array of pointers, or
 * 0 where the matrices are not read, and the bytes of an element. GT_WALK_STEP(x)
 * initialises the step of matrix x. */
typedef struct {
    const char *const *all;
    int size;
} gt_walk_step;
#define GT_WALK_STEP(x) {x != 0 ? (const char *const *)all_##x : 0, (int)sizeof(*x)}

/* The elements from the first product's matrix to this one's. */
GT_INLINE gt_long gt_walk_ahead(gt_walk_step step, gt_long product) {
    return step.all != 0 ? (step.all[product] - step.all[0]) / step.size : 0;
}
#else
#define GT_PRODUCT()

/* The elements from a product's matrix to the next one's; GT_GROUPED: from a row of A or C
 * to the next one. */
typedef gt_long gt_walk_step;
#define GT_WALK_STEP(x) stride_##x

GT_INLINE gt_long gt_walk_ahead(gt_walk_step step, gt_long number) {
    return number * step;
}
#endif

/* Sets the product number that per-product operands are read with. */
#ifndef GT_MOVE_PRODUCT
#define GT_MOVE_PRODUCT(product) (void)0
#endif

#ifndef GT_MASKED
#define GT_MASKED 0
#endif
#ifndef GT_GROUPED
#define GT_GROUPED 0
#endif

/* A tile's group, the group's first row in A and C (0 unless grouped) and its rows, and the
 * tile's number in it. */
struct gt_walk_tile {
    int group, begin, rows, tile;
};

#if GT_GROUPED || GT_MASKED
/* A row of tiles has `high` rows and `across` tiles. */
struct gt_walk {
    const int *list; /* all_rows */
    int groups, m;   /* m: rows of A, or of each product */
    int high, across, lane;
    int first;       /* the group of lane 0 */
    int begin, rows; /* of the lane's group */
    int from, to;    /* the numbers of its tiles: from `from` to `to` - 1 */
};

/* Gives the lanes the groups from `first` on, whose tiles are numbered from `from` on. */
GT_INLINE void gt_walk_take(struct gt_walk *w, int first, int from) {
    const int group = first + w->lane, exists = group < w->groups;
    const int begin = GT_GROUPED && exists && group > 0 ? w->list[group - 1] : 0;
    const int end = exists ? GT_MIN(w->list[group], w->m) : begin;
    w->first = first;
    w->begin = begin;
    w->rows = GT_MAX(0, end - begin);
    const int tiles = gt_cdiv(w->rows, w->high) * w->across;
    int sum = tiles;
    GT_UNROLL
    for (int step = 1; step < 32; step *= 2) {
        const int before = __shfl_up_sync(0xffffffff, sum, step);
        sum += w->lane >= step ? before : 0;
    }
    w->to = from + sum;
    w->from = w->to - tiles;
}

#define GT_WALK_BEGIN(high, across, lane) \
    gt_walk_begin(all_rows, batch, m, high, across, lane)
GT_INLINE struct gt_walk gt_walk_begin(const int *list, int groups, int m, int high,
                                       int across, int lane) {
    struct gt_walk w = {list, groups, m, high, across, lane};
    gt_walk_take(&w, 0, 0);
    return w;
}

/* Finds the tile of this number. Returns 0 when there are not so many tiles. */
GT_INLINE int gt_walk_find(struct gt_walk_tile *out, struct gt_walk *w, int number) {
    int end = __shfl_sync(0xffffffff, w->to, 31);
    GT_UNROLL_BY(1)
    while (number >= end && w->first + 32 < w->groups) {
        gt_walk_take(w, w->first + 32, end);
        end = __shfl_sync(0xffffffff, w->to, 31);
    }
    if (number >= end)
        return 0;
    const int which = __popc(__ballot_sync(0xffffffff, number >= w->to));
    out->group = w->first + which;
    out->begin = __shfl_sync(0xffffffff, w->begin, which);
    out->rows = __shfl_sync(0xffffffff, w->rows, which);
    out->tile = number - __shfl_sync(0xffffffff, w->from, which);
    return 1;
}
#else
struct gt_walk {
    int groups, m, tiles; /* products; rows and tiles of each */
};

#define GT_WALK_BEGIN(high, across, lane) {batch, m, gt_cdiv(m, high) * (across)}

/* Finds the tile of this number. Returns 0 when there are not so many tiles. */
GT_INLINE int gt_walk_find(struct gt_walk_tile *out, const struct gt_walk *w, int number) {
    const int group = number / w->tiles;
    if (group >= w->groups)
        return 0;
    *out = {group, 0, w->m, number - group * w->tiles};
    return 1;
}
#endif
#endif
