/* SPDX-License-Identifier: Apache-2.0 */
/*
 * epilogue.h - the function of an element of alpha A B + beta C before it is stored, as
 * text. The text is only checked word by word here; no kernel computes it yet.
 *
 *     epilogue    = { declaration ";" } ( shorthand | assignment { ";" assignment } )
 *     declaration = name [ "[i]" | "[j]" | "[i,j]" ] ":" type
 *     assignment  = name "=" expression
 *
 * A declaration names an operand: a scalar, one value a row, one value a column, or a
 * matrix. A shorthand is a row of gt_epilogues. An expression consists of numbers, names,
 * indices, function calls and the operators + - * / < > ? : without blanks; its brackets
 * are closed. A text has one spelling: it is its own canonical form.
 */
#ifndef GT_CORE_EPILOGUE_H
#define GT_CORE_EPILOGUE_H

#include "core/status.h"

enum {
    GT_EPILOGUE_MAX = 256,    /* bytes of the longest text with its NUL */
    GT_EPILOGUE_NAME_MAX = 16 /* bytes of the longest name in it with its NUL */
};

/* A shorthand and its meaning. x is alpha A B + beta C. */
struct gt_epilogue_name {
    const char *name;
    const char *operands; /* declarations without types, or "" */
    const char *means;    /* assignments */
    const char *about;    /* a sentence for people */
};
extern const struct gt_epilogue_name gt_epilogues[]; /* ends in a NULL name */

/* EPARSE quotes the first part that does not follow the grammar above. */
gt_status gt_epilogue_check(const char *text, struct gt_err *err);

#endif
