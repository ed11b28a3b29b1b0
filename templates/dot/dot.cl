/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dot - products of bytes, four an instruction (dp4a). THREADS threads compute a tile of C
 * of BM rows x BN columns, kept in registers. They walk along k in slabs of KW words: a
 * word is four elements of a row of A, or of a column of B, that follow one another along
 * k. Slabs go through registers to shared memory; while one pair of slabs is multiplied,
 * the next one is fetched.
 *
 * C[m,n] = alpha op(A) op(B) + beta C, row-major.
 *
 *                        n ->
 *                     +-------+------+      in shared memory, both with k outermost, words:
 *                  KW | slab B: BN   |
 *                     +-------+------+         A [KW][BM + PAD]    B [KW][BN + PAD]
 *               k     |              |
 *                     +--------------+      so that the words that a thread needs for four
 *        KW  k ->                           steps of k are contiguous.
 *     +------+------+ +-------+------+
 *  BM | slab |      | | tile  |      |      A thread owns TM rows x TN columns, as in
 *  m  |  A   |      | |BMxBN  |      |      `block` (patches.h).
 *     +------+------+ +-------+------+
 *
 * A piece is what a thread fetches at once of an operand. Contiguous along k: VA (VB) bytes
 * of one row, which are words already. Contiguous along the width: VA bytes of each of four
 * k, which are turned, four by four bytes, on the way to shared memory (dots.h). With VA=1
 * rows may begin at any byte: a piece is one word, or four of them, loaded by bytes.
 *
 * The main loop has no tests for edges: rows past the end of C repeat the last row that
 * exists, and are not stored. Two cases are fetched word by word, with zeros for k past the
 * end: the last slab of k if it is not whole, and tiles where a piece would reach past the
 * edge.
 *
 * BM BN    tile of C                      KW      depth of a slab in words, four k each
 * THREADS  threads a block                TM      rows a thread; its columns TN follow
 * VA VB    bytes in a load of A, of B; 1: any alignment
 * PAD      spare words in a row of shared memory, against bank conflicts
 * DOUBLE   1: two pairs of slabs, one barrier a slab; 0: one pair, two barriers
 * MINB     blocks that must fit a multiprocessor: limits the registers
 * GROUP    rows of tiles that are walked together, for the L2 cache
 *
 * gemmtune trial i8-nt-1024x1024x1024 --family dot --point
 *  "BM=64 BN=64 KW=8 THREADS=128 TM=4 VA=4 VB=4 PAD=4 DOUBLE=1 MINB=1 GROUP=4"
 */

enum {
    BM = GT_BM, BN = GT_BN, KW = GT_KW, BK = 4 * KW, T = GT_THREADS, TM = GT_TM, TN = GT_TN,
    LDA_S = BM + GT_PAD, LDB_S = BN + GT_PAD, /* rows of shared memory */
    SLAB_A = KW * LDA_S,
    PAIR = SLAB_A + KW * LDB_S,
    A_ALONG = !GT_TA, B_ALONG = GT_TB, /* whether the operand is contiguous along k */
    NA = GT_PIECES_A, NB = GT_PIECES_B, /* pieces of a thread in a slab */

    /* The patch of a thread: pieces of it that are moved at once, threads along m and n. */
    PM = GT_PIECE(TM), PN = GT_PIECE(TN), TY = BM / TM, TX = BN / TN,
    LX = GT_LANES_X(TY, TX), LY = GT_LANES_Y(TY, TX)
};

/* ---- slabs ---- */

/* Bytes of a piece's load, its words, and the place of piece e along the width and along k
 * (in bytes). `v` is VA or VB, `wide` is BM or BN. */
#define LOADED(v) GT_MAX(v, 4)
#define WORDS(along, v) ((along) ? LOADED(v) / 4 : LOADED(v))

GT_INLINE int piece_w(int along, int wide, int v, int e) {
    return along ? e / (BK / LOADED(v)) : e % (wide / LOADED(v)) * LOADED(v);
}

GT_INLINE int piece_k(int along, int wide, int v, int e) {
    return along ? e % (BK / LOADED(v)) * LOADED(v) : e / (wide / LOADED(v)) * 4;
}

/* Whether the thread has an i-th piece. */
#define HAS_PIECE(along, wide, v, i, t)                                                    \
    ((wide) * KW % (T * WORDS(along, v)) == 0 ||                                           \
     (t) + (i) * T < (wide) * KW / WORDS(along, v))

/* Sets `at` to the pieces of the slab at x. `left` of its width exist. */
GT_INLINE void aim(int along, int wide, int v, int count, const GT_GLOBAL gt_ab **at,
                   const GT_GLOBAL gt_ab *x, gt_long ld, int left, int t) {
    GT_UNROLL
    for (int i = 0; i < count; i++) {
        const int w = piece_w(along, wide, v, t + i * T);
        const int k = piece_k(along, wide, v, t + i * T);
        at[i] = along ? x + GT_MIN(w, left - 1) * ld + k
                      : x + k * ld + GT_MAX(GT_MIN(w, left - LOADED(v)), 0);
    }
}

GT_INLINE void load(int v, gt_acc *to, const GT_GLOBAL gt_ab *from) {
    if (v == 1)
        to[0] = gt_dot_word(from, 1, 4);
    else
        gt_load_global_acc(v / 4, to, (const GT_GLOBAL gt_acc *)from);
}

GT_INLINE void fetch(int along, int wide, int v, int count, gt_acc *r,
                     const GT_GLOBAL gt_ab **at, gt_long ld, int t) {
    GT_UNROLL
    for (int i = 0; i < count; i++)
        if (HAS_PIECE(along, wide, v, i, t)) {
            gt_acc *to = r + i * WORDS(along, v);
            GT_UNROLL
            for (int k = 0; k < (along ? 1 : 4); k++)
                load(v, to + k * (LOADED(v) / 4), at[i] + k * ld);
        }
}

/* Moves the pointers by `step` elements. */
GT_INLINE void advance(int count, const GT_GLOBAL gt_ab **at, gt_long step) {
    GT_UNROLL
    for (int i = 0; i < count; i++)
        at[i] += step;
}

GT_INLINE void put(int along, int wide, int v, int count, GT_SHARED gt_acc *s, int stride,
                   const gt_acc *r, int t) {
    GT_UNROLL
    for (int i = 0; i < count; i++)
        if (HAS_PIECE(along, wide, v, i, t)) {
            const int w = piece_w(along, wide, v, t + i * T);
            const int k = piece_k(along, wide, v, t + i * T);
            const gt_acc *from = r + i * WORDS(along, v);
            GT_SHARED gt_acc *to = s + k / 4 * stride + w;
            GT_UNROLL
            for (int j = 0; j < LOADED(v) / 4; j++) {
                if (along) {
                    to[j * stride] = from[j];
                } else {
                    gt_acc four[4];
                    GT_UNROLL
                    for (int e = 0; e < 4; e++)
                        four[e] = from[e * (LOADED(v) / 4) + j];
                    gt_dot_turn(four);
                    gt_store_shared_acc(4, to + 4 * j, four);
                }
            }
        }
}

/* Copies the slab at x word by word: `depth` of k exist, `left` of the width. */
GT_INLINE void edge(int along, int wide, GT_SHARED gt_acc *s, int stride,
                    const GT_GLOBAL gt_ab *x, gt_long ld, int left, int depth, int t) {
    GT_UNROLL_BY(1)
    for (int e = t; e < wide * KW; e += T) {
        const int w = along ? e / KW : e % wide, k = (along ? e % KW : e / wide) * 4;
        const int there = GT_MIN(w, left - 1);
        s[k / 4 * stride + w] = gt_dot_word(along ? x + there * ld + k : x + k * ld + there,
                                            along ? 1 : ld, depth - k);
    }
}

/* ---- products ---- */

/* Loads the words of one side for four k. */
GT_INLINE void operands(int count, int piece, int lanes, gt_acc *to,
                        const GT_SHARED gt_acc *from) {
    const struct gt_side side = gt_side_of(piece, lanes);
    GT_UNROLL
    for (int i = 0; i < count; i += piece)
        gt_load_shared_acc(piece, to + i, from + gt_side_at(&side, i));
}

/* acc += one column of slab A x one row of slab B. sa, sb: at the thread's patch. */
GT_INLINE void multiply(gt_acc acc[TM * TN], const GT_SHARED gt_acc *sa,
                        const GT_SHARED gt_acc *sb) {
    gt_acc fa[TM], fb[TN];
    operands(TM, PM, LY, fa, sa);
    operands(TN, PN, LX, fb, sb);
    GT_UNROLL
    for (int i = 0; i < TM; i++)
        GT_UNROLL
        for (int j = 0; j < TN; j++)
            acc[i * TN + j] = gt_dot4(fa[i], fb[j], acc[i * TN + j]);
}

GT_KERNEL(gemm, GT_THREADS, 1, GT_MINB)(GT_PARAMS) {
    GT_SHARED_ARRAY(gt_acc, smem, GT_SMEM_WORDS);
    GT_PRODUCT();
    const int t = GT_THREAD_X;
    int row0, col0;
    gt_tile_place(&row0, &col0, GT_BLOCK, BM, BN, GT_GROUP, m, n);
    const int rows = m - row0, cols = n - col0; /* of C, from the tile to its edges */

    /* The first row and column of the thread's patch. */
    const int ay = gt_patch_row(TY, TX, TM, PM, t);
    const int bx = gt_patch_column(TY, TX, TN, PN, t);

    gt_acc acc[TM * TN];
    gt_acc ra[NA * WORDS(A_ALONG, GT_VA)], rb[NB * WORDS(B_ALONG, GT_VB)];
    const GT_GLOBAL gt_ab *at_a[NA], *at_b[NB];
    /* Alpha 0, or a slot without rows: A and B are not read. */
    const int depth = alpha == (gt_acc)0 || m == 0 ? 0 : k;
    /* The slabs that can be fetched as pieces: the last one may not be whole. */
    const int whole = (A_ALONG || rows >= BM || rows % LOADED(GT_VA) == 0) &&
                              (B_ALONG || cols >= BN || cols % LOADED(GT_VB) == 0)
                          ? depth / BK
                          : 0;
    const int slabs = gt_cdiv(depth, BK);
    int now = 0; /* the pair of slabs in use */

    a += GT_TA ? (gt_long)row0 : row0 * lda;
    b += GT_TB ? col0 * ldb : (gt_long)col0;
    aim(A_ALONG, BM, GT_VA, NA, at_a, a, lda, rows, t);
    aim(B_ALONG, BN, GT_VB, NB, at_b, b, ldb, cols, t);
    GT_UNROLL
    for (int e = 0; e < TM * TN; e++)
        acc[e] = 0;

    if (whole > 0) {
        fetch(A_ALONG, BM, GT_VA, NA, ra, at_a, lda, t);
        fetch(B_ALONG, BN, GT_VB, NB, rb, at_b, ldb, t);
        put(A_ALONG, BM, GT_VA, NA, smem, LDA_S, ra, t);
        put(B_ALONG, BN, GT_VB, NB, smem + SLAB_A, LDB_S, rb, t);
        GT_BARRIER();
    }
    GT_UNROLL_BY(1)
    for (int s = whole; s > 0; s--) {
        /* The next slab, or the last one again: a superfluous load costs less than a
         * test. */
        const gt_long next = s > 1 ? BK : 0;
        advance(NA, at_a, A_ALONG ? next : next * lda);
        advance(NB, at_b, B_ALONG ? next : next * ldb);
        fetch(A_ALONG, BM, GT_VA, NA, ra, at_a, lda, t);
        fetch(B_ALONG, BN, GT_VB, NB, rb, at_b, ldb, t);
        GT_UNROLL_BY(GT_KU)
        for (int kw = 0; kw < KW; kw++)
            multiply(acc, smem + now + kw * LDA_S + ay,
                     smem + now + SLAB_A + kw * LDB_S + bx);
        if (GT_DOUBLE)
            now = PAIR - now;
        else
            GT_BARRIER(); /* all threads have read before any writes */
        put(A_ALONG, BM, GT_VA, NA, smem + now, LDA_S, ra, t);
        put(B_ALONG, BN, GT_VB, NB, smem + now + SLAB_A, LDB_S, rb, t);
        GT_BARRIER();
    }
    /* The rest is rare or short, so the code is compact rather than fast. */
    GT_UNROLL_BY(1)
    for (int done = whole; done < slabs; done++) {
        const gt_long k0 = done * (gt_long)BK;
        const int rest = depth - done * BK;
        edge(A_ALONG, BM, smem, LDA_S, a + (A_ALONG ? k0 : k0 * lda), lda, rows, rest, t);
        edge(B_ALONG, BN, smem + SLAB_A, LDB_S, b + (B_ALONG ? k0 : k0 * ldb), ldb, cols,
             rest, t);
        GT_BARRIER();
        GT_UNROLL_BY(1)
        for (int kw = 0; kw < KW; kw++)
            multiply(acc, smem + kw * LDA_S + ay, smem + SLAB_A + kw * LDB_S + bx);
        GT_BARRIER();
    }

    c += row0 * ldc + col0;
    const int inside = rows >= BM && cols >= BN && gt_aligned(PN, c, ldc);
    c += ay * ldc + bx;
    if (inside)
        gt_patch_store(TM, TN, gt_side_of(PM, LY), gt_side_of(PN, LX), c, ldc, alpha, acc,
                       beta, 1, rows - ay, cols - bx GT_PLACE(row0 + ay, col0 + bx));
    else
        gt_patch_store(TM, TN, gt_side_of(PM, LY), gt_side_of(PN, LX), c, ldc, alpha, acc,
                       beta, 0, rows - ay, cols - bx GT_PLACE(row0 + ay, col0 + bx));
}
