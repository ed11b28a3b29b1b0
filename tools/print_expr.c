/* SPDX-License-Identifier: Apache-2.0 */
/* print_expr.c - see print_expr.h. The functions call the helpers of core/expr_native.h. */
#include "tools/print_expr.h"

#include "core/expr_inside.h"

#include <inttypes.h>

static void print_node(FILE *out, const struct gt_expr *e, int at);

/* The text that C has between the operands; NULL: the operator is a helper. */
static const char *const between[] = {
    [GT_EXPR_LT] = "<",  [GT_EXPR_LE] = "<=", [GT_EXPR_GT] = ">",
    [GT_EXPR_GE] = ">=", [GT_EXPR_EQ] = "==", [GT_EXPR_NE] = "!=",
};
static const char *const helpers[] = {
    [GT_EXPR_NEGATE] = "negate", [GT_EXPR_MUL] = "mul", [GT_EXPR_DIV] = "div",
    [GT_EXPR_MOD] = "mod",       [GT_EXPR_ADD] = "add", [GT_EXPR_SUB] = "sub",
    [GT_EXPR_MIN] = "min",       [GT_EXPR_MAX] = "max", [GT_EXPR_CDIV] = "cdiv",
};

static void print_helper(FILE *out, const struct gt_expr *e, const struct gt_expr_node *n) {
    const int operands = n->op == GT_EXPR_NEGATE ? 1 : 2;
    (void)fprintf(out, "gt_native_%s(", helpers[n->op]);
    for (int i = 0; i < operands; i++) {
        print_node(out, e, n->arg[i]);
        (void)fputc(',', out);
    }
    (void)fputs("&bad)", out);
}

/* Whether an operand is not 0. */
static void print_truth(FILE *out, const struct gt_expr *e, int at) {
    print_node(out, e, at);
    (void)fputs(" != 0", out);
}

static void print_lazy(FILE *out, const struct gt_expr *e, const struct gt_expr_node *n) {
    (void)fputs(n->op == GT_EXPR_IF ? "(" : "(int64_t)(", out);
    print_truth(out, e, n->arg[0]);
    if (n->op == GT_EXPR_IF) {
        (void)fputs(" ? ", out);
        print_node(out, e, n->arg[1]);
        (void)fputs(" : ", out);
        print_node(out, e, n->arg[2]);
    } else {
        (void)fputs(n->op == GT_EXPR_AND ? " && " : " || ", out);
        print_truth(out, e, n->arg[1]);
    }
    (void)fputc(')', out);
}

static void print_comparison(FILE *out, const struct gt_expr *e,
                             const struct gt_expr_node *n) {
    (void)fputs("(int64_t)(", out);
    print_node(out, e, n->arg[0]);
    (void)fprintf(out, " %s ", n->op == GT_EXPR_NOT ? "==" : between[n->op]);
    if (n->op == GT_EXPR_NOT)
        (void)fputc('0', out);
    else
        print_node(out, e, n->arg[1]);
    (void)fputc(')', out);
}

static void print_node(FILE *out, const struct gt_expr *e, int at) {
    const struct gt_expr_node *n = &e->node[at];
    switch (n->op) {
    case GT_EXPR_NUMBER:
        (void)fprintf(out, "INT64_C(%" PRId64 ")", n->number);
        break;
    case GT_EXPR_SYMBOL:
    case GT_EXPR_SIZEOF:
        (void)fprintf(out, "v[%d]", n->slot);
        break;
    case GT_EXPR_AND:
    case GT_EXPR_OR:
    case GT_EXPR_IF:
        print_lazy(out, e, n);
        break;
    case GT_EXPR_NOT:
    case GT_EXPR_LT:
    case GT_EXPR_LE:
    case GT_EXPR_GT:
    case GT_EXPR_GE:
    case GT_EXPR_EQ:
    case GT_EXPR_NE:
        print_comparison(out, e, n);
        break;
    default:
        print_helper(out, e, n);
    }
}

void gt_expr_print(FILE *out, int number, const struct gt_expr *e) {
    (void)fprintf(out,
                  "static bool x%d(int64_t *out, const int64_t *v) {\n"
                  "(void)v;\nbool bad = false;\n*out = ",
                  number);
    print_node(out, e, e->root);
    (void)fputs(";\nreturn !bad;\n}\n", out);
}
