/* SPDX-License-Identifier: Apache-2.0 */
/* atomic.c - atom and red. See ptx.h. */
#include "tests/ptx/inside.h"

static uint64_t lesser(enum type type, uint64_t a, uint64_t b) {
    switch (type) {
    case T_S32:
        return (int32_t)a < (int32_t)b ? a : b;
    case T_S64:
        return (int64_t)a < (int64_t)b ? a : b;
    case T_F16:
    case T_BF16:
        return widen(type, (uint32_t)a) < widen(type, (uint32_t)b) ? a : b;
    default:
        return a < b ? a : b;
    }
}

static uint64_t sum_of_pair(enum type type, uint64_t a, uint64_t b) {
    uint64_t out = 0;
    for (unsigned i = 0; i < 32; i += 16) {
        const double x = widen(type, a >> i & 0xffff) + widen(type, b >> i & 0xffff);
        out |= (uint64_t)narrow(type, x, 0) << i;
    }
    return out;
}

static uint64_t sum(enum type type, uint64_t a, uint64_t b) {
    switch (type) {
    case T_F32:
        return of_f32(as_f32(a) + as_f32(b));
    case T_F64:
        return of_f64(as_f64(a) + as_f64(b));
    case T_F16:
    case T_BF16:
        return narrow(type, widen(type, (uint32_t)a) + widen(type, (uint32_t)b), 0);
    case T_F16X2:
    case T_BF16X2:
        return sum_of_pair(type, a, b);
    default:
        return a + b;
    }
}

/* The value in memory afterwards. */
static uint64_t after(enum operation op, enum type type, uint64_t old, uint64_t b,
                      uint64_t c) {
    switch (op) {
    case OP_ADD:
        return sum(type, old, b);
    case OP_MIN:
        return lesser(type, old, b);
    case OP_MAX:
        return lesser(type, old, b) == old ? b : old;
    case OP_AND:
        return old & b;
    case OP_OR:
        return old | b;
    case OP_XOR:
        return old ^ b;
    case OP_EXCH:
        return b;
    case OP_CAS:
        return old == b ? c : old;
    case OP_INC:
        return old >= b ? 0 : old + 1;
    case OP_DEC:
        return old == 0 || old > b ? b : old - 1;
    default:
        return old;
    }
}

void store_reduced(unsigned char *to, const unsigned char *from, enum operation op,
                   enum type type) {
    const size_t bytes = size_of(type);
    uint64_t old = 0, b = 0;
    memcpy(&old, to, bytes);
    memcpy(&b, from, bytes);
    old = after(op, type, old, b, 0);
    memcpy(to, &old, bytes);
}

/* `at`: the operand that is the address. */
static uint64_t change(struct thread *t, const struct ins *ins, unsigned at) {
    const enum type type = (enum type)ins->type[ins->types - 1];
    const size_t bytes = size_of(type);
    unsigned char *where =
        reach(t, ins, (enum space)ins->space[0], address(t, ins, at), bytes, BOTH);
    uint64_t old = 0;
    memcpy(&old, where, bytes);
    const uint64_t b = cut(type, operand(t, ins, at + 1));
    const uint64_t c = ins->operands > at + 2 ? cut(type, operand(t, ins, at + 2)) : 0;
    const uint64_t now = after((enum operation)ins->operation, type, old, b, c);
    memcpy(where, &now, bytes);
    return old;
}

static void atom(struct thread *t, const struct ins *ins) {
    put(t, ins, 0, change(t, ins, 1));
}

static void red(struct thread *t, const struct ins *ins) {
    (void)change(t, ins, 0);
}

const struct op atomic_ops[] = {
    {"atom", T_ANY, MEMORY, atom},
    {"red", T_ANY, MEMORY, red},
    END_OF_ROWS,
};
