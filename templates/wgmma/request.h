/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request.h - what an epilogue of wgmma brings from memory ahead of its elements.
 */
#if GT_EPILOGUE
/* Has the boxed operand's part brought to the L2 cache, a line of memory at a time. */
GT_INLINE void ask(const struct part *p, int boxed, int t GT_PLACE_PARAMS) {
#if GT_STORE && GT_EPI_BOXED
    enum { EACH = 128 / GT_SIZEOF_C, LINE_ASKS = GT_CDIV(LENGTH_C, EACH) };
    GT_UNROLL_BY(1)
    for (int e = t; e < LINES_C * LINE_ASKS; e += 128) {
        const int line = e / LINE_ASKS, from = e % LINE_ASKS * EACH;
        if (boxed && line < p->rows && from < p->cols)
            gt_boxed_ask(0 GT_PLACE(gt_i + line, gt_j + from));
    }
#endif
}

/* Brings what a part needs to shared memory, ahead of its products. `boxed`: they leave by
 * boxes. The boxes of the part before may still be on their way. With GT_PERSIST a turn
 * that has no place yet may be far behind, so its lines are asked for. */
GT_INLINE void request(const struct part *p, int boxed, int group, int t GT_PLACE_PARAMS) {
    if (GT_PERSIST)
        ask(p, boxed, t GT_PLACE(gt_i, gt_j));
    if (GT_ROWS && GT_PERSIST && GT_VECTORS)
        gt_group_barrier(1 + group, 128); /* all warps have read those of the tile before */
    if (GT_VECTORS)
        gt_vectors_copy(p->vectors, LINES_C, LENGTH_C, p->rows, p->cols, t,
                        128 GT_PLACE(gt_i, gt_j));
#if GT_STORE && GT_EPI_BOXED
    if (!boxed)
        return;
    if (t == 0)
        GT_BULK_STORES_READ(0);
    gt_group_barrier(1 + group, 128);
    GT_UNROLL_BY(1)
    for (int i = 0; i < GT_PLACES; i++) {
        if (i < TURNS)
            request_turn(p, i, t GT_PLACE(gt_i, gt_j));
        GT_COPY_COMMIT();
    }
#endif
}
#else
GT_INLINE void request(const struct part *p, int boxed, int group, int t) {}
#endif
