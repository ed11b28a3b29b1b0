/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open.c - opens a database file, or gives the reason why not. Any file may come from a
 * stranger until it has shown our application id, a version that we know and exactly our
 * tables. Nothing in it is run. A reader never writes a byte, not even a journal.
 */
#include "db/internal.h"

#include "core/clock.h"
#include "core/log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- where ----------------------------------------------------------------- */

/* The XDG base directory rules: a relative path counts as unset. */
static const char *folder_variable(const char *name) {
    const char *value = getenv(name);
    return value != NULL && value[0] == '/' ? value : NULL;
}

const char *gt_db_sqlite_version(void) {
    return sqlite3_libversion();
}

gt_status gt_db_default_path(char *buf, size_t size, struct gt_err *err) {
    const char *file = getenv("GEMMTUNE_DB");
    const char *data = folder_variable("XDG_DATA_HOME");
    const char *home = folder_variable("HOME");
    int len = -1;
    if (file != NULL && file[0] != '\0')
        len = snprintf(buf, size, "%s", file);
    else if (data != NULL)
        len = snprintf(buf, size, "%s/gemmtune/gemmtune.db", data);
    else if (home != NULL)
        len = snprintf(buf, size, "%s/.local/share/gemmtune/gemmtune.db", home);
    else
        return gt_fail(err, GEMMTUNE_EIO,
                       "no database: GEMMTUNE_DB, XDG_DATA_HOME and HOME are unset");
    if (len < 0 || (size_t)len >= size)
        return gt_fail(err, GEMMTUNE_EIO, "the path of the database is too long");
    return GEMMTUNE_OK;
}

static gt_status make_folder(const char *folder, struct gt_err *err) {
    if (mkdir(folder, 0700) == 0 || errno == EEXIST)
        return GEMMTUNE_OK;
    return gt_fail(err, GEMMTUNE_EIO, "%s: cannot make the folder: %s", folder,
                   strerror(errno));
}

/* Makes every missing folder on the path of the file, for this user only. */
static gt_status make_parents(const char *path, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    char *copy = strdup(path);
    if (copy == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    for (char *slash = strchr(copy + 1, '/'); slash != NULL && status == GEMMTUNE_OK;
         slash = strchr(slash + 1, '/')) {
        struct stat st;
        *slash = '\0';
        if (stat(copy, &st) != 0)
            status = make_folder(copy, err);
        *slash = '/';
    }
    free(copy);
    return status;
}

/* Runs before SQLite opens the file: opening a FIFO would wait for a writer. */
static gt_status check_file(const char *path, enum gt_db_mode mode, struct gt_err *err) {
    struct stat st;
    if (path[0] == '\0')
        return gt_fail(err, GEMMTUNE_EIO, "the path of the database is empty");
    if (stat(path, &st) != 0)
        return mode == GT_DB_WRITE && errno == ENOENT
                   ? make_parents(path, err)
                   : gt_fail(err, GEMMTUNE_EIO, "%s: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return gt_fail(err, GEMMTUNE_EIO, "%s: is %s, not a file", path,
                       S_ISDIR(st.st_mode) ? "a folder" : "a device or pipe");
    if ((st.st_mode & S_IWOTH) != 0)
        gt_log(GEMMTUNE_LOG_WARN, "%s: any user of this machine may write it", path);
    return GEMMTUNE_OK;
}

/* ---- the connection -------------------------------------------------------- */

/* Gives SQLite a path that starts with none of its special prefixes (":memory:",
 * "file:"). */
static gt_status connect_to(struct gt_db *db, struct gt_err *err) {
    const int flags = db->mode == GT_DB_READ ? SQLITE_OPEN_READONLY
                                             : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    char *plain = sqlite3_mprintf("%s%s", db->path[0] == '/' ? "" : "./", db->path);
    gt_status status = GEMMTUNE_OK;
    if (plain == NULL)
        status = gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    else if (sqlite3_open_v2(plain, &db->conn, flags | SQLITE_OPEN_NOMUTEX, NULL) !=
             SQLITE_OK)
        status = gt_fail(err, GEMMTUNE_EIO, "%s: cannot be opened: %s", db->path,
                         db->conn != NULL ? strerror(sqlite3_system_errno(db->conn))
                                          : "out of memory");
    else if (db->mode == GT_DB_WRITE && sqlite3_db_readonly(db->conn, "main") != 0)
        status = gt_fail(err, GEMMTUNE_EIO, "%s: may not be written", db->path);
    sqlite3_free(plain);
    return status;
}

/* sqlite.org/security.html, section 1.2; our statements need no more. */
static const struct {
    int option, value;
} defences[] = {
    {SQLITE_DBCONFIG_DEFENSIVE, 1},      {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
    {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0}, {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
    {SQLITE_DBCONFIG_DQS_DDL, 0},        {SQLITE_DBCONFIG_DQS_DML, 0},
};

static const struct {
    int id, value;
} limits[] = {
    {SQLITE_LIMIT_LENGTH, 1000000},    {SQLITE_LIMIT_SQL_LENGTH, 100000},
    {SQLITE_LIMIT_COLUMN, 100},        {SQLITE_LIMIT_EXPR_DEPTH, 50},
    {SQLITE_LIMIT_ATTACHED, 0},        {SQLITE_LIMIT_TRIGGER_DEPTH, 1},
    {SQLITE_LIMIT_COMPOUND_SELECT, 3}, {SQLITE_LIMIT_WORKER_THREADS, 0},
};

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* Whether the file was written since the last call. */
static bool has_changed(struct gt_db *db) {
    struct stat now;
    if (stat(db->path, &now) != 0)
        return false;
    const bool changed = now.st_mtim.tv_sec != db->busy_file.tv_sec ||
                         now.st_mtim.tv_nsec != db->busy_file.tv_nsec;
    db->busy_file = now.st_mtim;
    return changed;
}

/* SQLite's own handler sleeps up to 100 ms. It can miss, for seconds, every gap that a busy
 * writer leaves between two commits. The wait ends when one process has held the file for
 * so long. While others take turns, ours will come, however busy the machine is. */
static int wait_for_others(void *user, int calls) {
    const struct timespec pause = {0, 1000000};
    struct gt_db *db = user;
    if (has_changed(db) || calls == 0)
        db->busy_since = gt_seconds();
    (void)nanosleep(&pause, NULL);
    return 1e3 * (gt_seconds() - db->busy_since) < GT_DB_BUSY_MS;
}

static void set_defensive(struct gt_db *db) {
    for (size_t i = 0; i < LENGTH(defences); i++)
        (void)sqlite3_db_config(db->conn, defences[i].option, defences[i].value, NULL);
    for (size_t i = 0; i < LENGTH(limits); i++)
        (void)sqlite3_limit(db->conn, limits[i].id, limits[i].value);
    (void)sqlite3_extended_result_codes(db->conn, 1);
    (void)sqlite3_busy_handler(db->conn, wait_for_others, db);
}

/* ---- the header ------------------------------------------------------------ */

/* Where the header has what. */
enum {
    HEADER_PAGE_SIZE = 16,     /* 16 bits, in bytes; 1 stands for 65536 */
    HEADER_WRITE_VERSION = 18, /* 1: rollback journal, 2: write-ahead log */
    HEADER_READ_VERSION = 19,
    HEADER_USER_VERSION = 60,
    HEADER_APPLICATION = 68
};

static uint32_t big_endian(const unsigned char *b) {
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static gt_status check_version(const struct gt_db *db, uint32_t version,
                               struct gt_err *err) {
    const uint32_t last = (uint32_t)gt_migrations_last(gt_migrations);
    if (version > last)
        return gt_fail(err, GEMMTUNE_ESCHEMA,
                       "%s: schema version %" PRIu32 " is newer than %" PRIu32
                       ", the newest this gemmtune knows",
                       db->path, version, last);
    if (version == 0)
        return gt_fail(err, GEMMTUNE_EDB, "%s: has no schema version", db->path);
    if (version < last && db->mode == GT_DB_READ)
        return gt_fail(err, GEMMTUNE_ESCHEMA,
                       "%s: schema version %" PRIu32 " is older than %" PRIu32
                       ": run any gemmtune command that writes once",
                       db->path, version, last);
    return GEMMTUNE_OK;
}

static gt_status check_header(const struct gt_db *db, const unsigned char *header,
                              struct gt_err *err) {
    if (memcmp(header, "SQLite format 3", 16) != 0)
        return gt_fail(err, GEMMTUNE_EDB, "%s: is not a database", db->path);
    if (big_endian(header + HEADER_APPLICATION) != GT_DB_APPLICATION)
        return gt_fail(err, GEMMTUNE_EDB,
                       "%s: is not a gemmtune database (application id %#" PRIx32 ")",
                       db->path, big_endian(header + HEADER_APPLICATION));
    if (header[HEADER_WRITE_VERSION] != 1 || header[HEADER_READ_VERSION] != 1)
        return gt_fail(err, GEMMTUNE_EDB, "%s: was changed to a write-ahead log", db->path);
    return check_version(db, big_endian(header + HEADER_USER_VERSION), err);
}

static int64_t page_size(const unsigned char *header) {
    const int64_t size = big_endian(header + HEADER_PAGE_SIZE) >> 16;
    return size > 1 ? size : 65536;
}

/* Reads the header before SQLite does: for a file with a write-ahead log SQLite would
 * create files. SQLite reads a last page that is cut short as if zeros followed, so a
 * reader refuses it; a writer does not, since a journal may restore it. */
static gt_status read_header(const struct gt_db *db, struct gt_err *err) {
    unsigned char header[GT_DB_HEADER];
    sqlite3_file *file = gt_db_file(db);
    sqlite3_int64 size = 0;
    if (file == NULL || file->pMethods->xFileSize(file, &size) != SQLITE_OK)
        return gt_fail(err, GEMMTUNE_EIO, "%s: cannot be read", db->path);
    if (size == 0 && db->mode == GT_DB_WRITE)
        return GEMMTUNE_OK; /* new, or left by a process that died while creating it */
    if (size < GT_DB_HEADER)
        return gt_fail(err, GEMMTUNE_EDB, "%s: is %s", db->path,
                       size == 0 ? "empty" : "not a database");
    if (file->pMethods->xRead(file, header, GT_DB_HEADER, 0) != SQLITE_OK)
        return gt_fail(err, GEMMTUNE_EIO, "%s: cannot be read", db->path);
    const gt_status status = check_header(db, header, err);
    if (status == GEMMTUNE_OK && db->mode == GT_DB_READ && size % page_size(header) != 0)
        return gt_fail(err, GEMMTUNE_EDB, "%s: is cut short", db->path);
    return status;
}

/* SQLite takes a write-ahead log that lies beside the file for the file's own, whatever the
 * header says: it would make a "-shm" to read it, and may change the file by it. */
static gt_status check_log(const struct gt_db *db, struct gt_err *err) {
    char *log = sqlite3_mprintf("%s-wal", gt_db_real_path(db));
    gt_status status =
        log != NULL ? GEMMTUNE_OK : gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    if (status == GEMMTUNE_OK && access(log, F_OK) == 0)
        status = gt_fail(err, GEMMTUNE_EDB,
                         "%s: beside it lies %s, a write-ahead log, which gemmtune never "
                         "makes: move it away",
                         db->path, log);
    sqlite3_free(log);
    return status;
}

/* ---- ready to read, ready to write ----------------------------------------- */

/* SQLite calls it after this many steps of its machine. A result other than 0 stops the
 * statement. */
enum { STEPS_A_CALL = 1000 };

static int over_budget(void *user) {
    struct gt_db *db = user;
    db->spent += STEPS_A_CALL;
    return db->budget > 0 && db->spent > db->budget;
}

/* A sound row has over 100 bytes and takes about 150 steps to read. A file has endless
 * rows, if its pages lead back to themselves; the budget ends them. */
static void set_budget(struct gt_db *db) {
    struct stat st;
    const int64_t size = stat(db->path, &st) == 0 ? (int64_t)st.st_size : 0;
    db->budget = 1000000 + 16 * size;
    sqlite3_progress_handler(db->conn, STEPS_A_CALL, over_budget, db);
}

static gt_status ready_to_read(struct gt_db *db, struct gt_err *err) {
    set_budget(db);
    return gt_sql_script(db,
                         "PRAGMA query_only = ON; PRAGMA cell_size_check = ON;"
                         "PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY",
                         err);
}

gt_status gt_db_check_pages(struct gt_db *db, const char *pragma, struct gt_err *err) {
    sqlite3_stmt *stmt = NULL;
    bool row = false;
    char sql[64];
    (void)snprintf(sql, sizeof sql, "PRAGMA %s(1)", pragma);
    gt_status status = gt_sql_prepare(&stmt, db, sql, err);
    if (status == GEMMTUNE_OK)
        status = gt_sql_step(&row, db, stmt, err);
    const char *text = row ? (const char *)sqlite3_column_text(stmt, 0) : NULL;
    if (status == GEMMTUNE_OK && (text == NULL || strcmp(text, "ok") != 0))
        status =
            gt_fail(err, GEMMTUNE_EDB, "%s: %s", db->path, text != NULL ? text : "damaged");
    (void)sqlite3_finalize(stmt);
    return status;
}

/* A damaged file gets no new rows. Merging it into another file saves its sound rows. */
static gt_status ready_to_write(struct gt_db *db, struct gt_err *err) {
    set_budget(db);
    gt_status status =
        gt_sql_script(db,
                      "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0;"
                      "PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL;"
                      "PRAGMA foreign_keys = ON",
                      err);
    if (status == GEMMTUNE_OK)
        status = gt_db_check_pages(db, "quick_check", err);
    db->budget = 0; /* the pages are sound, so statements end by themselves */
    if (status == GEMMTUNE_OK)
        status = gt_db_migrate(db, gt_migrations, err);
    return status;
}

static gt_status open_all(struct gt_db *db, struct gt_err *err) {
    db->made = access(db->path, F_OK) != 0;
    gt_status status = check_file(db->path, db->mode, err);
    if (status == GEMMTUNE_OK)
        status = connect_to(db, err);
    if (status != GEMMTUNE_OK)
        return status;
    set_defensive(db);
    status = read_header(db, err);
    if (status == GEMMTUNE_OK)
        status = check_log(db, err);
    if (status == GEMMTUNE_OK)
        status = db->mode == GT_DB_READ ? ready_to_read(db, err) : ready_to_write(db, err);
    return status == GEMMTUNE_OK ? gt_db_check_schema(db, gt_migrations, err) : status;
}

/* The flaw, in a file that could not be opened, that a writer would mend. */
static enum gt_db_flaw flaw_of(const struct gt_db *db, gt_status status) {
    const int code = db->conn != NULL ? sqlite3_extended_errcode(db->conn) : SQLITE_OK;
    return status == GEMMTUNE_ESCHEMA ? GT_DB_OLDER
           : status == GEMMTUNE_EIO &&
                   (code == SQLITE_READONLY_ROLLBACK || code == SQLITE_READONLY_RECOVERY)
               ? GT_DB_UNFINISHED
               : GT_DB_SOUND;
}

bool gt_db_has_moved(const struct gt_db *db) {
    int moved = 0;
    return sqlite3_file_control(db->conn, "main", SQLITE_FCNTL_HAS_MOVED, &moved) ==
               SQLITE_OK &&
           moved != 0;
}

gt_status gt_db_open_again(struct gt_db *db, struct gt_err *err) {
    (void)sqlite3_close(db->conn);
    db->conn = NULL;
    return open_all(db, err);
}

/* Another process may remove the file that it has made (life.c) while we open it. */
static gt_status open_settled(struct gt_db *db, struct gt_err *err) {
    gt_status status = open_all(db, err);
    for (int i = 0; i < GT_DB_MOVES_MAX && status != GEMMTUNE_OK && db->conn != NULL &&
                    sqlite3_extended_errcode(db->conn) == SQLITE_READONLY_DBMOVED;
         i++)
        status = gt_db_open_again(db, err);
    return status;
}

gt_status gt_db_open_flawed(struct gt_db **out, enum gt_db_flaw *flaw, const char *path,
                            enum gt_db_mode mode, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    *out = NULL;
    *flaw = GT_DB_SOUND;
    struct gt_db *db = calloc(1, sizeof *db);
    if (db == NULL || (db->path = strdup(path)) == NULL) {
        status = gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
        goto done;
    }
    db->mode = mode;
    status = open_settled(db, err);
    *flaw = flaw_of(db, status);
    if (status == GEMMTUNE_OK) {
        *out = db;
        db = NULL;
    }
done:
    gt_db_close(db);
    return status;
}

gt_status gt_db_open(struct gt_db **out, const char *path, enum gt_db_mode mode,
                     struct gt_err *err) {
    enum gt_db_flaw unread;
    return gt_db_open_flawed(out, &unread, path, mode, err);
}

void gt_db_close(struct gt_db *db) {
    if (db == NULL)
        return;
    if (db->closing != NULL)
        db->closing(db);
    (void)sqlite3_close(db->conn);
    free(db->path);
    free(db);
}
