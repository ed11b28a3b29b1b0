/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warps.h - f64 products of tailored by mma.sync: a warp computes a part of TM x TN. In
 * shared memory both operands have k outermost, so fragments (doubles.h) are loaded by
 * pairs of neighbouring lines. LINE_A and LINE_B are odd numbers of 16 bytes: no two lanes
 * of a quarter of a warp then read the same bank.
 */
#if GT_ENGINE
enum { SUMS = TM * TN / 32 };

/* The part of a warp: its first row and column in the tile. All warps have one. */
struct part {
    int row, col, gives;
};

GT_INLINE struct part part_of(int t) {
    const struct part part = {t / 32 / TX * TM, t / 32 % TX * TN, 1};
    return part;
}

/* Loads the fragment of 16 lines, the first of which is at x for the first k. */
GT_INLINE void load_fragment(gt_ab *f, const gt_ab *x, int line) {
    const int g = GT_THREAD_X % 32 / 4, t = GT_THREAD_X % 4;
    GT_UNROLL
    for (int v = 0; v < 2; v++)
        gt_load_shared(2, f + 2 * v, x + (2 * t + v) * line + 2 * g);
}

/* acc += the products of a slab. */
GT_INLINE void multiply(gt_acc *acc, const gt_ab *a, const gt_ab *b) {
    GT_UNROLL
    for (int p = 0; p < BK; p += GT_DOUBLE_K) {
        gt_ab x[TM / 16][4], y[4];
        GT_UNROLL
        for (int i = 0; i < TM / 16; i++)
            load_fragment(x[i], a + p * LINE_A + i * 16, LINE_A);
        GT_UNROLL
        for (int j = 0; j < TN / 16; j++) {
            load_fragment(y, b + p * LINE_B + j * 16, LINE_B);
            GT_UNROLL
            for (int i = 0; i < 2 * (TM / 16); i++)
                gt_mma_double(acc + (i / 2 * (TN / 8) + 2 * j + i % 2) * 4, x[i / 2], y,
                              i % 2);
        }
    }
}

/* acc += the sums of the warp's part. */
GT_INLINE void sum_up(gt_acc *acc, gt_ab *smem, struct source from, struct part part,
                      int t) {
    int now = 0, free = STAGES - 1; /* stages: of this slab; of the slab fetched next */
    GT_UNROLL_BY(1)
    for (int s = 0; s < from.slabs; s++) {
        const gt_ab *const slabs = smem + now * STAGE;
        TURN();
        fetch_next(smem + free * STAGE, &from, s + STAGES - 1, t);
        multiply(acc, slabs + part.row, slabs + SLAB_A + part.col);
        free = now;
        now = now + 1 == STAGES ? 0 : now + 1;
    }
}

/* Stores the part whose first element is at c and has the place; rows x cols of C exist
 * from there. A lane has pairs of neighbouring columns. */
GT_INLINE void store(gt_c *c, gt_acc alpha, const gt_acc *acc, gt_acc beta, int rows,
                     int cols GT_PLACE_PARAMS) {
    const int g = GT_THREAD_X % 32 / 4, t = GT_THREAD_X % 4;
    GT_UNROLL
    for (int i = 0; i < SUMS; i += 2) {
        const int block = i / (TN / 2), across = i % (TN / 2) / 8; /* of 16 lines */
        const int upper = i % 4 / 2, which = i % 8 / 4;            /* half of A, pair */
        const gt_acc *of = acc + (block * (TN / 8) + across * 2) * 4 + upper * 2 + which;
        const gt_acc two[2] = {of[0], of[4]};
        const int row = block * 16 + 2 * g + upper, col = across * 16 + 4 * t + 2 * which;
        const int end = WHOLE || row < rows ? cols - col : 0;
        if (!GT_VECTORS_C || WHOLE || end > 0)
            give(2, c + row * (gt_long)GT_ROW_C + col, alpha, two, beta, GT_VECTORS_C,
                 end GT_PLACE(gt_i + row, gt_j + col));
    }
}
#endif
