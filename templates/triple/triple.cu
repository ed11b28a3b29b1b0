/* SPDX-License-Identifier: Apache-2.0 */
/*
 * triple - f32 by three tf32 products on tensor cores, as accurate as f32 (sm_80 and
 * later). A block computes a tile of C of BM rows x BN columns, slab by slab. A slab is
 * KBYTES bytes of k deep.
 *
 * C[m,n] = alpha op(A) op(B) + beta C, row-major.
 *
 *     slab, f32 --> registers --> high, low of A --+--> low high    --+--> sums of a slab,
 *                             --> high, low of B --+    high low      |    by tensor cores
 *                                                  +--> high high   --+         |
 *                                                                               v
 *                                              totals, by ordinary cores: += at each slab
 *
 * split.h has the parts and the order of k for wgmma, docs/split.md the error. A warp adds
 * its sums to the totals after every slab, so a slab has at most GT_SPLIT_DEPTH of k for a
 * warp: `require` says so.
 *
 * ENGINE 0 is mma.sync. Slabs of A and B come to shared memory as f32. While one slab is
 * multiplied, STAGES - 1 are on their way. A warp splits the elements that it reads. It
 * multiplies WM x WN of the tile.
 *
 * ENGINE 1 is wgmma (sm_90). A block has a warpgroup for every 64 rows of the tile, and one
 * more:
 *
 *     splitters                   STAGES                 a warpgroup with 64 rows
 *     ---------                   ------                 ------------------------
 *     load B to registers         parts of B:            loads its rows of A to registers
 *     wait: empty[s]              BN x 32 of k, high     splits them there
 *     split, store, tell   -->    BN x 32 of k, low -->  waits: full[s]; starts 12 products
 *     full[s]                                            passes its turn on; waits for them
 *                                                        tells empty[s]; adds to totals
 *
 * Both load vectors of 16 bytes, or pairs of rows of A, from rows that are aligned: along k
 * or across it. Across k, rows of A and columns of B have another order in the tile until
 * the sums leave.
 *
 * A thread has the elements in registers that it loads for a later slab, so nothing else
 * waits for memory. No element of A and no f32 of B takes room in shared memory, whose
 * bandwidth is scarce: wgmma alone takes half of it.
 *
 * Elements that do not exist (past the edges of C, past the end of k) become zeros, or have
 * no effect on C: the loop has no code for edges. Sums leave through shared memory, 16 rows
 * of each warp at once, so that stores to C have whole rows of the tile. A sum that is not
 * finite is computed again from A and B by ordinary multiply-adds: infinities, NaNs and
 * numbers near overflow give what they give in f32.
 *
 * ENGINE   0 mma.sync, 1 wgmma
 * BM BN    tile of C                      KBYTES  depth of a slab, in bytes of k
 * WM WN    a warp's part of the tile      STAGES  slabs in shared memory
 * SLICES   warps that share a part of the tile, each with its own part of every slab
 * VA VB    bytes in a copy of A, of B, to which rows must be aligned
 * REPACK   operands that are copied ahead, to aligned rows: 0 none, 1 A, 2 B, 3 both
 * MINB     blocks that must fit a multiprocessor
 * GROUP    rows of tiles that are walked together, for the L2 cache
 * SPLIT    blocks that share a tile, each with its own part of k; a second kernel adds up
 *
 * gemmtune trial f32@split-nn-4096x4096x4096 --family triple --point
 *  "ENGINE=0 BM=128 BN=128 KBYTES=64 WM=64 WN=32 SLICES=1 STAGES=4 VA=16 VB=16 REPACK=0
 *   MINB=1 GROUP=8 SPLIT=1"
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

    /* For wgmma: warpgroups that multiply, slabs of A and B in registers, bytes of a part
     * of B. */
    GROUPS = GT_GROUPS, AHEAD_A = GT_AHEAD_A, AHEAD_B = 2, PART = BN * GT_KBYTES,
    STORERS = GT_ENGINE ? GROUPS * 128 : T, /* threads that have sums */

    PARTIAL = GT_PARTIAL,    /* stored sums are parts, not C yet */
    /* Whether vectors of an operand that is contiguous across k are loaded: pairs of rows
     * of A, patches of B. Rows or columns are then in another order until they leave. */
    A_PAIRS = GT_ENGINE && !A_ALONG && WIDE_A == 16,
    B_PATCHES = GT_ENGINE && !B_ALONG && WIDE_B == 16,
    B_CHUNKS = A_PAIRS && B_ALONG && WIDE_B == 16, /* see gt_split_store_chunk */
    LANE_K = B_CHUNKS ? 1 : 4, /* from the first k of a lane to that of the next */

    HIGH = BM / WM * 16,             /* rows of the tile that leave together */
    LDT = BN + (B_PATCHES ? 4 : 8), /* length of a row of sums in shared memory */
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

#if !GT_ENGINE
GT_INLINE void multiply_slabs(gt_acc total[GM][2 * GN][4], const struct operand *a,
                              const struct operand *b, int slabs, char *smem,
                              const struct places *in, int t) {
    gt_acc sum[GM][2 * GN][4];
    int reading = 0, writing = (STAGES - 1) * STAGE;
    clear(sum);
    GT_UNROLL_BY(1)
    for (int s = 0; s < STAGES - 1; s++)
        start_slab(a, b, s * (gt_long)BK, smem + s * STAGE, t);
    GT_UNROLL_BY(1)
    for (int s = 0; s < slabs; s++) {
        GT_BYTES_WAIT(STAGES - 2);
        GT_BARRIER(); /* the slab is there, and the one before it has been read */
        start_slab(a, b, (s + STAGES - 1) * (gt_long)BK, smem + writing, t);
        multiply_slab(sum, gt_shared_address(smem) + reading, in);
        promote(total, sum);
        writing = reading;
        reading = reading + STAGE < STAGES * STAGE ? reading + STAGE : 0;
    }
    GT_BYTES_WAIT(0);
}
#endif

/* The row h, 0 or 1, of a warp's 16 that a lane has sums of. */
GT_INLINE int row_of(int lane, int h) {
    return A_PAIRS ? lane / 4 * 2 + h : lane / 4 + 8 * h;
}

/* ---- products by wgmma ---- */

#if GT_ENGINE
GT_SPLIT_WGMMA(begin_product, GT_BN, 0)
GT_SPLIT_WGMMA(add_product, GT_BN, 1)

/* Addresses in shared memory: the ring of slabs of B's parts, and the first of STAGES
 * barriers each. */
struct ring {
    int parts, full, empty;
};

/* The address of element `deep` of k of an operand's line: a row of A, a column of B. Past
 * the edge it is the last line again: sums of such lines are not stored. */
GT_INLINE const char *line_at(const struct operand *o, int along, int line, int deep) {
    const int row = GT_MIN(line, o->lines - 1);
    return o->at + (along ? row * o->pitch + deep * SIZE : deep * o->pitch + row * SIZE);
}

/* Loads a lane's part of a slab of A from its two rows, which are neighbours. */
GT_INLINE void load_pairs_of(int whole, unsigned *f, const struct operand *a,
                             const char *row, int rows, int left) {
    GT_UNROLL
    for (int e = 0; e < 8; e++) {
        const int deep = B_CHUNKS ? e % 4 * 8 + e / 4 * 4 : e / 4 * 16 + e % 4;
        gt_load_words(8, 4, f + e % 4 * 4 + e / 4 * 2, row + deep * a->pitch,
                      whole         ? 8
                      : deep < left ? rows * SIZE
                                    : 0);
    }
}

/* Loads a lane's part of a slab of A from its two rows. */
GT_INLINE void load_rows_of(int whole, unsigned *f, const struct operand *a,
                            const char *const *row, int left, int lane) {
    const gt_long step = A_ALONG ? (gt_long)SIZE : a->pitch;
    GT_UNROLL
    for (int q = 0; q < 4; q++) {
        const int deep = q / 2 * 16;
        unsigned four[4];
        gt_split_load(four, row[q % 2] + deep * step, A_ALONG ? WIDE_A : SIZE, step,
                      whole ? 4 : left - deep - lane % 4 * 4);
        GT_UNROLL
        for (int j = 0; j < 4; j++)
            f[4 * j + q] = four[j];
    }
}

/* `left` elements of k exist from the slab's first one on, and `rows` of a pair. */
GT_INLINE void load_rows(unsigned *f, const struct operand *a, const char *const *row,
                         int rows, int left, int lane) {
    if (A_PAIRS && left >= BK && rows == 2)
        load_pairs_of(1, f, a, row[0], rows, left);
    else if (A_PAIRS)
        load_pairs_of(0, f, a, row[0], rows, left - lane % 4 * LANE_K);
    else if (left >= BK)
        load_rows_of(1, f, a, row, left, lane);
    else
        load_rows_of(0, f, a, row, left, lane);
}

/* The halves of columns that a thread splits. */
enum { HALVES = BN * 2 / 128 };

GT_INLINE struct gt_split_half half_of(int i, int t) {
    return gt_split_half_of(BN, B_ALONG, t + i * 128);
}

/* Loads a thread's part of a slab of B. Across k, all halves are of one column. */
GT_INLINE void load_halves_of(int whole, unsigned x[HALVES][16], const struct operand *b,
                              const char *const *half, int left, int t) {
    const gt_long step = B_ALONG ? (gt_long)SIZE : b->pitch;
    GT_UNROLL
    for (int i = 0; i < HALVES; i++)
        GT_UNROLL
        for (int q = 0; q < 4; q++)
            gt_split_load(x[i] + 4 * q,
                          (B_ALONG ? half[i] : half[0] + 16 * i * step) + 4 * q * step,
                          B_ALONG ? WIDE_B : SIZE, step,
                          whole ? 4 : left - half_of(i, t).upper * 16 - 4 * q);
}

GT_INLINE void load_halves(unsigned x[HALVES][16], const struct operand *b,
                           const char *const *half, int left, int t) {
    if (left >= BK)
        load_halves_of(1, x, b, half, left, t);
    else
        load_halves_of(0, x, b, half, left, t);
}

/* Loads a thread's patch of a slab of B, of which `cols` columns exist. */
GT_INLINE void load_patch_of(int whole, unsigned x[HALVES][16], const struct operand *b,
                             const char *patch, int cols, int left, int t) {
    const struct gt_split_patch at = gt_split_patch_of(BN, t);
    GT_UNROLL
    for (int i = 0; i < 4; i++) {
        GT_UNROLL
        for (int s = 0; s < HALVES; s++, patch += b->pitch) {
            const int there = gt_split_patch_k(at, s, i) < left ? cols * SIZE : 0;
            gt_load_words(16, 4, x[s] + 4 * i, patch, whole ? 16 : there);
        }
        patch += (4 - HALVES) * b->pitch;
    }
}

/* Loads a thread's chunks of a slab of B: those of every 16th column. `line`: in the first.
 * A column that does not exist is an earlier one again. */
GT_INLINE void load_chunks_of(int whole, unsigned x[HALVES][16], const struct operand *b,
                              const char *line, int left, int t) {
    const int there = GT_MIN(left - t % 8 * 4, 4) * 4;
    int col = t / 8;
    GT_UNROLL
    for (int i = 0; i < HALVES * 4; i++) {
        gt_load_words(16, 4, x[i / 4] + i % 4 * 4, line, whole ? 16 : there);
        col += 16;
        line += whole || col < b->lines ? 16 * b->pitch : 0;
    }
}

/* Loads a thread's part of a slab of B. `at`: where its halves, patch or chunks begin. */
GT_INLINE void load_part(unsigned x[HALVES][16], const struct operand *b,
                         const char *const *at, int cols, int left, int t) {
    if (B_PATCHES && left >= BK && cols == 4)
        load_patch_of(1, x, b, at[0], cols, left, t);
    else if (B_PATCHES)
        load_patch_of(0, x, b, at[0], cols, left, t);
    else if (B_CHUNKS && left >= BK && b->lines >= BN)
        load_chunks_of(1, x, b, at[0], left, t);
    else if (B_CHUNKS)
        load_chunks_of(0, x, b, at[0], left, t);
    else
        load_halves(x, b, at, left, t);
}

/* Splits a thread's part i of HALVES. `to`: the stage. */
GT_INLINE void split_part(char *to, int i, const unsigned x[16], int t) {
    if (B_PATCHES)
        gt_split_store_patch(to, PART, gt_split_patch_of(BN, t), i, x);
    else if (!B_CHUNKS)
        gt_split_store(to, PART, half_of(i, t), x);
    else
        GT_UNROLL
        for (int c = 0; c < 4; c++)
            gt_split_store_chunk(to, PART, t / 8 + (4 * i + c) * 16, t % 8, x + 4 * c);
}

/* Splits a thread's part of a slab and tells that it did. */
GT_INLINE void split_slab(const struct ring *r, char *smem, struct gt_turn turn,
                          unsigned x[HALVES][16], int t) {
    gt_barrier_wait(r->empty + turn.stage * 8, turn.parity ^ 1);
    GT_UNROLL
    for (int i = 0; i < HALVES; i++)
        split_part(smem + turn.stage * 2 * PART, i, x[i], t);
    gt_split_fence();
    gt_warp_barrier();
    if (t % 32 == 0)
        gt_barrier_arrive(r->full + turn.stage * 8);
}

/* The work of the splitters: slabs of B go through registers to the ring. The first round
 * only loads. */
GT_INLINE void split_slabs(const struct ring *r, char *smem, const struct operand *b,
                           int slabs, int t) {
    const gt_long step = BK * (B_ALONG ? (gt_long)SIZE : b->pitch);
    unsigned x[AHEAD_B][HALVES][16];
    const char *at[HALVES];
    struct gt_turn turn = {0, 0};
    const struct gt_split_patch patch = gt_split_patch_of(BN, t);
    const int col = GT_MIN(patch.col, (b->lines - 1) / 4 * 4);
    const int cols = GT_MIN(4, b->lines - col);
    GT_UNROLL
    for (int i = 0; i < HALVES; i++)
        at[i] = B_PATCHES  ? line_at(b, B_ALONG, col, gt_split_patch_k(patch, 0, 0))
                : B_CHUNKS ? line_at(b, B_ALONG, t / 8, t % 8 * 4)
                           : line_at(b, B_ALONG, half_of(i, t).col,
                                    half_of(i, t).upper * 16);
    GT_UNROLL_BY(1)
    for (int s = -AHEAD_B; s < slabs; s += AHEAD_B)
        GT_UNROLL
        for (int d = 0; d < AHEAD_B; d++) {
            if (s >= 0 && s + d < slabs) {
                split_slab(r, smem, turn, x[d], t);
                turn = gt_turn_next(STAGES, turn);
            }
            load_part(x[d], b, at, cols, (int)(b->left - (s + d + AHEAD_B) * (gt_long)BK),
                      t);
            GT_UNROLL
            for (int i = 0; i < HALVES; i++)
                at[i] += step;
        }
}

/* The ring's barriers. A splitter's warp arrives at `full`, a multiplier's at `empty`. */
GT_INLINE void make_ring(const struct ring *r, int t) {
    if (t == 0) {
        for (int s = 0; s < STAGES; s++) {
            gt_barrier_init(r->full + s * 8, 4);
            gt_barrier_init(r->empty + s * 8, GROUPS * 4);
        }
        gt_barrier_init_done();
    }
    GT_BARRIER();
}

/* Starts the products of a slab whose rows of A are in x and whose parts of B lie at shared
 * address `parts`. Those of the last step are a batch of their own. */
GT_INLINE void start_products(gt_acc *sum, const struct parts x[STEPS], int parts) {
    gt_wgmma_hold(BN / 2, sum);
    gt_wgmma_fence();
    GT_UNROLL
    for (int j = 0; j < STEPS; j++) {
        const unsigned long long high = gt_wgmma_along_k(parts) + 2 * j;
        const unsigned long long low = gt_wgmma_along_k(parts + PART) + 2 * j;
        if (j == 0)
            begin_product(sum, x[j].low, high);
        else
            add_product(sum, x[j].low, high);
        add_product(sum, x[j].high, low);
        add_product(sum, x[j].high, high);
        if (j >= STEPS - 2)
            gt_wgmma_commit();
    }
}

/* Keeps the compiler from splitting later, between products. */
GT_INLINE void hold(struct parts x[STEPS]) {
    GT_UNROLL
    for (int e = 0; e < 4 * STEPS; e++)
        asm volatile("" : "+r"(x[e / 4].high[e % 4]), "+r"(x[e / 4].low[e % 4]));
}

/*
 * Warpgroups start their products in turns: one after another, and so on. While one adds
 * its sums to the totals, the tensor cores have products of the others. A warpgroup passes
 * the turn on when its products but for the last ones are done.
 */
GT_INLINE void await_turn(int group, int s) {
    if (GROUPS > 1 && (group > 0 || s > 0))
        gt_group_barrier(2 + group, 256);
}
GT_INLINE void pass_turn(int group, int last) {
    if (GROUPS > 1 && !(last && group == GROUPS - 1))
        gt_split_arrive(2 + (group + 1) % GROUPS, 256);
}

/* Multiplies slab s, of which f has a lane's part of A, and adds it to the totals. f then
 * gets the part of a later slab. */
GT_INLINE void multiply_slab_wg(gt_acc *total, gt_acc *sum, unsigned *f,
                                const struct ring *r, struct gt_turn turn, int s, int last,
                                const struct operand *a, const char *const *row, int rows,
                                int group, int lane) {
    struct parts x[STEPS];
    GT_UNROLL
    for (int e = 0; e < 4 * STEPS; e++)
        gt_split(&x[e / 4].high[e % 4], &x[e / 4].low[e % 4], f[e]);
    hold(x);
    load_rows(f, a, row, rows, (int)(a->left - (s + AHEAD_A) * (gt_long)BK), lane);
    gt_barrier_wait(r->full + turn.stage * 8, turn.parity);
    gt_warp_barrier();
    await_turn(group, s);
    start_products(sum, x, r->parts + turn.stage * 2 * PART);
    GT_WGMMA_WAIT(1);
    pass_turn(group, last);
    GT_WGMMA_WAIT(0);
    gt_wgmma_hold(BN / 2, sum);
    if (lane == 0)
        gt_barrier_arrive(r->empty + turn.stage * 8);
    GT_UNROLL
    for (int e = 0; e < BN / 2; e++)
        total[e] += sum[e];
}

/* The work of a warpgroup that multiplies: 64 rows of the tile. row0: its warp's first. */
GT_INLINE void multiply_slabs(gt_acc *total, const struct ring *r, const struct operand *a,
                              int slabs, int row0, int group, int lane) {
    const gt_long step = BK * (A_ALONG ? (gt_long)SIZE : a->pitch);
    unsigned f[AHEAD_A][16];
    gt_acc sum[BN / 2];
    const int first = row0 + row_of(lane, 0), last = GT_MIN(first, (a->lines - 1) / 2 * 2);
    const int rows = GT_MIN(2, a->lines - last);
    const char *row[2] = {line_at(a, A_ALONG, A_PAIRS ? last : first, lane % 4 * LANE_K),
                          line_at(a, A_ALONG, row0 + row_of(lane, 1), lane % 4 * 4)};
    struct gt_turn turn = {0, 0};
    GT_UNROLL
    for (int e = 0; e < BN / 2; e++)
        sum[e] = 0;
    GT_UNROLL
    for (int d = 0; d < AHEAD_A; d++, row[0] += step, row[1] += step)
        load_rows(f[d], a, row, rows, a->left - d * BK, lane);
    GT_UNROLL_BY(1)
    for (int s = 0; s < slabs; s += AHEAD_A)
        GT_UNROLL
        for (int d = 0; d < AHEAD_A && s + d < slabs; d++, row[0] += step, row[1] += step) {
            multiply_slab_wg(total, sum, f[d], r, turn, s + d, s + d == slabs - 1, a, row,
                             rows, group, lane);
            turn = gt_turn_next(STAGES, turn);
        }
}
#endif

/* ---- the way out ---- */

/* The sum of a row of the part of A times a column of the part of B, in f32 alone. */
GT_INLINE gt_acc plain_sum(const struct operand *a, const struct operand *b, int row,
                           int col) {
    const gt_long step_a = A_ALONG ? SIZE : a->pitch, step_b = B_ALONG ? SIZE : b->pitch;
    const char *x = a->at + row * (A_ALONG ? a->pitch : (gt_long)SIZE);
    const char *y = b->at + col * (B_ALONG ? b->pitch : (gt_long)SIZE);
    return gt_split_none(x, step_a, y, step_b, a->left);
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

/* Puts a lane's sums of a row to shared memory, those of neighbouring columns at once. */
GT_INLINE void put_patches(gt_acc *to, gt_acc sums[2 * GN][4], int h, int lane) {
    GT_UNROLL
    for (int e = 0; e < 2; e++)
        GT_UNROLL
        for (int j = 0; j + 3 < 2 * GN; j += 4) {
            gt_acc four[4];
            GT_UNROLL
            for (int c = 0; c < 4; c++)
                four[c] = sums[j + c][2 * h + e];
            gt_store_shared_acc(4, to + 8 * j + gt_split_patch_sums(lane, e), four);
        }
}

/* Puts 16 rows of sums of a warp to shared memory. `to`: at the warp's first row there. */
GT_INLINE void put(gt_acc *to, gt_acc sums[2 * GN][4], int lane) {
    GT_UNROLL
    for (int h = 0; h < 2; h++) {
        gt_acc *const row = to + row_of(lane, h) * LDT;
        if (B_PATCHES)
            put_patches(row, sums, h, lane);
        else
            GT_UNROLL
            for (int j = 0; j < 2 * GN; j++)
                gt_store_shared_acc(2, row + 8 * j + 2 * (lane % 4), sums[j] + 2 * h);
    }
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
    for (int e = t; e < HIGH * (BN / wide); e += STORERS) {
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

/* An operand's part from its row `line` (of A; column of B) and element k0 of k on. Rows of
 * memory are `pitch` bytes apart. */
GT_INLINE struct operand part_of(const char *x, gt_long pitch, int along, int line,
                                 gt_long k0, int lines, int left) {
    const gt_long row = along ? line : k0, place = along ? k0 : line;
    const struct operand o = {x + row * pitch + place * SIZE, pitch, lines, left};
    return o;
}

/* A barrier of the threads that have sums. */
GT_INLINE void meet(void) {
#if GT_ENGINE
    gt_group_barrier(1, STORERS);
#else
    GT_BARRIER();
#endif
}

#if GT_REPACK
GT_REPACK_KERNEL(repack, GT_PACK_A, GT_PACK_B, GT_PACKED_A)
#endif

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
    const char *const packed = (const char *)workspace;
    const char *const from_a = GT_PACK_A ? packed : (const char *)a;
    const char *const from_b = GT_PACK_B ? packed + GT_PACKED_A : (const char *)b;
    const gt_long pitch_a = GT_PACK_A ? GT_PITCH_A : lda * SIZE;
    const gt_long pitch_b = GT_PACK_B ? GT_PITCH_B : ldb * SIZE;
    const struct operand of_a = part_of(from_a, pitch_a, A_ALONG, row0, k0, rows, left);
    const struct operand of_b = part_of(from_b, pitch_b, B_ALONG, col0, k0, cols, left);

    gt_acc total[GM][2 * GN][4];
    clear(total);
#if GT_ENGINE
    const int memory = gt_shared_address(smem);
    const struct ring ring = {memory, memory + GT_BARRIERS,
                              memory + GT_BARRIERS + STAGES * 8};
    make_ring(&ring, t);
    if (t >= STORERS) {
#if GT_GIVE
        GT_REGISTERS_GIVE(GT_GIVE);
#endif
        split_slabs(&ring, smem, &of_b, slabs, t - STORERS);
        gt_split_arrive(6, T);
        return;
    }
#if GT_GIVE
    GT_REGISTERS_TAKE(GT_TAKE);
#endif
    /* From lane 0, so that it is known to be the same in all lanes. */
    const int group = __shfl_sync(0xffffffff, t / 128, 0);
    multiply_slabs(total[0][0], &ring, &of_a, slabs, w_m * 16, group, lane);
    gt_group_barrier(6, T); /* sums go where the splitters stored */
#else
    const int slice_k = slice * (GT_KBYTES / SLICES); /* where the slice's part begins */
    const struct places in = {
        gt_fragment_place(0, SIZE, A_ALONG, LINE_A, w_m * WM, slice_k, lane),
        gt_fragment_place(1, SIZE, B_ALONG, LINE_B, w_n * WN, slice_k, lane)};
    multiply_slabs(total, &of_a, &of_b, slabs, smem, &in, t);
#endif

    GT_LEAD(PARTIAL);
    struct target to = {c + row0 * ldc + col0, 0,     ldc,  rows,
                        cols,                  alpha, beta, gt_aligned(WIDE_C, c, ldc),
                        &of_a,                 &of_b};
    if (PARTIAL) {
        to.sums = workspace + GT_SUMS_AT + ((gt_long)work.part * m + row0) * n + col0;
        to.ld = n;
        to.aligned = n % 4 == 0;
    }
    gt_acc *const tile = (gt_acc *)smem;
    GT_UNROLL
    for (int i = 0; i < GM; i++) {
        meet(); /* the last slab, or the rows before, have been read */
        put(tile + (slice * HIGH + w_m * 16) * LDT + w_n * WN, total[i], lane);
        meet();
        if (!to.aligned)
            store(1, &to, tile, i, t);
        else
            store(WIDE_C, &to, tile, i, t);
    }
}

#if GT_PARTIAL
GT_REDUCE_KERNEL(reduce, GT_SPLIT, GT_LANES, workspace + GT_SUMS_AT)
#endif
