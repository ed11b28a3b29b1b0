/* SPDX-License-Identifier: Apache-2.0 */
/*
 * skinny - products with a short side: C has few rows or few columns. The large operand, W,
 * is streamed from memory once, with as many bytes on their way as possible, and the small
 * one, X, beside it. Slabs of both go straight to shared memory by asynchronous copies,
 * STAGES - 1 slabs ahead of the slab that is multiplied.
 *
 * C[m,n] = alpha op(A) op(B) + beta C, row-major.
 *
 * SIDE 0: few rows, W is B and X is A. SIDE 1: few columns, W is A and X is B. Both are
 * out[w][s] = sum of W[w][k] X[s][k], w along the long side and s along the short one.
 *
 *              k ->                          s ->      A block owns TILE = G x R rows of W,
 *     +-----+-----+-----+--+             +---+         S of X, and part i of SPLIT of k,
 *   w |     |     |     |  |           w |   |         which it walks slab by slab, DEEP =
 *     |   G x R   |     |..|             | C |         U x STEP of k each. Its threads are
 *     |     |     |     |  |             |   |         G groups of LANES: a group owns R
 *     +-----+-----+-----+--+             +---+         rows of W, its lanes share out every
 *      slab                                S           STEP of k among themselves, KV each,
 *     +-----+-----+-----+--+                           and their R x S sums are added up in
 *   s |           X        | S                         shared memory at the end.
 *     +-----+-----+-----+--+
 *
 * In shared memory W has the order of memory. X is transposed on its way where necessary,
 * so that it is not contiguous along the direction in which W is. Otherwise, of two vectors
 * of KV along k, the elements that are multiplied with each other would lie in one register
 * bank. (Elements of 16 and 8 bits are converted to other registers, so their X is always
 * contiguous along k.) A thread reads 16 bytes at a time from shared memory, for any
 * alignment of the matrices, and each vector of X serves KV x R multiply-adds. Neighbouring
 * threads belong to different groups, so that a warp reads one or few vectors of X at a
 * time.
 *
 * STAGES 1: no slabs, where W is contiguous along k. With very few rows of X hardly
 * anything is used twice, so each thread reads its vectors of W and X to registers, and no
 * thread waits for another before the sums. All U x R vectors of W of a turn are on their
 * way before the first is used. Neighbouring threads are lanes of one group: they read
 * neighbours in memory.
 *
 * SIDE   which side is short               STAGES slabs in shared memory; 1: none
 * S R    rows of X, of W of a thread       LANES THREADS  threads a group, a block
 * V VX   elements in a copy of W, of X     MINB  blocks that must fit a multiprocessor
 * U      steps a slab or turn              SPLIT parts of k, a block each: up to 8 are a
 *                                                cluster and add up in each other's shared
 *                                                memory (sm_90); others leave their sums in
 *                                                the workspace, and `reduce` adds them up
 *
 * gemmtune trial f32-nn-4096x1x4096 --family skinny --point
 *  "SIDE=1 S=1 R=4 V=4 VX=4 U=1 STAGES=4 LANES=32 THREADS=256 MINB=1 SPLIT=1"
 */

enum {
    S = GT_S, R = GT_R, V = GT_V, VX = GT_X_MOVES, U = GT_U, STAGES = GT_STAGES,
    T = GT_THREADS, LANES = GT_LANES, G = GT_GROUPS, TILE = GT_TILE,
    SPLIT = GT_SPLIT, CLUSTER = GT_CLUSTER,
    WK = GT_WK, XK = GT_XK,          /* whether W and X are contiguous along k in memory, */
    ALONG = GT_ALONG,                /* and X in shared memory */
    KV = GT_KV,                      /* elements in 16 bytes */
    PIECE = GT_PIECE_W,              /* adjacent rows of W of a thread */
    XS = ALONG ? 1 : KV,             /* rows of X that are read at once */
    STEP = LANES * KV, DEEP = GT_DEEP,
    WLD = GT_WLD, XLD = GT_XLD,      /* W: [TILE][WLD] where WK, or [DEEP][WLD]; X alike */
    SLAB_W = GT_SLAB_W, STAGE = GT_STAGE,
    SP = GT_SP, TLD = GT_TLD,        /* rows of X added up at once: [SP][TLD] sums */
    SUMS = GT_SUMS, RLD = GT_RLD,    /* sums of all lanes: [LANES][RLD] */
    FOLD = GT_FOLD,
    BLOCKS = CLUSTER ? SPLIT : 1     /* blocks that read each other's sums */
};

#define FROM_W(x) (GT_SIDE ? gt_from_a(x) : gt_from_b(x))
#define FROM_X(x) (GT_SIDE ? gt_from_b(x) : gt_from_a(x))

/* The place of row i of group g in the tile, and the place of row r's sum among those of a
 * lane. Groups are neighbours there, and no vector ties a sum to a register bank. */
#define ROW(g, i)  (((i) / PIECE * G + (g)) * PIECE + (i) % PIECE)
#define SUM_OF(r)  (((r) / (G * PIECE) * PIECE + (r) % PIECE) * G + (r) / PIECE % G)

/* The place of (row, k) of an operand. */
#define PLACE(along, row, k, ld) ((along) ? (row) * (ld) + (k) : (row) + (k) * (ld))

/* Starts to copy a slab; `rows` and `depth` of it exist, the rest becomes 0. */
GT_INLINE void fetch(int along, int asis, int wide, int v, GT_SHARED gt_ab *to, int stride,
                     const GT_GLOBAL gt_ab *from, gt_long ld, int rows, int depth, int t) {
    if (rows >= wide && depth >= DEEP)
        gt_slab_copy(along, asis, wide, DEEP, v, T, to, stride, from, ld, rows, depth, 1,
                     t);
    else
        gt_slab_copy(along, asis, wide, DEEP, v, T, to, stride, from, ld, rows, depth, 0,
                     t);
}

/* acc += W X over a slab. w and x point to the thread's first elements in it. */
GT_INLINE void multiply(gt_acc acc[S * R], const GT_SHARED gt_ab *w,
                        const GT_SHARED gt_ab *x) {
    GT_UNROLL_BY(GT_KU)
    for (int u = 0; u < U; u++) {
        gt_ab wr[R * KV], xr[XS * KV]; /* wr: [R][KV] where WK, else [KV][R]; xr alike */
        GT_UNROLL
        for (int i = 0; i < R * KV; i += WK ? KV : PIECE)
            gt_load_shared(WK ? KV : PIECE, wr + i,
                           WK ? w + ROW(0, i / KV) * WLD + u * STEP
                              : w + (u * STEP + i / R) * WLD + ROW(0, i % R));
        GT_UNROLL
        for (int s = 0; s < S; s += XS) {
            GT_UNROLL
            for (int v = 0; v < XS; v++)
                gt_load_shared(KV, xr + v * KV,
                               ALONG ? x + s * XLD + u * STEP
                                     : x + (u * STEP + v) * XLD + s);
            GT_UNROLL
            for (int v = 0; v < KV; v++)
                GT_UNROLL
                for (int i = 0; i < XS; i++)
                    GT_UNROLL
                    for (int e = 0; e < R; e++) {
                        const int j = i % 2 ? R - 1 - e : e; /* one operand stays */
                        acc[(s + i) * R + j] =
                            gt_fma(FROM_W(wr[WK ? j * KV + v : v * R + j]),
                                   FROM_X(xr[v * XS + i]), acc[(s + i) * R + j]);
                    }
        }
    }
}

/* A vector of KV elements along k to registers, in moves of `v`; `left` of them exist, the
 * rest becomes 0. `whole`: all exist. */
GT_INLINE void take(int whole, int v, gt_ab *to, const GT_GLOBAL gt_ab *from, int left) {
    GT_UNROLL
    for (int e = 0; e < KV; e += v) {
        if (whole || e + v <= left)
            gt_load_global(v, to + e, from + e);
        else
            GT_UNROLL
            for (int i = e; i < e + v; i++)
                to[i] = i < left ? from[i] : (gt_ab)0;
    }
}

/* A thread's part of row s of X at k. A row past the edge is the last one again. `whole`:
 * all of it exists, and `left` is not read. */
GT_INLINE void take_x(int whole, gt_ab to[KV], const GT_GLOBAL gt_ab *x, gt_long ldx,
                      int rows, int s, int k, int left) {
    const int row = S == 1 ? 0 : GT_MIN(s, rows - 1);
    if (XK) {
        take(whole, VX, to, x + row * ldx + k, left);
    } else {
        GT_UNROLL
        for (int v = 0; v < KV; v++)
            to[v] = whole || v < left ? x[(k + v) * ldx + row] : (gt_ab)0;
    }
}

/* acc += W X over `steps` steps of k without slabs; `left` of k exist. A row of W past the
 * edge is the last one again: its sums are not stored. `whole`: all exist, and `left` is
 * not read. */
GT_INLINE void stream(int steps, int whole, gt_acc acc[S * R], const GT_GLOBAL gt_ab *w,
                      gt_long ldw, int rows_w, int g, const GT_GLOBAL gt_ab *x, gt_long ldx,
                      int rows_x, int k, int left) {
    gt_ab wr[U * R * KV], xr[KV];
    GT_UNROLL
    for (int u = 0; u < steps; u++)
        GT_UNROLL
        for (int j = 0; j < R; j++)
            take(whole, V, wr + (u * R + j) * KV,
                 w + GT_MIN(ROW(g, j), rows_w - 1) * ldw + k + u * STEP, left - u * STEP);
    GT_UNROLL
    for (int u = 0; u < steps; u++)
        GT_UNROLL
        for (int s = 0; s < S; s++) {
            take_x(whole, xr, x, ldx, rows_x, s, k + u * STEP, left - u * STEP);
            GT_UNROLL
            for (int j = 0; j < R; j++)
                GT_UNROLL
                for (int v = 0; v < KV; v++)
                    acc[s * R + j] = gt_fma(FROM_W(wr[(u * R + j) * KV + v]), FROM_X(xr[v]),
                                            acc[s * R + j]);
        }
}

/* acc += W X over `depth` of k without slabs. A lane takes every LANES-th vector of k. */
GT_INLINE void stream_all(gt_acc acc[S * R], const GT_GLOBAL gt_ab *w, gt_long ldw,
                          int rows_w, int g, const GT_GLOBAL gt_ab *x, gt_long ldx,
                          int rows_x, int lane, int depth) {
    const int own = lane * KV;
    int k = 0;
    GT_UNROLL_BY(1)
    for (; k + DEEP <= depth; k += DEEP)
        stream(U, 1, acc, w, ldw, rows_w, g, x, ldx, rows_x, k + own, 0);
    GT_UNROLL_BY(1)
    for (k += own; k < depth; k += STEP)
        stream(1, 0, acc, w, ldw, rows_w, g, x, ldx, rows_x, k, depth - k);
}

/* Puts SP of the thread's S sums of each row, from s on, to the place where lanes are added
 * up. */
GT_INLINE void put_sums(GT_SHARED gt_acc *sums, const gt_acc acc[S * R], int s, int g,
                        int lane) {
    GT_UNROLL
    for (int i = 0; i < SP; i++)
        GT_UNROLL
        for (int j = 0; j < R; j++)
            sums[lane * RLD + i * TLD + j * G + g] = acc[(s + i) * R + j];
}

/* Sum e of lanes first, first + step, ... of `lanes`, added up. */
GT_INLINE gt_acc sum_of(const GT_SHARED gt_acc *sums, int e, int first, int step,
                        int lanes) {
    gt_acc sum = 0;
    GT_UNROLL_BY(8)
    for (int i = first; i < lanes; i += step)
        sum += sums[i * RLD + e];
    return sum;
}

/* Adds the sums of all lanes, in a fixed order, to those of the first. */
GT_INLINE void add_lanes(GT_SHARED gt_acc *sums, int t) {
    if (FOLD > 1) { /* few sums of many lanes: two steps */
        if (t < FOLD * SUMS)
            sums[t / SUMS * RLD + t % SUMS] = sum_of(sums, t % SUMS, t / SUMS, FOLD, LANES);
        GT_BARRIER(); /* the first step's sums are there */
    }
    GT_UNROLL_BY(1)
    for (int e = t; e < SUMS; e += T)
        sums[e] = sum_of(sums, e, 0, 1, FOLD > 1 ? FOLD : LANES);
}

#if GT_SPLIT > 1 && !GT_CLUSTER
GT_REDUCE_KERNEL(reduce, GT_SPLIT, GT_SUMMERS, workspace)
#endif

/* On OpenCL a slot without rows goes on (batch.h). It is no divisor. */
#if GT_OPENCL
#define DIVISOR(tiles) GT_MAX(1, tiles)
#else
#define DIVISOR(tiles) tiles
#endif

GT_KERNEL(gemm, GT_THREADS, 1, GT_MINB)(GT_PARAMS) {
    GT_SHARED_ARRAY(gt_ab, smem, GT_SMEM / GT_SIZEOF_A);
    GT_FOLLOW();
    GT_PRODUCT();
    const int t = GT_THREAD_X;
    /* Neighbouring threads read neighbours in memory, or the same vector of X in a slab. */
    const int g = STAGES == 1 ? t / LANES : t % G, lane = STAGES == 1 ? t % LANES : t / G;

    /* Blocks of one tile are neighbours; next come blocks that share rows of W. */
    const int wide = GT_SIDE ? m : n, narrow = GT_SIDE ? n : m;
    const int tiles_s = (narrow - 1) / S + 1;
    const int part = GT_BLOCK % SPLIT, tile = GT_BLOCK / SPLIT;
    const int s0 = tile % DIVISOR(tiles_s) * S, w0 = tile / DIVISOR(tiles_s) * TILE;
    const int rows_w = wide - w0, rows_x = narrow - s0; /* from the tile to the edges */

    /* Parts begin at the beginning of vectors and cache lines. */
    const int all = alpha == (gt_acc)0 ? 0 : k; /* alpha 0: A and B are not read */
    const int share = SPLIT == 1 ? all : gt_cdiv(gt_cdiv(all, 32), SPLIT) * 32;
    const int first = (int)GT_MIN(part * (gt_long)share, all);
    const int depth = GT_MIN(share, all - first), slabs = gt_cdiv(depth, DEEP);

    const gt_long ldw = GT_SIDE ? lda : ldb, ldx = GT_SIDE ? ldb : lda;
    const GT_GLOBAL gt_ab *w =
        (GT_SIDE ? a : b) + PLACE(WK, w0, first, ldw) +
        (STAGES > 1 ? gt_slab_from(WK, TILE, DEEP, V, T, ldw, t) : 0);
    const GT_GLOBAL gt_ab *x =
        (GT_SIDE ? b : a) + PLACE(XK, s0, first, ldx) +
        (STAGES > 1 ? gt_slab_from(XK, S, DEEP, VX, T, ldx, t) : 0);
#if GT_STAGES > 1
    const int to_w = gt_slab_to(WK, WK, TILE, DEEP, V, T, WLD, t);
    const int to_x = gt_slab_to(XK, ALONG, S, DEEP, VX, T, XLD, t) + SLAB_W;
    const int of_w = WK ? ROW(g, 0) * WLD + lane * KV : lane * KV * WLD + ROW(g, 0);
    const int of_x = lane * KV * (ALONG ? 1 : XLD) + SLAB_W;
#endif

    GT_SHARED gt_acc *const sums = (GT_SHARED gt_acc *)smem;
    gt_acc acc[S * R];
    GT_UNROLL
    for (int e = 0; e < S * R; e++)
        acc[e] = 0;

#if GT_STAGES == 1
    stream_all(acc, w, ldw, rows_w, g, x, ldx, rows_x, lane, depth);
#else
    /* Each turn fetches slab i and multiplies the one STAGES - 1 before it. */
    GT_UNROLL_BY(1)
    for (int i = 0, stage = 0; i < slabs + STAGES - 1; i++) {
        GT_COPY_WAIT(STAGES - 2);
        GT_BARRIER(); /* one more slab is there, and the one before it has been read */
        if (i < slabs) {
            GT_SHARED gt_ab *const to = smem + stage * STAGE;
            const int left = depth - i * DEEP;
            fetch(XK, ALONG, S, VX, to + to_x, XLD, x, ldx, rows_x, left, t);
            fetch(WK, WK, TILE, V, to + to_w, WLD, w, ldw, rows_w, left, t);
            x += PLACE(XK, 0, DEEP, ldx);
            w += PLACE(WK, 0, DEEP, ldw);
        }
        GT_COPY_COMMIT();
        stage = stage + 1 == STAGES ? 0 : stage + 1;
        if (i >= STAGES - 1)
            multiply(acc, smem + stage * STAGE + of_w, smem + stage * STAGE + of_x);
    }
#endif

    GT_UNROLL
    for (int s = 0; s < S; s += SP) {
        GT_CLUSTER_BARRIER(CLUSTER && s > 0); /* shared memory is free */
        put_sums(sums, acc, s, g, lane);
        GT_BARRIER(); /* the lanes' sums are there */
        add_lanes(sums, t);
        GT_CLUSTER_BARRIER(CLUSTER); /* the block's sums are there */
        GT_UNROLL_BY(1)
        for (int e = (CLUSTER ? part * T : 0) + t; e < SP * TILE; e += BLOCKS * T) {
            /* Neighbouring threads have neighbours in C. */
            const int i = GT_SIDE ? e % SP : e / TILE, j = GT_SIDE ? e / SP : e % TILE;
            const gt_long row = GT_SIDE ? w0 + j : s0 + s + i;
            const gt_long col = GT_SIDE ? s0 + s + i : w0 + j;
            gt_acc sum = 0;
            GT_UNROLL
            for (int of = 0; of < BLOCKS; of++)
                sum += gt_cluster_load(CLUSTER, sums + i * TLD + SUM_OF(j), of);
            if (s + i < rows_x && j < rows_w) {
                if (SPLIT > 1 && !CLUSTER)
                    workspace[(part * (gt_long)m + row) * n + col] = sum;
                else
                    gt_store_c(c + row * ldc + col, alpha, sum,
                               beta GT_PLACE(row, col));
            }
        }
    }
    if (CLUSTER)
        GT_CLUSTER_BARRIER(1); /* until the other blocks have read */
}
