/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring.h - the ring of slabs in shared memory between the two sides of triple with wgmma.
 */
#if GT_ENGINE
/* The barriers of threads with wgmma, besides number 0, which all of them meet at. */
enum barrier {
    STORERS_MEET = 1,
    TURN = 2,     /* of warpgroup 0; those of the others follow */
    RING_READ = 6 /* splitters, then warpgroups: nobody stores to the ring any more */
};

/* Addresses in shared memory: the ring of slabs of B's parts, and the first of STAGES
 * barriers each. */
struct ring {
    int parts, full, empty;
};

/* The ring's barriers. A splitter's warp arrives at `full`, a multiplier's at `empty`. */
GT_INLINE void make_ring(const struct ring *r, int t) {
    if (t == 0) {
        for (int s = 0; s < STAGES; s++) {
            gt_barrier_init(r->full + s * 8, 4);
            gt_barrier_init(r->empty + s * 8, GROUPS * 4);
        }
        gt_barrier_init_done();
    }
    GT_BARRIER();
}

/* The address of element `deep` of k of an operand's line: a row of A, a column of B. Past
 * the edge it is the last line again: sums of such lines are not stored. */
GT_INLINE const char *line_at(const struct operand *o, int along, int line, int deep) {
    const int row = GT_MIN(line, o->lines - 1);
    return o->at + (along ? row * o->pitch + deep * SIZE : deep * o->pitch + row * SIZE);
}
#endif
