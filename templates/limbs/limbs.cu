/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limbs - 32-bit products modulo 2^32 on tensor cores that multiply bytes. With x = x0 +
 * 2^8 x1 + 2^16 x2 + 2^24 x3, where x0 .. x3 are unsigned bytes,
 *
 *     A B = sum over g < 4 of 2^8g G(g),   G(g) = sum over i + j = g of A_i B_j
 *
 * modulo 2^32. That takes ten products of byte matrices instead of sixteen, and is exact
 * since the sums wrap. Horner's rule, from g = 3 down with a shift by 8 between, needs one
 * set of accumulators.
 *
 * C[m,n] = alpha op(A) op(B) + beta C, row-major.
 *
 * `planes` runs first and writes the bytes to the workspace in the order that `gemm` needs
 * in shared memory. So `gemm` has nothing to do with layout and alignment, and with edges
 * only where C ends. The workspace holds slabs: BK bytes of k of every row of op(A) and,
 * below them, of every column of op(B):
 *
 *     slab      0 .. S-1   S .. 2S-1    2S..     3S..        S = slabs that hold k
 *             +----------+----------+----------+----------+
 *     A rows  |  byte 0  |  byte 1  |  byte 2  |  byte 3  |  padded with zeros to HIGH
 *             +----------+----------+----------+----------+
 *     B cols  |  byte 3  |  byte 2  |  byte 1  |  byte 0  |  padded with zeros to BN
 *             +----------+----------+----------+----------+
 *
 * B's bytes run backwards, so that G(g) is one product of depth (g + 1) S slabs: A's first
 * slabs by B's last ones. In a slab a row is BK contiguous bytes in chunks of 16, and a
 * tile's rows are contiguous. The chunks of a row are permuted (`place`), so that eight
 * rows of one chunk meet every bank of shared memory once. A tile is copied as it lies in
 * memory.
 *
 * ENGINE   0 mma.sync: warps compute WM x WN each, all threads copy (8.0 and later)
 *          1 wgmma: warpgroups of 128 compute WM x BN each, one more warp copies (9.0)
 * CLUSTER  blocks, one below the other; each copies a part of B for all of them (wgmma)
 * BM BN    tile of C            BK      bytes of k in a slab
 * WM WN    tile of a warp or warpgroup
 * STAGES   slabs of A and B in shared memory: one in use, the others on their way
 * GROUP    rows of tiles that are walked together, for the L2 cache
 *
 * gemmtune trial i32-nn-4096x4096x4096 --family limbs --point
 *  "ENGINE=1 CLUSTER=2 BM=128 BN=256 BK=128 WM=64 WN=256 STAGES=4 GROUP=16"
 */

typedef unsigned char byte;

enum {
    BM = GT_BM, BN = GT_BN, BK = GT_BK, WM = GT_WM, WN = GT_WN, STAGES = GT_STAGES,
    LIMBS = 4,
    CHUNKS = BK / 16, /* chunks of a row */
    SLAB_A = BM * BK, SLAB_B = BN * BK, SLAB = SLAB_A + SLAB_B,
    CLUSTER = GT_CLUSTER, HIGH = BM * CLUSTER, /* rows of all tiles of a cluster */

    /* planes */
    SPLITTERS = GT_SPLITTERS, /* threads, one a chunk */
    SPLIT_ROWS = SPLITTERS / CHUNKS,
    SPLIT_LD = GT_SPLIT_LD, /* length of a row in shared memory, a spare word a chunk */
    A_ALONG = !GT_TA, B_ALONG = GT_TB, /* whether the operand is contiguous along k */

    /* gemm: an accumulator is a fragment of 16 rows x 8 columns, 4 elements a thread. The
     * four warps of a warpgroup lie 16 rows apart. */
    APART = GT_ENGINE ? 64 : 16,
    FRAGS_M = WM / APART, FRAGS_N = WN / 8,
    ACCS = FRAGS_M * FRAGS_N * 4,
    RUN = 4 /* pairs stored together */
};

/* The place of chunk c of row r in a tile: the hardware's swizzle by 128 or 64 bytes. */
GT_INLINE int place(int r, int c) {
    return r * BK + ((c ^ r / (128 / BK)) & (CHUNKS - 1)) * 16;
}

/* The number of slabs that hold k; 0 when A and B are not read. */
GT_INLINE int slabs_of(int k, gt_acc alpha) {
    return alpha == 0 ? 0 : gt_cdiv(k, BK);
}

GT_INLINE gt_long padded(int count, int tile) {
    return ((count - 1) / tile + 1) * (gt_long)tile;
}

/* ---- planes ----------------------------------------------------------------------- */

/* Copies SPLIT_ROWS rows of the slab at k0 to shared memory, with zeros past the edges. */
GT_INLINE void gather(int along, gt_ab *tile, const gt_ab *x, gt_long ld, gt_long row0,
                      int rows, int k0, int k, int t) {
    gt_ab word[16];
    GT_UNROLL
    for (int i = 0; i < 16; i++) {
        const int e = t + i * SPLITTERS;
        const gt_long row = row0 + (along ? e / BK : e % SPLIT_ROWS);
        const int at = k0 + (along ? e % BK : e / SPLIT_ROWS);
        word[i] = row < rows && at < k ? x[along ? row * ld + at : at * ld + row] : 0;
    }
    GT_UNROLL
    for (int i = 0; i < 16; i++) {
        const int e = t + i * SPLITTERS;
        const int row = along ? e / BK : e % SPLIT_ROWS;
        const int at = along ? e % BK : e / SPLIT_ROWS;
        tile[row * SPLIT_LD + at + at / 16] = word[i];
    }
}

/* Sorts the bytes of 4 words: out[i] gets byte i of each. */
GT_INLINE void transpose(unsigned out[LIMBS], const gt_ab in[4]) {
    const unsigned low01 = __byte_perm(in[0], in[1], 0x5140);
    const unsigned low23 = __byte_perm(in[2], in[3], 0x5140);
    const unsigned high01 = __byte_perm(in[0], in[1], 0x7362);
    const unsigned high23 = __byte_perm(in[2], in[3], 0x7362);
    out[0] = __byte_perm(low01, low23, 0x5410);
    out[1] = __byte_perm(low01, low23, 0x7632);
    out[2] = __byte_perm(high01, high23, 0x5410);
    out[3] = __byte_perm(high01, high23, 0x7632);
}

GT_KERNEL(planes, GT_SPLITTERS, 1, 4)(GT_PARAMS) {
    GT_SHARED_ARRAY(gt_ab, tile, SPLIT_ROWS * SPLIT_LD);
    GT_FOLLOW();
    GT_PRODUCT();
    const int t = GT_THREAD_X;
    const int slabs = slabs_of(k, alpha);
    const gt_long rows_a = padded(m, HIGH), rows = rows_a + padded(n, BN);
    const int pieces = (int)(rows / SPLIT_ROWS), slab = GT_BLOCK / pieces;
    const gt_long row0 = GT_BLOCK % pieces * (gt_long)SPLIT_ROWS;
    const int of_b = row0 >= rows_a;
    if (slab >= slabs)
        return;
    if (of_b)
        gather(B_ALONG, tile, b, ldb, row0 - rows_a, n, slab * BK, k, t);
    else
        gather(A_ALONG, tile, a, lda, row0, m, slab * BK, k, t);
    GT_BARRIER();

    const int r = t / CHUNKS, chunk = t % CHUNKS;
    unsigned limb[4][LIMBS];
    GT_UNROLL
    for (int i = 0; i < 4; i++)
        transpose(limb[i], tile + r * SPLIT_LD + chunk * 17 + i * 4);
    byte *to = (byte *)workspace + (slab * rows + row0) * BK + place(r, chunk);
    GT_UNROLL
    for (int i = 0; i < LIMBS; i++) {
        const gt_ab words[4] = {limb[0][i], limb[1][i], limb[2][i], limb[3][i]};
        const int plane = of_b ? LIMBS - 1 - i : i;
        gt_store_global(4, (gt_ab *)(to + plane * (slabs * rows * BK)), words);
    }
}

/* ---- gemm: what both engines share ------------------------------------------------- */

/* The next slabs of a tile, in the order of use. */
struct walk {
    const byte *a, *b;           /* the first slabs of group 3 */
    const byte *next_a, *next_b; /* NULL past the end */
    gt_long step;                /* bytes from a slab to the next */
    int slabs, group, left;      /* slabs left in the group */
};

GT_INLINE void enter_group(struct walk *w, int group) {
    const int there = group >= 0 && w->slabs > 0;
    w->group = group;
    w->left = (group + 1) * w->slabs;
    w->next_a = there ? w->a : 0;
    w->next_b = there ? w->b + (LIMBS - 1 - group) * (w->slabs * w->step) : 0;
}

GT_INLINE void advance(struct walk *w) {
    w->next_a += w->step;
    w->next_b += w->step;
    if (--w->left == 0)
        enter_group(w, w->group - 1);
}

/* Shifts the accumulators between two groups. */
GT_INLINE void shift(gt_acc acc[ACCS]) {
    GT_UNROLL
    for (int e = 0; e < ACCS; e++)
        acc[e] <<= 8;
}

/* Stores a thread's accumulators, pairs of neighbours in a row, RUN pairs at a time. c
 * points to the thread's first element; rows and cols count from there. */
GT_INLINE void store(gt_c *c, gt_long ldc, gt_acc alpha, const gt_acc *acc,
                     gt_acc beta, int inside, int rows, int cols GT_PLACE_PARAMS) {
    GT_UNROLL
    for (int i = 0; i < FRAGS_M * 2; i++) {
        const int row = i / 2 * APART + i % 2 * 8;
        gt_c *to = c + row * ldc;
        GT_UNROLL
        for (int j0 = 0; j0 < FRAGS_N; j0 += RUN) {
            gt_c old[RUN * 2];
            GT_UNROLL
            for (int j = 0; j < RUN; j++)
                gt_load_c(2, old + j * 2, to + (j0 + j) * 8, beta, inside, 0,
                          row < rows ? cols - (j0 + j) * 8 : 0);
            GT_UNROLL
            for (int j = 0; j < RUN; j++)
                gt_store_row(2, to + (j0 + j) * 8, alpha,
                             acc + (i / 2 * FRAGS_N + j0 + j) * 4 + i % 2 * 2, beta,
                             old + j * 2, inside, 0,
                             row < rows ? cols - (j0 + j) * 8
                                        : 0 GT_PLACE(gt_i + row, gt_j + (j0 + j) * 8));
        }
    }
}

#if GT_ENGINE == 0
/* ---- mma.sync ---------------------------------------------------------------------- */

GT_INLINE void copy_chunk(int to, const byte *from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from));
}

/* Loads four matrices of 8 rows x 16 bytes. Lane l gives the address of row l % 8 of matrix
 * l / 8. */
GT_INLINE void load_matrices(unsigned r[4], int at) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at)
                 : "memory");
}

/* 16 x 32 bytes by 32 x 8. Without .satfinite the sums wrap. */
GT_INLINE void multiply_add(gt_acc d[4], const unsigned a[4], const unsigned b[2]) {
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, "
                 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/* Starts to copy the next slabs, if there are any, to a stage. */
GT_INLINE void fetch(struct walk *w, int stage, int t) {
    if (w->next_a) {
        GT_UNROLL
        for (int i = 0; i < SLAB_A / 16 / GT_THREADS; i++)
            copy_chunk(stage + (t + i * GT_THREADS) * 16,
                       w->next_a + (t + i * GT_THREADS) * 16);
        GT_UNROLL
        for (int i = 0; i < SLAB_B / 16 / GT_THREADS; i++)
            copy_chunk(stage + SLAB_A + (t + i * GT_THREADS) * 16,
                       w->next_b + (t + i * GT_THREADS) * 16);
        advance(w);
    }
    GT_COPY_COMMIT();
}

/* acc += the warp's rows of slab A x its columns of slab B, from warp_m and warp_n on. */
GT_INLINE void multiply(gt_acc acc[ACCS], int stage, int warp_m, int warp_n, int lane) {
    GT_UNROLL
    for (int k = 0; k < CHUNKS; k += 2) {
        unsigned fa[FRAGS_M][4], fb[FRAGS_N / 2][4];
        GT_UNROLL
        for (int i = 0; i < FRAGS_M; i++)
            load_matrices(fa[i], stage + place(warp_m + i * 16 + lane % 16, k + lane / 16));
        GT_UNROLL
        for (int j = 0; j < FRAGS_N / 2; j++)
            load_matrices(fb[j],
                          stage + SLAB_A + place(warp_n + j * 16 + lane / 16 * 8 + lane % 8,
                                                 k + lane / 8 % 2));
        GT_UNROLL
        for (int i = 0; i < FRAGS_M; i++)
            GT_UNROLL
            for (int j = 0; j < FRAGS_N; j++)
                multiply_add(acc + (i * FRAGS_N + j) * 4, fa[i], fb[j / 2] + j % 2 * 2);
    }
}

GT_INLINE void compute(gt_acc acc[ACCS], struct walk *w, byte *stages, int warp_m,
                       int warp_n, int t) {
    const int at = gt_shared_address(stages);
    int now = 0, free = STAGES - 1;
    GT_UNROLL
    for (int s = 0; s < STAGES - 1; s++)
        fetch(w, at + s * SLAB, t);
    GT_UNROLL_BY(1)
    for (int group = LIMBS - 1; group >= 0; group--) {
        GT_UNROLL_BY(1)
        for (int s = (group + 1) * w->slabs; s > 0; s--) {
            GT_COPY_WAIT(STAGES - 2);
            GT_BARRIER(); /* the stage is there, and the one before it has been read */
            fetch(w, at + free * SLAB, t);
            multiply(acc, at + now * SLAB, warp_m, warp_n, t % 32);
            free = now;
            now = now + 1 < STAGES ? now + 1 : 0;
        }
        if (group > 0)
            shift(acc);
    }
}

#else
/* ---- wgmma ------------------------------------------------------------------------- */

/* Arrives at the barrier at this address in block `rank` of the cluster. */
GT_INLINE void arrive(int barrier, int rank) {
    asm volatile("{\n"
                 ".reg .b32 there;\n"
                 "mapa.shared::cluster.u32 there, %0, %1;\n"
                 "mbarrier.arrive.shared::cluster.b64 _, [there];\n"
                 "}" ::"r"(barrier),
                 "r"(rank)
                 : "memory");
}

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

/* The descriptor for wgmma of a tile with rows of BK bytes in shared memory: address, bytes
 * from 8 rows to the next 8 (both in units of 16), swizzle by 128 (1) or 64 bytes (2). */
GT_INLINE unsigned long long describe(int at) {
    return (unsigned long long)((at & 0x3ffff) >> 4) | 1ull << 16 |
           (unsigned long long)(8 * BK / 16) << 32 | (BK == 128 ? 1ull : 2ull) << 62;
}

#define TEN(p)                                                                             \
    "%" #p "0,%" #p "1,%" #p "2,%" #p "3,%" #p "4,"                                        \
    "%" #p "5,%" #p "6,%" #p "7,%" #p "8,%" #p "9"
#define NAMES_32 TEN() "," TEN(1) "," TEN(2) ",%30,%31"
#define NAMES_64                                                                           \
    TEN() "," TEN(1) "," TEN(2) "," TEN(3) "," TEN(4) "," TEN(5) ",%60,%61,%62,%63"
#define NAMES_128                                                                          \
    TEN() "," TEN(1) "," TEN(2) "," TEN(3) "," TEN(4) "," TEN(5) "," TEN(6) "," TEN(7) "," \
        TEN(8) "," TEN(9) "," TEN(10) "," TEN(11)                                          \
        ",%120,%121,%122,%123,%124,%125,%126,%127"
#define REGS_4(i) "+r"(d[i]), "+r"(d[i + 1]), "+r"(d[i + 2]), "+r"(d[i + 3])
#define REGS_16(i) REGS_4(i), REGS_4(i + 4), REGS_4(i + 8), REGS_4(i + 12)
#define REGS_32(i) REGS_16(i), REGS_16(i + 16)
#define REGS_64(i) REGS_32(i), REGS_32(i + 32)
#define REGS_128(i) REGS_64(i), REGS_64(i + 64)

/* Starts 64 x 32 bytes by 32 x n. The operands are n / 2 accumulators, then the
 * descriptors. */
#define MULTIPLY_ADD_(n, names, regs, a, b, one)                                           \
    asm volatile("{\n"                                                                     \
                 ".reg .pred p;\n"                                                         \
                 "setp.ne.b32 p, %" #one ", 0;\n"                                          \
                 "wgmma.mma_async.sync.aligned.m64n" #n "k32.s32.u8.u8 {" names            \
                 "}, %" #a ", %" #b ", p;\n"                                               \
                 "}"                                                                       \
                 : regs(0)                                                                 \
                 : "l"(desc_a), "l"(desc_b), "r"(1))

GT_INLINE void multiply_add(gt_acc *d, unsigned long long desc_a,
                            unsigned long long desc_b) {
#if GT_BN == 64
    MULTIPLY_ADD_(64, NAMES_32, REGS_32, 32, 33, 34);
#elif GT_BN == 128
    MULTIPLY_ADD_(128, NAMES_64, REGS_64, 64, 65, 66);
#else
    MULTIPLY_ADD_(256, NAMES_128, REGS_128, 128, 129, 130);
#endif
}

/* Keeps the compiler from moving uses of accumulators across this place. */
GT_INLINE void hold(gt_acc acc[ACCS]) {
    GT_UNROLL
    for (int e = 0; e < ACCS; e++)
        asm volatile("" : "+r"(acc[e])::"memory");
}

/* Waits until at most `flying` batches of products are unfinished. */
#define AWAIT_PRODUCTS(flying) \
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(flying) : "memory")

/* Starts acc += the warpgroup's rows of slab A x slab B. */
GT_INLINE void multiply(gt_acc acc[ACCS], int stage, int row0) {
    const unsigned long long a = describe(stage + row0 * BK), b = describe(stage + SLAB_A);
    hold(acc);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    GT_UNROLL
    for (int k = 0; k < BK / 32; k++)
        GT_UNROLL
        for (int i = 0; i < FRAGS_M; i++)
            multiply_add(acc + i * FRAGS_N * 4, a + k * 2 + i * (64 * BK / 16), b + k * 2);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    hold(acc);
}

/* A stage, and the parity of how often all stages have been used. */
struct turn {
    int stage, parity;
};

GT_INLINE struct turn next_turn(struct turn now) {
    struct turn next = {now.stage + 1, now.parity};
    if (next.stage == STAGES)
        next.stage = 0, next.parity ^= 1;
    return next;
}

/* full and empty are the first of STAGES barriers each. */
GT_INLINE void produce(struct walk *w, int stages, int full, int empty) {
    const int part = rank_here() * (SLAB_B / CLUSTER);
    struct turn turn = {0, 0};
    GT_UNROLL_BY(1)
    for (; w->next_a; turn = next_turn(turn)) {
        const int stage = stages + turn.stage * SLAB, barrier = full + turn.stage * 8;
        /* The stage must be free in all blocks. In the first round it is: the phase before
         * the first has passed. */
        gt_barrier_wait(empty + turn.stage * 8, turn.parity ^ 1);
        gt_barrier_arrive_expecting(barrier, SLAB);
        copy_bulk(stage, w->next_a, SLAB_A, barrier);
        if (CLUSTER == 1)
            copy_bulk(stage + SLAB_A, w->next_b, SLAB_B, barrier);
        else
            copy_bulk_to_all(stage + SLAB_A + part, w->next_b + part, SLAB_B / CLUSTER,
                             barrier);
        advance(w);
    }
}

/* Starts one batch of products while the one before it runs. The stage of the earlier batch
 * is free when that batch is done. */
GT_INLINE void consume(gt_acc acc[ACCS], int slabs, int stages, int full, int empty,
                       int row0, int lane) {
    struct turn turn = {0, 0};
    GT_UNROLL_BY(1)
    for (int group = LIMBS - 1; group >= 0; group--) {
        int before = -1; /* the stage of the running batch */
        GT_UNROLL_BY(1)
        for (int s = (group + 1) * slabs; s > 0; s--) {
            gt_barrier_wait(full + turn.stage * 8, turn.parity);
            gt_warp_barrier();
            multiply(acc, stages + turn.stage * SLAB, row0);
            AWAIT_PRODUCTS(1);
            if (lane < CLUSTER && before >= 0)
                arrive(empty + before * 8, lane);
            before = turn.stage;
            turn = next_turn(turn);
        }
        AWAIT_PRODUCTS(0);
        hold(acc);
        if (lane < CLUSTER && before >= 0)
            arrive(empty + before * 8, lane);
        if (group > 0)
            shift(acc);
    }
}

GT_INLINE void compute(gt_acc acc[ACCS], struct walk *w, byte *stages, int row0, int col0,
                       int t) {
    const int at = gt_shared_address(stages), full = at + STAGES * SLAB,
              empty = full + STAGES * 8;
    if (t == 0) {
        for (int s = 0; s < STAGES; s++) {
            gt_barrier_init(full + s * 8, 1);
            gt_barrier_init(empty + s * 8, (GT_THREADS / 32 - 1) * CLUSTER);
        }
        gt_barrier_init_done();
    }
    meet();
    if (t < GT_THREADS - 32)
        consume(acc, w->slabs, at, full, empty, row0, t % 32);
    else if (t == GT_THREADS - 32)
        produce(w, at, full, empty);
    if (CLUSTER > 1)
        meet(); /* no block may leave while another one writes into its memory */
}

#endif

/* ---- gemm -------------------------------------------------------------------------- */

GT_KERNEL(gemm, GT_THREADS, 1, 1)(GT_PARAMS) {
    extern __shared__ __align__(1024) byte stages[]; /* for the swizzle */
    GT_FOLLOW();
    GT_PRODUCT();
    const int t = GT_THREAD_X, lane = t % 32;
    const int tiles_m = (int)(padded(m, HIGH) / BM), tiles_n = (n - 1) / BN + 1;

    /* GROUP rows of tiles are walked column by column. */
    const int band = GT_BLOCK / (GT_GROUP * tiles_n);
    const int in_band = GT_BLOCK % (GT_GROUP * tiles_n);
    const int high = GT_MIN(tiles_m - band * GT_GROUP, GT_GROUP);
    const int row0 = (band * GT_GROUP + in_band % high) * BM, col0 = in_band / high * BN;

    /* The tile of this warp or warpgroup. */
    const int unit = t / (GT_ENGINE ? 128 : 32);
    const int unit_m = unit / (BN / WN) * WM, unit_n = unit % (BN / WN) * WN;

    gt_acc acc[ACCS];
    struct walk w;
    w.slabs = slabs_of(k, alpha);
    w.step = (padded(m, HIGH) + padded(n, BN)) * BK;
    w.a = (const byte *)workspace + (gt_long)row0 * BK;
    w.b = (const byte *)workspace + (padded(m, HIGH) + col0) * BK;
    enter_group(&w, LIMBS - 1);
    GT_UNROLL
    for (int e = 0; e < ACCS; e++)
        acc[e] = 0;

    compute(acc, &w, stages, unit_m, unit_n, t);
    if (unit_m >= BM)
        return; /* the warp that copied */

    const int row = row0 + unit_m + (GT_ENGINE ? t / 32 % 4 * 16 : 0) + lane / 4;
    const int col = col0 + unit_n + lane % 4 * 2;
    const int whole = m - row0 >= BM && n - col0 >= BN && gt_aligned(2, c, ldc);
    c += row * ldc + col;
    if (whole)
        store(c, ldc, alpha, acc, beta, 1, m - row, n - col GT_PLACE(row, col));
    else
        store(c, ldc, alpha, acc, beta, 0, m - row, n - col GT_PLACE(row, col));
}
