/* SPDX-License-Identifier: Apache-2.0 */
/*
 * repack.h - a kernel that runs before the main one. It copies operands to the workspace in
 * rows that begin at multiples of 16 bytes, and ends the rows with zeros (CUDA).
 *
 * Integer macros of a part are names of space.json too, without GT_.
 */
#if !GT_OPENCL
#define GT_REPACK_THREADS 256
#define GT_REPACK_HIGH 8    /* rows of an operand that a block copies: one a warp */
#define GT_REPACK_WIDE 512  /* bytes of each of them */

/* Copies a block's part of `rows` rows of `bytes` bytes. */
GT_INLINE void gt_repack(int size, char *to, const char *from, gt_long pitch, int rows,
                         gt_long bytes, int block, int t) {
    const gt_long to_pitch = (bytes + 15) / 16 * 16;
    const int bands = gt_cdiv(rows, GT_REPACK_HIGH);
    const gt_long row = block % bands * (gt_long)GT_REPACK_HIGH + t / 32;
    const gt_long first = block / bands * (gt_long)GT_REPACK_WIDE + t % 32 * 4;
    GT_UNROLL
    for (int i = 0; i < GT_REPACK_WIDE / 128; i++) {
        const gt_long byte = first + i * 128;
        const int there = (int)GT_MAX(0, GT_MIN(4, bytes - byte));
        if (row < rows && byte < to_pitch)
            *(unsigned *)(to + row * to_pitch + byte) =
                gt_word_of(size, from + row * pitch + byte, there);
    }
}

/*
 * Copies A, as it lies in memory, to the beginning of the workspace when pack_a is not 0,
 * and B to byte `b_at` of it when pack_b is not 0. The rows of an operand of `wide` bytes a
 * row are cdiv(wide, 16) * 16 bytes apart. Launch, with PACK_A and PACK_B:
 *
 *     "block": ["REPACK_THREADS", "1", "1"],
 *     "grid": [the sum over the packed operands of
 *              cdiv(rows, REPACK_HIGH) * cdiv(wide, REPACK_WIDE), at least 1, "1", "1"]
 */
#define GT_REPACK_KERNEL(name, pack_a, pack_b, b_at)                                       \
    GT_KERNEL(name, GT_REPACK_THREADS, 1, 1)(GT_PARAMS) {                                  \
        GT_FOLLOW();                                                                       \
        GT_PRODUCT();                                                                      \
        const int rows_a = GT_TA ? k : m, rows_b = GT_TB ? n : k;                          \
        const gt_long bytes_a = (gt_long)(GT_TA ? m : k) * sizeof(gt_a);                   \
        const gt_long bytes_b = (gt_long)(GT_TB ? k : n) * sizeof(gt_b);                   \
        const int of_a = (pack_a) ? gt_cdiv(rows_a, GT_REPACK_HIGH) *                      \
                                        (int)GT_CDIV(bytes_a, GT_REPACK_WIDE)              \
                                  : 0;                                                     \
        if (k > 0 && alpha != (gt_acc)0 && (pack_a) && GT_BLOCK < of_a)                    \
            gt_repack(sizeof(gt_a), (char *)workspace, (const char *)a,                    \
                      lda * sizeof(gt_a), rows_a, bytes_a, GT_BLOCK, GT_THREAD_X);         \
        else if (k > 0 && alpha != (gt_acc)0 && (pack_b))                                  \
            gt_repack(sizeof(gt_b), (char *)workspace + (b_at), (const char *)b,           \
                      ldb * sizeof(gt_b), rows_b, bytes_b, GT_BLOCK - of_a,                \
                      GT_THREAD_X);                                                        \
    }

#endif
