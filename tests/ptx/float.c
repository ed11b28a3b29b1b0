/* SPDX-License-Identifier: Apache-2.0 */
/*
 * float.c - arithmetic of f32 and f64. Instructions without a rounding round to the
 * nearest. The approximate functions are computed exactly and rounded. See ptx.h.
 */
#include "tests/ptx/values.h"

#include <fenv.h>

/* Operands and results. */
static float get_f32(const struct thread *t, const struct ins *ins, unsigned i) {
    const float x = GET_f32(i);
    return ins->flags & FTZ ? (float)flushed(x) : x;
}

static void put_f32(struct thread *t, const struct ins *ins, float x) {
    if (ins->flags & FTZ)
        x = (float)flushed(x);
    if (ins->flags & SAT)
        x = (float)saturated(x);
    put(t, ins, 0, of_f32(x));
}

static double get_f64(const struct thread *t, const struct ins *ins, unsigned i) {
    return GET_f64(i);
}

static void put_f64(struct thread *t, const struct ins *ins, double x) {
    put(t, ins, 0, of_f64(x));
}

/* Sets the rounding that the instruction names; returns whether it is not the usual one. */
static bool set_rounding(const struct ins *ins) {
    if (!(ins->flags & (RZ | RM | RP)))
        return false;
    (void)fesetround(ins->flags & RZ   ? FE_TOWARDZERO
                     : ins->flags & RM ? FE_DOWNWARD
                                       : FE_UPWARD);
    return true;
}

static void reset_rounding(bool was_set) {
    if (was_set)
        (void)fesetround(FE_TONEAREST);
}

/* volatile: the compiler must not move arithmetic past a change of rounding. */
#define FLOAT(T, name, count, expr)                                                        \
    static void name##_##T(struct thread *t, const struct ins *ins) {                      \
        const C_##T a = get_##T(t, ins, 1), b = count > 1 ? get_##T(t, ins, 2) : 0,        \
                    c = count > 2 ? get_##T(t, ins, 3) : 0;                                \
        const bool directed = set_rounding(ins);                                           \
        const volatile C_##T va = a, vb = b, vc = c;                                       \
        (void)b, (void)c, (void)vb, (void)vc;                                              \
        const volatile C_##T x = directed ? expr(va, vb, vc) : expr(a, b, c);              \
        reset_rounding(directed);                                                          \
        put_##T(t, ins, x);                                                                \
    }
#define ADD_(a, b, c)    ((a) + (b))
#define SUB_(a, b, c)    ((a) - (b))
#define MUL_(a, b, c)    ((a) * (b))
#define DIV_(a, b, c)    ((a) / (b))
#define RCP_(a, b, c)    (1 / (a))
#define FMAF_(a, b, c)   fmaf(a, b, c)
#define FMA_(a, b, c)    fma(a, b, c)
#define SQRTF_(a, b, c)  sqrtf(a)
#define SQRT_(a, b, c)   sqrt(a)
#define RSQRT_(a, b, c)  (1 / sqrt(a))
#define EX2_(a, b, c)    ((float)exp2(a))
#define LG2_(a, b, c)    ((float)log2(a))
#define SIN_(a, b, c)    ((float)sin(a))
#define COS_(a, b, c)    ((float)cos(a))
#define TANH_(a, b, c)   ((float)tanh(a))
#define RSQRTF_(a, b, c) ((float)(1 / sqrt(a)))

FLOAT(f32, add, 2, ADD_)
FLOAT(f32, sub, 2, SUB_)
FLOAT(f32, mul, 2, MUL_)
FLOAT(f32, div, 2, DIV_)
FLOAT(f32, fma, 3, FMAF_)
FLOAT(f32, rcp, 1, RCP_)
FLOAT(f32, sqrt, 1, SQRTF_)
FLOAT(f32, rsqrt, 1, RSQRTF_)
FLOAT(f32, ex2, 1, EX2_)
FLOAT(f32, lg2, 1, LG2_)
FLOAT(f32, sin, 1, SIN_)
FLOAT(f32, cos, 1, COS_)
FLOAT(f32, tanh, 1, TANH_)
FLOAT(f64, add, 2, ADD_)
FLOAT(f64, sub, 2, SUB_)
FLOAT(f64, mul, 2, MUL_)
FLOAT(f64, div, 2, DIV_)
FLOAT(f64, fma, 3, FMA_)
FLOAT(f64, rcp, 1, RCP_)
FLOAT(f64, sqrt, 1, SQRT_)
FLOAT(f64, rsqrt, 1, RSQRT_)

/* -0 is less than +0; a NaN gives the other operand, or a NaN when NaN is asked for. */
static double lesser(const struct ins *ins, double a, double b) {
    if (isnan(a) || isnan(b))
        return ins->flags & NAN_OUT || (isnan(a) && isnan(b)) ? NAN : isnan(a) ? b : a;
    if (a == b)
        return signbit(a) ? a : b;
    return a < b ? a : b;
}

/* Operations with an exact result, so that no rounding changes it. */
#define EXACT_1(T, name, expr)                                                             \
    static void name##_##T(struct thread *t, const struct ins *ins) {                      \
        const C_##T a = get_##T(t, ins, 1);                                                \
        put_##T(t, ins, expr);                                                             \
    }
#define EXACT_2(T, name, expr)                                                             \
    static void name##_##T(struct thread *t, const struct ins *ins) {                      \
        const C_##T a = get_##T(t, ins, 1), b = get_##T(t, ins, 2);                        \
        put_##T(t, ins, (C_##T)(expr));                                                    \
    }
EXACT_1(f32, neg, -a)
EXACT_1(f64, neg, -a)
EXACT_1(f32, abs, fabsf(a))
EXACT_1(f64, abs, fabs(a))
EXACT_2(f32, min, lesser(ins, a, b))
EXACT_2(f64, min, lesser(ins, a, b))
EXACT_2(f32, max, -lesser(ins, -a, -b))
EXACT_2(f64, max, -lesser(ins, -a, -b))
EXACT_2(f32, copysign, copysignf(b, a))
EXACT_2(f64, copysign, copysign(b, a))

static int class_of(const struct thread *t, const struct ins *ins) {
    return ins->type[0] == T_F64 ? fpclassify(GET_f64(1)) : fpclassify(GET_f32(1));
}
#define TESTP(name, expr)                                                                  \
    static void name(struct thread *t, const struct ins *ins) {                            \
        const int class = class_of(t, ins);                                                \
        put(t, ins, 0, expr);                                                              \
    }
TESTP(is_finite, class != FP_INFINITE && class != FP_NAN)
TESTP(is_infinite, class == FP_INFINITE)
TESTP(is_number, class != FP_NAN)
TESTP(is_nan, class == FP_NAN)

enum { F32 = ROUND | FTZ | SAT, F64 = ROUND, NEAR = FTZ | APPROX };

const struct op float_ops[] = {
    {"add", T_F32, F32, add_f32},
    {"sub", T_F32, F32, sub_f32},
    {"mul", T_F32, F32, mul_f32},
    {"div", T_F32, F32 | APPROX | FULL, div_f32},
    {"fma", T_F32, F32, fma_f32},
    {"mad", T_F32, F32, fma_f32},
    {"rcp", T_F32, ROUND | NEAR, rcp_f32},
    {"sqrt", T_F32, ROUND | NEAR, sqrt_f32},
    {"rsqrt", T_F32, NEAR, rsqrt_f32},
    {"ex2", T_F32, NEAR, ex2_f32},
    {"lg2", T_F32, NEAR, lg2_f32},
    {"sin", T_F32, NEAR, sin_f32},
    {"cos", T_F32, NEAR, cos_f32},
    {"tanh", T_F32, NEAR, tanh_f32},
    {"neg", T_F32, FTZ, neg_f32},
    {"abs", T_F32, FTZ, abs_f32},
    {"min", T_F32, FTZ | NAN_OUT, min_f32},
    {"max", T_F32, FTZ | NAN_OUT, max_f32},
    {"copysign", T_F32, 0, copysign_f32},
    {"add", T_F64, F64, add_f64},
    {"sub", T_F64, F64, sub_f64},
    {"mul", T_F64, F64, mul_f64},
    {"div", T_F64, F64, div_f64},
    {"fma", T_F64, F64, fma_f64},
    {"mad", T_F64, F64, fma_f64},
    {"rcp", T_F64, F64 | NEAR, rcp_f64},
    {"sqrt", T_F64, F64, sqrt_f64},
    {"rsqrt", T_F64, NEAR, rsqrt_f64},
    {"neg", T_F64, 0, neg_f64},
    {"abs", T_F64, 0, abs_f64},
    {"min", T_F64, 0, min_f64},
    {"max", T_F64, 0, max_f64},
    {"copysign", T_F64, 0, copysign_f64},
    {"testp.finite", T_ANY, 0, is_finite},
    {"testp.infinite", T_ANY, 0, is_infinite},
    {"testp.number", T_ANY, 0, is_number},
    {"testp.notanumber", T_ANY, 0, is_nan},
    END_OF_ROWS,
};
