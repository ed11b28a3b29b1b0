/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.cl - the program's own kernels: they make the data, compute the reference, compare,
 * and measure the clock.
 *
 * None of them is a candidate. They share only the dialect of templates/common with
 * candidates. Code of this file reads and writes elements and computes with them in a wide
 * type, gt_wide: f64 for f64, f32 for all other floats, i32 modulo 2^32 for integers. The
 * reference of integers is a plain sum. With GT_SUMS_ARE_WIDER, products of f32 are added
 * in f64, which holds each of them. All other floats have Dot2 (Ogita, Rump, Oishi 2005), a
 * dot product as exact as with twice the precision of gt_wide. The reference is stored in
 * gt_wide, not rounded to C's type. The host recomputes sampled elements of it from the
 * same generator (tuner/lab/data.c), which reveals a broken device or compiler.
 *
 * Index order: row-major. Element (i, j) of a matrix is at i * ld + j, and of matrix z of a
 * batch at z * stride + i * ld + j. A stored A is m x k,
 * or k x m with ta; a stored B is k x n, or n x k with tb. Layouts are arguments here, so
 * that one build serves all four.
 *
 * The text ahead of this one defines, for X of A, B and C, GT_BYTES_X, the bytes of an
 * element, and GT_BITS_X, the bits of its significand (0: an integer). They describe the
 * type completely, see core/element.h. One of GT_WIDE_F32, GT_WIDE_F64 and GT_WIDE_I32 is
 * 1. GT_SUMS_ARE_WIDER is 1 where the device's f64 is fast enough for the sums of f32.
 */

#if GT_OPENCL
#pragma OPENCL FP_CONTRACT OFF
#if GT_SUMS_ARE_WIDER
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
typedef ulong gt_ulong;
#define GT_GRID_SIZE ((int)get_num_groups(0))
#define GT_COUNT(where, what) atomic_add(where, what)
#define GT_ADD_RN(a, b) ((a) + (b))
#define GT_MUL_RN(a, b) ((a) * (b))
#define GT_FMA_RN(a, b, c) fma(a, b, c)
#define GT_F32_OF(bits) as_float(bits)
#define GT_BITS_OF(f32) as_uint(f32)
#define GT_F64_OF(bits) as_double(bits)
#else
typedef unsigned long long gt_ulong;
#define GT_GRID_SIZE ((int)gridDim.x)
#define GT_COUNT(where, what) atomicAdd(where, what)
#if GT_WIDE_F64 || GT_SUMS_ARE_WIDER
#define GT_ADD_RN(a, b) __dadd_rn(a, b)
#define GT_MUL_RN(a, b) __dmul_rn(a, b)
#define GT_FMA_RN(a, b, c) __fma_rn(a, b, c)
#else
#define GT_ADD_RN(a, b) __fadd_rn(a, b)
#define GT_MUL_RN(a, b) __fmul_rn(a, b)
#define GT_FMA_RN(a, b, c) __fmaf_rn(a, b, c)
#endif
#define GT_F32_OF(bits) __uint_as_float(bits)
#define GT_BITS_OF(f32) __float_as_uint(f32)
#define GT_F64_OF(bits) __longlong_as_double(bits)

/* Nanoseconds since some moment. */
GT_INLINE gt_ulong gt_timer(void) {
    gt_ulong ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}
#endif

#if GT_WIDE_F64
typedef double gt_wide;
#elif GT_WIDE_F32
typedef float gt_wide;
#else
typedef unsigned int gt_wide;
#endif
#if GT_SUMS_ARE_WIDER
typedef double gt_sum; /* the type of the reference's sums */
#else
typedef gt_wide gt_sum;
#endif
#define GT_ABS(x) ((x) < 0 ? -(x) : (x))

/* ---- elements: `bytes` and `bits` of a type are constants wherever speed counts ---- */

/* A matrix of any type. */
typedef GT_GLOBAL unsigned char *gt_matrix;
typedef GT_GLOBAL const unsigned char *gt_input;

#if !GT_WIDE_I32
/* Floats of less than 32 bits. Their exponent and fraction, moved to the bits where f32 has
 * them, are the number times a power of 2: f32's exponent counts from 127, theirs from
 * 2^(e-1) - 1. */
GT_INLINE int gt_bias(int bytes, int bits) {
    return (1 << (8 * bytes - bits - 1)) - 1;
}

/* The bits that follow those of the largest number: infinity, or the NaN of e4m3. */
GT_INLINE unsigned int gt_past_largest(int bytes, int bits) {
    const unsigned int all = (1u << (8 * bytes - 1)) - 1;
    return bits == 4 ? all : all >> (bits - 1) << (bits - 1);
}

GT_INLINE float gt_narrow_get(unsigned int word, int bytes, int bits) {
    const unsigned int low = word & ((1u << (8 * bytes - 1)) - 1);
    const float scale = GT_F32_OF((unsigned int)(254 - gt_bias(bytes, bits)) << 23);
    /* An infinity is never right, like a NaN. */
    const float x = low >= gt_past_largest(bytes, bits)
                        ? GT_F32_OF(0x7fc00000u)
                        : GT_F32_OF(low << (24 - bits)) * scale;
    return word >> (8 * bytes - 1) & 1 ? -x : x;
}

/* Rounds to the nearest; of two equally near, to the even one. */
GT_INLINE unsigned int gt_narrow_word(float x, int bytes, int bits) {
    const float scale = GT_F32_OF((unsigned int)gt_bias(bytes, bits) << 23);
    const unsigned int all = GT_BITS_OF(GT_ABS(x) * scale);
    const unsigned int most = gt_past_largest(bytes, bits);
    const int drop = 24 - bits;
    const unsigned int word = (all + (1u << (drop - 1)) - 1 + (all >> drop & 1)) >> drop;
    return (x < 0 ? 1u << (8 * bytes - 1) : 0) | GT_MIN(word, most);
}
#endif

GT_INLINE gt_wide gt_get(gt_input x, gt_long i, int bytes, int bits) {
#if GT_WIDE_F64
    if (bytes == 8)
        return ((GT_GLOBAL const double *)x)[i];
#endif
#if GT_WIDE_I32
    return bytes == 1 ? (gt_wide)(int)(signed char)x[i]
                      : ((GT_GLOBAL const unsigned int *)x)[i];
#else
    if (bytes == 4)
        return (gt_wide)((GT_GLOBAL const float *)x)[i];
    return (gt_wide)gt_narrow_get(
        bytes == 1 ? x[i] : ((GT_GLOBAL const unsigned short *)x)[i], bytes, bits);
#endif
}

GT_INLINE void gt_put(gt_matrix x, gt_long i, int bytes, int bits, gt_wide value) {
#if GT_WIDE_F64
    if (bytes == 8)
        ((GT_GLOBAL double *)x)[i] = value;
#endif
#if GT_WIDE_I32
    if (bytes == 1)
        x[i] = (unsigned char)value;
    else
        ((GT_GLOBAL unsigned int *)x)[i] = value;
#else
    if (bytes == 4)
        ((GT_GLOBAL float *)x)[i] = (float)value;
    else if (bytes == 2)
        ((GT_GLOBAL unsigned short *)x)[i] =
            (unsigned short)gt_narrow_word((float)value, bytes, bits);
    else if (bytes == 1)
        x[i] = (unsigned char)gt_narrow_word((float)value, bytes, bits);
#endif
}

/* The element of C nearest to x. */
GT_INLINE gt_wide gt_rounded_to_c(gt_wide x) {
#if GT_WIDE_F32 && GT_BYTES_C < 4
    return gt_narrow_get(gt_narrow_word(x, GT_BYTES_C, GT_BITS_C), GT_BYTES_C, GT_BITS_C);
#else
    return x;
#endif
}

/* Whether the element holds its part of the poison word. */
GT_INLINE int gt_poisoned(gt_input x, gt_long i, int bytes, unsigned int poison) {
    if (bytes == 8)
        return ((GT_GLOBAL const unsigned int *)x)[2 * i] == poison &&
               ((GT_GLOBAL const unsigned int *)x)[2 * i + 1] == poison;
    if (bytes == 4)
        return ((GT_GLOBAL const unsigned int *)x)[i] == poison;
    if (bytes == 2)
        return ((GT_GLOBAL const unsigned short *)x)[i] ==
               (poison >> (int)(i % 2 * 16) & 0xffffu);
    return x[i] == (poison >> (int)(i % 4 * 8) & 0xffu);
}

/* ---- data: a counter-based generator, that of gt_data_value in tuner/lab/data.c ---- */

/* The finalizer of splitmix64 over (seed, row, column). */
GT_INLINE gt_ulong gt_mix(gt_ulong seed, gt_long row, gt_long col) {
    gt_ulong z = seed + (gt_ulong)row * (gt_ulong)0x9e3779b97f4a7c15UL +
                 (gt_ulong)col * (gt_ulong)0xd1b54a32d192ed03UL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9UL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebUL;
    return z ^ (z >> 31);
}

/* 2^(1 - bits) */
GT_INLINE gt_wide gt_step(int bits) {
#if GT_WIDE_F64
    return GT_F64_OF((gt_long)(1024 - bits) << 52);
#elif GT_WIDE_F32
    return GT_F32_OF((unsigned int)(128 - bits) << 23);
#else
    return 1;
#endif
}

/* mode 0: integers -3..3; 1: uniform in [-1, 1) in steps of 2^(1 - bits), any integer for
 * integers; 2: integers -1..1, for sums too long for mode 0; of floats 3: sizes of mode 1;
 * 4: mode 1 times a power of two from 2^-16 to 2^15; 5: integers 5..7; of f64 6: mode 1, in
 * rows and columns from 256 on times a power of two from 2^-128 to 2^127; of f32 7: 1 +
 * 2^-7 - 2^-23; 8: 1 in the first row and column, else mode 3 times 2^-10. */
GT_INLINE gt_wide gt_datum(gt_ulong seed, gt_long row, gt_long col, int mode, int bytes,
                           int bits) {
    const gt_ulong z = gt_mix(seed, row, col);
    if (mode == 0)
        return (gt_wide)((int)((z >> 32) % 7) - 3);
    if (mode == 2)
        return (gt_wide)((int)((z >> 32) % 3) - 1);
    if (mode == 5)
        return (gt_wide)((int)((z >> 32) % 3) + 5);
#if GT_WIDE_I32
    return bytes == 1 ? (gt_wide)(int)(signed char)(z >> 56) : (gt_wide)(z >> 32);
#else
    if (mode == 7)
        return 1 + (gt_wide)131070 / 16777216;
    if (mode == 8 && (row == 0 || col == 0))
        return 1;
    const int up = mode == 4                              ? (int)(z & 31) - 16
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

/* The matrix that has an element at `at`: the last one of those that share it; -1 when none
 * has. Matrices follow one another or, with a stride below ld, may lie side by side in the
 * same rows. */
GT_INLINE gt_long gt_owner(gt_long at, gt_long count, gt_long stride, gt_long rows,
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

/* ---- reference ---- */

/* A block computes tiles of GT_TILE x GT_TILE elements, a thread GT_EACH x GT_EACH of them,
 * from slabs of op(A) and op(B) in shared memory: GT_DEPTH of k, each in a line of
 * GT_SLAB_LD. */
#define GT_TILE 64
#define GT_EACH 4
#define GT_ACROSS (GT_TILE / GT_EACH) /* threads side by side */
#define GT_DEPTH 16
#define GT_SLAB_LD (GT_TILE + 4)
#define GT_SLAB (GT_DEPTH * GT_SLAB_LD)

/* A sum of products. */
struct gt_term_sum {
    gt_sum sum;
#if !GT_WIDE_I32
    gt_sum low;  /* the part that `sum` has lost */
    gt_sum size; /* of the terms */
#endif
};

GT_INLINE struct gt_term_sum gt_no_terms(void) {
    struct gt_term_sum none;
    none.sum = 0;
#if !GT_WIDE_I32
    none.low = none.size = 0;
#endif
    return none;
}

/* Adds x y to a sum that needs no rounding. Its size is not asked for. */
GT_INLINE void gt_add_exact(struct gt_term_sum *t, gt_sum x, gt_sum y) {
#if GT_WIDE_I32
    t->sum += x * y;
#else
    t->sum = GT_FMA_RN(x, y, t->sum);
#endif
}

/* Adds x y, by a step of Dot2 unless the type of sums is wider than the products. */
GT_INLINE void gt_add_product(struct gt_term_sum *t, gt_sum x, gt_sum y) {
#if GT_WIDE_I32
    gt_add_exact(t, x, y);
#else
#if GT_SUMS_ARE_WIDER
    t->sum = GT_FMA_RN(x, y, t->sum);
#else
    const gt_sum p = GT_MUL_RN(x, y);
    const gt_sum e = GT_FMA_RN(x, y, -p);
    const gt_sum s = GT_ADD_RN(t->sum, p);
    const gt_sum z = GT_ADD_RN(s, -t->sum);
    const gt_sum f = GT_ADD_RN(GT_ADD_RN(t->sum, -GT_ADD_RN(s, -z)), GT_ADD_RN(p, -z));
    t->sum = s;
    t->low = GT_ADD_RN(t->low, GT_ADD_RN(e, f));
#endif
    t->size = GT_FMA_RN(GT_ABS(x), GT_ABS(y), t->size);
#endif
}

/* The group of row i. */
GT_INLINE int gt_group_of(GT_GLOBAL const int *ends, int groups, int i) {
    int g = 0;
    while (g < groups - 1 && i >= ends[g])
        g++;
    return g;
}

/* Copies GT_TILE lines of op(A) or op(B) from line `first` on, and GT_DEPTH of k from
 * `depth` on. Lines outside of `begin` to `end`, and all from k on, become 0. With `along`
 * the numbers of a line follow one another in memory, otherwise those of one k. */
GT_INLINE void gt_copy_slab(GT_SHARED gt_sum *slab, gt_input x, gt_long ld, int along,
                            int first, int begin, int end, int depth, int k, int bytes,
                            int bits) {
    for (int e = GT_THREAD_X; e < GT_TILE * GT_DEPTH; e += 256) {
        const int line = along ? e / GT_DEPTH : e % GT_TILE;
        const int p = along ? e % GT_DEPTH : e / GT_TILE;
        const gt_long i = first + line, q = depth + p;
        gt_sum value = 0;
        if (i >= begin && i < end && q < k)
            value = gt_get(x, along ? i * ld + q : q * ld + i, bytes, bits);
        slab[p * GT_SLAB_LD + line] = value;
    }
}

/* Adds `depth` products to each sum of a thread, whose lines begin at `a` and `b`. */
GT_INLINE void gt_add_slab(struct gt_term_sum *t, GT_SHARED const gt_sum *a,
                           GT_SHARED const gt_sum *b, int depth, int exact) {
    for (int p = 0; p < depth; p++, a += GT_SLAB_LD, b += GT_SLAB_LD)
        if (exact) {
            GT_UNROLL for (int e = 0; e < GT_EACH * GT_EACH; e++)
                gt_add_exact(&t[e], a[e / GT_EACH], b[e % GT_EACH]);
        } else {
            GT_UNROLL for (int e = 0; e < GT_EACH * GT_EACH; e++)
                gt_add_product(&t[e], a[e / GT_EACH], b[e % GT_EACH]);
        }
}

/* *r = alpha t + beta C0 and *s = |alpha| the size of t + |beta| |C0|, with element `at` of
 * C0, which is not read when beta is 0. */
GT_INLINE void gt_put_sum(GT_GLOBAL gt_wide *r, GT_GLOBAL gt_wide *s, struct gt_term_sum *t,
                          gt_sum alpha, gt_sum beta, gt_input c0, gt_long at) {
    gt_sum old = 0;
    if (beta != 0)
        old = gt_get(c0, at, GT_BYTES_C, GT_BITS_C);
#if GT_WIDE_I32
    *r = alpha * t->sum + beta * old;
#else
    struct gt_term_sum out = gt_no_terms();
    gt_add_product(&out, alpha, t->sum);
    gt_add_product(&out, beta, old);
    *r = (gt_wide)GT_ADD_RN(out.sum, GT_FMA_RN(alpha, t->low, out.low));
    *s = (gt_wide)(t->size * GT_ABS(alpha) + GT_ABS(beta) * GT_ABS(old));
#endif
}

/* The number of rows before those of group g, and up to its last row. */
GT_INLINE int gt_group_begin(GT_GLOBAL const int *ends, int g) {
    return g > 0 ? ends[g - 1] : 0;
}

GT_INLINE int gt_group_end(GT_GLOBAL const int *ends, int groups, int g, int m) {
    return g < groups - 1 ? ends[g] : m;
}

/* r = alpha op(A) op(B) + beta C0 and, for floating point, s = |alpha| |A| |B| + |beta|
 * |C0|, both m x n packed, of all products of a batch, in the order of C's matrices. Matrix
 * z of C belongs to matrix (z step_a + shift_a) mod count of A, and so for B. With `groups`
 * above 0 the rows up to ends[g] belong to matrix g of B, and there is one C. With alpha 0
 * or k 0, A and B are not read; with beta 0, C0 is not read. With `exact` no sum needs
 * rounding, and s is not right. */
#define GT_REFERENCE_PARAMS                                                               \
    int m, int n, int k, int ta, int tb, gt_long count, gt_wide alpha, gt_input all_a,    \
        gt_long lda, gt_long stride_a, gt_input all_b, gt_long ldb, gt_long stride_b,     \
        gt_wide beta, gt_input all_c0, gt_long ldc, gt_long stride_c, gt_long step_a,     \
        gt_long shift_a, gt_long step_b, gt_long shift_b, GT_GLOBAL const int *ends,      \
        int groups, int exact, GT_GLOBAL gt_wide *r, GT_GLOBAL gt_wide *s

/* By tiles. A tile is gone through once for each group of its rows. */
GT_KERNEL(gt_reference, 256, 1, 2)(GT_REFERENCE_PARAMS) {
    GT_SHARED_ARRAY(gt_sum, slab, 2 * GT_SLAB);
    const int across = gt_cdiv(n, GT_TILE), depth = alpha == 0 ? 0 : k;
    const gt_long tiles = (gt_long)gt_cdiv(m, GT_TILE) * across;
    const int my_row = GT_THREAD_X / GT_ACROSS * GT_EACH;
    const int my_col = GT_THREAD_X % GT_ACROSS * GT_EACH;
    for (gt_long tile = GT_BLOCK; tile < count * tiles; tile += GT_GRID_SIZE) {
        const gt_long z = tile / tiles;
        const int top = (int)(tile % tiles / across) * GT_TILE;
        const int left = (int)(tile % tiles % across) * GT_TILE;
        const int bottom = GT_MIN(top + GT_TILE, m);
        const int last = gt_group_of(ends, groups, bottom - 1);
        gt_input a = all_a + (z * step_a + shift_a) % count * stride_a * GT_BYTES_A;
        struct gt_term_sum t[GT_EACH * GT_EACH];
        GT_UNROLL for (int e = 0; e < GT_EACH * GT_EACH; e++) t[e] = gt_no_terms();
        for (int g = gt_group_of(ends, groups, top); g <= last; g++) {
            const gt_long y = groups > 0 ? g : (z * step_b + shift_b) % count;
            gt_input b = all_b + y * stride_b * GT_BYTES_B;
            const int begin = gt_group_begin(ends, g);
            const int end = gt_group_end(ends, groups, g, m);
            for (int p = 0; p < depth; p += GT_DEPTH) {
                GT_BARRIER();
                gt_copy_slab(slab, a, lda, !ta, top, begin, end, p, depth, GT_BYTES_A,
                             GT_BITS_A);
                gt_copy_slab(slab + GT_SLAB, b, ldb, tb, left, 0, n, p, depth, GT_BYTES_B,
                             GT_BITS_B);
                GT_BARRIER();
                if (top + my_row < m && left + my_col < n)
                    gt_add_slab(t, slab + my_row, slab + GT_SLAB + my_col,
                                GT_MIN(depth - p, GT_DEPTH), exact);
            }
        }
        GT_UNROLL for (int e = 0; e < GT_EACH * GT_EACH; e++) {
            const gt_long i = top + my_row + e / GT_EACH, j = left + my_col + e % GT_EACH;
            const gt_long out = (z * m + i) * n + j, at = z * stride_c + i * ldc + j;
            if (i < m && j < n)
                gt_put_sum(&r[out], &s[out], &t[e], alpha, beta, all_c0, at);
        }
    }
}

/* One thread an element, for products that would fill little of a tile. */
GT_KERNEL(gt_reference_small, 256, 1, 1)(GT_REFERENCE_PARAMS) {
    const gt_long one = (gt_long)m * n, step = (gt_long)GT_GRID_SIZE * 256;
    const int depth = alpha == 0 ? 0 : k;
    for (gt_long e = (gt_long)GT_BLOCK * 256 + GT_THREAD_X; e < count * one; e += step) {
        const gt_long z = e / one, i = e % one / n, j = e % n;
        const gt_long y = groups > 0 ? gt_group_of(ends, groups, (int)i)
                                     : (z * step_b + shift_b) % count;
        gt_input a = all_a + (z * step_a + shift_a) % count * stride_a * GT_BYTES_A;
        gt_input b = all_b + y * stride_b * GT_BYTES_B;
        struct gt_term_sum t = gt_no_terms();
        for (int p = 0; p < depth; p++)
            gt_add_product(
                &t, gt_get(a, ta ? p * lda + i : i * lda + p, GT_BYTES_A, GT_BITS_A),
                gt_get(b, tb ? j * ldb + p : p * ldb + j, GT_BYTES_B, GT_BITS_B));
        gt_put_sum(&r[e], &s[e], &t, alpha, beta, all_c0, z * stride_c + i * ldc + j);
    }
}

/* ---- compare ---- */

/* The most that one thread adds to a count: a million threads cannot wrap 32 bits to 0. */
#define GT_MOST 4095u
#define GT_COUNTERS 4 /* wrong, touched, changed, beyond: see tuner/lab/check_internal.h */

/* Whether element e, which no product computes, has changed. It held the poison word, or
 * with `finite` row 0 of the generator with `seed`. With `keeps_old` it is a row of C0: it
 * held the datum at `at` of the generator with `old_seed`. `finite` and `keeps_old` are for
 * elements of C's type. */
GT_INLINE int gt_is_touched(gt_input c, gt_long e, int bytes, unsigned int poison,
                            int finite, gt_ulong seed, int keeps_old, gt_long at,
                            gt_long ldc, int old_mode, gt_ulong old_seed) {
    if (keeps_old)
        return gt_get(c, e, GT_BYTES_C, GT_BITS_C) !=
               gt_datum_at(old_seed, at, ldc, old_mode, GT_BYTES_C, GT_BITS_C);
    return finite ? gt_get(c, e, GT_BYTES_C, GT_BITS_C) !=
                        gt_datum(seed, 0, e, 1, GT_BYTES_C, GT_BITS_C)
                  : !gt_poisoned(c, e, bytes, poison);
}

/* Checks every element of a buffer of `total` elements in which C starts at `front`: count
 * matrices, `stride` apart. Elements of C are compared with r. All others (guard zones,
 * padding of rows, gaps between matrices, and with `limited` the rows of matrix z from
 * rows[z] on, which with `old` hold C0) must still hold their value from before the
 * product: the poison word, or with `finite` row 0 of the generator with `seed`. Adds wrong
 * elements to found[0], touched ones outside C to found[1]. An element is right when it is
 * r rounded to C's type, or with `loose` when |c - r| <= tol * s + ulp * max(|r|, least).
 */
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
        const gt_long z = gt_owner(e - front, count, stride, m, n, ldc);
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
            int good = got == gt_rounded_to_c(want);
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

/* gt_compare for an output whose right elements are ranges: from low to high, packed m x n
 * and of the output's own type. Those of matrix z are number (z step_z + shift_z) mod
 * count. Where low is above high, NaN is right as well, and the ends are exchanged. */
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
        const gt_long z = gt_owner(e - front, count, stride, rows, n, ldc);
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
            wrong += got == GT_KEY_OF_NAN ? from <= to : outside;
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
        if (gt_owner(e - front, count, stride, rows, cols, ld) < 0)
            changed += !gt_poisoned(x, e, bytes, poison);
        else
            changed += gt_get(x, e, bytes, bits) !=
                       gt_datum_at(seed, e - front, ld, mode, bytes, bits);
    }
    if (changed)
        GT_COUNT(&found[GT_COUNTERS * slot + 2], GT_MIN(changed, GT_MOST));
}

/* Checks a workspace byte by byte: a kernel may not touch the `guard` bytes at either end.
 * Adds those that no longer hold the poison to found[GT_COUNTERS * slot + 3]. */
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

/* ---- the clock ---- */

/* Counts a multiprocessor's clocks, pace[0], in pace[1] nanoseconds, about `ns`. It counts
 * from one step of the timer to another, since the timer may step only once a microsecond.
 * pace[0] is 0 when the timer does not step, and in OpenCL, which has neither clock nor
 * timer. */
GT_KERNEL(gt_pace, 256, 1, 1)(GT_GLOBAL gt_ulong *pace, int ns) {
    if (GT_BLOCK > 0 || GT_THREAD_X > 0)
        return;
#if GT_OPENCL
    pace[0] = pace[1] = 0;
#else
    const int most = 1 << 16; /* readings of a timer that stands still */
    const gt_ulong asked = gt_timer();
    gt_ulong now = asked;
    for (int i = 0; i < most && now == asked; i++)
        now = gt_timer();
    const gt_ulong began = now, clock = (gt_ulong)clock64();
    for (int i = 0; i < most && now - began < (gt_ulong)ns; i++)
        now = gt_timer();
    pace[0] = now == began || began == asked ? 0 : (gt_ulong)clock64() - clock;
    pace[1] = began == asked ? 0 : now - began;
#endif
}
