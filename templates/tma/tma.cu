/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tma - like `multistage`, but the tensor memory accelerator of sm_90 and later copies the
 * slabs. One thread starts each copy with one instruction: which box of which matrix goes
 * where. The threads compute no addresses of global memory and wait for a slab, never for
 * each other. The family for large matrices on sm_90 and later.
 *
 * C[m,n] = alpha op(A) op(B) + beta C, row-major.
 *
 *     thread 0              stages, k outermost              all warps
 *     --------              -------------------              ---------
 *     waits: empty[s]       A [BK][BM]   B [BK][BN]          wait: full[s]
 *     two boxes,       -->                              -->  read, multiply
 *     told to full[s]                                        arrive: empty[s]
 *
 * A stage is filled again one slab after it was last read, when all warps are probably done
 * with it. Past the edges a box has zeros, so the last slab needs no code of its own.
 *
 * The threads read slabs whose rows lie along the width. An operand that is contiguous
 * along k in memory is transposed:
 * - with REPACK 1 by a kernel beforehand, into the workspace (2 does this with both
 *   operands, for rows that are not aligned to 16 bytes);
 * - with REPACK 0 slab by slab in shared memory, by all threads while they multiply the
 *   slab before it. Then the threads do wait for each other.
 *
 * BM BN   tile of C              BK      depth of a slab
 * TM TN   patch of a thread      STAGES  slabs in shared memory
 * SPLIT   parts of k, a block each; a second kernel adds up
 * TAIL    pieces of k of the last tiles, when these would leave units idle. The idle units
 *         compute some of the pieces, and a second kernel adds up; 0: no such sharing
 * ORDER   of the multiply-adds: 0 by rows, 1 by columns, 2 by pairs of rows
 * REPACK  operands that lie in the workspace: 0 none, 1 those contiguous along k, 2 both
 * MINB    blocks that must fit a multiprocessor
 * GROUP   rows of tiles that are walked together, for the L2 cache
 *
 * gemmtune trial f32-tn-4096x4096x4096 --family tma --point
 *  "BM=128 BN=128 BK=16 TM=8 TN=8 STAGES=4 SPLIT=1 TAIL=0 ORDER=1 REPACK=0 MINB=2 GROUP=8"
 *
 * Method: warp specialisation, Bauer, Cook, Khailany, CudaDMA (2011).
 */

/* The length of a row of k in a transposed slab; longer than the width, against bank
 * conflicts. */
#define TURNED_ROW(width) ((width) + 4)

enum {
    BM = GT_BM, BN = GT_BN, BK = GT_BK, TM = GT_TM, TN = GT_TN, T = GT_THREADS,
    STAGES = GT_STAGES, SPLIT = GT_SPLIT, PACK_A = GT_PACK_A, PACK_B = GT_PACK_B,
    TURN_A = GT_TURN_A, TURN_B = GT_TURN_B, /* transposed by the threads */
    SLAB_A = BK * BM, STAGE = SLAB_A + BK * BN,
    TURNED_A = TURN_A ? BK * TURNED_ROW(BM) : 0,
    TURNED = TURNED_A + (TURN_B ? BK * TURNED_ROW(BN) : 0),
    ROUNDS_A = GT_ROUNDS_A, ROUNDS = GT_ROUNDS_A + GT_ROUNDS_B, /* rounds of transposing */
    PM = GT_PIECE(TM), PN = GT_PIECE(TN),
    TY = BM / TM, TX = BN / TN, /* threads along m and n */
    LX = GT_LANES_X(TY, TX), LY = GT_LANES_Y(TY, TX),
    NEED = BK - 1 - ROUNDS, /* the step of k where the next slab must be there */
};

/* Starts to copy the map's box at (inner, outer) to shared memory, aligned to 128 bytes.
 * Past the matrix's edges it has zeros. All its bytes count as arrived at the barrier. */
GT_INLINE void copy_box(int to, const struct gt_tensor_map *map, int inner, int outer,
                        int barrier) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global"
                 ".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(to),
                 "l"(map), "r"(inner), "r"(outer), "r"(barrier)
                 : "memory");
}

/* The slab arrives in the order of memory: inner is the width, or k for an operand that is
 * transposed. */
GT_INLINE void copy_slab(int to, const struct gt_tensor_map *map, int turn, int at, int k,
                         int barrier) {
    copy_box(to, map, turn ? k : at, turn ? at : k, barrier);
}

/* The workspace has op(A) and op(B) where they are packed, then the sums of parts. The same
 * code stores sums there and to C. */
#define SUMS ((gt_acc *)((gt_ab *)workspace + GT_PACKED_A + GT_PACKED_B))
GT_STATIC_ASSERT(GT_NUMBER(GT_TYPE_C) == GT_NUMBER(GT_TYPE_ACC), sums_are_stored_as_C_is);

#if GT_REPACK
GT_PACK_KERNEL(repack, PACK_A, PACK_B, GT_PACKED_A)
#endif

#if GT_SPLIT > 1
GT_REDUCE_KERNEL(reduce, GT_SPLIT, GT_LANES, SUMS)
#endif

#if GT_TAIL
GT_FINISH_KERNEL(finish, BM, BN, GT_GROUP, GT_TAIL, GT_CAPACITY, SUMS)
#endif

/* Loads four times eight rows of 16 bytes; lane l gives row l with `from`. Element i of
 * `to` is element l % 4 of row 8 i + l / 4. */
GT_INLINE void load_matrices(gt_ab *to, const gt_ab *from) {
    union {
        unsigned bits;
        gt_ab value;
    } word[4];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(word[0].bits), "=r"(word[1].bits), "=r"(word[2].bits),
                   "=r"(word[3].bits)
                 : "r"(gt_shared_address(from))
                 : "memory");
    GT_UNROLL
    for (int i = 0; i < 4; i++)
        to[i] = word[i].value;
}

/*
 * A slab arrives as [width][BK] and is transposed to [BK][width]. One instruction
 * (ldmatrix) reads 4 times 128 bytes for a warp, a quarter of the width apart. It spreads
 * each 16 bytes over four lanes, one element each. A lane then holds four elements of one
 * k, and stores them side by side. So place p of the transposed width holds the element at
 * p % 4 * width / 4 + p / 4.
 */
GT_STATIC_ASSERT(32 % BK == 0, an_instruction_has_whole_rows_of_a_slab);
GT_STATIC_ASSERT((!TURN_A || PM == 4) && (!TURN_B || PN == 4), patches_have_pieces_of_four);

/* The number of a warp's 128 elements of a slab in one round: 32 of each quarter of the
 * width. */
GT_INLINE int share_of(int round, int t) {
    return round * (T / 32) + t / 32;
}

/* The first step of a round, for one operand: from the stage to registers. */
GT_INLINE void take(gt_ab *raw, const gt_ab *from, int width, int share, int lane) {
    if (share < width * BK / 128)
        load_matrices(raw, from + lane / 8 * (width / 4 * BK) + share * 32 + lane % 8 * 4);
}

/* The second step: from registers to the transposed slab. */
GT_INLINE void put(gt_ab *to, const gt_ab *raw, int width, int share, int lane) {
    const int k = lane % BK, high = share * (32 / BK) + lane / BK;
    if (share < width * BK / 128)
        gt_store_shared(4, to + k * TURNED_ROW(width) + high * 4, raw);
}

/* A round's part of the slab in a stage. The rounds for A come first. */
GT_INLINE void turn_load(gt_ab *raw, const gt_ab *stage, int round, int t) {
    if (round < ROUNDS_A)
        take(raw, stage, BM, share_of(round, t), t % 32);
    else
        take(raw, stage + SLAB_A, BN, share_of(round - ROUNDS_A, t), t % 32);
}

GT_INLINE void turn_store(gt_ab *turned, const gt_ab *raw, int round, int t) {
    if (round < ROUNDS_A)
        put(turned, raw, BM, share_of(round, t), t % 32);
    else
        put(turned + TURNED_A, raw, BN, share_of(round - ROUNDS_A, t), t % 32);
}

/* The places of the patch's elements along a side of C when its operand was transposed. */
GT_INLINE struct gt_side side_of(int turned, int width, int piece, int lanes) {
    const struct gt_side spread = {4, width / 4, lanes, 1};
    return turned ? spread : gt_side_of(piece, lanes);
}

/* A stage, and the parity of how often all stages have been used. */
struct turn {
    int stage, parity;
};

GT_INLINE struct turn next_turn(struct turn now) {
    const int last = now.stage + 1 == STAGES;
    const struct turn next = {last ? 0 : now.stage + 1, now.parity ^ last};
    return next;
}

/* Everything that the thread which fills the stages needs. */
struct feeder {
    const struct gt_tensor_map *a, *b;
    int row, col;            /* of the tile */
    int k, slabs;            /* the beginning of the block's part of k; its slabs */
    int stages, full, empty; /* addresses in shared memory */
};

/* Fills a stage with slab s when the stage is free. After the last slab one more is fetched
 * that is never used. Past the matrices' edges, along k as well, there are zeros. */
GT_INLINE void feed(const struct feeder *f, int s, struct turn turn) {
    const int full = f->full + turn.stage * 8;
    const int to = f->stages + turn.stage * (STAGE * GT_SIZEOF_A);
    if (s > f->slabs)
        return;
    gt_barrier_wait(f->empty + turn.stage * 8, turn.parity);
    if (s < f->slabs) {
        gt_barrier_arrive_expecting(full, STAGE * GT_SIZEOF_A);
        copy_slab(to, f->a, TURN_A, f->row, f->k + s * BK, full);
        copy_slab(to + SLAB_A * GT_SIZEOF_A, f->b, TURN_B, f->col, f->k + s * BK, full);
    } else {
        gt_barrier_arrive(full);
    }
}

GT_KERNEL(gemm, GT_THREADS, 1, GT_MINB)(GT_PARAMS) {
    extern __shared__ __align__(128) gt_ab smem[]; /* the alignment of boxes */
    GT_FOLLOW();
    const int t = GT_THREAD_X;
    gt_ab *const turned = smem + STAGES * STAGE; /* two slabs: one is read, one written */
    const int stages = gt_shared_address(smem),
              full = stages + (STAGES * STAGE + 2 * TURNED) * GT_SIZEOF_A,
              empty = full + STAGES * 8;
    const int tiles = gt_cdiv(m, BM) * gt_cdiv(n, BN);
    /* Blocks of one part of k are neighbours: their tiles share its slabs in the L2
     * cache. */
    const int block = SPLIT > 1 ? GT_BLOCK % tiles * SPLIT + GT_BLOCK / tiles : GT_BLOCK;
    const struct gt_work work = gt_work_of(GT_TAIL, GT_CAPACITY, SPLIT, block, tiles);
    int row0, col0;
    gt_tile_place(&row0, &col0, work.tile, BM, BN, GT_GROUP, m, n);
    /* This block's part of k. */
    const gt_long all = alpha == (gt_acc)0 ? 0 : gt_cdiv(k, BK); /* 0: reads nothing */
    int first;
    const int slabs = gt_work_slabs(&work, all, &first);
    const struct feeder f = {&map_a, &map_b, row0, col0, first * BK,
                             slabs,  stages, full, empty};
    struct turn before = {STAGES - 1, 1}, now = {0, 0};

    if (t == 0) {
        for (int s = 0; s < STAGES; s++) {
            gt_barrier_init(full + s * 8, 1);
            gt_barrier_init(empty + s * 8, T / 32);
        }
        gt_barrier_init_done();
    }
    GT_BARRIER();
    if (t == 0)
        GT_UNROLL_BY(1)
        for (int s = 0; s < STAGES - 1; s++) {
            const struct turn fresh = {s, 1}; /* the phase before the first has passed */
            feed(&f, s, fresh);
        }
    GT_BARRIER(); /* joins the first warp again: more values stay in uniform registers */

    const int ay = gt_patch_row(TY, TX, TM, PM, t); /* the patch's first row and column */
    const int bx = gt_patch_column(TY, TX, TN, PN, t);
    gt_acc acc[TM * TN];
    gt_ab fa[2][TM], fb[2][TN];
    GT_UNROLL
    for (int e = 0; e < TM * TN; e++)
        acc[e] = 0;

/* Loads the patch's operands of step k of a slab: of the one in `stage`, or its transposed
 * copy in `half`. */
#define LOAD(to, stage, half, k)                                                           \
    gt_patch_load(TM, PM, LY, fa[to],                                                      \
                  ay + (TURN_A ? turned + (half) + (k)*TURNED_ROW(BM)                      \
                               : smem + (stage)*STAGE + (k)*BM));                          \
    gt_patch_load(TN, PN, LX, fb[to],                                                      \
                  bx + (TURN_B ? turned + (half) + TURNED_A + (k)*TURNED_ROW(BN)           \
                               : smem + (stage)*STAGE + SLAB_A + (k)*BN))
    gt_ab raw[4];
    int half = 0;

    gt_barrier_wait(full, 0);
    GT_UNROLL
    for (int r = 0; r < ROUNDS; r++) {
        turn_load(raw, smem, r, t);
        turn_store(turned, raw, r, t);
    }
    if (ROUNDS > 0)
        GT_BARRIER();
    LOAD(0, 0, 0, 0);
    GT_UNROLL_BY(1)
    for (int s = 0; s < slabs; s++) {
        const struct turn next = next_turn(now);
        int there = 0;
        GT_UNROLL
        for (int k = 0; k < BK; k++) {
            if (k + 1 == NEED) /* asked early, since the answer takes a while */
                there = gt_barrier_passed(full + next.stage * 8, next.parity);
            if (k == NEED && !there)
                gt_barrier_wait(full + next.stage * 8, next.parity);
            if (k > NEED)
                turn_store(turned + TURNED - half, raw, k - NEED - 1, t);
            if (k >= NEED && k + 1 < BK)
                turn_load(raw, smem + next.stage * STAGE, k - NEED, t);
            if (ROUNDS > 0 && k + 1 == BK)
                GT_BARRIER();
            if (k + 1 < BK) {
                LOAD((k + 1) % 2, now.stage, half, k + 1);
            } else { /* after the last slab any operands will do: they are not used */
                LOAD(0, next.stage, TURNED - half, 0);
            }
            gt_patch_multiply(TM, TN, GT_ORDER, acc, fa[k % 2], fb[k % 2]);
        }
        gt_warp_barrier();
        if (t % 32 == 0)
            gt_barrier_arrive(empty + now.stage * 8);
        if (t == 0)
            feed(&f, s + STAGES - 1, before);
        half = TURNED - half;
        before = now;
        now = next;
    }

    int rows = m - row0, cols = n - col0; /* of C, from the tile to its edges */
    c += row0 * ldc + col0;
    if (work.parts > 1) {
        if (SPLIT > 1) {
            c = (gt_c *)(SUMS + work.part * (gt_long)m * n) + row0 * (gt_long)n + col0;
            ldc = n;
        } else {
            c = (gt_c *)(SUMS + gt_work_place(&work, work.part, BM, BN));
            ldc = cols = BN;
            rows = BM;
        }
        alpha = 1;
        beta = 0;
    }
    const struct gt_side down = side_of(TURN_A, BM, PM, LY),
                         along = side_of(TURN_B, BN, PN, LX);
    const int row = TURN_A ? ay / 4 : ay, col = TURN_B ? bx / 4 : bx;
    c += row * ldc + col;
    if (rows >= BM && cols >= BN && gt_aligned(along.width, c, ldc))
        gt_patch_store(TM, TN, down, along, c, ldc, alpha, acc, beta, 1, rows - row,
                       cols - col GT_PLACE(
                           work.parts > 1 ? GT_PARTIAL_ROW : row0 + row, col0 + col));
    else
        gt_patch_store(TM, TN, down, along, c, ldc, alpha, acc, beta, 0, rows - row,
                       cols - col GT_PLACE(
                           work.parts > 1 ? GT_PARTIAL_ROW : row0 + row, col0 + col));
}
