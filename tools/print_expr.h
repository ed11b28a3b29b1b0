/* SPDX-License-Identifier: Apache-2.0 */
/* print_expr.h - an expression of space.json as a C function. */
#ifndef GT_TOOLS_PRINT_EXPR_H
#define GT_TOOLS_PRINT_EXPR_H

#include "core/expr.h"

#include <stdio.h>

/* Prints the expression as the function x<number>: the `native` of struct gt_expr. */
void gt_expr_print(FILE *out, int number, const struct gt_expr *e);

#endif
