/* SPDX-License-Identifier: Apache-2.0 */
/* table_markdown.c - writes a table for a page of Markdown. */
#include "tuner/base/cell.h"
#include "tuner/base/table_inside.h"

#include <string.h>

/* A text without what would end its cell. */
static void put_text(const char *text, FILE *out) {
    for (; *text != '\0'; text++) {
        if (*text == '|')
            (void)fputc('\\', out);
        (void)fputc(*text, out);
    }
}

static void put_heads(const struct gt_table *t, FILE *out) {
    const struct gt_form *form = t->form;
    (void)fputs("|", out);
    for (size_t i = 0; i < form->columns; i++)
        if (form->column[i].title != NULL)
            fprintf(out, "%s%s |", form->column[i].title[0] != '\0' ? " " : "",
                    form->column[i].title);
    (void)fputs("\n|", out);
    for (size_t i = 0; i < form->columns; i++)
        if (form->column[i].title != NULL)
            (void)fputs(gt_cell_is_text(form->column[i].kind) ? " --- |" : " ---: |", out);
    (void)fputs("\n", out);
}

void gt_table_markdown(const struct gt_table *t, FILE *out) {
    char buf[GT_CELL_MAX];
    put_heads(t, out);
    for (size_t row = 0; row < t->rows; row++) {
        (void)fputs("|", out);
        for (size_t i = 0; i < t->form->columns; i++) {
            const struct gt_column *column = &t->form->column[i];
            const char *text =
                column->title == NULL
                    ? NULL
                    : gt_cell_show(buf, column->kind, gt_table_cell(t, row, i), true);
            if (text != NULL && text[0] != '\0') {
                (void)fputc(' ', out);
                put_text(text, out);
            }
            if (column->title != NULL)
                (void)fputs(" |", out);
        }
        (void)fputs("\n", out);
    }
}
