/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remainder - f64 products by exact products of bytes on tensor cores, with the bound of
 * f64 products. docs/residues.md has the method, templates/common/residues.h its
 * arithmetic.
 *
 * C[m,n] = alpha op(A) op(B) + beta C, row-major. Four kernels run one after another:
 *
 *     lines   the shift of every row of op(A) and column of op(B)
 *     planes  every element as MODULI + 1 bytes: its size, then its residues
 *     gemm    a tile of C from MODULI + 1 products of bytes. The product of the sizes tells
 *             whether all sums of the tile can be trusted. It ends as soon as they can. If
 *             they cannot, the tile is marked and given up.
 *     plain   the marked tiles, by f64 multiply-adds
 *
 * So the device decides, for every tile, and the host does not wait.
 *
 * The workspace holds
 *
 *     planes  MODULI + 1 of them. A plane has slabs: BK of k of every row of op(A), padded
 *             to BM, and below them of every column of op(B), padded to BN. A row of a slab
 *             is BK contiguous bytes. Its chunks of 16 are permuted (`place`) as shared
 *             memory needs them, so a tile's part of a slab is copied as it lies. A plane
 *             begins where the one ahead of it ends, so all slabs of a tile are equally far
 *             apart.
 *     lines   a struct gt_line for each row of a slab
 *     marks   an int for each tile of C: 1 for a tile that `plain` computes
 *     sums    for each block of gemm, the residues of its tile (wgmma: of two tiles): a
 *             word is four elements of a thread modulo one number
 *
 * ENGINE   0 mma.sync: warps compute WM x WN each, all threads copy
 *          1 wgmma: warpgroups of 128 compute WM x BN each. One more has a warp that
 *            copies, and FINISHERS, which make C of the tile before (9.0)
 * CLUSTER  blocks, one below the other; each copies a part of B for all of them (wgmma)
 * MODULI   how many; more of them serve longer k and wider exponents
 * BM BN    tile of C            BK      k of a slab
 * WM WN    tile of a warp or warpgroup
 * STAGES   slabs of A and B in shared memory: one in use, the others on their way
 * GROUP    rows of tiles that are walked together, for the L2 cache
 */

/* A worker's part of a tile: residues, and with the last tile its elements of C. */
GT_INLINE void work_tile(struct block *b, const struct target *to,
                         int t GT_PLACE_PARAMS) {
    const struct tile tile = tile_of(b);
    const struct part p = part_of(b, &tile, t);
    int acc[FRAGS][4], given_up = 0;
    GT_WORKERS_BARRIER(); /* the tile before is done */
    if (b->slabs > 0) {
        given_up = is_doubtful(b, acc, tile.walk, p, t);
        await_read(b);
        if (!given_up)
            compute_residues(b, acc, tile.walk, t);
    }
    if (t == 0)
        *tile.mark = given_up;
    if (!is_last(b))
        tell_made(b);
    else if (!given_up)
        finish(b, to, p, t GT_PLACE(gt_i, gt_j));
}

#if GT_ENGINE
/* A finisher's part of a tile: elements of C out of the residues of the workers. */
GT_INLINE void finish_tile(const struct block *b, const struct target *to,
                           int t GT_PLACE_PARAMS) {
    const struct tile tile = tile_of(b);
    if (is_last(b))
        return;
    gt_group_barrier(RESIDUES_MADE + b->tiles % 2, WORKERS + FINISHERS);
    for (int of = t; of < WORKERS && !*tile.mark; of += FINISHERS)
        finish(b, to, part_of(b, &tile, of), of GT_PLACE(gt_i, gt_j));
    if (b->at + 2 * b->step < b->end)
        gt_group_arrive(RESIDUES_READ + b->tiles % 2, WORKERS + FINISHERS);
}

/* The copying warp's part of a tile: slabs for the looks, then those for all moduli. */
GT_INLINE void copy_tile(struct block *b, int lane) {
    const struct tile tile = tile_of(b);
    int done = 0, doubt = b->slabs > 0;
    GT_UNROLL_BY(1)
    for (int until = first_look(b->slabs); doubt && done < b->slabs; until *= 2) {
        const int count = GT_MIN(until, b->slabs) - done;
        if (lane == 0)
            produce(&b->ring, walk_from(tile.walk, done, count));
        gt_warp_barrier(); /* the warp comes to the block's barrier together */
        doubt = await_verdict(b);
        gt_warp_barrier(); /* all lanes have read it: another look may clear the word */
        done += count;
    }
    if (lane == 0 && !doubt)
        produce(&b->ring, walk_from(tile.walk, b->slabs, MODULI * b->slabs));
    gt_warp_barrier();
}

/* All tiles, for a thread that does not multiply. */
GT_INLINE void help(struct block *b, const struct target *to, int t GT_PLACE_PARAMS) {
    if (t < FINISHERS)
        for (; b->at < b->end; next_tile(b))
            finish_tile(b, to, t GT_PLACE(gt_i, gt_j));
    else
        for (; b->at < b->end; next_tile(b))
            copy_tile(b, t % 32);
}
#endif

GT_KERNEL(gemm, GT_THREADS, 1, 1)(GT_PARAMS) {
    extern __shared__ __align__(1024) char stages[]; /* for wgmma's swizzle */
    GT_FOLLOW();
    GT_PRODUCT();
    const int t = GT_THREAD_X;
    const struct target to = {c, ldc, alpha, beta, m, n};
    struct tables *tables = (struct tables *)(stages + GT_AT_TABLES);
    struct block block = {ring_of(stages),
                          (int *)(stages + GT_AT_DOUBT),
                          tables,
                          (unsigned *)((char *)workspace + GT_AT_SUMS) +
                              (gt_long)GT_BLOCK * (GT_SUMS_BYTES / 4),
                          GT_MARK_AT(0),
                          (const byte *)workspace,
                          (const byte *)workspace + GT_HIGH * BK,
                          GT_ROWS * BK,
                          GT_LINE_AT(0),
                          GT_LINE_AT(GT_HIGH),
                          k,
                          alpha == 0 || k == 0 ? 0 : (int)GT_SLABS,
                          (int)(GT_HIGH / BM),
                          gt_cdiv(n, BN),
                          GT_BLOCK,
                          (int)GT_BLOCKS,
                          (int)GT_TILES,
                          0,
                          0};

    make_tables(tables, t);
    if (t == 0)
        block.doubt[0] = block.doubt[1] = 0;
#if GT_ENGINE
    if (t == 0)
        ring_init(block.ring);
    GT_CLUSTER_MEET(CLUSTER > 1);
    if (t >= WORKERS) {
#if GT_GIVE
        GT_REGISTERS_GIVE(GT_GIVE);
#endif
        help(&block, &to, t - WORKERS GT_PLACE(0, 0));
    } else
#endif
    {
#if GT_GIVE
        GT_REGISTERS_TAKE(GT_TAKE);
#endif
        for (; block.at < block.end; next_tile(&block))
            work_tile(&block, &to, t GT_PLACE(0, 0));
    }
#if GT_ENGINE
    /* No block may leave while another one writes into its memory. */
    GT_CLUSTER_MEET(CLUSTER > 1);
#endif
}
