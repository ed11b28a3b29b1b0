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
 * for the distances of rows: a side is cut into equal tiles and k into equal slabs, a slab
 * is unrolled as a whole, and copies have constant places. Any number of threads may have a
 * patch; the others of the last warp copy.
 *
 * BM BN     the most rows and columns of a tile
 * BK        the most k of a slab
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
    WHOLE = ROWS % BM == 0 && COLS % BN == 0 /* all tiles lie in C */
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

/* Starts to copy slab s of a product to `to`. x and y point to the tile's rows of op(A) and
 * columns of op(B), of which `rows` and `cols` exist. */
GT_INLINE void fetch(GT_SHARED gt_ab *to, int s, const GT_GLOBAL gt_ab *x,
                     const GT_GLOBAL gt_ab *y, int rows, int cols, int t) {
    const int rest = DEEP - s * BK;
    const gt_long lda = GT_ROW_A, ldb = GT_ROW_B; /* constants, so that copies have them */
    const GT_GLOBAL gt_ab *const from_a = x + (ALONG_A ? s * BK : s * BK * lda);
    const GT_GLOBAL gt_ab *const from_b = y + (ALONG_B ? s * BK : s * BK * ldb);
    const int whole = WHOLE && DEEP % BK == 0;
    if (t < COPIERS_A)
        gt_slab_copy(ALONG_A, 0, BM, BK, VA, COPIERS_A,
                     to + gt_slab_to(ALONG_A, 0, BM, BK, VA, COPIERS_A, LINE_A, t), LINE_A,
                     from_a + gt_slab_from(ALONG_A, BM, BK, VA, COPIERS_A, lda, t), lda,
                     rows, rest, whole, t);
    if (t < COPIERS_B)
        gt_slab_copy(ALONG_B, 0, BN, BK, VB, COPIERS_B,
                     to + SLAB_A + gt_slab_to(ALONG_B, 0, BN, BK, VB, COPIERS_B, LINE_B, t),
                     LINE_B, from_b + gt_slab_from(ALONG_B, BN, BK, VB, COPIERS_B, ldb, t),
                     ldb, cols, rest, whole, t);
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
    const GT_GLOBAL gt_ab *x = 0, *y = 0;
    if (slabs > 0) {
        x = MATRIX(a, product) + (ALONG_A ? row0 * lda : row0);
        y = MATRIX(b, product) + (ALONG_B ? col0 * ldb : col0);
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
#define FETCH(s, stage)                                                                    \
    if ((s) < slabs)                                                                       \
        fetch(smem + (stage)*STAGE, s, x, y, rows, cols, t);                               \
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
            GT_UNROLL
            for (int e = 0; e < TM * TN; e++) {
                const int i = gt_order_row(GT_ORDER, TM, TN, e);
                const int j = gt_order_column(GT_ORDER, TM, TN, e);
                acc[i * TN + j] = gt_multiply_add(fa[u % 2 * TM + i], fb[u % 2 * TN + j],
                                                  acc[i * TN + j]);
            }
        }
        free = now;
        now = next;
    }

    if (t < PATCHES) {
        const struct gt_side down = gt_side_of(PM, TY), along = gt_side_of(PN, TX);
        GT_GLOBAL gt_c *const out = MATRIX(c, product) + (row0 + ay) * ldc + col0 + bx;
        /* Pieces of a row exist as a whole, or none of their elements does. */
        const int vectors = COLS % PN == 0 && gt_aligned(PN, out, ldc);
        GT_UNROLL
        for (int i = 0; i < TM; i++) {
            const int row = gt_side_at(&down, i);
            if (WHOLE || ay + row < rows)
                GT_UNROLL
            for (int j = 0; j < TN; j += PN) {
                const int col = gt_side_at(&along, j), end = cols - bx - col;
                GT_GLOBAL gt_c *const at = out + row * ldc + col;
                gt_c old[PN];
                if (vectors && (WHOLE || end > 0)) {
                    gt_load_c(PN, old, at, beta, 1, 0, end);
                    gt_store_row(PN, at, alpha, acc + i * TN + j, beta, old, 1, 0,
                                 end GT_PLACE(product * ROWS + row0 + ay + row,
                                              col0 + bx + col));
                } else {
                    gt_load_c(PN, old, at, beta, 0, 0, end);
                    gt_store_row(PN, at, alpha, acc + i * TN + j, beta, old, 0, 0,
                                 end GT_PLACE(product * ROWS + row0 + ay + row,
                                              col0 + bx + col));
                }
            }
        }
    }
}
