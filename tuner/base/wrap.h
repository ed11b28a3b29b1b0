/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrap.h - prints texts for people, word by word, on lines that fit the terminal. Where
 * there is no terminal, a text stays on one line: programs read it by lines.
 */
#ifndef GT_TUNER_BASE_WRAP_H
#define GT_TUNER_BASE_WRAP_H

#include "core/status.h"

#include <stddef.h>
#include <stdio.h>

/* A line under way. */
struct gt_wrap {
    FILE *out;
    size_t room;   /* characters in a line; 0: any number */
    size_t indent; /* blanks before each further line */
    size_t used;   /* characters printed of the present line */
    size_t owed;   /* blanks that a text ended with, for the next one */
};

/* `room` is the width of the terminal, 0 where `out` is none. */
struct gt_wrap gt_wrap_begin(FILE *out, size_t indent);
/* Prints words with blanks between them. Several blanks stay several, except where a line
 * ends. */
void gt_wrap_words(struct gt_wrap *w, const char *words);
/* Ends the line, unless nothing was printed. */
void gt_wrap_end(struct gt_wrap *w);

/* Prints a line; what does not fit goes on below, after `indent` blanks. */
void gt_wrap_print(FILE *out, size_t indent, const char *fmt, ...) GT_PRINTF(3, 4);
/* Prints a line of cells in columns that begin at `at`. The last one is wrapped inside its
 * column, or below the others where that would be too narrow. */
void gt_wrap_row(FILE *out, const char *const *cell, const size_t *at, size_t count);

/* Characters of a text, not bytes: names and paths may be any UTF-8. */
size_t gt_wrap_width(const char *text);
/* The bytes of the first `characters` of `text`, or of all of it. */
size_t gt_wrap_part(const char *text, size_t characters);

#endif
