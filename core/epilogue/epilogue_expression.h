/* SPDX-License-Identifier: Apache-2.0 */
/*
 * epilogue_expression.h - inside the parser: words and expressions. The rest of the room
 * parses by gt_epilogue_parse.
 *
 * A function that takes an expression returns the index of its node, or -1 with the line
 * written. Recursion is bounded by GT_EPILOGUE_DEPTH_MAX and the levels of operators.
 */
#ifndef GT_CORE_EPILOGUE_EPILOGUE_EXPRESSION_H
#define GT_CORE_EPILOGUE_EPILOGUE_EXPRESSION_H

#include "core/epilogue/epilogue.h"

struct gt_epi_parser {
    struct gt_epilogue *e;
    const char *start, *at, *end;
    const char *inside; /* the shorthand that is parsed by its meaning, or NULL */
    int x;              /* what x stands for in a shorthand: a node, or -1 */
    int depth;
    unsigned read; /* a bit for each operand that was read */
    struct gt_err *err;
};

/* Fails at a part of the text; the format goes on from the quoted part. Returns -1. */
int gt_epi_refuse(const struct gt_epi_parser *p, const char *at, size_t len,
                  const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* Fails with the thing that was expected at the parser's place. Returns -1. */
int gt_epi_expected(const struct gt_epi_parser *p, const char *what);

/* Takes the text if it is next. */
bool gt_epi_accept(struct gt_epi_parser *p, const char *text);
/* Takes the text, or fails with `what` as expected. */
bool gt_epi_expect(struct gt_epi_parser *p, const char *text, const char *what);
/* The bytes of the word at the parser's place: a lower-case letter, then lower-case
 * letters, digits and "_". */
size_t gt_epi_word_length(const struct gt_epi_parser *p);
bool gt_epi_is_word(const char *name, const char *word, size_t len);
/* Takes an index; SCALAR when none is there. */
bool gt_epi_take_index(int32_t *shape, struct gt_epi_parser *p);

/* Whether a text may give this name: it is not one of the language, it is not too long, and
 * nothing else has it. */
bool gt_epi_check_name(const struct gt_epi_parser *p, const char *word, size_t len);
/* Adds an operand with a checked name. */
bool gt_epi_add_operand(struct gt_epi_parser *p, const char *word, size_t len,
                        int32_t shape, gemmtune_dtype type);
/* The operand of this name, or -1. */
int gt_epi_operand_named(const struct gt_epilogue *e, const char *word, size_t len);

int gt_epi_take_expression(struct gt_epi_parser *p);

#endif
