/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dmma - f64 on tensor cores, for sm_80 and later. A block computes a tile of C of BM rows
 * x BN columns. Slabs of A and B, BK deep, come to shared memory by asynchronous copies.
 * While one slab is multiplied, STAGES - 1 are on their way. A warp multiplies its WM x WN
 * of the tile.
 *
 * C[m,n] = alpha op(A) op(B) + beta C, row-major.
 *
 *                        n ->                 A slab lies in shared memory as it lies in
 *                     +-------+------+        memory, with k or the width contiguous:
 *                  BK | slab B: BN   |
 *                     +-------+------+          A [BM][BK] (n) or [BK][BM] (t)
 *               k     |              |          B [BK][BN] (n) or [BN][BK] (t)
 *                     +--------------+
 *        BK  k ->                             A warp steps KSTEP along k. It reads a slab
 *     +------+------+ +-------+------+        by squares: 8 rows of A (columns of B) x 4 of
 *  BM | slab |      | |WMxWN: |      |        k, of which lane 4 g + t holds row (column) g
 *  m  |  A   |      | |-------+      |        at k = t, as the instruction needs it.
 *     +------+------+ | BMxBN |      |
 *     |             | |-------+      |        A row of a slab is XORed with bits of its
 *     +-------------+ +--------------+        number: no lanes meet in a bank (swizzle).
 *
 * Elements that do not exist (past the edges of C, past the end of k) are copied as zeros:
 * the loop has no code for edges.
 *
 * Copies of 16 bytes go from and to multiples of 16 bytes. When rows have an odd number of
 * elements, every other row begins 8 bytes after such a multiple. ODD copies such a row
 * from 8 bytes earlier. It then lies one element further on in its row of the slab, which
 * has room for that, and its readers add this shift. In a slab with a row for every k,
 * lanes that read together must read rows of one shift, or they would meet in a bank: a
 * step takes k in the order 0 2 4 6, 1 3 5 7. Copies of one element (VA, VB 1) serve any
 * alignment as well.
 *
 * BM BN    tile of C                      BK      depth of a slab
 * WM WN    a warp's part of the tile      STAGES  slabs in shared memory
 * SLICES   warps that share a part of the tile, each with its own part of every slab
 * MMA_K    depth of the instruction from sm_90 on; before, it is 4
 * KSTEP    steps of k whose operands are loaded at once
 * VA VB    elements in a copy of A, of B
 * AHEAD    1: the next step's operands are loaded while this step's are multiplied
 * MINB     blocks that must fit a multiprocessor
 * ODD      1: rows may begin at any element, and copies still have 16 bytes
 * GROUP    rows of tiles that are walked together, for the L2 cache
 * TAIL     0: a block has one tile.
 *          1: in batches and groups, as many blocks as fit the device take tiles of all
 *          products in turns. While a tile is multiplied and stored, slabs of the next one
 *          come.
 *          2 and more: pieces of k of the last tiles, when these would leave units idle.
 *          The idle units compute some of the pieces, and a second kernel adds up
 * SPLIT    blocks that share a tile, each with its own part of k
 * REDUCE   where their sums are added up: 0 in the workspace by a second kernel, 1 in the
 *          shared memory of a cluster. Always in the order of k: the sum is the same
 *
 * gemmtune trial f64-nn-4096x4096x4096 --family dmma --point
 *  "BM=128 BN=128 BK=16 WM=64 WN=32 SLICES=1 MMA_K=8 KSTEP=8 STAGES=3 VA=2 VB=2 ODD=0
 *   AHEAD=1 MINB=1 GROUP=1 TAIL=0 SPLIT=1 REDUCE=0"
 */

#if GT_TAIL > 1
GT_FINISH_KERNEL(finish, BM, BN, GT_GROUP, GT_TAIL, GT_CAPACITY, workspace)
#endif

#if !GT_WALK
/* One tile, or a part of it; turns.h has the kernel for several. The loop over slabs stands
 * in both, since the compiler makes other code of it in a function, and the times of this
 * code have been measured. */
GT_KERNEL(gemm, GT_THREADS, 1, GT_MINB)(GT_PARAMS) {
    GT_SHARED_ARRAY(gt_ab, smem, GT_SMEM_ELEMS);
    GT_FOLLOW();
    GT_PRODUCT();
    GT_LEAD(PARTIAL && GT_FEW_SUMS(m, n, GT_LANES));
    const int t = GT_THREAD_X, lane = t % 32, warp = t / 32 % (T / 32 / SLICES);
    const int slice = t / (T / SLICES);
    const struct gt_work work = gt_work_of(GT_TAIL, GT_CAPACITY, SPLIT, GT_BLOCK,
                                           gt_cdiv(m, BM) * gt_cdiv(n, BN));
    int row0, col0;
    gt_tile_place(&row0, &col0, work.tile, BM, BN, GT_GROUP, m, n);
    const int rows = m - row0, cols = n - col0; /* of C, from the tile to its edges */
    const int w_m = warp / (BN / WN) * WM, w_n = warp % (BN / WN) * WN;

    /* This block's part of k: whole slabs, except for the last. */
    const int depth = alpha == (gt_acc)0 ? 0 : k; /* alpha 0: A and B are not read */
    int first;
    const int slabs = gt_work_slabs(&work, gt_cdiv(depth, BK), &first);
    const gt_long k0 = first * (gt_long)BK;
    struct origin from = {
        aim(COLS_A, VA, a + (A_ALONG ? row0 * lda + k0 : k0 * lda + row0), lda, t),
        aim(COLS_B, VB, b + (B_ALONG ? col0 * ldb + k0 : k0 * ldb + col0), ldb, t),
        lda, ldb, shift(a, lda, 0) + 2 * shift(a, lda, 1),
        shift(b, ldb, 0) + 2 * shift(b, ldb, 1),
        rows, cols, (int)GT_MIN(depth - k0, slabs * (gt_long)BK)};
    const int slice_k = slice * (BK / SLICES);
    const struct places in_a = places_of(A_ALONG, LDA_S, w_m, slice_k, a, lda, lane);
    const struct places in_b = places_of(B_ALONG, LDB_S, w_n, slice_k, b, ldb, lane);

    gt_acc acc[2 * GM * GN];
    struct operands now, next;
    GT_UNROLL
    for (int e = 0; e < 2 * GM * GN; e++)
        acc[e] = 0;

    GT_UNROLL_BY(1)
    for (int s = 0; s < STAGES - 1; s++)
        GT_UNROLL
        for (int piece = 0; piece < PIECES; piece++)
            fetch_piece(piece, &from, smem + s * STAGE, t);
    int reading = 0, writing = (STAGES - 1) * STAGE;
    if (GT_AHEAD) {
        GT_COPY_WAIT(STAGES - 2);
        GT_BARRIER();
        load_step(&now, smem, &in_a, &in_b, 0);
    }
    GT_UNROLL_BY(1)
    for (int s = 0; s < slabs; s++) {
        const int after = reading + STAGE < STAGES * STAGE ? reading + STAGE : 0;
        if (!GT_AHEAD) {
            GT_COPY_WAIT(STAGES - 2);
            GT_BARRIER(); /* the slab is there, and the one before it has been read */
        }
        if (PIECES == 1) /* few enough to stand between the multiplications */
            fetch_piece(0, &from, smem + writing, t);
        GT_UNROLL
        for (int step = 0; step < STEPS; step++) {
            if (PIECES > 1 && step < PIECES)
                fetch_piece(step, &from, smem + writing, t);
            if (!GT_AHEAD) {
                load_step(&now, smem + reading, &in_a, &in_b, step);
            } else if (step < STEPS - 1) {
                load_step(&next, smem + reading, &in_a, &in_b, step + 1);
            } else { /* operands loaded after the last slab are not used */
                GT_COPY_WAIT(STAGES - 2);
                GT_BARRIER(); /* as above: this slab's operands are all in registers */
                load_step(&next, smem + after, &in_a, &in_b, 0);
            }
            multiply(acc, &now);
            if (GT_AHEAD)
                now = next;
        }
        writing = reading;
        reading = after;
    }

    GT_LEAD(PARTIAL);
    const int partial = PARTIAL || (GT_TAIL && work.parts > 1);
    struct target to = {c + row0 * ldc + col0,
                        ldc,
                        rows,
                        cols,
                        partial ? (gt_acc)1 : alpha,
                        partial ? (gt_acc)0 : beta,
                        gt_aligned(2, c, ldc)};
    if (PARTIAL) {
        to.c = (GT_GLOBAL gt_c *)workspace + ((gt_long)work.part * m + row0) * n + col0;
        to.ld = n;
        to.aligned = gt_aligned(2, workspace, n);
    } else if (partial) {
        to.c = (GT_GLOBAL gt_c *)workspace + gt_work_place(&work, work.part, BM, BN);
        to.ld = to.cols = BN;
        to.rows = BM;
        to.aligned = 1;
    }
    if (GATHER) {
        GT_BARRIER(); /* the last slab has been read */
        put(smem + slice * BM * LDT, acc, w_m, w_n, lane);
        GT_CLUSTER_BARRIER(CLUSTER > 1);
        gather(&to, smem, CLUSTER > 1 ? work.part : 0,
               t GT_PLACE(partial ? GT_PARTIAL_ROW : row0, col0));
        if (CLUSTER > 1)
            GT_CLUSTER_BARRIER(1); /* until the other blocks have read */
    } else {
        store(&to, acc, w_m, w_n,
              lane GT_PLACE(partial ? GT_PARTIAL_ROW : row0, col0));
    }
}
#endif

#if GT_PARTIAL
GT_REDUCE_KERNEL(reduce, GT_SPLIT, GT_LANES, workspace)
#endif
