/* SPDX-License-Identifier: Apache-2.0 */
/*
 * turns.h - the kernel of dmma whose blocks take tiles of all products in turns (TAIL 1),
 * behind dmma.cu. The slabs of all tiles of a block go through one ring of stages, so those
 * of the next tile come while a tile is multiplied and stored.
 */
#if GT_WALK
/* Where in the ring of stages the next slab is read, and where it is copied to. */
struct ring {
    GT_SHARED gt_ab *smem;
    int reading, writing;
};

GT_INLINE void wait_for_slab(void) {
    GT_COPY_WAIT(STAGES - 2);
    GT_BARRIER(); /* the slab is there, and the one before it has been read */
}

/* Starts the copies of as many slabs as are on their way at once. */
GT_INLINE struct ring begin_copies(struct origin *from, GT_SHARED gt_ab *smem, int t) {
    const struct ring ring = {smem, 0, (STAGES - 1) * STAGE};
    GT_UNROLL_BY(1)
    for (int s = 0; s < STAGES - 1; s++)
        GT_UNROLL
        for (int piece = 0; piece < PIECES; piece++)
            fetch_piece(piece, from, smem + s * STAGE, t);
    if (GT_AHEAD)
        wait_for_slab();
    return ring;
}

GT_INLINE void clear(gt_acc *acc) {
    GT_UNROLL
    for (int e = 0; e < 2 * GM * GN; e++)
        acc[e] = 0;
}

/* Multiplies slabs, and starts the copies of later ones. */
GT_INLINE void multiply_slabs(gt_acc *acc, struct ring *ring, struct origin *from,
                              const struct places *in_a, const struct places *in_b,
                              int slabs, int t) {
    GT_SHARED gt_ab *const smem = ring->smem;
    int reading = ring->reading, writing = ring->writing;
    struct operands now, next;
    if (GT_AHEAD)
        load_step(&now, smem + reading, in_a, in_b, 0);
    GT_UNROLL_BY(1)
    for (int s = 0; s < slabs; s++) {
        const int after = reading + STAGE < STAGES * STAGE ? reading + STAGE : 0;
        if (!GT_AHEAD)
            wait_for_slab();
        if (PIECES == 1) /* few enough to stand between the multiplications */
            fetch_piece(0, from, smem + writing, t);
        GT_UNROLL
        for (int step = 0; step < STEPS; step++) {
            if (PIECES > 1 && step < PIECES)
                fetch_piece(step, from, smem + writing, t);
            if (!GT_AHEAD) {
                load_step(&now, smem + reading, in_a, in_b, step);
            } else if (step < STEPS - 1) {
                load_step(&next, smem + reading, in_a, in_b, step + 1);
            } else { /* operands loaded after the last slab are not used */
                wait_for_slab(); /* this slab's operands are all in registers */
                load_step(&next, smem + after, in_a, in_b, 0);
            }
            multiply(acc, &now);
            if (GT_AHEAD)
                now = next;
        }
        writing = reading;
        reading = after;
    }
    ring->reading = reading;
    ring->writing = writing;
}

struct steps {
    gt_long lda, ldb, ldc; /* to the next row */
    /* From product to product; GT_GROUPED: from row to row of op(A) and C. */
    gt_walk_step a, b, c;
};

/* Tells all threads the tile with this number. A warp calls it. */
GT_INLINE void announce(GT_SHARED struct tile *to, struct gt_walk *walk, int number, int n,
                        const struct steps *step, int lane) {
    struct gt_walk_tile of = {};
    struct tile x = {};
    if (gt_walk_find(&of, walk, number)) {
        const gt_long ahead = GT_GROUPED ? of.begin : of.group;
        int row, col;
        gt_tile_place(&row, &col, of.tile, BM, BN, GT_GROUP, of.rows, n);
        x.a = gt_walk_ahead(step->a, ahead) + (A_ALONG ? row * step->lda : row);
        x.b = gt_walk_ahead(step->b, of.group) + (B_ALONG ? col * step->ldb : col);
        x.c = gt_walk_ahead(step->c, ahead) + row * step->ldc + col;
        x.row = (GT_GROUPED ? ahead : ahead * walk->m) + row;
        x.rows = of.rows - row;
        x.cols = n - col;
        x.col = col;
        x.product = of.group;
    }
    if (lane == 0)
        *to = x;
}

/* Tiles of all products in turns. The first warp announces them between two tiles, since
 * divisions in the loop over slabs would take registers from sums and operands. */
GT_KERNEL(gemm, GT_THREADS, 1, GT_MINB)(GT_PARAMS) {
    GT_SHARED_ARRAY(gt_ab, smem, GT_SMEM_ELEMS);
    GT_FOLLOW();
    GT_PRODUCT();
    const int t = GT_THREAD_X, lane = t % 32, warp = t / 32;
    const int w_m = warp / (BN / WN) * WM, w_n = warp % (BN / WN) * WN;
    const int depth = alpha == (gt_acc)0 ? 0 : k; /* alpha 0: A and B are not read */
    const int slabs = gt_cdiv(depth, BK);
    GT_SHARED struct tile *const tile = (GT_SHARED struct tile *)(smem + STAGES * STAGE);
#if GT_GROUPED
    const struct steps step = {lda, ldb, ldc, A_ALONG ? lda : 1, stride_b, ldc};
#else
    const struct steps step = {lda, ldb, ldc, GT_WALK_STEP(a), GT_WALK_STEP(b),
                               GT_WALK_STEP(c)};
#endif
    struct gt_walk walk = GT_WALK_BEGIN(BM, gt_cdiv(n, BN), lane);
    int later = GT_BLOCK; /* the tile that is announced next */
    GT_UNROLL_BY(1)
    for (int i = 0; i < QUEUE - 1; i++, later += (int)gridDim.x)
        if (warp == 0)
            announce(tile + i, &walk, later, n, &step, lane);
    GT_BARRIER();
    struct origin from = {0, 0, lda, ldb, 0, 0, 0, 0, 0, {a, b, tile, 0, depth}};
    struct ring ring = begin_copies(&from, smem, t);
    int here = 0;
    GT_UNROLL_BY(1)
    while (tile[here].rows > 0) {
        const struct places in_a =
            places_of(A_ALONG, LDA_S, w_m, 0, a + tile[here].a, lda, lane);
        const struct places in_b =
            places_of(B_ALONG, LDB_S, w_n, 0, b + tile[here].b, ldb, lane);
        gt_acc acc[2 * GM * GN];
        clear(acc);
        multiply_slabs(acc, &ring, &from, &in_a, &in_b, slabs, t);
        if (slabs == 0) /* the slots of tiles need a barrier in each tile */
            GT_BARRIER();
        const GT_SHARED struct tile *const it = tile + here;
        const struct target to = {c + it->c, ldc, it->rows, it->cols, alpha, beta,
                                  gt_aligned(2, c + it->c, ldc)};
        /* So no place in C is kept in registers while slabs are multiplied. */
        const int u = anew(t), w = u / 32;
        GT_MOVE_PRODUCT(it->product);
        store(&to, acc, w / (BN / WN) * WM, w % (BN / WN) * WN,
              u % 32 GT_PLACE(it->row, it->col));
        /* The slot of the tile before this one is free: all warps have passed a barrier of
         * this tile. The tile that is announced there is copied two tiles later at the
         * earliest, and the next tile has a barrier, too. */
        if (warp == 0)
            announce(tile + (here > 0 ? here : QUEUE) - 1, &walk, later, n, &step, lane);
        later += (int)gridDim.x;
        here = here < QUEUE - 1 ? here + 1 : 0;
    }
}
#endif
