/* SPDX-License-Identifier: Apache-2.0 */
/* expr_inside.h - the tree of an expression: expr.c makes it, expr_eval.c evaluates it. */
#ifndef GT_CORE_EXPR_INSIDE_H
#define GT_CORE_EXPR_INSIDE_H

#include "core/expr.h"

/* Bytes of the longest text with its NUL; it bounds the depth of a chain. */
enum { GT_EXPR_TEXT_MAX = 512 };

enum gt_expr_op {
    GT_EXPR_NUMBER,
    GT_EXPR_SYMBOL,
    GT_EXPR_SIZEOF,
    GT_EXPR_LAST_LEAF = GT_EXPR_SIZEOF, /* the operators after it have operands */
    GT_EXPR_NEGATE,
    GT_EXPR_NOT,
    GT_EXPR_MUL,
    GT_EXPR_DIV,
    GT_EXPR_MOD,
    GT_EXPR_ADD,
    GT_EXPR_SUB,
    GT_EXPR_LT,
    GT_EXPR_LE,
    GT_EXPR_GT,
    GT_EXPR_GE,
    GT_EXPR_EQ,
    GT_EXPR_NE,
    GT_EXPR_AND,
    GT_EXPR_OR,
    GT_EXPR_IF,
    GT_EXPR_MIN,
    GT_EXPR_MAX,
    GT_EXPR_CDIV
};

struct gt_expr_node {
    enum gt_expr_op op;
    int16_t arg[3];    /* indices of operands */
    int16_t slot;      /* GT_EXPR_SYMBOL, GT_EXPR_SIZEOF */
    int16_t name, len; /* the same: where the word is in the text */
    int64_t number;    /* GT_EXPR_NUMBER */
};

/* One that gt_expr_parse makes is one block of memory: the struct, its nodes, its text. */
struct gt_expr {
    const char *text;
    int root, count;
    const struct gt_expr_node *node;
    /* The same as a C function; NULL: the nodes are evaluated. False where it has no
     * value. */
    bool (*native)(int64_t *out, const int64_t *values);
};

#endif
