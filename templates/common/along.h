/* SPDX-License-Identifier: Apache-2.0 */
/*
 * along.h - a kernel that runs before the main one. It copies operands to the workspace,
 * contiguous along k, with rows that begin at multiples of 128 bytes and end with zeros.
 * Elements have 1, 2 or 4 bytes; they are copied, not read. CUDA.
 *
 * Integer macros of a part are names of space.json too, without GT_.
 */
#define GT_ALONG_THREADS 256
#define GT_ALONG_WIDE 64   /* a block's part of an operand: along the width */
#define GT_ALONG_BYTES 128 /* and along k */

#if !GT_OPENCL
#if GT_SIZEOF_A == 1
typedef unsigned char gt_along;
#elif GT_SIZEOF_A == 2
typedef unsigned short gt_along;
#else
typedef unsigned int gt_along;
#endif

/* A row of a block's part in shared memory has a spare word, against bank conflicts. */
enum {
    GT_ALONG_DEEP = GT_ALONG_BYTES / (int)sizeof(gt_along),
    GT_ALONG_WORDS = GT_ALONG_BYTES / 4 + 1,
    GT_ALONG_EACH = GT_ALONG_WIDE * GT_ALONG_DEEP / GT_ALONG_THREADS,
};

/* Copies the part at column w0 and k0 to shared memory. `along`: the operand is contiguous
 * along k already. Past the edges there are zeros. */
GT_INLINE void gt_along_read(gt_along *tile, const gt_along *from, gt_long ld, int along,
                             int w0, int k0, int wide, int k, int t) {
    enum { PITCH = GT_ALONG_WORDS * 4 / (int)sizeof(gt_along) };
    gt_along r[GT_ALONG_EACH];
    GT_UNROLL
    for (int i = 0; i < GT_ALONG_EACH; i++) {
        const int e = t + i * GT_ALONG_THREADS;
        const int w = w0 + (along ? e / GT_ALONG_DEEP : e % GT_ALONG_WIDE);
        const int p = k0 + (along ? e % GT_ALONG_DEEP : e / GT_ALONG_WIDE);
        r[i] = w < wide && p < k ? from[along ? w * ld + p : p * ld + w] : 0;
    }
    GT_UNROLL
    for (int i = 0; i < GT_ALONG_EACH; i++) {
        const int e = t + i * GT_ALONG_THREADS;
        const int w = along ? e / GT_ALONG_DEEP : e % GT_ALONG_WIDE;
        const int p = along ? e % GT_ALONG_DEEP : e / GT_ALONG_WIDE;
        tile[w * PITCH + p] = r[i];
    }
}

/* Stores it to rows of to_ld bytes, of which `rows` exist. */
GT_INLINE void gt_along_write(char *to, gt_long to_ld, const unsigned *tile, int rows,
                              int t) {
    enum { PIECES = GT_ALONG_BYTES / 16 };
    GT_UNROLL
    for (int i = 0; i < GT_ALONG_WIDE * PIECES / GT_ALONG_THREADS; i++) {
        const int e = t + i * GT_ALONG_THREADS, row = e / PIECES, piece = e % PIECES;
        const unsigned *from = tile + row * GT_ALONG_WORDS + piece * 4;
        const uint4 v = make_uint4(from[0], from[1], from[2], from[3]);
        if (row < rows)
            *(uint4 *)(to + row * to_ld + piece * 16) = v;
    }
}
#endif

/*
 * Copies op(A) to m rows at the beginning of the workspace when pack_a is not 0, and op(B)
 * to n rows, `b_at` bytes into it, when pack_b is not 0. A row has k elements, rounded up
 * to 128 bytes. Blocks with small k come first: the main kernel reads in this order.
 * Launch, with PACK_A and PACK_B:
 *
 *     "block": ["ALONG_THREADS", "1", "1"],
 *     "grid": ["max(1, (PACK_A * cdiv(M, ALONG_WIDE) + PACK_B * cdiv(N, ALONG_WIDE))
 *               * cdiv(K * sizeof(A), ALONG_BYTES))", "1", "1"],
 *     "smem": "ALONG_WIDE * (ALONG_BYTES + 4)"
 */
#define GT_ALONG_KERNEL(name, pack_a, pack_b, b_at)                                        \
    GT_KERNEL(name, GT_ALONG_THREADS, 1, 1)(GT_PARAMS) {                                   \
        GT_SHARED_ARRAY(unsigned, tile, GT_ALONG_WIDE *GT_ALONG_WORDS);                    \
        GT_FOLLOW();                                                                       \
        GT_PRODUCT();                                                                      \
        const int of_a = (pack_a) ? gt_cdiv(m, GT_ALONG_WIDE) : 0;                         \
        const int blocks = of_a + ((pack_b) ? gt_cdiv(n, GT_ALONG_WIDE) : 0);              \
        const int k0 = GT_BLOCK / blocks * GT_ALONG_DEEP;                                  \
        const int second = GT_BLOCK % blocks >= of_a; /* B */                              \
        const int w0 = (GT_BLOCK % blocks - (second ? of_a : 0)) * GT_ALONG_WIDE;          \
        const int wide = second ? n : m;                                                   \
        const gt_long to_ld = gt_cdiv(k, GT_ALONG_DEEP) * (gt_long)GT_ALONG_BYTES;         \
        if (second)                                                                        \
            gt_along_read((gt_along *)tile, (const gt_along *)b, ldb, GT_TB, w0, k0, wide, \
                          k, GT_THREAD_X);                                                 \
        else                                                                               \
            gt_along_read((gt_along *)tile, (const gt_along *)a, lda, !GT_TA, w0, k0,      \
                          wide, k, GT_THREAD_X);                                           \
        GT_BARRIER();                                                                      \
        GT_LEAD(1);                                                                        \
        if (k0 < k)                                                                        \
            gt_along_write((char *)workspace + (second ? (b_at) : 0) + w0 * to_ld +        \
                               k0 * (gt_long)sizeof(gt_along),                             \
                           to_ld, tile, wide - w0, GT_THREAD_X);                           \
    }
