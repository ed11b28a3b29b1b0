/* SPDX-License-Identifier: Apache-2.0 */
/* test_epilogue_kernel.c - the ranges of epilogues hold every kernel that is as wrong as it
 * may be: one that makes each allowed error at random. */
#include "core/epilogue/epilogue_range.h"

#include "core/element.h"
#include "core/epilogue/epilogue_op.h"
#include "tests/unit/epilogues.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define F32  GEMMTUNE_F32
#define F64  GEMMTUNE_F64
#define BF16 GEMMTUNE_BF16
#define I32  GEMMTUNE_I32

#ifndef GT_ROUNDS
#define GT_ROUNDS 20000
#endif

/* A kernel at one element. */
struct kernel {
    const struct gt_epilogue *e;
    struct gt_epi_values values;
    struct gt_arithmetic arithmetic;
    uint64_t seed;
    long double acc;
    bool once; /* integers stay exact until a store or a cast rounds them */
    long double statement[2][GT_EPILOGUE_STATEMENTS_MAX]; /* without and with `once` */
};

static long double kernel_node(struct kernel *k, int at);

/* From -1 to 1; the ends often. */
static long double error(struct kernel *k) {
    const unsigned kind = draw(&k->seed, 4);
    return kind == 0   ? 1
           : kind == 1 ? -1
                       : (long double)draw(&k->seed, 2000001) / 1000000 - 1;
}

/* A kernel's result for the exact result r. Its error is at most u relative |r|. */
static long double inexact(struct kernel *k, long double r, double relative,
                           double absolute) {
    const struct gt_arithmetic *a = &k->arithmetic;
    const long double y =
        isfinite(r) ? r + error(k) * (relative * a->unit * fabsl(r) + absolute) : r;
    if (fabsl(y) < a->least && draw(&k->seed, 2) == 0)
        return 0;
    if (fabsl(y) > a->most)
        return y > 0 ? INFINITY : -INFINITY;
    return y;
}

static long double wrap(long double value) {
    const long double size = 4294967296.0L;
    const long double turned = value - size * floorl(value / size);
    return turned > INT32_MAX ? turned - size : turned;
}

static long double to_type(long double x, gemmtune_dtype type, bool saturate) {
    struct gt_arithmetic a = gt_arithmetic_of(type);
    if (!gt_type_is_float(type)) {
        const long double most = gt_type_exact(type);
        return isnan(x) ? 0 : fminl(fmaxl(nearbyintl(x), -most - 1), most);
    }
    if (saturate && fabsl(x) > a.most)
        x = x > 0 ? a.most : -a.most;
    /* Two roundings: let no number lie between two elements of double. */
    return gt_element_round(type, (double)x);
}

/* A number that becomes a real. */
static long double converted(struct kernel *k, long double x) {
    const double element = gt_element_round(gt_epilogue_real(k->e), (double)x);
    return inexact(k, x, element == x ? 0 : 1, 0);
}

static bool is_real(const struct kernel *k, int at) {
    return k->e->node[at].kind == GT_EPI_REAL;
}

static long double as_real(struct kernel *k, const struct gt_epi_node *node, int i) {
    const long double x = kernel_node(k, node->arg[i]);
    const bool converts = !is_real(k, node->arg[i]) && node->kind == GT_EPI_REAL;
    return converts && !k->once ? converted(k, x) : x;
}

static long double loaded(struct kernel *k, double value, bool real) {
    return real ? converted(k, value) : (long double)value;
}

/* alpha acc + beta c, with or without fused operations. */
static long double kernel_x(struct kernel *k, bool real) {
    const struct gt_epi_values *v = &k->values;
    const bool int_sums = !gt_type_is_float((gemmtune_dtype)k->e->type_acc);
    const bool fuse = real && !int_sums && draw(&k->seed, 2) == 0;
    long double left = v->alpha * k->acc;
    left = int_sums ? wrap(left) : fuse ? left : inexact(k, left, 1, 0);
    if (int_sums && real && !(k->once && v->beta == 0))
        left = converted(k, left);
    if (v->beta == 0)
        return fuse ? inexact(k, left, 1, 0) : left;
    const long double right = (long double)v->beta * v->c;
    if (!real)
        return wrap(left + wrap(right));
    return inexact(k, left + (fuse ? right : inexact(k, right, 1, 0)), 1, 0);
}

static long double kernel_leaf(struct kernel *k, const struct gt_epi_node *node) {
    const bool real = node->kind == GT_EPI_REAL;
    switch (node->op) {
    case GT_EPI_NUMBER:
        return loaded(k, node->number, real);
    case GT_EPI_OPERAND:
        return loaded(k, k->values.operand[node->arg[0]], real);
    case GT_EPI_LOCAL:
        return k->statement[k->once][node->arg[0]];
    case GT_EPI_X:
        return kernel_x(k, real);
    case GT_EPI_ACC:
        return !real                                              ? k->acc
               : gt_type_is_float((gemmtune_dtype)k->e->type_acc) ? inexact(k, k->acc, 0, 0)
                                                                  : converted(k, k->acc);
    case GT_EPI_C:
        return loaded(k, k->values.c, real);
    case GT_EPI_ALPHA:
        return loaded(k, k->values.alpha, real);
    default:
        return loaded(k, k->values.beta, real);
    }
}

/* The functions by the formulas of a kernel's prelude: each step has its own error. */
static long double kernel_function(struct kernel *k, int op, long double t) {
    long double z;
    switch (op) {
    case GT_EPI_EXP:
        return inexact(k, expl(t), 6, 0);
    case GT_EPI_LOG:
        return inexact(k, logl(t), 6, 0);
    case GT_EPI_TANH:
        return inexact(k, tanhl(t), 10, 0);
    case GT_EPI_ERF:
        return inexact(k, erfl(t), 32, 0);
    case GT_EPI_SQRT:
        return inexact(k, sqrtl(t), 6, 0);
    case GT_EPI_SIGMOID:
    case GT_EPI_SILU:
        /* Brief: the exponent of 2 is rounded, and so is its factor. */
        z = inexact(k, expl(-t),
                    gt_epilogue_is_brief(k->e) ? 4 + 1.22 * fmin(fabs((double)t), 89) : 6,
                    0);
        z = inexact(k, 1 + z, 1, 0);
        return inexact(k, (op == GT_EPI_SILU ? t : 1) / z, 5, 0);
    case GT_EPI_GELU:
        z = erfcl(t * -0.70710678118654752440L) / 2;
        if (gt_epilogue_real(k->e) == F32) /* the distribution is off by 3.1e-8 */
            return inexact(k, t * inexact(k, z + error(k) * fminl(3.1e-8L, z), 13, 0), 1,
                           0);
        z = inexact(k, t * -0.70710678118654752440L, 2, 0);
        return inexact(k, 0.5L * t * inexact(k, erfcl(z), 32, 0), 1, 0);
    default:
        z = inexact(k, t * t, 1, 0);
        z = inexact(k,
                    inexact(k, 0.0713548162726002488L * z, 1, 0) + 1.59576912160573071176L,
                    2, 0);
        z = inexact(k, expl(-inexact(k, t * z, 3, 0)), 6, 0);
        return inexact(k, t * inexact(k, 1 / inexact(k, 1 + z, 1, 0), 5, 0), 1, 0);
    }
}

static bool compared(int op, long double x, long double y) {
    return op == GT_EPI_LT   ? x < y
           : op == GT_EPI_LE ? x <= y
           : op == GT_EPI_GT ? x > y
           : op == GT_EPI_GE ? x >= y
           : op == GT_EPI_EQ ? x == y
                             : x != y;
}

/* NaN when one of them is NaN. */
static long double smaller(long double x, long double y) {
    return isnan(x) || x < y ? x : y;
}

/* A factor of a sum: a product that is fused with it is not rounded. */
static long double summand(struct kernel *k, const struct gt_epi_node *node, int i,
                           bool fuse) {
    const struct gt_epi_node *factor = &k->e->node[node->arg[i]];
    if (!fuse || factor->op != GT_EPI_MUL || factor->kind != GT_EPI_REAL)
        return as_real(k, node, i);
    const long double x = as_real(k, factor, 0);
    return x * as_real(k, factor, 1);
}

static long double kernel_sum(struct kernel *k, const struct gt_epi_node *node) {
    const bool real = node->kind == GT_EPI_REAL;
    const unsigned fuse = real ? draw(&k->seed, 3) : 2;
    const long double x = summand(k, node, 0, fuse == 0),
                      y = summand(k, node, 1, fuse == 1);
    const long double sum = node->op == GT_EPI_ADD ? x + y : x - y;
    return real ? inexact(k, sum, 1, 0) : wrap(sum);
}

static long double kernel_cast(struct kernel *k, const struct gt_epi_node *node) {
    const gemmtune_dtype type = (gemmtune_dtype)node->arg[1];
    const bool once = k->once;
    k->once = gt_epilogue_casts_once(k->e, node);
    const long double x =
        gt_type_is_float(type) ? as_real(k, node, 0) : kernel_node(k, node->arg[0]);
    k->once = once;
    const long double y = to_type(x, type, true);
    return node->kind == GT_EPI_REAL && !gt_type_is_float(type) ? converted(k, y) : y;
}

static long double kernel_operation(struct kernel *k, const struct gt_epi_node *node) {
    const bool real = node->kind == GT_EPI_REAL;
    const long double x = as_real(k, node, 0);
    switch (node->op) {
    case GT_EPI_MUL:
        return real ? inexact(k, x * as_real(k, node, 1), 1, 0)
                    : wrap(x * as_real(k, node, 1));
    case GT_EPI_DIV:
        return inexact(k, x / as_real(k, node, 1), 5, 0);
    case GT_EPI_NEGATE:
        return real ? -x : wrap(-x);
    case GT_EPI_MIN:
        return smaller(x, as_real(k, node, 1));
    case GT_EPI_MAX:
        return -smaller(-x, -as_real(k, node, 1));
    case GT_EPI_ABS:
        return real ? fabsl(x) : wrap(fabsl(x));
    case GT_EPI_RELU:
        return -smaller(-x, -0.0L);
    default:
        return kernel_function(k, node->op, x);
    }
}

static long double kernel_select(struct kernel *k, const struct gt_epi_node *node) {
    const struct gt_epi_node *test = &k->e->node[node->arg[0]];
    struct gt_epi_node as = *test;
    as.kind =
        is_real(k, test->arg[0]) || is_real(k, test->arg[1]) ? GT_EPI_REAL : GT_EPI_INT;
    const long double x = as_real(k, &as, 0), y = as_real(k, &as, 1);
    return as_real(k, node, compared(test->op, x, y) ? 1 : 2);
}

static long double kernel_node(struct kernel *k, int at) {
    const struct gt_epi_node *node = &k->e->node[at];
    if (gt_epi_ops[node->op].args == 0)
        return kernel_leaf(k, node);
    if (node->op == GT_EPI_CAST)
        return kernel_cast(k, node);
    if (node->op == GT_EPI_SELECT)
        return kernel_select(k, node);
    if (node->op == GT_EPI_ADD || node->op == GT_EPI_SUB)
        return kernel_sum(k, node);
    return kernel_operation(k, node);
}

static bool is_within(struct gt_range range, double stored) {
    return isnan(stored) ? range.nan : range.low <= stored && stored <= range.high;
}

static double random_number(uint64_t *seed, gemmtune_dtype type) {
    static const double sizes[] = {0, 1e-3, 1, 1, 1, 10, 100, 1e30, 1e-42, 1e-20};
    const double size = sizes[draw(seed, 10)];
    const double value = size * ((double)draw(seed, 2000001) / 1000000 - 1);
    return gt_type_is_float(type) ? gt_element_round(type, value)
                                  : (double)draw(seed, 255) - 127;
}

static struct gt_epi_values random_values(double operand[], const struct gt_epilogue *e,
                                          uint64_t *seed) {
    const gemmtune_dtype acc = (gemmtune_dtype)e->type_acc;
    struct gt_epi_values v = {.operand = operand};
    v.acc = random_number(seed, acc) * (gt_type_is_float(acc) ? 1 : 1 << draw(seed, 24));
    v.acc_error = gt_type_is_float(acc) ? fabs(v.acc) * 1e-6 * draw(seed, 3) : 0;
    v.c = random_number(seed, (gemmtune_dtype)e->type_c);
    v.alpha = random_number(seed, acc);
    v.beta = draw(seed, 2) == 0 ? 0 : random_number(seed, acc);
    for (int i = 0; i < e->operands; i++)
        operand[i] = random_number(seed, (gemmtune_dtype)e->operand[i].type);
    return v;
}

/* Computes the statements; where integers are kept, as they are rounded once as well. */
static void run_kernel(struct kernel *k) {
    k->acc = k->values.acc + error(k) * k->values.acc_error;
    for (int i = 0; i < k->e->statements; i++)
        for (int once = 0; once < 2; once++) {
            const int root = k->e->statement[i].root;
            k->once = once && gt_epilogue_has_once(k->e) && gt_epilogue_keeps(k->e, root);
            k->statement[once][i] = kernel_node(k, root);
        }
}

/* One kernel's element beside the range. Returns whether the range is narrow. */
static bool try_kernel(const struct gt_epilogue *e, uint64_t *seed, const char *text) {
    double operand[GT_EPILOGUE_OPERANDS_MAX];
    struct gt_epi_result out[2];
    struct kernel k = {.e = e, .arithmetic = gt_arithmetic_of(gt_epilogue_real(e))};
    bool narrow = false;
    k.values = random_values(operand, e, seed);
    k.seed = *seed;
    gt_epilogue_eval(out, e, &k.values);
    for (int again = 0; again < 8; again++) {
        const int32_t output[] = {e->d, e->d2}, type[] = {e->type_c, e->type_d2};
        run_kernel(&k);
        for (int i = 0; i < 2 && output[i] >= 0; i++) {
            const double element =
                (double)to_type(k.statement[gt_epilogue_rounds_once(e, i == 1)][output[i]],
                                (gemmtune_dtype)type[i], false);
            const struct gt_range range = out[i].store;
            narrow = narrow || range.high - range.low <= 1e-2 * fabs(range.high);
            if (!is_within(range, element))
                fail_msg(
                    "%s: acc %.17g c %g alpha %g beta %g operands %g %g %g %g gives %.17g, "
                    "not [%.17g, %.17g]%s",
                    text, k.values.acc, k.values.c, k.values.alpha, k.values.beta,
                    operand[0], operand[1], operand[2], operand[3], element, range.low,
                    range.high, range.nan ? " or NaN" : "");
        }
    }
    *seed = k.seed;
    return narrow;
}

static void test_ranges_hold_every_kernel(void **state) {
    static const gemmtune_dtype types[][2] = {
        {F32, F32}, {BF16, F32}, {F64, F64}, {I32, I32}, {BF16, I32}, {GEMMTUNE_E4M3, F32}};
    struct random_text r = {.seed = 11};
    int tried = 0, narrow = 0;
    (void)state;
    for (int round = 0; round < GT_ROUNDS; round++) {
        const gemmtune_dtype *type = types[round % 6];
        struct gt_epilogue e;
        write_random_epilogue(&r, 1 + round % 4);
        if (gt_epilogue_parse(&e, r.text, type[0], type[1], NULL) != GEMMTUNE_OK)
            continue;
        for (int i = 0; i < 4; i++, tried++)
            narrow += try_kernel(&e, &r.seed, r.text);
    }
    assert_true(tried > GT_ROUNDS);
    assert_true(narrow > tried / 4);
}

/* ---- blocks ---- */

static bool same_number(double x, double y) {
    return (isnan(x) && isnan(y)) || (x >= y && x <= y);
}

/* Element i of a block has the range that it has alone. */
static void compare_element(const struct gt_epilogue *e, const struct gt_epi_block *block,
                            const struct gt_epi_ranges found[2], int i, const char *text) {
    double operand[GT_EPILOGUE_OPERANDS_MAX];
    struct gt_epi_result alone[2];
    for (int k = 0; k < e->operands; k++)
        operand[k] = block->operand[k][i];
    const struct gt_epi_values values = {.acc = block->acc[i],
                                         .acc_error = block->acc_error[i],
                                         .c = block->c[i],
                                         .alpha = block->alpha,
                                         .beta = block->beta,
                                         .operand = operand};
    gt_epilogue_eval(alone, e, &values);
    for (int k = 0; k < (e->d2 >= 0 ? 2 : 1); k++) {
        const struct gt_range one = alone[k].store;
        if (!same_number(found[k].low[i], one.low) ||
            !same_number(found[k].high[i], one.high) || (found[k].nan[i] > 0) != one.nan)
            fail_msg("%s: element %d of a block has [%.17g, %.17g], alone [%.17g, %.17g]",
                     text, i, found[k].low[i], found[k].high[i], one.low, one.high);
    }
}

static void test_a_block_has_the_ranges_of_its_elements(void **state) {
    static const gemmtune_dtype types[][2] = {
        {F32, F32}, {BF16, F32}, {F64, F64}, {I32, I32}, {BF16, I32}, {GEMMTUNE_E4M3, F32}};
    struct random_text r = {.seed = 5};
    int compared_elements = 0;
    (void)state;
    for (int round = 0; round < 300; round++) {
        struct gt_epilogue e;
        struct gt_epi_block block;
        struct gt_epi_ranges found[2];
        const gemmtune_dtype *type = types[round % 6];
        const int count = 1 + round % GT_EPI_BLOCK;
        write_random_epilogue(&r, 1 + round % 4);
        if (gt_epilogue_parse(&e, r.text, type[0], type[1], NULL) != GEMMTUNE_OK)
            continue;
        for (int i = 0; i < count; i++) {
            double operand[GT_EPILOGUE_OPERANDS_MAX];
            const struct gt_epi_values v = random_values(operand, &e, &r.seed);
            block.alpha = v.alpha; /* the last element's serve all */
            block.beta = v.beta;
            block.acc[i] = v.acc;
            block.acc_error[i] = v.acc_error;
            block.c[i] = v.c;
            for (int k = 0; k < e.operands; k++)
                block.operand[k][i] = operand[k];
        }
        gt_epilogue_ranges(found, &e, &block, count);
        for (int i = 0; i < count; i++, compared_elements++)
            compare_element(&e, &block, found, i, r.text);
    }
    assert_true(compared_elements > 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranges_hold_every_kernel),
        cmocka_unit_test(test_a_block_has_the_ranges_of_its_elements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
