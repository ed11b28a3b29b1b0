/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slabs.h - the slabs of bytes of limbs: their sizes, and where their chunks lie. limbs.cu
 * explains the words.
 */
typedef unsigned char byte;

enum {
    BM = GT_BM, BN = GT_BN, BK = GT_BK, WM = GT_WM, WN = GT_WN, STAGES = GT_STAGES,
    LIMBS = 4,
    CHUNKS = BK / 16, /* chunks of a row */
    SLAB_A = BM * BK, SLAB_B = BN * BK, SLAB = SLAB_A + SLAB_B,
    CLUSTER = GT_CLUSTER, HIGH = GT_HIGH, /* rows of all tiles of a cluster */

    /* planes */
    SPLITTERS = GT_SPLITTERS, /* threads, one a chunk */
    SPLIT_ROWS = GT_SPLIT_ROWS,
    SPLIT_LD = GT_SPLIT_LD, /* length of a row in shared memory, a spare word a chunk */
    A_ALONG = !GT_TA, B_ALONG = GT_TB, /* whether the operand is contiguous along k */

    /* gemm: an accumulator is a fragment of 16 rows x 8 columns, 4 elements a thread. The
     * four warps of a warpgroup lie 16 rows apart. */
    APART = GT_ENGINE ? 64 : 16,
    FRAGS_M = WM / APART, FRAGS_N = WN / 8,
    ACCS = GT_ACCS,
    RUN = 4 /* pairs stored together */
};

/* The number of slabs that hold k; 0 when A and B are not read. */
GT_INLINE int slabs_of(int k, gt_acc alpha) {
    return alpha == 0 ? 0 : gt_cdiv(k, BK);
}

GT_INLINE gt_long padded(int count, int tile) {
    return ((count - 1) / tile + 1) * (gt_long)tile;
}
