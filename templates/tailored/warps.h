/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warps.h - products of tailored by mma.sync, of f64 and of 16-bit types: a warp computes a
 * part of TM x TN. Fragments of f64 (doubles.h) are loaded from slabs with k outermost, by
 * pairs of neighbouring lines; those of 16-bit types (fragments.h) by ldmatrix from slabs
 * as they lie in memory. Rows are an odd number of 16 bytes long, so that lanes that read
 * together meet in no bank. Lanes that read half a fragment of f64 meet by twos.
 *
 * A part consists of blocks of 16 x 16. Where TN is an odd multiple of 8, the last block of
 * each row of blocks is a half, of 8 columns.
 */
#if GT_ENGINE
enum {
    SUMS = TM * TN / 32, DOUBLE = sizeof(gt_ab) == 8,
    BLOCKS = (TN + 15) / 16,     /* along n */
    SUM_ROWS = TM / 8 * BLOCKS   /* of a lane: its rows of all blocks */
};

/* Whether block j along n is a half. */
GT_INLINE int is_half(int j) {
    return j * 16 + 8 == TN;
}

/* The part of a warp. All warps have one. */
GT_INLINE struct part part_of(int t) {
    const struct part part = {t / 32 / TX * TM, t / 32 % TX * TN, 1};
    return part;
}

/* The first of the two lines of a block of f64 that have number g, one in either half. Lane
 * t gets the sums of numbers 2 t and 2 t + 1 of B. They are the lines from 2 t and 2 t + 8
 * on, so that four lanes have 8 neighbouring columns. Half a block has its 8 lines in
 * order. */
GT_INLINE int pair_of(int g) {
    return g / 2 * 2 + g % 2 * 8;
}

#if GT_SIZEOF_A == 8
/* Loads the fragment (doubles.h), or half of it, of the lines from `line` and of k from
 * `deep` on. Slabs of f64 always have k outermost, and A and B are loaded alike. Lane t has
 * k's t and t + 4: those of neighbouring lanes lie in neighbouring rows. Rows 2 t would be
 * an even number of 16 bytes apart, and so meet the lines of the next g in a bank. */
GT_INLINE void load_fragment(int of_b, int half, int asis, gt_ab *f, const gt_ab *slab,
                             int length, int line, int deep) {
    const int g = GT_THREAD_X % 32 / 4, t = GT_THREAD_X % 4;
    const int first = line + (half ? g : pair_of(g));
    GT_UNROLL
    for (int v = 0; v < 2; v++)
        gt_load_shared(half ? 1 : 2, f + 2 * v, slab + (deep + t + 4 * v) * length + first);
}
#else
/* Loads the fragment (fragments.h), or half of it, of the lines from `line` and of k from
 * `deep` on, from a slab that is contiguous along k (`asis`) or has k outermost. Eight
 * lanes each address the rows of a quarter of the fragment. Of half a fragment the first
 * quarters are loaded twice: there may be no memory behind them. */
GT_INLINE void load_fragment(int of_b, int half, int asis, unsigned *f, const gt_ab *slab,
                             int length, int line, int deep) {
    const int lane = GT_THREAD_X % 32, eight = lane % 8;
    const int upper = half ? 0 : (of_b ? lane / 16 : lane / 8) % 2 * 8;
    const int last = (of_b ? lane / 8 : lane / 16) % 2 * 8;
    const int row = asis ? line + upper + eight : deep + last + eight;
    const int column = asis ? deep + last : line + upper;
    gt_load_matrices(!asis, f, gt_shared_address(slab + row * length + column));
}
#endif

/* acc += the products of the slabs at a and b. */
GT_INLINE void multiply(gt_acc *acc, const gt_ab *a, const gt_ab *b, struct part part) {
    GT_UNROLL
    for (int p = 0; p < BK; p += GT_FRAGMENT_K) {
        gt_fragment x[TM / 16], y;
        GT_UNROLL
        for (int i = 0; i < TM / 16; i++)
            load_fragment(0, 0, ASIS_A, x[i], a, LINE_A, part.row + i * 16, p);
        GT_UNROLL
        for (int j = 0; j < BLOCKS; j++) {
            load_fragment(1, is_half(j), ASIS_B, y, b, LINE_B, part.col + j * 16, p);
            gt_tile_multiply(TM, TN, acc, x, y, j);
        }
    }
}

/* acc += the sums of the warp's part. */
GT_INLINE void sum_up(gt_acc *acc, gt_ab *smem, struct source from, struct part part,
                      int t) {
    int now = 0, free = STAGES - 1; /* stages: of this slab; of the slab fetched next */
    GT_UNROLL_BY(1)
    for (int s = 0; s < from.slabs; s++) {
        const gt_ab *const slabs = smem + now * STAGE;
        TURN();
        fetch_next(smem + free * STAGE, &from, s + STAGES - 1, t);
        multiply(acc, slabs, slabs + SLAB_A, part);
        free = now;
        now = now + 1 == STAGES ? 0 : now + 1;
    }
}

/* A lane's sums number e are those in one row of a block: pairs of neighbours from columns
 * 2 t and 2 t + 8 on, of half a block the first pair alone. */
GT_INLINE int sum_block(int e) {
    return e / 2 % BLOCKS; /* along n */
}
GT_INLINE void take_row(gt_acc *four, const gt_acc *acc, int e) {
    const int j = sum_block(e), half = is_half(j), mixed = DOUBLE && !half;
    const gt_acc *const of = acc + (e / 2 / BLOCKS * (TN / 8) + j * 2) * 4 + e % 2 * 2;
    four[0] = of[0], four[mixed ? 2 : 1] = of[1];
    if (!half)
        four[mixed ? 1 : 2] = of[4], four[3] = of[5];
}

/* Two lanes exchange pairs: afterwards one has the four neighbours from column 2 t on, the
 * other those from 2 t + 6 on. So each row gets 32 bytes of 16-bit elements together. */
GT_INLINE void exchange(gt_acc *four, int t) {
    const int odd = t % 2;
    GT_UNROLL
    for (int i = 0; i < 2; i++) {
        const gt_acc mine = odd ? four[i] : four[2 + i];
        const gt_acc got = __shfl_xor_sync(0xffffffffu, mine, 1);
        four[i] = odd ? got : four[i];
        four[2 + i] = odd ? four[2 + i] : got;
    }
}

/* The row in the part of a lane's sums number e; the column where their block begins. */
GT_INLINE int sum_row(int e) {
    const int g = GT_THREAD_X % 32 / 4, upper = e % 2;
    return e / 2 / BLOCKS * 16 + (DOUBLE ? pair_of(g) + upper : g + 8 * upper);
}
GT_INLINE int sum_column(int e) {
    return sum_block(e) * 16;
}

/* Gathers the tile in the place of the slabs. Its rows are an odd multiple of 8 elements,
 * so that f32 sums of eight lanes' rows meet in no bank. Those of f64 meet by twos: their
 * rows are 8 apart. */
GT_INLINE void gather_tile(gt_acc *tile, const gt_acc *acc, struct part part, int thread) {
    gt_acc *const to = tile + part.row * GT_LINE_C + part.col + thread % 4 * 2;
    GT_BARRIER(); /* all slabs were read */
    GT_UNROLL
    for (int e = 0; e < SUM_ROWS; e++) {
        gt_acc *const row = to + sum_row(e) * GT_LINE_C + sum_column(e), four[4];
        take_row(four, acc, e);
        gt_store_shared_acc(2, row, four);
        if (!is_half(sum_block(e)))
            gt_store_shared_acc(2, row + 8, four + 2);
    }
    GT_BARRIER();
}

/* The part that the thread gives. Where rows of C are not whole vectors, it is the whole
 * tile, shared by all threads, which is gathered before: of single elements, four lanes
 * could store only 8 neighbours. */
GT_INLINE struct part part_to_give(gt_ab *smem, const gt_acc *acc, struct part part,
                                   int thread) {
    const struct part all = {0, 0, 1};
    if (GT_GATHERS)
        gather_tile((gt_acc *)smem, acc, part, thread);
    return GT_GATHERS ? all : part;
}

/* Stores a tile that was gathered, neighbours by neighbouring threads. A thread keeps its
 * columns from row to row, so that places are constants: a division for each element would
 * take more instructions than all the rest. Threads that are left over from the last whole
 * row of threads store nothing. */
GT_INLINE void give_tile(struct target to, const gt_acc *tile, int t GT_PLACE_PARAMS) {
    enum { ACROSS = BN <= T ? BN : 32, DOWN = T / ACROSS, RUNS = (BM + DOWN - 1) / DOWN };
    GT_UNROLL
    for (int j = 0; j < (BN + ACROSS - 1) / ACROSS; j++) {
        const int first = t / ACROSS, col = j * ACROSS + t % ACROSS;
        if (first < DOWN && col < GT_MIN(to.cols, BN)) {
            GT_UNROLL_BY(8)
            for (int i = 0; i < RUNS; i++)
                if (BM % DOWN == 0 || first + i * DOWN < BM)
                    give(1, to, first + i * DOWN, col,
                         tile + (first + i * DOWN) * GT_LINE_C + col GT_PLACE(gt_i, gt_j));
        }
    }
}

/* Stores the sums of a warp, whose part begins at the target. */
GT_INLINE void give_warp(struct target to, const gt_acc *acc, int t GT_PLACE_PARAMS) {
    GT_UNROLL
    for (int e = 0; e < SUM_ROWS; e++) {
        const int row = sum_row(e), col = sum_column(e) + 2 * t;
        const int half = is_half(sum_block(e));
        gt_acc four[4];
        take_row(four, acc, e);
        if (GT_PIECE_C == 4 && !half) {
            exchange(four, t);
            give(4, to, row, col + t % 2 * 6, four GT_PLACE(gt_i, gt_j));
        } else {
            give(2, to, row, col, four GT_PLACE(gt_i, gt_j));
            if (!half)
                give(2, to, row, col + 8, four + 2 GT_PLACE(gt_i, gt_j));
        }
    }
}

GT_INLINE void give_all(struct target to, const gt_acc *acc, const gt_ab *smem,
                        int thread GT_PLACE_PARAMS) {
    if (GT_GATHERS)
        give_tile(to, (const gt_acc *)smem, thread GT_PLACE(gt_i, gt_j));
    else
        give_warp(to, acc, thread % 4 GT_PLACE(gt_i, gt_j));
}
#endif
