/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remainder - f64 products by exact products of bytes on tensor cores, with the bound of
 * f64 products. docs/residues.md has the method, templates/common/residues.h its
 * arithmetic.
 *
 * C[m,n] = alpha op(A) op(B) + beta C, row-major. Four kernels run one after another:
 *
 *     lines   the shift of every row of op(A) and column of op(B)
 *     planes  every element as MODULI + 1 bytes: its size, then its residues
 *     gemm    a tile of C from MODULI + 1 products of bytes. The product of the sizes tells
 *             whether all sums of the tile can be trusted. It ends as soon as they can. If
 *             they cannot, the tile is marked and given up.
 *     plain   the marked tiles, by f64 multiply-adds
 *
 * So the device decides, for every tile, and the host does not wait.
 *
 * The workspace holds
 *
 *     planes  MODULI + 1 of them. A plane has slabs: BK of k of every row of op(A), padded
 *             to BM, and below them of every column of op(B), padded to BN. A row of a slab
 *             is BK contiguous bytes. Its chunks of 16 are permuted (`place`) as shared
 *             memory needs them, so a tile's part of a slab is copied as it lies. A plane
 *             begins where the one ahead of it ends, so all slabs of a tile are equally far
 *             apart.
 *     lines   a struct gt_line for each row of a slab
 *     marks   an int for each tile of C: 1 for a tile that `plain` computes
 *     sums    for each block of gemm, the residues of its tile (wgmma: of two tiles): a
 *             word is four elements of a thread modulo one number
 *
 * ENGINE   0 mma.sync: warps compute WM x WN each, all threads copy
 *          1 wgmma: warpgroups of 128 compute WM x BN each. One more has a warp that
 *            copies, and FINISHERS, which make C of the tile before (9.0)
 * CLUSTER  blocks, one below the other; each copies a part of B for all of them (wgmma)
 * MODULI   how many; more of them serve longer k and wider exponents
 * BM BN    tile of C            BK      k of a slab
 * WM WN    tile of a warp or warpgroup
 * STAGES   slabs of A and B in shared memory: one in use, the others on their way
 * LAG      slabs by which the second warpgroup stays behind the first, so that one
 *          multiplies while the other one reduces its sums (wgmma)
 * GROUP    rows of tiles that are walked together, for the L2 cache
 */

typedef unsigned char byte;

enum {
    BM = GT_BM, BN = GT_BN, BK = GT_BK, WM = GT_WM, WN = GT_WN, STAGES = GT_STAGES,
    MODULI = GT_MODULI,
    CLUSTER = GT_CLUSTER, WORKERS = GT_WORKERS, /* threads that multiply */
    FINISHERS = GT_ENGINE ? 96 : 0, COPIERS = GT_ENGINE ? 32 : 0,
    LAG = GT_LAG, TRIOS = GT_CDIV(MODULI, GT_TRIO),
    CHUNKS = BK / 16, /* chunks of a row */
    SLAB_A = BM * BK, SLAB_B = BN * BK, SLAB = SLAB_A + SLAB_B,
    A_ALONG = !GT_TA, B_ALONG = GT_TB, /* whether the operand is contiguous along k */

    /* lines: threads that share a line, and lines of a block */
    READERS = 8, LINES = GT_HELPERS / READERS,

    /* planes: a thread makes one chunk of each plane */
    SPLIT_ROWS = GT_HELPERS / CHUNKS,
    SPLIT_LD = GT_SPLIT_LD, /* length of a row in shared memory, a spare element a chunk */

    /* gemm: a fragment is 16 rows x 8 columns, 4 sums a thread. The four warps of a
     * warpgroup lie 16 rows apart. */
    APART = GT_ENGINE ? 64 : 16,
    FRAGS_M = WM / APART, FRAGS_N = WN / 8, FRAGS = FRAGS_M * FRAGS_N,

    /* plain: tile of a block and of a thread, k of a step */
    PLAIN = GT_PLAIN, PLAIN_EACH = 4, PLAIN_K = 16
};

/* ---- places ------------------------------------------------------------------------- */

/* The place of chunk c of row r in a tile: the swizzle by 128 or 64 bytes. Eight rows of
 * one chunk meet every bank of shared memory once. */
GT_INLINE int place(int r, int c) {
    return r * BK + ((c ^ r / (128 / BK)) & (CHUNKS - 1)) * 16;
}

/* An operand, seen from its lines. */
struct operand {
    const gt_ab *at;
    gt_long line_step, k_step; /* elements */
    gt_long first, count;      /* its lines: the row of the first one in a slab; how many */
};

/* The operand that has this row of slabs. Rows from first + count on are padding. */
#define GT_OPERAND_OF(row)                                                                 \
    ((row) < GT_HIGH ? operand_of(a, lda, A_ALONG, 0, m)                                   \
                     : operand_of(b, ldb, B_ALONG, GT_HIGH, n))

GT_INLINE struct operand operand_of(const gt_ab *at, gt_long ld, int along, gt_long first,
                                    int count) {
    const struct operand of = {at, along ? ld : 1, along ? 1 : ld, first, count};
    return of;
}

#define GT_LINE_AT(row) ((struct gt_line *)((char *)workspace + GT_AT_LINES) + (row))
#define GT_MARK_AT(tile) ((int *)((char *)workspace + GT_AT_MARKS) + (tile))

/* ---- lines -------------------------------------------------------------------------- */

/* The sizes and the lowest bit of a line's elements: gt_line_of takes them. */
struct found {
    double most, sum;
    int lowest;
};

/* A NaN or an infinity is in the sum. */
GT_INLINE void add_element(struct found *f, double x) {
    const double size = fabs(x);
    f->sum += size;
    if (size > 0) {
        f->most = size > f->most ? size : f->most;
        f->lowest = GT_MIN(f->lowest, gt_lowest(size));
    }
}

GT_INLINE void add_found(struct found *f, const struct found *other) {
    f->sum += other->sum;
    f->most = other->most > f->most ? other->most : f->most;
    f->lowest = GT_MIN(f->lowest, other->lowest);
}

GT_KERNEL(lines, GT_HELPERS, 1, 2)(GT_PARAMS) {
    GT_SHARED_ARRAY(struct found, part, GT_HELPERS);
    GT_FOLLOW();
    GT_PRODUCT();
    const int t = GT_THREAD_X;
    const gt_long row0 = GT_BLOCK * (gt_long)LINES;
    const struct operand of = GT_OPERAND_OF(row0);
    const int along = of.k_step == 1; /* neighbouring threads read neighbouring elements */
    const int row = along ? t / READERS : t % LINES;
    const int reader = along ? t % READERS : t / LINES;
    const gt_long line = row0 + row - of.first;
    const int depth = alpha == 0 || line >= of.count ? 0 : k;
    const gt_ab *x = of.at + line * of.line_step;
    struct found found = {0, 0, 1 << 20};
    GT_UNROLL_BY(8)
    for (int p = reader; p < depth; p += READERS)
        add_element(&found, x[p * of.k_step]);
    part[reader * LINES + row] = found;
    GT_BARRIER();
    if (t < LINES) {
        found = part[t];
        for (int i = 1; i < READERS; i++)
            add_found(&found, &part[i * LINES + t]);
        *GT_LINE_AT(row0 + t) = gt_line_of(MODULI, found.most, found.sum, found.lowest);
    }
}

/* ---- planes ------------------------------------------------------------------------- */

/* Copies SPLIT_ROWS rows of the slab at k0 to shared memory, with zeros past the edges. */
GT_INLINE void gather(gt_ab *tile, struct operand of, gt_long line0, int k0, int k, int t) {
    const int along = of.k_step == 1;
    gt_ab element[16];
    GT_UNROLL
    for (int i = 0; i < 16; i++) {
        const int e = t + i * GT_HELPERS;
        const gt_long line = line0 + (along ? e / BK : e % SPLIT_ROWS);
        const int at = k0 + (along ? e % BK : e / SPLIT_ROWS);
        element[i] = line < of.count && at < k ? of.at[line * of.line_step + at * of.k_step]
                                               : 0;
    }
    GT_UNROLL
    for (int i = 0; i < 16; i++) {
        const int e = t + i * GT_HELPERS;
        const int row = along ? e / BK : e % SPLIT_ROWS;
        const int at = along ? e % BK : e / SPLIT_ROWS;
        tile[row * SPLIT_LD + at + at / 16] = element[i];
    }
}

/* Stores a chunk of a plane: the low bytes of the values. */
GT_INLINE void put_chunk(byte *to, const unsigned value[16]) {
    unsigned word[4];
    GT_UNROLL
    for (int i = 0; i < 16; i += 4)
        word[i / 4] = gt_pack_bytes(value[i], value[i + 1], value[i + 2], value[i + 3]);
    gt_store_words(16, (char *)to, word);
}

/* Stores the chunks of 16 elements of a line. */
GT_INLINE void split(byte *to, gt_long plane_bytes, const gt_ab *x, struct gt_line line,
                     const struct gt_reducer *reducers) {
    unsigned long long raised[16];
    unsigned value[16];
    GT_UNROLL
    for (int i = 0; i < 16; i++) {
        const unsigned long long integer = gt_integer(x[i], line.shift);
        raised[i] = gt_raised(integer, x[i] < 0);
        value[i] = (unsigned)gt_size_byte(integer, line.top);
    }
    put_chunk(to, value);
    GT_UNROLL_BY(1)
    for (int l = 0; l < MODULI; l++) {
        const struct gt_reducer r = reducers[l];
        GT_UNROLL
        for (int i = 0; i < 16; i++)
            value[i] = gt_residue(r, raised[i]);
        to += plane_bytes;
        put_chunk(to, value);
    }
}

GT_KERNEL(planes, GT_HELPERS, 1, 2)(GT_PARAMS) {
    GT_SHARED_ARRAY(struct gt_reducer, reducers, GT_SPLIT_SMEM / 32);
    GT_FOLLOW();
    GT_PRODUCT();
    gt_ab *tile = (gt_ab *)(reducers + MODULI);
    const int t = GT_THREAD_X, r = t / CHUNKS, chunk = t % CHUNKS;
    const int pieces = (int)(GT_ROWS / SPLIT_ROWS), slab = GT_BLOCK / pieces;
    const gt_long row0 = GT_BLOCK % pieces * (gt_long)SPLIT_ROWS;
    const struct operand of = GT_OPERAND_OF(row0);
    if (alpha == 0 || k == 0)
        return;
    if (t < MODULI)
        reducers[t] = gt_reducer_of(MODULI, t, of.first == 0);
    gather(tile, of, row0 - of.first, slab * BK, k, t);
    GT_BARRIER();
    split((byte *)workspace + (slab * GT_ROWS + row0) * BK + place(r, chunk), GT_PLANE,
          tile + r * SPLIT_LD + chunk * 17, *GT_LINE_AT(row0 + r), reducers);
}

/* ---- gemm: copies and products ------------------------------------------------------ */

/* Where a block's walk through the slabs of a tile begins. */
struct walk {
    const byte *a, *b;
    gt_long step; /* bytes from a slab to the next */
    int left;     /* slabs that have not been asked for */
};

GT_INLINE void set_sums(int acc[FRAGS][4], int value) {
    GT_UNROLL
    for (int e = 0; e < FRAGS * 4; e++)
        acc[e / 4][e % 4] = value;
}

#if GT_ENGINE == 0
GT_INLINE void copy_chunk(char *to, const byte *from) {
#if __CUDA_ARCH__ >= 800
    gt_bytes_copy(16, to, (const char *)from, 16);
#else
    unsigned word[4];
    gt_load_words(16, 1, word, (const char *)from, 16);
    gt_store_words(16, to, word);
#endif
}

/* Loads four matrices of 8 rows x 16 bytes. Lane l gives the address of row l % 8 of matrix
 * l / 8. */
GT_INLINE void load_matrices(unsigned r[4], int at) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at)
                 : "memory");
}

/* 16 x 32 bytes by 32 x 8; with sm_75 8 x 16 by 16 x 8. */
GT_INLINE void multiply_add(int d[4], const unsigned a[4], const unsigned b[2]) {
#if __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
    GT_UNROLL
    for (int i = 0; i < 4; i++) /* the upper rows, then the lower ones; halves of k */
        asm("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0, %1}, {%2}, {%3}, "
            "{%0, %1};"
            : "+r"(d[i / 2 * 2]), "+r"(d[i / 2 * 2 + 1])
            : "r"(a[i / 2 + i % 2 * 2]), "r"(b[i % 2]));
#endif
}

/* Starts to copy the next slabs, if there are any, to a stage. */
GT_INLINE void fetch(struct walk *w, char *stage, int t) {
    if (w->left > 0) {
        GT_UNROLL
        for (int i = 0; i < SLAB_A / 16 / WORKERS; i++)
            copy_chunk(stage + (t + i * WORKERS) * 16, w->a + (t + i * WORKERS) * 16);
        GT_UNROLL
        for (int i = 0; i < SLAB_B / 16 / WORKERS; i++)
            copy_chunk(stage + SLAB_A + (t + i * WORKERS) * 16,
                       w->b + (t + i * WORKERS) * 16);
        w->a += w->step;
        w->b += w->step;
        w->left--;
    }
    GT_BYTES_COMMIT();
}

/* acc += the warp's rows of slab A x its columns of slab B, from warp_m and warp_n on. */
GT_INLINE void multiply(int acc[FRAGS][4], int stage, int warp_m, int warp_n, int lane) {
    GT_UNROLL
    for (int c = 0; c < CHUNKS; c += 2) {
        unsigned fa[FRAGS_M][4], fb[FRAGS_N / 2][4];
        GT_UNROLL
        for (int i = 0; i < FRAGS_M; i++)
            load_matrices(fa[i], stage + place(warp_m + i * 16 + lane % 16, c + lane / 16));
        GT_UNROLL
        for (int j = 0; j < FRAGS_N / 2; j++)
            load_matrices(fb[j],
                          stage + SLAB_A + place(warp_n + j * 16 + lane / 16 * 8 + lane % 8,
                                                 c + lane / 8 % 2));
        GT_UNROLL
        for (int i = 0; i < FRAGS_M; i++)
            GT_UNROLL
            for (int j = 0; j < FRAGS_N; j++)
                multiply_add(acc[i * FRAGS_N + j], fa[i], fb[j / 2] + j % 2 * 2);
    }
}

/* A ring of stages that all threads fill and read. */
struct ring {
    char *stages;
    struct walk walk;
    int now, free; /* the stage in use next, and the one that was read last */
};

GT_INLINE struct ring ring_of(char *stages) {
    const struct ring r = {stages, {0, 0, 0, 0}, 0, STAGES - 1};
    return r;
}

GT_INLINE void start(struct ring *r, struct walk w, int t) {
    r->walk = w, r->now = 0, r->free = STAGES - 1;
    GT_UNROLL
    for (int s = 0; s < STAGES - 1; s++)
        fetch(&r->walk, r->stages + s * SLAB, t);
}

/* acc += the product of some slabs. */
GT_INLINE void multiply_slabs(int acc[FRAGS][4], struct ring *r, int slabs, int warp_m,
                              int warp_n, int t) {
    GT_UNROLL_BY(1)
    for (int s = 0; s < slabs; s++) {
        GT_BYTES_WAIT(STAGES - 2);
        GT_BARRIER(); /* the stage is there, and the one before it has been read */
        fetch(&r->walk, r->stages + r->free * SLAB, t);
        multiply(acc, gt_shared_address(r->stages + r->now * SLAB), warp_m, warp_n, t % 32);
        r->free = r->now;
        r->now = r->now + 1 < STAGES ? r->now + 1 : 0;
    }
}

GT_INLINE void tell_doubt(int doubt) {}
GT_INLINE void end_doubt(int barrier, int parity) {}

#define GT_WORKERS_BARRIER() GT_BARRIER()

#else
/* Copies `bytes` contiguous bytes; they count as arrived at the barrier. */
GT_INLINE void copy_bulk(int to, const byte *from, int bytes, int barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1], %2, [%3];" ::"r"(to),
                 "l"(from), "r"(bytes), "r"(barrier)
                 : "memory");
}

/* The same to every block of the cluster, and to the barrier at this address in each. */
GT_INLINE void copy_bulk_to_all(int to, const byte *from, int bytes, int barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                 ".multicast::cluster [%0], [%1], %2, [%3], %4;" ::"r"(to),
                 "l"(from), "r"(bytes), "r"(barrier), "h"((short)((1 << CLUSTER) - 1))
                 : "memory");
}

/* The block's rank in its cluster. */
GT_INLINE int rank_here(void) {
    int rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

/* Waits for all threads of all blocks of the cluster. */
GT_INLINE void meet(void) {
    if (CLUSTER == 1)
        GT_BARRIER();
    else
        asm volatile("barrier.cluster.arrive.release;\n"
                     "barrier.cluster.wait.acquire;" ::
                         : "memory");
}

/* The descriptor for wgmma of rows of 128 bytes of k: address, bytes from 8 rows to the
 * next 8 (both in units of 16), swizzle by 128 bytes. */
GT_INLINE unsigned long long describe(int at) {
    return (unsigned long long)((at & 0x3ffff) >> 4) | 1ull << 16 |
           (unsigned long long)(8 * BK / 16) << 32 | 1ull << 62;
}

/* The numbers of operands 2 to n / 2 + 1, which are sums; 0 and 1 are the descriptors. */
#define TEN(p)                                                                             \
    "%" #p "0,%" #p "1,%" #p "2,%" #p "3,%" #p "4,"                                        \
    "%" #p "5,%" #p "6,%" #p "7,%" #p "8,%" #p "9"
#define NAMES_10 "%2,%3,%4,%5,%6,%7,%8,%9"
#define NAMES_64 NAMES_10 "," TEN(1) "," TEN(2) ",%30,%31,%32,%33"
#define NAMES_60 NAMES_10 "," TEN(1) "," TEN(2) "," TEN(3) "," TEN(4) "," TEN(5)
#define NAMES_128 NAMES_60 ",%60,%61,%62,%63,%64,%65"
#define NAMES_256                                                                          \
    NAMES_60 "," TEN(6) "," TEN(7) "," TEN(8) "," TEN(9) "," TEN(10) "," TEN(11)           \
             ",%120,%121,%122,%123,%124,%125,%126,%127,%128,%129"
#define REGS_4(i) "+r"(d[i]), "+r"(d[i + 1]), "+r"(d[i + 2]), "+r"(d[i + 3])
#define REGS_16(i) REGS_4(i), REGS_4(i + 4), REGS_4(i + 8), REGS_4(i + 12)
#define REGS_64 REGS_16(0), REGS_16(16)
#define REGS_128 REGS_64, REGS_16(32), REGS_16(48)
#define REGS_256                                                                           \
    REGS_128, REGS_16(64), REGS_16(80), REGS_16(96), REGS_16(112)
#define MULTIPLY_ADD_(n)                                                                   \
    asm volatile("wgmma.mma_async.sync.aligned.m64n" #n "k32.s32.s8.s8 {" NAMES_##n        \
                 "}, %0, %1, 1;"                                                           \
                 : "+l"(desc_a), "+l"(desc_b), REGS_##n)
#define MULTIPLY_ADD(n) MULTIPLY_ADD_(n)

/* Starts 64 x 32 bytes by 32 x BN. */
GT_INLINE void multiply_add(int *d, unsigned long long desc_a, unsigned long long desc_b) {
    MULTIPLY_ADD(GT_BN);
}

/* Keeps the compiler from moving uses of sums across this place. */
GT_INLINE void hold(int acc[FRAGS][4]) {
    GT_UNROLL
    for (int e = 0; e < FRAGS * 4; e++)
        asm volatile("" : "+r"(acc[e / 4][e % 4])::"memory");
}

/* Waits until at most `flying` batches of products are unfinished. */
#define AWAIT_PRODUCTS(flying) \
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(flying) : "memory")

/* Starts acc += the warpgroup's rows of slab A x slab B. */
GT_INLINE void multiply(int acc[FRAGS][4], int stage, int row0) {
    const unsigned long long a = describe(stage + row0 * BK),
                             b = describe(stage + SLAB_A);
    hold(acc);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    GT_UNROLL
    for (int k = 0; k < BK / 32; k++)
        GT_UNROLL
        for (int i = 0; i < FRAGS_M; i++)
            multiply_add(acc[i * FRAGS_N], a + k * 2 + i * (64 * BK / 16), b + k * 2);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    hold(acc);
}

/* A ring of stages that one thread fills. Each stage has two barriers: `full`, at which
 * copies arrive, and `empty`, at which warps do when they have read it. */
struct ring {
    int stages, full, empty; /* shared addresses */
    struct gt_turn turn;
};

GT_INLINE struct ring ring_of(char *stages) {
    const int at = gt_shared_address(stages), full = at + GT_AT_BARRIERS;
    const struct ring r = {at, full, full + STAGES * 8, {0, 0}};
    return r;
}

GT_INLINE void ring_init(struct ring r) {
    for (int s = 0; s < STAGES; s++) {
        gt_barrier_init(r.full + s * 8, 1);
        gt_barrier_init(r.empty + s * 8, WORKERS / 32 * CLUSTER);
    }
    gt_barrier_init(r.stages + GT_AT_DOUBT + 8, CLUSTER);
    gt_barrier_init_done();
}

/* Copies slabs. In the first round all stages are free: the phase before the first has
 * passed. */
GT_INLINE void produce(struct ring *r, struct walk w) {
    const int part = rank_here() * (SLAB_B / CLUSTER);
    GT_UNROLL_BY(1)
    for (; w.left > 0; w.left--) {
        const int stage = r->stages + r->turn.stage * SLAB;
        const int barrier = r->full + r->turn.stage * 8;
        gt_barrier_wait(r->empty + r->turn.stage * 8, r->turn.parity ^ 1);
        gt_barrier_arrive_expecting(barrier, SLAB);
        copy_bulk(stage, w.a, SLAB_A, barrier);
        if (CLUSTER == 1)
            copy_bulk(stage + SLAB_A, w.b, SLAB_B, barrier);
        else
            copy_bulk_to_all(stage + SLAB_A + part, w.b + part, SLAB_B / CLUSTER, barrier);
        w.a += w.step;
        w.b += w.step;
        r->turn = gt_turn_next(STAGES, r->turn);
    }
}

/* The copying warp does. */
GT_INLINE void start(struct ring *r, struct walk w, int t) {}

/* Tells the blocks that fill the stage that this warp has read it. */
GT_INLINE void release(const struct ring *r, int stage, int lane) {
    if (lane < CLUSTER && stage >= 0)
        gt_barrier_arrive_in(r->empty + stage * 8, lane);
}

/* acc += the product of some slabs. One batch of products starts while the one before it
 * runs. The stage of the earlier batch is free when that batch is done. */
GT_INLINE void multiply_slabs(int acc[FRAGS][4], struct ring *r, int slabs, int warp_m,
                              int warp_n, int t) {
    int before = -1; /* the stage of the running batch */
    GT_UNROLL_BY(1)
    for (int s = 0; s < slabs; s++) {
        gt_barrier_wait(r->full + r->turn.stage * 8, r->turn.parity);
        gt_warp_barrier();
        multiply(acc, r->stages + r->turn.stage * SLAB, warp_m);
        AWAIT_PRODUCTS(1);
        release(r, before, t % 32);
        before = r->turn.stage;
        r->turn = gt_turn_next(STAGES, r->turn);
    }
    AWAIT_PRODUCTS(0);
    hold(acc);
    release(r, before, t % 32);
}

/* Tells the other block of the cluster of a doubt; `doubt` is its shared address. */
GT_INLINE void tell_doubt(int doubt) {
    if (CLUSTER > 1)
        asm volatile("{\n"
                     ".reg .b32 there;\n"
                     "mapa.shared::cluster.u32 there, %0, %1;\n"
                     "st.shared::cluster.u32 [there], 1;\n"
                     "}" ::"r"(doubt),
                     "r"(rank_here() ^ 1)
                     : "memory");
}

/* Waits until all blocks of the cluster have told. */
GT_INLINE void end_doubt(int barrier, int parity) {
    if (CLUSTER == 1)
        return;
    asm volatile("fence.acq_rel.cluster;" ::: "memory");
    for (int rank = 0; rank < CLUSTER; rank++)
        gt_barrier_arrive_in(barrier, rank);
    gt_barrier_wait(barrier, parity);
    asm volatile("fence.acq_rel.cluster;" ::: "memory");
}

#define GT_WORKERS_BARRIER() gt_group_barrier(1, WORKERS)
#endif

/* ---- gemm: sums --------------------------------------------------------------------- */

/* A thread's part of a tile: the first row and column. Element e of fragment f lies at
 * row + row_of(f, e), col + col_of(f, e). `a` and `b` are the lines there. */
struct part {
    int row, col;
    const struct gt_line *a, *b;
};

GT_INLINE int row_of(int f, int e) {
    return f / FRAGS_N * APART + e / 2 * 8;
}

GT_INLINE int col_of(int f, int e) {
    return f % FRAGS_N * 8 + e % 2;
}

/* Where the part of a working thread's warp, or warpgroup, begins in a tile. */
GT_INLINE int warp_m_of(int t) {
    return t / (GT_ENGINE ? 128 : 32) / (BN / WN) * WM;
}
GT_INLINE int warp_n_of(int t) {
    return t / (GT_ENGINE ? 128 : 32) % (BN / WN) * WN;
}

GT_INLINE int all_trusted(const int sizes[FRAGS][4], struct part p, int k) {
    const double allowed = gt_allowed(k);
    int trusted = 1;
    GT_UNROLL
    for (int f = 0; f < FRAGS; f++)
        GT_UNROLL
        for (int e = 0; e < 4; e++)
            trusted &= gt_trusted(p.a[row_of(f, e)], p.b[col_of(f, e)], sizes[f][e], k,
                                  allowed);
    return trusted;
}

/* Stores the residues, WORKERS words apart. */
GT_INLINE void put_residues(unsigned *to, const int acc[FRAGS][4], struct gt_divisor d) {
    GT_UNROLL
    for (int f = 0; f < FRAGS; f++) {
        unsigned y[4];
        GT_UNROLL
        for (int e = 0; e < 4; e++)
            y[e] = gt_sum_residue((unsigned)acc[f][e], d);
        to[f * WORKERS] = gt_pack_bytes(y[0], y[1], y[2], y[3]);
    }
}

/* Adds a trio to the sums of four elements. Byte e of a word is that of element e. */
GT_INLINE void add_trio(struct gt_total total[4], struct gt_cofactor cofactor,
                        const unsigned word[GT_TRIO]) {
    const unsigned upper = __byte_perm(word[0], word[1], 0x5140);
    const unsigned lower = __byte_perm(word[0], word[1], 0x7362);
    gt_total_add(MODULI, &total[0], cofactor, __byte_perm(upper, word[2], 0x0410));
    gt_total_add(MODULI, &total[1], cofactor, __byte_perm(upper, word[2], 0x0532));
    gt_total_add(MODULI, &total[2], cofactor, __byte_perm(lower, word[2], 0x0610));
    gt_total_add(MODULI, &total[3], cofactor, __byte_perm(lower, word[2], 0x0732));
}

/* The sums of a fragment's elements from the words of its residues. */
GT_INLINE void get_sums(gt_acc sum[4], const unsigned *from,
                        const struct gt_cofactor *cofactors, int f, struct part p) {
    struct gt_total total[4];
    unsigned word[TRIOS * GT_TRIO];
    GT_UNROLL
    for (int l = 0; l < TRIOS * GT_TRIO; l++)
        word[l] = l < MODULI ? from[(l * FRAGS + f) * WORKERS] : 0;
    GT_UNROLL
    for (int e = 0; e < 4; e++)
        gt_total_clear(&total[e]);
    GT_UNROLL
    for (int trio = 0; trio < TRIOS; trio++)
        add_trio(total, cofactors[trio], word + trio * GT_TRIO);
    GT_UNROLL
    for (int e = 0; e < 4; e++)
        sum[e] = gt_total_value(&total[e], cofactors[TRIOS],
                                -p.a[row_of(f, e)].shift - p.b[col_of(f, e)].shift);
}

/* Stores the four elements of a fragment at c, pairs of neighbours in a row. */
GT_INLINE void store(gt_c *c, gt_long ldc, gt_acc alpha, const gt_acc sum[4], gt_acc beta,
                     int rows, int cols) {
    GT_UNROLL
    for (int e = 0; e < 4; e++)
        if (e / 2 * 8 < rows && e % 2 < cols)
            gt_store_c(c + e / 2 * 8 * ldc + e % 2, alpha, sum[e], beta);
}

/* ---- gemm --------------------------------------------------------------------------- */

/* Shared numbers that a block makes once. */
struct tables {
    struct gt_cofactor cofactor[TRIOS + 1];
    struct gt_divisor divisor[MODULI];
};

GT_INLINE void make_tables(struct tables *tables, int t) {
    if (t <= TRIOS)
        tables->cofactor[t] = gt_cofactor_of(MODULI, t);
    if (t < MODULI)
        tables->divisor[t] = gt_divisor_of(t);
}

/* A block's state. */
struct block {
    struct ring ring;
    int *doubt; /* shared: two words, for looks in turn: 1 when a sum is not trusted */
    const struct tables *tables;
    unsigned *residues;  /* of the block: of two tiles in turn, for wgmma */
    int *marks;          /* of all tiles, row by row */
    const byte *a, *b;   /* the first slab of all rows and columns in plane 0 */
    gt_long slab_step;   /* bytes from a slab to the next */
    const struct gt_line *lines_a, *lines_b;
    int k, slabs;        /* slabs of a plane: 0 where A and B are not read */
    int tiles_m, tiles_n;
    int at, step, end;   /* its tile; from one to the next; where tiles end */
    int tiles, looks;    /* that are behind it */
};

GT_INLINE void next_tile(struct block *b) {
    b->at += b->step;
    b->tiles++;
}

GT_INLINE unsigned *residues_of(const struct block *b, int t) {
    return b->residues + (GT_ENGINE ? b->tiles % 2 : 0) * (MODULI * FRAGS * WORKERS) + t;
}

/* A tile's place in C, and where its slabs begin. */
struct tile {
    int row, col;
    int *mark;
    struct walk walk;
};

/* The block's tile. GROUP rows of tiles are walked column by column. */
GT_INLINE struct tile tile_of(const struct block *b) {
    const int band = b->at / (GT_GROUP * b->tiles_n);
    const int in_band = b->at % (GT_GROUP * b->tiles_n);
    const int high = GT_MIN(b->tiles_m - band * GT_GROUP, GT_GROUP);
    const int row = band * GT_GROUP + in_band % high, col = in_band / high;
    const struct tile tile = {row * BM,
                              col * BN,
                              b->marks + row * b->tiles_n + col,
                              {b->a + row * (gt_long)SLAB_A, b->b + col * (gt_long)SLAB_B,
                               b->slab_step, 0}};
    return tile;
}

GT_INLINE struct part part_of(const struct block *b, const struct tile *tile, int t) {
    const int row = tile->row + warp_m_of(t) + (GT_ENGINE ? t / 32 % 4 * 16 : 0);
    const int col = tile->col + warp_n_of(t) + t % 4 * 2;
    const struct part p = {row + t % 32 / 4, col, b->lines_a + row + t % 32 / 4,
                           b->lines_b + col};
    return p;
}

/* The first look at the sizes: slabs after which uniform data are mostly trusted. Later
 * looks are each at twice as many. */
GT_INLINE int first_look(int slabs) {
    return GT_MAX(1, slabs * (MODULI == 14 ? 6 : 1) / 16);
}

/* From slab `first` of a plane on. */
GT_INLINE struct walk walk_from(struct walk w, int first, int count) {
    w.a += first * w.step;
    w.b += first * w.step;
    w.left = count;
    return w;
}

/* What all workers, and the warp that copies, are told after a look. */
GT_INLINE int await_verdict(struct block *b) {
#if GT_ENGINE
    gt_group_barrier(2, WORKERS + COPIERS);
#else
    GT_BARRIER();
#endif
    return b->doubt[b->looks++ & 1];
}

/*
 * Whether a thread of the cluster has a doubt. The word of the look before has been read by
 * all then, and is cleared for the next look. No block writes there before this one has
 * told that this look has ended.
 */
GT_INLINE int any_doubt(struct block *b, int doubt, int t) {
    int *const word = b->doubt + (b->looks & 1);
    if (doubt) {
        *word = 1;
        tell_doubt(gt_shared_address(word));
    }
    GT_WORKERS_BARRIER();
    if (t == 0) {
        b->doubt[(b->looks & 1) ^ 1] = 0;
        end_doubt(gt_shared_address(b->doubt) + 8, b->looks & 1);
    }
    return await_verdict(b);
}

/* Whether the size bytes' product leaves a doubt about the tile. acc is scratch. */
GT_INLINE int is_doubtful(struct block *b, int acc[FRAGS][4], struct walk w, struct part p,
                          int t) {
    int done = 0, doubt = 1;
    set_sums(acc, 0);
    GT_UNROLL_BY(1)
    for (int until = first_look(b->slabs); doubt && done < b->slabs; until *= 2) {
        const int count = GT_MIN(until, b->slabs) - done;
        start(&b->ring, walk_from(w, done, count), t);
        multiply_slabs(acc, &b->ring, count, warp_m_of(t), warp_n_of(t), t);
        doubt = any_doubt(b, !all_trusted(acc, p, b->k), t);
        done += count;
    }
    return doubt;
}

/* The second warpgroup begins when the first one is LAG slabs ahead. */
GT_INLINE void multiply_first_plane(struct block *b, int acc[FRAGS][4], int t) {
#if GT_ENGINE
    if (LAG > 0 && t < 128) {
        const int ahead = GT_MIN(LAG, b->slabs);
        multiply_slabs(acc, &b->ring, ahead, warp_m_of(t), warp_n_of(t), t);
        asm volatile("bar.arrive 7, 256;" ::: "memory");
        multiply_slabs(acc, &b->ring, b->slabs - ahead, warp_m_of(t), warp_n_of(t), t);
        return;
    }
    if (LAG > 0)
        gt_group_barrier(7, 256);
#endif
    multiply_slabs(acc, &b->ring, b->slabs, warp_m_of(t), warp_n_of(t), t);
}

/* Computes the residues of the tile's sums. acc is scratch. */
GT_INLINE void compute_residues(struct block *b, int acc[FRAGS][4], struct walk w, int t) {
    start(&b->ring, walk_from(w, b->slabs, MODULI * b->slabs), t);
    GT_UNROLL_BY(1)
    for (int l = 0; l < MODULI; l++) {
        const struct gt_divisor d = b->tables->divisor[l];
        set_sums(acc, (int)d.start);
        if (l == 0)
            multiply_first_plane(b, acc, t);
        else
            multiply_slabs(acc, &b->ring, b->slabs, warp_m_of(t), warp_n_of(t), t);
        put_residues(residues_of(b, t) + l * (FRAGS * WORKERS), acc, d);
    }
}

/* C, and how it is stored. */
struct target {
    gt_c *c;
    gt_long ld;
    gt_acc alpha, beta;
    int m, n;
};

/* Makes C of the residues of working thread t. */
GT_INLINE void finish(const struct block *b, const struct target *to, struct part p,
                      int t) {
    GT_UNROLL_BY(1)
    for (int f = 0; f < FRAGS; f++) {
        const int row = p.row + row_of(f, 0), col = p.col + col_of(f, 0);
        gt_acc sum[4] = {0, 0, 0, 0};
        if (b->slabs > 0)
            get_sums(sum, residues_of(b, t), b->tables->cofactor, f, p);
        store(to->c + row * to->ld + col, to->ld, to->alpha, sum, to->beta, to->m - row,
              to->n - col);
    }
}

GT_INLINE void tell(int id) {
#if GT_ENGINE
    asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(WORKERS + FINISHERS) : "memory");
#endif
}

/*
 * Workers tell that the residues of a tile are complete, finishers that they have read
 * them. There are two barriers of each kind, for the tiles in turn. The last tile is
 * finished by the workers, who have nothing else to do then.
 */
GT_INLINE int is_last(const struct block *b) {
    return !GT_ENGINE || b->slabs == 0 || b->at + b->step >= b->end;
}

/* What a worker does for a tile. */
GT_INLINE void work_tile(struct block *b, const struct target *to, int t) {
    const struct tile tile = tile_of(b);
    const struct part p = part_of(b, &tile, t);
    int acc[FRAGS][4], given_up = 0;
    GT_WORKERS_BARRIER(); /* the tile before is done */
    if (b->slabs > 0) {
        given_up = is_doubtful(b, acc, tile.walk, p, t);
#if GT_ENGINE
        if (b->tiles >= 2)
            gt_group_barrier(5 + b->tiles % 2, WORKERS + FINISHERS);
#endif
        if (!given_up)
            compute_residues(b, acc, tile.walk, t);
    }
    if (t == 0)
        *tile.mark = given_up;
    if (!is_last(b))
        tell(3 + b->tiles % 2);
    else if (!given_up)
        finish(b, to, p, t);
}

#if GT_ENGINE
/* What a finisher does for a tile. */
GT_INLINE void finish_tile(const struct block *b, const struct target *to, int t) {
    const struct tile tile = tile_of(b);
    if (is_last(b))
        return;
    gt_group_barrier(3 + b->tiles % 2, WORKERS + FINISHERS);
    for (int of = t; of < WORKERS && !*tile.mark; of += FINISHERS)
        finish(b, to, part_of(b, &tile, of), of);
    if (b->at + 2 * b->step < b->end)
        tell(5 + b->tiles % 2);
}

/* What the warp that copies does for a tile. */
GT_INLINE void copy_tile(struct block *b, int lane) {
    const struct tile tile = tile_of(b);
    int done = 0, doubt = b->slabs > 0;
    GT_UNROLL_BY(1)
    for (int until = first_look(b->slabs); doubt && done < b->slabs; until *= 2) {
        const int count = GT_MIN(until, b->slabs) - done;
        if (lane == 0)
            produce(&b->ring, walk_from(tile.walk, done, count));
        gt_warp_barrier(); /* the warp comes to the block's barrier together */
        doubt = await_verdict(b);
        gt_warp_barrier(); /* all lanes have read it: another look may clear the word */
        done += count;
    }
    if (lane == 0 && !doubt)
        produce(&b->ring, walk_from(tile.walk, b->slabs, MODULI * b->slabs));
    gt_warp_barrier();
}

/* What the threads that do not multiply do for all tiles. */
GT_INLINE void help(struct block *b, const struct target *to, int t) {
    if (t < FINISHERS)
        for (; b->at < b->end; next_tile(b))
            finish_tile(b, to, t);
    else
        for (; b->at < b->end; next_tile(b))
            copy_tile(b, t % 32);
}
#endif

GT_KERNEL(gemm, GT_THREADS, 1, 1)(GT_PARAMS) {
    extern __shared__ __align__(1024) char stages[]; /* for wgmma's swizzle */
    GT_FOLLOW();
    GT_PRODUCT();
    const int t = GT_THREAD_X;
    const struct target to = {c, ldc, alpha, beta, m, n};
    struct tables *tables = (struct tables *)(stages + GT_AT_TABLES);
    struct block block = {ring_of(stages),
                          (int *)(stages + GT_AT_DOUBT),
                          tables,
                          (unsigned *)((char *)workspace + GT_AT_SUMS) +
                              (gt_long)GT_BLOCK * (GT_SUMS_BYTES / 4),
                          GT_MARK_AT(0),
                          (const byte *)workspace,
                          (const byte *)workspace + GT_HIGH * BK,
                          GT_ROWS * BK,
                          GT_LINE_AT(0),
                          GT_LINE_AT(GT_HIGH),
                          k,
                          alpha == 0 || k == 0 ? 0 : (int)GT_SLABS,
                          (int)(GT_HIGH / BM),
                          gt_cdiv(n, BN),
                          GT_BLOCK,
                          (int)GT_BLOCKS,
                          (int)GT_TILES,
                          0,
                          0};

    make_tables(tables, t);
    if (t == 0)
        block.doubt[0] = block.doubt[1] = 0;
#if GT_ENGINE
    if (t == 0)
        ring_init(block.ring);
    meet();
    if (t >= WORKERS) {
#if GT_GIVE
        GT_REGISTERS_GIVE(GT_GIVE);
#endif
        help(&block, &to, t - WORKERS);
    } else
#endif
    {
#if GT_GIVE
        GT_REGISTERS_TAKE(GT_TAKE);
#endif
        for (; block.at < block.end; next_tile(&block))
            work_tile(&block, &to, t);
    }
#if GT_ENGINE
    meet(); /* no block may leave while another one writes into its memory */
#endif
}

/* ---- plain -------------------------------------------------------------------------- */

/* The element at column `at` of k of a line; 0 past the edges. */
GT_INLINE gt_ab element(struct operand of, gt_long line, int at, int k) {
    return line < of.count && at < k ? of.at[line * of.line_step + at * of.k_step] : 0;
}

/* PLAIN_K of PLAIN lines, as rows of k. */
GT_INLINE void gather_plain(gt_ab *to, struct operand of, int line0, int k0, int k, int t) {
    const int along = of.k_step == 1;
    GT_UNROLL
    for (int i = 0; i < PLAIN * PLAIN_K / GT_HELPERS; i++) {
        const int e = t + i * GT_HELPERS;
        const int line = along ? e / PLAIN_K : e % PLAIN;
        const int at = along ? e % PLAIN_K : e / PLAIN;
        to[at * PLAIN + line] = element(of, line0 + line, k0 + at, k);
    }
}

GT_KERNEL(plain, GT_HELPERS, 1, 2)(GT_PARAMS) {
    GT_SHARED_ARRAY(gt_ab, slab, 2 * PLAIN * PLAIN_K);
    GT_FOLLOW();
    GT_PRODUCT();
    enum { EACH = PLAIN_EACH, APART = PLAIN / EACH };
    const int t = GT_THREAD_X, across = gt_cdiv(n, PLAIN), tiles_n = gt_cdiv(n, BN);
    const int row0 = GT_BLOCK / across * PLAIN, col0 = GT_BLOCK % across * PLAIN;
    if (*GT_MARK_AT(row0 / BM * tiles_n + col0 / BN) == 0)
        return;
    const struct operand of_a = GT_OPERAND_OF(0), of_b = GT_OPERAND_OF(GT_HIGH);
    gt_acc acc[EACH][EACH];
    GT_UNROLL
    for (int e = 0; e < EACH * EACH; e++)
        acc[e / EACH][e % EACH] = 0;
    for (int k0 = 0; k0 < k; k0 += PLAIN_K) {
        gather_plain(slab, of_a, row0, k0, k, t);
        gather_plain(slab + PLAIN * PLAIN_K, of_b, col0, k0, k, t);
        GT_BARRIER();
        GT_UNROLL
        for (int at = 0; at < PLAIN_K; at++)
            GT_UNROLL
            for (int e = 0; e < EACH * EACH; e++)
                acc[e / EACH][e % EACH] = gt_multiply_add(
                    slab[at * PLAIN + t / APART + e / EACH * APART],
                    slab[(PLAIN_K + at) * PLAIN + t % APART + e % EACH * APART],
                    acc[e / EACH][e % EACH]);
        GT_BARRIER();
    }
    GT_UNROLL
    for (int e = 0; e < EACH * EACH; e++) {
        const gt_long row = row0 + t / APART + e / EACH * APART;
        const int col = col0 + t % APART + e % EACH * APART;
        if (row < m && col < n)
            gt_store_c(c + row * ldc + col, alpha, acc[e / EACH][e % EACH], beta);
    }
}
