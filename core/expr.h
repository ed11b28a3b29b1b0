/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expr.h - integer expressions of space.json. They have
 *   - decimal integers and names,
 *   - + - * / %, comparisons, && || ! ?: and parentheses,
 *   - min(a,b), max(a,b), cdiv(a,b) (division rounded up), sizeof(A|B|C|ACC).
 * An expression is parsed once against a symbol table, so an unknown name is found when a
 * family is loaded. It is evaluated many times, over an array of values. Depth and length
 * are bounded. Overflow and division by zero are errors. &&, || and ?: evaluate lazily.
 */
#ifndef GT_CORE_EXPR_H
#define GT_CORE_EXPR_H

#include "core/point.h"

enum { GT_SYMBOLS_MAX = 144 };

/* Names and their slots. A symbol may be spelled "sizeof(A)". */
struct gt_symbols {
    int count;
    char name[GT_SYMBOLS_MAX][GT_NAME_MAX];
};

int gt_symbols_find(const struct gt_symbols *s, const char *name); /* slot or -1 */
/* A name is a parameter name (point.h) or sizeof(A), (B), (C), (ACC). EINVAL when the table
 * is full, or the name is malformed or already there. */
gt_status gt_symbols_add(int *slot, struct gt_symbols *s, const char *name,
                         struct gt_err *err);

struct gt_expr; /* never changes once parsed: threads may share it */

/* EPARSE names the column; ENOMEM. */
gt_status gt_expr_parse(struct gt_expr **out, const char *text,
                        const struct gt_symbols *symbols, struct gt_err *err);
void gt_expr_destroy(struct gt_expr *e);
/* Evaluates with values[slot] for every symbol. Division truncates towards zero as in C;
 * comparisons and && || ! give 0 or 1. EINVAL with the text: division by zero, overflow or
 * a negative operand of cdiv. */
gt_status gt_expr_eval(int64_t *out, const struct gt_expr *e, const int64_t *values,
                       struct gt_err *err);
const char *gt_expr_text(const struct gt_expr *e); /* the parsed text; lives as long as e */
/* Whether slot is read anywhere in e. */
bool gt_expr_uses(const struct gt_expr *e, int slot);
/* Writes the expression as C: names as GT_<NAME>, sizeof(A) as GT_SIZEOF_A, min/max/cdiv as
 * GT_MIN GT_MAX GT_CDIV, every operation in parentheses. The value is the same where the
 * compiler's arithmetic has 64 bits, as in #if. Returns the length needed, as snprintf
 * does. */
int gt_expr_c(const struct gt_expr *e, char *buf, size_t size);

#endif
