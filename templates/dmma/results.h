/* SPDX-License-Identifier: Apache-2.0 */
/*
 * results.h - the way out of dmma: sums to C, or first to shared memory, where warps or the
 * blocks of a cluster add them up.
 */
/* Two elements of the shared memory of block `rank` of the cluster. */
#if GT_REDUCE
GT_INLINE void load_peer(gt_acc *to, const GT_SHARED gt_acc *from, int rank) {
    int there = gt_shared_address(from);
    asm("mapa.shared::cluster.u32 %0, %0, %1;" : "+r"(there) : "r"(rank));
    asm volatile("ld.shared::cluster.v2.f64 {%0, %1}, [%2];"
                 : "=d"(to[0]), "=d"(to[1])
                 : "r"(there)
                 : "memory");
}
#else
GT_INLINE void load_peer(gt_acc *to, const GT_SHARED gt_acc *from, int rank) {
    gt_load_shared_acc(2, to, from);
}
#endif

/* The destination of sums: C, or this block's part of the workspace. */
struct target {
    GT_GLOBAL gt_c *c; /* at the first element of the tile */
    gt_long ld;
    int rows, cols; /* that exist from there */
    gt_acc alpha, beta;
    int aligned; /* rows are aligned to 16 bytes */
};

/* Stores a lane's elements of its warp's part, which begins at row w_m, column w_n of the
 * tile. */
GT_INLINE void store(const struct target *to, const gt_acc *acc, int w_m, int w_n,
                     int lane GT_PLACE_PARAMS) {
    GT_UNROLL
    for (int i = 0; i < GM; i++) {
        const int row = w_m + 8 * i + lane / 4, col = w_n + lane % 4 * 2;
        const int end = row < to->rows ? to->cols - col : 0;
        GT_GLOBAL gt_c *c = to->c + row * to->ld + col;
        gt_c old[2 * GN];
        GT_UNROLL
        for (int j = 0; j < GN; j++)
            gt_load_c(2, old + 2 * j, c + 8 * j, to->beta, to->aligned && 8 * j + 2 <= end,
                      0, end - 8 * j);
        GT_UNROLL
        for (int j = 0; j < GN; j++)
            gt_store_row(2, c + 8 * j, to->alpha, acc + 2 * (i * GN + j), to->beta,
                         old + 2 * j, to->aligned && 8 * j + 2 <= end, 0,
                         end - 8 * j GT_PLACE(gt_i + row, gt_j + col + 8 * j));
    }
}

/* Puts them to a tile in shared memory. */
GT_INLINE void put(GT_SHARED gt_acc *tile, const gt_acc *acc, int w_m, int w_n, int lane) {
    tile += (w_m + lane / 4) * LDT + w_n + lane % 4 * 2;
    GT_UNROLL
    for (int i = 0; i < GM; i++)
        GT_UNROLL
        for (int j = 0; j < GN; j++)
            gt_store_shared_acc(2, tile + 8 * (i * LDT + j), acc + 2 * (i * GN + j));
}

/* Adds the tiles of all slices of all blocks of the cluster, in their order, and stores the
 * pairs of columns of block `rank`. Other blocks' data takes long to arrive, so a thread
 * asks for several pairs before it needs the first. */
GT_INLINE void gather(const struct target *to, const GT_SHARED gt_acc *tiles, int rank,
                      int t GT_PLACE_PARAMS) {
    enum { ALL = BM * BN / 2, STEP = CLUSTER * T,
           PAIRS = GT_MAX(1, GT_MIN(4, ALL / STEP)) };
    GT_UNROLL_BY(1)
    for (int e0 = rank * T + t; e0 < ALL; e0 += PAIRS * STEP) {
        gt_acc sum[2 * PAIRS];
        GT_UNROLL
        for (int i = 0; i < 2 * PAIRS; i++)
            sum[i] = 0;
        GT_UNROLL
        for (int r = 0; r < CLUSTER; r++)
            GT_UNROLL
            for (int s = 0; s < SLICES; s++)
                GT_UNROLL
                for (int p = 0; p < PAIRS; p++) {
                    const int e = GT_MIN(e0 + p * STEP, ALL - 1);
                    gt_acc x[2];
                    load_peer(x, tiles + (s * BM + e / (BN / 2)) * LDT + e % (BN / 2) * 2,
                              r);
                    sum[2 * p] += x[0], sum[2 * p + 1] += x[1];
                }
        GT_UNROLL
        for (int p = 0; p < PAIRS; p++) {
            const int e = e0 + p * STEP, row = e / (BN / 2), col = e % (BN / 2) * 2;
            const int end = e < ALL && row < to->rows ? to->cols - col : 0;
            const int inside = to->aligned && end >= 2;
            GT_GLOBAL gt_c *c = to->c + row * to->ld + col;
            gt_c old[2];
            gt_load_c(2, old, c, to->beta, inside, 0, end);
            gt_store_row(2, c, to->alpha, sum + 2 * p, to->beta, old, inside, 0,
                         end GT_PLACE(gt_i + row, gt_j + col));
        }
    }
}
