/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row.c - rows of any table: loaded and checked by the table's list of columns. A loaded
 * row has passed its checksum and every check that a row must pass to be stored.
 */
#include "db/internal.h"

#include "core/text.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers as text ------------------------------------------------------- */

struct gt_locales gt_locale_enter(void) {
    struct gt_locales l = {.plain = newlocale(LC_ALL_MASK, "C", (locale_t)0)};
    l.before = uselocale(l.plain);
    return l;
}

void gt_locale_leave(struct gt_locales l) {
    (void)uselocale(l.before);
    if (l.plain != (locale_t)0)
        freelocale(l.plain);
}

/* Reads only the form that put.c writes: "[1,2.5]". */
static bool samples_parse(struct gt_measurement *m, const char *text) {
    bool sound = strcmp(text, "[]") == 0;
    m->samples = 0;
    if (sound || text[0] != '[')
        return sound;
    const struct gt_locales l = gt_locale_enter();
    char *end = NULL;
    do {
        sound = m->samples < GT_SAMPLES_MAX && text[1] >= '0' && text[1] <= '9';
        if (sound)
            m->sample_ns[m->samples++] = strtof(text + 1, &end);
        text = end;
    } while (sound && *text == ',');
    sound = sound && strcmp(text, "]") == 0;
    gt_locale_leave(l);
    return sound;
}

/* ---- checks ---------------------------------------------------------------- */

/* Whether eight bytes are printable ASCII. After the first test no sum of a byte carries
 * into the next one. */
static bool are_printable(const char *text) {
    const uint64_t each = UINT64_C(0x0101010101010101), top = 0x80 * each;
    uint64_t bytes;
    memcpy(&bytes, text, sizeof bytes);
    return (bytes & top) == 0 && ((bytes + each) & top) == 0 &&
           ((bytes + 0x60 * each) & top) == top;
}

/* Whether the text of so many bytes is UTF-8 without control characters. */
static bool is_line(const char *text, size_t left) {
    for (; left >= 8 && are_printable(text); left -= 8)
        text += 8;
    while (left > 0) {
        const bool printable = *text >= ' ' && *text <= '~';
        const size_t len = printable ? 1 : gt_text_utf8(text, left);
        if (len == 0 || (unsigned char)*text < 0x20 || *text == 0x7f)
            return false;
        text += len;
        left -= len;
    }
    return true;
}

static gt_status check_text(const struct gt_db_column *column, const char *text,
                            struct gt_err *err) {
    if (text == NULL)
        return gt_fail(err, GEMMTUNE_EINVAL, "%s is missing", column->name);
    const size_t len = strlen(text);
    if (len < (size_t)column->low || len >= (size_t)column->high)
        return gt_fail(err, GEMMTUNE_EINVAL, "%s has %zu bytes", column->name, len);
    if (!is_line(text, len))
        return gt_fail(err, GEMMTUNE_EINVAL, "%s is not one line of UTF-8", column->name);
    return GEMMTUNE_OK;
}

/* Rows that are read in their order have most texts of the row before. */
static bool same_text(const struct gt_db_column *column, const char *text,
                      const void *before) {
    return before != NULL && text != NULL &&
           strcmp(text, gt_column_text(column, before)) == 0;
}

static int count_samples(const struct gt_db_column *column, const void *row) {
    struct gt_measurement m;
    memcpy(&m, (const char *)row + column->offset, sizeof m);
    return m.samples;
}

static gt_status check_column(const struct gt_db_column *column, const void *row,
                              const void *before, struct gt_err *err) {
    if (column->kind == GT_COLUMN_TEXT || column->kind == GT_COLUMN_CHARS) {
        const char *text = gt_column_text(column, row);
        return same_text(column, text, before) ? GEMMTUNE_OK
                                               : check_text(column, text, err);
    }
    if (column->kind == GT_COLUMN_REAL) {
        const double value = gt_column_real(column, row);
        return isfinite(value) && value >= 0
                   ? GEMMTUNE_OK
                   : gt_fail(err, GEMMTUNE_EINVAL, "%s is %g", column->name, value);
    }
    if (column->kind == GT_COLUMN_WORD)
        return gt_column_text(column, row) != NULL
                   ? GEMMTUNE_OK
                   : gt_fail(err, GEMMTUNE_EINVAL, "%s is not in its list", column->name);
    const int64_t value = column->kind == GT_COLUMN_SAMPLES ? count_samples(column, row)
                                                            : gt_column_int(column, row);
    if (value < column->low || value > column->high)
        return gt_fail(err, GEMMTUNE_EINVAL, "%s is %" PRId64, column->name, value);
    return GEMMTUNE_OK;
}

gt_status gt_row_check(const struct gt_db_table *table, const void *row, const void *before,
                       struct gt_err *err) {
    for (size_t i = 0; i < table->count; i++)
        if (check_column(&table->column[i], row, before, err) != GEMMTUNE_OK)
            return GEMMTUNE_EINVAL;
    return table->check(row, before, err);
}

/* ---- from SQL -------------------------------------------------------------- */

char *gt_row_select(const struct gt_db_table *table, const char *where, bool ordered) {
    sqlite3_str *sql = sqlite3_str_new(NULL);
    sqlite3_str_appendall(sql, "SELECT ");
    for (size_t i = 0; i < table->count; i++) {
        const struct gt_db_column *column = &table->column[i];
        if (column->from != NULL)
            sqlite3_str_appendf(sql, "%s, ", column->from);
        else
            sqlite3_str_appendf(sql, "x.%s, ", column->name);
    }
    sqlite3_str_appendf(sql, "x.checksum, x.id FROM %s AS x", table->name);
    for (const char *const *join = table->joins; *join != NULL; join++)
        sqlite3_str_appendf(sql, "%s JOIN %s", where == NULL ? " LEFT" : "", *join);
    if (where != NULL)
        sqlite3_str_appendf(sql, " WHERE %s", where);
    if (ordered)
        sqlite3_str_appendf(sql, " ORDER BY %s", table->order);
    return sqlite3_str_finish(sql);
}

/* The text in column i and its bytes with the NUL; NULL when it is not text or holds a
 * NUL. */
static const char *text_at(size_t *size, sqlite3_stmt *stmt, int i) {
    if (sqlite3_column_type(stmt, i) != SQLITE_TEXT)
        return NULL;
    const char *text = (const char *)sqlite3_column_text(stmt, i);
    *size = (size_t)sqlite3_column_bytes(stmt, i) + 1;
    return text != NULL && strlen(text) + 1 == *size ? text : NULL;
}

static gt_status load_samples(const struct gt_db_column *column, void *row,
                              const char *text, struct gt_err *err) {
    struct gt_measurement m;
    char *member = (char *)row + column->offset;
    memcpy(&m, member, sizeof m);
    const bool sound = samples_parse(&m, text);
    memcpy(member, &m, sizeof m);
    return sound ? GEMMTUNE_OK
                 : gt_fail(err, GEMMTUNE_EDB, "%s are not numbers", column->name);
}

/* Copies the text to *texts, which goes on to the room of the next one. */
static gt_status keep_text(const struct gt_db_column *column, void *row, char **texts,
                           const char *text, size_t size, struct gt_err *err) {
    if (size > (size_t)column->high)
        return gt_column_set_text(column, row, text, err); /* which says so */
    memcpy(*texts, text, size);
    memcpy((char *)row + column->offset, texts, sizeof *texts);
    *texts += column->high;
    return GEMMTUNE_OK;
}

static gt_status load_text(const struct gt_db_column *column, void *row, char **texts,
                           sqlite3_stmt *stmt, int i, struct gt_err *err) {
    size_t size = 0;
    const char *text = text_at(&size, stmt, i);
    if (text == NULL)
        return gt_fail(err, GEMMTUNE_EDB, "%s is not text", column->name);
    if (column->kind == GT_COLUMN_SAMPLES)
        return load_samples(column, row, text, err);
    return column->kind == GT_COLUMN_TEXT ? keep_text(column, row, texts, text, size, err)
                                          : gt_column_set_text(column, row, text, err);
}

static gt_status load_int(const struct gt_db_column *column, void *row, sqlite3_stmt *stmt,
                          int i, struct gt_err *err) {
    const int type = sqlite3_column_type(stmt, i);
    const int64_t value = sqlite3_column_int64(stmt, i);
    const bool null = column->kind == GT_COLUMN_REF && type == SQLITE_NULL;
    if (!null && (type != SQLITE_INTEGER || value < column->low || value > column->high))
        return gt_fail(err, GEMMTUNE_EDB, "%s is not an integer in its range",
                       column->name);
    gt_column_set_int(column, row, value);
    return GEMMTUNE_OK;
}

static gt_status load_column(const struct gt_db_column *column, void *row, char **texts,
                             sqlite3_stmt *stmt, int i, struct gt_err *err) {
    switch (column->kind) {
    case GT_COLUMN_TEXT:
    case GT_COLUMN_CHARS:
    case GT_COLUMN_WORD:
    case GT_COLUMN_SAMPLES:
        return load_text(column, row, texts, stmt, i, err);
    case GT_COLUMN_REAL:
        if (sqlite3_column_type(stmt, i) != SQLITE_FLOAT)
            return gt_fail(err, GEMMTUNE_EDB, "%s is not a number", column->name);
        gt_column_set_real(column, row, sqlite3_column_double(stmt, i));
        return GEMMTUNE_OK;
    default:
        return load_int(column, row, stmt, i, err);
    }
}

gt_status gt_row_load(void *row, int64_t *id, const struct gt_db_table *table,
                      const void *before, sqlite3_stmt *stmt, struct gt_err *err) {
    const int count = (int)table->count;
    char *texts = (char *)row + table->texts;
    char checksum[GT_CHECKSUM_MAX];
    *id = sqlite3_column_int64(stmt, count + 1);
    for (int i = 0; i < count; i++)
        if (load_column(&table->column[i], row, &texts, stmt, i, err) != GEMMTUNE_OK)
            return GEMMTUNE_EDB;
    size_t size = 0;
    const char *stored = text_at(&size, stmt, count);
    gt_row_checksum(checksum, table, row);
    if (stored == NULL || strcmp(stored, checksum) != 0)
        return gt_fail(err, GEMMTUNE_EDB, "its checksum is wrong");
    return gt_row_check(table, row, before, err) == GEMMTUNE_OK ? GEMMTUNE_OK
                                                                : GEMMTUNE_EDB;
}
