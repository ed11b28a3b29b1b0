/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tile - the classic square tile: TILE_WIDTH x TILE_WIDTH threads compute as many elements
 * of C, one each. They walk along k in tiles. Each thread copies one element of A and one
 * of B to shared memory, and every element is then read TILE_WIDTH times from there instead
 * of from global memory.
 *
 * C[m,n] = alpha op(A) op(B) + beta C, row-major.
 *
 *                     n ->
 *                 +----+----+----+    for each step of TILE_WIDTH along k:
 *             k   |    | B  |    |      copy tile A(row of tiles, step) to shared memory
 *                 |    |tile|    |      copy tile B(step, column of tiles)
 *                 +----+----+----+      barrier
 *       k ->                            for each of its TILE_WIDTH k:
 *     +----+----+ +----+----+----+         acc += A[my row][k] * B[k][my column]
 *  m  |    |    | |    |    |    |      barrier, unless DOUBLE: then the next tiles go to
 *     | A  |tile| |    | C  |    |      a second pair of buffers, one barrier is enough
 *     +----+----+ +----+----+----+
 *
 * In shared memory A's tile is [row][k] and B's is [k][column], for all layouts. Elements
 * past the edges are zeros there; they are never read from the matrices. The tiles have the
 * accumulator's type: each element is converted once, and used TILE_WIDTH times.
 *
 * TILE_WIDTH  width and height of a tile
 * PAD         spare elements in a row of shared memory, against bank conflicts when a
 *             tile is written transposed
 * DOUBLE      1: two pairs of tiles
 *
 * gemmtune trial f32-nn-1024x1024x1024 --family tile --point "TILE_WIDTH=16 PAD=0 DOUBLE=0"
 */

enum {
    TW = GT_TILE_WIDTH,
    STRIDE = TW + GT_PAD,
    TILE = TW * STRIDE,    /* elements of one tile in shared memory */
    PAIR = 2 * TILE
};

#define PAST_EDGES ((gt_acc)0) /* the value in the tiles past the edges of A and B */

/* One element of A stored at x, if it exists, and the same for B. Lanes run along the
 * stored row, the fast order in memory, whichever direction that is. */
GT_INLINE gt_acc fetch_a(const GT_GLOBAL gt_a *x, gt_long ld, int row, int rows, int col,
                         int cols) {
    return row < rows && col < cols ? gt_from_a(x[row * ld + col]) : PAST_EDGES;
}

GT_INLINE gt_acc fetch_b(const GT_GLOBAL gt_b *x, gt_long ld, int row, int rows, int col,
                         int cols) {
    return row < rows && col < cols ? gt_from_b(x[row * ld + col]) : PAST_EDGES;
}

GT_KERNEL(gemm, GT_TILE_WIDTH, GT_TILE_WIDTH, 1)(GT_PARAMS) {
    GT_SHARED_ARRAY(gt_acc, smem, GT_SMEM_ELEMS);
    GT_PRODUCT();
    const int tx = GT_THREAD_X, ty = GT_THREAD_Y;
    const int tiles_n = (n - 1) / TW + 1;
    const int row0 = GT_BLOCK / tiles_n * TW, col0 = GT_BLOCK % tiles_n * TW;
    const int rows = m - row0, cols = n - col0; /* of C, from the tile to its edges */
    /* The place of this thread's element in a tile. The stored row runs along tx. */
    const int put_a = GT_TA ? tx * STRIDE + ty : ty * STRIDE + tx;
    const int put_b = TILE + (GT_TB ? tx * STRIDE + ty : ty * STRIDE + tx);
    gt_acc acc = 0;
    int left = alpha == (gt_acc)0 ? 0 : k; /* steps of k left, with this tile's */
    int now = 0;                            /* the pair of tiles in use */
    gt_acc next_a, next_b;

    a += GT_TA ? (gt_long)row0 : row0 * lda;
    b += GT_TB ? col0 * ldb : (gt_long)col0;
    if (left > 0) {
        next_a = GT_TA ? fetch_a(a, lda, ty, left, tx, rows)
                       : fetch_a(a, lda, ty, rows, tx, left);
        next_b = GT_TB ? fetch_b(b, ldb, ty, cols, tx, left)
                       : fetch_b(b, ldb, ty, left, tx, cols);
        smem[put_a] = next_a;
        smem[put_b] = next_b;
    }
    GT_BARRIER();
    while (left > 0) {
        const int after = left - TW;
        a += GT_TA ? TW * lda : TW;
        b += GT_TB ? TW : TW * ldb;
        if (after > 0) { /* fetched while the present tiles are multiplied */
            next_a = GT_TA ? fetch_a(a, lda, ty, after, tx, rows)
                           : fetch_a(a, lda, ty, rows, tx, after);
            next_b = GT_TB ? fetch_b(b, ldb, ty, cols, tx, after)
                           : fetch_b(b, ldb, ty, after, tx, cols);
        }
        GT_UNROLL
        for (int i = 0; i < TW; i++)
            acc = gt_fma(smem[now + ty * STRIDE + i],
                         smem[now + TILE + i * STRIDE + tx], acc);
        if (GT_DOUBLE)
            now = PAIR - now;
        else
            GT_BARRIER(); /* all threads have read before any writes */
        if (after > 0) {
            smem[now + put_a] = next_a;
            smem[now + put_b] = next_b;
        }
        GT_BARRIER();
        left = after;
    }
    if (ty < rows && tx < cols)
        gt_store_c(c + (row0 + (gt_long)ty) * ldc + col0 + tx,
                   alpha, acc, beta GT_PLACE(row0 + ty, col0 + tx));
}
