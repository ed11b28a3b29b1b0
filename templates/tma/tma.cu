/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tma - as `multistage`, but slabs are copied by the tensor memory accelerator of sm_90 and
 * later: one thread says with one instruction which box of which matrix goes where. The
 * threads compute no addresses of global memory and wait for a slab, never for each other.
 * The family for large matrices there.
 *
 * C[m,n] = alpha op(A) op(B) + beta C, row-major.
 *
 *     thread 0              stages, k outermost              all warps
 *     --------              -------------------              ---------
 *     waits: empty[s]       A [BK][BM]   B [BK][BN]          wait: full[s]
 *     two boxes,       -->                              -->  read, multiply
 *     told to full[s]                                        arrive: empty[s]
 *
 * A stage is filled again a slab after it was read for the last time, when all warps are
 * likely to be done with it. What a box has past the edges is zeros: the last slab needs no
 * other code.
 *
 * Slabs have rows along the width: what is contiguous along k in memory is turned into the
 * workspace by a kernel before (REPACK 1; 2 copies both operands, for rows that are not
 * aligned to 16 bytes).
 *
 * BM BN   tile of C              BK      depth of a slab
 * TM TN   patch of a thread      STAGES  slabs in shared memory
 * SPLIT   parts of k, a block each; a second kernel adds up
 * TAIL    pieces of k of the tiles that would leave units idle at the end: these units compute
 *         some of them, and a second kernel adds up; 0: such tiles are not shared
 * ORDER   of the multiply-adds: 0 by rows, 1 by columns, 2 by pairs of rows
 * REPACK  operands that lie in the workspace: 0 none, 1 those that must be turned, 2 both
 * MINB    blocks that shall fit a multiprocessor
 * GROUP   rows of tiles walked together, for the sake of the L2 cache
 *
 * gemmtune trial f32-tn-4096x4096x4096 --family tma --point
 *  "BM=128 BN=128 BK=16 TM=8 TN=8 STAGES=4 SPLIT=1 TAIL=0 ORDER=1 REPACK=0 MINB=2 GROUP=8"
 *
 * Method: warp specialisation, Bauer, Cook, Khailany, CudaDMA (2011).
 */

enum {
    BM = GT_BM, BN = GT_BN, BK = GT_BK, TM = GT_TM, TN = GT_TN, T = GT_THREADS,
    STAGES = GT_STAGES, SPLIT = GT_SPLIT, PACK_A = GT_PACK_A, PACK_B = GT_PACK_B,
    SLAB_A = BK * BM, STAGE = SLAB_A + BK * BN,
    PM = GT_PIECE(TM), PN = GT_PIECE(TN),
    TY = BM / TM, TX = BN / TN, /* threads along m and n */
    LX = GT_LANES_X(TY, TX), LY = GT_LANES_Y(TY, TX),
};

/* What space.json's tensor_maps say, as the type of a kernel's parameter. */
struct __align__(64) tensor_map {
    unsigned long long opaque[16]; /* the hardware's */
};

/* Begins to copy the map's box at (inner, outer) to shared memory, aligned to 128 bytes; its
 * bytes, zeros past the matrix's edges among them, count as arrived at the barrier. */
GT_INLINE void copy_box(int to, const struct tensor_map *map, int inner, int outer,
                        int barrier) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global"
                 ".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(to),
                 "l"(map), "r"(inner), "r"(outer), "r"(barrier)
                 : "memory");
}

/* In the workspace: op(A) and op(B) where they are packed, then the parts' sums. */
#define PACKED (GT_PACKED(PACK_A, m, k) + GT_PACKED(PACK_B, n, k))

#if GT_REPACK
GT_PACK_KERNEL(repack, PACK_A, PACK_B)
#endif

#if GT_SPLIT > 1
GT_REDUCE_KERNEL(reduce, GT_SPLIT, 128, PACKED)
#endif

#if GT_TAIL
GT_FINISH_KERNEL(finish, BM, BN, GT_GROUP, GT_TAIL, GT_CAPACITY, PACKED)
#endif

GT_INLINE void multiply(gt_acc *acc, const gt_elem *fa, const gt_elem *fb) {
    GT_UNROLL
    for (int s = 0; s < TM * TN; s++) {
        const int i = gt_order_row(GT_ORDER, TM, TN, s);
        const int j = gt_order_column(GT_ORDER, TM, TN, s);
        acc[i * TN + j] = gt_fma(fa[i], fb[j], acc[i * TN + j]);
    }
}

/* A stage, and how often the stages have been gone through, even or odd. */
struct turn {
    int stage, parity;
};

GT_INLINE struct turn next_turn(struct turn now) {
    const int last = now.stage + 1 == STAGES;
    const struct turn next = {last ? 0 : now.stage + 1, now.parity ^ last};
    return next;
}

/* What one thread feeds the stages from. */
struct feeder {
    const struct tensor_map *a, *b;
    int row, col;            /* of the tile */
    int k, slabs;            /* where the block's part of k begins; slabs of it */
    int stages, full, empty; /* addresses in shared memory */
};

/* Fills a stage with slab s, when it is free. Behind the last slab one is announced that is
 * never used. Past the matrices' edges, along k as well, are zeros. */
GT_INLINE void feed(const struct feeder *f, int s, struct turn turn, int *hopeless) {
    const int full = f->full + turn.stage * 8;
    const int to = f->stages + turn.stage * (STAGE * GT_SIZEOF_A);
    if (s > f->slabs)
        return;
    gt_barrier_wait(f->empty + turn.stage * 8, turn.parity, hopeless);
    if (s < f->slabs) {
        gt_barrier_arrive_expecting(full, STAGE * GT_SIZEOF_A);
        copy_box(to, f->a, f->row, f->k + s * BK, full);
        copy_box(to + SLAB_A * GT_SIZEOF_A, f->b, f->col, f->k + s * BK, full);
    } else {
        gt_barrier_arrive(full);
    }
}

GT_KERNEL(gemm, GT_THREADS, 1, GT_MINB)
(int m, int n, int k, gt_elem alpha, const gt_elem *GT_RESTRICT a, gt_long lda,
 const gt_elem *GT_RESTRICT b, gt_long ldb, gt_elem beta, gt_elem *GT_RESTRICT c,
 gt_long ldc, gt_elem *workspace, const __grid_constant__ struct tensor_map map_a,
 const __grid_constant__ struct tensor_map map_b) {
    extern __shared__ __align__(128) gt_elem smem[]; /* where boxes may lie */
    GT_FOLLOW();
    const int t = GT_THREAD_X;
    const int stages = gt_shared_address(smem), full = stages + STAGES * STAGE * GT_SIZEOF_A,
              empty = full + STAGES * 8;
    const int tiles = gt_cdiv(m, BM) * gt_cdiv(n, BN);
    /* Blocks of one part of k side by side: tiles share its slabs in the L2 cache. */
    const int block = SPLIT > 1 ? GT_BLOCK % tiles * SPLIT + GT_BLOCK / tiles : GT_BLOCK;
    const struct gt_work work = gt_work_of(GT_TAIL, GT_CAPACITY, SPLIT, block, tiles);
    int row0, col0;
    gt_tile_place(&row0, &col0, work.tile, BM, BN, GT_GROUP, m, n);
    /* This block's part of k. */
    const gt_long all = alpha == (gt_elem)0 ? 0 : gt_cdiv(k, BK); /* alpha 0: nothing is read */
    int first;
    const int slabs = gt_work_slabs(&work, all, &first);
    const struct feeder f = {&map_a, &map_b, row0, col0, first * BK,
                             slabs,  stages, full, empty};
    struct turn before = {STAGES - 1, 1}, now = {0, 0};
    int hopeless = 0;

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
            feed(&f, s, fresh, &hopeless);
        }
    GT_BARRIER(); /* the first warp is one again: compilers keep more in uniform registers */

    const int ay = gt_patch_row(TY, TX, TM, PM, t); /* the patch's first row, column */
    const int bx = gt_patch_column(TY, TX, TN, PN, t);
    gt_acc acc[TM * TN];
    gt_elem fa[2][TM], fb[2][TN];
    GT_UNROLL
    for (int e = 0; e < TM * TN; e++)
        acc[e] = 0;

/* Loads the patch's operands of the k-th k of the slab in `stage`. */
#define LOAD(to, stage, k)                                                                 \
    gt_patch_load(TM, PM, LY, fa[to], smem + (stage)*STAGE + (k)*BM + ay);                 \
    gt_patch_load(TN, PN, LX, fb[to], smem + (stage)*STAGE + SLAB_A + (k)*BN + bx)

    gt_barrier_wait(full, 0, &hopeless);
    LOAD(0, 0, 0);
    GT_UNROLL_BY(1)
    for (int s = 0; s < slabs; s++) {
        const struct turn next = next_turn(now);
        int there = 0;
        GT_UNROLL
        for (int k = 0; k < BK; k++) {
            if (k + 2 == BK) /* asked early: the answer takes a while */
                there = gt_barrier_passed(full + next.stage * 8, next.parity);
            if (k + 1 < BK) {
                LOAD((k + 1) % 2, now.stage, k + 1);
            } else {
                if (!there)
                    gt_barrier_wait(full + next.stage * 8, next.parity, &hopeless);
                LOAD(0, next.stage, 0); /* past the last slab: anything, and not used */
            }
            multiply(acc, fa[k % 2], fb[k % 2]);
        }
        gt_warp_barrier();
        if (t % 32 == 0)
            gt_barrier_arrive(empty + now.stage * 8);
        if (t == 0)
            feed(&f, s + STAGES - 1, before, &hopeless);
        before = now;
        now = next;
    }

    int rows = m - row0, cols = n - col0; /* of C from the tile on to its edges */
    c += row0 * ldc + col0;
    if (work.parts > 1) {
        if (SPLIT > 1) {
            c = workspace + PACKED + work.part * (gt_long)m * n + row0 * (gt_long)n + col0;
            ldc = n;
        } else {
            c = workspace + PACKED + gt_work_place(&work, work.part, BM, BN);
            ldc = cols = BN;
            rows = BM;
        }
        alpha = 1;
        beta = 0;
    }
    c += ay * ldc + bx;
    if (rows >= BM && cols >= BN && gt_aligned(PN, c, ldc))
        gt_patch_store(TM, TN, PM, PN, LY, LX, c, ldc, alpha, acc, beta, 1, rows - ay,
                       cols - bx);
    else
        gt_patch_store(TM, TN, PM, PN, LY, LX, c, ldc, alpha, acc, beta, 0, rows - ay,
                       cols - bx);
}
