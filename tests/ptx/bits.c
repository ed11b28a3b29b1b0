/* SPDX-License-Identifier: Apache-2.0 */
/* bits.c - logic, shifts and fields of bits. See ptx.h. */
#include "tests/ptx/values.h"

SIGNLESS(DEFINE_2, and, a &b)
SIGNLESS(DEFINE_2, or, a | b)
SIGNLESS(DEFINE_2, xor, a ^ b)
SIGNLESS(DEFINE_1, not, ~a)
SIGNLESS(DEFINE_1, cnot, a == 0)
DEFINE_2(and, pred, a &&b)
DEFINE_2(or, pred, a || b)
DEFINE_2(xor, pred, a != b)
DEFINE_1(not, pred, !a)

/* The number of places is an unsigned 32-bit number; more than the width shift all out. */
#define DEFINE_SHIFTS(T, S, width)                                                         \
    static void shl_##T(struct thread *t, const struct ins *ins) {                         \
        const uint32_t by = GET_u32(2);                                                    \
        put(t, ins, 0, by < width ? BITS_##T((uint64_t)GET_##T(1) << by) : 0);             \
    }                                                                                      \
    static void shr_##T(struct thread *t, const struct ins *ins) {                         \
        const uint32_t by = GET_u32(2);                                                    \
        put(t, ins, 0, by < width ? BITS_##T(GET_##T(1) >> by) : 0);                       \
    }                                                                                      \
    static void shr_##S(struct thread *t, const struct ins *ins) {                         \
        const uint32_t by = GET_u32(2) < width ? GET_u32(2) : width - 1;                   \
        put(t, ins, 0, BITS_##S(GET_##S(1) >> by));                                        \
    }
DEFINE_SHIFTS(u16, s16, 16)
DEFINE_SHIFTS(u32, s32, 32)
DEFINE_SHIFTS(u64, s64, 64)

static uint32_t funnel_by(const struct thread *t, const struct ins *ins) {
    const uint32_t by = GET_u32(3);
    return ins->flags & WRAP ? by & 31 : by < 32 ? by : 32;
}

static void shf_l(struct thread *t, const struct ins *ins) {
    const uint64_t both = (uint64_t)GET_u32(2) << 32 | GET_u32(1);
    const uint32_t by = funnel_by(t, ins);
    put(t, ins, 0, by == 32 ? GET_u32(1) : (uint32_t)(both << by >> 32));
}

static void shf_r(struct thread *t, const struct ins *ins) {
    const uint64_t both = (uint64_t)GET_u32(2) << 32 | GET_u32(1);
    put(t, ins, 0, (uint32_t)(both >> funnel_by(t, ins)));
}

static void lop3(struct thread *t, const struct ins *ins) {
    const uint32_t a = GET_u32(1), b = GET_u32(2), c = GET_u32(3), table = GET_u32(4);
    uint32_t out = 0;
    for (unsigned i = 0; i < 8; i++)
        if (table >> i & 1)
            out |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
    put(t, ins, 0, out);
}

/* Each of four bytes of the result is one of eight, or its sign. */
static void prmt(struct thread *t, const struct ins *ins) {
    const uint64_t bytes = (uint64_t)GET_u32(2) << 32 | GET_u32(1);
    const uint32_t select = GET_u32(3);
    uint32_t out = 0;
    for (unsigned i = 0; i < 4; i++) {
        const unsigned which = select >> 4 * i & 15;
        uint32_t byte = (uint32_t)(bytes >> 8 * (which & 7)) & 255;
        if (which & 8)
            byte = byte & 128 ? 255 : 0;
        out |= byte << 8 * i;
    }
    put(t, ins, 0, out);
}

/* `length` bits of a from bit `at` on. Past the end there are zeros, or signs. */
static uint64_t field(enum type type, uint64_t a, uint32_t at, uint32_t length) {
    const uint32_t width = bits_of(type);
    const uint32_t last = at + length - 1 < width - 1 ? at + length - 1 : width - 1;
    if (length == 0)
        return 0;
    uint64_t out = at < width ? a >> at & ones(length) : 0;
    if (is_signed(type) && (a >> last & 1)) {
        const uint32_t there = at < width ? width - at : 0;
        out |= ~ones(length < there ? length : there);
    }
    return out & ones(width);
}

static void bfe(struct thread *t, const struct ins *ins) {
    const enum type type = (enum type)ins->type[0];
    put(t, ins, 0,
        field(type, cut(type, get(t, ins, 1)), GET_u32(2) & 255, GET_u32(3) & 255));
}

static void bfi(struct thread *t, const struct ins *ins) {
    const uint32_t at = GET_u32(3) & 255, length = GET_u32(4) & 255;
    const uint64_t mask = at < 64 ? ones(length) << at : 0;
    const uint64_t moved = at < 64 ? get(t, ins, 1) << at : 0;
    put(t, ins, 0, cut((enum type)ins->type[0], (get(t, ins, 2) & ~mask) | (moved & mask)));
}

static uint32_t leading_zeros(uint64_t x, uint32_t width) {
    uint32_t count = 0;
    while (count < width && !(x >> (width - 1 - count) & 1))
        count++;
    return count;
}

static uint32_t population(uint64_t x) {
    uint32_t count = 0;
    for (; x; x &= x - 1)
        count++;
    return count;
}

DEFINE_1(clz, u32, leading_zeros(a, 32))
DEFINE_1(clz, u64, leading_zeros(a, 64))
DEFINE_1(popc, u32, population(a))
DEFINE_1(popc, u64, population(a))

/* The highest bit that differs from the sign; all ones when there is none. */
static void bfind(struct thread *t, const struct ins *ins) {
    const enum type type = (enum type)ins->type[0];
    const uint32_t width = bits_of(type);
    uint64_t a = cut(type, get(t, ins, 1));
    if (is_signed(type) && a >> (width - 1))
        a = cut(type, ~a);
    const uint32_t zeros = leading_zeros(a, width);
    put(t, ins, 0, zeros == width ? UINT32_MAX : width - 1 - zeros);
}

static void brev(struct thread *t, const struct ins *ins) {
    const unsigned width = bits_of((enum type)ins->type[0]);
    uint64_t out = 0;
    for (unsigned i = 0; i < width; i++)
        out |= (get(t, ins, 1) >> i & 1) << (width - 1 - i);
    put(t, ins, 0, out);
}

const struct op bit_ops[] = {
    ROWS_BITS("and", and),
    ROWS_BITS("or", or),
    ROWS_BITS("xor", xor),
    ROWS_BITS("not", not ),
    ROWS_BITS("cnot", cnot),
    {"and", T_PRED, 0, and_pred},
    {"or", T_PRED, 0, or_pred},
    {"xor", T_PRED, 0, xor_pred},
    {"not", T_PRED, 0, not_pred},
    ROWS_BITS("shl", shl),
    ROWS_BITS("shr", shr),
    ROWS_INTEGER("shr", shr),
    {"shf.l", T_B32, WRAP | CLAMP, shf_l},
    {"shf.r", T_B32, WRAP | CLAMP, shf_r},
    {"lop3", T_B32, 0, lop3},
    {"prmt", T_B32, 0, prmt},
    {"bfe", T_U32, 0, bfe},
    {"bfe", T_S32, 0, bfe},
    {"bfe", T_U64, 0, bfe},
    {"bfe", T_S64, 0, bfe},
    {"bfi", T_B32, 0, bfi},
    {"bfi", T_B64, 0, bfi},
    {"clz", T_B32, 0, clz_u32},
    {"clz", T_B64, 0, clz_u64},
    {"popc", T_B32, 0, popc_u32},
    {"popc", T_B64, 0, popc_u64},
    {"bfind", T_U32, 0, bfind},
    {"bfind", T_S32, 0, bfind},
    {"bfind", T_U64, 0, bfind},
    {"bfind", T_S64, 0, bfind},
    {"brev", T_B32, 0, brev},
    {"brev", T_B64, 0, brev},
    END_OF_ROWS,
};
