/* SPDX-License-Identifier: Apache-2.0 */
/*
 * epilogue.h - the functions of an epilogue. It is in the source of a problem that has one,
 * behind types.h. The generated text that follows it (docs/templates.md, "Epilogues") calls
 * these functions, and defines gt_element, which computes an element of C.
 *
 * gt_real is the type of arithmetic: f64 where sums are f64, else f32. Integers are int,
 * and wrap modulo 2^32. Each function is as accurate as its row in epilogue_op.c says, or
 * better. GT_BRIEF says that the outputs have 16 bits or fewer (gt_epilogue_is_brief).
 */
#if GT_FLOAT && GT_SIZEOF_ACC == 8
typedef gt_f64 gt_real;
#define GT_REAL(x) x
#else
typedef gt_f32 gt_real;
#define GT_REAL(x) x##f
#endif

/* A function of the mathematics library for gt_real. */
#if GT_OPENCL || (GT_FLOAT && GT_SIZEOF_ACC == 8)
#define GT_MATH(name) name
#else
#define GT_MATH(name) name##f
#endif

/* ---- functions of gt_real -------------------------------------------------------- */

/* NaN where x or y is NaN, as in PyTorch and NumPy; fmin and fmax give the other number. */
#if !GT_OPENCL && !(GT_FLOAT && GT_SIZEOF_ACC == 8) && __CUDA_ARCH__ >= 800
GT_INLINE gt_f32 gt_min(gt_f32 x, gt_f32 y) {
    gt_f32 z;
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(z) : "f"(x), "f"(y));
    return z;
}

GT_INLINE gt_f32 gt_max(gt_f32 x, gt_f32 y) {
    gt_f32 z;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(z) : "f"(x), "f"(y));
    return z;
}
#else
GT_INLINE gt_real gt_min(gt_real x, gt_real y) {
    return x < y || x != x ? x : y;
}

GT_INLINE gt_real gt_max(gt_real x, gt_real y) {
    return x > y || x != x ? x : y;
}
#endif

#define gt_abs(x) GT_MATH(fabs)(x)
#define gt_exp(x) GT_MATH(exp)(x)
#define gt_log(x) GT_MATH(log)(x)
#define gt_tanh(x) GT_MATH(tanh)(x)
#define gt_erf(x) GT_MATH(erf)(x)
#define gt_sqrt(x) GT_MATH(sqrt)(x)
#define gt_relu(x) gt_max((x), GT_REAL(0.0))

#if GT_FLOAT && GT_SIZEOF_ACC == 8
/* Minus infinity as the least number, whose product with 0 is 0. */
#define gt_finite(x) gt_max((x), GT_REAL(-1.7976931348623157e308))

GT_INLINE gt_f64 gt_sigmoid(gt_f64 x) {
    return 1.0 / (1.0 + gt_exp(-x));
}

GT_INLINE gt_f64 gt_silu(gt_f64 x) {
    return gt_finite(x) / (1.0 + gt_exp(-x));
}

/* erfc has its accuracy where 1 + erf cancels. */
GT_INLINE gt_f64 gt_gelu(gt_f64 x) {
    return 0.5 * gt_finite(x) * erfc(x * -0.70710678118654752440);
}

/* (1 + tanh z) / 2 is the sigmoid of 2 z. It goes to 0 on devices whose tanh does not reach
 * -1. */
GT_INLINE gt_f64 gt_gelu_tanh(gt_f64 x) {
    const gt_f64 cubic = x + 0.044715 * x * x * x;
    return gt_finite(x) / (1.0 + gt_exp(-1.59576912160573071176 * cubic));
}
#else
#if GT_OPENCL
/* PoCL's exp2 takes four times as long as its exp. */
#define gt_exp2(y) exp((y) * 0.69314718055994530942f)
#define gt_inverse(d) (1.0f / (d))
#define gt_step(p, s, c) mad((p), (s), (c))
#define gt_decay(x) exp(-(x))
#define gt_finite(x) gt_max((x), -3.4028234663852886e38f)
#else
/* Two instructions of a GPU serve these functions: 2^y, and 1 / d for d of at least 1. Both
 * are off by two units of the last place at most. A subnormal result becomes 0. */
GT_INLINE gt_f32 gt_exp2(gt_f32 y) {
    gt_f32 e;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(e) : "f"(y));
    return e;
}

GT_INLINE gt_f32 gt_inverse(gt_f32 d) {
    gt_f32 r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(d));
    return r;
}

/* exp(-x). */
GT_INLINE gt_f32 gt_decay(gt_f32 x) {
    return GT_BRIEF ? gt_exp2(x * -1.44269504088896340736f) : gt_exp(-x);
}

#define gt_step(p, s, c) __fmaf_rn((p), (s), (c))
/* Minus infinity stays and gives NaN: one more instruction an element is not worth it. */
#define gt_finite(x) (x)
#endif

GT_INLINE gt_f32 gt_sigmoid(gt_f32 x) {
    return gt_inverse(1.0f + gt_decay(x));
}

GT_INLINE gt_f32 gt_silu(gt_f32 x) {
    return gt_finite(x) * gt_inverse(1.0f + gt_decay(x));
}

/*
 * The normal distribution is the sigmoid of an odd function of x, which a polynomial comes
 * so near to that the distribution is off by 3e-8 at most. It is the minimax polynomial of
 * degree 6 in x^2 for |x| up to 5.6, times log2(1/e). Its first and its last coefficient
 * have one sign, and it takes every x farther out to 0 or 1.
 */
GT_INLINE gt_f32 gt_gelu(gt_f32 x) {
    const gt_f32 s = x * x;
    gt_f32 p = -5.06723657e-9f;
    p = gt_step(p, s, 3.81631282e-7f);
    p = gt_step(p, s, -1.14398335e-5f);
    p = gt_step(p, s, 1.59579939e-4f);
    p = gt_step(p, s, 9.40492308e-5f);
    p = gt_step(p, s, -0.104835122f);
    p = gt_step(p, s, -2.3022093f);
    return gt_finite(x) * gt_inverse(1.0f + gt_exp2(x * p));
}

/* (1 + tanh z) / 2 is the sigmoid of 2 z, also on devices whose tanh does not reach -1. */
GT_INLINE gt_f32 gt_gelu_tanh(gt_f32 x) {
    const gt_f32 p = gt_step(-0.10294324f, x * x, -2.3022082f);
    return gt_finite(x) * gt_inverse(1.0f + gt_exp2(x * p));
}
#endif

/* ---- functions of integers, modulo 2^32 ------------------------------------------ */

#define gt_iadd(x, y) ((int)((unsigned int)(x) + (unsigned int)(y)))
#define gt_isub(x, y) ((int)((unsigned int)(x) - (unsigned int)(y)))
#define gt_imul(x, y) ((int)((unsigned int)(x) * (unsigned int)(y)))
#define gt_ineg(x) gt_isub(0, x)

GT_INLINE int gt_imin(int x, int y) {
    return x < y ? x : y;
}

GT_INLINE int gt_imax(int x, int y) {
    return x < y ? y : x;
}

#define gt_irelu(x) gt_imax((x), 0)

GT_INLINE int gt_iabs(int x) {
    return x < 0 ? gt_ineg(x) : x;
}

/* ---- a number as a stored element ------------------------------------------------ */

/* gt_put_<type>(real) and gt_iput_<type>(int) round to the nearest element, of two equally
 * near to the even one. Integers saturate. */

/*
 * An f32 for a second rounding to fewer bits, which then is the only one that counts: x
 * cut off, with the last bit set when bits were lost (round to odd; Boldo and Melquiond,
 * IEEE Transactions on Computers 57, 2008).
 */
#if GT_FLOAT && GT_SIZEOF_ACC == 8
GT_INLINE gt_f32 gt_odd(gt_real x) {
    const gt_f32 near = (gt_f32)x;
    const gt_f64 back = near;
    const unsigned int bits = GT_BITS_FROM_F32(near);
    const int away = gt_abs(back) > gt_abs(x);
    return back == x || x != x ? near : GT_BITS_TO_F32((bits - away) | 1);
}
#else
#define gt_odd(x) (x)
#endif

/* The same for an integer. The nearest f32 is 2^31 at most. */
GT_INLINE gt_f32 gt_iodd(int x) {
    const unsigned int size = (unsigned int)gt_iabs(x);
    const gt_f32 near = (gt_f32)size;
    const unsigned int back = (unsigned int)near, bits = GT_BITS_FROM_F32(near);
    const gt_f32 all = back == size ? near : GT_BITS_TO_F32((bits - (back > size)) | 1);
    return x < 0 ? -all : all;
}

/* A float of 8 bits with `bits` of significand, the leading one included. Exponents count
 * from `bias`. `past` has the bits after those of the largest number. Below the smallest
 * normal number all steps are equal: adding 2^23 of them rounds to whole steps. */
GT_INLINE unsigned char gt_put_byte(gt_f32 x, int bits, int bias, unsigned int past) {
    const unsigned int all = GT_BITS_FROM_F32(x), low = all & 0x7fffffffu;
    const int drop = 24 - bits;
    const unsigned int one = 1u << 23, least = (unsigned int)(128 - bias) * one;
    const unsigned int shift = (unsigned int)(127 - bias) * one;
    const gt_f32 steps = GT_BITS_TO_F32((unsigned int)(152 - bias - bits) * one);
    const unsigned int small = GT_BITS_FROM_F32(GT_BITS_TO_F32(low) + steps) & 255u;
    const unsigned int even = (1u << (drop - 1)) - 1 + (low >> drop & 1);
    const unsigned int normal = (low - shift + even) >> drop;
    const unsigned int size = low >= least ? GT_MIN(normal, past) : small;
    return (unsigned char)((all >> 24 & 128u) | (x != x ? 127u : size));
}

#define gt_put_f32(x) ((gt_f32)(x))
#define gt_put_f64(x) (x)
#define gt_put_f16(x) gt_to_f16(gt_odd(x))
#define gt_put_bf16(x) gt_to_bf16(gt_odd(x))
#define gt_put_e4m3(x) gt_put_byte(gt_odd(x), 4, 7, 127u)
#define gt_put_e5m2(x) gt_put_byte(gt_odd(x), 3, 15, 124u)
#define gt_put_i32(x) ((gt_i32)gt_int_i32(x))
#define gt_put_i8(x) ((gt_i8)gt_int_i8(x))

#define gt_iput_f32(x) ((gt_f32)(x))
#define gt_iput_f64(x) ((gt_real)(x))
#define gt_iput_f16(x) gt_to_f16(gt_iodd(x))
#define gt_iput_bf16(x) gt_to_bf16(gt_iodd(x))
#define gt_iput_e4m3(x) gt_put_byte(gt_iodd(x), 4, 7, 127u)
#define gt_iput_e5m2(x) gt_put_byte(gt_iodd(x), 3, 15, 124u)
#define gt_iput_i32(x) ((gt_i32)(x))
#define gt_iput_i8(x) ((gt_i8)gt_iint_i8(x))

/* ---- casts: they round and saturate ---------------------------------------------- */

/* x, or the number of [least, most] that is nearest. A NaN stays one. */
GT_INLINE gt_real gt_clamp(gt_real x, gt_real least, gt_real most) {
    return x < least ? least : x > most ? most : x;
}

/* The integer of [least, most] that is nearest, of two equally near the even one. A NaN
 * becomes 0. */
GT_INLINE gt_real gt_whole(gt_real x, gt_real least, gt_real most) {
    return x != x ? GT_REAL(0.0) : GT_MATH(rint)(gt_clamp(x, least, most));
}

/* The largest gt_real that an int holds. Beyond it neither a conversion to int nor PoCL's
 * rint is defined, and compilers use that where they know the number. */
#if GT_FLOAT && GT_SIZEOF_ACC == 8
#define GT_INT_MOST 2147483647.0
#else
#define GT_INT_MOST 2147483520.0f
#endif

GT_INLINE gt_real gt_whole_i32(gt_real x) {
    return gt_whole(x, GT_REAL(-2147483648.0), GT_INT_MOST);
}

/* INT32_MAX, or the f32 above it. */
GT_INLINE gt_real gt_real_i32(gt_real x) {
    return x > GT_INT_MOST ? GT_REAL(2147483647.0) : gt_whole_i32(x);
}

GT_INLINE int gt_int_i32(gt_real x) {
    return x > GT_INT_MOST ? 2147483647 : (int)gt_whole_i32(x);
}

#define gt_real_i8(x) gt_whole((x), GT_REAL(-128.0), GT_REAL(127.0))
#define gt_int_i8(x) ((int)gt_real_i8(x))

#define gt_iint_i32(x) (x)
#define gt_iint_i8(x) gt_imax(gt_imin((x), 127), -128)

#define GT_CLAMPED(x, most) gt_clamp((x), -GT_REAL(most), GT_REAL(most))
#define gt_cast_f32(x) ((gt_real)gt_put_f32(GT_CLAMPED(x, 3.4028234663852886e38)))
#define gt_cast_f64(x) GT_CLAMPED(x, 1.7976931348623157e308)
#define gt_cast_f16(x) ((gt_real)gt_from_f16(gt_put_f16(GT_CLAMPED(x, 65504.0))))
#define gt_cast_bf16(x)                                                                    \
    ((gt_real)gt_from_bf16(gt_put_bf16(GT_CLAMPED(x, 3.3895313892515355e38))))
#define gt_cast_e4m3(x) ((gt_real)gt_from_e4m3(gt_put_e4m3(GT_CLAMPED(x, 448.0))))
#define gt_cast_e5m2(x) ((gt_real)gt_from_e5m2(gt_put_e5m2(GT_CLAMPED(x, 57344.0))))
#define gt_cast_i32(x) gt_real_i32(x)
#define gt_cast_i8(x) gt_real_i8(x)

