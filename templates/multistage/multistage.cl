/* SPDX-License-Identifier: Apache-2.0 */
/*
 * multistage - like `block`, a tile of C of BM x BN in registers, but slabs of A and B go
 * straight from global to shared memory by asynchronous copies, STAGES slabs ahead. Copies
 * on their way need no registers, so a thread's patch of C may be as large as 16 x 8, and
 * up to nine tenths of the issued instructions are multiply-adds. The family for sm_80 and
 * later; elsewhere the copies are plain ones.
 *
 * C[m,n] = alpha op(A) op(B) + beta C, row-major.
 *
 *      stage 0        1        2   ...      in shared memory, k outermost:
 *     +--------+ +--------+ +--------+
 *     | A [BK] | | A      | | A      |          A [BK][BM + 4]    B [BK][BN + 4]
 *     | B [BK] | | B      | | B      |
 *     +--------+ +--------+ +--------+      slab s lies in stage s % STAGES; while it is
 *        read      coming     coming        multiplied, STAGES - 1 more are coming.
 *
 * There is one barrier a slab. After it stage s - 1 is free, because all threads have read
 * it. And slab s is there, because each thread has waited for its own copies before.
 *
 * SLICES teams of threads compute the same tile, each from its own part of every slab, and
 * add up in shared memory: for matrices with too few tiles to fill the device.
 *
 * SPLIT blocks compute the same tile, each from its own part of k: for a long k. They leave
 * their sums in the workspace, where a second kernel adds them, or they are a CLUSTER and
 * add up in each other's shared memory.
 *
 * FOLD > 1 is for problems with row_order: one block adds up FOLD parts of k as that many
 * blocks of SPLIT would. It sums a part in its accumulators, adds them to a second set of
 * registers, and begins the next part with zeros. So a product of many rows has the bits of
 * a product of few rows, for which SPLIT is fast.
 *
 * An operand that is contiguous along k must be transposed. With REPACK 1 a kernel does
 * that beforehand, once, into the workspace, so that all copies have 16 bytes. With REPACK
 * 2 it also copies operands that need no transposing, so that their rows are aligned. It
 * costs as much as reading and writing the operand, which is little for large matrices.
 *
 * With STREAM, all blocks take equal shares of all slabs of all tiles, STREAM blocks a
 * multiprocessor. A share may begin or end within a tile, so no multiprocessor waits for
 * the last tiles. Sums of incomplete tiles go to the workspace, where a second kernel adds
 * them up. (Osama, Merrill, Cecka, Garland, Owens: Stream-K, 2023.)
 *
 * BM BN     tile of C                    BK        depth of a slab
 * TM TN     patch of a thread            STAGES    slabs in shared memory
 * SLICES    parts of a slab, a team each SPLIT     parts of k, a block each
 * CLUSTER   1: the SPLIT blocks are a cluster (sm_90)
 * STREAM    blocks a multiprocessor that share all slabs of all tiles; 0: a tile a block
 * FOLD      parts of k that one block sums one after the other, and adds up as a split of k
 *           would
 * VA VB     elements in a copy of A, of B. An operand that is contiguous along k is
 *           transposed by copies of 1, and keeps its order in copies of 16 bytes
 * ORDER     of the multiply-adds: 0 by rows, 1 by columns, 2 by pairs of rows. The products
 *           are the same; compilers allocate registers well for one or the other
 * REPACK    operands in the workspace: 0 none, 1 those that need transposing, 2 both
 * MINB      blocks that must fit a multiprocessor: limits the registers
 * GROUP     rows of tiles that are walked together, for the L2 cache
 *
 * gemmtune trial f32-tn-4096x4096x4096 --family multistage --point
 *  "BM=256 BN=128 BK=8 TM=16 TN=8 STAGES=4 SLICES=1 SPLIT=1 CLUSTER=0 STREAM=0
 *   FOLD=1 VA=4 VB=4 ORDER=0 REPACK=0 MINB=1 GROUP=8"
 *
 * Method: Kerr, Merrill, Demouth, Tran, CUTLASS: fast linear algebra in CUDA C++ (2017),
 * and the multistage pipelines that sm_80 added to it.
 */

enum {
    BM = GT_BM, BN = GT_BN, BK = GT_BK, TM = GT_TM, TN = GT_TN, T = GT_THREADS,
    STAGES = GT_STAGES, SLICES = GT_SLICES, SPLIT = GT_SPLIT, CLUSTER = GT_CLUSTER,
    PARTIAL = GT_PARTIAL, /* a block's sums are parts, not C yet */
    STREAM = GT_STREAM, BLOCKS = GT_STREAMERS + !GT_STREAM,
    VA = GT_VA, VB = GT_VB,
    TEAM = T / SLICES, DEEP = BK / SLICES, /* of a team: threads, and its k of every slab */
    KU = GT_KU,                            /* unrolled steps of k: an even number */
    KV = GT_KV,                            /* values of k in a move from shared memory */
    PACK_A = GT_PACK_A, PACK_B = GT_PACK_B,
    A_ALONG = GT_A_ALONG, B_ALONG = GT_B_ALONG, /* whether memory is contiguous along k */
    A_ASIS = GT_A_ASIS, B_ASIS = GT_B_ASIS,     /* and is so in shared memory too */
    LDA_S = GT_LDA_S, LDB_S = GT_LDB_S,         /* length of a slab's row */
    SLAB_A = (A_ASIS ? BM : BK) * LDA_S, STAGE = GT_STAGE_ELEMS,
    PM = A_ASIS ? 1 : GT_PIECE(TM), PN = B_ASIS ? 1 : GT_PIECE(TN),
    TY = BM / TM, TX = BN / TN, /* threads of a team along m and n */
    LX = GT_LANES_X(TY, TX), LY = GT_LANES_Y(TY, TX),
    /* Registers for operands: KV steps of k of an operand as it is; otherwise one step and
     * the next. */
    FA = A_ASIS ? KV : 2, FB = B_ASIS ? KV : 2,
    /* An operand as it is is loaded again row by row, after its last use. The order of the
     * multiply-adds decides for which of the two operands that works. */
    RENEW_A = A_ASIS && GT_ORDER == 0,
    RENEW_B = B_ASIS && GT_ORDER == 1
};

/* Loads an operand's part of the patch from the slab at s, where the patch begins: one k to
 * `place` 0 or 1, or k to k + KV - 1. */
GT_INLINE void load(int asis, int count, int piece, int lanes, gt_ab *f,
                    const GT_SHARED gt_ab *s, int stride, int k, int place) {
    if (asis) {
        GT_UNROLL
        for (int i = 0; i < count; i++)
            gt_load_shared(KV, f + i * KV, s + i * lanes * stride + k);
    } else {
        gt_patch_load(count, piece, lanes, f + place * count, s + k * stride);
    }
}

/* The place of element i for k. */
GT_INLINE int at(int asis, int count, int i, int k) {
    return asis ? i * KV + k % KV : k % 2 * count + i;
}

/* acc += the patch's product for k. next_a and next_b: the patch's beginning in the slabs,
 * KV further along k. */
GT_INLINE void multiply(gt_acc *acc, gt_ab *fa, gt_ab *fb, int k,
                        const GT_SHARED gt_ab *next_a, const GT_SHARED gt_ab *next_b) {
    GT_UNROLL
    for (int s = 0; s < TM * TN; s++) {
        const int i = gt_order_row(GT_ORDER, TM, TN, s);
        const int j = gt_order_column(GT_ORDER, TM, TN, s);
        acc[i * TN + j] = gt_multiply_add(fa[at(A_ASIS, TM, i, k)],
                                          fb[at(B_ASIS, TN, j, k)], acc[i * TN + j]);
        if (RENEW_A && k % KV == KV - 1 && s % TN == TN - 1)
            gt_load_shared(KV, fa + i * KV, next_a + i * LY * LDA_S);
        if (RENEW_B && k % KV == KV - 1 && s % TM == TM - 1)
            gt_load_shared(KV, fb + j * KV, next_b + j * LX * LDB_S);
    }
}

/* Adds the sums at s of all teams of this block, and with CLUSTER of all blocks of the
 * cluster, in a fixed order, and stores them. Each team of each block has some pieces of
 * the patch. c points to the patch's first element; rows x cols exist from there. */
GT_INLINE void store_sums(GT_GLOBAL gt_c *c, gt_long ldc, gt_acc alpha,
                          const GT_SHARED gt_acc *s, gt_acc beta, int inside, int rows,
                          int cols, int part, int slice GT_PLACE_PARAMS) {
    enum { TEAMS = (CLUSTER ? SPLIT : 1) * SLICES };
    const struct gt_side down = gt_side_of(PM, LY), along = gt_side_of(PN, LX);
    GT_UNROLL_BY(1)
    for (int p = CLUSTER ? part * SLICES + slice : slice; p < TM * TN / PN; p += TEAMS) {
        const int i = p / (TN / PN), j = p % (TN / PN) * PN;
        const int row = gt_side_at(&down, i), col = gt_side_at(&along, j);
        const int end = row < rows ? cols - col : 0;
        GT_GLOBAL gt_c *const at = c + row * ldc + col;
        gt_acc sum[PN];
        gt_c old[PN];
        GT_UNROLL
        for (int e = 0; e < PN; e++)
            sum[e] = 0;
        GT_UNROLL_BY(4)
        for (int of = 0; of < TEAMS; of++)
            GT_UNROLL
            for (int e = 0; e < PN; e++)
                sum[e] += gt_cluster_load(
                    CLUSTER, s + (of % SLICES * TM * TN + i * TN + j + e) * TEAM,
                    of / SLICES);
        if (inside) {
            gt_load_c(PN, old, at, beta, 1, 0, end);
            gt_store_row(PN, at, alpha, sum, beta, old, 1, 0,
                         end GT_PLACE(gt_i + row, gt_j + col));
        } else {
            gt_load_c(PN, old, at, beta, 0, 0, end);
            gt_store_row(PN, at, alpha, sum, beta, old, 0, 0,
                         end GT_PLACE(gt_i + row, gt_j + col));
        }
    }
}

/* The workspace has op(A) and op(B) where they are packed, then sums. The same code stores
 * sums there and to C. */
#define PACKED_OPERANDS ((GT_GLOBAL gt_ab *)workspace)
#define SUMS ((GT_GLOBAL gt_acc *)(PACKED_OPERANDS + GT_PACKED_A + GT_PACKED_B))
GT_STATIC_ASSERT(GT_NUMBER(GT_TYPE_C) == GT_NUMBER(GT_TYPE_ACC), sums_are_stored_as_C_is);

#if GT_REPACK
GT_PACK_KERNEL(repack, PACK_A, PACK_B, GT_PACKED_A)
#endif

#if GT_PARTIAL
GT_REDUCE_KERNEL(reduce, GT_SPLIT, GT_LANES, SUMS)
#endif

/* Block b's first slab, in the sequence of all slabs of all tiles. */
GT_INLINE gt_long begins(int b, int tiles, int per) {
    return (gt_long)tiles * per * b / BLOCKS;
}

/* The place of block b's partial sums of the tile that it began (1) or ended (0). */
#define UNDONE(b, begun) (SUMS + ((gt_long)(b)*2 + (begun)) * BM * BN)

#if GT_STREAM
/* Adds up the tiles that several blocks have computed. */
GT_KERNEL(finish, GT_FINISH_THREADS, 1, 1)(GT_PARAMS) {
    GT_FOLLOW();
    GT_PRODUCT();
    enum { PARTS = GT_FINISHERS, EACH = BM * BN / (GT_FINISH_THREADS * PARTS) };
    const int tiles = gt_cdiv(m, BM) * gt_cdiv(n, BN);
    const int per = GT_MAX(1, gt_cdiv(alpha == (gt_acc)0 ? 0 : k, BK));
    const int second = GT_BLOCK / PARTS + 1; /* the block that continued the tile */
    const gt_long from = begins(second, tiles, per);
    const int tile = from / per;
    const gt_long end = (tile + 1) * (gt_long)per;
    if (from % per == 0 || begins(second - 1, tiles, per) > (gt_long)tile * per)
        return; /* no tile is split there, or an earlier block has it */
    const int e = (GT_BLOCK % PARTS * GT_FINISH_THREADS + GT_THREAD_X) * EACH;
    gt_acc sum[EACH], more[EACH];
    gt_load_global_acc(EACH, sum, UNDONE(second - 1, 1) + e);
    gt_long at = from;
    for (int next = second; at < end; next++) {
        const gt_long then = begins(next + 1, tiles, per);
        if (at < then) { /* a block without a share has left no sums */
            gt_load_global_acc(EACH, more, UNDONE(next, 0) + e);
            GT_UNROLL
            for (int i = 0; i < EACH; i++)
                sum[i] += more[i];
        }
        at = then;
    }
    int row0, col0;
    gt_tile_place(&row0, &col0, tile, BM, BN, GT_GROUP, m, n);
    const int row = row0 + e / BN, col = col0 + e % BN;
    GT_UNROLL
    for (int i = 0; i < EACH; i++)
        if (row < m && col + i < n)
            gt_store_c(c + row * ldc + col + i, alpha, sum[i],
                       beta GT_PLACE(row, col + i));
}
#endif

/* On OpenCL a slot without rows goes on (batch.h). It is no divisor. */
#if GT_OPENCL
#define DIVISOR(tiles) GT_MAX(1, tiles)
#else
#define DIVISOR(tiles) tiles
#endif

GT_KERNEL(gemm, GT_THREADS, 1, GT_FIT)(GT_PARAMS) {
    GT_SHARED_ARRAY(gt_ab, smem, GT_SMEM / GT_SIZEOF_A);
    GT_FOLLOW();
    GT_PRODUCT();
    GT_LEAD(PARTIAL && GT_FEW_SUMS(m, n, GT_LANES));
    if (PACK_A) {
        a = PACKED_OPERANDS;
        lda = GT_PACK_ROW(m);
    }
    if (PACK_B) {
        b = PACKED_OPERANDS + GT_PACKED_A;
        ldb = GT_PACK_ROW(n);
    }
    const int t = GT_THREAD_X, slice = t / TEAM, tt = t % TEAM;
    const int tiles = gt_cdiv(m, BM) * gt_cdiv(n, BN);
    const int part = CLUSTER ? GT_BLOCK % SPLIT : GT_BLOCK / DIVISOR(tiles);
    const int all = alpha == (gt_acc)0 ? 0 : k;      /* alpha 0: A and B are not read */
    const int per = GT_MAX(1, gt_cdiv(all, BK));      /* slabs of a tile */
    const int share = gt_cdiv(per, SPLIT);            /* slabs of a part */
    gt_long at = STREAM ? begins(GT_BLOCK, tiles, per) : 0;
    const gt_long end = STREAM ? begins(GT_BLOCK + 1, tiles, per) : 0;
    if (STREAM && at == end)
        return;

    const int ay = gt_patch_row(TY, TX, TM, PM, tt); /* the patch's first row and column */
    const int bx = gt_patch_column(TY, TX, TN, PN, tt);
    const int to_a = gt_slab_to(A_ALONG, A_ASIS, BM, BK, VA, T, LDA_S, t);
    const int to_b = gt_slab_to(B_ALONG, B_ASIS, BN, BK, VB, T, LDB_S, t) + SLAB_A;
    /* The place in a stage's slabs where the patch and this team's part of k begin. */
    const int of_a = ay * (A_ASIS ? LDA_S : 1) + slice * DEEP * (A_ASIS ? 1 : LDA_S);
    const int of_b =
        bx * (B_ASIS ? LDB_S : 1) + slice * DEEP * (B_ASIS ? 1 : LDB_S) + SLAB_A;
    a += gt_slab_from(A_ALONG, BM, BK, VA, T, lda, t);
    b += gt_slab_from(B_ALONG, BN, BK, VB, T, ldb, t);

    do {
        const int tile = STREAM    ? at / per
                         : CLUSTER ? GT_BLOCK / SPLIT
                                   : GT_BLOCK % DIVISOR(tiles);
        const int first = STREAM ? at % per : part * share; /* the block's first slab */
        const int slabs = STREAM ? GT_MIN(per - first, end - at)
                                 : GT_MAX(0, GT_MIN(per - first, share));
        const int depth = all - first * BK;
        int row0, col0, rows, cols; /* of C: the tile's first; from there to the edges */
        gt_tile_place(&row0, &col0, tile, BM, BN, GT_GROUP, m, n);
        rows = m - row0;
        cols = n - col0;
        at += slabs;
        const int inside = rows >= BM && cols >= BN;
        const GT_GLOBAL gt_ab *pa =
            a + (A_ALONG ? row0 * lda + first * BK : row0 + first * BK * lda);
        const GT_GLOBAL gt_ab *pb =
            b + (B_ALONG ? col0 * ldb + first * BK : col0 + first * BK * ldb);
        gt_acc acc[TM * TN];
        gt_ab fa[FA * TM], fb[FB * TN];
        GT_UNROLL
        for (int e = 0; e < TM * TN; e++)
            acc[e] = 0;
#if GT_FOLD > 1
        const int fold = gt_cdiv(per, GT_FOLD); /* slabs of a part */
        int left = fold;
        gt_acc sum[TM * TN];
        GT_UNROLL
        for (int e = 0; e < TM * TN; e++)
            sum[e] = 0;
#endif

/* Starts to copy slab s, if there is one, to `stage`, and moves pa and pb on. */
#define COPY(stage, rest, whole)                                                           \
    gt_slab_copy(A_ALONG, A_ASIS, BM, BK, VA, T, smem + (stage) * STAGE + to_a, LDA_S, pa, \
                 lda, rows, rest, whole, t);                                               \
    gt_slab_copy(B_ALONG, B_ASIS, BN, BK, VB, T, smem + (stage) * STAGE + to_b, LDB_S, pb, \
                 ldb, cols, rest, whole, t)
#define FETCH(s, stage)                                                                    \
    if ((s) < slabs) {                                                                     \
        const int rest = depth - (s) * BK;                                                 \
        if (inside && rest >= BK) {                                                        \
            COPY(stage, rest, 1);                                                          \
        } else {                                                                           \
            COPY(stage, rest, 0);                                                          \
        }                                                                                  \
        pa += A_ALONG ? BK : BK * lda;                                                     \
        pb += B_ALONG ? BK : BK * ldb;                                                     \
    }                                                                                      \
    GT_COPY_COMMIT()
/* After it the next slab is there for all threads, and the stage before it is free. */
#define TURN()                                                                             \
    GT_COPY_WAIT(STAGES - 2);                                                              \
    GT_BARRIER()

        GT_UNROLL
        for (int s = 0; s < STAGES - 1; s++) {
            FETCH(s, s);
        }
        TURN();
        int now = 0, free = STAGES - 1; /* stages: of this slab; of the slab fetched next */
        load(A_ASIS, TM, PM, LY, fa, smem + of_a, LDA_S, 0, 0);
        load(B_ASIS, TN, PN, LX, fb, smem + of_b, LDB_S, 0, 0);
        GT_UNROLL_BY(1)
        for (int s = 0; s < slabs; s++) {
            FETCH(s + STAGES - 1, free);
            const int next = now + 1 == STAGES ? 0 : now + 1;
            const GT_SHARED gt_ab *const sa = smem + now * STAGE + of_a;
            const GT_SHARED gt_ab *const sb = smem + now * STAGE + of_b;
            const GT_SHARED gt_ab *const next_a = smem + next * STAGE + of_a;
            const GT_SHARED gt_ab *const next_b = smem + next * STAGE + of_b;
            GT_UNROLL_BY(1)
            for (int k0 = 0; k0 < DEEP; k0 += KU)
                GT_UNROLL
                for (int u = 0; u < KU; u++) {
                    const int last = u + 1 == KU && k0 + KU == DEEP;
                    const int k = k0 + u, then = last ? 0 : k + 1;
                    const GT_SHARED gt_ab *const from_a = last ? next_a : sa;
                    const GT_SHARED gt_ab *const from_b = last ? next_b : sb;
                    if (last) {
                        TURN(); /* operands loaded after the last slab are not used */
                    }
                    if (!A_ASIS)
                        load(0, TM, PM, LY, fa, from_a, LDA_S, then, (u + 1) % 2);
                    if (!B_ASIS)
                        load(0, TN, PN, LX, fb, from_b, LDB_S, then, (u + 1) % 2);
                    multiply(acc, fa, fb, u, from_a + then, from_b + then);
                    if (A_ASIS && !RENEW_A && (u + 1) % KV == 0)
                        load(1, TM, PM, LY, fa, from_a, LDA_S, then, 0);
                    if (B_ASIS && !RENEW_B && (u + 1) % KV == 0)
                        load(1, TN, PN, LX, fb, from_b, LDB_S, then, 0);
                }
            free = now;
            now = next;
#if GT_FOLD > 1
            /* The sum begins with 0, as the sums of reduce.h and of a cluster do: a first
             * part of -0 becomes +0. */
            if (--left == 0) {
                left = fold;
                GT_UNROLL
                for (int e = 0; e < TM * TN; e++) {
                    sum[e] += acc[e];
                    acc[e] = (gt_acc)0;
                }
            }
#endif
        }
#if GT_FOLD > 1
        GT_UNROLL
        for (int e = 0; e < TM * TN; e++)
            acc[e] = sum[e];
#endif

        GT_LEAD(PARTIAL);
        /* The sum of a part of k goes to the workspace. */
        const int partial = PARTIAL || (STREAM && slabs < per);
        GT_GLOBAL gt_c *out = c + row0 * ldc + col0;
        gt_long ld = ldc;
        if (PARTIAL) {
            out = (GT_GLOBAL gt_c *)(SUMS + part * (gt_long)m * n);
            out += row0 * (gt_long)n + col0;
            ld = n;
        } else if (partial) {
            out = (GT_GLOBAL gt_c *)UNDONE(GT_BLOCK, first == 0);
            ld = cols = BN;
            rows = BM;
        }
        out += ay * ld + bx;
        const gt_acc by = partial ? (gt_acc)1 : alpha, old = partial ? (gt_acc)0 : beta;
        const int inside_c = rows >= BM && cols >= BN && gt_aligned(PN, out, ld);
        if (SLICES > 1 || CLUSTER) {
            GT_SHARED gt_acc *const sums = (GT_SHARED gt_acc *)smem;
            GT_BARRIER(); /* the stages are free */
            GT_UNROLL
            for (int e = 0; e < TM * TN; e++)
                sums[(slice * TM * TN + e) * TEAM + tt] = acc[e];
            GT_CLUSTER_BARRIER(CLUSTER);
            store_sums(out, ld, by, sums + tt, old, inside_c, rows - ay, cols - bx, part,
                       slice GT_PLACE(partial ? GT_PARTIAL_ROW : row0 + ay, col0 + bx));
            if (CLUSTER)
                GT_CLUSTER_BARRIER(1); /* until the other blocks have read */
        } else if (inside_c) {
            gt_patch_store(TM, TN, gt_side_of(PM, LY), gt_side_of(PN, LX), out, ld,
                           by, acc, old, 1, rows - ay,
                           cols - bx GT_PLACE(partial ? GT_PARTIAL_ROW : row0 + ay,
                                              col0 + bx));
        } else {
            gt_patch_store(TM, TN, gt_side_of(PM, LY), gt_side_of(PN, LX), out, ld,
                           by, acc, old, 0, rows - ay,
                           cols - bx GT_PLACE(partial ? GT_PARTIAL_ROW : row0 + ay,
                                              col0 + bx));
        }
        if (STREAM)
            GT_BARRIER(); /* the stages are free */
    } while (STREAM && at < end);
}
