/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.h - small functions on text. None depends on the locale.
 */
#ifndef GT_CORE_TEXT_H
#define GT_CORE_TEXT_H

#include "core/status.h"

#include <stdbool.h>

/* Texts with another owner: the values of an option that may be given several times. */
enum { GT_TEXTS_MAX = 64 };
struct gt_texts {
    int count;
    const char *text[GT_TEXTS_MAX];
};

/* Whether the len bytes are, as a whole, a decimal integer that fits: an optional "-" and
 * digits, no blanks, no "+". */
bool gt_text_int(int64_t *out, const char *text, size_t len);
/* Writes the integer in decimal, and a NUL; returns the length. */
enum { GT_INT_TEXT_MAX = 21 };
int gt_text_of_int(char buf[GT_INT_TEXT_MAX], int64_t value);

/* Appends the word to a text of `len` bytes in a buffer of `size`, as far as it fits;
 * returns the length of both together, as snprintf does. */
int gt_text_put(char *buf, size_t size, int len, const char *word);

/* The rest of a text that is read from left to right. */
struct gt_reader {
    const char *at, *end;
};

/* Part of a text, up to a separator or the end. */
struct gt_piece {
    const char *text;
    int len;
    char stop; /* the separator, '\0' at the end of the text */
};

/* Takes the text up to the first of `stops`, and the separator too. */
struct gt_piece gt_piece_take(struct gt_reader *r, const char *stops);
bool gt_piece_is(struct gt_piece piece, const char *word);

/* Bytes of the UTF-8 character that `text` begins with, 0 when it is not valid UTF-8. */
size_t gt_text_utf8(const char *text, size_t len);

/* Makes a text one line that any terminal can show: control characters become spaces, bytes
 * that are not UTF-8 become "?". Also the control characters U+0080 to U+009F, since some
 * begin a terminal's commands, and the characters that change the direction of writing. */
void gt_text_clean(char *text);
/* Formats into `line`, cut to fit, and cleans it. */
void gt_text_line(char *line, size_t size, const char *fmt, va_list args) GT_PRINTF(3, 0);

/* The end of a noun after a count: "" for 1, else "s". */
const char *gt_text_plural(int64_t count);

/* The word of the NULL-ended list that `word` is probably a misspelling of, or NULL. */
const char *gt_text_nearest(const char *word, const char *const *list);

#endif
