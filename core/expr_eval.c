/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expr_eval.c - the value of an expression. Inner functions return NULL, or the error in a
 * few words.
 */
#include "core/expr_inside.h"

static const char overflow[] = "overflow";

static const char *divide(int64_t *out, enum gt_expr_op op, int64_t a, int64_t b) {
    if (b == 0)
        return "division by zero";
    if (op == GT_EXPR_CDIV) {
        if (a < 0 || b < 0)
            return "negative operand of cdiv";
        *out = a / b + (a % b != 0);
        return NULL;
    }
    if (a == INT64_MIN && b == -1)
        return overflow;
    *out = op == GT_EXPR_DIV ? a / b : a % b;
    return NULL;
}

static const char *apply(int64_t *out, enum gt_expr_op op, int64_t a, int64_t b) {
    switch (op) {
    case GT_EXPR_ADD:
        return __builtin_add_overflow(a, b, out) ? overflow : NULL;
    case GT_EXPR_SUB:
        return __builtin_sub_overflow(a, b, out) ? overflow : NULL;
    case GT_EXPR_MUL:
        return __builtin_mul_overflow(a, b, out) ? overflow : NULL;
    case GT_EXPR_DIV:
    case GT_EXPR_MOD:
    case GT_EXPR_CDIV:
        return divide(out, op, a, b);
    case GT_EXPR_MIN:
        *out = a < b ? a : b;
        return NULL;
    case GT_EXPR_MAX:
        *out = a > b ? a : b;
        return NULL;
    default: /* a comparison, as a set of <, == and > */
        *out = (a < b && (op == GT_EXPR_LT || op == GT_EXPR_LE || op == GT_EXPR_NE)) ||
               (a == b && (op == GT_EXPR_LE || op == GT_EXPR_EQ || op == GT_EXPR_GE)) ||
               (a > b && (op == GT_EXPR_GE || op == GT_EXPR_GT || op == GT_EXPR_NE));
        return NULL;
    }
}

static const char *eval_node(int64_t *out, const struct gt_expr *e,
                             const struct gt_expr_node *node, const int64_t *values);

/* Most operands are leaves, which need no call. */
static inline const char *eval(int64_t *out, const struct gt_expr *e, int at,
                               const int64_t *values) {
    const struct gt_expr_node *node = &e->node[at];
    if (node->op > GT_EXPR_LAST_LEAF)
        return eval_node(out, e, node, values);
    *out = node->op == GT_EXPR_NUMBER ? node->number : values[node->slot];
    return NULL;
}

/* &&, || and ?: evaluate their other operands only when needed. */
static const char *eval_lazy(int64_t *out, const struct gt_expr *e,
                             const struct gt_expr_node *node, const int64_t *values) {
    const char *wrong = eval(out, e, node->arg[0], values);
    if (wrong != NULL)
        return wrong;
    if (node->op == GT_EXPR_IF)
        return eval(out, e, node->arg[*out != 0 ? 1 : 2], values);
    if ((*out != 0) == (node->op == GT_EXPR_AND))
        wrong = eval(out, e, node->arg[1], values);
    *out = *out != 0;
    return wrong;
}

static const char *eval_unary(int64_t *out, const struct gt_expr *e,
                              const struct gt_expr_node *node, const int64_t *values) {
    const char *wrong = eval(out, e, node->arg[0], values);
    if (wrong != NULL)
        return wrong;
    if (node->op == GT_EXPR_NEGATE)
        return apply(out, GT_EXPR_SUB, 0, *out);
    *out = *out == 0;
    return NULL;
}

static const char *eval_binary(int64_t *out, const struct gt_expr *e,
                               const struct gt_expr_node *node, const int64_t *values) {
    int64_t a = 0;
    int64_t b = 0;
    const char *wrong = eval(&a, e, node->arg[0], values);
    if (wrong == NULL)
        wrong = eval(&b, e, node->arg[1], values);
    return wrong != NULL ? wrong : apply(out, node->op, a, b);
}

static const char *eval_node(int64_t *out, const struct gt_expr *e,
                             const struct gt_expr_node *node, const int64_t *values) {
    switch (node->op) {
    case GT_EXPR_NEGATE:
    case GT_EXPR_NOT:
        return eval_unary(out, e, node, values);
    case GT_EXPR_AND:
    case GT_EXPR_OR:
    case GT_EXPR_IF:
        return eval_lazy(out, e, node, values);
    default:
        return eval_binary(out, e, node, values);
    }
}

gt_status gt_expr_eval(int64_t *out, const struct gt_expr *e, const int64_t *values,
                       struct gt_err *err) {
    int64_t value = 0;
    if (e->native != NULL && e->native(&value, values)) {
        *out = value;
        return GEMMTUNE_OK;
    }
    const char *wrong = eval(&value, e, e->root, values);
    if (wrong != NULL)
        return gt_fail(err, GEMMTUNE_EINVAL, "%s in \"%s\"", wrong, e->text);
    *out = value;
    return GEMMTUNE_OK;
}
