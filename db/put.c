/* SPDX-License-Identifier: Apache-2.0 */
/*
 * put.c - stores rows of any table by its list of columns, each with its checksum. A row
 * that a reader would skip is refused here.
 */
#include "db/internal.h"

#include <stdio.h>
#include <string.h>

/* "[" and up to 64 numbers of at most 16 bytes, each with a "," or "]". */
enum { SAMPLES_TEXT_MAX = 2 + GT_SAMPLES_MAX * 17 };

static void samples_print(char text[SAMPLES_TEXT_MAX], const struct gt_measurement *m) {
    const struct gt_locales l = gt_locale_enter();
    size_t used = 0;
    for (int i = 0; i < m->samples; i++)
        used += (size_t)snprintf(text + used, SAMPLES_TEXT_MAX - used, "%c%.9g",
                                 i == 0 ? '[' : ',', (double)m->sample_ns[i]);
    (void)snprintf(text + used, SAMPLES_TEXT_MAX - used, m->samples == 0 ? "[]" : "]");
    gt_locale_leave(l);
}

/* A failed bind leaves NULL, which every column but a REF refuses. */
static void bind_column(sqlite3_stmt *stmt, int i, const struct gt_db_column *column,
                        const void *row) {
    struct gt_measurement m;
    char samples[SAMPLES_TEXT_MAX];
    int64_t value = 0;
    switch (column->kind) {
    case GT_COLUMN_TEXT:
    case GT_COLUMN_CHARS:
    case GT_COLUMN_WORD:
        (void)sqlite3_bind_text(stmt, i, gt_column_text(column, row), -1, SQLITE_TRANSIENT);
        break;
    case GT_COLUMN_REAL:
        (void)sqlite3_bind_double(stmt, i, gt_column_real(column, row));
        break;
    case GT_COLUMN_SAMPLES:
        memcpy(&m, (const char *)row + column->offset, sizeof m);
        samples_print(samples, &m);
        (void)sqlite3_bind_text(stmt, i, samples, -1, SQLITE_TRANSIENT);
        break;
    default:
        value = gt_column_int(column, row);
        if (column->kind != GT_COLUMN_REF || value != 0)
            (void)sqlite3_bind_int64(stmt, i, value);
    }
}

/* Parameter 1 is the subject, which a device does not have; the last one is the
 * checksum. */
static char *put_sql(const struct gt_db_table *table) {
    sqlite3_str *sql = sqlite3_str_new(NULL);
    sqlite3_str_appendf(sql, "INSERT INTO %s (%s", table->name,
                        table->own > 0 ? "subject, " : "");
    for (size_t i = table->own; i < table->count; i++)
        sqlite3_str_appendf(sql, "%s, ", table->column[i].name);
    sqlite3_str_appendall(sql, "checksum) VALUES (");
    for (size_t i = table->own > 0 ? table->own : 1; i <= table->count; i++)
        sqlite3_str_appendall(sql, "?, ");
    sqlite3_str_appendf(sql, "?) ON CONFLICT (%s) DO UPDATE SET ", table->conflict);
    for (size_t i = table->own; i < table->count; i++)
        sqlite3_str_appendf(sql, "%s = excluded.%s, ", table->column[i].name,
                            table->column[i].name);
    sqlite3_str_appendall(sql, "checksum = excluded.checksum RETURNING id");
    return sqlite3_str_finish(sql);
}

static void bind_row(sqlite3_stmt *stmt, const struct gt_db_table *table, int64_t subject,
                     const void *row) {
    char checksum[GT_CHECKSUM_MAX];
    int at = 1;
    if (table->own > 0)
        (void)sqlite3_bind_int64(stmt, at++, subject);
    for (size_t i = table->own; i < table->count; i++)
        bind_column(stmt, at++, &table->column[i], row);
    gt_row_checksum(checksum, table, row);
    (void)sqlite3_bind_text(stmt, at, checksum, -1, SQLITE_TRANSIENT);
}

gt_status gt_row_put(int64_t *id, struct gt_db *db, const struct gt_db_table *table,
                     int64_t subject, const void *row, struct gt_err *err) {
    sqlite3_stmt *stmt = NULL;
    char *sql = NULL;
    bool more = false;
    gt_status status = gt_row_check(table, row, NULL, err);
    if (status != GEMMTUNE_OK)
        goto done;
    sql = put_sql(table);
    status = sql != NULL ? gt_sql_prepare(&stmt, db, sql, err)
                         : gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    if (status != GEMMTUNE_OK)
        goto done;
    bind_row(stmt, table, subject, row);
    status = gt_sql_step(&more, db, stmt, err);
    if (status == GEMMTUNE_OK && id != NULL)
        *id = sqlite3_column_int64(stmt, 0);
    if (status == GEMMTUNE_OK)
        status = gt_sql_step(&more, db, stmt, err);
done:
    (void)sqlite3_finalize(stmt);
    sqlite3_free(sql);
    return status;
}
