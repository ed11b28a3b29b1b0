/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tiles.h - products of pipeline by mma.sync: a warp computes a tile.
 */
#if GT_ENGINE
enum {
    SUMS = TM * TN / 32, STEP = GT_FRAGMENT_K, /* k of an instruction */
    /* Lines of 16-bit elements whose number is one more or less than a multiple of 32: with
     * neighbouring k's in the lanes of a row, four lanes would read each bank. */
    SPREAD = !DOUBLE && !MATRIX_A && !MATRIX_B &&
             (LINE_A + 1) % 32 <= 2 && (LINE_B + 1) % 32 <= 2 && LINE_A % 32 && LINE_B % 32,
    /* Where the k's of instructions end. With SPREAD lane 0 has all of a rest of up to 4.
     * One instruction is enough for it. */
    DEPTH = !SPREAD || DEEP % 32 == 0 ? DEEP : DEEP / 32 * 32 + (DEEP % 32 > 4 ? 32 : 16)
};

/* The part of a warp: its product in the group, and the corner of its tile. */
struct part {
    int product, row, col;
};

GT_INLINE struct part part_of_thread(void) {
    const int tile = GT_THREAD_X % TEAM / 32;
    const struct part part = {GT_THREAD_X / TEAM, tile / WIDE * TM, tile % WIDE * TN};
    return part;
}

#if GT_SIZEOF_A == 8
/*
 * Loads the fragment (doubles.h) of 16 of the `lines` lines, from `line` on, and of k from
 * `deep` on. The matrix begins `first` elements into the run. Past the last line another
 * line stands in. Past the last k there are zeros, because 0 * NaN is NaN.
 */
#define LOAD_FRAGMENT(operand, of_b, along, lines)                                         \
    GT_INLINE gt_ab element_##operand(const gt_ab *run, int first, int line, int p) {      \
        const int l = GT_MIN(line, lines - 1);                                             \
        const int at = first + (along ? l : p) * LINE_##operand + (along ? p : l);         \
        return p < DEEP ? run[PLACE_IN(operand, at)] : 0;                                  \
    }                                                                                      \
    GT_INLINE void load_pair_##operand(gt_ab *two, const gt_ab *run, int first, int line,  \
                                       int p) {                                            \
        const int l = GT_MIN(line, along ? lines - 1 : (lines - 1) / 2 * 2);               \
        const int at = first + (along ? l : p) * LINE_##operand + (along ? p : l);         \
        two[0] = two[1] = 0;                                                               \
        if (p < DEEP)                                                                      \
            gt_load_shared(2, two, run + PLACE_IN(operand, at));                           \
        if (along && DEEP % 2 != 0 && p == DEEP - 1)                                       \
            two[1] = 0;                                                                    \
    }                                                                                      \
    GT_INLINE void load_fragment_##operand(gt_ab *f, const gt_ab *run, int first,          \
                                           int line, int deep) {                           \
        const int g = GT_THREAD_X % 32 / 4, t = GT_THREAD_X % 4;                           \
        GT_UNROLL                                                                          \
        for (int i = 0; i < 2; i++) {                                                      \
            const int l = line + gt_double_line(along, g, along ? i : 0);                  \
            const int p = deep + 2 * t + (along ? 0 : i);                                  \
            gt_ab two[2];                                                                  \
            if (MATRIX_##operand)                                                          \
                load_pair_##operand(two, run, first, l, p);                                \
            else                                                                           \
                two[0] = element_##operand(run, first, l, p),                              \
                two[1] = element_##operand(run, first, l + !along, p + along);             \
            f[along ? i : 2 * i] = two[0];                                                 \
            f[along ? i + 2 : 2 * i + 1] = two[1];                                         \
        }                                                                                  \
    }
#else
/* The first k of a lane's pair: half h of the instruction whose k begins at `deep`, lane t
 * of four. With SPREAD two instructions share 32 k's, of which lane t has number 8 t and
 * the 7 that follow. The order of k does not matter, as long as A and B have the same. */
GT_INLINE int k_of(int deep, int h, int t) {
    return SPREAD ? deep / 32 * 32 + 8 * t + deep / 16 % 2 * 4 + 2 * h
                  : deep + 8 * h + 2 * t;
}

/* Sets those k's of a fragment to 0 that are not among the `there` next ones of its lane,
 * whose pairs of k are 8 apart. */
GT_INLINE void clear_rest(unsigned *f, int of_b, int there) {
    GT_UNROLL
    for (int i = 0; i < 4; i++) {
        const int left = there - (of_b ? i % 2 : i / 2) * 8;
        f[i] = left <= 0 ? 0 : left == 1 ? f[i] & 0xffff : f[i];
    }
}

/*
 * Loads the fragment (fragments.h) of 16 of the `lines` lines, from `line` on, and of the
 * k's that k_of gives for `deep`. The matrix begins `first` elements into the run. `along`:
 * it is contiguous along k. Past the last line another line stands in. Past the last k
 * there are zeros, because 0 * NaN is NaN.
 */
#define LOAD_FRAGMENT(operand, of_b, along, lines)                                         \
    GT_INLINE void load_matrices_##operand(unsigned *f, const gt_ab *run, int first,       \
                                           int line, int deep) {                           \
        const int lane = GT_THREAD_X % 32, eight = lane % 8;                               \
        const int upper = (of_b ? lane / 16 : lane / 8) % 2 * 8;                           \
        const int last = (of_b ? lane / 8 : lane / 16) % 2 * 8;                            \
        const int l = along ? GT_MIN(line + upper + eight, lines - 1)                      \
                            : GT_MIN(line + upper, (lines - 1) / 8 * 8);                   \
        const int p = along ? GT_MIN(deep + last, (DEEP - 1) / 8 * 8)                      \
                            : GT_MIN(deep + last + eight, DEEP - 1);                       \
        const int at = first + (along ? l : p) * LINE_##operand + (along ? p : l);         \
        gt_load_matrices(!along, f, gt_shared_address(run + PLACE_IN(operand, at)));       \
        if (deep + 8 >= DEEP)                                                              \
            f[of_b ? 1 : 2] = f[3] = 0;                                                    \
        if (DEEP % 8 != 0 && deep + STEP > DEEP)                                           \
            clear_rest(f, of_b, DEEP - deep - lane % 4 * 2);                               \
    }                                                                                      \
    GT_INLINE unsigned element_##operand(const gt_ab *run, int first, int line, int p) {   \
        const int l = GT_MIN(line, lines - 1);                                             \
        const int at = first + (along ? l : p) * LINE_##operand + (along ? p : l);         \
        return p < DEEP ? run[at] : 0;                                                     \
    }                                                                                      \
    GT_INLINE void load_elements_##operand(unsigned *f, const gt_ab *run, int first,       \
                                           int line, int deep) {                           \
        const int lane = GT_THREAD_X % 32;                                                 \
        GT_UNROLL                                                                          \
        for (int i = 0; i < 4; i++) {                                                      \
            const int l = line + (of_b ? i / 2 : i % 2) * 8 + lane / 4;                    \
            const int p = k_of(deep, of_b ? i % 2 : i / 2, lane % 4);                      \
            if (along && DEEP % 2 == 0)                                                    \
                f[i] = p < DEEP ? gt_load_word(gt_shared_address(                          \
                                      run + first + GT_MIN(l, lines - 1) * DEEP + p))      \
                                : 0;                                                       \
            else                                                                           \
                f[i] = element_##operand(run, first, l, p) |                               \
                       element_##operand(run, first, l, p + 1) << 16;                      \
        }                                                                                  \
    }                                                                                      \
    GT_INLINE void load_fragment_##operand(unsigned *f, const gt_ab *run, int first,       \
                                           int line, int deep) {                           \
        if (MATRIX_##operand)                                                              \
            load_matrices_##operand(f, run, first, line, deep);                            \
        else                                                                               \
            load_elements_##operand(f, run, first, line, deep);                            \
    }
#endif
LOAD_FRAGMENT(A, 0, ALONG_A, ROWS)
LOAD_FRAGMENT(B, 1, ALONG_B, COLS)

/* acc += the sums of the warp's tile. */
GT_INLINE void multiply(gt_acc *acc, const gt_ab *a, const gt_ab *b, struct part part) {
    GT_UNROLL_BY(4)
    for (int p = 0; p < DEPTH; p += STEP) {
        gt_fragment x[TM / 16], y;
        GT_UNROLL
        for (int i = 0; i < TM / 16; i++)
            load_fragment_A(x[i], a, part.product * PITCH_A, part.row + i * 16, p);
        GT_UNROLL
        for (int j = 0; j < TN / 16; j++) {
            load_fragment_B(y, b, part.product * PITCH_B, part.col + j * 16, p);
            gt_tile_multiply(TM, TN, acc, x, y, j);
        }
    }
}

/* Gives the sums by pairs of neighbouring columns. Number 2 t + j of half h of B is a
 * column: 8 h + 2 t + j, or 4 t + 2 j + h where lines were loaded by pairs (MIXED). */
GT_INLINE void give_all(struct outputs c, const gt_acc *acc, struct part part,
                        int count GT_PLACE_PARAMS) {
    enum { MIXED = DOUBLE && !ALONG_B };
    const int g = GT_THREAD_X % 32 / 4, t = GT_THREAD_X % 4;
    const int exists = part.product < count;
    GT_UNROLL
    for (int i = 0; i < SUMS; i += 2) {
        const int block = i / (TN / 2), across = i % (TN / 2) / 8; /* of 16 lines */
        const int upper = i % 4 / 2, which = i % 8 / 4;            /* half of A, pair */
        const gt_acc *of = acc + (block * (TN / 8) + across * 2) * 4 + upper * 2;
        const gt_acc two[2] = {of[MIXED ? which : which * 4],
                               of[MIXED ? which + 4 : which * 4 + 1]};
        const int row = part.row + block * 16 + (DOUBLE && !ALONG_A ? 2 * g + upper
                                                                    : g + 8 * upper);
        const int col = part.col + across * 16 + (MIXED ? 4 * t + 2 * which
                                                        : 8 * which + 2 * t);
        if (row < ROWS && COLS % 2 == 0 && col < COLS)
            give(c, exists, part.product, row, col, 2, two GT_PLACE(gt_i, gt_j));
        GT_UNROLL
        for (int j = 0; j < 2 && COLS % 2 != 0; j++)
            if (row < ROWS && col + j < COLS)
                give(c, exists, part.product, row, col + j, 1,
                     two + j GT_PLACE(gt_i, gt_j));
    }
}
#endif
