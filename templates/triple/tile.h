/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tile.h - what all parts of triple share: the constants of the tile and of its slabs, the
 * operands of a block, and where a thread has its sums. triple.cu explains the words.
 */
enum {
    BM = GT_BM, BN = GT_BN, BK = GT_BK, WM = GT_WM, WN = GT_WN,
    SLICES = GT_SLICES, STAGES = GT_STAGES, SPLIT = GT_SPLIT, T = GT_THREADS,
    SIZE = sizeof(float),
    A_ALONG = !GT_TA, B_ALONG = GT_TB, /* whether the operand is contiguous along k */

    /* A slab's rows, their length, and the bytes of a copy. */
    ROWS_A = GT_ROWS_A, LINE_A = GT_LINE_A, WIDE_A = GT_VA,
    ROWS_B = GT_ROWS_B, LINE_B = GT_LINE_B, WIDE_B = GT_VB,
    SLAB_A = ROWS_A * LINE_A, STAGE = GT_STAGE_BYTES,

    GM = WM / 16, GN = WN / 16, /* fragments of a warp */
    EACH = GT_SPLIT_EACH, /* elements of k in a word of parts */
    STEPS = GT_KBYTES / SLICES / GT_FRAGMENT_BYTES / EACH,

    /* For wgmma: warpgroups that multiply, slabs of A and B in registers, bytes of a part
     * of B. */
    GROUPS = GT_GROUPS, AHEAD_A = GT_AHEAD_A, AHEAD_B = 2, PART = BN * GT_KBYTES / EACH,
    STORERS = GT_ENGINE ? GROUPS * 128 : T, /* threads that have sums */

    PARTIAL = GT_PARTIAL,    /* stored sums are parts, not C yet */
    /* Whether vectors of an operand that is contiguous across k are loaded: pairs of rows
     * of A, patches of B. Rows or columns are then in another order until they leave. */
    A_PAIRS = GT_ENGINE && !A_ALONG && WIDE_A == 16,
    B_PATCHES = GT_ENGINE && !B_ALONG && WIDE_B == 16,
    B_CHUNKS = A_PAIRS && B_ALONG && WIDE_B == 16, /* see gt_split_store_four */
    LANE_K = B_CHUNKS ? EACH : 4, /* from the first k of a lane to that of the next */

    HIGH = BM / WM * 16,             /* rows of the tile that leave together */
    LDT = BN + (B_PATCHES ? 4 : 8), /* length of a row of sums in shared memory */
    WIDE_C = 4               /* elements of C that a thread stores at once */
};

/* The part of an operand that a block multiplies. */
struct operand {
    const char *at; /* its first element */
    gt_long pitch;  /* bytes from a row to the next */
    int lines, left; /* rows of A (columns of B) and elements of k that exist */
};

/* An operand's part from its row `line` (of A; column of B) and element k0 of k on. Rows of
 * memory are `pitch` bytes apart. */
GT_INLINE struct operand part_of(const char *x, gt_long pitch, int along, int line,
                                 gt_long k0, int lines, int left) {
    const gt_long row = along ? line : k0, place = along ? k0 : line;
    const struct operand o = {x + row * pitch + place * SIZE, pitch, lines, left};
    return o;
}

/* The parts of a fragment. */
struct parts {
    unsigned high[GT_FRAGMENT_REGS], low[GT_FRAGMENT_REGS];
};

/* Sums of a warp's part of the tile. */
GT_INLINE void clear(gt_acc sum[GM][2 * GN][4]) {
    GT_UNROLL
    for (int i = 0; i < GM * 2 * GN * 4; i++)
        sum[i / 4 / (2 * GN)][i / 4 % (2 * GN)][i % 4] = 0;
}

/* The row h, 0 or 1, of a warp's 16 that a lane has sums of. */
GT_INLINE int row_of(int lane, int h) {
    return A_PAIRS ? lane / 4 * 2 + h : lane / 4 + 8 * h;
}
