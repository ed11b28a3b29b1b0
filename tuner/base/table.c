/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.c - keeps the rows of a table and writes them for programs. It does not know the
 * meaning of the cells. table_print.c writes tables for people.
 */
#include "tuner/base/table_inside.h"

#include "core/json.h"
#include "tuner/base/cell.h"

#include <stdlib.h>
#include <string.h>

gt_status gt_table_create(struct gt_table **out, const struct gt_form *form,
                          struct gt_err *err) {
    struct gt_table *t = form->columns <= GT_COLUMNS_MAX ? calloc(1, sizeof *t) : NULL;
    *out = t;
    if (form->columns > GT_COLUMNS_MAX)
        return gt_fail(err, GEMMTUNE_EINVAL, "%zu columns; a table has at most %d",
                       form->columns, GT_COLUMNS_MAX);
    if (t == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for a table");
    t->form = form;
    return GEMMTUNE_OK;
}

static void free_texts(const struct gt_kept *cells, size_t count) {
    for (size_t i = 0; i < count; i++)
        free(cells[i].text);
}

void gt_table_destroy(struct gt_table *t) {
    if (t == NULL)
        return;
    free_texts(t->cell, t->rows * t->form->columns);
    free(t->cell);
    free(t);
}

static bool grow(struct gt_table *t) {
    if (t->rows < t->room)
        return true;
    const size_t room = t->room == 0 ? 16 : 2 * t->room;
    struct gt_kept *cell = realloc(t->cell, room * t->form->columns * sizeof *cell);
    if (cell == NULL)
        return false;
    t->cell = cell;
    t->room = room;
    return true;
}

/* False when memory is short. */
static bool keep(struct gt_kept *out, const struct gt_cell *cell) {
    const size_t size = cell->text != NULL ? strlen(cell->text) + 1 : 0;
    *out = (struct gt_kept){size > 0 ? malloc(size) : NULL, cell->number};
    if (out->text != NULL)
        memcpy(out->text, cell->text, size);
    return out->text != NULL || size == 0;
}

gt_status gt_table_add(struct gt_table *t, const void *row, struct gt_err *err) {
    struct gt_cell cell[GT_COLUMNS_MAX];
    bool whole = grow(t);
    if (whole) {
        struct gt_kept *kept = t->cell + t->rows * t->form->columns;
        t->form->fill(cell, row);
        for (size_t i = 0; i < t->form->columns; i++)
            whole = keep(&kept[i], &cell[i]) && whole;
        if (!whole)
            free_texts(kept, t->form->columns);
    }
    if (!whole)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for row %zu of a table",
                       t->rows + 1);
    t->rows++;
    return GEMMTUNE_OK;
}

/* ---- for spreadsheets ---- */

static bool is_formula(const char *text) {
    return text[0] != '\0' && strchr("=+-@\t\r", text[0]) != NULL;
}

static void csv_field(const char *text, bool is_text, FILE *out) {
    const bool formula = is_text && is_formula(text);
    if (!formula && strpbrk(text, ",\"\r\n") == NULL) {
        (void)fputs(text, out);
        return;
    }
    (void)fputs(formula ? "\"'" : "\"", out);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            (void)fputc('"', out);
        (void)fputc(*text, out);
    }
    (void)fputc('"', out);
}

void gt_table_csv_line(const struct gt_table *t, size_t line, FILE *out) {
    const char *comma = "";
    char buf[GT_CELL_MAX];
    for (size_t i = 0; i < t->form->columns; i++) {
        const struct gt_column *column = &t->form->column[i];
        if (column->key == NULL)
            continue;
        const char *text = line == 0 ? column->key
                                     : gt_cell_show(buf, column->kind,
                                                    gt_table_cell(t, line - 1, i), false);
        (void)fputs(comma, out);
        csv_field(text != NULL ? text : "", line == 0 || gt_cell_is_text(column->kind),
                  out);
        comma = ",";
    }
    (void)fputs("\r\n", out);
}

void gt_table_csv(const struct gt_table *t, FILE *out) {
    for (size_t line = 0; line <= t->rows; line++)
        gt_table_csv_line(t, line, out);
}

/* ---- for programs ---- */

static void json_cell(const struct gt_column *column, struct gt_cell cell, FILE *out) {
    char buf[GT_CELL_MAX];
    const char *text = gt_cell_show(buf, column->kind, cell, false);
    if (text == NULL)
        (void)fputs("null", out);
    else if (gt_cell_is_text(column->kind))
        gt_json_quote(out, text);
    else
        (void)fputs(text, out);
}

void gt_table_json_row(const struct gt_table *t, size_t row, FILE *out) {
    const char *comma = "{";
    for (size_t i = 0; i < t->form->columns; i++) {
        const struct gt_column *column = &t->form->column[i];
        if (column->key == NULL)
            continue;
        (void)fputs(comma, out);
        gt_json_quote(out, column->key);
        (void)fputs(": ", out);
        json_cell(column, gt_table_cell(t, row, i), out);
        comma = ", ";
    }
    (void)fputc('}', out);
}

void gt_table_json(const struct gt_table *t, FILE *out) {
    (void)fputc('[', out);
    for (size_t row = 0; row < t->rows; row++) {
        (void)fputs(row > 0 ? ",\n  " : "\n  ", out);
        gt_table_json_row(t, row, out);
    }
    (void)fputs(t->rows > 0 ? "\n]\n" : "]\n", out);
}
