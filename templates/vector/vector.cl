/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vector - for CPUs, whose "threads" are cores. A block is one work-item and works like a
 * CPU BLAS: it packs slabs of A and B so that the innermost loop reads both in order, and
 * keeps a patch of C in vector registers.
 *
 * C[m,n] = alpha op(A) op(B) + beta C, row-major. Tile BM x BN, slabs of BK along k.
 *
 *                     n ->
 *              +----+----+----+     B packed: panels of NR = NV vectors, k outermost
 *          BK  | NR | NR |    |
 *        k     +----+----+----+     A packed: panels of MR rows, likewise
 *      BK
 *     +----+   +----+----+----+
 *  MR |    |   |    |    |    |     a patch MR x NR in registers: for a k, NV vectors of B
 *  m  +----+   +----+----+----+     and MR values of A, each for a whole vector
 *  MR |    |   |    |    |    |
 *     +----+   +----+----+----+     between slabs, patches wait in shared memory
 *
 * Panels that reach past an edge are filled with zeros, which are multiplied and not
 * stored. With DIRECT=1 the panels of A are its rows as they lie, and past an edge the last
 * row again.
 *
 * VECTOR  bytes a vector           MR NV  patch: rows, and vectors a row
 * BK      depth of a slab          PM PN  patches of a tile along m and n
 * DIRECT  1: A is not packed
 *
 * gemmtune trial f32-nn-1024x1024x1024 --family vector
 *     --point "VECTOR=64 NV=2 MR=12 PM=16 PN=8 BK=256"
 */

enum {
    MR = GT_MR, NV = GT_NV, V = GT_V, NR = NV * V, BK = GT_BK,
    BM = GT_BM, BN = GT_BN, PATCH = MR * NR,
    SLAB_A = (1 - GT_DIRECT) * BM * BK,
    SLABS = SLAB_A + BN * BK /* the place where the patches begin */
};

typedef GT_PASTE(GT_PASTE(GT_WORD_, GT_TYPE_ACC), GT_V) vector;
#define LOAD  GT_PASTE(vload, GT_V)
#define STORE GT_PASTE(vstore, GT_V)

/* The same code packs A and B, whose elements have one size, in the accumulator's type. */
GT_STATIC_ASSERT(sizeof(gt_a) == sizeof(gt_b), operands_of_one_size);
#define FROM(of_a, x) ((of_a) ? gt_from_a(x) : gt_from_b(x))

/* Packs a panel: `wide` rows of A or columns of B, of which `left` exist, and `depth` of k.
 * along: x is contiguous along k. */
GT_INLINE void pack_panel(int of_a, int along, int wide, GT_SHARED gt_acc *to,
                          const GT_GLOBAL gt_a *x, gt_long ld, int left, int depth) {
    if (left >= wide) {
        for (int k = 0; k < depth; k++)
            GT_UNROLL
            for (int w = 0; w < wide; w++)
                to[k * wide + w] = FROM(of_a, along ? x[w * ld + k] : x[k * ld + w]);
    } else {
        for (int k = 0; k < depth; k++)
            for (int w = 0; w < wide; w++)
                to[k * wide + w] =
                    w >= left ? (gt_acc)0
                              : FROM(of_a, along ? x[w * ld + k] : x[k * ld + w]);
    }
}

/* Packs all panels of a slab that are not empty. */
GT_INLINE void pack(int of_a, int along, int wide, int count, GT_SHARED gt_acc *to,
                    const GT_GLOBAL gt_a *x, gt_long ld, int left, int depth) {
    for (int p = 0; p < count && p * wide < left; p++)
        pack_panel(of_a, along, wide, to + p * wide * BK, x + p * wide * (along ? ld : 1),
                   ld, left - p * wide, depth);
}

/* A panel of A: its values for row r of a patch and step k are at a[row[r] + k * next]. */
#if GT_DIRECT
typedef const GT_GLOBAL gt_a *panel_a;
#define NEXT_A (GT_TA ? lda : 1)
#else
typedef const GT_SHARED gt_acc *panel_a;
#define NEXT_A MR
#endif

/* sums += panel of A x panel of B. `fresh`: the sums are not set yet. */
GT_INLINE void multiply(GT_SHARED gt_acc *sums, panel_a a, const gt_long row[MR],
                        gt_long next, const GT_SHARED gt_acc *b, int depth, int fresh) {
    vector acc[MR * NV];
    GT_UNROLL
    for (int e = 0; e < MR * NV; e++)
        acc[e] = fresh ? (vector)(0) : LOAD(e, sums);
    for (int k = 0; k < depth; k++) {
        vector fb[NV];
        GT_UNROLL
        for (int j = 0; j < NV; j++)
            fb[j] = LOAD(j, b + k * NR);
        GT_UNROLL
        for (int i = 0; i < MR; i++) {
            const vector fa = (vector)(a[row[i] + k * next]);
            GT_UNROLL
            for (int j = 0; j < NV; j++)
                acc[i * NV + j] = gt_fma(fa, fb[j], acc[i * NV + j]);
        }
    }
    GT_UNROLL
    for (int e = 0; e < MR * NV; e++)
        STORE(acc[e], e, sums);
}

/* Stores a patch; rows x cols of it exist. */
GT_INLINE void store(GT_GLOBAL gt_c *c, gt_long ldc, gt_acc alpha,
                     const GT_SHARED gt_acc *sums, gt_acc beta, int rows,
                     int cols GT_PLACE_PARAMS) {
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++)
            gt_store_c(c + i * ldc + j, alpha, sums[i * NR + j],
                       beta GT_PLACE(gt_i + i, gt_j + j));
}

GT_KERNEL(gemm, 1, 1, 1)(GT_PARAMS) {
    GT_SHARED_ARRAY(gt_acc, smem, GT_SMEM_ELEMS);
    GT_PRODUCT();
    const int tiles_n = (n - 1) / BN + 1;
    const int row0 = GT_BLOCK / tiles_n * BM, col0 = GT_BLOCK % tiles_n * BN;
    const int rows = m - row0, cols = n - col0; /* of C, from the tile to its edges */
    const int high = GT_MIN((rows + MR - 1) / MR, GT_PM); /* patches that are not empty */
    const int wide = GT_MIN((cols - 1) / NR + 1, GT_PN);
    const int depth = alpha == (gt_acc)0 ? 0 : k; /* alpha 0: A and B are not read */

    a += GT_TA ? (gt_long)row0 : row0 * lda;
    b += GT_TB ? col0 * ldb : (gt_long)col0;
    c += row0 * ldc + col0;
    /* The loop runs once for a depth of 0 as well, to set the sums to 0. */
    for (int done = 0; done == 0 || done < depth; done += BK) {
        const int now = GT_MIN(depth - done, BK);
        const GT_GLOBAL gt_a *slab = a + done * (GT_TA ? lda : 1);
        if (!GT_DIRECT)
            pack(1, !GT_TA, MR, GT_PM, smem, slab, lda, rows, now);
        pack(0, GT_TB, NR, GT_PN, smem + SLAB_A, b + done * (GT_TB ? 1 : ldb), ldb, cols,
             now);
        for (int i = 0; i < high; i++) {
            gt_long row[MR];
#if GT_DIRECT
            const panel_a panel = slab + i * MR * (GT_TA ? 1 : lda);
            for (int r = 0; r < MR; r++)
                row[r] = GT_MIN(r, rows - i * MR - 1) * (GT_TA ? 1 : lda);
#else
            const panel_a panel = smem + i * MR * BK;
            for (int r = 0; r < MR; r++)
                row[r] = r;
#endif
            for (int j = 0; j < wide; j++)
                multiply(smem + SLABS + (i * GT_PN + j) * PATCH, panel, row, NEXT_A,
                         smem + SLAB_A + j * NR * BK, now, done == 0);
        }
    }
    for (int i = 0; i < high; i++)
        for (int j = 0; j < wide; j++)
            store(c + i * MR * ldc + j * NR, ldc, alpha,
                  smem + SLABS + (i * GT_PN + j) * PATCH, beta,
                  GT_MIN(rows - i * MR, MR),
                  GT_MIN(cols - j * NR, NR) GT_PLACE(row0 + i * MR, col0 + j * NR));
}
