/* SPDX-License-Identifier: Apache-2.0 */
/* convert.c - cvt and cvta. See ptx.h. */
#include "tests/ptx/values.h"

static bool is_float(enum type type) {
    return type == T_F16 || type == T_BF16 || type == T_F32 || type == T_F64 ||
           type == T_TF32;
}

/* An integer of a type, in 64 bits with its sign. */
static uint64_t extended(enum type type, uint64_t x) {
    const unsigned spare = 64 - bits_of(type);
    return is_signed(type) ? (uint64_t)((int64_t)(x << spare) >> spare)
                           : x << spare >> spare;
}

static double number(enum type type, uint64_t bits) {
    if (type == T_F64)
        return as_f64(bits);
    return widen(type, (uint32_t)cut(type, bits));
}

/* A number that has become an integer, clipped to the type. */
static uint64_t clipped(enum type type, double x) {
    const int width = (int)bits_of(type);
    const double low = is_signed(type) ? -ldexp(1, width - 1) : 0;
    const double past = ldexp(1, is_signed(type) ? width - 1 : width);
    if (isnan(x))
        return 0;
    if (x < low)
        x = low;
    if (x >= past)
        return is_signed(type) ? (UINT64_C(1) << (width - 1)) - 1
                               : UINT64_MAX >> (64 - width);
    return cut(type, is_signed(type) ? (uint64_t)(int64_t)x : (uint64_t)x);
}

/* An integer that f64 cannot hold is cut to 62 bits, the last one for the bits that are
 * lost: the second rounding is then right. */
static double integer_number(enum type type, uint64_t x) {
    const bool minus = is_signed(type) && (int64_t)x < 0;
    uint64_t size = minus ? 0 - x : x;
    int scale = 0;
    while (size >> 53) {
        size = size >> 1 | (size & 1);
        scale++;
    }
    const double y = ldexp((double)size, scale);
    return minus ? -y : y;
}

static uint64_t stored(enum type type, double x, unsigned flags) {
    if (type == T_F64)
        return of_f64(x);
    if (flags & FTZ && type == T_F32)
        x = flushed(x);
    if (flags & SAT)
        x = saturated(x);
    if (flags & RELU && x < 0)
        x = 0;
    return narrow(type, x, flags);
}

/* 64-bit integers to f64 round once, in the processor. */
static uint64_t integer_to_f64(enum type type, uint64_t x) {
    return of_f64(is_signed(type) ? (double)(int64_t)x : (double)x);
}

static uint64_t clip_integer(enum type to, enum type from, uint64_t x) {
    const int width = (int)bits_of(to);
    const uint64_t most =
        is_signed(to) ? (UINT64_C(1) << (width - 1)) - 1 : UINT64_MAX >> (64 - width);
    const bool minus = is_signed(from) && (int64_t)x < 0;
    if (!minus)
        return x > most ? most : x;
    if (!is_signed(to))
        return 0;
    return (int64_t)x < -(int64_t)most - 1 ? 0 - most - 1 : x;
}

static void cvt(struct thread *t, const struct ins *ins) {
    const enum type to = (enum type)ins->type[0], from = (enum type)ins->type[1];
    const unsigned rounding = RNI | RZI | RMI | RPI;
    const uint64_t bits = get(t, ins, 1);
    uint64_t out;
    if (is_float(from)) {
        double x = number(from, bits);
        if (ins->flags & FTZ && from == T_F32 && fabs(x) < 0x1p-126)
            x = copysign(0, x);
        if (!is_float(to))
            out = clipped(to, to_integer(x, ins->flags));
        else
            out = stored(to, ins->flags & rounding ? to_integer(x, ins->flags) : x,
                         ins->flags);
    } else {
        const uint64_t x = extended(from, bits);
        if (!is_float(to))
            out = cut(to, ins->flags & SAT ? clip_integer(to, from, x) : x);
        else if (to == T_F64)
            out = integer_to_f64(from, x);
        else
            out = stored(to, integer_number(from, x), ins->flags);
    }
    if (!is_float(to) && is_signed(to)) /* registers may be wider than the type */
        out = extended(to, out);
    put(t, ins, 0, out);
}

/* Two f32 to a pair; the first operand becomes the upper half. */
static void cvt_pair(struct thread *t, const struct ins *ins) {
    const enum type to = (enum type)ins->type[0];
    const unsigned width = 4 * (unsigned)size_of(to);
    const uint64_t high = stored(to, GET_f32(1), ins->flags);
    const uint64_t low = stored(to, GET_f32(2), ins->flags);
    put(t, ins, 0, high << width | low);
}

/* A pair of 8-bit floats from or to a pair of f16. */
static void cvt_repack(struct thread *t, const struct ins *ins) {
    const enum type to = (enum type)ins->type[0], from = (enum type)ins->type[1];
    const unsigned width = 4 * (unsigned)size_of(to), had = 4 * (unsigned)size_of(from);
    uint64_t out = 0;
    for (unsigned i = 0; i < 2; i++) {
        const uint64_t half = GET_u32(1) >> had * i & ((1u << had) - 1);
        out |= stored(to, widen(from, (uint32_t)half), ins->flags) << width * i;
    }
    put(t, ins, 0, out);
}

static void cvt_any(struct thread *t, const struct ins *ins) {
    const enum type to = (enum type)ins->type[0], from = (enum type)ins->type[1];
    const bool pair = to == T_F16X2 || to == T_BF16X2 || to == T_E4M3X2 || to == T_E5M2X2;
    if (ins->types != 2)
        fail(t, ins, PTX_ILLEGAL_INSTRUCTION, "a conversion of %d types", ins->types);
    if (pair && from == T_F32)
        cvt_pair(t, ins);
    else if (pair)
        cvt_repack(t, ins);
    else
        cvt(t, ins);
}

static void cvta(struct thread *t, const struct ins *ins) {
    const uint64_t a = address(t, ins, 1);
    const uint64_t window =
        ins->space[0] == SPACE_LOCAL                                      ? LOCAL_WINDOW
        : ins->space[0] == SPACE_SHARED || ins->space[0] == SPACE_CLUSTER ? SHARED_WINDOW
                                                                          : 0;
    put(t, ins, 0, a + window);
}

static void cvta_to(struct thread *t, const struct ins *ins) {
    const uint64_t a = address(t, ins, 1);
    const bool shared = ins->space[0] == SPACE_SHARED || ins->space[0] == SPACE_CLUSTER;
    put(t, ins, 0, shared || ins->space[0] == SPACE_LOCAL ? (uint32_t)a : a);
}

static void isspacep(struct thread *t, const struct ins *ins) {
    const uint64_t a = get(t, ins, 1);
    const enum space is = a & SHARED_WINDOW  ? SPACE_SHARED
                          : a & LOCAL_WINDOW ? SPACE_LOCAL
                                             : SPACE_GLOBAL;
    const enum space asked = (enum space)ins->space[0];
    put(t, ins, 0, is == (asked == SPACE_CLUSTER ? SPACE_SHARED : asked));
}

enum { CVT = ROUND | RNA | RNI | RZI | RMI | RPI | FTZ | SAT | SATFINITE | RELU };

const struct op convert_ops[] = {
    {"cvt", T_ANY, CVT, cvt_any},
    {"cvta", T_ANY, 0, cvta},
    {"cvta.to", T_ANY, 0, cvta_to},
    {"isspacep", T_ANY, 0, isspacep},
    END_OF_ROWS,
};
