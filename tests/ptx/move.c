/* SPDX-License-Identifier: Apache-2.0 */
/* move.c - mov, comparisons and selections. See ptx.h. */
#include "tests/ptx/values.h"

/* ---- mov ---- */

/* Registers, symbols, numbers; vectors to a wider register and back. The operands of an
 * address have an offset. */
static void mov(struct thread *t, const struct ins *ins) {
    const unsigned outs = ins->first[1], inputs = ins->args - outs;
    const unsigned bits = bits_of((enum type)ins->type[0]);
    if (inputs == 1 && outs == 1) {
        put(t, ins, 0, address(t, ins, 1));
        return;
    }
    uint64_t whole = 0;
    for (unsigned i = 0; i < inputs; i++) {
        const unsigned each = bits / inputs;
        whole |= (get(t, ins, outs + i) & ones(each)) << each * i;
    }
    for (unsigned i = 0; i < outs; i++) {
        const unsigned each = bits / outs;
        put(t, ins, i, whole >> each * i & ones(each));
    }
}

static void mov_narrow(struct thread *t, const struct ins *ins) {
    mov(t, ins);
    if (ins->first[1] == 1)
        put(t, ins, 0, cut((enum type)ins->type[0], get(t, ins, 0)));
}

static void mov_pred(struct thread *t, const struct ins *ins) {
    put(t, ins, 0, predicate(t, ins, 1));
}

/* ---- comparisons ---- */

#define COMPARED(a, b)                                                                     \
    const int how = (a) < (b) ? -1 : (a) > (b);                                            \
    switch (ins->compare) {                                                                \
    case EQ:                                                                               \
        return how == 0;                                                                   \
    case NE:                                                                               \
        return how != 0;                                                                   \
    case LT:                                                                               \
        return how < 0;                                                                    \
    case LE:                                                                               \
        return how <= 0;                                                                   \
    case GT:                                                                               \
        return how > 0;                                                                    \
    default:                                                                               \
        return how >= 0;                                                                   \
    }

static bool compare_unsigned(const struct ins *ins, uint64_t a, uint64_t b) {
    COMPARED(a, b)
}
static bool compare_signed(const struct ins *ins, int64_t a, int64_t b) {
    COMPARED(a, b)
}

/* With a NaN the comparisons that end in u are true, and the others false. */
static bool compare_floats(const struct ins *ins, double a, double b) {
    struct ins ordered = {.compare = ins->compare};
    const bool is_nan = isnan(a) || isnan(b);
    if (ins->compare == NUM || ins->compare == NOT_A_NUMBER)
        return is_nan == (ins->compare == NOT_A_NUMBER);
    if (is_nan)
        return ins->compare >= EQU;
    if (ins->compare >= EQU)
        ordered.compare = (uint8_t)(ins->compare - EQU + EQ);
    ins = &ordered;
    COMPARED(a, b)
}

/* An operand of f32. */
static double number_f32(const struct ins *ins, uint64_t bits) {
    const double x = as_f32(bits);
    return ins->flags & FTZ ? flushed(x) : x;
}

static bool compared(const struct thread *t, const struct ins *ins, enum type type,
                     unsigned i) {
    const uint64_t a = operand(t, ins, i), b = operand(t, ins, i + 1);
    switch (type) {
    case T_B16:
    case T_U16:
        return compare_unsigned(ins, (uint16_t)a, (uint16_t)b);
    case T_B32:
    case T_U32:
        return compare_unsigned(ins, (uint32_t)a, (uint32_t)b);
    case T_B64:
    case T_U64:
        return compare_unsigned(ins, a, b);
    case T_S16:
        return compare_signed(ins, (int16_t)a, (int16_t)b);
    case T_S32:
        return compare_signed(ins, (int32_t)a, (int32_t)b);
    case T_S64:
        return compare_signed(ins, (int64_t)a, (int64_t)b);
    case T_F64:
        return compare_floats(ins, as_f64(a), as_f64(b));
    case T_F32:
        return compare_floats(ins, number_f32(ins, a), number_f32(ins, b));
    default:
        return compare_floats(ins, widen(type, (uint32_t)a & 0xffff),
                              widen(type, (uint32_t)b & 0xffff));
    }
}

static bool combined(const struct ins *ins, bool a, bool b) {
    return ins->operation == OP_AND   ? a && b
           : ins->operation == OP_OR  ? a || b
           : ins->operation == OP_XOR ? a != b
                                      : a;
}

/* "setp.lt.and.s32 p|q, a, b, c": p = a < b and c, q = !(a < b) and c. */
static void setp(struct thread *t, const struct ins *ins) {
    const bool is = compared(t, ins, (enum type)ins->type[0], 1);
    const bool other = ins->operation != OP_NONE && predicate(t, ins, 3);
    put(t, ins, 0, combined(ins, is, other));
    if (ins->first[1] == 2)
        put(t, ins, 1, combined(ins, !is, other));
}

/* "set.lt.u32.f32 d, a, b": all ones or 0; 1.0 or 0 in f32. */
static void set(struct thread *t, const struct ins *ins) {
    bool is = compared(t, ins, (enum type)ins->type[1], 1);
    if (ins->operation != OP_NONE)
        is = combined(ins, is, predicate(t, ins, 3));
    put(t, ins, 0, !is ? 0 : ins->type[0] == T_F32 ? of_f32(1) : UINT32_MAX);
}

static void selp(struct thread *t, const struct ins *ins) {
    put(t, ins, 0, predicate(t, ins, 3) ? get(t, ins, 1) : get(t, ins, 2));
}

static void slct(struct thread *t, const struct ins *ins) {
    const bool first = ins->type[1] == T_F32 ? GET_f32(3) >= 0 : GET_s32(3) >= 0;
    put(t, ins, 0, first ? get(t, ins, 1) : get(t, ins, 2));
}

const struct op move_ops[] = {
    {"mov", T_B32, 0, mov},
    {"mov", T_U32, 0, mov},
    {"mov", T_S32, 0, mov},
    {"mov", T_F32, 0, mov},
    {"mov", T_B64, 0, mov},
    {"mov", T_U64, 0, mov},
    {"mov", T_S64, 0, mov},
    {"mov", T_F64, 0, mov},
    {"mov", T_B16, 0, mov_narrow},
    {"mov", T_U16, 0, mov_narrow},
    {"mov", T_S16, 0, mov_narrow},
    {"mov", T_PRED, 0, mov_pred},
    {"setp", T_ANY, FTZ, setp},
    {"set", T_ANY, FTZ, set},
    {"selp", T_ANY, 0, selp},
    {"slct", T_ANY, FTZ, slct},
    END_OF_ROWS,
};
