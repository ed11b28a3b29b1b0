/* SPDX-License-Identifier: Apache-2.0 */
/*
 * internal.h - declarations that the files of db/ share; private to the room.
 *
 *     sql.c      statements, and SQLite's errors in our words
 *     table.c    the tables as lists of columns, and when a row is sound
 *     column.c   one member of a row, of any type
 *     row.c      rows of any table: load, check
 *     sum.c      the checksums of rows
 *     migrate.c  migrations, and whether a file's tables are exactly ours
 *     rekey.c    devices that were stored under an old key
 *     state.c    what tells the state of an open file
 *     open.c     opening, refusing, closing
 *     read.c     the read side
 * and the write side, which is not in the library:
 *     put.c      rows of any table: store
 *     store.c    transactions, subjects, sets of records
 *     owner.c    which process holds a trial
 *     run.c      a tuning run: trials and records
 *     rival.c    comparisons with libraries
 *     tuning.c   how far each problem was searched
 *     intake.c   the rule by which rows from elsewhere come in
 *     merge.c export.c import.c   moving results
 */
#ifndef GT_DB_INTERNAL_H
#define GT_DB_INTERNAL_H

#include "db/db.h"
#include "db/schema.h"

#include "core/hash.h"

#include <locale.h>
#include <sqlite3.h>
#include <time.h>

enum {
    GT_DB_APPLICATION = 0x474D544E, /* "GMTN", at byte 68 of the file */
    GT_DB_BUSY_MS = 10000,
    GT_DB_MOVES_MAX = 100,   /* times that a file may go while we begin to write it */
    GT_CHECKSUM_MAX = 17,    /* 16 hex digits and the NUL */
    GT_PROVENANCE_MAX = 128, /* bytes with the NUL, as the next two */
    GT_DB_FAMILY_MAX = GT_NAME_MAX,
    GT_DB_ERROR_MAX = 512,
    /* bytes of all texts of a trial, each with its NUL; records and rivals have fewer */
    GT_DB_TEXTS_MAX = GT_DEVICE_KEY_MAX + GT_PROBLEM_NAME_MAX + GT_DB_FAMILY_MAX + 65 +
                      GT_POINT_TEXT_MAX + GT_DB_ERROR_MAX + GT_PROVENANCE_MAX
};

/* The provenance of rows that this database's own tuner wrote. */
#define GT_LOCAL "local"

/* ---- rows, with what the public structs leave out ---- */

struct gt_stored_device {
    char key[GT_DEVICE_KEY_MAX];
    bool here; /* a run was begun on it with this database */
    struct gt_device device;
};

struct gt_stored_trial {
    struct gt_trial_row row;
    char texts[GT_DB_TEXTS_MAX];
};

struct gt_stored_record {
    struct gt_record_row row;
    char texts[GT_DB_TEXTS_MAX];
};

struct gt_stored_rival {
    struct gt_rival_row row;
    char texts[GT_DB_TEXTS_MAX];
};

union gt_db_stored {
    struct gt_stored_device device;
    struct gt_stored_trial trial;
    struct gt_stored_record record;
    struct gt_stored_rival rival;
};

struct gt_db {
    sqlite3 *conn;
    char *path; /* as the caller gave it */
    enum gt_db_mode mode;
    bool made;                 /* there was no file */
    int64_t budget;            /* steps that one statement may take; 0: any number */
    int64_t spent;             /* steps that the present statement has taken */
    double busy_since;         /* gt_seconds when the wait for another process began */
    struct timespec busy_file; /* when the file was written last, as seen in that wait */
    int64_t bad;               /* rows skipped since the file was opened */
    int64_t run_id; /* the run that this handle began and has not ended, else 0 */
    void (*closing)(struct gt_db *db); /* the write side's; NULL: none */
    struct gt_stored_trial found;      /* the row of the last gt_db_trial_find */
};

/* ---- sql.c ---- */

gt_status gt_sql_prepare(sqlite3_stmt **out, struct gt_db *db, const char *sql,
                         struct gt_err *err);
gt_status gt_sql_step(bool *row, struct gt_db *db, sqlite3_stmt *stmt, struct gt_err *err);
/* Runs any number of statements without arguments. */
gt_status gt_sql_script(struct gt_db *db, const char *sql, struct gt_err *err);
/* Runs one statement to its end. `types` spells the arguments: i int64_t, t const char
 * *. */
gt_status gt_sql_run(struct gt_db *db, struct gt_err *err, const char *sql,
                     const char *types, ...);
/* The first column of the first row. *found is false (and *out 0) when there is no row or
 * the column is NULL. `found` may be NULL. */
gt_status gt_sql_int(int64_t *out, bool *found, struct gt_db *db, struct gt_err *err,
                     const char *sql, const char *types, ...);

/* ---- open.c ---- */

/* gt_db_open, and what a writer would mend when it fails. */
gt_status gt_db_open_flawed(struct gt_db **out, enum gt_db_flaw *flaw, const char *path,
                            enum gt_db_mode mode, struct gt_err *err);

/* Whether the path leads to another file than the open one by now, or to none. */
bool gt_db_has_moved(const struct gt_db *db);
/* Closes the file and opens what its path leads to now. */
gt_status gt_db_open_again(struct gt_db *db, struct gt_err *err);

/* ---- state.c ---- */

enum { GT_DB_HEADER = 100 }; /* bytes; sqlite.org/fileformat2.html, section 1.3 */
/* SQLite's descriptor of the file; NULL: there is none. A second descriptor must not be
 * opened: closing it would drop SQLite's locks. */
sqlite3_file *gt_db_file(const struct gt_db *db);

/* ---- table.c: the tables; row.c: rows of any of them ---- */

enum gt_column_kind {
    GT_COLUMN_TEXT,   /* const char *, pointing into the struct's texts once loaded */
    GT_COLUMN_CHARS,  /* char[] */
    GT_COLUMN_INT,    /* int */
    GT_COLUMN_INT64,  /* int64_t */
    GT_COLUMN_REF,    /* int64_t; 0 is NULL */
    GT_COLUMN_BOOL,   /* bool */
    GT_COLUMN_REAL,   /* double, finite and not negative */
    GT_COLUMN_WORD,   /* an enum, stored as its word */
    GT_COLUMN_SAMPLES /* struct gt_measurement: its samples, a JSON array */
};

struct gt_db_column {
    const char *name; /* of the column, and of the key in exported text */
    const char *was;  /* the key in exported text of format 1; NULL: the same */
    bool is_shared;   /* exported text of format 3 says it once for many records */
    const char *from; /* SQL that reads it; NULL: x.<name> */
    enum gt_column_kind kind;
    size_t offset;     /* in the row's struct */
    int64_t low, high; /* integers: inclusive; texts: least length, room with the NUL */
    const char *const *words; /* NULL-ended, in the order of the enum */
    bool exported;
    bool nullable; /* null in exported text: it is unknown */
};

struct gt_db_table {
    const char *name;
    const char *conflict;     /* the columns that make a row unique */
    const char *const *joins; /* other tables that its columns come from, NULL-ended */
    const char *order;        /* the defined order of reading */
    /* For qsort of pointers to rows: the order of the rows of one device and problem, which
     * `order` leaves open. NULL: it leaves none open. */
    int (*compare)(const void *a, const void *b);
    const struct gt_db_column *column;
    size_t count;
    size_t own;   /* columns before this one belong to the subject */
    size_t texts; /* offset of the struct's texts; 0: it has none */
    /* rules on more than one column; `before` as for gt_row_check */
    gt_status (*check)(const void *row, const void *before, struct gt_err *err);
};

/* Sets this thread's locale to "C" for a while: printf and strtod follow the locale of the
 * program that uses the library. */
struct gt_locales {
    locale_t plain, before;
};
struct gt_locales gt_locale_enter(void);
void gt_locale_leave(struct gt_locales l);

extern const struct gt_db_table gt_device_table, gt_trial_table, gt_record_table,
    gt_rival_table;

/* "SELECT ... FROM ... WHERE <where> [ORDER BY ...]"; sqlite3_free it. NULL: no memory.
 * `where` NULL selects every row, even one without its subject, so that the row is
 * skipped with a log line instead of vanishing. */
char *gt_row_select(const struct gt_db_table *table, const char *where, bool ordered);
/* Loads a row of such a statement; every text is copied into *row. EDB with the reason when
 * this program could not have written the row. *id is set either way. `before` as below. */
gt_status gt_row_load(void *row, int64_t *id, const struct gt_db_table *table,
                      const void *before, sqlite3_stmt *stmt, struct gt_err *err);
/* EINVAL with the reason when the row must not be stored. `before` is a sound row of the
 * table, or NULL: a text that is the same there is not checked again. */
gt_status gt_row_check(const struct gt_db_table *table, const void *row, const void *before,
                       struct gt_err *err);
void gt_row_checksum(char checksum[GT_CHECKSUM_MAX], const struct gt_db_table *table,
                     const void *row);
void gt_subject_checksum(char checksum[GT_CHECKSUM_MAX],
                         const struct gt_db_subject *subject);
void gt_checksum_end(char checksum[GT_CHECKSUM_MAX], struct gt_hash *h);
/* One member of a row, of any type. Its kind says its size. */
int64_t gt_column_int(const struct gt_db_column *column, const void *row);
void gt_column_set_int(const struct gt_db_column *column, void *row, int64_t value);
double gt_column_real(const struct gt_db_column *column, const void *row);
void gt_column_set_real(const struct gt_db_column *column, void *row, double value);
const char *gt_column_text(const struct gt_db_column *column,
                           const void *row); /* words as well */
/* EDB when the text is no word of the list, or too long for char[]. A GT_COLUMN_TEXT
 * borrows the text. */
gt_status gt_column_set_text(const struct gt_db_column *column, void *row, const char *text,
                             struct gt_err *err);

/* ---- migrate.c ---- */

/* Brings the file to the last of the migrations, in one transaction. A file of an older
 * version is copied first. */
gt_status gt_db_migrate(struct gt_db *db, const struct gt_migration *migrations,
                        struct gt_err *err);
/* EDB unless the migrations make exactly these tables. */
gt_status gt_db_check_schema(struct gt_db *db, const struct gt_migration *migrations,
                             struct gt_err *err);
/* The digest of the names and the SQL of all tables: 64 hex digits. */
gt_status gt_db_schema_digest(char digest[65], struct gt_db *db, struct gt_err *err);
/* The digest of a file that gt_migrations made. test_db_migrate.c prints it after a new
 * migration. Another digest is no error: then tables are compared one by one. */
extern const char gt_schema_known[];
int gt_migrations_last(const struct gt_migration *migrations);
/* The database's own name; EDB when it is damaged. */
gt_status gt_db_origin(char name[GT_PROVENANCE_MAX], struct gt_db *db, struct gt_err *err);

/* ---- rekey.c ---- */

/* Gives the device its present key. True when it had the key of version 1. */
bool gt_device_renew(struct gt_stored_device *device);
/* Does the same for every device of the file and all its measurements; devices that then
 * have one key become one. Called inside a transaction. */
gt_status gt_db_rekey(struct gt_db *db, struct gt_err *err);

/* ---- open.c ---- */

/* EDB with the first error that "quick_check" or "integrity_check" finds. */
gt_status gt_db_check_pages(struct gt_db *db, const char *pragma, struct gt_err *err);

/* ---- read.c ---- */

typedef gt_status (*gt_stored_fn)(void *user, void *row, struct gt_err *err);

/* Calls fn for every sound row, in the defined order; logs and counts the others. */
gt_status gt_db_each(struct gt_db *db, const struct gt_db_table *table,
                     const char *device_key, const char *problem, gt_stored_fn fn,
                     void *user, struct gt_err *err);
/* Finds the first row of `where`, with the NULL-ended texts for its ?s. *found is
 * false when there is none or it is not sound. *id is set either way, 0 when there is
 * none. */
gt_status gt_row_find(bool *found, void *row, int64_t *id, struct gt_db *db,
                      const struct gt_db_table *table, const char *where,
                      const char *const *texts, struct gt_err *err);
/* Finds the trial or record of a subject. */
gt_status gt_subject_find(bool *found, void *row, int64_t *id, struct gt_db *db,
                          const struct gt_db_table *table,
                          const struct gt_db_subject *subject, const char *provenance,
                          struct gt_err *err);

/* Ranks records of one (device, problem) in their order: 0, 1, 2, ... The stored ranks do
 * not matter, so there is a winner even where rows were skipped or came from several
 * machines. A tie that the row's own few samples speak against is taken back: earlier
 * versions stored kernels as tied that took many times as long, in one sample. */
struct gt_ranking {
    char device[GT_DEVICE_KEY_MAX], problem[GT_PROBLEM_NAME_MAX];
    int next;
    struct gt_measurement winner; /* its summary */
};
bool gt_ranking_same(const struct gt_ranking *ranking, const struct gt_record_row *row);
void gt_ranking_apply(struct gt_ranking *ranking, struct gt_record_row *row);

/* ---- put.c ---- */

/* Checks the row, then inserts it or replaces the one with the same key. `subject` is 0 for
 * a device. `id` may be NULL. */
gt_status gt_row_put(int64_t *id, struct gt_db *db, const struct gt_db_table *table,
                     int64_t subject, const void *row, struct gt_err *err);

/* ---- store.c ---- */

gt_status gt_txn_begin(struct gt_db *db, struct gt_err *err);
/* Commits when `status` is GEMMTUNE_OK, else rolls back. Returns `status`, or the failure
 * of the commit. */
gt_status gt_txn_end(struct gt_db *db, gt_status status, struct gt_err *err);
/* The subject's row, which is made when missing. ENOTFOUND: the database has no such
 * device. */
gt_status gt_subject_put(int64_t *id, struct gt_db *db, const struct gt_db_subject *subject,
                         struct gt_err *err);
gt_status gt_records_delete(struct gt_db *db, const struct gt_db_subject *subject,
                            const char *provenance, struct gt_err *err);
/* The moment at which the subject's set of records was written; later moments than
 * gt_latest_ms do not count. `found` may be NULL. */
gt_status gt_records_stamp(int64_t *measured_ms, bool *found, struct gt_db *db,
                           const struct gt_db_subject *subject, const char *provenance,
                           struct gt_err *err);

/* ---- rival.c ---- */

/* Finds the row of the same kernel, workspace, library and version with this provenance.
 * *found and *id as of gt_row_find. */
gt_status gt_rival_find(bool *found, struct gt_stored_rival *out, int64_t *id,
                        struct gt_db *db, const struct gt_rival_row *like,
                        const char *provenance, struct gt_err *err);

/* ---- intake.c ---- */

/* Rows from elsewhere on their way in; intake.c has the rule. */
struct gt_intake {
    struct gt_db *db;
    char own[GT_PROVENANCE_MAX]; /* this database's name; rows with it were made here */
    const char *theirs;          /* the name here for their "local" */
    struct gt_merge_report report;
};
gt_status gt_intake_device(void *intake, void *stored_device, struct gt_err *err);
gt_status gt_intake_trial(void *intake, void *stored_trial, struct gt_err *err);
gt_status gt_intake_record(void *intake, void *stored_record, struct gt_err *err);
gt_status gt_intake_rival(void *intake, void *stored_rival, struct gt_err *err);

/* ---- owner.c ---- */

struct gt_owner {
    int64_t pid, start_time; /* start_time: clock ticks since boot, 0 unknown */
    char boot[40];           /* the kernel's boot id, "" unknown */
};
void gt_owner_self(struct gt_owner *owner);
bool gt_owner_alive(const struct gt_owner *owner);
bool gt_owner_of_this_boot(const struct gt_owner *owner);

#endif
