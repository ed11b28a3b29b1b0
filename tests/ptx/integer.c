/* SPDX-License-Identifier: Apache-2.0 */
/* integer.c - arithmetic of integers. Signed sums wrap, as unsigned ones. See ptx.h. */
#include "tests/ptx/values.h"

#define SIGN_OF(a) ((a) < 0 ? 1 : 0)

SIGNLESS(DEFINE_2, add, a + b)
SIGNLESS(DEFINE_2, sub, a - b)
SIGNLESS(DEFINE_2, mul_lo, (uint64_t)a *b)
SIGNLESS(DEFINE_3, mad_lo, (uint64_t)a *b + c)
SIGNLESS(DEFINE_1, neg, 0u - a)
EACH_INTEGER(DEFINE_2, min, a < b ? a : b)
EACH_INTEGER(DEFINE_2, max, a > b ? a : b)
/* A division by 0 is undefined; here all bits are set. */
DEFINE_2(div, u16, b ? a / b : 0xffff)
DEFINE_2(div, u32, b ? a / b : UINT32_MAX)
DEFINE_2(div, u64, b ? a / b : UINT64_MAX)
DEFINE_2(div, s16, b ? a / b : -1)
DEFINE_2(div, s32, b ? (int64_t)a / b : -1)
DEFINE_2(div, s64, b == 0 ? -1 : b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b)
DEFINE_2(rem, u16, b ? a % b : a)
DEFINE_2(rem, u32, b ? a % b : a)
DEFINE_2(rem, u64, b ? a % b : a)
DEFINE_2(rem, s16, b ? a % b : a)
DEFINE_2(rem, s32, b ? (int64_t)a % b : a)
DEFINE_2(rem, s64, b == 0 ? a : b == -1 ? 0 : a % b)
DEFINE_1(abs, s16, a < 0 ? 0u - (uint16_t)a : (uint16_t)a)
DEFINE_1(abs, s32, a < 0 ? 0u - (uint32_t)a : (uint32_t)a)
DEFINE_1(abs, s64, a < 0 ? 0u - (uint64_t)a : (uint64_t)a)

/* The upper half of a product. */
static uint64_t high_unsigned(uint64_t a, uint64_t b) {
    const uint64_t al = (uint32_t)a, ah = a >> 32, bl = (uint32_t)b, bh = b >> 32;
    const uint64_t middle = ah * bl + (al * bl >> 32), other = al * bh + (uint32_t)middle;
    return ah * bh + (middle >> 32) + (other >> 32);
}

static uint64_t high_signed(int64_t a, int64_t b) {
    return high_unsigned((uint64_t)a, (uint64_t)b) - (a < 0 ? (uint64_t)b : 0) -
           (b < 0 ? (uint64_t)a : 0);
}

DEFINE_2(mul_hi, u16, (uint32_t)a *b >> 16)
DEFINE_2(mul_hi, s16, a *b >> 16)
DEFINE_2(mul_hi, u32, (uint64_t)a *b >> 32)
DEFINE_2(mul_hi, s32, (int64_t)a *b >> 32)
DEFINE_2(mul_hi, u64, high_unsigned(a, b))
DEFINE_2(mul_hi, s64, high_signed(a, b))
DEFINE_3(mad_hi, u32, ((uint64_t)a * b >> 32) + c)
DEFINE_3(mad_hi, s32, (uint32_t)((int64_t)a *b >> 32) + (uint32_t)c)
DEFINE_3(mad_hi, u64, high_unsigned(a, b) + c)
DEFINE_3(mad_hi, s64, high_signed(a, b) + (uint64_t)c)

/* Products of twice the width. */
#define DEFINE_WIDE(T, wide, bits)                                                         \
    static void mul_wide_##T(struct thread *t, const struct ins *ins) {                    \
        put(t, ins, 0, (bits)((wide)GET_##T(1) * (wide)GET_##T(2)));                       \
    }                                                                                      \
    static void mad_wide_##T(struct thread *t, const struct ins *ins) {                    \
        put(t, ins, 0,                                                                     \
            (bits)((bits)((wide)GET_##T(1) * (wide)GET_##T(2)) + get(t, ins, 3)));         \
    }
DEFINE_WIDE(u16, uint32_t, uint32_t)
DEFINE_WIDE(s16, int32_t, uint32_t)
DEFINE_WIDE(u32, uint64_t, uint64_t)
DEFINE_WIDE(s32, int64_t, uint64_t)

/* Four products of bytes. */
#define DEFINE_DP4A(name, ta, tb)                                                          \
    static void name(struct thread *t, const struct ins *ins) {                            \
        uint32_t sum = GET_u32(3);                                                         \
        for (int i = 0; i < 32; i += 8)                                                    \
            sum += (uint32_t)((int)(ta)(GET_u32(1) >> i) * (int)(tb)(GET_u32(2) >> i));    \
        put(t, ins, 0, sum);                                                               \
    }
DEFINE_DP4A(dp4a_uu, uint8_t, uint8_t)
DEFINE_DP4A(dp4a_ss, int8_t, int8_t)
DEFINE_DP4A(dp4a_us, uint8_t, int8_t)
DEFINE_DP4A(dp4a_su, int8_t, uint8_t)

/* Two products of 16 bits and a byte: the bytes of b from bit `from` on. */
#define DEFINE_DP2A(name, ta, tb, from)                                                    \
    static void name(struct thread *t, const struct ins *ins) {                            \
        const uint32_t a = GET_u32(1), b = GET_u32(2) >> (from);                           \
        put(t, ins, 0,                                                                     \
            GET_u32(3) + (uint32_t)((int)(ta)a * (int)(tb)b) +                             \
                (uint32_t)((int)(ta)(a >> 16) * (int)(tb)(b >> 8)));                       \
    }
DEFINE_DP2A(dp2a_lo_uu, uint16_t, uint8_t, 0)
DEFINE_DP2A(dp2a_lo_ss, int16_t, int8_t, 0)
DEFINE_DP2A(dp2a_hi_uu, uint16_t, uint8_t, 16)
DEFINE_DP2A(dp2a_hi_ss, int16_t, int8_t, 16)

const struct op integer_ops[] = {
    ROWS_SIGNLESS("add", add),
    ROWS_SIGNLESS("sub", sub),
    ROWS_SIGNLESS("mul.lo", mul_lo),
    ROWS_SIGNLESS("mad.lo", mad_lo),
    ROWS_SIGNLESS("neg", neg),
    ROWS_INTEGER("min", min),
    ROWS_INTEGER("max", max),
    ROWS_INTEGER("div", div),
    ROWS_INTEGER("rem", rem),
    ROWS_INTEGER("mul.hi", mul_hi),
    {"abs", T_S16, 0, abs_s16},
    {"abs", T_S32, 0, abs_s32},
    {"abs", T_S64, 0, abs_s64},
    {"mad.hi", T_U32, 0, mad_hi_u32},
    {"mad.hi", T_S32, 0, mad_hi_s32},
    {"mad.hi", T_U64, 0, mad_hi_u64},
    {"mad.hi", T_S64, 0, mad_hi_s64},
    {"mul.wide", T_U16, 0, mul_wide_u16},
    {"mul.wide", T_S16, 0, mul_wide_s16},
    {"mul.wide", T_U32, 0, mul_wide_u32},
    {"mul.wide", T_S32, 0, mul_wide_s32},
    {"mad.wide", T_U16, 0, mad_wide_u16},
    {"mad.wide", T_S16, 0, mad_wide_s16},
    {"mad.wide", T_U32, 0, mad_wide_u32},
    {"mad.wide", T_S32, 0, mad_wide_s32},
    {"dp4a.u32.u32", T_ANY, 0, dp4a_uu},
    {"dp4a.s32.s32", T_ANY, 0, dp4a_ss},
    {"dp4a.u32.s32", T_ANY, 0, dp4a_us},
    {"dp4a.s32.u32", T_ANY, 0, dp4a_su},
    {"dp2a.lo.u32.u32", T_ANY, 0, dp2a_lo_uu},
    {"dp2a.lo.s32.s32", T_ANY, 0, dp2a_lo_ss},
    {"dp2a.hi.u32.u32", T_ANY, 0, dp2a_hi_uu},
    {"dp2a.hi.s32.s32", T_ANY, 0, dp2a_hi_ss},
    END_OF_ROWS,
};
