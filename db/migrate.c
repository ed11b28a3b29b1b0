/* SPDX-License-Identifier: Apache-2.0 */
/*
 * migrate.c - brings a file to the newest schema, and checks that a file's tables are ours.
 */
#include "db/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int gt_migrations_last(const struct gt_migration *migrations) {
    int last = 0;
    for (; migrations->sql != NULL; migrations++)
        last = migrations->version;
    return last;
}

/* ---- the database's own name ----------------------------------------------- */

static void origin_checksum(char checksum[GT_CHECKSUM_MAX], const char *name) {
    struct gt_hash h;
    gt_hash_init(&h);
    gt_hash_add_text(&h, "origin");
    gt_hash_add_text(&h, name);
    gt_checksum_end(checksum, &h);
}

/* "<machine>-<16 random hex digits>": tells where rows come from, and is unique. */
static void origin_make(char name[GT_PROVENANCE_MAX]) {
    char host[64] = "";
    uint64_t random = 0;
    if (gethostname(host, sizeof host - 1) != 0 || host[0] == '\0')
        memcpy(host, "machine", sizeof "machine");
    for (char *c = host; *c != '\0'; c++)
        if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.",
                   *c) == NULL)
            *c = '-';
    sqlite3_randomness((int)sizeof random, &random);
    (void)snprintf(name, GT_PROVENANCE_MAX, "%s-%016" PRIx64, host, random);
}

static gt_status origin_store(struct gt_db *db, struct gt_err *err) {
    char name[GT_PROVENANCE_MAX], checksum[GT_CHECKSUM_MAX];
    origin_make(name);
    origin_checksum(checksum, name);
    return gt_sql_run(db, err,
                      "INSERT INTO origin (id, name, checksum) VALUES (1, ?, ?) "
                      "ON CONFLICT (id) DO NOTHING",
                      "tt", name, checksum);
}

static bool origin_load(char name[GT_PROVENANCE_MAX], sqlite3_stmt *stmt) {
    char checksum[GT_CHECKSUM_MAX];
    const char *text = (const char *)sqlite3_column_text(stmt, 0);
    const char *stored = (const char *)sqlite3_column_text(stmt, 1);
    if (text == NULL || stored == NULL || strlen(text) >= GT_PROVENANCE_MAX)
        return false;
    memcpy(name, text, strlen(text) + 1);
    origin_checksum(checksum, name);
    return strcmp(checksum, stored) == 0 && strcmp(name, GT_LOCAL) != 0;
}

gt_status gt_db_origin(char name[GT_PROVENANCE_MAX], struct gt_db *db, struct gt_err *err) {
    sqlite3_stmt *stmt = NULL;
    bool row = false;
    gt_status status =
        gt_sql_prepare(&stmt, db, "SELECT name, checksum FROM origin WHERE id = 1", err);
    if (status == GEMMTUNE_OK)
        status = gt_sql_step(&row, db, stmt, err);
    if (status == GEMMTUNE_OK && !(row && origin_load(name, stmt)))
        status =
            gt_fail(err, GEMMTUNE_EDB, "%s: the database's own name is damaged", db->path);
    (void)sqlite3_finalize(stmt);
    return status;
}

/* ---- migrating ------------------------------------------------------------- */

/* Copies the whole file before the migration, through another connection. The connection
 * that migrates holds the write lock, so nothing changes meanwhile. */
static gt_status copy_to(const struct gt_db *db, const char *path, struct gt_err *err) {
    sqlite3 *from = NULL, *to = NULL;
    int code = sqlite3_open_v2(sqlite3_db_filename(db->conn, "main"), &from,
                               SQLITE_OPEN_READONLY, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_open_v2(path, &to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
    if (code == SQLITE_OK) {
        sqlite3_backup *backup = sqlite3_backup_init(to, "main", from, "main");
        (void)sqlite3_backup_step(backup, -1);
        code = backup != NULL ? sqlite3_backup_finish(backup) : sqlite3_errcode(to);
    }
    (void)sqlite3_close(to);
    (void)sqlite3_close(from);
    if (code != SQLITE_OK)
        return gt_fail(err, GEMMTUNE_EIO, "%s: copy before migrating: %s", path,
                       sqlite3_errstr(code));
    return GEMMTUNE_OK;
}

static gt_status back_up(const struct gt_db *db, int64_t version, struct gt_err *err) {
    char path[4096];
    const int len = snprintf(path, sizeof path, "%s.v%" PRId64 ".bak",
                             sqlite3_db_filename(db->conn, "main"), version);
    if (len < 0 || (size_t)len >= sizeof path)
        return gt_fail(err, GEMMTUNE_EIO, "%s: path is too long to copy", db->path);
    return copy_to(db, path, err);
}

static gt_status set_pragma(struct gt_db *db, const char *name, int value,
                            struct gt_err *err) {
    char sql[64];
    (void)snprintf(sql, sizeof sql, "PRAGMA %s = %d", name, value);
    return gt_sql_script(db, sql, err);
}

/* Changes that SQL cannot make to the rows of a file older than `version`. */
static const struct {
    int version;
    gt_status (*change)(struct gt_db *db, struct gt_err *err);
} changes[] = {
    {2, gt_db_rekey},
};

static gt_status change_rows(struct gt_db *db, int64_t version, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    for (size_t i = 0; i < sizeof changes / sizeof *changes && status == GEMMTUNE_OK; i++)
        if (version > 0 && version < changes[i].version)
            status = changes[i].change(db, err);
    return status;
}

static gt_status apply(struct gt_db *db, const struct gt_migration *migrations,
                       int64_t version, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    for (const struct gt_migration *m = migrations; m->sql != NULL && status == GEMMTUNE_OK;
         m++) {
        if (m->version <= version)
            continue;
        status = gt_sql_script(db, m->sql, err);
        if (status == GEMMTUNE_OK)
            status = set_pragma(db, "user_version", m->version, err);
    }
    return status;
}

/* Runs inside the transaction: of two processes that create a file, one waits and finds it
 * made. */
static gt_status migrate(struct gt_db *db, const struct gt_migration *migrations,
                         struct gt_err *err) {
    int64_t version = 0, objects = 0;
    gt_status status = gt_sql_int(&version, NULL, db, err, "PRAGMA user_version", "");
    if (status == GEMMTUNE_OK)
        status =
            gt_sql_int(&objects, NULL, db, err, "SELECT count(*) FROM sqlite_schema", "");
    if (status != GEMMTUNE_OK || version >= gt_migrations_last(migrations))
        return status;
    if (version == 0 && objects > 0)
        return gt_fail(err, GEMMTUNE_EDB, "%s: is not a gemmtune database", db->path);
    if (version > 0)
        status = back_up(db, version, err);
    if (status == GEMMTUNE_OK)
        status = apply(db, migrations, version, err);
    if (status == GEMMTUNE_OK)
        status = change_rows(db, version, err);
    if (status == GEMMTUNE_OK)
        status = set_pragma(db, "application_id", GT_DB_APPLICATION, err);
    return status == GEMMTUNE_OK ? origin_store(db, err) : status;
}

/* Foreign keys are off meanwhile: a table that others refer to is replaced by dropping it.
 * The pragma has no effect within a transaction. */
static gt_status migrate_at_once(struct gt_db *db, const struct gt_migration *migrations,
                                 struct gt_err *err) {
    gt_status status = set_pragma(db, "foreign_keys", 0, err);
    if (status == GEMMTUNE_OK)
        status = gt_sql_script(db, "BEGIN IMMEDIATE", err);
    if (status != GEMMTUNE_OK)
        return status;
    status = migrate(db, migrations, err);
    if (status == GEMMTUNE_OK)
        status = gt_sql_script(db, "COMMIT", err);
    if (status != GEMMTUNE_OK)
        (void)gt_sql_script(db, "ROLLBACK", NULL);
    return status;
}

gt_status gt_db_migrate(struct gt_db *db, const struct gt_migration *migrations,
                        struct gt_err *err) {
    int64_t version = 0;
    gt_status status = gt_sql_int(&version, NULL, db, err, "PRAGMA user_version", "");
    if (status != GEMMTUNE_OK || version >= gt_migrations_last(migrations))
        return status;
    status = migrate_at_once(db, migrations, err);
    const gt_status enforced =
        set_pragma(db, "foreign_keys", 1, status == GEMMTUNE_OK ? err : NULL);
    return status == GEMMTUNE_OK ? enforced : status;
}

/* ---- are the tables ours? -------------------------------------------------- */

static const char schema_sql[] =
    "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name";
enum { SCHEMA_COLUMNS = 4 };

static const char *text_or_empty(sqlite3_stmt *stmt, int i) {
    const char *text = (const char *)sqlite3_column_text(stmt, i);
    return text != NULL ? text : "";
}

static bool same_object(sqlite3_stmt *a, sqlite3_stmt *b) {
    for (int i = 0; i < SCHEMA_COLUMNS; i++)
        if (strcmp(text_or_empty(a, i), text_or_empty(b, i)) != 0)
            return false;
    return true;
}

/* Compares both lists in step; the first difference is a refusal. */
static gt_status compare(struct gt_db *db, sqlite3_stmt *have, struct gt_db *model,
                         sqlite3_stmt *want, struct gt_err *err) {
    bool one = true, other = true;
    while (one && other) {
        gt_status status = gt_sql_step(&one, db, have, err);
        if (status == GEMMTUNE_OK)
            status = gt_sql_step(&other, model, want, err);
        if (status != GEMMTUNE_OK)
            return status;
        if ((one || other) && !(one && other && same_object(have, want)))
            return gt_fail(err, GEMMTUNE_EDB, "%s: %s \"%s\" is not as gemmtune makes it",
                           db->path, text_or_empty(one ? have : want, 0),
                           text_or_empty(one ? have : want, 1));
    }
    return GEMMTUNE_OK;
}

/* Compares with tables that the migrations make in memory. */
static gt_status compare_with_model(struct gt_db *db, const struct gt_migration *migrations,
                                    struct gt_err *err) {
    char name[] = "schema of this program";
    struct gt_db model = {.path = name};
    sqlite3_stmt *have = NULL, *want = NULL;
    gt_status status = sqlite3_open(":memory:", &model.conn) == SQLITE_OK
                           ? apply(&model, migrations, 0, err)
                           : gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    if (status == GEMMTUNE_OK)
        status = gt_sql_prepare(&want, &model, schema_sql, err);
    if (status == GEMMTUNE_OK)
        status = gt_sql_prepare(&have, db, schema_sql, err);
    if (status == GEMMTUNE_OK)
        status = compare(db, have, &model, want, err);
    (void)sqlite3_finalize(have);
    (void)sqlite3_finalize(want);
    (void)sqlite3_close(model.conn);
    return status;
}

gt_status gt_db_schema_digest(char digest[65], struct gt_db *db, struct gt_err *err) {
    sqlite3_stmt *stmt = NULL;
    struct gt_hash h;
    bool row = true;
    gt_hash_init(&h);
    gt_status status = gt_sql_prepare(&stmt, db, schema_sql, err);
    while (status == GEMMTUNE_OK && row) {
        status = gt_sql_step(&row, db, stmt, err);
        for (int i = 0; status == GEMMTUNE_OK && row && i < SCHEMA_COLUMNS; i++)
            gt_hash_add_text(&h, text_or_empty(stmt, i));
    }
    gt_hash_hex(&h, digest);
    (void)sqlite3_finalize(stmt);
    return status;
}

const char gt_schema_known[] =
    "37996e878f2d02f75280f56bf1b38e34ede60423a669da97501ec20e3c24530a";

/* Running the migrations takes longer than all other parts of opening a small file. A file
 * with the usual digest needs no such model. */
gt_status gt_db_check_schema(struct gt_db *db, const struct gt_migration *migrations,
                             struct gt_err *err) {
    char digest[65];
    const gt_status status = gt_db_schema_digest(digest, db, err);
    if (status != GEMMTUNE_OK ||
        (migrations == gt_migrations && strcmp(digest, gt_schema_known) == 0))
        return status;
    return compare_with_model(db, migrations, err);
}
