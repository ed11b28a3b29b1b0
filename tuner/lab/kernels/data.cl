/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data.cl - the numbers in the matrices, and the kernel that fills matrices with them. A
 * counter-based generator computes any element from (seed, row, column) alone, as
 * gt_data_value in tuner/lab/data.c does on the host.
 */

/* The finalizer of splitmix64 over (seed, row, column). */
GT_INLINE gt_ulong gt_bits_at(gt_ulong seed, gt_long row, gt_long col) {
    gt_ulong z = seed + (gt_ulong)row * (gt_ulong)0x9e3779b97f4a7c15UL +
                 (gt_ulong)col * (gt_ulong)0xd1b54a32d192ed03UL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9UL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebUL;
    return z ^ (z >> 31);
}

#if !GT_WIDE_I32
/* 2^(1 - bits) */
GT_INLINE gt_wide gt_step(int bits) {
#if GT_WIDE_F64
    return GT_F64_OF((gt_long)(1024 - bits) << 52);
#else
    return GT_F32_OF((unsigned int)(128 - bits) << 23);
#endif
}
#endif

/* mode 0: integers -3..3; 1: uniform in [-1, 1) in steps of 2^(1 - bits), any integer for
 * integers, -128..127 for floats beside integers; 2: integers -1..1, where sums of mode 0
 * are too great; of floats 3: sizes of mode 1; 4: mode 1 times a power of two from 2^-16 to
 * 2^15, of f16 from 2^-12 to 2^3; 5: integers 5..7; of f64 6: mode 1, in rows and columns
 * from 256 on times a power of two from 2^-128 to 2^127; of f32 7: 1 + 2^-7 - 2^-23; 8: 1
 * in the first row and column, else mode 3 times 2^-10; of floats 9: mode 0, with one of
 * 128 infinite or NaN. */
GT_INLINE gt_wide gt_datum(gt_ulong seed, gt_long row, gt_long col, int mode, int bytes,
                           int bits) {
    const gt_ulong z = gt_bits_at(seed, row, col);
#if !GT_WIDE_I32
    if (mode == 9 && (z & 127) == 0)
        return (gt_wide)GT_F32_OF((z >> 7 & 3) < 2    ? 0x7f800000u
                                  : (z >> 7 & 3) == 2 ? 0xff800000u
                                                      : 0x7fc00000u);
#endif
    if (mode == 0 || mode == 9)
        return (gt_wide)((int)((z >> 32) % 7) - 3);
    if (mode == 2)
        return (gt_wide)((int)((z >> 32) % 3) - 1);
    if (mode == 5)
        return (gt_wide)((int)((z >> 32) % 3) + 5);
#if GT_WIDE_I32
    return bytes == 1 || bits > 0 ? (gt_wide)(int)(signed char)(z >> 56)
                                  : (gt_wide)(z >> 32);
#else
    if (mode == 7)
        return 1 + (gt_wide)131070 / 16777216;
    if (mode == 8 && (row == 0 || col == 0))
        return 1;
    const int up = mode == 4 && bytes == 2 && bits == 11  ? (int)(z & 15) - 12
                   : mode == 4                            ? (int)(z & 31) - 16
                   : mode == 8                            ? -10
                   : mode == 6 && (row >= 256 || col >= 256) ? (int)(z & 255) - 128
                                                             : 0;
    const gt_wide x =
        (gt_wide)((gt_long)(z >> (64 - bits)) - ((gt_long)1 << (bits - 1))) *
        gt_step(bits - up);
    return mode == 3 || mode == 8 ? GT_ABS(x) : x;
#endif
}

/* The datum of the element at `at` in memory: matrices of a batch that share memory agree
 * on it. Of a single matrix it is the datum of (row, column). */
GT_INLINE gt_wide gt_datum_at(gt_ulong seed, gt_long at, gt_long ld, int mode, int bytes,
                              int bits) {
    return gt_datum(seed, at / ld, at % ld, mode, bytes, bits);
}

/* Fills `count` matrices of rows x cols elements. Elements between cols and ld, and between
 * matrices, keep their poison. */
GT_KERNEL(gt_fill, 256, 1, 1)(gt_matrix x, int bytes, int bits, gt_long count,
                               gt_long stride, gt_long rows, gt_long cols, gt_long ld,
                               gt_ulong seed, int mode) {
    const gt_long step = (gt_long)GT_GRID_SIZE * 256, total = count * rows * cols;
    for (gt_long e = (gt_long)GT_BLOCK * 256 + GT_THREAD_X; e < total; e += step) {
        const gt_long row = e / cols; /* counted over all matrices */
        const gt_long at = row / rows * stride + row % rows * ld + e % cols;
        gt_put(x, at, bytes, bits, gt_datum_at(seed, at, ld, mode, bytes, bits));
    }
}
