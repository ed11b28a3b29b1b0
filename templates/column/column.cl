/* SPDX-License-Identifier: Apache-2.0 */
/*
 * column - a thread owns COLS whole columns of the tile. Only A goes through shared memory.
 * B goes straight from global memory to the registers of the one thread that needs it. This
 * is the design of the CUDA kernels of 2008-2010, where COLS was 1; 4 columns suit later
 * chips.
 *
 * C[m,n] = alpha op(A) op(B) + beta C, row-major. Tile BM x BN, slabs of BK along k.
 *
 *                         n ->
 *                    B +-x--------+-x--------+   thread x reads its own columns of B's
 *                   BK | x        | x        |   rows: neighbours side by side, a slab
 *                  k   +-x--------+-x--------+   ahead of their use
 *       BK  k ->         |          |
 *     +----+---- - -   +-x--------+-x--------+   for one k, every lane reads the same 16
 *  BM |slab|         Q | x  group 0          |   bytes of A: a broadcast, free of bank
 *  m  | of |           +-x-------------------+   conflicts
 *     | A  |           | x  group 1          |   Q groups of BN / COLS threads share the
 *     +----+---- - -   +-x--------+-x--------+   columns; each owns BM / Q of the rows
 *
 * A load takes V adjacent columns. A thread's COLS / V such pieces lie BN * V / COLS apart.
 * With B transposed, a thread loads V values of k of each of its columns: right, but not
 * fast.
 *
 * A tile that reaches past the right edge moves left until it fits, and stores only the
 * columns that its neighbour does not. Rows past the end repeat the last one. The last slab
 * of k, if it is not whole, and matrices narrower than a tile are done element by element.
 *
 * BM BN   tile of C                     BK    depth of a slab
 * COLS    columns a thread              Q     row groups
 * V       elements a load of B          VA    elements a load of A
 * PAD     spare elements a row of A's slab, against bank conflicts when it is written
 * DOUBLE  1: two slabs of A, one barrier a slab; 0: one slab, two barriers
 * MINB    blocks that must fit a multiprocessor: limits the registers
 * GROUP   rows of tiles that are walked together, for the L2 cache
 *
 * gemmtune trial f32-nn-4096x4096x4096 --family column
 *     --point "BM=64 BN=256 BK=8 COLS=4 Q=2 V=4 VA=4 PAD=4 DOUBLE=1 MINB=1 GROUP=8"
 * The 'opt' kernel of 2010, 16 columns x 64 rows with 64 threads:
 *     --point "BM=64 BN=16 BK=16 COLS=1 Q=4 V=1 VA=1 PAD=0 DOUBLE=0 MINB=1 GROUP=1"
 */

enum {
    BM = GT_BM, BN = GT_BN, BK = GT_BK, COLS = GT_COLS, Q = GT_Q, V = GT_V, VA = GT_VA,
    T = GT_THREADS,
    TX = BN / COLS,                    /* threads of a row group */
    ROWS = BM / Q,                     /* rows of a thread */
    VN = GT_TB ? 1 : V,                /* adjacent columns of a thread */
    VK = GT_TB ? V : 1,                /* values of k in a load of B */
    STRIDE = BM + GT_PAD,
    SLAB = BK * STRIDE,
    NA = GT_SLAB_COUNT(BM, BK, VA, T), /* vectors of A that a thread fetches */
    A_ALONG = !GT_TA,                  /* whether A is contiguous along k */
    WIDE = 16 / GT_SIZEOF_A,
    P = ROWS % 4 == 0 && WIDE == 4 ? 4 : ROWS % 2 == 0 ? 2 : 1 /* rows in a move of A */
};

/* Column c of thread x in the tile. */
#define COLUMN(x, c) ((c) / VN * (TX * VN) + (x) * VN + (c) % VN)

/* The register with B's value for step k of a slab and the thread's column c. */
#define HELD(k, c) (GT_TB ? (c) * BK + (k) : (k) * COLS + (c))

/* Loads B's values for VK steps, from k on. `at`: the thread's columns at k 0 of the
 * slab. */
GT_INLINE void load_b(gt_ab *rb, const GT_GLOBAL gt_ab **at, gt_long ldb, int k) {
    if (GT_TB) {
        GT_UNROLL
        for (int c = 0; c < COLS; c++)
            gt_load_global(V, rb + HELD(k, c), at[c] + k);
    } else {
        GT_UNROLL
        for (int c = 0; c < COLS; c += V)
            gt_load_global(V, rb + HELD(k, c), at[0] + k * ldb + COLUMN(0, c));
    }
}

/* acc += A's values at sa x the thread's values of B. */
GT_INLINE void multiply(gt_acc *acc, const GT_SHARED gt_ab *sa, const gt_ab *fb) {
    GT_UNROLL
    for (int i = 0; i < ROWS; i += P) {
        gt_ab fa[P];
        gt_load_shared(P, fa, sa + i);
        GT_UNROLL
        for (int p = 0; p < P; p++)
            GT_UNROLL
            for (int c = 0; c < COLS; c++)
                acc[(i + p) * COLS + c] =
                    gt_multiply_add(fa[p], fb[c], acc[(i + p) * COLS + c]);
    }
}

/* Stores the thread's columns [first, cols) of the tile at c, rows from y0 on. */
GT_INLINE void store(GT_GLOBAL gt_c *c, gt_long ldc, gt_acc alpha, const gt_acc *acc,
                     gt_acc beta, int x, int y0, int inside, int rows, int first,
                     int cols GT_PLACE_PARAMS) {
    GT_UNROLL
    for (int i = 0; i < ROWS; i++) {
        GT_GLOBAL gt_c *row = c + (y0 + i) * ldc + x * VN;
        const int start = first - x * VN, end = y0 + i < rows ? cols - x * VN : 0;
        gt_c old[COLS];
        GT_UNROLL
        for (int j = 0; j < COLS; j += VN)
            gt_load_c(VN, old + j, row + COLUMN(0, j), beta, inside, start - COLUMN(0, j),
                      end - COLUMN(0, j));
        GT_UNROLL
        for (int j = 0; j < COLS; j += VN)
            gt_store_row(VN, row + COLUMN(0, j), alpha, acc + i * COLS + j, beta, old + j,
                         inside, start - COLUMN(0, j),
                         end - COLUMN(0, j)
                             GT_PLACE(gt_i + y0 + i, gt_j + x * VN + COLUMN(0, j)));
    }
}

GT_KERNEL(gemm, GT_THREADS, 1, GT_MINB)(GT_PARAMS) {
    GT_SHARED_ARRAY(gt_ab, smem, GT_SMEM_ELEMS);
    GT_PRODUCT();
    const int t = GT_THREAD_X, x = t % TX;
    const int y0 = t / TX * ROWS; /* the thread's first row in the tile */
    const int tiles_m = (m - 1) / BM + 1, tiles_n = (n - 1) / BN + 1;

    /* GROUP rows of tiles are walked column by column. */
    const int band = GT_BLOCK / (GT_GROUP * tiles_n);
    const int in_band = GT_BLOCK % (GT_GROUP * tiles_n);
    const int high = GT_MIN(tiles_m - band * GT_GROUP, GT_GROUP);
    const int row0 = (band * GT_GROUP + in_band % high) * BM, own0 = in_band / high * BN;
    const int rows = m - row0; /* of C, from the tile to its edge */
    /* The tile's first column after the move, and in `mine` the first column that it
     * stores. */
    const int col0 = n - own0 < BN && n >= BN ? n - BN : own0, mine = own0 - col0;
    const int cols = n - col0;

    gt_acc acc[ROWS * COLS];
    gt_ab ra[NA * VA], rb[BK * COLS];
    const GT_GLOBAL gt_ab *at_a[NA], *at_b[COLS];
    const int depth = alpha == (gt_acc)0 ? 0 : k; /* alpha 0: A and B are not read */
    /* Vectors of A must not reach past the edge. Those of B must exist and be aligned. */
    const int fits = (A_ALONG || VA == 1 || rows >= BM || rows % VA == 0) &&
                     (GT_TB || ((VN == 1 || col0 % VN == 0) &&
                                (cols >= BN || (VN == COLS && cols % VN == 0))));
    const int whole = fits ? depth / BK : 0, slabs = depth / BK + (depth % BK != 0);
    int now = 0; /* the slab of A in use */

    GT_UNROLL
    for (int e = 0; e < ROWS * COLS; e++)
        acc[e] = 0;
    a += A_ALONG ? row0 * lda : (gt_long)row0;
    b += GT_TB ? col0 * ldb : (gt_long)col0;
    gt_slab_aim(A_ALONG, BM, BK, VA, T, at_a, a, lda, rows, t);
    if (GT_TB) {
        GT_UNROLL
        for (int i = 0; i < COLS; i++)
            at_b[i] = b + GT_MIN(COLUMN(x, i), cols - 1) * ldb;
    } else {
        at_b[0] = b + (VN == COLS ? GT_MAX(GT_MIN(x * VN, cols - VN), 0) : x * VN);
    }

    if (whole > 0) {
        gt_slab_fetch(A_ALONG, BM, BK, VA, T, ra, at_a, lda, t);
        GT_UNROLL
        for (int u = 0; u < BK; u += VK)
            load_b(rb, at_b, ldb, u);
        gt_slab_put(A_ALONG, BM, BK, VA, T, smem, STRIDE, ra, t);
        GT_BARRIER();
    }
    GT_UNROLL_BY(1)
    for (int s = whole; s > 0; s--) {
        /* The next slab, or the last one again: a superfluous load costs less than a
         * test. */
        const gt_long next = s > 1 ? BK : 0;
        gt_slab_advance(A_ALONG, BM, BK, VA, T, at_a, A_ALONG ? next : next * lda);
        gt_slab_fetch(A_ALONG, BM, BK, VA, T, ra, at_a, lda, t);
        GT_UNROLL
        for (int i = 0; i < (GT_TB ? COLS : 1); i++)
            at_b[i] += GT_TB ? next : next * ldb;
        GT_UNROLL
        for (int u = 0; u < BK; u++) {
            gt_ab fb[COLS];
            GT_UNROLL
            for (int i = 0; i < COLS; i++)
                fb[i] = rb[HELD(u, i)];
            multiply(acc, smem + now + u * STRIDE + y0, fb);
            /* The values are used up; the same registers take those of the next slab. */
            if (u % VK == VK - 1)
                load_b(rb, at_b, ldb, u + 1 - VK);
        }
        if (GT_DOUBLE)
            now = SLAB - now;
        else
            GT_BARRIER(); /* all threads have read before any writes */
        gt_slab_put(A_ALONG, BM, BK, VA, T, smem + now, STRIDE, ra, t);
        GT_BARRIER();
    }
    /* The rest is rare or short, so the code is compact rather than fast. */
    GT_UNROLL_BY(1)
    for (int done = whole; done < slabs; done++) {
        const gt_long k0 = done * (gt_long)BK;
        const int rest = GT_MIN(depth - done * BK, BK);
        gt_slab_edge(A_ALONG, BM, BK, T, smem, STRIDE, a + (A_ALONG ? k0 : k0 * lda), lda,
                     rows, rest, t);
        GT_BARRIER();
        GT_UNROLL_BY(1)
        for (int u = 0; u < rest; u++) {
            gt_ab fb[COLS];
            GT_UNROLL
            for (int i = 0; i < COLS; i++) {
                const int j = GT_MIN(COLUMN(x, i), cols - 1);
                fb[i] = b[GT_TB ? j * ldb + (k0 + u) : (k0 + u) * ldb + j];
            }
            multiply(acc, smem + u * STRIDE + y0, fb);
        }
        GT_BARRIER();
    }

    c += row0 * ldc + col0;
    if (rows >= BM && cols >= BN && mine == 0 && gt_aligned(VN, c, ldc))
        store(c, ldc, alpha, acc, beta, x, y0, 1, rows, 0,
              cols GT_PLACE(row0, col0));
    else
        store(c, ldc, alpha, acc, beta, x, y0, 0, rows, mine,
              cols GT_PLACE(row0, col0));
}
