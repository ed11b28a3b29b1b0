/* SPDX-License-Identifier: Apache-2.0 */
/* table_print.c - prints a table for people: aligned columns under a heading. */
#include "tuner/base/table_fit.h"

#include "core/text.h"

#include <stdlib.h>
#include <string.h>

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

/* Prints the first `characters` of `text`. */
static void put_part(const char *text, size_t characters, FILE *out) {
    for (size_t left = strlen(text); characters > 0 && left > 0; characters--) {
        const size_t len = gt_text_utf8(text, left);
        const size_t bytes = len > 0 ? len : 1;
        (void)fwrite(text, 1, bytes, out);
        text += bytes;
        left -= bytes;
    }
}

static void put_cell(struct line *line, const struct gt_column *column, size_t width,
                     const char *text) {
    static const char dots[] = "...";
    const size_t length = gt_table_fit_width(text);
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
        put_part(text, kept, line->out);
        put_part(dots, width - kept, line->out);
    }
    line->owed = 2 + (right ? 0 : pad);
}

/* Line 0 is the heading. */
static void print_line(const struct gt_table_fit *f, size_t number, FILE *out) {
    struct line line = {out, 0};
    char buf[GT_TABLE_FIT_TEXT_MAX];
    for (size_t i = 0; i < f->t->form->columns; i++) {
        const struct gt_column *column = &f->t->form->column[i];
        if (f->width[i] > 0)
            put_cell(&line, column, f->width[i],
                     number == 0 ? column->title
                                 : gt_table_fit_text(buf, f, number - 1, i));
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

/* A sentence that is printed word by word, on as many lines as it needs. */
struct sentence {
    FILE *out;
    size_t room, used;
};

static void put_word(struct sentence *s, const char *word, size_t len) {
    static const char indent[] = "    ";
    const bool fits = s->used == 0 || s->room == 0 || s->used + 1 + len <= s->room;
    if (s->used > 0)
        s->used += (size_t)fprintf(s->out, "%s", fits ? " " : "\n");
    if (!fits)
        s->used = (size_t)fprintf(s->out, "%s", indent);
    s->used += (size_t)fprintf(s->out, "%.*s", (int)len, word);
}

static void put_words(struct sentence *s, const char *words) {
    while (*words != '\0') {
        const size_t len = strcspn(words, " ");
        put_word(s, words, len);
        words += len + strspn(words + len, " ");
    }
}

static void end_sentence(struct sentence *s) {
    if (s->used > 0)
        (void)fputc('\n', s->out);
    s->used = 0;
}

/* Prints the parameters that points leave out. False when there are none. */
static bool print_shared(const struct gt_table_fit *f, FILE *out) {
    struct sentence s = {out, f->room, 0};
    bool any = false;
    for (size_t i = 0; i < f->families; i++)
        if (f->shared[i].words[0] != '\0') {
            char head[64];
            (void)snprintf(head, sizeof head, "all rows of %s:", f->shared[i].family);
            put_words(&s, head);
            put_words(&s, f->shared[i].words);
            end_sentence(&s);
            any = true;
        }
    return any;
}

/* Names the columns that were left out. False when there are none. */
static bool print_dropped(const struct gt_table_fit *f, FILE *out) {
    struct sentence s = {out, f->room, 0};
    size_t left = 0;
    for (size_t i = 0; i < f->t->form->columns; i++)
        left += f->dropped[i];
    if (left == 0)
        return false;
    put_words(&s, "left out:");
    for (size_t i = 0; i < f->t->form->columns; i++)
        if (f->dropped[i]) {
            char word[64];
            (void)snprintf(word, sizeof word, "%s%s", f->t->form->column[i].title,
                           --left > 0 ? "," : "");
            put_words(&s, word);
        }
    end_sentence(&s);
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
    if (print_dropped(f, out) || shared)
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
