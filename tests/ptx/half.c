/* SPDX-License-Identifier: Apache-2.0 */
/* half.c - arithmetic of f16 and bf16, alone and in pairs. See ptx.h. */
#include "tests/ptx/values.h"

static double sum(double a, double b, double c) {
    (void)c;
    return a + b;
}
static double difference(double a, double b, double c) {
    (void)c;
    return a - b;
}
static double product(double a, double b, double c) {
    (void)c;
    return a * b;
}
static double lesser(double a, double b, double c) {
    (void)c;
    return isnan(a) ? b : isnan(b) ? a : a < b ? a : b;
}
static double greater(double a, double b, double c) {
    (void)c;
    return isnan(a) ? b : isnan(b) ? a : a > b ? a : b;
}
static double negated(double a, double b, double c) {
    (void)b, (void)c;
    return -a;
}
static double absolute(double a, double b, double c) {
    (void)b, (void)c;
    return fabs(a);
}
static double exponential(double a, double b, double c) {
    (void)b, (void)c;
    return exp2(a);
}
static double tangent(double a, double b, double c) {
    (void)b, (void)c;
    return tanh(a);
}

/* Once for each half of a pair. */
static void apply(struct thread *t, const struct ins *ins,
                  double (*how)(double, double, double)) {
    const enum type type = (enum type)ins->type[0];
    const unsigned halves = size_of(type) == 4 ? 2 : 1;
    uint32_t out = 0;
    for (unsigned i = 0; i < halves; i++) {
        double x[3] = {0, 0, 0};
        for (unsigned j = 1; j < ins->args && j < 4; j++)
            x[j - 1] = widen(type, GET_u32(j) >> 16 * i & 0xffff);
        double y = how(x[0], x[1], x[2]);
        if (ins->flags & SAT)
            y = saturated(y);
        if (ins->flags & RELU && !(y > 0))
            y = 0;
        out |= narrow(type, y, 0) << 16 * i;
    }
    put(t, ins, 0, out);
}

#define ACTION(name, how)                                                                  \
    static void name(struct thread *t, const struct ins *ins) {                            \
        apply(t, ins, how);                                                                \
    }
ACTION(add, sum)
ACTION(sub, difference)
ACTION(mul, product)
ACTION(multiply_add, fma)
ACTION(min, lesser)
ACTION(max, greater)
ACTION(neg, negated)
ACTION(abs_, absolute)
ACTION(ex2, exponential)
ACTION(tanh_, tangent)

enum { SUM = RN | FTZ | SAT | RELU | MEMORY, ONE = FTZ | APPROX };

#define ROWS(text, allowed, name)                                                          \
    {text, T_F16, allowed, name}, {text, T_F16X2, allowed, name},                          \
        {text, T_BF16, allowed, name}, {                                                   \
        text, T_BF16X2, allowed, name                                                      \
    }

const struct op half_ops[] = {
    ROWS("add", SUM, add), ROWS("sub", SUM, sub),
    ROWS("mul", SUM, mul), ROWS("fma", SUM, multiply_add),
    ROWS("min", FTZ, min), ROWS("max", FTZ, max),
    ROWS("neg", FTZ, neg), ROWS("abs", FTZ, abs_),
    ROWS("ex2", ONE, ex2), ROWS("tanh", ONE, tanh_),
    END_OF_ROWS,
};
