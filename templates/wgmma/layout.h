/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout.h - what lies where in the shared memory of a block of wgmma, and its warpgroups.
 *
 *     0         the stages of the ring: STAGES slabs of X and of Y
 *     TURNED    of each warpgroup, STAGED bytes in which it turns C on its way out
 *     BARRIERS  the ring's barriers: full, empty
 *     ORDER     a barrier for each team, where it tells that it has all slabs of an item
 *     VECTORS   of each warpgroup, the operands of an epilogue that wait for their elements
 */
enum {
    AT_TURNED = STAGES * SLAB,
    AT_BARRIERS = AT_TURNED + GROUPS * STAGED,
    AT_ORDER = AT_BARRIERS + STAGES * 16,
    AT_VECTORS = AT_ORDER + 16
};
GT_STATIC_ASSERT(AT_VECTORS + GROUPS * GT_VECTORS == GT_SMEM, all_of_smem_has_its_place);

/* A warpgroup. */
struct group {
    int number, t, lane; /* its number in the block; the thread's there and in its warp */
    int row, col;        /* where its part of a tile begins */
    int x;               /* its part of a slab of X; with RS, the thread's */
    int y;               /* its part of a slab of Y */
    unsigned char *smem; /* the block's shared memory */
    int at;              /* its address */
};

GT_INLINE struct group group_of(unsigned char *smem, int at, int t, int lane) {
    struct group g;
    /* From lane 0, so that descriptors are known to be the same in all lanes. */
    const int number = __shfl_sync(0xffffffff, t / 128, 0), member = number % TEAM;
    g.number = number;
    g.t = t;
    g.lane = lane;
    g.row = member / (BN / WN) * WM;
    g.col = member % (BN / WN) * WN;
    g.x = RS ? gt_across_place(SIZE, SPAN_X, BK, g.row, t % 128) : g.row * LINE;
    g.y = g.col * LINE;
    g.smem = smem;
    g.at = at;
    return g;
}

/* The place where the warpgroup turns C, as a pointer and as an address. */
GT_INLINE char *turned_of(const struct group *g) {
    return (char *)g->smem + AT_TURNED + g->number * STAGED;
}

GT_INLINE int boxes_of(const struct group *g) {
    return g->at + AT_TURNED + g->number * STAGED;
}

/* The place of the operands that wait. */
GT_INLINE char *vectors_of(const struct group *g) {
    return (char *)g->smem + AT_VECTORS + g->number * GT_VECTORS;
}
