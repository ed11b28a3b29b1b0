/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mma.c - mma.sync: small products that a warp computes together. All shapes have one rule
 * for the places of elements (PTX ISA, "Matrix Fragments for mma"). With e elements in a
 * register (1 for tf32 and f64), lane l holds
 *
 *   A, register i    rows l / 4 + 8 (i % 2), k = e (l % 4) + j + 4 e (i / 2)
 *   B, register i    column l / 4,           k = e (l % 4) + j + 4 e i
 *   C, number i      row l / 4 + 8 (i / 2),  column 2 (l % 4) + i % 2
 *
 * When A has 8 rows, its register i is at k = e (l % 4) + j + 4 e i. Products are exact.
 * The sum of an instruction is cut off once (f64: rounded after each product; f16: rounded
 * once). See ptx.h.
 */
#include "tests/ptx/inside.h"

enum { ROWS = 16, COLUMNS = 8, DEPTH = 64 };

static bool is_integer(enum type type) {
    return type == T_S8 || type == T_U8;
}

double element(enum type type, uint64_t reg, unsigned i) {
    switch (type) {
    case T_S8:
        return (int8_t)(reg >> 8 * i);
    case T_U8:
        return (uint8_t)(reg >> 8 * i);
    case T_E4M3:
    case T_E5M2:
        return widen(type, reg >> 8 * i & 255);
    case T_F16:
        return widen(type, reg >> 16 * i & 0xffff);
    case T_BF16:
        return as_f32((reg >> 16 * i & 0xffff) << 16);
    case T_TF32: /* the hardware does not look at the lower 13 bits */
        return as_f32(reg & 0xffffe000);
    case T_F64:
        return as_f64(reg);
    default:
        return as_f32(reg);
    }
}

/* Elements in a register. */
static unsigned packed(enum type type) {
    return type == T_F64 ? 1 : 4 / (unsigned)size_of(type);
}

struct operands {
    double a[ROWS][DEPTH], b[DEPTH][COLUMNS];
};

static void load(struct operands *x, const struct thread *lane, const struct ins *ins) {
    const enum type ta = (enum type)ins->type[1], tb = (enum type)ins->type[2];
    const unsigned first_a = ins->first[1], regs_a = ins->first[2] - first_a,
                   first_b = ins->first[2], regs_b = ins->first[3] - first_b;
    const unsigned ea = packed(ta), eb = packed(tb), high = ins->m == 16;
    for (unsigned l = 0; l < WARP_SIZE; l++) {
        for (unsigned i = 0; i < regs_a; i++)
            for (unsigned j = 0; j < ea; j++)
                x->a[l / 4 + (high ? 8 * (i % 2) : 0)]
                    [ea * (l % 4) + j + 4 * ea * (high ? i / 2 : i)] =
                    element(ta, get(&lane[l], ins, first_a + i), j);
        for (unsigned i = 0; i < regs_b; i++)
            for (unsigned j = 0; j < eb; j++)
                x->b[eb * (l % 4) + j + 4 * eb * i][l / 4] =
                    element(tb, get(&lane[l], ins, first_b + i), j);
    }
}

static double dot(const struct operands *x, const struct ins *ins, unsigned row,
                  unsigned column, double sum) {
    double terms[DEPTH + 1] = {sum};
    for (int k = 0; k < ins->k; k++)
        terms[k + 1] = x->a[row][k] * x->b[k][column];
    if (ins->type[0] == T_F32)
        return tensor_sum(terms, ins->k + 1, kept_bits);
    for (int k = 0; k < ins->k; k++)
        sum = ins->type[0] == T_F64 ? fma(x->a[row][k], x->b[k][column], sum)
                                    : sum + terms[k + 1];
    return sum;
}

static uint64_t integer_sum(const struct ins *ins, uint32_t c, double products) {
    const int64_t sum = (int32_t)c + (int64_t)products;
    if (ins->flags & SATFINITE)
        return (uint32_t)(sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum);
    return (uint32_t)sum;
}

/* Number i of the accumulator of a lane, f16 two in a register. */
static double addend(const struct thread *t, const struct ins *ins, unsigned i) {
    const enum type type = (enum type)ins->type[3];
    const unsigned each = type == T_F16 ? 2 : 1;
    return element(type, get(t, ins, ins->first[3] + i / each), i % each);
}

static void store(struct thread *t, const struct ins *ins, unsigned i, double x) {
    if (ins->type[0] == T_F64) {
        put(t, ins, i, of_f64(x));
    } else if (ins->type[0] == T_F32) {
        put(t, ins, i, of_f32((float)x));
    } else {
        const unsigned shift = 16 * (i % 2);
        const uint64_t keep = i % 2 ? get(t, ins, i / 2) & 0xffff : 0;
        put(t, ins, i / 2, keep | (uint64_t)narrow(T_F16, x, 0) << shift);
    }
}

/* The registers of the three operands hold just the matrices. */
static void check_shape(struct thread *t, const struct ins *ins) {
    const unsigned regs_a = ins->first[2] - ins->first[1],
                   regs_b = ins->first[3] - ins->first[2];
    const bool known =
        ins->types == 4 && ins->n == COLUMNS && ins->k <= DEPTH &&
        (ins->m == 8 || ins->m == 16) && ins->operands == 4 &&
        regs_a * packed((enum type)ins->type[1]) * WARP_SIZE ==
            (unsigned)(ins->m * ins->k) &&
        regs_b * packed((enum type)ins->type[2]) * WARP_SIZE == (unsigned)(ins->n * ins->k);
    if (!known)
        fail(t, ins, PTX_ILLEGAL_INSTRUCTION, "this shape of mma is not known");
}

static void multiply(struct thread *t, const struct ins *ins) {
    struct thread *lane = t->warp->thread;
    const bool whole = is_integer((enum type)ins->type[1]);
    struct operands x;
    if (!gather_warp(t, ins))
        return;
    check_shape(t, ins);
    load(&x, lane, ins);
    for (unsigned l = 0; l < WARP_SIZE; l++) {
        double sum[4]; /* m16n8 has 4 numbers of C in a lane, m8n8 has 2 */
        uint32_t integer[4] = {0};
        for (unsigned i = 0; i < (unsigned)ins->m / 4; i++) {
            const unsigned row = l / 4 + 8 * (i / 2), column = 2 * (l % 4) + i % 2;
            if (whole)
                integer[i] = (uint32_t)get(&lane[l], ins, ins->first[3] + i);
            sum[i] = dot(&x, ins, row, column, whole ? 0 : addend(&lane[l], ins, i));
        }
        for (unsigned i = 0; i < (unsigned)ins->m / 4; i++)
            if (whole)
                put(&lane[l], ins, i, integer_sum(ins, integer[i], sum[i]));
            else
                store(&lane[l], ins, i, sum[i]);
    }
    launch_of(t)->report->tensor_ops += 2u * (unsigned)(ins->m * ins->n * ins->k);
    go_on(t, ins, UINT32_MAX);
}

const struct op mma_ops[] = {
    {"mma.sync.aligned", T_ANY, SATFINITE | ROW | COLUMN, multiply},
    END_OF_ROWS,
};
