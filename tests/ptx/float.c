/* SPDX-License-Identifier: Apache-2.0 */
/*
 * float.c - arithmetic of f32 and f64. Instructions without a rounding round to the
 * nearest. The approximate functions are computed exactly and rounded. See ptx.h.
 */
#include "tests/ptx/values.h"

#include <fenv.h>
#include <math.h>

static float flushed(float x) {
    return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x;
}

/* An operand of f32. */
static float get_f32(const struct thread *t, const struct ins *ins, unsigned i) {
    const float x = GET_f32(i);
    return ins->flags & FTZ ? flushed(x) : x;
}

static void put_f32(struct thread *t, const struct ins *ins, float x) {
    if (ins->flags & FTZ)
        x = flushed(x);
    if (ins->flags & SAT)
        x = x > 0 ? (x < 1 ? x : 1) : 0;
    put(t, ins, 0, of_f32(x));
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
#define FLOAT_F32(name, count, expr)                                                       \
    static void name##_f32(struct thread *t, const struct ins *ins) {                      \
        const float a = get_f32(t, ins, 1), b = count > 1 ? get_f32(t, ins, 2) : 0,        \
                    c = count > 2 ? get_f32(t, ins, 3) : 0;                                \
        const bool directed = set_rounding(ins);                                           \
        const volatile float va = a, vb = b, vc = c;                                       \
        (void)b, (void)c, (void)vb, (void)vc;                                              \
        const volatile float x = directed ? expr(va, vb, vc) : expr(a, b, c);              \
        reset_rounding(directed);                                                          \
        put_f32(t, ins, x);                                                                \
    }
#define FLOAT_F64(name, count, expr)                                                       \
    static void name##_f64(struct thread *t, const struct ins *ins) {                      \
        const double a = GET_f64(1), b = count > 1 ? GET_f64(2) : 0,                       \
                     c = count > 2 ? GET_f64(3) : 0;                                       \
        const bool directed = set_rounding(ins);                                           \
        const volatile double va = a, vb = b, vc = c;                                      \
        (void)b, (void)c, (void)vb, (void)vc;                                              \
        const volatile double x = directed ? expr(va, vb, vc) : expr(a, b, c);             \
        reset_rounding(directed);                                                          \
        put(t, ins, 0, of_f64(x));                                                         \
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

FLOAT_F32(add, 2, ADD_)
FLOAT_F32(sub, 2, SUB_)
FLOAT_F32(mul, 2, MUL_)
FLOAT_F32(div, 2, DIV_)
FLOAT_F32(fma, 3, FMAF_)
FLOAT_F32(rcp, 1, RCP_)
FLOAT_F32(sqrt, 1, SQRTF_)
FLOAT_F32(rsqrt, 1, RSQRTF_)
FLOAT_F32(ex2, 1, EX2_)
FLOAT_F32(lg2, 1, LG2_)
FLOAT_F32(sin, 1, SIN_)
FLOAT_F32(cos, 1, COS_)
FLOAT_F32(tanh, 1, TANH_)
FLOAT_F64(add, 2, ADD_)
FLOAT_F64(sub, 2, SUB_)
FLOAT_F64(mul, 2, MUL_)
FLOAT_F64(div, 2, DIV_)
FLOAT_F64(fma, 3, FMA_)
FLOAT_F64(rcp, 1, RCP_)
FLOAT_F64(sqrt, 1, SQRT_)
FLOAT_F64(rsqrt, 1, RSQRT_)

static void neg_f32(struct thread *t, const struct ins *ins) {
    put_f32(t, ins, -get_f32(t, ins, 1));
}
static void neg_f64(struct thread *t, const struct ins *ins) {
    put(t, ins, 0, get(t, ins, 1) ^ UINT64_C(1) << 63);
}
static void abs_f32(struct thread *t, const struct ins *ins) {
    put_f32(t, ins, fabsf(get_f32(t, ins, 1)));
}
static void abs_f64(struct thread *t, const struct ins *ins) {
    put(t, ins, 0, get(t, ins, 1) & ~(UINT64_C(1) << 63));
}

/* -0 is less than +0; a NaN gives the other operand, or a NaN when NaN is asked for. */
static double lesser(double a, double b, bool keeps_nan) {
    if (isnan(a) || isnan(b))
        return keeps_nan || (isnan(a) && isnan(b)) ? NAN : isnan(a) ? b : a;
    if (a == b)
        return signbit(a) ? a : b;
    return a < b ? a : b;
}

static void min_f32(struct thread *t, const struct ins *ins) {
    put_f32(t, ins,
            (float)lesser(get_f32(t, ins, 1), get_f32(t, ins, 2), ins->flags & NAN_OUT));
}
static void max_f32(struct thread *t, const struct ins *ins) {
    put_f32(t, ins,
            (float)-lesser(-get_f32(t, ins, 1), -get_f32(t, ins, 2), ins->flags & NAN_OUT));
}
static void min_f64(struct thread *t, const struct ins *ins) {
    put(t, ins, 0, of_f64(lesser(GET_f64(1), GET_f64(2), false)));
}
static void max_f64(struct thread *t, const struct ins *ins) {
    put(t, ins, 0, of_f64(-lesser(-GET_f64(1), -GET_f64(2), false)));
}

static void copysign_f32(struct thread *t, const struct ins *ins) {
    put(t, ins, 0, of_f32(copysignf(GET_f32(2), GET_f32(1))));
}
static void copysign_f64(struct thread *t, const struct ins *ins) {
    put(t, ins, 0, of_f64(copysign(GET_f64(2), GET_f64(1))));
}

static int class_of(const struct thread *t, const struct ins *ins) {
    return ins->type[0] == T_F64 ? fpclassify(GET_f64(1)) : fpclassify(GET_f32(1));
}
static void is_finite(struct thread *t, const struct ins *ins) {
    put(t, ins, 0, class_of(t, ins) != FP_INFINITE && class_of(t, ins) != FP_NAN);
}
static void is_infinite(struct thread *t, const struct ins *ins) {
    put(t, ins, 0, class_of(t, ins) == FP_INFINITE);
}
static void is_number(struct thread *t, const struct ins *ins) {
    put(t, ins, 0, class_of(t, ins) != FP_NAN);
}
static void is_nan(struct thread *t, const struct ins *ins) {
    put(t, ins, 0, class_of(t, ins) == FP_NAN);
}

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
