/* SPDX-License-Identifier: Apache-2.0 */
/*
 * along.h - a kernel that runs before the main one. It copies operands to the workspace, in
 * rows that begin at multiples of 128 bytes: some as they lie in memory (repack.h), others
 * transposed, so that they are contiguous along k. Transposed elements have 1 or 4 bytes.
 * CUDA.
 *
 * Integer macros of a part are names of space.json too, without GT_.
 */
#define GT_ALONG_THREADS 256
#define GT_ALONG_WIDE 128  /* a block's part of a transposed operand: along the width */
#define GT_ALONG_BYTES 128 /* and along k */

#if !GT_OPENCL
/* A row of a block's part in shared memory has a spare word, against bank conflicts. */
enum {
    GT_ALONG_DEEP = GT_ALONG_BYTES / GT_SIZEOF_A,
    GT_ALONG_WORDS = GT_ALONG_BYTES / 4 + 1
};

/* An operand of k rows, `ld` elements apart, of which `wide` exist. */
struct gt_along {
    const char *from;
    gt_long ld;
    int wide, k;
};

/* Four bytes of row k, from column w on; those past the edges are 0. */
GT_INLINE unsigned gt_along_word(const struct gt_along *o, int k, int w) {
    const char *from = o->from + k * o->ld + w;
    const char *end = o->from + (o->k - 1) * o->ld + o->wide;
    const int behind = (int)((gt_long)from & 3);
    const int there = k < o->k ? GT_MIN(o->wide - w, 4) : 0;
    unsigned word;
    if (there <= 0)
        return 0;
    if (there < 4 || from - behind < o->from || from - behind + 8 > end)
        return gt_word_of(1, from, there);
    word = *(const unsigned *)(from - behind);
    if (behind)
        word = __funnelshift_r(word, *(const unsigned *)(from - behind + 4), behind * 8);
    return word;
}

/* Bytes x[i] of word y become byte y of word x. */
GT_INLINE void gt_along_turn(unsigned *words) {
    const unsigned a = __byte_perm(words[0], words[1], 0x5140);
    const unsigned b = __byte_perm(words[0], words[1], 0x7362);
    const unsigned c = __byte_perm(words[2], words[3], 0x5140);
    const unsigned d = __byte_perm(words[2], words[3], 0x7362);
    words[0] = __byte_perm(a, c, 0x5410);
    words[1] = __byte_perm(a, c, 0x7632);
    words[2] = __byte_perm(b, d, 0x5410);
    words[3] = __byte_perm(b, d, 0x7632);
}

#if GT_SIZEOF_A == 1
/* Brings the part at column w0 and k0 to shared memory, transposed: 4 x 4 bytes at once. */
GT_INLINE void gt_along_read(unsigned *tile, const struct gt_along *o, int w0, int k0,
                             int t) {
    enum { ACROSS = GT_ALONG_WIDE / 4, EACH = ACROSS * GT_ALONG_DEEP / 4 / 256 };
    unsigned words[EACH][4];
    GT_UNROLL
    for (int i = 0; i < EACH; i++) {
        const int e = t + i * GT_ALONG_THREADS;
        GT_UNROLL
        for (int j = 0; j < 4; j++)
            words[i][j] =
                gt_along_word(o, k0 + e / ACROSS * 4 + j, w0 + e % ACROSS * 4);
    }
    GT_UNROLL
    for (int i = 0; i < EACH; i++) {
        const int e = t + i * GT_ALONG_THREADS;
        gt_along_turn(words[i]);
        GT_UNROLL
        for (int j = 0; j < 4; j++)
            tile[(e % ACROSS * 4 + j) * GT_ALONG_WORDS + e / ACROSS] = words[i][j];
    }
}
#else
GT_INLINE void gt_along_read(unsigned *tile, const struct gt_along *o, int w0, int k0,
                             int t) {
    enum { EACH = GT_ALONG_WIDE * GT_ALONG_DEEP / GT_ALONG_THREADS };
    unsigned words[EACH];
    GT_UNROLL
    for (int i = 0; i < EACH; i++) {
        const int e = t + i * GT_ALONG_THREADS;
        const int w = w0 + e % GT_ALONG_WIDE, k = k0 + e / GT_ALONG_WIDE;
        words[i] =
            w < o->wide && k < o->k ? ((const unsigned *)o->from)[k * o->ld + w] : 0;
    }
    GT_UNROLL
    for (int i = 0; i < EACH; i++) {
        const int e = t + i * GT_ALONG_THREADS;
        tile[e % GT_ALONG_WIDE * GT_ALONG_WORDS + e / GT_ALONG_WIDE] = words[i];
    }
}
#endif

/* Stores it to rows of to_ld bytes, of which `rows` exist. */
GT_INLINE void gt_along_write(char *to, gt_long to_ld, const unsigned *tile, int rows,
                              int t) {
    enum { PIECES = GT_ALONG_BYTES / 16 };
    GT_UNROLL
    for (int i = 0; i < GT_ALONG_WIDE * PIECES / GT_ALONG_THREADS; i++) {
        const int e = t + i * GT_ALONG_THREADS, row = e / PIECES, piece = e % PIECES;
        if (row < rows)
            gt_store_words(16, to + row * to_ld + piece * 16,
                           tile + row * GT_ALONG_WORDS + piece * 4);
    }
}

/* Transposes a block's part of an operand. Blocks with small k come first: the main kernel
 * reads in this order. */
GT_INLINE void gt_along(char *to, const struct gt_along *o, unsigned *tile, int block,
                        int t) {
    const int across = gt_cdiv(o->wide, GT_ALONG_WIDE);
    const int k0 = block / across * GT_ALONG_DEEP, w0 = block % across * GT_ALONG_WIDE;
    const gt_long to_ld = gt_cdiv(o->k, GT_ALONG_DEEP) * (gt_long)GT_ALONG_BYTES;
    gt_along_read(tile, o, w0, k0, t);
    GT_BARRIER();
    gt_along_write(to + w0 * to_ld + k0 * GT_SIZEOF_A, to_ld, tile, o->wide - w0, t);
}
#endif

/*
 * Copies A to the beginning of the workspace, and B to byte `b_at` of it. keep_a and keep_b
 * are 1 for an operand that is copied as it lies, turn_a and turn_b for one that is
 * transposed. Launch, with KEEP_A, KEEP_B, TURN_A and TURN_B:
 *
 *     "block": ["ALONG_THREADS", "1", "1"],
 *     "grid": [the sum over the transposed operands of
 *              cdiv(wide, ALONG_WIDE) * cdiv(K * sizeof(A), ALONG_BYTES), and over the
 *              others as for GT_REPACK_KERNEL],
 *     "smem": "TURN_A || TURN_B ? ALONG_WIDE * (ALONG_BYTES + 4) : 0"
 */
#define GT_ALONG_KERNEL(name, keep_a, keep_b, turn_a, turn_b, b_at)                        \
    GT_KERNEL(name, GT_ALONG_THREADS, 1, 1)(GT_PARAMS) {                                   \
        GT_SHARED_ARRAY(unsigned, tile, GT_ALONG_WIDE *GT_ALONG_WORDS);                    \
        GT_FOLLOW();                                                                       \
        GT_PRODUCT();                                                                      \
        const struct gt_repack keep[2] = {GT_REPACK_A(0, 128), GT_REPACK_B(b_at, 128)};    \
        const struct gt_along turn[2] = {{(const char *)a, lda, m, k},                     \
                                         {(const char *)b, ldb, n, k}};                    \
        const int deep = gt_cdiv(k, GT_ALONG_DEEP);                                        \
        const int turn_1 = (turn_a) ? gt_cdiv(m, GT_ALONG_WIDE) * deep : 0;                \
        const int turn_2 = turn_1 + ((turn_b) ? gt_cdiv(n, GT_ALONG_WIDE) * deep : 0);     \
        const int blocks_a = (keep_a) ? gt_repack_blocks(&keep[0]) : 0;                    \
        GT_LEAD(1);                                                                        \
        if (k == 0 || alpha == (gt_acc)0)                                                  \
            return;                                                                        \
        if ((turn_a) && GT_BLOCK < turn_1)                                                 \
            gt_along((char *)workspace, &turn[0], tile, GT_BLOCK, GT_THREAD_X);            \
        else if ((turn_b) && GT_BLOCK < turn_2)                                            \
            gt_along((char *)workspace + (b_at), &turn[1], tile, GT_BLOCK - turn_1,        \
                     GT_THREAD_X);                                                         \
        else if ((keep_a) || (keep_b))                                                     \
            gt_repack_one_of(keep, blocks_a, keep_a, keep_b, GT_BLOCK - turn_2,            \
                             GT_THREAD_X);                                                 \
    }
