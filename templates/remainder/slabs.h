/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slabs.h - a block's walk through the slabs of a tile of remainder, and the part of the
 * tile that a warp has.
 */
/* Where a block's walk through the slabs of a tile begins. */
struct walk {
    const byte *a, *b;
    gt_long step; /* bytes from a slab to the next */
    int left;     /* slabs that have not been asked for */
};

/* Where the part of a working thread's warp, or warpgroup, begins in a tile. */
GT_INLINE int warp_m_of(int t) {
    return t / (GT_ENGINE ? 128 : 32) / (BN / WN) * WM;
}
GT_INLINE int warp_n_of(int t) {
    return t / (GT_ENGINE ? 128 : 32) % (BN / WN) * WN;
}

GT_INLINE void set_sums(int acc[FRAGS][4], int value) {
    GT_UNROLL
    for (int e = 0; e < FRAGS * 4; e++)
        acc[e / 4][e % 4] = value;
}
