/* SPDX-License-Identifier: Apache-2.0 */
/*
 * byte_tiles.h - slabs of bytes in tiles that are swizzled as the hardware does it (CUDA),
 * and their fragments for mma.sync (fragments.h). A tile has rows of 64 or 128 bytes of k,
 * of which a chunk is 16. Eight rows of one chunk meet every bank of shared memory once.
 */
#if !GT_OPENCL
/* The place of chunk c of row r in a tile whose rows have `length` bytes. */
GT_INLINE int gt_byte_place(int length, int r, int c) {
    return r * length + ((c ^ r / (128 / length)) & (length / 16 - 1)) * 16;
}

/* Loads fragments of `count` blocks of 16 rows, from `row` on, with the chunks c and c + 1
 * of k. `tile` is a shared address. */
GT_INLINE void gt_load_byte_fragments(int of_b, int length, int count, unsigned (*f)[4],
                                      int tile, int row, int c, int lane) {
    const int line = of_b ? lane / 16 * 8 + lane % 8 : lane % 16;
    const int chunk = c + (of_b ? lane / 8 % 2 : lane / 16);
    GT_UNROLL
    for (int i = 0; i < count; i++)
        gt_load_matrices(0, f[i], tile + gt_byte_place(length, row + i * 16 + line, chunk));
}

/* acc += M blocks of 16 rows of a slab of A, from `row` on, x N blocks of 8 columns of a
 * slab of B, from `col` on. `a` and `b` are shared addresses. Rows have LENGTH bytes. ADD
 * is the family's instruction for a block of each: d += a b, four sums a lane. */
template <int LENGTH, int M, int N, class Sum,
          void (*ADD)(Sum *d, const unsigned *a, const unsigned *b)>
GT_INLINE void gt_multiply_byte_tiles(Sum *acc, int a, int b, int row, int col, int lane) {
    GT_UNROLL
    for (int c = 0; c < LENGTH / 16; c += 2) {
        unsigned fa[M][4], fb[N / 2][4];
        gt_load_byte_fragments(0, LENGTH, M, fa, a, row, c, lane);
        gt_load_byte_fragments(1, LENGTH, N / 2, fb, b, col, c, lane);
        GT_UNROLL
        for (int i = 0; i < M; i++)
            GT_UNROLL
            for (int j = 0; j < N; j++)
                ADD(acc + (i * N + j) * 4, fa[i], fb[j / 2] + j % 2 * 2);
    }
}
#endif
