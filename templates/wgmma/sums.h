/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sums.h - the way out of wgmma for parts of sums: as they are, to the workspace. Another
 * kernel adds them up.
 */
GT_INLINE void store_sums(const struct target *to, const gt_acc *sums, int t) {
    const int col0 = t % 4 * 2;
    gt_acc *const at = (gt_acc *)to->at;
    const int pairs = !SWAP && gt_aligned(2, at, to->ld);
    GT_UNROLL
    for (int i = 0; i < FRAGS * 2; i++) {
        const int row = i / 2 * 64 + row_of(t, i % 2);
        GT_UNROLL
        for (int j = 0; j < WN / 8; j++) {
            const gt_acc *pair = sums + i / 2 * SUMS + j * 4 + i % 2 * 2;
            const int col = col0 + j * 8, there = row < to->rows ? to->cols - col : 0;
            if (pairs && there >= 2) {
                gt_store_global_acc(2, at + place_in(to, row, col), pair);
            } else {
                if (there >= 1)
                    at[place_in(to, row, col)] = pair[0];
                if (there >= 2)
                    at[place_in(to, row, col + 1)] = pair[1];
            }
        }
    }
}

/* With PARTIAL the workspace has a matrix of X Y for each part of k; otherwise a tile for
 * each part of a shared tile (tiles.h). */
GT_INLINE void leave_as_sums(const struct leaving *l, const gt_acc *sums GT_PLACE_PARAMS) {
    const struct plan *const p = &l->p;
    const struct gt_work *const work = &l->it.work;
    struct target to = l->c;
    if (PARTIAL) {
        to.ld = SWAP ? p->high : p->wide;
        to.at = l->out.sums + work->part * (gt_long)p->high * p->wide +
                place_in(&to, l->row, l->col);
    } else {
        to.ld = to.cols = WIDE;
        to.rows = HIGH;
        to.at = l->out.sums + gt_work_place(work, work->part, HIGH, WIDE) +
                place_in(&to, p->rank / CN * BM + l->g.row, p->rank % CN * BN + l->g.col);
    }
    store_sums(&to, sums, l->g.t % 128);
}
