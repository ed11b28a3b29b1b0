/* SPDX-License-Identifier: Apache-2.0 */
/*
 * triple - f32 by three products of parts on tensor cores (sm_80 and later): parts of tf32,
 * as accurate as f32 (f32@split), or of bf16, which are faster (f32@bf16x3). A block
 * computes a tile of C of BM rows x BN columns, slab by slab. A slab is KBYTES bytes of k
 * deep.
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
 *     split, store, tell   -->    BN x 32 of k, low -->  waits: full[s]; starts products
 *     full[s]                                            passes its turn on; waits for them
 *                                                        tells empty[s]; adds to totals
 *
 * Splitters and warpgroups load vectors of 16 bytes, or pairs of rows of A, from rows that
 * are aligned. The vectors lie along k or across it. Across k, rows of A and columns of B
 * have another order in the tile until the sums leave.
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

#if GT_REPACK
GT_REPACK_KERNEL(repack, GT_PACK_A, GT_PACK_B, GT_PACKED_A)
#endif

GT_KERNEL(gemm, GT_THREADS, 1, GT_MINB)(GT_PARAMS) {
    extern __shared__ __align__(1024) char smem[]; /* for the swizzle */
    GT_FOLLOW();
    GT_PRODUCT();
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
    if (!compute(total, &of_a, &of_b, slabs, smem, slice, w_m, w_n, t))
        return;

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
            store(1, &to, tile, i, t GT_PLACE(row0, col0));
        else
            store(WIDE_C, &to, tile, i, t GT_PLACE(row0, col0));
    }
}

#if GT_PARTIAL
GT_REDUCE_KERNEL(reduce, GT_SPLIT, GT_LANES, workspace + GT_SUMS_AT)
#endif
