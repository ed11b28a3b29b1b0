/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warps.h - products of triple by mma.sync. All threads copy slabs of f32 to shared memory.
 * A warp splits the fragments that it loads.
 */
#if !GT_ENGINE
/* Starts a thread's copies of the slab at element `k` of the part, to s. */
GT_INLINE void start(int rows, int along, int line, int wide, char *s,
                     const struct operand *o, gt_long k, int t) {
    const int across = line / wide, step = T / across;
    const int row0 = t / across, byte = t % across * wide;
    const int left = (int)GT_MAX(o->left - k, 0), high = along ? o->lines : left;
    const int width = GT_MIN(along ? left : o->lines, line / SIZE) * SIZE;
    const int there = GT_MAX(0, GT_MIN(wide, width - byte));
    const char *from = o->at + (along ? k * SIZE : k * o->pitch) + byte;
    if (T % across != 0 && row0 >= step)
        return;
    GT_UNROLL
    for (int i = 0; i < GT_CDIV(rows, step); i++) {
        const int row = row0 + i * step;
        if (rows % step == 0 || row < rows)
            gt_bytes_copy(wide, s + gt_slab_place(SIZE, along, line, row, byte),
                          from + row * o->pitch, row < high ? there : 0);
    }
}

GT_INLINE void start_slab(const struct operand *a, const struct operand *b, gt_long k,
                          char *stage, int t) {
    start(ROWS_A, A_ALONG, LINE_A, WIDE_A, stage, a, k, t);
    start(ROWS_B, B_ALONG, LINE_B, WIDE_B, stage + SLAB_A, b, k, t);
    GT_BYTES_COMMIT();
}

/* Loads the f32 of a fragment and splits them. A fragment of bf16 is made of two of f32: a
 * word has the elements of a line from both halves of one of these. */
GT_INLINE void load(struct parts *x, int of_b, int along, int line, int slab, int place,
                    int i, int step) {
    unsigned f[EACH][GT_FRAGMENT_REGS], y[EACH * GT_FRAGMENT_REGS];
    GT_UNROLL
    for (int e = 0; e < EACH; e++)
        gt_fragment_load(of_b, SIZE, along, line, f[e], slab, place, i, step * EACH + e);
    GT_UNROLL
    for (int r = 0; r < GT_FRAGMENT_REGS; r++)
        GT_UNROLL
        for (int e = 0; e < EACH; e++)
            y[r * EACH + e] = EACH == 1 ? f[0][r]
                              : of_b    ? f[r % EACH][r / 2 * 2 + e]
                                        : f[r / 2 % EACH][r % 2 + 2 * e];
    gt_split_words(GT_FRAGMENT_REGS, x->high, x->low, y);
}

/* sum += a b for a fragment of parts of A and 8 columns of one of B. */
GT_INLINE void add(gt_acc *sum, const unsigned *a, const unsigned *b, int h) {
    if (EACH == 2)
        GT_MMA_FULL("m16n8k16", "bf16.bf16", sum, a, b[2 * h], b[2 * h + 1]);
    else
        gt_mma(sum, a, b, h);
}

/* The small products come first, while the sum is small. */
GT_INLINE void multiply(gt_acc *sum, const struct parts *a, const struct parts *b, int h) {
    add(sum, a->low, b->high, h);
    add(sum, a->high, b->low, h);
    add(sum, a->high, b->high, h);
}

/* Where a lane reads the first fragments of a slab. */
struct places {
    int a, b;
};

/* Multiplies a warp's part of the slab at shared address `stage`. */
GT_INLINE void multiply_slab(gt_acc sum[GM][2 * GN][4], int stage,
                             const struct places *p) {
    GT_UNROLL
    for (int step = 0; step < STEPS; step++) {
        struct parts a[GM], b[GN];
        GT_UNROLL
        for (int i = 0; i < GM; i++)
            load(&a[i], 0, A_ALONG, LINE_A, stage, p->a, i, step);
        GT_UNROLL
        for (int j = 0; j < GN; j++)
            load(&b[j], 1, B_ALONG, LINE_B, stage + SLAB_A, p->b, j, step);
        GT_UNROLL
        for (int i = 0; i < GM; i++)
            GT_UNROLL
            for (int j = 0; j < 2 * GN; j++)
                multiply(sum[i][j], &a[i], &b[j / 2], j % 2);
    }
}

/* Adds the sums of a slab to the totals: ordinary cores round to nearest. */
GT_INLINE void promote(gt_acc total[GM][2 * GN][4], gt_acc sum[GM][2 * GN][4]) {
    GT_UNROLL
    for (int i = 0; i < GM * 2 * GN * 4; i++)
        total[i / 4 / (2 * GN)][i / 4 % (2 * GN)][i % 4] +=
            sum[i / 4 / (2 * GN)][i / 4 % (2 * GN)][i % 4];
    clear(sum);
}

/* Adds the products of all slabs to the totals. */
GT_INLINE void multiply_slabs(gt_acc total[GM][2 * GN][4], const struct operand *a,
                              const struct operand *b, int slabs, char *smem,
                              const struct places *in, int t) {
    gt_acc sum[GM][2 * GN][4];
    int reading = 0, writing = (STAGES - 1) * STAGE;
    clear(sum);
    GT_UNROLL_BY(1)
    for (int s = 0; s < STAGES - 1; s++)
        start_slab(a, b, s * (gt_long)BK, smem + s * STAGE, t);
    GT_UNROLL_BY(1)
    for (int s = 0; s < slabs; s++) {
        GT_BYTES_WAIT(STAGES - 2);
        GT_BARRIER(); /* the slab is there, and the one before it has been read */
        start_slab(a, b, (s + STAGES - 1) * (gt_long)BK, smem + writing, t);
        multiply_slab(sum, gt_shared_address(smem) + reading, in);
        promote(total, sum);
        writing = reading;
        reading = reading + STAGE < STAGES * STAGE ? reading + STAGE : 0;
    }
    GT_BYTES_WAIT(0);
}

/* Adds the products of the block to the totals. `slice` and the place of the warp among
 * those of the tile are the thread's. Returns 1: all threads have totals. */
GT_INLINE int compute(gt_acc total[GM][2 * GN][4], const struct operand *a,
                      const struct operand *b, int slabs, char *smem,
                      int slice, int w_m, int w_n, int t) {
    const int k = slice * (GT_KBYTES / SLICES); /* where the slice's part begins */
    const struct places in = {
        gt_fragment_place(0, SIZE, A_ALONG, LINE_A, w_m * WM, k, t % 32),
        gt_fragment_place(1, SIZE, B_ALONG, LINE_B, w_n * WN, k, t % 32)};
    multiply_slabs(total, a, b, slabs, smem, &in, t);
    return 1;
}
#endif
