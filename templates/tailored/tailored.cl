/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tailored - for batches of products of medium size: tiles of C that fit the matrices. A
 * side of 200 is two tiles of 100 or five of 40, where a family of fixed tiles computes 256
 * or 240.
 *
 * C[m,n] = alpha op(A) op(B) + beta C, row-major, for each product.
 *
 *      stage 0        1        2   ...      in shared memory, k outermost:
 *     +--------+ +--------+ +--------+
 *     | A [BK] | | A      | | A      |          A [BK][LINE_A]    B [BK][LINE_B]
 *     | B [BK] | | B      | | B      |
 *     +--------+ +--------+ +--------+      slab s lies in stage s % STAGES; while it is
 *        read      coming     coming        multiplied, STAGES - 1 more are coming.
 *
 * The loop over slabs is that of multistage. The kernel is compiled for one m, n and k, and
 * for the distances of rows. A side is cut into as few parts of at most BM or BN as will
 * do, all as long as whole patches make them, but for the last one; k is cut likewise. A
 * slab is unrolled as a whole, and copies have constant places. Any number of threads may
 * have a patch; all of them copy.
 *
 * BM BN     rows and columns of a part, rounded up to whole patches
 * BK        k of a slab, rounded up to an even number
 * TM TN     patch of a thread
 * STAGES    slabs in shared memory
 * ORDER     of the multiply-adds, as in multistage
 *
 * gemmtune trial f32-nn-100x100x100,batch=4000 --family tailored
 *     --point "BM=128 BN=128 BK=20 TM=20 TN=4 STAGES=2 ORDER=0"
 */

enum {
    ROWS = GT_ROWS, COLS = GT_COLS, DEEP = GT_DEEP, /* m, n, k */
    TM = GT_TM, TN = GT_TN, T = GT_THREADS, STAGES = GT_STAGES,
    TY = GT_HIGH, TX = GT_WIDE, PATCHES = TY * TX, /* of a tile, along m and n */
    CUTS_M = GT_CUTS_M, CUTS_N = GT_CUTS_N,        /* tiles of C along m and n */
    BM = TY * TM, BN = TX * TN, BK = GT_DEPTH, /* an even number */
    SLABS = GT_SLABS,
    VA = GT_COPY_A, VB = GT_COPY_B, /* elements of a copy */
    /* Rows of a slab: an odd number of 16 bytes, so that neighbouring k's, which lanes
     * write when they transpose, lie in different banks. */
    LINE_A = GT_LINE_A, LINE_B = GT_LINE_B, SLAB_A = BK * LINE_A,
    STAGE = SLAB_A + BK * LINE_B,
    PM = GT_PIECE(TM), PN = GT_PIECE(TN),
    ALONG_A = !GT_TA, ALONG_B = GT_TB, /* whether memory is contiguous along k */
    /* Threads that copy A and B: whole lines, so that a thread's copies have one place in
     * their lines. */
    SLAB_LINE_A = GT_SLAB_LINE(ALONG_A, BM, BK, VA),
    SLAB_LINE_B = GT_SLAB_LINE(ALONG_B, BN, BK, VB),
    COPIERS_A = T / SLAB_LINE_A > 0 ? T / SLAB_LINE_A * SLAB_LINE_A : T,
    COPIERS_B = T / SLAB_LINE_B > 0 ? T / SLAB_LINE_B * SLAB_LINE_B : T,
    WHOLE = ROWS % BM == 0 && COLS % BN == 0, /* all tiles lie in C */
    ALL_OF_IT = 0x7fffffff                    /* of a slab's k */
};

#ifndef GT_POINTERS
#define GT_POINTERS 0
#endif

#if GT_POINTERS
/* The compiler does not know of a pointer in memory that it leads to global memory. */
template <class Of> GT_INLINE Of *matrix(Of *const *x, gt_long z) {
    Of *const at = x[z];
    __builtin_assume(__isGlobal(at));
    return at;
}
#define MATRIX(x, z) matrix(all_##x, z)
#else
#define MATRIX(x, z) ((x) + (z)*stride_##x)
#endif

/* The place of patch `p` in the tile: neighbouring threads have patches of two rows and one
 * column in turns. A load of 16 bytes from shared memory takes half the time where each
 * lane's address is that of the lane beside it (B) or two further (A). An odd last row is
 * walked by columns. */
GT_INLINE int row_of(int p) {
    return p / (2 * TX) * 2 + (p < TY / 2 * 2 * TX ? p % (2 * TX) % 2 : 0);
}
GT_INLINE int column_of(int p) {
    return p < TY / 2 * 2 * TX ? p % (2 * TX) / 2 : p % (2 * TX);
}

/* Starts to copy a slab to `to`, whose rows of op(A) and columns of op(B) are at x and y.
 * `rows` and `cols` of them exist, and `deep` of their k. */
GT_INLINE void fetch(GT_SHARED gt_ab *to, const GT_GLOBAL gt_ab *x,
                     const GT_GLOBAL gt_ab *y, int rows, int cols, int deep, int whole,
                     int t) {
    if (t < COPIERS_A)
        gt_slab_copy(ALONG_A, 0, BM, BK, VA, COPIERS_A,
                     to + gt_slab_to(ALONG_A, 0, BM, BK, VA, COPIERS_A, LINE_A, t), LINE_A,
                     x, GT_ROW_A, rows, deep, whole, t);
    if (t < COPIERS_B)
        gt_slab_copy(ALONG_B, 0, BN, BK, VB, COPIERS_B,
                     to + SLAB_A + gt_slab_to(ALONG_B, 0, BN, BK, VB, COPIERS_B, LINE_B, t),
                     LINE_B, y, GT_ROW_B, cols, deep, whole, t);
}

/* acc += the patch's product for one k. */
GT_INLINE void multiply(gt_acc *acc, const gt_ab *x, const gt_ab *y) {
    GT_UNROLL
    for (int e = 0; e < TM * TN; e++) {
        const int i = gt_order_row(GT_ORDER, TM, TN, e);
        const int j = gt_order_column(GT_ORDER, TM, TN, e);
        acc[i * TN + j] = gt_multiply_add(x[i], y[j], acc[i * TN + j]);
    }
}

/* Stores a piece of a row of C: a vector if `inside`, else those of its elements that
 * exist, the first `end`. */
GT_INLINE void give(GT_GLOBAL gt_c *c, gt_acc alpha, const gt_acc *acc, gt_acc beta,
                    int inside, int end GT_PLACE_PARAMS) {
    gt_c old[PN];
    gt_load_c(PN, old, c, beta, inside, 0, end);
    gt_store_row(PN, c, alpha, acc, beta, old, inside, 0, end GT_PLACE(gt_i, gt_j));
}

/* Stores the patch whose first element is at c and has the place; rows x cols of C exist
 * from there. Unlike gt_patch_store it stores vectors in tiles at an edge too: where a row
 * of C is whole pieces, a piece exists as a whole or not at all. */
GT_INLINE void store(GT_GLOBAL gt_c *c, gt_acc alpha, const gt_acc *acc, gt_acc beta,
                     int rows, int cols GT_PLACE_PARAMS) {
    const struct gt_side down = gt_side_of(PM, TY), along = gt_side_of(PN, TX);
    GT_UNROLL
    for (int e = 0; e < TM * TN; e += PN) {
        const int row = gt_side_at(&down, e / TN), col = gt_side_at(&along, e % TN);
        const int end = WHOLE || row < rows ? cols - col : 0;
        if (!GT_VECTORS_C || WHOLE || end > 0)
            give(c + row * (gt_long)GT_ROW_C + col, alpha, acc + e, beta, GT_VECTORS_C,
                 end GT_PLACE(gt_i + row, gt_j + col));
    }
}

GT_KERNEL(gemm, GT_THREADS, 1, GT_FIT)(GT_PARAMS) {
    GT_SHARED_ARRAY(gt_ab, smem, GT_SMEM / GT_SIZEOF_A);
    const int tile = GT_BLOCK % (CUTS_M * CUTS_N);
    const gt_long product = GT_BLOCK / (CUTS_M * CUTS_N);
    const int row0 = tile / CUTS_N * BM, col0 = tile % CUTS_N * BN;
    const int rows = ROWS - row0, cols = COLS - col0, t = GT_THREAD_X;
    /* A thread without a patch does the same as another one, and stores nothing. */
    const int patch = GT_MIN(t, PATCHES - 1);
    const int ay = row_of(patch) * PM, bx = column_of(patch) * PN;
    const int slabs = k > 0 && alpha != (gt_acc)0 ? SLABS : 0;
    const gt_long ld_a = GT_ROW_A, ld_b = GT_ROW_B, ld_c = GT_ROW_C; /* constants */
    const GT_GLOBAL gt_ab *x = 0, *y = 0; /* where the thread's copies of a slab begin */
    if (slabs > 0) {
        x = MATRIX(a, product) + (ALONG_A ? row0 * ld_a : row0) +
            gt_slab_from(ALONG_A, BM, BK, VA, COPIERS_A, ld_a, t);
        y = MATRIX(b, product) + (ALONG_B ? col0 * ld_b : col0) +
            gt_slab_from(ALONG_B, BN, BK, VB, COPIERS_B, ld_b, t);
    }
    gt_acc acc[TM * TN];
    gt_ab fa[2 * TM], fb[2 * TN];
    GT_UNROLL
    for (int e = 0; e < TM * TN; e++)
        acc[e] = 0;

/* After it the next slab is there for all threads, and the stage before it is free. */
#define TURN()                                                                             \
    GT_COPY_WAIT(STAGES - 2);                                                              \
    GT_BARRIER()
/* Starts to copy slab s, if there is one, and moves x and y on. Only the last slab may have
 * too little k: the others ask for no more than their lines. */
#define FETCH(s, stage)                                                                    \
    if ((s) < slabs) {                                                                     \
        if (DEEP % BK == 0 || (s) + 1 < SLABS)                                             \
            fetch(smem + (stage)*STAGE, x, y, rows, cols, ALL_OF_IT, WHOLE, t);            \
        else                                                                               \
            fetch(smem + (stage)*STAGE, x, y, rows, cols, DEEP - (SLABS - 1) * BK, 0, t);  \
        x += ALONG_A ? BK : BK * ld_a;                                                     \
        y += ALONG_B ? BK : BK * ld_b;                                                     \
    }                                                                                      \
    GT_COPY_COMMIT()
#define LOAD(place, from, at)                                                              \
    gt_patch_load(TM, PM, TY, fa + (place)*TM, (from) + ay + (at)*LINE_A);                 \
    gt_patch_load(TN, PN, TX, fb + (place)*TN, (from) + SLAB_A + bx + (at)*LINE_B)

    GT_UNROLL
    for (int s = 0; s < STAGES - 1; s++) {
        FETCH(s, s);
    }
    TURN();
    int now = 0, free = STAGES - 1; /* stages: of this slab; of the slab fetched next */
    LOAD(0, smem, 0);
    GT_UNROLL_BY(1)
    for (int s = 0; s < slabs; s++) {
        FETCH(s + STAGES - 1, free);
        const int next = now + 1 == STAGES ? 0 : now + 1;
        const GT_SHARED gt_ab *const here = smem + now * STAGE;
        GT_UNROLL
        for (int u = 0; u < BK; u++) {
            const int last = u + 1 == BK;
            if (last) {
                TURN(); /* operands loaded after the last slab are not used */
            }
            const GT_SHARED gt_ab *const from = last ? smem + next * STAGE : here;
            LOAD((u + 1) % 2, from, last ? 0 : u + 1);
            multiply(acc, fa + u % 2 * TM, fb + u % 2 * TN);
        }
        free = now;
        now = next;
    }

    if (t < PATCHES)
        store(MATRIX(c, product) + (row0 + ay) * ld_c + col0 + bx, alpha, acc, beta,
              rows - ay, cols - bx GT_PLACE(product * ROWS + row0 + ay, col0 + bx));
}
