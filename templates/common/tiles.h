/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tiles.h - which tile of C a block computes, and which part of the tile's k.
 *
 * Tiles go to blocks in their order. `split` blocks share a tile, each with a part of its
 * k.
 *
 * A device holds `held` blocks at once. The last `of` tiles would leave some of these
 * places empty. With `tail` (split is 1) these tiles are shared: their k is cut into `tail`
 * pieces. One block of each such tile computes its first cdiv(tail * of, held) pieces;
 * every other piece has a block of its own. While the former compute, the places beside
 * them compute all of the latter. Blocks that compute the same part of k begin one after
 * another, so that they read the same slabs at the same time. Launch: the grid is the
 * number of tiles, plus `of` blocks for each part of a shared tile but the first.
 *
 * The parts of shared tiles go to the workspace, as BM rows of BN, gt_work_place elements
 * after the beginning of that region. A part takes `of` tiles. GT_FINISH_KERNEL adds them
 * up.
 *
 * Integer macros of a part are names of space.json too, without GT_.
 */
#define GT_FINISH_THREADS 256
#define GT_FINISH_EACH 2 /* neighbouring elements of a tile that one thread adds up */

struct gt_work {
    int tile;
    int part, parts; /* of the tile's k: the block's part, and the number of parts */
    int pieces;      /* of k, all equal; a part is one piece, the first part has the rest */
    int shared, of;  /* the tile's number among the shared tiles; how many are shared */
};

GT_INLINE int gt_shared_tiles(int tail, int held, int tiles) {
    return tail ? tiles % held : 0;
}

GT_INLINE struct gt_work gt_work_of(int tail, int held, int split, int block, int tiles) {
    const int of = gt_shared_tiles(tail, held, tiles), late = block - (tiles - of);
    struct gt_work w = {block / split, block % split, split, tail ? tail : split, 0, of};
    if (of > 0 && late >= 0) {
        w.shared = late % of;
        w.tile = tiles - of + w.shared;
        w.part = late / of;
        w.parts = tail - gt_cdiv(tail * of, held) + 1;
    }
    return w;
}

/* How many of the `all` slabs of the tile's k the block computes. *first is the first
 * one. */
GT_INLINE int gt_work_slabs(const struct gt_work *w, gt_long all, int *first) {
    const int end = w->pieces - (w->parts - 1) + w->part, begin = w->part > 0 ? end - 1 : 0;
    *first = (int)(all * begin / w->pieces);
    return (int)(all * end / w->pieces) - *first;
}

GT_INLINE gt_long gt_work_place(const struct gt_work *w, int part, int bm, int bn) {
    return ((gt_long)part * w->of + w->shared) * bm * bn;
}

/* The first row and column of a tile of bm x bn. Groups of `group` rows of tiles are walked
 * column by column. */
GT_INLINE void gt_tile_place(int *row, int *col, int tile, int bm, int bn, int group, int m,
                             int n) {
    const int tiles_m = gt_cdiv(m, bm), tiles_n = gt_cdiv(n, bn);
    const int band = tile / (group * tiles_n), in_band = tile % (group * tiles_n);
    const int high = GT_MIN(tiles_m - band * group, group);
    *row = (band * group + in_band % high) * bm;
    *col = in_band / high * bn;
}

/*
 * The second kernel, for shared tiles at `sums`, a pointer into `workspace`. It adds the
 * parts in the order of k. Launch:
 *
 *     "block": ["FINISH_THREADS", "1", "1"],
 *     "grid": ["OF * (BM * BN / (FINISH_THREADS * FINISH_EACH))", "1", "1"]
 */
#define GT_FINISH_KERNEL(name, bm, bn, group, tail, held, sums)                            \
    GT_KERNEL(name, GT_FINISH_THREADS, 1, 1)(GT_PARAMS) {                                  \
        GT_FOLLOW();                                                                       \
        GT_PRODUCT();                                                                      \
        enum { BLOCKS_A_TILE = (bm) * (bn) / (GT_FINISH_THREADS * GT_FINISH_EACH) };       \
        const int tiles = gt_cdiv(m, bm) * gt_cdiv(n, bn);                                 \
        const int tile =                                                                   \
            tiles - gt_shared_tiles(tail, held, tiles) + GT_BLOCK / BLOCKS_A_TILE;         \
        const int e = (GT_BLOCK % BLOCKS_A_TILE * GT_FINISH_THREADS + GT_THREAD_X) *       \
                      GT_FINISH_EACH;                                                      \
        const struct gt_work w = gt_work_of(tail, held, 1, tile, tiles);                   \
        if (w.parts == 1)                                                                  \
            return; /* the tile's one block has stored it */                               \
        gt_acc sum[GT_FINISH_EACH] = {0, 0}, more[GT_FINISH_EACH];                         \
        GT_UNROLL_BY(4)                                                                    \
        for (int part = 0; part < w.parts; part++) {                                       \
            const gt_long place = gt_work_place(&w, part, bm, bn);                         \
            gt_load_global_acc(GT_FINISH_EACH, more, (sums) + place + e);                  \
            sum[0] += more[0];                                                             \
            sum[1] += more[1];                                                             \
        }                                                                                  \
        int row, col;                                                                      \
        gt_tile_place(&row, &col, tile, bm, bn, group, m, n);                              \
        row += e / (bn);                                                                   \
        col += e % (bn);                                                                   \
        if (row < m && col < n)                                                            \
            gt_store_c(c + row * ldc + col, alpha, sum[0], beta GT_PLACE(row, col));       \
        if (row < m && col + 1 < n)                                                        \
            gt_store_c(c + row * ldc + col + 1, alpha, sum[1],                             \
                       beta GT_PLACE(row, col + 1));                                       \
    }
