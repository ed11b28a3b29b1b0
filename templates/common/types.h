/* SPDX-License-Identifier: Apache-2.0 */
/*
 * types.h - the element types of A, B, C and the accumulator, and conversions between them.
 *
 * gt_a, gt_b and gt_c are elements as stored. gt_acc is the type of products, sums, alpha
 * and beta. GT_TYPE_A, GT_TYPE_B, GT_TYPE_C and GT_TYPE_ACC are the names of the types:
 * f32, f64, i32, f16, bf16, e4m3, e5m2 or i8.
 *
 * All arithmetic is in gt_acc: f32, f64 or i32. gt_from_a(x), gt_from_b(x) and gt_from_c(x)
 * convert a stored element to a number that gt_acc holds exactly. gt_to_c(x) rounds a
 * gt_acc once, to the nearest element of C. A and B may be e4m3 or e5m2, C may not. Integer
 * sums become elements of another type than i32 in an epilogue only (epilogue.h): gt_to_c
 * is then for zeros.
 *
 * Floats of 16 and 8 bits are stored as integers, so that no compiler needs to know them.
 * Where CUDA or an OpenCL device (GT_F16) has an instruction for a conversion, it gives the
 * same bits as the arithmetic here.
 */
#define GT_WORD_f32 float
#define GT_WORD_f64 double
#define GT_WORD_i32 uint /* i32 wraps modulo 2^32; signed overflow would be undefined */
#define GT_WORD_f16 ushort
#define GT_WORD_bf16 ushort
#define GT_WORD_e4m3 uchar
#define GT_WORD_e5m2 uchar
#define GT_WORD_i8 char

#define GT_NUMBER_f32 1
#define GT_NUMBER_f64 2
#define GT_NUMBER_i32 3
#define GT_NUMBER_bf16 4
#define GT_NUMBER_f16 5
#define GT_NUMBER_e4m3 6
#define GT_NUMBER_e5m2 7
#define GT_NUMBER_i8 8
/* Distinct numbers of types: GT_NUMBER(GT_TYPE_A) == GT_NUMBER(GT_TYPE_C). */
#define GT_NUMBER(type) GT_PASTE(GT_NUMBER_, type)

typedef float gt_f32;
#if GT_FLOAT && GT_SIZEOF_ACC == 8
typedef double gt_f64;
#endif
typedef unsigned int gt_i32;
typedef unsigned short gt_f16;
typedef unsigned short gt_bf16;
typedef unsigned char gt_e4m3;
typedef unsigned char gt_e5m2;
typedef signed char gt_i8;

typedef GT_PASTE(gt_, GT_TYPE_A) gt_a;
typedef GT_PASTE(gt_, GT_TYPE_B) gt_b;
typedef GT_PASTE(gt_, GT_TYPE_C) gt_c;
typedef GT_PASTE(gt_, GT_TYPE_ACC) gt_acc;

#if GT_OPENCL
#define GT_BITS_TO_F32(bits) as_float(bits)
#define GT_BITS_FROM_F32(x) as_uint(x)
#else
#define GT_BITS_TO_F32(bits) __uint_as_float(bits)
#define GT_BITS_FROM_F32(x) __float_as_uint(x)
#endif

/* ---- bf16: the upper half of an f32 ---- */

GT_INLINE gt_f32 gt_from_bf16(gt_bf16 x) {
    return GT_BITS_TO_F32((unsigned int)x << 16);
}

/* Rounds to the nearest; of two equally near, to the even one. A NaN gets a quiet bit,
 * since the bits that made it a NaN may be in the lower half. */
GT_INLINE gt_bf16 gt_to_bf16(gt_f32 x) {
#if GT_ARCH >= 800
    gt_bf16 y;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y) : "f"(x));
    return y;
#else
    const unsigned int bits = GT_BITS_FROM_F32(x);
    return (gt_bf16)(x != x ? bits >> 16 | 64 : (bits + 32767 + (bits >> 16 & 1)) >> 16);
#endif
}

/* ---- f16 ---- */

/* 2^-14, the smallest normal f16: exponent and fraction of an f16 are those of an f32 that
 * begins at 2^-112 of it. */
#define GT_F16_LEAST (113u << 23)

/* Exponents count from 15 in f16, from 127 in f32. Below the smallest normal number an f16
 * has no leading one: it is added and subtracted again. */
GT_INLINE gt_f32 gt_from_f16(gt_f16 x) {
#if GT_OPENCL && GT_F16
    return convert_float(as_half(x));
#elif GT_OPENCL && !GT_PTX
    const unsigned int low = x & 0x7fffu, sign = (x & 0x8000u) << 16;
    const unsigned int bits = (low << 13) + (low >= 0x7c00 ? 224u << 23 : 112u << 23);
    const gt_f32 small = GT_BITS_TO_F32(bits + (1u << 23)) - GT_BITS_TO_F32(GT_F16_LEAST);
    return GT_BITS_TO_F32(sign | (low < 0x400 ? GT_BITS_FROM_F32(small) : bits));
#else
    gt_f32 y;
    asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x));
    return y;
#endif
}

/* Rounds to the nearest; of two equally near, to the even one. Below the smallest normal
 * number, adding 1/2 leaves as many bits as f16 has there. */
GT_INLINE gt_f16 gt_to_f16(gt_f32 x) {
#if GT_OPENCL && GT_F16
    return as_ushort(convert_half_rte(x));
#elif GT_OPENCL && !GT_PTX
    const unsigned int all = GT_BITS_FROM_F32(x), low = all & 0x7fffffffu;
    const unsigned int normal = (low - (112u << 23) + 4095 + (low >> 13 & 1)) >> 13;
    const unsigned int small = GT_BITS_FROM_F32(GT_BITS_TO_F32(low) + 0.5f) & 0x7fff;
    const unsigned int most = x != x ? 0x7e00 : 0x7c00;
    const unsigned int size = low >= 143u << 23     ? most
                              : low >= GT_F16_LEAST ? normal
                                                    : small;
    return (gt_f16)((all >> 16 & 0x8000) | size);
#else
    gt_f16 y;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y) : "f"(x));
    return y;
#endif
}

/* ---- 8-bit floats: e5m2 is the upper half of an f16; e4m3, but for its range, too ---- */

GT_INLINE gt_f32 gt_from_e5m2(gt_e5m2 x) {
    return gt_from_f16((gt_f16)(x << 8));
}

/* Exponents count from 7, 8 less than in f16. 127 is NaN. */
GT_INLINE gt_f32 gt_from_e4m3(gt_e4m3 x) {
#if GT_ARCH >= 890
    unsigned int pair; /* the instruction converts two; the second one is 0 */
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(pair) : "h"((unsigned short)x));
    return gt_from_f16((gt_f16)pair);
#else
    const unsigned int low = x & 127u;
    const unsigned int bits = low == 127 ? 0x7e00 : low << 7;
    return gt_from_f16((gt_f16)(bits | (x & 128u) << 8)) * 256.0f;
#endif
}

/* ---- i8: i32 has all its values ---- */

#define gt_from_i8(x) ((gt_i32)(int)(x))

/* ---- the others are what they seem ---- */

#define gt_from_f32(x) (x)
#define gt_from_f64(x) (x)
#define gt_from_i32(x) (x)
#define gt_to_f32(x) (x)
#define gt_to_f64(x) (x)
#define gt_to_i32(x) (x)
#define gt_to_i8(x) ((gt_i8)(x))

#define gt_from_a(x) GT_PASTE(gt_from_, GT_TYPE_A)(x)
#define gt_from_b(x) GT_PASTE(gt_from_, GT_TYPE_B)(x)
#define gt_from_c(x) GT_PASTE(gt_from_, GT_TYPE_C)(x)
#define gt_to_c(x) GT_PASTE(gt_to_, GT_TYPE_C)(x)

/* ---- arithmetic ---- */

/* a * b + c in gt_acc, rounded once if it is a floating-point type. */
#define gt_fma(a, b, c) GT_PASTE(gt_fma_, GT_TYPE_ACC)(a, b, c)
#if GT_OPENCL
#define gt_fma_f32(a, b, c) fma((a), (b), (c))
#define gt_fma_f64(a, b, c) fma((a), (b), (c))
#else
#define gt_fma_f32(a, b, c) __fmaf_rn((a), (b), (c))
#define gt_fma_f64(a, b, c) __fma_rn((a), (b), (c))
#endif
#define gt_fma_i32(a, b, c) ((a) * (b) + (c))

/* acc + a * b for stored elements of A and B. */
#define gt_multiply_add(a, b, acc) gt_fma(gt_from_a(a), gt_from_b(b), acc)

/* ---- the element that is stored ---- */

/*
 * A function that stores elements of C has GT_PLACE_PARAMS behind its parameters. A call
 * passes GT_PLACE(i, j): the row and the column in C of its first element. Both are empty
 * unless the problem has an epilogue; then the epilogue's operands go with the place, by
 * names that kernels and functions share. gt_i and gt_j are the place in such a function.
 * Sums of a part of k, which the same code stores to the workspace, have GT_PARTIAL_ROW or
 * another negative row: they are stored as they are.
 *
 * GT_READS_C(beta): whether the old element of C is read. With beta 0 it may hold NaN or be
 * unset, so only an epilogue that names it reads it then.
 */
#define GT_PARTIAL_ROW (-2147483647 - 1)
#if GT_EPILOGUE
#define GT_PLACE_PARAMS , gt_long gt_i, gt_long gt_j GT_OPERAND_PARAMS
#define GT_PLACE(i, j) , (gt_long)(i), (gt_long)(j)GT_OPERANDS
#define GT_READS_C(beta) (GT_NEEDS_C || (GT_NEEDS_X && (beta) != (gt_acc)0))
#else
#define GT_PLACE_PARAMS
#define GT_PLACE(i, j)
#define GT_READS_C(beta) ((beta) != (gt_acc)0)
#endif

#if GT_EPILOGUE
/* The element of C for a sum and the old element: the epilogue at (gt_i, gt_j). An element
 * that is not read is -0 (0 beside integer sums). The function is generated, behind
 * epilogue.h. */
GT_INLINE gt_c gt_element(gt_acc alpha, gt_acc acc, gt_acc beta, gt_c old GT_PLACE_PARAMS);
#endif

/* C = alpha * acc + beta * C, or the epilogue of it. */
GT_INLINE void gt_store_c(GT_GLOBAL gt_c *c, gt_acc alpha, gt_acc acc,
                          gt_acc beta GT_PLACE_PARAMS) {
#if GT_EPILOGUE
    const gt_c old = GT_READS_C(beta) ? *c : gt_to_c((gt_acc)-0.0f);
    *c = gt_element(alpha, acc, beta, old GT_PLACE(gt_i, gt_j));
#else
    *c = gt_to_c(beta == (gt_acc)0 ? alpha * acc
                                   : gt_fma(beta, gt_from_c(*c), alpha * acc));
#endif
}
