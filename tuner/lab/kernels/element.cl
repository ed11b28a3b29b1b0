/* SPDX-License-Identifier: Apache-2.0 */
/*
 * element.cl - what the other files of this folder share: words of both languages, the wide
 * type, and elements of any type in memory.
 *
 * The files of this folder are one source text: this one, data.cl, reference.cl,
 * compare.cl, clock.cl and witness.cl. tuner/lab/checker.c puts them together in this
 * order.
 *
 * None of their kernels is a candidate. They share only the dialect of templates/common
 * with candidates. They read and write elements by code of this file, and compute with them
 * in a wide type, gt_wide: f64 for f64, f32 for all other floats, i32 modulo 2^32 for
 * integers. A C of floats beside integer sums holds quarters before the product
 * (gt_quarter), and is compared by gt_between alone.
 *
 * Index order: row-major. Element (i, j) of a matrix is at i * ld + j, and of matrix z of a
 * batch at z * stride + i * ld + j. A stored A is m x k, or k x m with ta; a stored B is
 * k x n, or n x k with tb. Layouts are arguments here, so that one build serves all four.
 *
 * The text ahead of this one defines, for X of A, B and C, GT_BYTES_X, the bytes of an
 * element, and GT_BITS_X, the bits of its significand (0: an integer). They describe the
 * type completely, see core/element.h. One of GT_WIDE_F32, GT_WIDE_F64 and GT_WIDE_I32 is
 * 1. GT_SUMS_ARE_WIDER is 1 where the device's f64 is fast enough for the sums of f32.
 */

#if GT_OPENCL
#pragma OPENCL FP_CONTRACT OFF
typedef ulong gt_ulong;
#define GT_GRID_SIZE ((int)get_num_groups(0))
#define GT_COUNT(where, what) atomic_add(where, what)
#define GT_F32_OF(bits) as_float(bits)
#define GT_BITS_OF(f32) as_uint(f32)
#define GT_F64_OF(bits) as_double(bits)
#else
typedef unsigned long long gt_ulong;
#define GT_GRID_SIZE ((int)gridDim.x)
#define GT_COUNT(where, what) atomicAdd(where, what)
#define GT_F32_OF(bits) __uint_as_float(bits)
#define GT_BITS_OF(f32) __float_as_uint(f32)
#define GT_F64_OF(bits) __longlong_as_double(bits)
#endif

#if GT_WIDE_F64
typedef double gt_wide;
#elif GT_WIDE_F32
typedef float gt_wide;
#else
typedef unsigned int gt_wide;
#endif
#define GT_ABS(x) ((x) < 0 ? -(x) : (x))
/* Whether both are one number, or both are NaN. */
#define GT_ALIKE(x, y) ((x) == (y) || ((x) != (x) && (y) != (y)))

/* ---- elements: `bytes` and `bits` of a type are constants wherever speed counts ---- */

/* A matrix of any type. */
typedef GT_GLOBAL unsigned char *gt_matrix;
typedef GT_GLOBAL const unsigned char *gt_input;

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
    const unsigned int past = gt_past_largest(bytes, bits);
    const unsigned int beyond = low > past || bits == 4 ? 0x7fc00000u : 0x7f800000u;
    const float x =
        low >= past ? GT_F32_OF(beyond) : GT_F32_OF(low << (24 - bits)) * scale;
    return word >> (8 * bytes - 1) & 1 ? -x : x;
}

/* Rounds to the nearest; of two equally near, to the even one. NaN has the bits that the
 * host gives it. */
GT_INLINE unsigned int gt_narrow_word(float x, int bytes, int bits) {
    const float scale = GT_F32_OF((unsigned int)gt_bias(bytes, bits) << 23);
    const unsigned int all = GT_BITS_OF(GT_ABS(x) * scale);
    const unsigned int most = gt_past_largest(bytes, bits);
    const int drop = 24 - bits;
    const unsigned int word = (all + (1u << (drop - 1)) - 1 + (all >> drop & 1)) >> drop;
    if (x != x)
        return most | 1u << (bits - 2);
    return (x < 0 ? 1u << (8 * bytes - 1) : 0) | GT_MIN(word, most);
}

/* The bits of a float of at most 32 bits. */
GT_INLINE unsigned int gt_float_word(float x, int bytes, int bits) {
    return bytes == 4 ? GT_BITS_OF(x) : gt_narrow_word(x, bytes, bits);
}

/* The element of a C of floats for a datum of integers is a quarter of the datum, so that a
 * kernel that takes C for integers shows. */
#define gt_quarter(datum) (0.25f * (float)(int)(datum))

GT_INLINE unsigned int gt_word(gt_input x, gt_long i, int bytes) {
    return bytes == 4   ? ((GT_GLOBAL const unsigned int *)x)[i]
           : bytes == 2 ? ((GT_GLOBAL const unsigned short *)x)[i]
                        : x[i];
}

GT_INLINE void gt_put_word(gt_matrix x, gt_long i, int bytes, unsigned int word) {
    if (bytes == 4)
        ((GT_GLOBAL unsigned int *)x)[i] = word;
    else if (bytes == 2)
        ((GT_GLOBAL unsigned short *)x)[i] = (unsigned short)word;
    else if (bytes == 1)
        x[i] = (unsigned char)word;
}

GT_INLINE gt_wide gt_get(gt_input x, gt_long i, int bytes, int bits) {
#if GT_WIDE_F64
    if (bytes == 8)
        return ((GT_GLOBAL const double *)x)[i];
#endif
#if GT_WIDE_I32
    return bytes == 1 ? (gt_wide)(int)(signed char)x[i] : gt_word(x, i, 4);
#else
    if (bytes == 4)
        return (gt_wide)((GT_GLOBAL const float *)x)[i];
    return (gt_wide)gt_narrow_get(gt_word(x, i, bytes), bytes, bits);
#endif
}

GT_INLINE void gt_put(gt_matrix x, gt_long i, int bytes, int bits, gt_wide value) {
#if GT_WIDE_F64
    if (bytes == 8)
        ((GT_GLOBAL double *)x)[i] = value;
#endif
#if GT_WIDE_I32
    gt_put_word(x, i, bytes,
                bits == 0 ? value : gt_float_word(gt_quarter(value), bytes, bits));
#else
    if (bytes <= 4)
        gt_put_word(x, i, bytes, gt_float_word((float)value, bytes, bits));
#endif
}

/* Whether the element is what gt_put stores for `value`, which its type holds. */
GT_INLINE int gt_is(gt_input x, gt_long i, int bytes, int bits, gt_wide value) {
#if GT_WIDE_I32
    if (bits > 0)
        return gt_word(x, i, bytes) == gt_float_word(gt_quarter(value), bytes, bits);
#endif
    return gt_get(x, i, bytes, bits) == value;
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
