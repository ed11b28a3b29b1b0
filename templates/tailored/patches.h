/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patches.h - products of tailored by multiply-adds: a thread computes a patch.
 */
#if GT_ENGINE == 0
enum { SUMS = TM * TN, PM = GT_PIECE(TM), PN = GT_PIECE(TN) };

/* The place of patch `p` in the tile: neighbouring threads have patches of two rows and one
 * column in turns. A load of 16 bytes from shared memory takes half the time where each
 * lane's address is that of the lane beside it (B) or two further (A). An odd last row is
 * walked by columns. */
GT_INLINE int row_of(int p) {
    return p / (2 * TX) * 2 + (p < TY / 2 * 2 * TX ? p % (2 * TX) % 2 : 0);
}
GT_INLINE int column_of(int p) {
    return p < TY / 2 * 2 * TX ? p % (2 * TX) / 2 : p % (2 * TX);
}

/* The part of a thread is a patch. */
GT_INLINE struct part part_of(int t) {
    const int patch = GT_MIN(t, PATCHES - 1);
    const struct part part = {row_of(patch) * PM, column_of(patch) * PN, t < PATCHES};
    return part;
}

GT_INLINE void load(gt_ab *x, gt_ab *y, const GT_SHARED gt_ab *slabs, int k,
                    struct part part) {
    gt_patch_load(TM, PM, TY, x, slabs + part.row + k * LINE_A);
    gt_patch_load(TN, PN, TX, y, slabs + SLAB_A + part.col + k * LINE_B);
}

/* acc += the patch's sums. While a k is multiplied, the operands of the next one are
 * loaded, also across slabs; those after the last slab are not used. */
GT_INLINE void sum_up(gt_acc *acc, GT_SHARED gt_ab *smem, struct source from,
                      struct part part, int t) {
    gt_ab x[2][TM], y[2][TN];
    int now = 0, free = STAGES - 1; /* stages: of this slab; of the slab fetched next */
    TURN();
    load(x[0], y[0], smem, 0, part);
    GT_UNROLL_BY(1)
    for (int s = 0; s < from.slabs; s++) {
        fetch_next(smem + free * STAGE, &from, s + STAGES - 1, t);
        const int next = now + 1 == STAGES ? 0 : now + 1;
        GT_UNROLL
        for (int u = 0; u < BK; u++) {
            const int last = u + 1 == BK;
            if (last) {
                TURN();
            }
            load(x[(u + 1) % 2], y[(u + 1) % 2], smem + (last ? next : now) * STAGE,
                 last ? 0 : u + 1, part);
            gt_patch_multiply(TM, TN, GT_ORDER, acc, x[u % 2], y[u % 2]);
        }
        free = now;
        now = next;
    }
}

/* The part that the thread gives: its own. */
GT_INLINE struct part part_to_give(GT_SHARED gt_ab *smem, const gt_acc *acc,
                                   struct part part, int t) {
    return part;
}

/* Stores the patch. */
GT_INLINE void give_all(struct target to, const gt_acc *acc, const GT_SHARED gt_ab *smem,
                        int t GT_PLACE_PARAMS) {
    const struct gt_side down = gt_side_of(PM, TY), along = gt_side_of(PN, TX);
    GT_UNROLL
    for (int e = 0; e < TM * TN; e += PN)
        give(PN, to, gt_side_at(&down, e / TN), gt_side_at(&along, e % TN),
             acc + e GT_PLACE(gt_i, gt_j));
}
#endif
