/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.c - one set of cells, written three ways. Knows nothing of what the cells mean.
 */
#include "tuner/base/table.h"

#include "core/json.h"
#include "core/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS_MAX = 32 }; /* a person reads fewer */

struct gt_table {
    const struct gt_column *column;
    size_t columns;
    size_t rows, room; /* in rows */
    char **cell;       /* rows * columns; NULL is an empty cell */
};

gt_status gt_table_create(struct gt_table **out, const struct gt_column *columns,
                          size_t count, struct gt_err *err) {
    struct gt_table *t = count <= COLUMNS_MAX ? calloc(1, sizeof *t) : NULL;
    *out = t;
    if (count > COLUMNS_MAX)
        return gt_fail(err, GEMMTUNE_EINVAL, "%zu columns; a table has at most %d", count,
                       COLUMNS_MAX);
    if (t == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for a table");
    t->column = columns;
    t->columns = count;
    return GEMMTUNE_OK;
}

void gt_table_destroy(struct gt_table *t) {
    if (t == NULL)
        return;
    for (size_t i = 0; i < t->rows * t->columns; i++)
        free(t->cell[i]);
    free(t->cell);
    free(t);
}

static bool grow(struct gt_table *t) {
    if (t->rows < t->room)
        return true;
    const size_t room = t->room == 0 ? 16 : 2 * t->room;
    char **cell = realloc(t->cell, room * t->columns * sizeof *cell);
    if (cell == NULL)
        return false;
    t->cell = cell;
    t->room = room;
    return true;
}

static char *copy(const char *text) {
    char *out = malloc(strlen(text) + 1);
    if (out != NULL)
        memcpy(out, text, strlen(text) + 1);
    return out;
}

gt_status gt_table_row(struct gt_table *t, const char *const *cells, struct gt_err *err) {
    if (!grow(t))
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for row %zu of a table",
                       t->rows + 1);
    char **row = t->cell + t->rows * t->columns;
    bool whole = true;
    for (size_t i = 0; i < t->columns; i++) {
        row[i] = cells[i] != NULL ? copy(cells[i]) : NULL;
        whole = whole && (row[i] != NULL || cells[i] == NULL);
    }
    if (whole) {
        t->rows++;
        return GEMMTUNE_OK;
    }
    for (size_t i = 0; i < t->columns; i++)
        free(row[i]);
    return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for row %zu of a table", t->rows + 1);
}

static const char *cell_at(const struct gt_table *t, size_t row, size_t column) {
    return t->cell[row * t->columns + column];
}

/* ---- for people ------------------------------------------------------------------ */

static const char *shown(const char *cell) {
    return cell != NULL && cell[0] != '\0' ? cell : "-";
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
    size_t width = width_of(t->column[column].title);
    for (size_t row = 0; row < t->rows; row++) {
        const size_t cell = width_of(shown(cell_at(t, row, column)));
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
    const bool right = column->align == GT_RIGHT;
    const size_t ahead = line->owed + (right ? pad : 0);
    if (text[0] == '\0') { /* a heading without a word: nothing to stand behind blanks */
        line->owed = ahead + 2 + (right ? 0 : pad);
        return;
    }
    print_blanks(ahead, line->out);
    (void)fputs(text, line->out);
    line->owed = 2 + (right ? 0 : pad);
}

/* Row 0 is the heading. */
static void print_line(const struct gt_table *t, size_t row, const size_t *width,
                       FILE *out) {
    struct line line = {out, 0};
    for (size_t i = 0; i < t->columns; i++)
        if (t->column[i].title != NULL)
            put_cell(&line, &t->column[i], width[i],
                     row == 0 ? t->column[i].title : shown(cell_at(t, row - 1, i)));
    (void)fputc('\n', out);
}

void gt_table_print(const struct gt_table *t, FILE *out) {
    size_t width[COLUMNS_MAX];
    for (size_t i = 0; i < t->columns; i++)
        width[i] = t->column[i].title != NULL ? column_width(t, i) : 0;
    for (size_t row = 0; row <= t->rows; row++)
        print_line(t, row, width, out);
}

/* ---- for spreadsheets -------------------------------------------------------------- */

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

void gt_table_csv_line(const struct gt_table *t, size_t row, FILE *out) {
    const char *comma = "";
    for (size_t i = 0; i < t->columns; i++) {
        const struct gt_column *column = &t->column[i];
        if (column->key == NULL)
            continue;
        const char *cell = row == 0 ? column->key : cell_at(t, row - 1, i);
        (void)fputs(comma, out);
        csv_field(cell != NULL ? cell : "", column->kind == GT_CELL_TEXT, out);
        comma = ",";
    }
    (void)fputs("\r\n", out);
}

void gt_table_csv(const struct gt_table *t, FILE *out) {
    for (size_t row = 0; row <= t->rows; row++)
        gt_table_csv_line(t, row, out);
}

/* ---- for programs ------------------------------------------------------------------- */

static size_t digits(const char *text) {
    return strspn(text, "0123456789");
}

/* JSON's grammar: -? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)? */
static bool is_json_number(const char *at) {
    at += at[0] == '-';
    const size_t whole = digits(at);
    if (whole == 0 || (whole > 1 && at[0] == '0'))
        return false;
    at += whole;
    if (at[0] == '.') {
        if (digits(at + 1) == 0)
            return false;
        at += 1 + digits(at + 1);
    }
    if (at[0] == 'e' || at[0] == 'E') {
        at += 1 + (at[1] == '+' || at[1] == '-');
        if (digits(at) == 0)
            return false;
        at += digits(at);
    }
    return at[0] == '\0';
}

static void json_cell(const char *cell, enum gt_cell_kind kind, FILE *out) {
    const bool literal =
        cell != NULL && ((kind == GT_CELL_NUMBER && is_json_number(cell)) ||
                         (kind == GT_CELL_BOOL &&
                          (strcmp(cell, "true") == 0 || strcmp(cell, "false") == 0)));
    if (literal)
        (void)fputs(cell, out);
    else if (cell != NULL && kind == GT_CELL_TEXT)
        gt_json_quote(out, cell);
    else
        (void)fputs("null", out);
}

void gt_table_json_row(const struct gt_table *t, size_t row, FILE *out) {
    const char *comma = "{";
    for (size_t i = 0; i < t->columns; i++) {
        const struct gt_column *column = &t->column[i];
        if (column->key == NULL)
            continue;
        (void)fputs(comma, out);
        gt_json_quote(out, column->key);
        (void)fputs(": ", out);
        json_cell(cell_at(t, row, i), column->kind, out);
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

/* ---- cells --------------------------------------------------------------------------- */

/* A host program may have set a locale with a decimal comma. */
static const char *with_point(char buf[GT_CELL_MAX]) {
    for (char *at = buf; *at != '\0'; at++)
        if (*at == ',')
            *at = '.';
    return buf;
}

/* A row of units: the largest whose size the value reaches is used. */
struct unit {
    double size;
    const char *name;
};

/* Three digits, and no exponent below a million: "999", "1.25", "0.0123". */
static const char *show_scaled(char buf[GT_CELL_MAX], double value,
                               const struct unit *units) {
    /* A value that rounds up to the next unit's 1 belongs there: 999.6 us is 1 ms. */
    while (units[1].name != NULL && fabs(value) < units->size * 0.9995)
        units++;
    const double scaled = value / units->size;
    const double rounded = fabs(scaled) >= 100 ? round(scaled) : scaled;
    (void)snprintf(buf, GT_CELL_MAX, fabs(scaled) >= 100 ? "%.6g %s" : "%.3g %s", rounded,
                   units->name);
    return with_point(buf);
}

const char *gt_show_ns(char buf[GT_CELL_MAX], double ns) {
    static const struct unit units[] = {
        {1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}, {0, NULL}};
    buf[0] = '\0';
    return isfinite(ns) && ns > 0 ? show_scaled(buf, ns, units) : buf;
}

const char *gt_show_bytes(char buf[GT_CELL_MAX], double bytes) {
    static const struct unit units[] = {{0x1p50, "PiB"}, {0x1p40, "TiB"}, {0x1p30, "GiB"},
                                        {0x1p20, "MiB"}, {0x1p10, "KiB"}, {1, "B"},
                                        {0, NULL}};
    buf[0] = '\0';
    return isfinite(bytes) ? show_scaled(buf, bytes, units) : buf;
}

const char *gt_show_count(char buf[GT_CELL_MAX], double value) {
    buf[0] = '\0';
    if (!isfinite(value))
        return buf;
    const bool whole = value == floor(value) && fabs(value) < 1e15;
    (void)snprintf(buf, GT_CELL_MAX, whole ? "%.0f" : "%.6g", value);
    return with_point(buf);
}

const char *gt_show_rate(char buf[GT_CELL_MAX], double flops, double ns) {
    const double rate = flops / ns; /* operations a nanosecond are GFLOP/s */
    buf[0] = '\0';
    if (!isfinite(rate) || rate < 0)
        return buf;
    /* %g would write 12345 with an exponent */
    (void)snprintf(buf, GT_CELL_MAX, rate >= 999.95 && rate < 1e15 ? "%.0f" : "%.4g", rate);
    return with_point(buf);
}
