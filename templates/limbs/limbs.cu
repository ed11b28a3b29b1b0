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
