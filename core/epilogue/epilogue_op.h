/* SPDX-License-Identifier: Apache-2.0 */
/* epilogue_op.h - the operations of epilogues: their words, operands and accuracy. */
#ifndef GT_CORE_EPILOGUE_EPILOGUE_OP_H
#define GT_CORE_EPILOGUE_EPILOGUE_OP_H

#include <stddef.h>

enum gt_epi_op_id {
    GT_EPI_NUMBER,
    GT_EPI_OPERAND,
    GT_EPI_LOCAL, /* the value of an earlier statement */
    GT_EPI_CAST,
    GT_EPI_X, /* alpha acc + beta c; c is not read when beta is 0 */
    GT_EPI_ACC,
    GT_EPI_C,
    GT_EPI_ALPHA,
    GT_EPI_BETA,
    GT_EPI_SELECT,
    GT_EPI_LE, /* "<=" stands before "<", as the parser looks for it */
    GT_EPI_GE,
    GT_EPI_EQ,
    GT_EPI_NE,
    GT_EPI_LT,
    GT_EPI_GT,
    GT_EPI_ADD,
    GT_EPI_SUB,
    GT_EPI_MUL,
    GT_EPI_DIV,
    GT_EPI_NEGATE,
    GT_EPI_MIN,
    GT_EPI_MAX,
    GT_EPI_ABS,
    GT_EPI_RELU,
    GT_EPI_EXP,
    GT_EPI_LOG,
    GT_EPI_TANH,
    GT_EPI_ERF,
    GT_EPI_SQRT,
    GT_EPI_SIGMOID,
    GT_EPI_GELU,
    GT_EPI_GELU_TANH,
    GT_EPI_SILU,
    GT_EPI_OPS
};

/* The kind of a result. */
enum gt_epi_rule {
    GT_EPI_IS_LEAF,       /* follows from the leaf */
    GT_EPI_IS_TRUTH,      /* operands are numbers */
    GT_EPI_IS_ARITHMETIC, /* INT when all operands are, else REAL */
    GT_EPI_IS_REAL,
};

/* How tightly operators bind. */
enum gt_epi_level {
    GT_EPI_LOOSE = 1, /* ?: */
    GT_EPI_COMPARES,
    GT_EPI_ADDS,
    GT_EPI_MULTIPLIES,
    GT_EPI_SIGNS,
    GT_EPI_TIGHT /* names, numbers and calls */
};

/*
 * A kernel's result y of an operation on operands that the kernel has, beside the exact
 * result r of the same operands:
 *     |y - r| <= u relative |r| + min(u of_operand |t|, tail |r|) + tiny least
 * u is the unit roundoff of the arithmetic, t the operand, least the smallest normal
 * number. `tail` ends what an error of the operand's size allows where r goes to 0.
 * An operation that returns one of its operands has no error. The figures allow
 * what OpenCL 1.2 allows (division 2.5 ulp, exp, log and sqrt 3, tanh 5, erf 16); one ulp
 * is at most 2 u |r|. The errors of sigmoid, gelu and silu follow from their formulas:
 *     sigmoid  1 / (1 + exp(-t))
 *     silu     t / (1 + exp(-t)); below -88 (f64: -709) exp overflows and the result is -0
 *     gelu     t / 2 erfc(-t / sqrt 2) in f64. In f32 a distribution that is off by
 *              3.1e-8, and farther out by its own size at most, times t
 *     gelu_tanh t / (1 + exp(-2 z)), z = sqrt(2 / pi) (t + 0.044715 t^3). The error of 2 z
 *              is 7 u |2 z|, so 620 u of the result before exp overflows
 * Of minus infinity silu, gelu and gelu_tanh are -0, their limit, or NaN, as minus infinity
 * times 0 is.
 * A kernel with outputs of 16 bits or fewer (gt_epilogue_is_brief) may lose `brief`
 * instead of `relative`. Its sigmoid and silu compute exp(-t) as 2^(t log2(1/e)). The
 * exponent, at most 128, is rounded to f32, which is 2^-17 of the result.
 */
struct gt_epi_op {
    const char *text;    /* the operator or function, NULL for other leaves */
    const char *integer; /* the end of the name of its function on INT numbers, or NULL */
    int args;
    enum gt_epi_level level;
    enum gt_epi_rule rule;
    double relative, of_operand, tail, tiny;
    double brief; /* 0: as `relative` */
};
extern const struct gt_epi_op gt_epi_ops[GT_EPI_OPS];

/* The leaf or function of this name, or GT_EPI_OPS. */
enum gt_epi_op_id gt_epi_op_named(const char *name, size_t len);

#endif
