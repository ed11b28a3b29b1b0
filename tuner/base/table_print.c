/* SPDX-License-Identifier: Apache-2.0 */
/* table_print.c - prints a table for people: aligned columns under a heading. */
#include "tuner/base/table_fit.h"

#include "tuner/base/cell.h"
#include "tuner/base/wrap.h"

#include <stdlib.h>
#include <string.h>

enum { INDENT = 4 }; /* of the further lines of a note */

static void print_blanks(size_t count, FILE *out) {
    for (; count > 0; count--)
        (void)fputc(' ', out);
}

/* ---- lines ---- */

/* A line under way. Every cell but the first has two blanks before it. The blanks that fill
 * a left-aligned cell are printed only when another cell follows. */
struct line {
    FILE *out;
    size_t owed;
};

/* Prints a text of several lines in its column, which begins at `start`. */
static void put_prose(struct line *line, size_t start, size_t width, const char *text) {
    struct gt_wrap w = {
        .out = line->out, .room = start + width, .indent = start, .used = start};
    print_blanks(line->owed, line->out);
    gt_wrap_words(&w, text);
}

static void put_cell(struct line *line, const struct gt_column *column, size_t width,
                     const char *text) {
    static const char dots[] = "...";
    const size_t length = gt_wrap_width(text);
    const size_t pad = length < width ? width - length : 0;
    const bool right = !gt_cell_is_text(column->kind);
    const size_t ahead = line->owed + (right ? pad : 0);
    if (text[0] == '\0') { /* a heading without a word needs no blanks before it */
        line->owed = ahead + 2 + (right ? 0 : pad);
        return;
    }
    print_blanks(ahead, line->out);
    if (length <= width) {
        (void)fputs(text, line->out);
    } else {
        const size_t kept = width > strlen(dots) ? width - strlen(dots) : 0;
        (void)fwrite(text, 1, gt_wrap_part(text, kept), line->out);
        (void)fwrite(dots, 1, gt_wrap_part(dots, width - kept), line->out);
    }
    line->owed = 2 + (right ? 0 : pad);
}

/* Line 0 is the heading. */
static void print_line(const struct gt_table_fit *f, size_t number, FILE *out) {
    struct line line = {out, 0};
    char buf[GT_TABLE_FIT_TEXT_MAX];
    size_t start = 0;
    for (size_t i = 0; i < f->t->form->columns; i++) {
        const struct gt_column *column = &f->t->form->column[i];
        if (f->width[i] == 0)
            continue;
        const char *text =
            number == 0 ? column->title : gt_table_fit_text(buf, f, number - 1, i);
        if (column->kind == GT_CELL_PROSE)
            put_prose(&line, start, f->width[i], text);
        else
            put_cell(&line, column, f->width[i], text);
        start += f->width[i] + GT_TABLE_FIT_GAP;
    }
    (void)fputc('\n', out);
}

/* ---- above and below the lines ---- */

static void print_keys(const struct gt_table_fit *f, FILE *out) {
    const char *title = "";
    for (size_t i = 0; i < f->t->form->columns; i++)
        if (f->t->form->column[i].kind == GT_CELL_KEY)
            title = f->t->form->column[i].title;
    for (size_t i = 0; i < f->keys; i++)
        if (f->keys == 1)
            fprintf(out, "%s %s\n", title, f->key[i]);
        else
            fprintf(out, "%s %c  %s\n", title, 'A' + (int)i, f->key[i]);
    if (f->keys > 0)
        (void)fputc('\n', out);
}

/* Prints the parameters that points leave out. False when there are none. */
static bool print_shared(const struct gt_table_fit *f, FILE *out) {
    struct gt_wrap s = {.out = out, .room = f->room, .indent = INDENT};
    bool any = false;
    for (size_t i = 0; i < f->families; i++)
        if (f->shared[i].words[0] != '\0') {
            char head[64];
            (void)snprintf(head, sizeof head, "all rows of %s: ", f->shared[i].family);
            gt_wrap_words(&s, head);
            gt_wrap_words(&s, f->shared[i].words);
            gt_wrap_end(&s);
            any = true;
        }
    return any;
}

/* Names the columns that were left out. False when there are none. */
static bool print_dropped(const struct gt_table_fit *f, FILE *out) {
    struct gt_wrap s = {.out = out, .room = f->room, .indent = INDENT};
    size_t left = 0;
    for (size_t i = 0; i < f->t->form->columns; i++)
        left += f->dropped[i];
    if (left == 0)
        return false;
    gt_wrap_words(&s, "left out:");
    for (size_t i = 0; i < f->t->form->columns; i++)
        if (f->dropped[i]) {
            char word[64];
            (void)snprintf(word, sizeof word, " %s%s", f->t->form->column[i].title,
                           --left > 0 ? "," : "");
            gt_wrap_words(&s, word);
        }
    gt_wrap_end(&s);
    return true;
}

static bool shows_points(const struct gt_table_fit *f) {
    bool shown = false;
    for (size_t i = 0; i < f->t->form->columns; i++)
        shown = shown || (f->t->form->column[i].kind == GT_CELL_POINT && f->width[i] > 0);
    return shown;
}

static void print_notes(const struct gt_table_fit *f, FILE *out) {
    const bool shared = shows_points(f) && print_shared(f, out);
    if (print_dropped(f, out) || shared || f->cut)
        fprintf(out, "--wide shows everything\n");
}

void gt_table_print(const struct gt_table *t, size_t room, FILE *out) {
    struct gt_table_fit *f = t->rows > 0 ? malloc(sizeof *f) : NULL;
    if (f == NULL)
        return;
    gt_table_fit_make(f, t, room);
    print_keys(f, out);
    for (size_t line = 0; line <= t->rows; line++)
        print_line(f, line, out);
    print_notes(f, out);
    free(f);
}
