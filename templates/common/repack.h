/* SPDX-License-Identifier: Apache-2.0 */
/*
 * repack.h - a kernel that runs before the main one. It copies operands to the workspace,
 * as they lie in memory, in rows that begin at multiples of 16 bytes (CUDA, and OpenCL
 * that takes PTX). The rest of a row's last 16 bytes becomes zeros.
 *
 * A row begins anywhere in memory. A thread loads the two aligned pieces of 16 bytes that
 * its 16 bytes lie in, and shifts them together. Both may reach into the rows beside it.
 *
 * Integer macros of a part are names of space.json too, without GT_.
 */
#if !GT_OPENCL || GT_PTX
#define GT_REPACK_THREADS 256
#define GT_REPACK_LANES   32  /* threads that copy a row together, at most */
#define GT_REPACK_WIDE    512 /* bytes of a row that they copy: 16 each */
#define GT_REPACK_EACH    4   /* rows that a thread copies its 16 bytes of */

/* An operand: rows of `bytes` bytes, `pitch` bytes apart there, `to_pitch` here. */
struct gt_repack {
    GT_GLOBAL char *to;
    const GT_GLOBAL char *from;
    gt_long pitch, to_pitch, bytes;
    int rows;
};

/* Threads that copy a row together. A narrow row has few, so that the others of a warp copy
 * the next rows. */
GT_INLINE int gt_repack_lanes(const struct gt_repack *r) {
    return r->bytes > GT_REPACK_WIDE - 16 ? GT_REPACK_LANES
                                          : GT_MAX(1, gt_cdiv((int)r->bytes, 16));
}

GT_INLINE int gt_repack_blocks(const struct gt_repack *r) {
    return gt_cdiv(r->rows, GT_REPACK_EACH * (GT_REPACK_THREADS / gt_repack_lanes(r))) *
           (int)GT_CDIV(r->bytes, GT_REPACK_WIDE);
}

/* words[0..3] becomes the 16 bytes that begin at byte `behind` of words[0..7]. */
GT_INLINE void gt_repack_shift(unsigned *words, int behind) {
    GT_UNROLL
    for (int i = 0; i < 6; i++)
        words[i] = behind & 8 ? words[i + 2] : words[i];
    GT_UNROLL
    for (int i = 0; i < 5; i++)
        words[i] = behind & 4 ? words[i + 1] : words[i];
    GT_UNROLL
    for (int i = 0; i < 4; i++)
        words[i] = __funnelshift_r(words[i], words[i + 1], behind % 4 * 8);
}

/* Keeps the first `there` of 16 bytes; the others become 0. */
GT_INLINE void gt_repack_cut(unsigned *words, int there) {
    GT_UNROLL
    for (int i = 0; i < 4; i++) {
        const int bytes = there - i * 4;
        words[i] &= bytes >= 4 ? ~0u : bytes <= 0 ? 0u : (1u << bytes * 8) - 1;
    }
}

/* Copies the 16 bytes at byte `byte` of a row, element by element, and none behind them. */
GT_INLINE void gt_repack_with_care(int size, const struct gt_repack *r, int row,
                                   gt_long byte) {
    const GT_GLOBAL char *from = r->from + row * r->pitch + byte;
    const int there = (int)GT_MIN(r->bytes - byte, 16);
    unsigned words[4];
    GT_UNROLL
    for (int w = 0; w < 4; w++)
        words[w] = gt_word_of(size, from + 4 * w, there - 4 * w);
    gt_store_words_global(16, r->to + row * r->to_pitch + byte, words);
}

/* Copies 16 bytes of each of the rows row0, row0 + step and so on, from row `low` to row
 * `high` of them. All loads begin before the first store. */
GT_INLINE void gt_repack_fast(const struct gt_repack *r, int row0, int step, int low,
                              int high, gt_long byte) {
    unsigned words[GT_REPACK_EACH][8];
    GT_UNROLL
    for (int i = 0; i < GT_REPACK_EACH; i++) {
        const int row = GT_MAX(low, GT_MIN(row0 + i * step, high));
        const GT_GLOBAL char *from = r->from + row * r->pitch + byte;
        const int behind = (int)((gt_long)from & 15);
        const GT_GLOBAL GT_WORDS_4 *at = (const GT_GLOBAL GT_WORDS_4 *)(from - behind);
        const GT_WORDS_4 left = at[0], right = at[behind > 0];
        words[i][0] = left.x, words[i][1] = left.y;
        words[i][2] = left.z, words[i][3] = left.w;
        words[i][4] = right.x, words[i][5] = right.y;
        words[i][6] = right.z, words[i][7] = right.w;
    }
    GT_UNROLL
    for (int i = 0; i < GT_REPACK_EACH; i++) {
        const int row = row0 + i * step;
        const GT_GLOBAL char *from = r->from + row * r->pitch + byte;
        if (row < low || row > high)
            continue;
        gt_repack_shift(words[i], (int)((gt_long)from & 15));
        if (r->bytes - byte < 16)
            gt_repack_cut(words[i], (int)(r->bytes - byte));
        gt_store_words_global(16, r->to + row * r->to_pitch + byte, words[i]);
    }
}

/* Copies a block's part of an operand with elements of `size` bytes. Blocks with the first
 * bytes of all rows come first. Aligned pieces may lie partly outside of the operand: those
 * of its first and last row, or, where rows are less than 31 bytes apart, those of the
 * first 15 and the last 30. Such rows are copied with care, in a loop: the code stays
 * short, since loading it takes as long as a small operand's copy. */
GT_INLINE void gt_repack(int size, const struct gt_repack *r, int block, int t) {
    const int lanes = gt_repack_lanes(r), at_once = GT_REPACK_THREADS / lanes;
    const int bands = gt_cdiv(r->rows, GT_REPACK_EACH * at_once);
    const int row0 = block % bands * GT_REPACK_EACH * at_once + t / lanes;
    const gt_long byte = block / bands * (gt_long)GT_REPACK_WIDE + t % lanes * 16;
    const int last = r->rows - 1;
    const GT_GLOBAL char *first_at = r->from + byte,
                         *last_at = r->from + last * r->pitch + byte + 16;
    const GT_GLOBAL char *end = r->from + last * r->pitch + r->bytes;
    const int close = r->pitch < 31;
    const int low = close ? 15 : first_at - ((gt_long)first_at & 15) < r->from;
    const int high = last - (close ? 30 : last_at + (-(gt_long)last_at & 15) > end);
    if (byte >= r->bytes || t >= at_once * lanes)
        return;
    if (low <= high)
        gt_repack_fast(r, row0, at_once, low, high, byte);
    _Pragma("unroll 1") for (int i = 0; i < GT_REPACK_EACH; i++) {
        const int row = row0 + i * at_once;
        if (row <= last && (row < low || row > high))
            gt_repack_with_care(size, r, row, byte);
    }
}

/* Copies a block's part of the first operand, which has blocks_0 blocks, or of the second.
 * One copy of the code serves both: their elements are equally wide. */
GT_INLINE void gt_repack_one_of(const struct gt_repack *of, int blocks_0, int has_0,
                                int has_1, int block, int t) {
    const int second = !has_0 || (has_1 && block >= blocks_0);
    const struct gt_repack r = second ? of[1] : of[0];
    gt_repack(GT_SIZEOF_A, &r, block - (second ? blocks_0 : 0), t);
}

/* A and B as they lie in memory, for copies at `place` with rows at multiples of `to`
 * bytes. */
#define GT_REPACK_A(place, to)                                                             \
    {(char GT_GLOBAL *)workspace + (place), (const GT_GLOBAL char *)a,                     \
     (gt_long)lda * (int)sizeof(gt_a),                                                     \
     GT_CDIV((gt_long)(GT_TA ? m : k) * (int)sizeof(gt_a), (to)) * (to),                   \
     (gt_long)(GT_TA ? m : k) * (int)sizeof(gt_a), GT_TA ? k : m}
#define GT_REPACK_B(place, to)                                                             \
    {(char GT_GLOBAL *)workspace + (place), (const GT_GLOBAL char *)b,                     \
     (gt_long)ldb * (int)sizeof(gt_b),                                                     \
     GT_CDIV((gt_long)(GT_TB ? k : n) * (int)sizeof(gt_b), (to)) * (to),                   \
     (gt_long)(GT_TB ? k : n) * (int)sizeof(gt_b), GT_TB ? n : k}

/*
 * Copies A to the beginning of the workspace when pack_a is not 0, and B to byte `b_at` of
 * it when pack_b is not 0. The rows of an operand of `wide` bytes a row are
 * cdiv(wide, 16) * 16 bytes apart. Launch, with PACK_A and PACK_B:
 *
 *     "block": ["REPACK_THREADS", "1", "1"],
 *     "grid": [the sum over the packed operands of
 *              cdiv(rows, HIGH) * cdiv(wide, REPACK_WIDE), at least 1, "1", "1"]
 *
 * HIGH is REPACK_EACH * (REPACK_THREADS / max(1, min(REPACK_LANES, cdiv(wide, 16)))).
 */
#define GT_REPACK_KERNEL(name, pack_a, pack_b, b_at)                                       \
    GT_KERNEL(name, GT_REPACK_THREADS, 1, 1)(GT_PARAMS) {                                  \
        GT_FOLLOW();                                                                       \
        GT_PRODUCT();                                                                      \
        const struct gt_repack of[2] = {GT_REPACK_A(0, 16), GT_REPACK_B(b_at, 16)};        \
        const int blocks_a = (pack_a) ? gt_repack_blocks(&of[0]) : 0;                      \
        GT_LEAD(1);                                                                        \
        if (k > 0 && alpha != (gt_acc)0)                                                   \
            gt_repack_one_of(of, blocks_a, pack_a, pack_b, GT_BLOCK, GT_THREAD_X);         \
    }

#endif
