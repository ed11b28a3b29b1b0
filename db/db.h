/* SPDX-License-Identifier: Apache-2.0 */
/*
 * db.h - the tuning database: the only room that speaks SQL.
 *
 * A trial is one point of one family tried on one problem and device. A record is one of a
 * problem's finalists. A rival is a vendor's library that was timed beside one. No row
 * holds code: families and points are names and integers, and every reader checks them
 * again. Every row carries its own checksum. A row with a wrong checksum is skipped with
 * one log line and never written back.
 *
 * Read side (part of libgemmtune): gt_db_open with GT_DB_READ, gt_db_state, gt_db_devices,
 * gt_db_records, gt_db_trials, gt_db_rivals. Write side (the program only): everything
 * else. A handle belongs to one thread and must not cross fork().
 */
#ifndef GT_DB_DB_H
#define GT_DB_DB_H

#include "core/device.h"
#include "core/outcome.h"
#include "core/point.h"
#include "core/problem/problem.h"

struct gt_db;

enum gt_db_mode {
    GT_DB_READ,  /* the file must exist; nothing is ever written */
    GT_DB_WRITE, /* created with its folder when missing; an older one is migrated */
};

/* EIO: the file cannot be opened, or a process died while writing it and the next writer
 * must repair it first. EDB: the file is damaged or not a gemmtune database. ESCHEMA: it is
 * newer than this program. A gemmtune database holds our own tables and nothing else. */
gt_status gt_db_open(struct gt_db **out, const char *path, enum gt_db_mode mode,
                     struct gt_err *err);
/* A flaw keeps readers out, and any writer mends it. */
enum gt_db_flaw {
    GT_DB_SOUND,
    GT_DB_UNFINISHED, /* a process died while writing it */
    GT_DB_OLDER,      /* an older gemmtune made it */
};
/* Opens to read. A file with such a flaw is opened for writing first, if it may be written;
 * *flaw is then what was mended, else GT_DB_SOUND. */
gt_status gt_db_open_mended(struct gt_db **out, enum gt_db_flaw *flaw, const char *path,
                            struct gt_err *err);
/* Also ends the run that this handle began: another run may claim the trials that it left
 * "running". NULL is fine. */
void gt_db_close(struct gt_db *db);
/* Closes a database in which nothing came about: a file that this handle has made, and that
 * still has no row, is removed. NULL is fine. */
void gt_db_close_unused(struct gt_db *db);
/* The path of the database when none is given: $GEMMTUNE_DB, else
 * $XDG_DATA_HOME/gemmtune/gemmtune.db, else $HOME/.local/share/gemmtune/gemmtune.db. EIO
 * when none of them is set. */
gt_status gt_db_default_path(char *buf, size_t size, struct gt_err *err);
/* The version of the SQLite that is linked: "3.40.1". */
const char *gt_db_sqlite_version(void);

/* The state of an open file, told without reading rows. */
struct gt_db_state {
    char digest[65]; /* in hex; another one after every commit and for another file */
    int64_t bytes;
};
/* False when the state cannot be told: a journal or a write-ahead log lies beside the file,
 * or another file has taken its place since it was opened. */
bool gt_db_state(struct gt_db_state *out, struct gt_db *db);
/* The file's absolute path without symbolic links. Lives as long as the handle. */
const char *gt_db_real_path(const struct gt_db *db);
/* Rows that readers have skipped since the file was opened. */
int64_t gt_db_skipped(const struct gt_db *db);

/* Reads every page and row. EDB with the first error in pages and references. *bad counts
 * the rows that readers skip. */
gt_status gt_db_check(struct gt_db *db, int64_t *bad, struct gt_err *err);

/* ---- rows ---- */

/* The subject of a trial or a record. Texts are borrowed for the call, or during a
 * callback. */
struct gt_db_subject {
    const char *device_key;
    const char *problem;     /* canonical name */
    const char *family;      /* name */
    const char *family_hash; /* 64 hex digits, gt_family.hash */
    const char *point;       /* as gt_point_text writes it */
};

enum gt_trial_state { GT_TRIAL_RUNNING, GT_TRIAL_DONE, GT_TRIAL_QUARANTINED };

struct gt_trial_row {
    int64_t id;
    struct gt_db_subject subject;
    enum gt_trial_state state;
    int attempts;               /* 1, plus 1 for each time the machine went down */
    gt_outcome outcome;         /* crashed while the trial is running */
    struct gt_measurement time; /* samples 0 when never measured */
    int registers, spill_bytes, smem_bytes; /* per thread, thread, block; -1 unknown */
    double compile_ms;
    const char *error;      /* "" or one line */
    const char *provenance; /* "local" or the origin that it was merged from */
    int64_t run_id;         /* 0 when merged */
    int64_t ended_ms;       /* since 1970; 0 while running */
};

struct gt_record_row {
    struct gt_db_subject subject;
    int rank; /* 0 is the winner */
    /* Not proven 1 % slower than the winner. For the winner: the next one is tied with
     * it. A row that is read is tied only if its samples do not speak against it. */
    bool tied;
    bool verified; /* verified and measured on the machine of this database */
    /* summary only: `samples` is kept, sample_ns is 0. A single sample has no interval,
     * whatever ends are stored (gt_interval_low) */
    struct gt_measurement time;
    double baseline_ns; /* best time of the baseline family in the same run; 0 unknown */
    const char *provenance; /* "local", or the file or machine that it came from */
    int64_t measured_ms;    /* since 1970; the same in all records written together */
};

enum { GT_DB_LIBRARY_MAX = 32 }; /* bytes of a library's name with the NUL */

/* A kernel of ours beside a library, both timed in turns. */
struct gt_rival_row {
    struct gt_db_subject subject; /* our kernel */
    int64_t workspace;            /* bytes that each side had */
    const char *library;          /* "cublas" */
    int version;                  /* as the library numbers itself: 130100 */
    enum gt_verdict verdict;
    double ours_ns, rival_ns;            /* medians */
    double ratio, ratio_low, ratio_high; /* the library's time over ours, round by round:
                                          * median and 95 % interval */
    double floor; /* how far from 1 the ratio of our kernel to itself was */
    int rounds;
    const char *driver;     /* of the device, when it was measured */
    int64_t measured_ms;    /* since 1970 */
    const char *provenance; /* "local", or the file or machine that it came from */
    bool is_local;
};

/* A number for the kernel of a subject: equal subjects have equal ones, and different ones
 * do not by chance. */
uint64_t gt_db_subject_key(const struct gt_db_subject *subject);

/* ---- read side ---- */

typedef gt_status (*gt_db_device_fn)(void *user, const char *key, const struct gt_device *d,
                                     struct gt_err *err);
typedef gt_status (*gt_db_record_fn)(void *user, const struct gt_record_row *row,
                                     struct gt_err *err);
typedef gt_status (*gt_db_trial_fn)(void *user, const struct gt_trial_row *row,
                                    struct gt_err *err);

typedef gt_status (*gt_db_rival_fn)(void *user, const struct gt_rival_row *row,
                                    struct gt_err *err);

/* Calls fn for each row; stops when fn returns anything but GEMMTUNE_OK, and returns that.
 * NULL selects everything. The order is defined:
 * - devices by key,
 * - records by device, problem, rank,
 * - trials by device, problem, id,
 * - rivals by device, problem, kernel, workspace, library, version, those from here first.
 * Ranks run 0, 1, 2, ... over the sound rows of a (device, problem). Rows verified here
 * come first, then the winner of each source, the fastest ahead, then the second of each
 * source, and so on. One kernel may come twice, from here and from elsewhere. */
gt_status gt_db_devices(struct gt_db *db, gt_db_device_fn fn, void *user,
                        struct gt_err *err);
gt_status gt_db_records(struct gt_db *db, const char *device_key, const char *problem,
                        gt_db_record_fn fn, void *user, struct gt_err *err);
gt_status gt_db_trials(struct gt_db *db, const char *device_key, const char *problem,
                       gt_db_trial_fn fn, void *user, struct gt_err *err);
gt_status gt_db_rivals(struct gt_db *db, const char *device_key, const char *problem,
                       gt_db_rival_fn fn, void *user, struct gt_err *err);
/* The trials of gt_db_trials that were made here, are correct, and took at most `within`
 * times as long as the best verified record of their device and problem. */
gt_status gt_db_runners_up(struct gt_db *db, double within, gt_db_trial_fn fn, void *user,
                           struct gt_err *err);

/* ---- write side: a tuning run ---- */

/* The clock of ended_ms and measured_ms. */
int64_t gt_now_ms(void);
/* The latest moment that a row is believed to be from: a day from now. A damaged row or a
 * machine with a wrong clock may give a later one; such a row would stay the newest for
 * ever. */
int64_t gt_latest_ms(void);

struct gt_run_info {
    const char *version, *driver, *compiler;
    /* options with which `gemmtune trial` repeats its trials */
    const char *arguments;
    uint64_t seed;
};

/* Stores or refreshes the device and opens a run on it. */
gt_status gt_db_run_begin(int64_t *run_id, struct gt_db *db, const struct gt_device *device,
                          const struct gt_run_info *info, struct gt_err *err);
/* Trials of the run that have no outcome become what they were before: there is none, or
 * one that a machine went down in. Closing the handle does the same. */
gt_status gt_db_run_end(struct gt_db *db, int64_t run_id, const char *how,
                        struct gt_err *err);
/* The arguments ("" when they do not fit) and the seed that a run was given. */
gt_status gt_db_run_find(bool *found, char *arguments, size_t size, uint64_t *seed,
                         struct gt_db *db, int64_t run_id, struct gt_err *err);

/* Claims the trial: a new row, or one more attempt at a row that was left "running" by a
 * run that has ended. *claimed is false when a run has finished the trial or holds it, this
 * run included. A trial during which the machine went down twice becomes quarantined
 * (outcome crashed) and is not claimed; a run that was merely killed does not count.
 * Committed on return. EINVAL: a malformed subject, or a device that no run was begun
 * on. */
gt_status gt_db_trial_begin(int64_t *trial_id, bool *claimed, struct gt_db *db,
                            int64_t run_id, const struct gt_db_subject *subject,
                            struct gt_err *err);
/* Ends the trial with the outcome, time, error (made one line), registers, spill and shared
 * bytes and compile_ms of `row`. The state is quarantined when row says so, else done. The
 * moment is now. Committed on return. EINVAL: the trial is not running, or the time is
 * invalid (a correct trial must have samples). */
gt_status gt_db_trial_end(struct gt_db *db, int64_t trial_id,
                          const struct gt_trial_row *row, struct gt_err *err);
/* Finds the trial of this subject that was finished here. *found is false when there is
 * none. The texts of *row live until the next gt_db_trial_find on db. Merged trials are not
 * found: they were measured on another machine. */
gt_status gt_db_trial_find(bool *found, struct gt_trial_row *row, struct gt_db *db,
                           const struct gt_db_subject *subject, struct gt_err *err);

/* The moment of the local records of (device, problem) in ms since 1970; 0: none. */
gt_status gt_db_records_moment(int64_t *moment_ms, struct gt_db *db, const char *device_key,
                               const char *problem, struct gt_err *err);
/* Replaces the local records of (device, problem) in one transaction, if they still are the
 * set of the moment `known_ms`; records from elsewhere stay. The moment of the new set is
 * the first row's (0: now), or just after the old set's when the clock was set back. The
 * provenance of the rows is ignored. *put is false, and nothing is changed, after a failure
 * and when another process has put others. EINVAL: a row that a reader would skip. */
gt_status gt_db_records_replace(bool *put, struct gt_db *db, int64_t known_ms,
                                const char *device_key, const char *problem,
                                const struct gt_record_row *rows, size_t count,
                                struct gt_err *err);

/* Stores rows that were measured here, now, all or none. A row of the same kernel,
 * workspace, library and version is replaced. The provenance and the moment of the rows are
 * ignored. ENOTFOUND: the database does not know the device. EINVAL: a row that a reader
 * would skip. */
gt_status gt_db_rivals_put(struct gt_db *db, const struct gt_rival_row *rows, size_t count,
                           struct gt_err *err);

/* A finished search of a problem, and the limits that it was given. */
struct gt_tuning {
    const char *device_key, *problem;
    const char *families;     /* 64 hex digits over the names and hashes of its families */
    int64_t trials, limit_ms; /* limits; INT64_MAX: no limit */
};

/* Stores the search, unless one with the same limits or higher ones is stored. EINVAL: a
 * device that no run was begun on. */
gt_status gt_db_tuning_put(struct gt_db *db, const struct gt_tuning *tuning,
                           struct gt_err *err);
/* Whether a search with the same families is stored, with limits at least as high as in
 * `least`. */
gt_status gt_db_tuning_find(bool *found, struct gt_db *db, const struct gt_tuning *least,
                            struct gt_err *err);

/* ---- moving results ---- */

struct gt_merge_report {
    /* rows added; rows refused (each logged) */
    int64_t devices, trials, records, rivals, skipped;
};

/* Takes everything from another database file: all finished trials, records, which are
 * marked unverified, and rivals. Records and rivals keep their provenance; winners are
 * computed anew. Commutative and
 * idempotent; all or nothing. The source is opened read-only with defensive settings and
 * stays byte-identical. */
gt_status gt_db_merge(struct gt_merge_report *report, struct gt_db *db, const char *from,
                      struct gt_err *err);
struct gt_export_report {
    int64_t devices, records, rivals; /* that were written */
};

/* Writes tuned results as text that people can review: one JSON document (devices, records
 * sorted by device, problem and rank, each kernel once, and what their kernels were
 * compared with). `device_key` NULL: all. The file
 * appears whole (core/new_file.h). Path "-" writes to stdout. */
gt_status gt_db_export(struct gt_export_report *report, struct gt_db *db,
                       const char *device_key, const char *path, struct gt_err *err);
/* Reads such a document. Its rows become unverified, with the file's name as provenance.
 * EPARSE with file and line when any part is wrong; then nothing is changed. */
gt_status gt_db_import(struct gt_merge_report *report, struct gt_db *db, const char *path,
                       struct gt_err *err);

#endif
