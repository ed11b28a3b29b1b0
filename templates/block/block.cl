/* SPDX-License-Identifier: Apache-2.0 */
/*
 * block - THREADS threads compute a tile of C of BM rows x BN columns, kept in registers.
 * They walk along k in slabs of BK. Slabs of A and B go through registers to shared memory;
 * while one pair of slabs is multiplied, the next is fetched to registers. The family for
 * large matrices.
 *
 * C[m,n] = alpha op(A) op(B) + beta C, row-major.
 *
 *                        n ->
 *                     +-------+------+      in shared memory, both with k outermost:
 *                  BK | slab B: BN   |
 *                     +-------+------+         A [BK][BM + PAD]    B [BK][BN + PAD]
 *               k     |              |
 *                     +--------------+      so that the values that a thread needs for one
 *        BK  k ->                           k are contiguous.
 *     +------+------+ +-------+------+
 *  BM | slab |      | | tile  |      |      OWN 1: a thread owns TM rows x TN columns, in
 *  m  |  A   |      | |BMxBN  |      |             pieces of up to 16 bytes; lanes of a
 *     +------+------+ +-------+------+             warp lie 8 x 4, piece beside piece.
 *     |             | |              |      OWN 0: thread t owns elements t, t + THREADS,
 *     +-------------+ +--------------+             ... of the tile, row by row.
 *
 * The main loop has no tests for edges: rows past the end of C repeat the last row that
 * exists, and are not stored. Two cases are fetched element by element, with zeros for k
 * past the end: the last slab of k if it is not whole, and tiles where a vector would reach
 * past the edge.
 *
 * BM BN    tile of C                      BK      depth of a slab
 * THREADS  threads a block                OWN     0 strided elements, 1 blocked
 * TM       rows a thread (OWN 1); its columns TN follow: BM * BN / (THREADS * TM)
 * VA VB    elements a global load of A, of B
 * PAD      spare elements a row of shared memory, against bank conflicts
 * DOUBLE   1: two pairs of slabs, one barrier a slab; 0: one pair, two barriers
 * MINB     blocks that must fit a multiprocessor: limits the registers
 * GROUP    rows of tiles that are walked together, for the L2 cache
 *
 * gemmtune trial f32-nn-4096x4096x4096 --family block --point
 *  "BM=128 BN=128 BK=8 THREADS=256 OWN=1 TM=8 VA=4 VB=4 PAD=4 DOUBLE=1 MINB=1 GROUP=8"
 * The 32 x 64 block of 2010, 512 threads and slabs of 16:
 *  "BM=64 BN=32 BK=16 THREADS=512 OWN=0 TM=1 VA=1 VB=1 PAD=0 DOUBLE=0 MINB=1 GROUP=1"
 */

enum {
    BM = GT_BM, BN = GT_BN, BK = GT_BK, T = GT_THREADS,
    OWN = GT_OWN, TM = GT_TM, TN = GT_TN, VA = GT_VA, VB = GT_VB,
    LDA_S = BM + GT_PAD, LDB_S = BN + GT_PAD, /* rows of shared memory */
    SLAB_A = BK * LDA_S,
    PAIR = SLAB_A + BK * LDB_S,
    NA = GT_CDIV(BM * BK, T * VA), /* vectors of A that a thread fetches of a slab */
    NB = GT_CDIV(BN * BK, T * VB),
    A_ALONG = !GT_TA, B_ALONG = GT_TB, /* whether the operand is contiguous along k */

    /* The patch of a blocked thread: pieces, threads along m and n. */
    PM = GT_PIECE(TM), PN = GT_PIECE(TN), TY = BM / TM, TX = BN / TN,
    LX = GT_LANES_X(TY, TX), LY = GT_LANES_Y(TY, TX)
};

/* The row and column in the tile of a strided thread's element i. */
GT_INLINE int own_row(int t, int i) {
    return T % BN == 0 ? t / BN + i * (T / BN) : (t + i * T) / BN;
}

GT_INLINE int own_col(int t, int i) {
    return T % BN == 0 ? t % BN : (t + i * T) % BN;
}

/* acc += one column of slab A x one row of slab B. ay, bx: the blocked thread's first
 * row and column in the tile. */
GT_INLINE void multiply(gt_acc acc[TM * TN], const GT_SHARED gt_ab *sa,
                        const GT_SHARED gt_ab *sb, int ay, int bx, int t) {
    if (OWN) {
        gt_ab fa[TM], fb[TN];
        gt_patch_load(TM, PM, LY, fa, sa + ay);
        gt_patch_load(TN, PN, LX, fb, sb + bx);
        GT_UNROLL
        for (int i = 0; i < TM; i++)
            GT_UNROLL
            for (int j = 0; j < TN; j++)
                acc[i * TN + j] = gt_multiply_add(fa[i], fb[j], acc[i * TN + j]);
    } else {
        GT_UNROLL
        for (int i = 0; i < TM * TN; i++)
            acc[i] = gt_multiply_add(sa[own_row(t, i)], sb[own_col(t, i)], acc[i]);
    }
}

GT_KERNEL(gemm, GT_THREADS, 1, GT_MINB)(GT_PARAMS) {
    GT_SHARED_ARRAY(gt_ab, smem, GT_SMEM_ELEMS);
    GT_PRODUCT();
    const int t = GT_THREAD_X;
    const int tiles_m = (m - 1) / BM + 1, tiles_n = (n - 1) / BN + 1;

    /* GROUP rows of tiles are walked column by column. */
    const int band = GT_BLOCK / (GT_GROUP * tiles_n);
    const int in_band = GT_BLOCK % (GT_GROUP * tiles_n);
    const int high = GT_MIN(tiles_m - band * GT_GROUP, GT_GROUP);
    const int row0 = (band * GT_GROUP + in_band % high) * BM, col0 = in_band / high * BN;
    const int rows = m - row0, cols = n - col0; /* of C, from the tile to its edges */

    /* The first row and column of the blocked thread's patch. */
    const int ay = gt_patch_row(TY, TX, TM, PM, t);
    const int bx = gt_patch_column(TY, TX, TN, PN, t);

    gt_acc acc[TM * TN];
    gt_ab ra[NA * VA], rb[NB * VB]; /* the next slabs */
    const GT_GLOBAL gt_ab *at_a[NA], *at_b[NB];
    const int depth = alpha == (gt_acc)0 ? 0 : k; /* alpha 0: A and B are not read */
    /* The slabs that can be fetched as vectors: the last one may not be whole. */
    const int whole = (!GT_TA || VA == 1 || rows >= BM || rows % VA == 0) &&
                              (GT_TB || VB == 1 || cols >= BN || cols % VB == 0)
                          ? depth / BK
                          : 0;
    const int slabs = gt_cdiv(depth, BK);
    int now = 0; /* the pair of slabs in use */

    a += GT_TA ? (gt_long)row0 : row0 * lda;
    b += GT_TB ? col0 * ldb : (gt_long)col0;
    gt_slab_aim(A_ALONG, BM, BK, VA, T, at_a, a, lda, rows, t);
    gt_slab_aim(B_ALONG, BN, BK, VB, T, at_b, b, ldb, cols, t);
    GT_UNROLL
    for (int e = 0; e < TM * TN; e++)
        acc[e] = 0;

    if (whole > 0) {
        gt_slab_fetch(A_ALONG, BM, BK, VA, T, ra, at_a, lda, t);
        gt_slab_fetch(B_ALONG, BN, BK, VB, T, rb, at_b, ldb, t);
        gt_slab_put(A_ALONG, BM, BK, VA, T, smem, LDA_S, ra, t);
        gt_slab_put(B_ALONG, BN, BK, VB, T, smem + SLAB_A, LDB_S, rb, t);
        GT_BARRIER();
    }
    GT_UNROLL_BY(1)
    for (int s = whole; s > 0; s--) {
        /* The next slab, or the last one again: a superfluous load costs less than a
         * test. */
        const gt_long next = s > 1 ? BK : 0;
        gt_slab_advance(A_ALONG, BM, BK, VA, T, at_a, A_ALONG ? next : next * lda);
        gt_slab_advance(B_ALONG, BN, BK, VB, T, at_b, B_ALONG ? next : next * ldb);
        gt_slab_fetch(A_ALONG, BM, BK, VA, T, ra, at_a, lda, t);
        gt_slab_fetch(B_ALONG, BN, BK, VB, T, rb, at_b, ldb, t);
        GT_UNROLL_BY(GT_KU)
        for (int k = 0; k < BK; k++)
            multiply(acc, smem + now + k * LDA_S, smem + now + SLAB_A + k * LDB_S, ay, bx,
                     t);
        if (GT_DOUBLE)
            now = PAIR - now;
        else
            GT_BARRIER(); /* all threads have read before any writes */
        gt_slab_put(A_ALONG, BM, BK, VA, T, smem + now, LDA_S, ra, t);
        gt_slab_put(B_ALONG, BN, BK, VB, T, smem + now + SLAB_A, LDB_S, rb, t);
        GT_BARRIER();
    }
    /* The rest is rare or short, so the code is compact rather than fast. */
    GT_UNROLL_BY(1)
    for (int done = whole; done < slabs; done++) {
        const gt_long k0 = done * (gt_long)BK;
        const int rest = depth - done * BK;
        gt_slab_edge(A_ALONG, BM, BK, T, smem, LDA_S, a + (A_ALONG ? k0 : k0 * lda), lda,
                     rows, rest, t);
        gt_slab_edge(B_ALONG, BN, BK, T, smem + SLAB_A, LDB_S,
                     b + (B_ALONG ? k0 : k0 * ldb), ldb, cols, rest, t);
        GT_BARRIER();
        GT_UNROLL_BY(1)
        for (int k = 0; k < BK; k++)
            multiply(acc, smem + k * LDA_S, smem + SLAB_A + k * LDB_S, ay, bx, t);
        GT_BARRIER();
    }

    c += row0 * ldc + col0;
    if (OWN) {
        const int inside = rows >= BM && cols >= BN && gt_aligned(PN, c, ldc);
        c += ay * ldc + bx;
        if (inside)
            gt_patch_store(TM, TN, gt_side_of(PM, LY), gt_side_of(PN, LX), c, ldc,
                           alpha, acc, beta, 1, rows - ay,
                           cols - bx GT_PLACE(row0 + ay, col0 + bx));
        else
            gt_patch_store(TM, TN, gt_side_of(PM, LY), gt_side_of(PN, LX), c, ldc,
                           alpha, acc, beta, 0, rows - ay,
                           cols - bx GT_PLACE(row0 + ay, col0 + bx));
    } else {
        GT_UNROLL
        for (int i = 0; i < TM * TN; i++)
            if (own_row(t, i) < rows && own_col(t, i) < cols)
                gt_store_c(c + own_row(t, i) * ldc + own_col(t, i), alpha, acc[i],
                           beta GT_PLACE(row0 + own_row(t, i), col0 + own_col(t, i)));
    }
}
