/* SPDX-License-Identifier: Apache-2.0 */
/*
 * repack.h - a kernel that runs before the main one. It copies operands to the workspace,
 * as they lie in memory, in rows that begin at multiples of 16 bytes (CUDA). The rest
 * of a row's last 16 bytes becomes zeros.
 *
 * A row begins anywhere in memory. A thread loads the two aligned pieces of 16 bytes that
 * its 16 bytes lie in, and shifts them together.
 *
 * Integer macros of a part are names of space.json too, without GT_.
 */
#if !GT_OPENCL
#define GT_REPACK_THREADS 256
#define GT_REPACK_HIGH 32  /* rows of an operand that a block copies */
#define GT_REPACK_WIDE 512 /* bytes of each of them: a warp copies them together */

enum {
    GT_REPACK_EACH = GT_REPACK_HIGH / (GT_REPACK_THREADS / 32) /* rows that a warp copies */
};

/* An operand: rows of `bytes` bytes, `pitch` bytes apart there, `to_pitch` here. */
struct gt_repack {
    char *to;
    const char *from;
    gt_long pitch, to_pitch, bytes;
    int rows;
};

GT_INLINE int gt_repack_blocks(const struct gt_repack *r) {
    return gt_cdiv(r->rows, GT_REPACK_HIGH) * (int)GT_CDIV(r->bytes, GT_REPACK_WIDE);
}

/* The aligned piece at `at`, when all of it is between the operand's ends. */
GT_INLINE struct gt_words_4 gt_repack_load(const char *at, const char *begin,
                                           const char *end) {
    const struct gt_words_4 none = {0, 0, 0, 0};
    return at >= begin && at + 16 <= end ? *(const struct gt_words_4 *)at : none;
}

/* Fills in the elements of a piece that only partly lies between the operand's ends. */
GT_INLINE void gt_repack_mend(int size, unsigned *piece, const char *at, const char *begin,
                              const char *end) {
    if (at >= begin && at + 16 <= end)
        return;
    GT_UNROLL
    for (int e = 0; e < 16; e += size)
        if (at + e >= begin && at + e < end)
            piece[e / 4] |= gt_word_of(size, at + e, size) << e % 4 * 8;
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

/* Copies a block's part of an operand with elements of `size` bytes. Blocks with the first
 * bytes of all rows come first. All loads of a thread begin before its first store. */
GT_INLINE void gt_repack(int size, const struct gt_repack *r, int block, int t) {
    const int bands = gt_cdiv(r->rows, GT_REPACK_HIGH);
    const int row0 = block % bands * GT_REPACK_HIGH + t / 32;
    const gt_long byte = block / bands * (gt_long)GT_REPACK_WIDE + t % 32 * 16;
    const char *end = r->from + (r->rows - 1) * r->pitch + r->bytes;
    unsigned words[GT_REPACK_EACH][8];
    if (byte >= r->bytes)
        return;
    GT_UNROLL
    for (int i = 0; i < GT_REPACK_EACH; i++) {
        const int row = GT_MIN(row0 + i * (GT_REPACK_THREADS / 32), r->rows - 1);
        const char *from = r->from + row * r->pitch + byte;
        const int behind = (int)((gt_long)from & 15);
        const struct gt_words_4 low = gt_repack_load(from - behind, r->from, end);
        const struct gt_words_4 high =
            gt_repack_load(from - behind + 16, r->from, behind ? end : r->from);
        words[i][0] = low.x, words[i][1] = low.y, words[i][2] = low.z, words[i][3] = low.w;
        words[i][4] = high.x, words[i][5] = high.y, words[i][6] = high.z,
        words[i][7] = high.w;
    }
    GT_UNROLL
    for (int i = 0; i < GT_REPACK_EACH; i++) {
        const int row = row0 + i * (GT_REPACK_THREADS / 32);
        const char *from = r->from + row * r->pitch + byte;
        const int behind = (int)((gt_long)from & 15);
        if (row >= r->rows)
            continue;
        gt_repack_mend(size, words[i], from - behind, r->from, end);
        if (behind)
            gt_repack_mend(size, words[i] + 4, from - behind + 16, r->from, end);
        gt_repack_shift(words[i], behind);
        if (r->bytes - byte < 16)
            gt_repack_cut(words[i], (int)(r->bytes - byte));
        gt_store_words(16, r->to + row * r->to_pitch + byte, words[i]);
    }
}

/* A and B as they lie in memory, for copies at `place` with rows at multiples of `to`
 * bytes. */
#define GT_REPACK_A(place, to)                                                             \
    {(char *)workspace + (place), (const char *)a, (gt_long)lda * (int)sizeof(gt_a),       \
     GT_CDIV((gt_long)(GT_TA ? m : k) * (int)sizeof(gt_a), (to)) * (to),                   \
     (gt_long)(GT_TA ? m : k) * (int)sizeof(gt_a), GT_TA ? k : m}
#define GT_REPACK_B(place, to)                                                             \
    {(char *)workspace + (place), (const char *)b, (gt_long)ldb * (int)sizeof(gt_b),       \
     GT_CDIV((gt_long)(GT_TB ? k : n) * (int)sizeof(gt_b), (to)) * (to),                   \
     (gt_long)(GT_TB ? k : n) * (int)sizeof(gt_b), GT_TB ? n : k}

/*
 * Copies A to the beginning of the workspace when pack_a is not 0, and B to byte `b_at` of
 * it when pack_b is not 0. The rows of an operand of `wide` bytes a row are
 * cdiv(wide, 16) * 16 bytes apart. Launch, with PACK_A and PACK_B:
 *
 *     "block": ["REPACK_THREADS", "1", "1"],
 *     "grid": [the sum over the packed operands of
 *              cdiv(rows, REPACK_HIGH) * cdiv(wide, REPACK_WIDE), at least 1, "1", "1"]
 */
#define GT_REPACK_KERNEL(name, pack_a, pack_b, b_at)                                       \
    GT_KERNEL(name, GT_REPACK_THREADS, 1, 1)(GT_PARAMS) {                                  \
        GT_FOLLOW();                                                                       \
        GT_PRODUCT();                                                                      \
        const struct gt_repack of_a = GT_REPACK_A(0, 16), of_b = GT_REPACK_B(b_at, 16);    \
        const int blocks_a = (pack_a) ? gt_repack_blocks(&of_a) : 0;                       \
        GT_LEAD(1);                                                                        \
        if (k > 0 && alpha != (gt_acc)0 && (pack_a) && GT_BLOCK < blocks_a)                \
            gt_repack(sizeof(gt_a), &of_a, GT_BLOCK, GT_THREAD_X);                         \
        else if (k > 0 && alpha != (gt_acc)0 && (pack_b))                                  \
            gt_repack(sizeof(gt_b), &of_b, GT_BLOCK - blocks_a, GT_THREAD_X);              \
    }

#endif
