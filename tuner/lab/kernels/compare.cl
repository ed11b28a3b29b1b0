/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare.cl - the checks: outputs against the reference, and all memory that a candidate
 * must not change against what it held before. Each kernel counts what it finds, and
 * gt_error measures how far an output is from the reference.
 */

/* The most that one thread adds to a count: a million threads cannot wrap 32 bits to 0. */
#define GT_MOST 4095u
#define GT_COUNTERS 4 /* wrong, touched, changed, beyond: see tuner/lab/check_internal.h */

/* The matrix that has an element at `at`: the last one of those that share it; -1 when none
 * has. Matrices follow one another or, with a stride below ld, may lie side by side in the
 * same rows. */
GT_INLINE gt_long gt_product_at(gt_long at, gt_long count, gt_long stride, gt_long rows,
                                gt_long cols, gt_long ld) {
    const int beside = stride < ld && (count - 1) * stride + cols <= ld;
    gt_long z = at < 0 ? -1 : stride == 0 ? 0 : (beside ? at % ld : at) / stride;
    for (z = GT_MIN(z, count - 1); z >= 0; z--) {
        const gt_long row = (at - z * stride) / ld;
        if (row >= rows)
            return -1;
        if ((at - z * stride) % ld < cols)
            return z;
    }
    return -1;
}

/* ---- outputs ---- */

/* Whether element e, which no product computes, has changed. It held the poison word, or
 * with `finite` row 0 of the generator with `seed`. With `keeps_old` it is a row of C0: it
 * held the datum at `at` of the generator with `old_seed`. `finite` and `keeps_old` are for
 * elements of C's type. */
GT_INLINE int gt_is_touched(gt_input c, gt_long e, int bytes, unsigned int poison,
                            int finite, gt_ulong seed, int keeps_old, gt_long at,
                            gt_long ldc, int old_mode, gt_ulong old_seed) {
    if (keeps_old)
        return !gt_is(c, e, GT_BYTES_C, GT_BITS_C,
                      gt_datum_at(old_seed, at, ldc, old_mode, GT_BYTES_C, GT_BITS_C));
    return finite ? !gt_is(c, e, GT_BYTES_C, GT_BITS_C,
                           gt_datum(seed, 0, e, 1, GT_BYTES_C, GT_BITS_C))
                  : !gt_poisoned(c, e, bytes, poison);
}

/* Checks every element of a buffer of `total` elements in which C starts at `front`: count
 * matrices, `stride` apart. Elements of C are compared with r. All others (guard zones,
 * padding of rows, gaps between matrices, and with `limited` the rows of matrix z from
 * rows[z] on, which with `old` hold C0) must still hold their value from before the
 * product: the poison word, or with `finite` row 0 of the generator with `seed`. Adds wrong
 * elements to found[GT_COUNTERS * slot], touched ones outside C to the counter behind it.
 * An element is right when it is r rounded to C's type, or with `loose` when |c - r| <=
 * tol * s + ulp * max(|r|, least). */
GT_KERNEL(gt_compare, 256, 1, 1)(gt_input c, gt_long total, gt_long front, int m, int n,
                                  gt_long count, gt_long stride, gt_long ldc,
                                  GT_GLOBAL const gt_wide *r,
                                  GT_GLOBAL const gt_wide *s,
                                  GT_GLOBAL const int *rows, int limited, int old,
                                  int old_mode, gt_ulong old_seed, int loose, gt_wide tol,
                                  gt_wide ulp, gt_wide least, unsigned int poison,
                                  int finite, gt_ulong seed, GT_GLOBAL unsigned int *found,
                                  int slot) {
    const gt_long step = (gt_long)GT_GRID_SIZE * 256;
    unsigned int wrong = 0, touched = 0;
    for (gt_long e = (gt_long)GT_BLOCK * 256 + GT_THREAD_X; e < total; e += step) {
        const gt_long z = gt_product_at(e - front, count, stride, m, n, ldc);
        const gt_long at = e - front - z * stride; /* in matrix z */
        const int left_out = z >= 0 && limited && at / ldc >= rows[z];
        if (z < 0 || left_out) {
            touched += gt_is_touched(c, e, GT_BYTES_C, poison, finite, seed,
                                     left_out && old, e - front, ldc, old_mode,
                                     old_seed);
        } else {
            const gt_wide got = gt_get(c, e, GT_BYTES_C, GT_BITS_C);
            const gt_long x = (z * m + at / ldc) * n + at % ldc;
            const gt_wide want = r[x];
            const gt_wide near = gt_rounded_to_c(want);
            int good = GT_ALIKE(got, near);
#if !GT_WIDE_I32
            if (loose && !good)
                good = GT_ABS(got - want) <=
                       tol * s[x] + ulp * GT_MAX(GT_ABS(want), least);
#endif
            wrong += !good;
        }
    }
    if (wrong)
        GT_COUNT(&found[GT_COUNTERS * slot], GT_MIN(wrong, GT_MOST));
    if (touched)
        GT_COUNT(&found[GT_COUNTERS * slot + 1], GT_MIN(touched, GT_MOST));
}

/* A stored element as a number in the order of its values, whatever its type: a float's
 * bits are its sign and its size. `infinity` has the bits of the largest size that is no
 * NaN, or is 0 for integers. */
#define GT_KEY_OF_NAN ((gt_long)1 << 63)

GT_INLINE gt_long gt_key(gt_input x, gt_long i, int bytes, gt_long infinity) {
    const gt_ulong raw = bytes == 8   ? ((GT_GLOBAL const gt_ulong *)x)[i]
                         : bytes == 4 ? ((GT_GLOBAL const unsigned int *)x)[i]
                         : bytes == 2 ? ((GT_GLOBAL const unsigned short *)x)[i]
                                      : x[i];
    const gt_ulong sign = (gt_ulong)1 << (8 * bytes - 1);
    const gt_long size = (gt_long)(raw & (sign - 1));
    if (infinity == 0)
        return size - (gt_long)(raw & sign);
    return size > infinity ? GT_KEY_OF_NAN : raw & sign ? -size : size;
}

/* gt_compare for an output whose right elements are ranges, from low to high. Both are
 * packed, rows x n, and of the output's own type. The ranges of matrix z are number
 * (z step_z + shift_z) mod count. Where low is above high, NaN is right as well, and the
 * ends are exchanged. Where both are NaN, nothing else is right. `used` is what gt_compare
 * calls rows. */
GT_KERNEL(gt_between, 256, 1, 1)(gt_input c, gt_long total, gt_long front, int n,
                                  gt_long count, gt_long stride, gt_long rows, gt_long ldc,
                                  gt_input low, gt_input high, gt_long step_z,
                                  gt_long shift_z, GT_GLOBAL const int *used, int limited,
                                  int old, int old_mode, gt_ulong old_seed,
                                  int bytes, gt_long infinity, unsigned int poison,
                                  int finite, gt_ulong seed,
                                  GT_GLOBAL unsigned int *found, int slot) {
    const gt_long step = (gt_long)GT_GRID_SIZE * 256;
    unsigned int wrong = 0, touched = 0;
    for (gt_long e = (gt_long)GT_BLOCK * 256 + GT_THREAD_X; e < total; e += step) {
        const gt_long z = gt_product_at(e - front, count, stride, rows, n, ldc);
        const gt_long at = e - front - z * stride; /* in matrix z */
        const int left_out = z >= 0 && limited && at / ldc >= used[z];
        if (z < 0 || left_out) {
            touched += gt_is_touched(c, e, bytes, poison, finite, seed, left_out && old,
                                     e - front, ldc, old_mode, old_seed);
        } else {
            const gt_long got = gt_key(c, e, bytes, infinity);
            const gt_long place = (z * step_z + shift_z) % count;
            const gt_long x = (place * rows + at / ldc) * n + at % ldc;
            const gt_long from = gt_key(low, x, bytes, infinity);
            const gt_long to = gt_key(high, x, bytes, infinity);
            const int outside = got < GT_MIN(from, to) || got > GT_MAX(from, to);
            const int right_nan = from > to || from == GT_KEY_OF_NAN;
            wrong += got == GT_KEY_OF_NAN ? !right_nan : outside;
        }
    }
    if (wrong)
        GT_COUNT(&found[GT_COUNTERS * slot], GT_MIN(wrong, GT_MOST));
    if (touched)
        GT_COUNT(&found[GT_COUNTERS * slot + 1], GT_MIN(touched, GT_MOST));
}

/* The greatest and the sum of |c - r| / s over the elements of each thread. Where s is 0 a
 * right element counts 0. NaN stays. Integers have no error. With `limited`, only the first
 * rows[z] rows of matrix z were computed. */
GT_KERNEL(gt_error, 256, 1, 1)(gt_input c, gt_long front, int m, int n, gt_long count,
                                gt_long stride, gt_long ldc, GT_GLOBAL const int *rows,
                                int limited, GT_GLOBAL const gt_wide *r,
                                GT_GLOBAL const gt_wide *s, GT_GLOBAL gt_wide *out) {
    const gt_long step = (gt_long)GT_GRID_SIZE * 256;
    const gt_long thread = (gt_long)GT_BLOCK * 256 + GT_THREAD_X;
    gt_wide most = 0, sum = 0;
#if !GT_WIDE_I32
    for (gt_long e = thread; e < count * m * n; e += step) {
        const gt_long row = e / n; /* counted over all products */
        if (limited && row % m >= rows[row / m])
            continue;
        const gt_long at = front + row / m * stride + row % m * ldc + e % n;
        const gt_wide off = GT_ABS(gt_get(c, at, GT_BYTES_C, GT_BITS_C) - r[e]);
        const gt_wide x = off == 0 ? 0 : off / s[e];
        most = x > most || x != x ? x : most;
        sum += x;
    }
#endif
    out[2 * thread] = most;
    out[2 * thread + 1] = sum;
}

/* ---- inputs and the workspace ---- */

/* Checks an input against its copy. Adds the bytes that differ to
 * found[GT_COUNTERS * slot + 2]. */
GT_KERNEL(gt_same, 256, 1, 1)(gt_input x, gt_input copy, gt_long bytes,
                               GT_GLOBAL unsigned int *found, int slot) {
    const gt_long step = (gt_long)GT_GRID_SIZE * 256;
    unsigned int changed = 0;
    for (gt_long e = (gt_long)GT_BLOCK * 256 + GT_THREAD_X; e < bytes; e += step)
        changed += x[e] != copy[e];
    if (changed)
        GT_COUNT(&found[GT_COUNTERS * slot + 2], GT_MIN(changed, GT_MOST));
}

/* Checks an input: the values of gt_fill and the poison must still be there. Adds the
 * changed elements to found[GT_COUNTERS * slot + 2]. */
GT_KERNEL(gt_unchanged, 256, 1, 1)(gt_input x, int bytes, int bits, gt_long total,
                                    gt_long front, gt_long count, gt_long stride,
                                    gt_long rows, gt_long cols, gt_long ld, gt_ulong seed,
                                    int mode, unsigned int poison,
                                    GT_GLOBAL unsigned int *found, int slot) {
    const gt_long step = (gt_long)GT_GRID_SIZE * 256;
    unsigned int changed = 0;
    for (gt_long e = (gt_long)GT_BLOCK * 256 + GT_THREAD_X; e < total; e += step) {
        if (gt_product_at(e - front, count, stride, rows, cols, ld) < 0)
            changed += !gt_poisoned(x, e, bytes, poison);
        else {
            const gt_wide is = gt_get(x, e, bytes, bits);
            const gt_wide was = gt_datum_at(seed, e - front, ld, mode, bytes, bits);
            changed += !GT_ALIKE(is, was);
        }
    }
    if (changed)
        GT_COUNT(&found[GT_COUNTERS * slot + 2], GT_MIN(changed, GT_MOST));
}

/* Checks the `guard` bytes at either end of a workspace, which a kernel may not touch. Adds
 * those that no longer hold the poison to found[GT_COUNTERS * slot + 3]. */
GT_KERNEL(gt_within, 256, 1, 1)(GT_GLOBAL const unsigned char *w, gt_long bytes,
                                 gt_long guard, unsigned int poison,
                                 GT_GLOBAL unsigned int *found, int slot) {
    const gt_long step = (gt_long)GT_GRID_SIZE * 256;
    unsigned int beyond = 0;
    for (gt_long e = (gt_long)GT_BLOCK * 256 + GT_THREAD_X; e < 2 * guard; e += step) {
        const gt_long at = e < guard ? e : bytes - 2 * guard + e;
        beyond += w[at] != (poison >> (int)(at % 4 * 8) & 255u);
    }
    if (beyond)
        GT_COUNT(&found[GT_COUNTERS * slot + 3], GT_MIN(beyond, GT_MOST));
}
