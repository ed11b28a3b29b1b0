/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slabs.h - the tiles and slabs of tailored: where they lie, and their copies.
 */
enum {
    ROWS = GT_ROWS, COLS = GT_COLS, DEEP = GT_DEEP, /* m, n, k */
    TM = GT_TM, TN = GT_TN, T = GT_THREADS, STAGES = GT_STAGES,
    TY = GT_HIGH, TX = GT_WIDE, PATCHES = TY * TX, /* of a tile, along m and n */
    CUTS_M = GT_CUTS_M, CUTS_N = GT_CUTS_N,        /* tiles of C along m and n */
    BM = TY * TM, BN = TX * TN, BK = GT_DEPTH,
    SLABS = GT_SLABS,
    VA = GT_COPY_A, VB = GT_COPY_B, /* elements of a copy */
    ALONG_A = !GT_TA, ALONG_B = GT_TB, /* whether memory is contiguous along k */
    /* Whether shared memory is so too. Otherwise k is outermost. */
    ASIS_A = GT_ASIS_A, ASIS_B = GT_ASIS_B,
    /* Rows of a slab: an odd number of 16 bytes, so that neighbouring ones, which lanes
     * read together or write when they transpose, lie in different banks. */
    LINE_A = GT_LINE_A, LINE_B = GT_LINE_B,
    SLAB_A = (ASIS_A ? BM : BK) * LINE_A,
    STAGE = SLAB_A + (ASIS_B ? BN : BK) * LINE_B,
    /* Threads that copy A and B: whole lines, so that a thread's copies have one place in
     * their lines. */
    SLAB_LINE_A = GT_SLAB_LINE(ALONG_A, BM, BK, VA),
    SLAB_LINE_B = GT_SLAB_LINE(ALONG_B, BN, BK, VB),
    COPIERS_A = T / SLAB_LINE_A > 0 ? T / SLAB_LINE_A * SLAB_LINE_A : T,
    COPIERS_B = T / SLAB_LINE_B > 0 ? T / SLAB_LINE_B * SLAB_LINE_B : T,
    WHOLE = ROWS % BM == 0 && COLS % BN == 0, /* all tiles lie in C */
    ALL_OF_IT = 0x7fffffff                    /* of a slab's k */
};

/* Starts to copy a slab to `to`, whose rows of op(A) and columns of op(B) are at x and y.
 * `rows` and `cols` of them exist, and `deep` of their k; `whole` promises that all do. */
GT_INLINE void fetch(GT_SHARED gt_ab *to, const GT_GLOBAL gt_ab *x,
                     const GT_GLOBAL gt_ab *y, int rows, int cols, int deep, int whole,
                     int t) {
    const int to_a = gt_slab_to(ALONG_A, ASIS_A, BM, BK, VA, COPIERS_A, LINE_A, t);
    const int to_b = gt_slab_to(ALONG_B, ASIS_B, BN, BK, VB, COPIERS_B, LINE_B, t) + SLAB_A;
    if (t < COPIERS_A)
        gt_slab_copy(ALONG_A, ASIS_A, BM, BK, VA, COPIERS_A, to + to_a, LINE_A, x, GT_ROW_A,
                     rows, deep, whole, t);
    if (t < COPIERS_B)
        gt_slab_copy(ALONG_B, ASIS_B, BN, BK, VB, COPIERS_B, to + to_b, LINE_B, y, GT_ROW_B,
                     cols, deep, whole, t);
}

/* Where a block's next slab comes from: at x the tile's rows of op(A), at y its columns of
 * op(B), each from the place on where the thread's copies begin. */
struct source {
    const GT_GLOBAL gt_ab *x, *y;
    int rows, cols; /* of C, from the tile's corner to the edges */
    int slabs;
};

/* Starts to copy slab s, if there is one, to a stage, and moves on. Only the last slab may
 * have too little k: the others ask for no more than their lines. */
GT_INLINE void fetch_next(GT_SHARED gt_ab *stage, struct source *from, int s, int t) {
    if (s < from->slabs) {
        if (DEEP % BK == 0 || s + 1 < SLABS)
            fetch(stage, from->x, from->y, from->rows, from->cols, ALL_OF_IT, WHOLE, t);
        else
            fetch(stage, from->x, from->y, from->rows, from->cols, DEEP - (SLABS - 1) * BK,
                  0, t);
        from->x += ALONG_A ? BK : BK * (gt_long)GT_ROW_A;
        from->y += ALONG_B ? BK : BK * (gt_long)GT_ROW_B;
    }
    GT_COPY_COMMIT();
}

/* After it the next slab is there for all threads, and the stage before it is free. */
#define TURN()                                                                             \
    GT_COPY_WAIT(STAGES - 2);                                                              \
    GT_BARRIER()
