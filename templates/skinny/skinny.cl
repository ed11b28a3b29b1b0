/* SPDX-License-Identifier: Apache-2.0 */
/*
 * skinny - products with a short side: C has few rows or few columns. The large operand, W,
 * is streamed from memory once, as many bytes on their way as possible; the small one, X,
 * comes from shared memory or from the caches.
 *
 * C[m,n] = alpha op(A) op(B) + beta C, row-major.
 *
 * SIDE 0: few rows, W is B and X is A. SIDE 1: few columns, W is A and X is B. Both are
 * out[w][s] = sum of W[w][k] X[s][k], w along the long side and s along the short one.
 *
 *              k ->                          s ->      A block owns TILE = G x R rows of W,
 *     +----------------------+             +---+       S of X, and slice i of SPLIT of k.
 *   w |      |       |       |           w |   |       Its threads are G groups of LANES: a
 *     |      | G x R |  ...  |             | C |       group owns R rows of W, its lanes
 *     |      |       |       |             |   |       share out k among themselves, and
 *     +----------------------+             +---+       their R x S sums are added up in
 *              LANES                       S           shared memory at the end.
 *     +----------------------+
 *   s |           X          | S     W contiguous along k: lanes lie along k, each loads V
 *     +----------------------+       of k from R rows. W contiguous along w: groups lie
 *                                    along w, each loads V of w, R / V times, for one k.
 *
 * SIDE   which side is short               XC  k of X in shared memory at a time; 0: none
 * S R    of X, of W a thread multiplies    VX  elements a global load of X
 * V      elements a global load of W       LANES THREADS  threads a group, a block
 * U      steps of k that are loaded        MINB  blocks that shall fit a multiprocessor
 *        before any is multiplied          SPLIT slices of k: more than one leave partial
 *                                                sums, which `reduce` adds up
 *
 * gemmtune trial f32-nn-4096x1x4096 --family skinny --point
 *  "SIDE=1 S=1 R=2 V=4 U=2 VX=1 XC=0 LANES=32 THREADS=256 MINB=1 SPLIT=1"
 */

enum {
    S = GT_S, R = GT_R, V = GT_V, U = GT_U, VX = GT_VX, XC = GT_XC,
    T = GT_THREADS, LANES = GT_LANES, G = T / LANES, TILE = GT_TILE,
    WK = GT_WK, XK = GT_XK, /* whether W, X are contiguous along k */
    KV = WK ? V : 1, RV = WK ? 1 : V, /* of k, of w in a vector of W */
    LOADS = R / RV,                   /* vectors of W a thread loads for one step */
    STEP = LANES * KV,                /* of k: what all lanes load at once */
    XS = WK ? 1 : GT_MIN(S, 4),       /* rows of X that are read at once */
    XLD = GT_XLD,                     /* X in shared memory: [S][XLD] where WK, else [k][XLD] */
    AHEAD = 4,                        /* vectors of X on their way to shared memory */
    XN = XK ? GT_MAX(XC, VX) / VX : GT_MAX(S, VX) / VX, /* vectors of X in a row of memory */
    SP = GT_SP, SUMS = SP * TILE,     /* of S, of sums that are added up at a time */
    RLD = GT_RLD,                     /* sums in shared memory: [LANES][RLD] */
    FOLD = GT_FOLD
};

/* Where row i of group g's rows lies in the tile. */
#define ROW(g, i) (((i) / RV * G + (g)) * RV + (i) % RV)

/* A matrix of rows along w or s, by columns along k, from where a block stands. */
struct view {
    const GT_GLOBAL gt_elem *x;
    gt_long row, k; /* distances */
    int rows;       /* that exist */
};

/* Rows s to s + XS - 1 of X, KV of k from k on. */
GT_INLINE void get_x(gt_elem *r, const GT_SHARED gt_elem *xs, const struct view *x, int s,
                     int k) {
    if (XC > 0) {
        gt_load_shared(WK ? KV : XS, r, xs + (WK ? s * XLD + k : k * XLD + s));
    } else {
        GT_UNROLL
        for (int i = 0; i < XS; i++)
            GT_UNROLL
            for (int v = 0; v < KV; v += VX)
                gt_load_global(VX, r + i * KV + v,
                               x->x + GT_MIN(s + i, x->rows - 1) * x->row + (k + v) * x->k);
    }
}

/* acc += W X for `steps` steps from k on. `at` aims at the thread's vectors of W at k 0. */
GT_INLINE void turn(int steps, gt_acc acc[S * R], const GT_GLOBAL gt_elem *const at[LOADS],
                    gt_long step_w, const GT_SHARED gt_elem *xs, const struct view *x,
                    int k) {
    gt_elem w[U * R * KV];
    GT_UNROLL
    for (int u = 0; u < steps; u++)
        GT_UNROLL
        for (int i = 0; i < LOADS; i++)
            gt_load_global(V, w + (u * LOADS + i) * V, at[i] + (k + u * STEP) * step_w);
    GT_UNROLL
    for (int u = 0; u < steps; u++)
        GT_UNROLL
        for (int s = 0; s < S; s += XS) {
            gt_elem r[XS * KV];
            get_x(r, xs, x, s, k + u * STEP);
            GT_UNROLL
            for (int i = 0; i < XS; i++)
                GT_UNROLL
                for (int j = 0; j < R; j++)
                    GT_UNROLL
                    for (int v = 0; v < KV; v++)
                        acc[(s + i) * R + j] = gt_fma(
                            w[(u * R + j) * KV + v], r[i * KV + v], acc[(s + i) * R + j]);
        }
}

/* The same for a single k, and for rows that hang over the edge: those repeat the last one
 * and are not stored. */
GT_INLINE void single(gt_acc acc[S * R], const GT_GLOBAL gt_elem *const at[LOADS],
                      const struct view *w, int g, const GT_SHARED gt_elem *xs,
                      const struct view *x, int k) {
    gt_elem r[R];
    GT_UNROLL
    for (int j = 0; j < R; j++) {
        const int past = GT_MAX(w->rows - 1 - ROW(g, j / RV * RV), 0);
        r[j] = at[j / RV][GT_MIN(j % RV, past) + k * w->k];
    }
    GT_UNROLL
    for (int s = 0; s < S; s++) {
        const gt_elem one = XC > 0 ? xs[WK ? s * XLD + k : k * XLD + s]
                                   : x->x[GT_MIN(s, x->rows - 1) * x->row + k * x->k];
        GT_UNROLL
        for (int j = 0; j < R; j++)
            acc[s * R + j] = gt_fma(r[j], one, acc[s * R + j]);
    }
}

/* acc += W X over `depth` of k. */
GT_INLINE void multiply(gt_acc acc[S * R], const GT_GLOBAL gt_elem *const at[LOADS],
                        const struct view *w, const GT_SHARED gt_elem *xs,
                        const struct view *x, int depth, int g, int lane) {
    int left = depth - lane * KV; /* counts down: up, it might overflow */
    if (RV == 1 || ROW(g, R - 1) < w->rows) {
        GT_UNROLL_BY(1) /* U says by how much */
        for (; left >= (U - 1) * STEP + KV; left -= U * STEP)
            turn(U, acc, at, w->k, xs, x, depth - left);
        GT_UNROLL_BY(1)
        for (; U > 1 && left >= KV; left -= STEP)
            turn(1, acc, at, w->k, xs, x, depth - left);
    }
    GT_UNROLL_BY(1)
    for (; left > 0; left -= WK ? 1 : STEP)
        single(acc, at, w, g, xs, x, depth - left);
}

/* Vector e of X: its first row, and its first k. Neighbours are neighbours in memory, or,
 * where k changes its place from innermost to outermost, in shared memory: a write there
 * costs as many turns as lanes meet in a bank, a read from memory ends in the L1 cache. */
GT_INLINE int part_s(int e) {
    return !XK ? e % XN * VX : WK ? e / XN : e % S;
}

GT_INLINE int part_k(int e) {
    return !XK ? e / XN : WK ? e % XN * VX : e / S * VX;
}

/* VX elements of X from s, k on. Past the end of k zeros, past the short side anything. */
GT_INLINE void fetch_x(gt_elem *r, const struct view *x, int s, int k, int depth) {
    if (XK ? k + VX <= depth : k < depth && s + VX <= x->rows) {
        gt_load_global(VX, r, x->x + GT_MIN(s, x->rows - 1) * x->row + k * x->k);
    } else {
        GT_UNROLL
        for (int v = 0; v < VX; v++) {
            const int there = GT_MIN(XK ? s : s + v, x->rows - 1), kv = XK ? k + v : k;
            r[v] = kv < depth ? x->x[there * x->row + kv * x->k] : (gt_elem)0;
        }
    }
}

GT_INLINE void put_x(GT_SHARED gt_elem *xs, const gt_elem *r, int s, int k) {
    if (WK == XK) {
        gt_store_shared(VX, xs + (WK ? s * XLD + k : k * XLD + s), r);
    } else {
        GT_UNROLL
        for (int v = 0; v < VX; v++)
            xs[WK ? (s + v) * XLD + k : (k + v) * XLD + s] = r[v];
    }
}

/* The next XC of k, of which `depth` exist, to shared memory. */
GT_INLINE void stage(GT_SHARED gt_elem *xs, const struct view *x, int depth, int t) {
    const int parts = S * XC / VX;
    GT_UNROLL_BY(1)
    for (int e = t; e < parts; e += AHEAD * T) {
        gt_elem r[AHEAD * VX];
        GT_UNROLL
        for (int i = 0; i < AHEAD; i++)
            if (e + i * T < parts)
                fetch_x(r + i * VX, x, part_s(e + i * T), part_k(e + i * T), depth);
        GT_UNROLL
        for (int i = 0; i < AHEAD; i++)
            if (e + i * T < parts)
                put_x(xs, r + i * VX, part_s(e + i * T), part_k(e + i * T));
    }
}

/* What lanes first, first + step, ... of `lanes` have for sum e. */
GT_INLINE gt_acc sum_of(const GT_SHARED gt_elem *sums, int e, int first, int step,
                        int lanes) {
    gt_acc sum = 0;
    GT_UNROLL_BY(8)
    for (int i = first; i < lanes; i += step)
        sum += sums[i * RLD + e];
    return sum;
}

/* Puts SP of the thread's S sums a row, from s on, where all lanes' are added up. */
GT_INLINE void put_sums(GT_SHARED gt_elem *sums, const gt_acc acc[S * R], int s, int g,
                        int lane) {
    GT_UNROLL
    for (int i = 0; i < SP; i++)
        GT_UNROLL
        for (int j = 0; j < R; j += RV)
            gt_store_shared(RV, sums + lane * RLD + i * TILE + ROW(g, j),
                            acc + (s + i) * R + j);
}

GT_KERNEL(gemm, GT_THREADS, 1, GT_MINB)
(int m, int n, int k, gt_elem alpha, const GT_GLOBAL gt_elem *GT_RESTRICT a, gt_long lda,
 const GT_GLOBAL gt_elem *GT_RESTRICT b, gt_long ldb, gt_elem beta,
 GT_GLOBAL gt_elem *GT_RESTRICT c, gt_long ldc, GT_GLOBAL gt_acc *GT_RESTRICT partial) {
    GT_SHARED_ARRAY(smem, GT_SMEM_ELEMS);
    const int t = GT_THREAD_X;
    const int g = WK ? t / LANES : t % G, lane = WK ? t % LANES : t / G;

    /* Blocks that share rows of W are neighbours. */
    const int wide = GT_SIDE ? m : n, narrow = GT_SIDE ? n : m;
    const int tiles_s = (narrow - 1) / S + 1, tiles_w = (wide - 1) / TILE + 1;
    const int s0 = GT_BLOCK % tiles_s * S, w0 = GT_BLOCK / tiles_s % tiles_w * TILE;
    const int slice = GT_BLOCK / tiles_s / tiles_w;

    /* Slices begin where vectors and cache lines do. */
    const int depth = alpha == (gt_elem)0 ? 0 : k; /* alpha 0: A and B are not read */
    const int share = GT_SPLIT == 1 ? depth : ((depth - 1) / GT_SPLIT / 32 + 1) * 32;
    const int first = (int)GT_MIN(slice * (gt_long)share, depth);
    int left = GT_MIN(share, depth - first);

    struct view va, vb, w, x;
    va.row = GT_TA ? 1 : lda, va.k = GT_TA ? lda : 1, va.rows = m - (GT_SIDE ? w0 : s0);
    va.x = a + (GT_SIDE ? w0 : s0) * va.row + first * va.k;
    vb.row = GT_TB ? ldb : 1, vb.k = GT_TB ? 1 : ldb, vb.rows = n - (GT_SIDE ? s0 : w0);
    vb.x = b + (GT_SIDE ? s0 : w0) * vb.row + first * vb.k;
    w = GT_SIDE ? va : vb, x = GT_SIDE ? vb : va;

    gt_acc acc[S * R];
    const GT_GLOBAL gt_elem *at[LOADS];
    GT_UNROLL
    for (int i = 0; i < LOADS; i++)
        at[i] = w.x + GT_MIN(ROW(g, i * RV), w.rows - 1) * w.row;
    GT_UNROLL
    for (int e = 0; e < S * R; e++)
        acc[e] = 0;

    if (XC > 0) {
        GT_UNROLL_BY(1)
        for (; left > 0; left -= XC) {
            const int chunk = GT_MIN(left, XC);
            stage(smem, &x, chunk, t);
            GT_BARRIER(); /* X is there */
            multiply(acc, at, &w, smem, &x, chunk, g, lane);
            GT_BARRIER(); /* all have read before any writes */
            x.x += XC * x.k;
            GT_UNROLL
            for (int i = 0; i < LOADS; i++)
                at[i] += XC * w.k;
        }
    } else {
        multiply(acc, at, &w, smem, &x, left, g, lane);
    }

    GT_UNROLL
    for (int s = 0; s < S; s += SP) {
        put_sums(smem, acc, s, g, lane);
        GT_BARRIER(); /* the lanes' sums are there */
        if (FOLD > 1) { /* few sums of many lanes: in two steps */
            if (t < FOLD * SUMS)
                smem[t / SUMS * RLD + t % SUMS] =
                    sum_of(smem, t % SUMS, t / SUMS, FOLD, LANES);
            GT_BARRIER(); /* their first sums too */
        }
        GT_UNROLL_BY(1)
        for (int e = t; e < SUMS; e += T) {
            const gt_acc sum = sum_of(smem, e, 0, 1, FOLD > 1 ? FOLD : LANES);
            const int i = s + e / TILE, j = e % TILE;
            const gt_long row = GT_SIDE ? w0 + j : s0 + i, col = GT_SIDE ? s0 + i : w0 + j;
            if (i < x.rows && j < w.rows) {
                if (GT_SPLIT > 1)
                    partial[(slice * (gt_long)m + row) * n + col] = sum;
                else
                    gt_store_c(c + row * ldc + col, alpha, sum, beta);
            }
        }
        GT_BARRIER();
    }
}

#if GT_SPLIT > 1

/* C = alpha * (sum of the slices' partial sums, in order) + beta * C. */
GT_KERNEL(reduce, GT_SUMMERS, 1, 1)
(int m, int n, int k, gt_elem alpha, const GT_GLOBAL gt_elem *GT_RESTRICT a, gt_long lda,
 const GT_GLOBAL gt_elem *GT_RESTRICT b, gt_long ldb, gt_elem beta,
 GT_GLOBAL gt_elem *GT_RESTRICT c, gt_long ldc, GT_GLOBAL gt_acc *GT_RESTRICT partial) {
    const gt_long e = GT_BLOCK * (gt_long)GT_SUMMERS + GT_THREAD_X, all = m * (gt_long)n;
    gt_acc sum = 0;
    if (e < all) {
        GT_UNROLL_BY(32) /* so many loads on their way at a time */
        for (int i = 0; i < GT_SPLIT; i++)
            sum += partial[i * all + e];
        gt_store_c(c + e / n * ldc + e % n, alpha, sum, beta);
    }
}

#endif
