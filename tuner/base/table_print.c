/* SPDX-License-Identifier: Apache-2.0 */
/* table_print.c - a table for people: aligned columns under a heading. */
#include "tuner/base/table_inside.h"

#include "core/text.h"

#include <string.h>

/* What stands in a cell: "-" where it is empty. */
static const char *shown(char buf[GT_CELL_MAX], const struct gt_table *t, size_t row,
                         size_t column) {
    const char *text = gt_cell_show(buf, t->form->column[column].kind,
                                    gt_table_cell(t, row, column), true);
    return text != NULL && text[0] != '\0' ? text : "-";
}

/* Characters, not bytes: device names and paths may be any UTF-8. */
static size_t width_of(const char *text) {
    size_t width = 0;
    for (size_t left = strlen(text); left > 0; width++) {
        const size_t len = gt_text_utf8(text, left);
        text += len > 0 ? len : 1;
        left -= len > 0 ? len : 1;
    }
    return width;
}

static size_t column_width(const struct gt_table *t, size_t column) {
    char buf[GT_CELL_MAX];
    size_t width = width_of(t->form->column[column].title);
    for (size_t row = 0; row < t->rows; row++) {
        const size_t cell = width_of(shown(buf, t, row, column));
        width = cell > width ? cell : width;
    }
    return width;
}

static void print_blanks(size_t count, FILE *out) {
    for (; count > 0; count--)
        (void)fputc(' ', out);
}

/* Cells of a line as they come: two blanks ahead of every one but the first, and the blanks
 * that fill a left-aligned cell only once another follows. */
struct line {
    FILE *out;
    size_t owed;
};

static void put_cell(struct line *line, const struct gt_column *column, size_t width,
                     const char *text) {
    const size_t pad = width - width_of(text);
    const bool right = !gt_cell_is_text(column->kind);
    const size_t ahead = line->owed + (right ? pad : 0);
    if (text[0] == '\0') { /* a heading without a word: nothing to stand behind blanks */
        line->owed = ahead + 2 + (right ? 0 : pad);
        return;
    }
    print_blanks(ahead, line->out);
    (void)fputs(text, line->out);
    line->owed = 2 + (right ? 0 : pad);
}

/* Line 0 is the heading. */
static void print_line(const struct gt_table *t, size_t line_number, const size_t *width,
                       FILE *out) {
    struct line line = {out, 0};
    char buf[GT_CELL_MAX];
    for (size_t i = 0; i < t->form->columns; i++) {
        const struct gt_column *column = &t->form->column[i];
        if (column->title != NULL)
            put_cell(&line, column, width[i],
                     line_number == 0 ? column->title : shown(buf, t, line_number - 1, i));
    }
    (void)fputc('\n', out);
}

void gt_table_print(const struct gt_table *t, FILE *out) {
    size_t width[GT_COLUMNS_MAX];
    for (size_t i = 0; i < t->form->columns; i++)
        width[i] = t->form->column[i].title != NULL ? column_width(t, i) : 0;
    for (size_t line = 0; line <= t->rows; line++)
        print_line(t, line, width, out);
}
