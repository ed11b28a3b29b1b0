/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dmma - f64 on tensor cores, for sm_80 and later. A block computes a tile of C of BM rows
 * x BN columns. Slabs of A and B, BK deep, come to shared memory by asynchronous copies.
 * While one slab is multiplied, STAGES - 1 are on their way. A warp multiplies its WM x WN
 * of the tile.
 *
 * C[m,n] = alpha op(A) op(B) + beta C, row-major.
 *
 *                        n ->                 A slab lies in shared memory as it lies in
 *                     +-------+------+        memory, with k or the width contiguous:
 *                  BK | slab B: BN   |
 *                     +-------+------+          A [BM][BK] (n) or [BK][BM] (t)
 *               k     |              |          B [BK][BN] (n) or [BN][BK] (t)
 *                     +--------------+
 *        BK  k ->                             A warp steps KSTEP along k. It reads a slab
 *     +------+------+ +-------+------+        by squares: 8 rows of A (columns of B) x 4 of
 *  BM | slab |      | |WMxWN: |      |        k, of which lane 4 g + t holds row (column) g
 *  m  |  A   |      | |-------+      |        at k = t, as the instruction needs it.
 *     +------+------+ | BMxBN |      |
 *     |             | |-------+      |        A row of a slab is XORed with bits of its
 *     +-------------+ +--------------+        number: no lanes meet in a bank (swizzle).
 *
 * Elements that do not exist (past the edges of C, past the end of k) are copied as zeros:
 * the loop has no code for edges.
 *
 * Copies of 16 bytes go from and to multiples of 16 bytes. When rows have an odd number of
 * elements, every other row begins 8 bytes after such a multiple. ODD copies such a row
 * from 8 bytes earlier. It then lies one element further on in its row of the slab, which
 * has room for that, and its readers add this shift. In a slab with a row for every k,
 * lanes that read together must read rows of one shift, or they would meet in a bank: a
 * step takes k in the order 0 2 4 6, 1 3 5 7. Copies of one element (VA, VB 1) serve any
 * alignment as well.
 *
 * BM BN    tile of C                      BK      depth of a slab
 * WM WN    a warp's part of the tile      STAGES  slabs in shared memory
 * SLICES   warps that share a part of the tile, each with its own part of every slab
 * MMA_K    depth of the instruction from sm_90 on; before, it is 4
 * KSTEP    steps of k whose operands are loaded at once
 * VA VB    elements in a copy of A, of B
 * AHEAD    1: the next step's operands are loaded while this step's are multiplied
 * MINB     blocks that must fit a multiprocessor
 * ODD      1: rows may begin at any element, and copies still have 16 bytes
 * GROUP    rows of tiles that are walked together, for the L2 cache
 * TAIL     0: a block has one tile.
 *          1: in batches and groups, as many blocks as fit the device take tiles of all
 *          products in turns. While a tile is multiplied and stored, slabs of the next one
 *          come.
 *          2 and more: pieces of k of the last tiles, when these would leave units idle.
 *          The idle units compute some of the pieces, and a second kernel adds up
 * SPLIT    blocks that share a tile, each with its own part of k
 * REDUCE   where their sums are added up: 0 in the workspace by a second kernel, 1 in the
 *          shared memory of a cluster. Always in the order of k: the sum is the same
 *
 * gemmtune trial f64-nn-4096x4096x4096 --family dmma --point
 *  "BM=128 BN=128 BK=16 WM=64 WN=32 SLICES=1 MMA_K=8 KSTEP=8 STAGES=3 VA=2 VB=2 ODD=0
 *   AHEAD=1 MINB=1 GROUP=1 TAIL=0 SPLIT=1 REDUCE=0"
 */

enum {
    BM = GT_BM, BN = GT_BN, BK = GT_BK, WM = GT_WM, WN = GT_WN,
    SLICES = GT_SLICES, STAGES = GT_STAGES, SPLIT = GT_SPLIT,
    T = GT_THREADS, VA = GT_VA, VB = GT_VB,
    A_ALONG = !GT_TA, B_ALONG = GT_TB, /* whether the operand is contiguous along k */
    ODD = GT_ODD,
    /* A slab's rows, the used part of a row, and its length. With ODD a row has room for
     * two more elements, and rows that are read together lie in different banks without a
     * swizzle. */
    ROWS_A = GT_ROWS_A, COLS_A = GT_COLS_A, LDA_S = GT_LDA_S,
    ROWS_B = GT_ROWS_B, COLS_B = GT_COLS_B, LDB_S = GT_LDB_S,
    SLAB_A = ROWS_A * LDA_S, STAGE = GT_STAGE_ELEMS,

    /* Groups of 8 rows and of 8 columns of a warp; elements of one row that a lane holds
     * for a step; steps of a warp in a slab. */
    GM = WM / 8, GN = WN / 8,
    HELD = GT_KSTEP / 4,
    STEPS = BK / SLICES / GT_KSTEP,

    CLUSTER = GT_REDUCE ? SPLIT : 1,    /* blocks that reduce together */
    PARTIAL = GT_PARTIAL,               /* stored sums are parts, not C yet */
    GATHER = SLICES > 1 || CLUSTER > 1, /* sums are added up in shared memory */
    LDT = BN + 8 /* length of a tile's row there: the next row begins 64 bytes further */
};

/* ---- instructions without a name in C ---- */

/* c += a b for INSTR_M x 8 of the tile. c0 and a0 are the first 8 rows, c1 and a1 the
 * others. */
GT_INLINE void mma(gt_acc *c0, gt_acc *c1, const gt_ab *a0, const gt_ab *a1,
                   const gt_ab *b) {
#if GT_INSTR_M == 8
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(c0[0]), "+d"(c0[1])
        : "d"(a0[0]), "d"(b[0]));
#elif GT_INSTR_K == 4
    asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 "
        "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+d"(c0[0]), "+d"(c0[1]), "+d"(c1[0]), "+d"(c1[1])
        : "d"(a0[0]), "d"(a1[0]), "d"(b[0]));
#else
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+d"(c0[0]), "+d"(c0[1]), "+d"(c1[0]), "+d"(c1[1])
        : "d"(a0[0]), "d"(a1[0]), "d"(a0[1]), "d"(a1[1]), "d"(b[0]), "d"(b[1]));
#endif
}

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

/* ---- slabs ---- */

/*
 * The columns of a slab's row are XORed with this. 16 lanes that read together read 4
 * neighbours in each of 4 consecutive rows, and the length of a row is a multiple of 128
 * bytes.
 */
GT_INLINE int swizzle(int row) {
    return ODD ? 0 : row % 4 * 4;
}

/*
 * The place of the first element in its row of a slab. A row that begins in the middle of
 * 16 bytes is copied from the beginning of these 16 bytes; the bytes before the row are
 * read, which is safe, and not used. All tiles begin at multiples of 16 elements, so the
 * shift depends only on the matrix and on the row's number in the slab.
 */
GT_INLINE int shift(const GT_GLOBAL gt_ab *x, gt_long ld, int row) {
    return ODD ? (int)((gt_long)x / 8 + ld * row) & 1 : 0;
}

/* The number of vectors in a slab's row, and of rows that the threads copy at once. */
#define ROW_VECTORS(cols, v) ((cols) / (v))
#define ROWS_AT_ONCE(cols, v) (T / ROW_VECTORS(cols, v))

/* The place where thread t begins to copy slabs of x. */
GT_INLINE const GT_GLOBAL gt_ab *aim(int cols, int v, const GT_GLOBAL gt_ab *x,
                                       gt_long ld, int t) {
    return x + t / ROW_VECTORS(cols, v) * ld + t % ROW_VECTORS(cols, v) * v;
}

/* How many copies a thread makes for a slab of rows x cols. */
#define COPIES(rows, cols, v) GT_CDIV(rows, ROWS_AT_ONCE(cols, v))

/* Starts a thread's copies `first` to `end` of a slab of rows x cols; rows_left x cols_left
 * of it exist. Bit r % 2 of `odd` is the shift of row r. */
GT_INLINE void fetch(int first, int end, int rows, int cols, int v, GT_SHARED gt_ab *s,
                     int stride, const GT_GLOBAL gt_ab *at, gt_long ld, int odd,
                     int rows_left, int cols_left, int t) {
    const int step = ROWS_AT_ONCE(cols, v);
    const int row0 = t / ROW_VECTORS(cols, v), col = t % ROW_VECTORS(cols, v) * v;
    if (ODD && first == 0 && end > 0) /* elements of a shifted row after its last vector */
        GT_UNROLL
        for (int i = 0; i < GT_CDIV(rows, T); i++) {
            const int row = t + i * T;
            if (row < rows)
                gt_copy_some(v, s + row * stride + cols,
                             at + (row - row0) * ld + cols - col - 1,
                             row < rows_left && cols <= cols_left && odd >> row % 2 & 1);
        }
    if (T % ROW_VECTORS(cols, v) != 0 && row0 >= step)
        return;
    at += first * step * ld;
    GT_UNROLL_BY(4) /* more would cost registers */
    for (int i = first; i < end; i++) {
        const int row = row0 + i * step, back = odd >> row % 2 & 1;
        const int there = GT_MAX(GT_MIN(cols_left - col + back, v), 0);
        if (rows % step == 0 || row < rows)
            gt_copy_some(v, s + row * stride + (col ^ swizzle(row)), at - back,
                         row < rows_left ? there : 0);
        at += step * ld;
    }
}

#if GT_WALK
/* A tile of a product, in shared memory. */
struct tile {
    gt_long a, b, c;   /* elements ahead of its rows of A, columns of B, and of its C */
    gt_long row;       /* in C, as an epilogue counts rows of products */
    int rows, cols;    /* of C, from there to the edges; rows 0: there is no such tile */
    int col, product;
};
/* Copies are at most STAGES - 1 tiles ahead of the one that is multiplied. Of the other
 * slots one is that of the tile before. The last one lets a barrier lie between the
 * announcement of a tile and its first copy. */
enum { TILE_ELEMS = 6, QUEUE = STAGES + 2 };
GT_STATIC_ASSERT(sizeof(struct tile) == TILE_ELEMS * sizeof(gt_ab), gt_tile_has_its_size);
GT_STATIC_ASSERT(STAGES * STAGE + QUEUE * TILE_ELEMS <= GT_SMEM_ELEMS, gt_queue_has_room);

/* x. The compiler does not know that it is x, so it computes anew what it knows of x
 * instead of keeping that in registers. */
GT_INLINE int anew(int x) {
    asm volatile("" : "+r"(x));
    return x;
}

/* The tiles that the block will copy slabs of. */
struct queue {
    const GT_GLOBAL gt_ab *a, *b; /* of the first product */
    const GT_SHARED struct tile *tile; /* QUEUE of them */
    int next;                          /* the one whose slabs come next */
    int depth;                         /* k, or 0 when no slab is read */
};
#endif

/* The source of a thread's copies. */
struct origin {
    const GT_GLOBAL gt_ab *a, *b;
    gt_long lda, ldb;
    int odd_a, odd_b;     /* shifts of even (bit 0) and odd rows of a slab */
    int rows, cols, left; /* of C and of k, from there to the edges */
#if GT_WALK
    struct queue tiles;
#endif
};

#if GT_WALK
/* When all slabs of a tile have been asked for, the next tile's come next, if there is
 * one. */
GT_INLINE void move_on(struct origin *from, int t) {
    struct queue *const q = &from->tiles;
    const GT_SHARED struct tile *const to = q->tile + q->next;
    if (from->left > 0 || to->rows == 0)
        return;
    q->next = q->next < QUEUE - 1 ? q->next + 1 : 0;
    t = anew(t);
    from->a = aim(COLS_A, VA, q->a + to->a, from->lda, t);
    from->b = aim(COLS_B, VB, q->b + to->b, from->ldb, t);
    from->odd_a = shift(q->a + to->a, from->lda, 0) + 2 * shift(q->a + to->a, from->lda, 1);
    from->odd_b = shift(q->b + to->b, from->ldb, 0) + 2 * shift(q->b + to->b, from->ldb, 1);
    from->rows = to->rows;
    from->cols = to->cols;
    from->left = q->depth;
}
#endif

/*
 * Starts to copy a piece of the next slab of A and of B, if there is one; the last piece
 * moves the pointers on. There are as many pieces as steps of multiplying the slab before.
 * A piece has few copies, so the compiler puts them between that step's multiplications. A
 * loop of many copies would go ahead of them.
 */
enum {
    COPIES_A = COPIES(ROWS_A, COLS_A, VA), COPIES_B = COPIES(ROWS_B, COLS_B, VB),
    PIECES = GT_MIN(STEPS, GT_CDIV(GT_MAX(COPIES_A, COPIES_B), 4)),
};

GT_INLINE void fetch_piece(int piece, struct origin *from, GT_SHARED gt_ab *stage, int t) {
#if GT_WALK
    if (piece == 0)
        move_on(from, t);
#endif
    if (from->left > 0) {
        fetch(COPIES_A * piece / PIECES, COPIES_A * (piece + 1) / PIECES, ROWS_A, COLS_A,
              VA, stage, LDA_S, from->a, from->lda, from->odd_a,
              A_ALONG ? from->rows : from->left, A_ALONG ? from->left : from->rows, t);
        fetch(COPIES_B * piece / PIECES, COPIES_B * (piece + 1) / PIECES, ROWS_B, COLS_B,
              VB, stage + SLAB_A, LDB_S, from->b, from->ldb, from->odd_b,
              B_ALONG ? from->cols : from->left, B_ALONG ? from->left : from->cols, t);
    }
    if (piece < PIECES - 1)
        return;
    GT_COPY_COMMIT();
    from->a += A_ALONG ? BK : BK * from->lda;
    from->b += B_ALONG ? BK : BK * from->ldb;
    from->left -= BK;
}

/* ---- operands of a warp ---- */

struct operands {
    gt_ab a[GM * HELD], b[GN * HELD];
};

/*
 * The k of a slab that a lane holds in square q. Two squares hold 0 1 2 3, 4 5 6 7, or with
 * ODD 0 2 4 6, 1 3 5 7, so that lanes that read together read rows of one shift. A and B
 * have the same order, so the sum is the same.
 */
GT_INLINE int k_of(int q, int lane) {
    return ODD ? q / 2 * 8 + lane % 4 * 2 + q % 2 : q * 4 + lane % 4;
}

/* The places where a lane reads squares. With ODD there is one for even and one for odd q;
 * otherwise 4 along a row, since the pattern repeats after 16 elements. */
struct places {
    int at[4];
};

/* The places for squares from (w0, k0) of the slabs of x on. */
GT_INLINE struct places places_of(int along, int stride, int w0, int k0,
                                  const GT_GLOBAL gt_ab *x, gt_long ld, int lane) {
    struct places p;
    GT_UNROLL
    for (int i = 0; i < 4; i++) {
        const int q = along || ODD ? i : 0;
        const int w = w0 + (along || ODD ? 0 : 8 * i) + lane / 4, k = k0 + k_of(q, lane);
        p.at[i] = along ? w * stride + ((k ^ swizzle(w)) + shift(x, ld, w))
                        : k * stride + ((w ^ swizzle(k)) + shift(x, ld, k));
    }
    return p;
}

/* The place of the square with number i along the width and q along k. */
GT_INLINE int square_at(int along, int stride, const struct places *p, int i, int q) {
    if (ODD)
        return p->at[q % 2] +
               (along ? q / 2 * 8 + i * 8 * stride : q / 2 * 8 * stride + i * 8);
    return along ? p->at[q % 4] + q / 4 * 16 + i * 8 * stride
                 : p->at[i % 2] + i / 2 * 16 + q * 4 * stride;
}

GT_INLINE void load(int along, int stride, int groups, gt_ab *f, const GT_SHARED gt_ab *s,
                    const struct places *p, int step) {
    GT_UNROLL
    for (int i = 0; i < groups; i++)
        GT_UNROLL
        for (int h = 0; h < HELD; h++)
            f[i * HELD + h] = s[square_at(along, stride, p, i, step * HELD + h)];
}

/* Loads a warp's operands of one step. */
GT_INLINE void load_step(struct operands *x, const GT_SHARED gt_ab *stage,
                         const struct places *in_a, const struct places *in_b, int step) {
    load(A_ALONG, LDA_S, GM, x->a, stage, in_a, step);
    load(B_ALONG, LDB_S, GN, x->b, stage + SLAB_A, in_b, step);
}

GT_INLINE void multiply(gt_acc *acc, const struct operands *x) {
    GT_UNROLL
    for (int q = 0; q < HELD; q += GT_INSTR_K / 4)
        GT_UNROLL
        for (int i = 0; i < GM; i += GT_INSTR_M / 8)
            GT_UNROLL
            for (int j = 0; j < GN; j++) {
                gt_acc *c = acc + 2 * (i * GN + j);
                mma(c, c + (GT_INSTR_M / 8 - 1) * 2 * GN, x->a + i * HELD + q,
                    x->a + (i + GT_INSTR_M / 8 - 1) * HELD + q, x->b + j * HELD + q);
            }
}

/* ---- the way out ---- */

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

#if GT_TAIL > 1
GT_FINISH_KERNEL(finish, BM, BN, GT_GROUP, GT_TAIL, GT_CAPACITY, workspace)
#endif

#if !GT_WALK
/* One tile, or a part of it; turns.h has the kernel for several. The loop over slabs stands
 * in both, since the compiler makes other code of it in a function, and the times of this
 * code have been measured. */
GT_KERNEL(gemm, GT_THREADS, 1, GT_MINB)(GT_PARAMS) {
    GT_SHARED_ARRAY(gt_ab, smem, GT_SMEM_ELEMS);
    GT_FOLLOW();
    GT_PRODUCT();
    GT_LEAD(PARTIAL && GT_FEW_SUMS(m, n, GT_LANES));
    const int t = GT_THREAD_X, lane = t % 32, warp = t / 32 % (T / 32 / SLICES);
    const int slice = t / (T / SLICES);
    const struct gt_work work = gt_work_of(GT_TAIL, GT_CAPACITY, SPLIT, GT_BLOCK,
                                           gt_cdiv(m, BM) * gt_cdiv(n, BN));
    int row0, col0;
    gt_tile_place(&row0, &col0, work.tile, BM, BN, GT_GROUP, m, n);
    const int rows = m - row0, cols = n - col0; /* of C, from the tile to its edges */
    const int w_m = warp / (BN / WN) * WM, w_n = warp % (BN / WN) * WN;

    /* This block's part of k: whole slabs, except for the last. */
    const int depth = alpha == (gt_acc)0 ? 0 : k; /* alpha 0: A and B are not read */
    int first;
    const int slabs = gt_work_slabs(&work, gt_cdiv(depth, BK), &first);
    const gt_long k0 = first * (gt_long)BK;
    struct origin from = {
        aim(COLS_A, VA, a + (A_ALONG ? row0 * lda + k0 : k0 * lda + row0), lda, t),
        aim(COLS_B, VB, b + (B_ALONG ? col0 * ldb + k0 : k0 * ldb + col0), ldb, t),
        lda, ldb, shift(a, lda, 0) + 2 * shift(a, lda, 1),
        shift(b, ldb, 0) + 2 * shift(b, ldb, 1),
        rows, cols, (int)GT_MIN(depth - k0, slabs * (gt_long)BK)};
    const int slice_k = slice * (BK / SLICES);
    const struct places in_a = places_of(A_ALONG, LDA_S, w_m, slice_k, a, lda, lane);
    const struct places in_b = places_of(B_ALONG, LDB_S, w_n, slice_k, b, ldb, lane);

    gt_acc acc[2 * GM * GN];
    struct operands now, next;
    GT_UNROLL
    for (int e = 0; e < 2 * GM * GN; e++)
        acc[e] = 0;

    GT_UNROLL_BY(1)
    for (int s = 0; s < STAGES - 1; s++)
        GT_UNROLL
        for (int piece = 0; piece < PIECES; piece++)
            fetch_piece(piece, &from, smem + s * STAGE, t);
    int reading = 0, writing = (STAGES - 1) * STAGE;
    if (GT_AHEAD) {
        GT_COPY_WAIT(STAGES - 2);
        GT_BARRIER();
        load_step(&now, smem, &in_a, &in_b, 0);
    }
    GT_UNROLL_BY(1)
    for (int s = 0; s < slabs; s++) {
        const int after = reading + STAGE < STAGES * STAGE ? reading + STAGE : 0;
        if (!GT_AHEAD) {
            GT_COPY_WAIT(STAGES - 2);
            GT_BARRIER(); /* the slab is there, and the one before it has been read */
        }
        if (PIECES == 1) /* few enough to stand between the multiplications */
            fetch_piece(0, &from, smem + writing, t);
        GT_UNROLL
        for (int step = 0; step < STEPS; step++) {
            if (PIECES > 1 && step < PIECES)
                fetch_piece(step, &from, smem + writing, t);
            if (!GT_AHEAD) {
                load_step(&now, smem + reading, &in_a, &in_b, step);
            } else if (step < STEPS - 1) {
                load_step(&next, smem + reading, &in_a, &in_b, step + 1);
            } else { /* operands loaded after the last slab are not used */
                GT_COPY_WAIT(STAGES - 2);
                GT_BARRIER(); /* as above: this slab's operands are all in registers */
                load_step(&next, smem + after, &in_a, &in_b, 0);
            }
            multiply(acc, &now);
            if (GT_AHEAD)
                now = next;
        }
        writing = reading;
        reading = after;
    }

    GT_LEAD(PARTIAL);
    const int partial = PARTIAL || (GT_TAIL && work.parts > 1);
    struct target to = {c + row0 * ldc + col0,
                        ldc,
                        rows,
                        cols,
                        partial ? (gt_acc)1 : alpha,
                        partial ? (gt_acc)0 : beta,
                        gt_aligned(2, c, ldc)};
    if (PARTIAL) {
        to.c = (GT_GLOBAL gt_c *)workspace + ((gt_long)work.part * m + row0) * n + col0;
        to.ld = n;
        to.aligned = gt_aligned(2, workspace, n);
    } else if (partial) {
        to.c = (GT_GLOBAL gt_c *)workspace + gt_work_place(&work, work.part, BM, BN);
        to.ld = to.cols = BN;
        to.rows = BM;
        to.aligned = 1;
    }
    if (GATHER) {
        GT_BARRIER(); /* the last slab has been read */
        put(smem + slice * BM * LDT, acc, w_m, w_n, lane);
        GT_CLUSTER_BARRIER(CLUSTER > 1);
        gather(&to, smem, CLUSTER > 1 ? work.part : 0,
               t GT_PLACE(partial ? GT_PARTIAL_ROW : row0, col0));
        if (CLUSTER > 1)
            GT_CLUSTER_BARRIER(1); /* until the other blocks have read */
    } else {
        store(&to, acc, w_m, w_n,
              lane GT_PLACE(partial ? GT_PARTIAL_ROW : row0, col0));
    }
}
#endif

#if GT_PARTIAL
GT_REDUCE_KERNEL(reduce, GT_SPLIT, GT_LANES, workspace)
#endif
