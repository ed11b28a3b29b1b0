/* SPDX-License-Identifier: Apache-2.0 */
/*
 * triple - f32 by three tf32 products on tensor cores, as accurate as f32 (sm_80 and
 * later). A block computes a tile of C of BM rows x BN columns. Slabs of A and B, KBYTES
 * bytes of k deep, come to shared memory as f32. While one slab is multiplied, STAGES - 1
 * are on their way. A warp multiplies its WM x WN of the tile.
 *
 * C[m,n] = alpha op(A) op(B) + beta C, row-major.
 *
 *     slab, f32 --> registers --> high, low of A --+--> low high    --+--> sums of a slab,
 *                             --> high, low of B --+    high low      |    by tensor cores
 *                                                  +--> high high   --+         |
 *                                                                               v
 *                                              totals, by ordinary cores: += at each slab
 *
 * split.h has the parts, docs/split.md the error. A warp adds its sums to the totals after
 * every slab, so a slab has at most GT_SPLIT_DEPTH of k for a warp: `require` says so.
 *
 * Elements that do not exist (past the edges of C, past the end of k) are copied as zeros:
 * the loop has no code for edges. Sums leave through shared memory, 16 rows of each warp at
 * once, so that stores to C have whole rows of the tile. A sum that is not finite is
 * computed again from A and B by ordinary multiply-adds: infinities, NaNs and numbers near
 * overflow give what they give in f32.
 *
 * ENGINE 0 is mma.sync: a warp splits what it reads of A and B. ENGINE 1 is wgmma (sm_90):
 * a warpgroup has 64 rows of A, WM 16 a warp, and splits them in registers. B is split once
 * for the whole block, to a second place in shared memory. While the tensor cores multiply
 * a slab, the block splits the next slab of B.
 *
 * ENGINE   0 mma.sync, 1 wgmma
 * BM BN    tile of C                      KBYTES  depth of a slab, in bytes of k
 * WM WN    a warp's part of the tile      STAGES  slabs in shared memory
 * SLICES   warps that share a part of the tile, each with its own part of every slab
 * VA VB    bytes in a copy of A, of B, to which rows must be aligned
 * MINB     blocks that must fit a multiprocessor
 * GROUP    rows of tiles that are walked together, for the L2 cache
 * SPLIT    blocks that share a tile, each with its own part of k; a second kernel adds up
 *
 * gemmtune trial f32@split-nn-4096x4096x4096 --family triple --point
 *  "ENGINE=0 BM=128 BN=128 KBYTES=64 WM=64 WN=32 SLICES=1 STAGES=4 VA=16 VB=16 MINB=1
 *   GROUP=8 SPLIT=1"
 */

enum {
    BM = GT_BM, BN = GT_BN, BK = GT_BK, WM = GT_WM, WN = GT_WN,
    SLICES = GT_SLICES, STAGES = GT_STAGES, SPLIT = GT_SPLIT, T = GT_THREADS,
    SIZE = sizeof(float),
    A_ALONG = !GT_TA, B_ALONG = GT_TB, /* whether the operand is contiguous along k */

    /* A slab's rows, their length, and the bytes of a copy. */
    ROWS_A = GT_ROWS_A, LINE_A = GT_LINE_A, WIDE_A = GT_VA,
    ROWS_B = GT_ROWS_B, LINE_B = GT_LINE_B, WIDE_B = GT_VB,
    SLAB_A = ROWS_A * LINE_A, STAGE = GT_STAGE_BYTES,

    GM = WM / 16, GN = WN / 16, /* fragments of a warp */
    STEPS = GT_KBYTES / SLICES / GT_FRAGMENT_BYTES,

    /* Slabs of parts of B, for wgmma: high and low, two slabs. */
    PARTS = STAGES * STAGE, PART = BN * GT_KBYTES,

    PARTIAL = GT_PARTIAL,    /* stored sums are parts, not C yet */
    HIGH = BM / WM * 16,     /* rows of the tile that leave together */
    LDT = BN + 8,            /* length of a row of sums in shared memory */
    WIDE_C = 4               /* elements of C that a thread stores at once */
};

/* ---- slabs ---- */

/* The part of an operand that a block multiplies. */
struct operand {
    const char *at; /* its first element */
    gt_long pitch;  /* bytes from a row to the next */
    int lines, left; /* rows of A (columns of B) and elements of k that exist */
};

/* Starts a thread's copies of the slab at element `k` of the part, to s. */
GT_INLINE void start(int rows, int along, int line, int wide, char *s,
                     const struct operand *o, gt_long k, int t) {
    const int across = line / wide, step = T / across;
    const int row0 = t / across, byte = t % across * wide;
    const int left = (int)GT_MAX(o->left - k, 0), high = along ? o->lines : left;
    const int width = GT_MIN(along ? left : o->lines, line / SIZE) * SIZE;
    const int there = GT_MAX(0, GT_MIN(wide, width - byte));
    const char *from = o->at + (along ? k * SIZE : k * o->pitch) + byte;
    if (T % across != 0 && row0 >= step)
        return;
    GT_UNROLL
    for (int i = 0; i < GT_CDIV(rows, step); i++) {
        const int row = row0 + i * step;
        if (rows % step == 0 || row < rows)
            gt_bytes_copy(wide, s + gt_slab_place(SIZE, along, line, row, byte),
                          from + row * o->pitch, row < high ? there : 0);
    }
}

GT_INLINE void start_slab(const struct operand *a, const struct operand *b, gt_long k,
                          char *stage, int t) {
    start(ROWS_A, A_ALONG, LINE_A, WIDE_A, stage, a, k, t);
    start(ROWS_B, B_ALONG, LINE_B, WIDE_B, stage + SLAB_A, b, k, t);
    GT_BYTES_COMMIT();
}

/* ---- products ---- */

/* The parts of a fragment. */
struct parts {
    unsigned high[GT_FRAGMENT_REGS], low[GT_FRAGMENT_REGS];
};

/* Loads a fragment and splits it. */
GT_INLINE void load(struct parts *x, int of_b, int along, int line, int slab, int place,
                    int i, int step) {
    unsigned f[GT_FRAGMENT_REGS];
    gt_fragment_load(of_b, SIZE, along, line, f, slab, place, i, step);
    GT_UNROLL
    for (int r = 0; r < GT_FRAGMENT_REGS; r++)
        gt_split(&x->high[r], &x->low[r], f[r]);
}

/* The small products come first, while the sum is small. */
GT_INLINE void multiply(gt_acc *sum, const struct parts *a, const struct parts *b, int h) {
    gt_mma(sum, a->low, b->high, h);
    gt_mma(sum, a->high, b->low, h);
    gt_mma(sum, a->high, b->high, h);
}

/* Where a lane reads the first fragments of a slab. */
struct places {
    int a, b;
};

/* Multiplies a warp's part of the slab at shared address `stage`. */
GT_INLINE void multiply_slab(gt_acc sum[GM][2 * GN][4], int stage,
                             const struct places *p) {
    GT_UNROLL
    for (int step = 0; step < STEPS; step++) {
        struct parts a[GM], b[GN];
        GT_UNROLL
        for (int i = 0; i < GM; i++)
            load(&a[i], 0, A_ALONG, LINE_A, stage, p->a, i, step);
        GT_UNROLL
        for (int j = 0; j < GN; j++)
            load(&b[j], 1, B_ALONG, LINE_B, stage + SLAB_A, p->b, j, step);
        GT_UNROLL
        for (int i = 0; i < GM; i++)
            GT_UNROLL
            for (int j = 0; j < 2 * GN; j++)
                multiply(sum[i][j], &a[i], &b[j / 2], j % 2);
    }
}

GT_INLINE void clear(gt_acc sum[GM][2 * GN][4]) {
    GT_UNROLL
    for (int i = 0; i < GM * 2 * GN * 4; i++)
        sum[i / 4 / (2 * GN)][i / 4 % (2 * GN)][i % 4] = 0;
}

/* Adds the sums of a slab to the totals: ordinary cores round to nearest. */
GT_INLINE void promote(gt_acc total[GM][2 * GN][4], gt_acc sum[GM][2 * GN][4]) {
    GT_UNROLL
    for (int i = 0; i < GM * 2 * GN * 4; i++)
        total[i / 4 / (2 * GN)][i / 4 % (2 * GN)][i % 4] +=
            sum[i / 4 / (2 * GN)][i / 4 % (2 * GN)][i % 4];
    clear(sum);
}

/* ---- products by wgmma ---- */

#if GT_ENGINE
GT_SPLIT_WGMMA(start_product, GT_BN)

/* Splits the slab of B at `slab` to the two parts at `to`: columns of 128 bytes of k, whose
 * chunks of 16 bytes lie as the hardware swizzles them. */
GT_INLINE void split_b(char *to, const char *slab, int t) {
    enum { QUADS = BK / 4 }; /* four elements of k in a chunk */
    GT_UNROLL_BY(2)
    for (int e = t; e < BN * QUADS; e += T) {
        const int col = e % BN, quad = e / BN;
        const int place = col * GT_KBYTES + (quad ^ col % 8) * 16;
        unsigned high[4], low[4];
        GT_UNROLL
        for (int i = 0; i < 4; i++) {
            const int k = quad * 4 + i;
            const int from = gt_slab_place(SIZE, B_ALONG, LINE_B, B_ALONG ? col : k,
                                           (B_ALONG ? k : col) * SIZE);
            gt_split(&high[i], &low[i], *(const unsigned *)(slab + from));
        }
        gt_store_words(16, to + place, high);
        gt_store_words(16, to + PART + place, low);
    }
    gt_split_fence();
}

/* Starts the products of a slab whose rows of A are in x and whose parts of B lie at shared
 * address `parts`. */
GT_INLINE void start_products(gt_acc *sum, const struct parts x[STEPS], int parts) {
    gt_wgmma_fence();
    GT_UNROLL
    for (int step = 0; step < STEPS; step++) {
        const unsigned long long high = gt_wgmma_along_k(parts) + 2 * step;
        const unsigned long long low = gt_wgmma_along_k(parts + PART) + 2 * step;
        start_product(sum, x[step].low, high);
        start_product(sum, x[step].high, low);
        start_product(sum, x[step].high, high);
    }
    gt_wgmma_commit();
}

/* Multiplies slab s, at `memory`, and splits the next one of B at `next`. */
GT_INLINE void multiply_slab_wg(gt_acc total[GM][2 * GN][4], gt_acc sum[GM][2 * GN][4],
                                char *smem, int reading, int next, int s, int last,
                                const struct places *p, int t) {
    const int memory = gt_shared_address(smem);
    struct parts x[STEPS];
    GT_UNROLL
    for (int step = 0; step < STEPS; step++)
        load(&x[step], 0, A_ALONG, LINE_A, memory + reading, p->a, 0, step);
    start_products(sum[0][0], x, memory + PARTS + s % 2 * 2 * PART);
    if (!last) {
        GT_BYTES_WAIT(STAGES - 2);
        GT_BARRIER(); /* the next slab is there */
        split_b(smem + PARTS + (s + 1) % 2 * 2 * PART, smem + next + SLAB_A, t);
    }
    GT_WGMMA_WAIT(0);
    gt_wgmma_hold(GM * 2 * GN * 4, sum[0][0]);
    promote(total, sum);
}
#endif

/* ---- the way out ---- */

/* The sum of a row of the part of A times a column of the part of B, in f32 alone. */
GT_INLINE gt_acc plain_sum(const struct operand *a, const struct operand *b, int row,
                           int col) {
    const gt_long step_a = A_ALONG ? SIZE : a->pitch, step_b = B_ALONG ? SIZE : b->pitch;
    const char *x = a->at + row * (A_ALONG ? a->pitch : (gt_long)SIZE);
    const char *y = b->at + col * (B_ALONG ? b->pitch : (gt_long)SIZE);
    gt_acc sum = 0;
    GT_UNROLL_BY(1)
    for (int p = 0; p < a->left; p++) {
        sum = gt_fma(*(const float *)x, *(const float *)y, sum);
        x += step_a;
        y += step_b;
    }
    return sum;
}

/* The destination of sums: C or, where `sums` is not NULL, this block's part of the
 * workspace. */
struct target {
    GT_GLOBAL gt_c *c;       /* at the first element of the tile */
    GT_GLOBAL gt_acc *sums;
    gt_long ld;
    int rows, cols; /* that exist from there */
    gt_acc alpha, beta;
    int aligned; /* rows are aligned to vectors of WIDE_C */
    const struct operand *a, *b;
};

/* Puts 16 rows of sums of a warp to shared memory. `to`: at the warp's first row there. */
GT_INLINE void put(gt_acc *to, gt_acc sums[2 * GN][4], int lane) {
    GT_UNROLL
    for (int h = 0; h < 2; h++)
        GT_UNROLL
        for (int j = 0; j < 2 * GN; j++)
            gt_store_shared_acc(2, to + (lane / 4 + 8 * h) * LDT + 8 * j + 2 * (lane % 4),
                                sums[j] + 2 * h);
}

/* Reads `wide` sums of row r in shared memory, from column `col` on. Sums of slices are
 * added in their order. */
GT_INLINE void gather(int wide, gt_acc *sum, const gt_acc *tile, int r, int col) {
    gt_acc more[WIDE_C];
    GT_UNROLL
    for (int s = 0; s < SLICES; s++) {
        gt_load_shared_acc(wide, s > 0 ? more : sum, tile + (s * HIGH + r) * LDT + col);
        GT_UNROLL
        for (int x = 0; x < wide && s > 0; x++)
            sum[x] += more[x];
    }
}

/* Stores rows of sums from shared memory, `wide` elements a thread: rows i * 16 to i * 16 +
 * 15 of each warp's part of the tile. */
GT_INLINE void store(int wide, const struct target *to, const gt_acc *tile, int i, int t) {
    GT_UNROLL_BY(1)
    for (int e = t; e < HIGH * (BN / wide); e += T) {
        const int r = e / (BN / wide), col = e % (BN / wide) * wide;
        const int row = r / 16 * WM + i * 16 + r % 16, left = to->cols - col;
        const gt_long place = row * to->ld + col;
        gt_acc sum[WIDE_C];
        gt_c old[WIDE_C];
        if (row >= to->rows || left <= 0)
            continue;
        gather(wide, sum, tile, r, col);
        GT_UNROLL
        for (int x = 0; x < wide; x++)
            if (x < left && !gt_split_finite(sum[x]))
                sum[x] = plain_sum(to->a, to->b, row, col + x);
        if (to->sums) { /* 4 divides `cols` where rows are aligned */
            gt_store_global_acc(wide, to->sums + place, sum);
        } else {
            gt_load_c(wide, old, to->c + place, to->beta, left >= wide, 0, left);
            gt_store_row(wide, to->c + place, to->alpha, sum, to->beta, old, left >= wide,
                         0, left);
        }
    }
}

/* An operand's part from its row `line` (of A; column of B) and element k0 of k on. */
GT_INLINE struct operand part_of(const float *x, gt_long ld, int along, int line,
                                 gt_long k0, int lines, int left) {
    const struct operand o = {(const char *)(x + (along ? line * ld + k0 : k0 * ld + line)),
                              ld * SIZE, lines, left};
    return o;
}

GT_KERNEL(gemm, GT_THREADS, 1, GT_MINB)(GT_PARAMS) {
    extern __shared__ __align__(1024) char smem[]; /* for the swizzle */
    GT_FOLLOW();
    GT_LEAD(PARTIAL && GT_FEW_SUMS(m, n, GT_LANES));
    const int t = GT_THREAD_X, lane = t % 32, warp = t / 32 % (T / 32 / SLICES);
    const int slice = t / (T / SLICES);
    const struct gt_work work =
        gt_work_of(0, 1, SPLIT, GT_BLOCK, gt_cdiv(m, BM) * gt_cdiv(n, BN));
    int row0, col0;
    gt_tile_place(&row0, &col0, work.tile, BM, BN, GT_GROUP, m, n);
    const int rows = m - row0, cols = n - col0; /* of C, from the tile to its edges */
    const int w_m = warp / (BN / WN), w_n = warp % (BN / WN);

    /* This block's part of k: whole slabs, except for the last. */
    const int depth = alpha == (gt_acc)0 ? 0 : k; /* alpha 0: A and B are not read */
    int first;
    const int slabs = gt_work_slabs(&work, gt_cdiv(depth, BK), &first);
    const gt_long k0 = first * (gt_long)BK;
    const int left = (int)GT_MAX(0, GT_MIN(depth - k0, slabs * (gt_long)BK));
    const struct operand of_a = part_of(a, lda, A_ALONG, row0, k0, rows, left);
    const struct operand of_b = part_of(b, ldb, B_ALONG, col0, k0, cols, left);
    const int slice_k = slice * (GT_KBYTES / SLICES); /* where the slice's part begins */
    const struct places in = {
        gt_fragment_place(0, SIZE, A_ALONG, LINE_A, w_m * WM, slice_k, lane),
        gt_fragment_place(1, SIZE, B_ALONG, LINE_B, w_n * WN, slice_k, lane)};

    gt_acc total[GM][2 * GN][4], sum[GM][2 * GN][4];
    clear(total);
    clear(sum);
    GT_UNROLL_BY(1)
    for (int s = 0; s < STAGES - 1; s++)
        start_slab(&of_a, &of_b, s * (gt_long)BK, smem + s * STAGE, t);
    int reading = 0, writing = (STAGES - 1) * STAGE;
#if GT_ENGINE
    if (slabs > 0) {
        GT_BYTES_WAIT(STAGES - 2);
        GT_BARRIER(); /* the first slab is there */
        split_b(smem + PARTS, smem + SLAB_A, t);
    }
    GT_UNROLL_BY(1)
    for (int s = 0; s < slabs; s++) {
        const int next = reading + STAGE < STAGES * STAGE ? reading + STAGE : 0;
        GT_BARRIER(); /* B has been split, and the slab before it has been read */
        start_slab(&of_a, &of_b, (s + STAGES - 1) * (gt_long)BK, smem + writing, t);
        multiply_slab_wg(total, sum, smem, reading, next, s, s == slabs - 1, &in, t);
        writing = reading;
        reading = next;
    }
#else
    GT_UNROLL_BY(1)
    for (int s = 0; s < slabs; s++) {
        GT_BYTES_WAIT(STAGES - 2);
        GT_BARRIER(); /* the slab is there, and the one before it has been read */
        start_slab(&of_a, &of_b, (s + STAGES - 1) * (gt_long)BK, smem + writing, t);
        multiply_slab(sum, gt_shared_address(smem) + reading, &in);
        promote(total, sum);
        writing = reading;
        reading = reading + STAGE < STAGES * STAGE ? reading + STAGE : 0;
    }
#endif

    GT_LEAD(PARTIAL);
    struct target to = {c + row0 * ldc + col0, 0,     ldc,  rows,
                        cols,                  alpha, beta, gt_aligned(WIDE_C, c, ldc),
                        &of_a,                 &of_b};
    if (PARTIAL) {
        to.sums = workspace + ((gt_long)work.part * m + row0) * n + col0;
        to.ld = n;
        to.aligned = n % 4 == 0;
    }
    gt_acc *const tile = (gt_acc *)smem;
    GT_BYTES_WAIT(0);
    GT_UNROLL
    for (int i = 0; i < GM; i++) {
        GT_BARRIER(); /* the last slab, or the rows before, have been read */
        put(tile + (slice * HIGH + w_m * 16) * LDT + w_n * WN, total[i], lane);
        GT_BARRIER();
        if (!to.aligned)
            store(1, &to, tile, i, t);
        else
            store(WIDE_C, &to, tile, i, t);
    }
}

#if GT_PARTIAL
GT_REDUCE_KERNEL(reduce, GT_SPLIT, GT_LANES, workspace)
#endif
