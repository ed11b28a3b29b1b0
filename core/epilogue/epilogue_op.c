/* SPDX-License-Identifier: Apache-2.0 */
/* epilogue_op.c - the table of operations, the table of shorthands, and properties of a
 * tree. */
#include "core/epilogue/epilogue_op.h"

#include "core/epilogue/epilogue.h"

#include <string.h>

#define LEAF    GT_EPI_IS_LEAF
#define TRUTH   GT_EPI_IS_TRUTH
#define ARITH   GT_EPI_IS_ARITHMETIC
#define REAL    GT_EPI_IS_REAL
#define COMPARE GT_EPI_COMPARES
#define ADD     GT_EPI_ADDS
#define MUL     GT_EPI_MULTIPLIES
#define SIGN    GT_EPI_SIGNS
#define TIGHT   GT_EPI_TIGHT

/* clang-format off */
const struct gt_epi_op gt_epi_ops[GT_EPI_OPS] = {
    /*                    text         integer args level      rule relative of_operand
     *                    tail tiny brief */
    [GT_EPI_NUMBER]    = {NULL,        NULL,    0, TIGHT,        LEAF,  1, 0, 0, 0, 0},
    [GT_EPI_OPERAND]   = {NULL,        NULL,    0, TIGHT,        LEAF,  1, 0, 0, 0, 0},
    [GT_EPI_LOCAL]     = {NULL,        NULL,    0, TIGHT,        LEAF,  0, 0, 0, 0, 0},
    [GT_EPI_CAST]      = {NULL,        NULL,    1, TIGHT,        LEAF,  1, 0, 0, 0, 0},
    [GT_EPI_X]         = {"x",         NULL,    0, TIGHT,        LEAF,  1, 0, 0, 0, 0},
    [GT_EPI_ACC]       = {"acc",       NULL,    0, TIGHT,        LEAF,  1, 0, 0, 0, 0},
    [GT_EPI_C]         = {"c",         NULL,    0, TIGHT,        LEAF,  1, 0, 0, 0, 0},
    [GT_EPI_ALPHA]     = {"alpha",     NULL,    0, TIGHT,        LEAF,  1, 0, 0, 0, 0},
    [GT_EPI_BETA]      = {"beta",      NULL,    0, TIGHT,        LEAF,  1, 0, 0, 0, 0},
    [GT_EPI_SELECT]    = {NULL,        NULL,    3, GT_EPI_LOOSE, ARITH,  0, 0, 0, 0, 0},
    [GT_EPI_LE]        = {"<=",        NULL,    2, COMPARE,      TRUTH,  0, 0, 0, 0, 0},
    [GT_EPI_GE]        = {">=",        NULL,    2, COMPARE,      TRUTH,  0, 0, 0, 0, 0},
    [GT_EPI_EQ]        = {"==",        NULL,    2, COMPARE,      TRUTH,  0, 0, 0, 0, 0},
    [GT_EPI_NE]        = {"!=",        NULL,    2, COMPARE,      TRUTH,  0, 0, 0, 0, 0},
    [GT_EPI_LT]        = {"<",         NULL,    2, COMPARE,      TRUTH,  0, 0, 0, 0, 0},
    [GT_EPI_GT]        = {">",         NULL,    2, COMPARE,      TRUTH,  0, 0, 0, 0, 0},
    [GT_EPI_ADD]       = {"+",         "add",   2, ADD,          ARITH,  1, 0, 0, 0, 0},
    [GT_EPI_SUB]       = {"-",         "sub",   2, ADD,          ARITH,  1, 0, 0, 0, 0},
    [GT_EPI_MUL]       = {"*",         "mul",   2, MUL,          ARITH,  1, 0, 0, 0, 0},
    [GT_EPI_DIV]       = {"/",         NULL,    2, MUL,          REAL,  5, 0, 0, 1, 0},
    [GT_EPI_NEGATE]    = {"-",         "neg",   1, SIGN,         ARITH,  0, 0, 0, 0, 0},
    [GT_EPI_MIN]       = {"min",       "min",   2, TIGHT,        ARITH,  0, 0, 0, 0, 0},
    [GT_EPI_MAX]       = {"max",       "max",   2, TIGHT,        ARITH,  0, 0, 0, 0, 0},
    [GT_EPI_ABS]       = {"abs",       "abs",   1, TIGHT,        ARITH,  0, 0, 0, 0, 0},
    [GT_EPI_RELU]      = {"relu",      "relu",  1, TIGHT,        ARITH,  0, 0, 0, 0, 0},
    [GT_EPI_EXP]       = {"exp",       NULL,    1, TIGHT,        REAL,  6, 0, 0, 1, 0},
    [GT_EPI_LOG]       = {"log",       NULL,    1, TIGHT,        REAL,  6, 0, 0, 1, 0},
    [GT_EPI_TANH]      = {"tanh",      NULL,    1, TIGHT,        REAL, 10, 0, 0, 1, 0},
    [GT_EPI_ERF]       = {"erf",       NULL,    1, TIGHT,        REAL, 32, 0, 0, 1, 0},
    [GT_EPI_SQRT]      = {"sqrt",      NULL,    1, TIGHT,        REAL,  6, 0, 0, 1, 0},
    [GT_EPI_SIGMOID]   = {"sigmoid",   NULL,    1, TIGHT,        REAL, 16, 0, 0, 2, 128},
    [GT_EPI_GELU]      = {"gelu",      NULL,    1, TIGHT,        REAL, 36, 3, 2, 2, 0},
    [GT_EPI_GELU_TANH] = {"gelu_tanh", NULL,    1, TIGHT,        REAL, 16, 3, 6e-5, 32, 0},
    [GT_EPI_SILU]      = {"silu",      NULL,    1, TIGHT,        REAL, 16, 0, 0, 256, 128},
};

const struct gt_epilogue_step gt_epilogue_steps[] = {
    {"bias", "bias[j]", "x+bias[j]", false, "adds a value a column"},
    {"row_bias", "bias[i]", "x+bias[i]", false, "adds a value a row"},
    {"batch_bias", "bias[z,j]", "x+bias[z,j]", false, "adds a value a column of a product"},
    {"relu", "", "relu(x)", false, "0 where x is negative, else x"},
    {"gelu", "", "gelu(x)", false, "x times the normal distribution of x"},
    {"gelu_tanh", "", "gelu_tanh(x)", false, "an approximation of gelu by tanh"},
    {"silu", "", "silu(x)", false, "x times the logistic function of x"},
    {"swiglu", "up[i,j]", "silu(x)*up[i,j]", false, "silu, times a matrix"},
    {"residual", "res[i,j]", "x+res[i,j]", false, "adds a matrix"},
    {"dequantise", "sa[i];sb[j]", "x*sa[i]*sb[j]", true, "scale_rows, then scale_cols"},
    {"scale_rows", "sa[i]", "x*sa[i]", true, "times a value a row"},
    {"scale_cols", "sb[j]", "x*sb[j]", true, "times a value a column"},
    {"scale_batch", "sz[z]", "x*sz[z]", true, "times a value a product"},
    {NULL, NULL, NULL, false, NULL},
};
/* clang-format on */

enum gt_epi_op_id gt_epi_op_named(const char *name, size_t len) {
    int op = 0;
    while (op < GT_EPI_OPS &&
           (gt_epi_ops[op].text == NULL || strlen(gt_epi_ops[op].text) != len ||
            memcmp(gt_epi_ops[op].text, name, len) != 0))
        op++;
    return (enum gt_epi_op_id)op;
}

const struct gt_epilogue_step *gt_epilogue_step_at(const char *text, size_t len) {
    const struct gt_epilogue_step *longest = NULL;
    for (const struct gt_epilogue_step *s = gt_epilogue_steps; s->name != NULL; s++) {
        const size_t own = strlen(s->name);
        const bool here = own <= len && memcmp(text, s->name, own) == 0 &&
                          (own == len || text[own] == '_');
        if (here && (longest == NULL || own > strlen(longest->name)))
            longest = s;
    }
    return longest;
}

bool gt_epilogue_reads(const struct gt_epilogue *e, int op) {
    bool reads = false;
    for (int i = 0; i < e->nodes; i++)
        reads = reads || e->node[i].op == op;
    return reads;
}

/* Whether an element has at most 16 bits. */
static bool is_short(int32_t type) {
    return gt_type_size((gemmtune_dtype)type) <= 2;
}

bool gt_epilogue_is_brief(const struct gt_epilogue *e) {
    return gt_epilogue_real(e) == GEMMTUNE_F32 && is_short(e->type_c) &&
           (e->d2 < 0 || is_short(e->type_d2));
}

/* Whether the operation on numbers of its own kind rounds none: integers are exact, and
 * some operations return an operand, or its negative or size. A number that becomes an
 * integer was rounded before; numbers that are compared may have been. */
static bool rounds_none(const struct gt_epilogue *e, const struct gt_epi_node *node) {
    const struct gt_epi_op *op = &gt_epi_ops[node->op];
    const bool integer = node->kind != GT_EPI_REAL;
    for (int i = 0; i < op->args; i++)
        if (integer && e->node[node->arg[i]].kind == GT_EPI_REAL)
            return false;
    return integer || op->args == 0 || node->op == GT_EPI_CAST || op->relative <= 0;
}

bool gt_epilogue_keeps(const struct gt_epilogue *e, int at) {
    const struct gt_epi_node *node = &e->node[at];
    bool keeps = rounds_none(e, node);
    if (node->op == GT_EPI_LOCAL)
        return gt_epilogue_keeps(e, e->statement[node->arg[0]].root);
    for (int i = 0; i < gt_epi_ops[node->op].args && keeps; i++)
        keeps = gt_epilogue_keeps(e, node->arg[i]);
    return keeps;
}

/* Whether a node's integers become elements of a float of 16 or 8 bits. */
static bool becomes_short(const struct gt_epilogue *e, int at, int32_t type) {
    return !gt_type_is_float((gemmtune_dtype)e->type_acc) &&
           gt_type_is_float((gemmtune_dtype)type) && is_short(type) &&
           gt_epilogue_keeps(e, at);
}

bool gt_epilogue_rounds_once(const struct gt_epilogue *e, bool second) {
    const int32_t statement = second ? e->d2 : e->d;
    return statement >= 0 &&
           becomes_short(e, e->statement[statement].root, second ? e->type_d2 : e->type_c);
}

bool gt_epilogue_casts_once(const struct gt_epilogue *e, const struct gt_epi_node *node) {
    return becomes_short(e, node->arg[0], node->arg[1]);
}

bool gt_epilogue_has_once(const struct gt_epilogue *e) {
    bool has = gt_epilogue_rounds_once(e, false) || gt_epilogue_rounds_once(e, true);
    for (int i = 0; i < e->nodes && !has; i++)
        has = e->node[i].op == GT_EPI_CAST && gt_epilogue_casts_once(e, &e->node[i]);
    return has;
}

int gt_epilogue_boxed(const struct gt_epilogue *e) {
    const size_t size = gt_type_size((gemmtune_dtype)e->type_c);
    for (int i = 0; i < e->operands; i++)
        if (e->operand[i].shape == GT_EPI_MATRIX &&
            gt_type_size((gemmtune_dtype)e->operand[i].type) == size)
            return i;
    return -1;
}

const char *const gt_epi_index[GT_EPI_SHAPES] = {
    [GT_EPI_SCALAR] = "",      [GT_EPI_ROWS] = "[i]",     [GT_EPI_COLUMNS] = "[j]",
    [GT_EPI_MATRIX] = "[i,j]", [GT_EPI_PRODUCTS] = "[z]", [GT_EPI_PRODUCT_ROWS] = "[z,j]",
};

/* How many rows, and how many columns, a stored operand has: one, or one for each row of
 * all products, for each column, or for each product. */
enum times { ONCE, EACH_ROW, EACH_COLUMN, EACH_PRODUCT, TIMES };
static const struct {
    enum times rows, columns;
} stored[GT_EPI_SHAPES] = {
    [GT_EPI_SCALAR] = {ONCE, ONCE},
    [GT_EPI_ROWS] = {ONCE, EACH_ROW},
    [GT_EPI_COLUMNS] = {ONCE, EACH_COLUMN},
    [GT_EPI_MATRIX] = {EACH_ROW, EACH_COLUMN},
    [GT_EPI_PRODUCTS] = {ONCE, EACH_PRODUCT},
    [GT_EPI_PRODUCT_ROWS] = {EACH_PRODUCT, EACH_COLUMN},
};

bool gt_epi_has_ld(int32_t shape) {
    return stored[shape].rows != ONCE;
}

struct gt_epi_extent gt_epi_extent_of(int32_t shape, int64_t rows, int64_t n,
                                      int64_t products) {
    const int64_t count[TIMES] = {
        [ONCE] = 1, [EACH_ROW] = rows, [EACH_COLUMN] = n, [EACH_PRODUCT] = products};
    return (struct gt_epi_extent){.rows = count[stored[shape].rows],
                                  .columns = count[stored[shape].columns]};
}

struct gt_epi_place gt_epi_place_of(int32_t shape, int64_t i, int64_t j, int64_t z) {
    const int64_t number[TIMES] = {
        [ONCE] = 0, [EACH_ROW] = i, [EACH_COLUMN] = j, [EACH_PRODUCT] = z};
    return (struct gt_epi_place){.row = number[stored[shape].rows],
                                 .column = number[stored[shape].columns]};
}

bool gt_epilogue_has_products(const struct gt_epilogue *e) {
    return gt_epilogue_bytes(e, GT_EPI_PRODUCTS) > 0 ||
           gt_epilogue_bytes(e, GT_EPI_PRODUCT_ROWS) > 0;
}

int gt_epilogue_bytes(const struct gt_epilogue *e, enum gt_epi_shape shape) {
    int bytes = 0;
    for (int i = 0; i < e->operands; i++)
        if (e->operand[i].shape == (int32_t)shape)
            bytes += (int)gt_type_size((gemmtune_dtype)e->operand[i].type);
    return bytes;
}

gemmtune_dtype gt_epilogue_real(const struct gt_epilogue *e) {
    return e->type_acc == GEMMTUNE_F64 ? GEMMTUNE_F64 : GEMMTUNE_F32;
}

bool gt_epilogue_same(const struct gt_epilogue *x, const struct gt_epilogue *y) {
    return memcmp(x, y, sizeof *x) == 0;
}
