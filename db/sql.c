/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sql.c - statements: prepared, stepped, and their failures in our words. Knows no table.
 */
#include "db/internal.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/resource.h>

/* ---- failures -------------------------------------------------------------- */

struct meaning {
    int code; /* SQLite's primary code */
    gt_status status;
    const char *text; /* NULL: SQLite's own text */
};

/* For any other code the file itself is wrong. */
static const struct meaning meanings[] = {
    {SQLITE_NOMEM, GEMMTUNE_ENOMEM, NULL},
    {SQLITE_BUSY, GEMMTUNE_EIO, "another process has held it for 10 seconds"},
    {SQLITE_LOCKED, GEMMTUNE_EIO, NULL},
    {SQLITE_IOERR, GEMMTUNE_EIO, NULL},
    {SQLITE_FULL, GEMMTUNE_EIO, NULL},
    {SQLITE_CANTOPEN, GEMMTUNE_EIO, NULL},
    {SQLITE_PERM, GEMMTUNE_EIO, NULL},
    {SQLITE_AUTH, GEMMTUNE_EIO, NULL},
    {SQLITE_READONLY, GEMMTUNE_EIO, NULL},
    {SQLITE_PROTOCOL, GEMMTUNE_EIO, NULL},
    {SQLITE_INTERRUPT, GEMMTUNE_EDB, "reading it takes longer than its size can explain"},
    {SQLITE_OK, GEMMTUNE_EDB, NULL}, /* ends the list */
};

/* The limit that a write may have reached: SQLite does not name it. "" when there is
 * none. */
static void say_limit(char *text, size_t size, int code) {
    struct rlimit limit;
    text[0] = '\0';
    if ((code == SQLITE_IOERR || code == SQLITE_FULL) &&
        getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        (void)snprintf(text, size, " (files may have %llu bytes here: ulimit -f)",
                       (unsigned long long)limit.rlim_cur);
}

static gt_status fail(const struct gt_db *db, struct gt_err *err) {
    const int code = sqlite3_extended_errcode(db->conn);
    if (code == SQLITE_READONLY_ROLLBACK || code == SQLITE_READONLY_RECOVERY)
        return gt_fail(
            err, GEMMTUNE_EIO,
            "%s: a process died while writing it; the next command that opens it "
            "for writing repairs it",
            db->path);
    char limit[64];
    say_limit(limit, sizeof limit, code & 0xff);
    const struct meaning *m = meanings;
    while (m->code != SQLITE_OK && m->code != (code & 0xff))
        m++;
    return gt_fail(err, m->status, "%s: %s%s", db->path,
                   m->text != NULL ? m->text : sqlite3_errmsg(db->conn), limit);
}

/* ---- statements ------------------------------------------------------------ */

gt_status gt_sql_prepare(sqlite3_stmt **out, struct gt_db *db, const char *sql,
                         struct gt_err *err) {
    db->spent = 0;
    *out = NULL;
    if (sqlite3_prepare_v2(db->conn, sql, -1, out, NULL) != SQLITE_OK)
        return fail(db, err);
    return GEMMTUNE_OK;
}

gt_status gt_sql_step(bool *row, struct gt_db *db, sqlite3_stmt *stmt, struct gt_err *err) {
    const int code = sqlite3_step(stmt);
    *row = code == SQLITE_ROW;
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        return fail(db, err);
    return GEMMTUNE_OK;
}

gt_status gt_sql_script(struct gt_db *db, const char *sql, struct gt_err *err) {
    db->spent = 0;
    if (sqlite3_exec(db->conn, sql, NULL, NULL, NULL) != SQLITE_OK)
        return fail(db, err);
    return GEMMTUNE_OK;
}

static int bind(sqlite3_stmt *stmt, const char *types, va_list args) {
    int code = SQLITE_OK;
    for (int i = 0; types[i] != '\0' && code == SQLITE_OK; i++)
        code = types[i] == 'i' ? sqlite3_bind_int64(stmt, i + 1, va_arg(args, int64_t))
                               : sqlite3_bind_text(stmt, i + 1, va_arg(args, const char *),
                                                   -1, SQLITE_STATIC);
    return code;
}

/* Runs the statement up to its first row; its arguments must live until it is finalized. */
static gt_status start(sqlite3_stmt **out, bool *row, struct gt_db *db, struct gt_err *err,
                       const char *sql, const char *types, va_list args) {
    const gt_status status = gt_sql_prepare(out, db, sql, err);
    if (status != GEMMTUNE_OK)
        return status;
    if (bind(*out, types, args) != SQLITE_OK)
        return fail(db, err);
    return gt_sql_step(row, db, *out, err);
}

gt_status gt_sql_run(struct gt_db *db, struct gt_err *err, const char *sql,
                     const char *types, ...) {
    sqlite3_stmt *stmt = NULL;
    bool row = false;
    va_list args;
    va_start(args, types);
    gt_status status = start(&stmt, &row, db, err, sql, types, args);
    va_end(args);
    while (status == GEMMTUNE_OK && row)
        status = gt_sql_step(&row, db, stmt, err);
    (void)sqlite3_finalize(stmt);
    return status;
}

gt_status gt_sql_int(int64_t *out, bool *found, struct gt_db *db, struct gt_err *err,
                     const char *sql, const char *types, ...) {
    sqlite3_stmt *stmt = NULL;
    bool row = false;
    va_list args;
    va_start(args, types);
    const gt_status status = start(&stmt, &row, db, err, sql, types, args);
    va_end(args);
    const bool some =
        status == GEMMTUNE_OK && row && sqlite3_column_type(stmt, 0) == SQLITE_INTEGER;
    *out = some ? sqlite3_column_int64(stmt, 0) : 0;
    if (found != NULL)
        *found = some;
    (void)sqlite3_finalize(stmt);
    return status;
}
