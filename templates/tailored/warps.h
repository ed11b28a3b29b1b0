/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warps.h - products of tailored by mma.sync, of f64 and of 16-bit types: a warp computes a
 * part of TM x TN. Fragments of f64 (doubles.h) are loaded from slabs with k outermost, by
 * pairs of neighbouring lines; those of 16-bit types (fragments.h) by ldmatrix from slabs
 * as they lie in memory. Rows are an odd number of 16 bytes long, so that lanes that read
 * together meet in no bank.
 */
#if GT_ENGINE
enum { SUMS = TM * TN / 32, DOUBLE = sizeof(gt_ab) == 8 };

/* The part of a warp: its first row and column in the tile. All warps have one. */
struct part {
    int row, col, gives;
};

GT_INLINE struct part part_of(int t) {
    const struct part part = {t / 32 / TX * TM, t / 32 % TX * TN, 1};
    return part;
}

/* The first of the two lines of a block of f64 that have number g, one in either half. Lane
 * t gets the sums of numbers 2 t and 2 t + 1 of B. They are the lines from 2 t and 2 t + 8
 * on, so that four lanes have 8 neighbouring columns. */
GT_INLINE int pair_of(int g) {
    return g / 2 * 2 + g % 2 * 8;
}

#if GT_SIZEOF_A == 8
/* Loads the fragment (doubles.h) of the lines from `line` and of k from `deep` on. Slabs of
 * f64 always have k outermost, and A and B are loaded alike. */
GT_INLINE void load_fragment(int of_b, int asis, gt_ab *f, const gt_ab *slab, int length,
                             int line, int deep) {
    const int g = GT_THREAD_X % 32 / 4, t = GT_THREAD_X % 4;
    GT_UNROLL
    for (int v = 0; v < 2; v++)
        gt_load_shared(2, f + 2 * v,
                       slab + (deep + t + 4 * v) * length + line + pair_of(g));
}
#else
/* Loads the fragment (fragments.h) of the lines from `line` and of k from `deep` on, from a
 * slab that is contiguous along k (`asis`) or has k outermost. Eight lanes each address the
 * rows of a quarter of the fragment. */
GT_INLINE void load_fragment(int of_b, int asis, unsigned *f, const gt_ab *slab,
                             int length, int line, int deep) {
    const int lane = GT_THREAD_X % 32, eight = lane % 8;
    const int upper = (of_b ? lane / 16 : lane / 8) % 2 * 8;
    const int last = (of_b ? lane / 8 : lane / 16) % 2 * 8;
    const int row = asis ? line + upper + eight : deep + last + eight;
    const int column = asis ? deep + last : line + upper;
    gt_load_matrices(!asis, f, gt_shared_address(slab + row * length + column));
}
#endif

/* acc += the products of the slabs at a and b. */
GT_INLINE void multiply(gt_acc *acc, const gt_ab *a, const gt_ab *b, struct part part) {
    GT_UNROLL
    for (int p = 0; p < BK; p += GT_FRAGMENT_K) {
        gt_fragment x[TM / 16], y;
        GT_UNROLL
        for (int i = 0; i < TM / 16; i++)
            load_fragment(0, ASIS_A, x[i], a, LINE_A, part.row + i * 16, p);
        GT_UNROLL
        for (int j = 0; j < TN / 16; j++) {
            load_fragment(1, ASIS_B, y, b, LINE_B, part.col + j * 16, p);
            gt_tile_multiply(TM, TN, acc, x, y, j);
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
        multiply(acc, slabs, slabs + SLAB_A, part);
        free = now;
        now = now + 1 == STAGES ? 0 : now + 1;
    }
}

/* Stores the part whose first element is at c and has the place; rows x cols of C exist
 * from there. A lane has pairs of neighbouring columns. The four lanes of a row store 8 of
 * them together. */
GT_INLINE void store(gt_c *c, gt_acc alpha, const gt_acc *acc, gt_acc beta, int rows,
                     int cols GT_PLACE_PARAMS) {
    const int g = GT_THREAD_X % 32 / 4, t = GT_THREAD_X % 4;
    GT_UNROLL
    for (int i = 0; i < SUMS; i += 2) {
        const int block = i / (TN / 2), across = i % (TN / 2) / 8; /* of 16 lines */
        const int upper = i % 4 / 2, which = i % 8 / 4;            /* half of A, pair */
        const gt_acc *of = acc + (block * (TN / 8) + across * 2) * 4 + upper * 2;
        const gt_acc two[2] = {of[DOUBLE ? which : which * 4],
                               of[DOUBLE ? which + 4 : which * 4 + 1]};
        const int row = block * 16 + (DOUBLE ? pair_of(g) + upper : g + 8 * upper);
        const int col = across * 16 + 8 * which + 2 * t;
        const int end = WHOLE || row < rows ? cols - col : 0;
        if (!GT_VECTORS_C || WHOLE || end > 0)
            give(2, c + row * (gt_long)GT_ROW_C + col, alpha, two, beta, GT_VECTORS_C,
                 end GT_PLACE(gt_i + row, gt_j + col));
    }
}
#endif
