/* SPDX-License-Identifier: Apache-2.0 */
/*
 * groups.h - the warpgroups of triple that multiply by wgmma. Each loads its rows of A to
 * registers, splits them there, and multiplies them by parts of B in the ring.
 */
#if GT_ENGINE
GT_SPLIT_WGMMA(begin_product, GT_BN, 0)
GT_SPLIT_WGMMA(add_product, GT_BN, 1)

/* Loads a lane's part of a slab of A from its two rows, which are neighbours. */
GT_INLINE void load_pairs_of(int whole, unsigned *f, const struct operand *a,
                             const char *row, int rows, int left) {
    GT_UNROLL
    for (int e = 0; e < 8; e++) {
        const int deep = B_CHUNKS ? gt_split_lane_k(e % 4, e / 4) : e / 4 * 16 + e % 4;
        gt_load_words(8, 4, f + e % 4 * 4 + e / 4 * 2, row + deep * a->pitch,
                      whole         ? 8
                      : deep < left ? rows * SIZE
                                    : 0);
    }
}

/* Loads a lane's part of a slab of A from its two rows. */
GT_INLINE void load_rows_of(int whole, unsigned *f, const struct operand *a,
                            const char *const *row, int left, int lane) {
    const gt_long step = A_ALONG ? (gt_long)SIZE : a->pitch;
    GT_UNROLL
    for (int q = 0; q < 4; q++) {
        const int deep = q / 2 * 16;
        unsigned four[4];
        gt_split_load(four, row[q % 2] + deep * step, A_ALONG ? WIDE_A : SIZE, step,
                      whole ? 4 : left - deep - lane % 4 * 4);
        GT_UNROLL
        for (int j = 0; j < 4; j++)
            f[4 * j + q] = four[j];
    }
}

/* `left` elements of k exist from the slab's first one on, and `rows` of a pair. */
GT_INLINE void load_rows(unsigned *f, const struct operand *a, const char *const *row,
                         int rows, int left, int lane) {
    if (A_PAIRS && left >= BK && rows == 2)
        load_pairs_of(1, f, a, row[0], rows, left);
    else if (A_PAIRS)
        load_pairs_of(0, f, a, row[0], rows, left - lane % 4 * LANE_K);
    else if (left >= BK)
        load_rows_of(1, f, a, row, left, lane);
    else
        load_rows_of(0, f, a, row, left, lane);
}

/* The descriptor of a slab of parts of B. */
GT_INLINE unsigned long long columns_at(int at) {
    const int line = GT_KBYTES / EACH;
    return gt_wgmma_tile(at, 16, 8 * line, line);
}

/* Starts the products of a slab whose rows of A are in x and whose parts of B lie at shared
 * address `parts`. Those of the last step are a batch of their own. */
GT_INLINE void start_products(gt_acc *sum, const struct parts x[STEPS], int parts) {
    gt_wgmma_hold(BN / 2, sum);
    gt_wgmma_fence();
    GT_UNROLL
    for (int j = 0; j < STEPS; j++) {
        const unsigned long long high = columns_at(parts) + 2 * j;
        const unsigned long long low = columns_at(parts + PART) + 2 * j;
        if (j == 0)
            begin_product(sum, x[j].low, high);
        else
            add_product(sum, x[j].low, high);
        add_product(sum, x[j].high, low);
        add_product(sum, x[j].high, high);
        if (j >= STEPS - 2)
            gt_wgmma_commit();
    }
}

/* Keeps the compiler from splitting later, between products. */
GT_INLINE void hold(struct parts x[STEPS]) {
    GT_UNROLL
    for (int e = 0; e < 4 * STEPS; e++)
        asm volatile("" : "+r"(x[e / 4].high[e % 4]), "+r"(x[e / 4].low[e % 4]));
}

/*
 * Warpgroups start their products in turns: one after another, and so on. While one adds
 * its sums to the totals, the tensor cores have products of the others. A warpgroup passes
 * the turn on when its products but for the last ones are done.
 */
GT_INLINE void await_turn(int group, int s) {
    if (GROUPS > 1 && (group > 0 || s > 0))
        gt_group_barrier(TURN + group, 256);
}
GT_INLINE void pass_turn(int group, int last) {
    if (GROUPS > 1 && !(last && group == GROUPS - 1))
        gt_group_arrive(TURN + (group + 1) % GROUPS, 256);
}

/* Multiplies slab s, of which f has a lane's part of A, and adds it to the totals. f then
 * gets the part of a later slab. */
GT_INLINE void multiply_slab_wg(gt_acc *total, gt_acc *sum, unsigned *f,
                                const struct ring *r, struct gt_turn turn, int s, int last,
                                const struct operand *a, const char *const *row, int rows,
                                int group, int lane) {
    struct parts x[STEPS];
    GT_UNROLL
    for (int j = 0; j < STEPS; j++)
        gt_split_step(x[j].high, x[j].low, f, j);
    hold(x);
    load_rows(f, a, row, rows, (int)(a->left - (s + AHEAD_A) * (gt_long)BK), lane);
    gt_barrier_wait(r->full + turn.stage * 8, turn.parity);
    gt_warp_barrier();
    await_turn(group, s);
    start_products(sum, x, r->parts + turn.stage * 2 * PART);
    GT_WGMMA_WAIT(1);
    pass_turn(group, last);
    GT_WGMMA_WAIT(0);
    gt_wgmma_hold(BN / 2, sum);
    if (lane == 0)
        gt_barrier_arrive(r->empty + turn.stage * 8);
    GT_UNROLL
    for (int e = 0; e < BN / 2; e++)
        total[e] += sum[e];
}

/* The work of a warpgroup that multiplies: 64 rows of the tile. row0: its warp's first. */
GT_INLINE void multiply_slabs(gt_acc *total, const struct ring *r, const struct operand *a,
                              int slabs, int row0, int group, int lane) {
    const gt_long step = BK * (A_ALONG ? (gt_long)SIZE : a->pitch);
    unsigned f[AHEAD_A][16];
    gt_acc sum[BN / 2];
    const int first = row0 + row_of(lane, 0), last = GT_MIN(first, (a->lines - 1) / 2 * 2);
    const int rows = GT_MIN(2, a->lines - last);
    const char *row[2] = {line_at(a, A_ALONG, A_PAIRS ? last : first, lane % 4 * LANE_K),
                          line_at(a, A_ALONG, row0 + row_of(lane, 1), lane % 4 * 4)};
    struct gt_turn turn = {0, 0};
    GT_UNROLL
    for (int e = 0; e < BN / 2; e++)
        sum[e] = 0;
    GT_UNROLL
    for (int d = 0; d < AHEAD_A; d++, row[0] += step, row[1] += step)
        load_rows(f[d], a, row, rows, a->left - d * BK, lane);
    GT_UNROLL_BY(1)
    for (int s = 0; s < slabs; s += AHEAD_A)
        GT_UNROLL
        for (int d = 0; d < AHEAD_A && s + d < slabs; d++, row[0] += step, row[1] += step) {
            multiply_slab_wg(total, sum, f[d], r, turn, s + d, s + d == slabs - 1, a, row,
                             rows, group, lane);
            turn = gt_turn_next(STAGES, turn);
        }
}

/* Adds the products of the block to the totals. w_m is the warp's place among those of the
 * tile. Returns whether the thread has totals: a splitter has none. */
GT_INLINE int compute(gt_acc total[GM][2 * GN][4], const struct operand *a,
                      const struct operand *b, int slabs, char *smem,
                      int slice, int w_m, int w_n, int t) {
    const int memory = gt_shared_address(smem);
    const struct ring ring = {memory, memory + GT_BARRIERS,
                              memory + GT_BARRIERS + STAGES * 8};
    make_ring(&ring, t);
    if (t >= STORERS) {
        GT_REGISTERS_GIVE(GT_GIVE);
        split_slabs(&ring, smem, b, slabs, t - STORERS);
        gt_group_arrive(RING_READ, T);
        return 0;
    }
    GT_REGISTERS_TAKE(GT_GIVE ? GT_TAKE : 0);
    /* From lane 0, so that it is known to be the same in all lanes. */
    const int group = __shfl_sync(0xffffffff, t / 128, 0);
    multiply_slabs(total[0][0], &ring, a, slabs, w_m * 16, group, t % 32);
    gt_group_barrier(RING_READ, T); /* sums go where the splitters stored */
    return 1;
}
#endif
