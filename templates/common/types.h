/* SPDX-License-Identifier: Apache-2.0 */
/*
 * types.h - the element types of A, B, C and the accumulator, and conversions between them.
 *
 * gt_a, gt_b and gt_c are elements as stored. gt_acc is the type of products, sums, alpha
 * and beta. GT_TYPE_A, GT_TYPE_B, GT_TYPE_C and GT_TYPE_ACC are the names of the types:
 * f32, f64, i32 or bf16.
 *
 * All arithmetic is in gt_acc. gt_from_a(x), gt_from_b(x) and gt_from_c(x) convert a stored
 * element to a number that gt_acc holds exactly. gt_to_c(x) rounds a gt_acc once, to the
 * nearest element of C.
 */
#define GT_WORD_f32 float
#define GT_WORD_f64 double
#define GT_WORD_i32 uint /* i32 wraps modulo 2^32; signed overflow would be undefined */
#define GT_WORD_bf16 ushort

#define GT_NUMBER_f32 1
#define GT_NUMBER_f64 2
#define GT_NUMBER_i32 3
#define GT_NUMBER_bf16 4
/* Distinct numbers of types: GT_NUMBER(GT_TYPE_A) == GT_NUMBER(GT_TYPE_C). */
#define GT_NUMBER(type) GT_PASTE(GT_NUMBER_, type)

typedef float gt_f32;
#if GT_FLOAT && GT_SIZEOF_ACC == 8
typedef double gt_f64;
#endif
typedef unsigned int gt_i32;
typedef unsigned short gt_bf16;

typedef GT_PASTE(gt_, GT_TYPE_A) gt_a;
typedef GT_PASTE(gt_, GT_TYPE_B) gt_b;
typedef GT_PASTE(gt_, GT_TYPE_C) gt_c;
typedef GT_PASTE(gt_, GT_TYPE_ACC) gt_acc;

/* ---- bf16: the upper half of an f32 ---- */

GT_INLINE gt_f32 gt_from_bf16(gt_bf16 x) {
#if GT_OPENCL
    return as_float((unsigned int)x << 16);
#else
    return __uint_as_float((unsigned int)x << 16);
#endif
}

/* Rounds to the nearest; of two equally near, to the even one. A NaN gets a quiet bit,
 * since the bits that made it a NaN may be in the lower half. */
GT_INLINE gt_bf16 gt_to_bf16(gt_f32 x) {
#if GT_OPENCL
    const unsigned int bits = as_uint(x);
#else
    const unsigned int bits = __float_as_uint(x);
#endif
    return (gt_bf16)(x != x ? bits >> 16 | 64 : (bits + 32767 + (bits >> 16 & 1)) >> 16);
}

/* ---- the others are what they seem ---- */

#define gt_from_f32(x) (x)
#define gt_from_f64(x) (x)
#define gt_from_i32(x) (x)
#define gt_to_f32(x) (x)
#define gt_to_f64(x) (x)
#define gt_to_i32(x) (x)

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

/* C = alpha * acc + beta * C. With beta 0, C is not read: it may hold NaN or be unset. */
GT_INLINE void gt_store_c(GT_GLOBAL gt_c *c, gt_acc alpha, gt_acc acc, gt_acc beta) {
    *c = gt_to_c(beta == (gt_acc)0 ? alpha * acc
                                   : gt_fma(beta, gt_from_c(*c), alpha * acc));
}
