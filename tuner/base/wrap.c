/* SPDX-License-Identifier: Apache-2.0 */
/* wrap.c - see wrap.h. */
#include "tuner/base/wrap.h"

#include "core/text.h"
#include "tuner/base/terminal.h"

#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

enum {
    LINE_BYTES = 4096,
    WORDS_LEAST = 30, /* characters that a column of words must have */
    BELOW = 8,        /* where words begin that have no such column */
};

size_t gt_wrap_part(const char *text, size_t characters) {
    size_t bytes = 0;
    for (size_t left = strlen(text); characters > 0 && left > bytes; characters--) {
        const size_t len = gt_text_utf8(text + bytes, left - bytes);
        bytes += len > 0 ? len : 1;
    }
    return bytes;
}

size_t gt_wrap_width(const char *text) {
    size_t width = 0;
    for (; *text != '\0'; width++)
        text += gt_wrap_part(text, 1);
    return width;
}

struct gt_wrap gt_wrap_begin(FILE *out, size_t indent) {
    return (struct gt_wrap){.out = out, .room = gt_terminal_width(out), .indent = indent};
}

static void put_blanks(struct gt_wrap *w, size_t count) {
    w->used += count;
    for (; count > 0; count--)
        (void)fputc(' ', w->out);
}

static void next_line(struct gt_wrap *w, size_t column) {
    (void)fputc('\n', w->out);
    w->used = 0;
    put_blanks(w, column);
}

/* Prints a word of `len` bytes after the blanks that are owed, or on the next line. */
static void put_word(struct gt_wrap *w, const char *word, size_t len) {
    size_t width = 0;
    for (size_t at = 0; at < len; width++)
        at += gt_wrap_part(word + at, 1);
    const bool first = w->used <= w->indent;
    if (first || w->room == 0 || w->used + w->owed + width <= w->room)
        put_blanks(w, w->owed);
    else
        next_line(w, w->indent);
    w->owed = 0;
    (void)fwrite(word, 1, len, w->out);
    w->used += width;
}

void gt_wrap_words(struct gt_wrap *w, const char *words) {
    while (*words != '\0') {
        const size_t blanks = strspn(words, " ");
        const size_t len = strcspn(words + blanks, " ");
        w->owed += blanks;
        if (len > 0)
            put_word(w, words + blanks, len);
        words += blanks + len;
    }
}

void gt_wrap_end(struct gt_wrap *w) {
    if (w->used > 0)
        (void)fputc('\n', w->out);
    w->used = 0;
}

void gt_wrap_print(FILE *out, size_t indent, const char *fmt, ...) {
    char line[LINE_BYTES];
    struct gt_wrap w = gt_wrap_begin(out, indent);
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    gt_wrap_words(&w, line);
    gt_wrap_end(&w);
}

void gt_wrap_row(FILE *out, const char *const *cell, const size_t *at, size_t count) {
    struct gt_wrap w = gt_wrap_begin(out, at[count - 1]);
    const bool narrow = w.room > 0 && w.indent + WORDS_LEAST > w.room;
    if (narrow)
        w.indent = BELOW;
    for (size_t i = 0; i < count; i++) {
        if (narrow && i + 1 == count)
            next_line(&w, BELOW);
        else if (w.used < at[i])
            put_blanks(&w, at[i] - w.used);
        gt_wrap_words(&w, cell[i]);
    }
    gt_wrap_end(&w);
}
