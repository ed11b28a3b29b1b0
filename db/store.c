/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.c - the parts that every writer needs: transactions, subjects, sets of records.
 */
#include "db/internal.h"

#include <time.h>

int64_t gt_now_ms(void) {
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t gt_latest_ms(void) {
    return gt_now_ms() + INT64_C(24) * 60 * 60 * 1000;
}

/* ---- transactions ---------------------------------------------------------- */

/* The lock keeps the file in its place: who removes it needs the lock (life.c). A file that
 * went before is empty, so the one in its place serves as well. Not for a run: its device
 * is in the file that went. */
gt_status gt_txn_begin(struct gt_db *db, struct gt_err *err) {
    if (db->mode != GT_DB_WRITE)
        return gt_fail(err, GEMMTUNE_EINVAL, "%s: was opened for reading only", db->path);
    gt_status status = gt_sql_script(db, "BEGIN IMMEDIATE", err);
    for (int i = 0; i < GT_DB_MOVES_MAX && status == GEMMTUNE_OK && db->run_id == 0 &&
                    gt_db_has_moved(db);
         i++) {
        (void)gt_sql_script(db, "ROLLBACK", NULL);
        status = gt_db_open_again(db, err);
        if (status == GEMMTUNE_OK)
            status = gt_sql_script(db, "BEGIN IMMEDIATE", err);
    }
    if (status == GEMMTUNE_OK && db->run_id == 0 && gt_db_has_moved(db)) {
        (void)gt_sql_script(db, "ROLLBACK", NULL);
        status = gt_fail(err, GEMMTUNE_EIO,
                         "%s: other processes replace it again and again", db->path);
    }
    return status;
}

gt_status gt_txn_end(struct gt_db *db, gt_status status, struct gt_err *err) {
    if (status == GEMMTUNE_OK)
        status = gt_sql_script(db, "COMMIT", err);
    /* SQLite rolls back by itself when the disk is full; to roll back again would be an
     * error. */
    if (status != GEMMTUNE_OK && sqlite3_get_autocommit(db->conn) == 0)
        (void)gt_sql_script(db, "ROLLBACK", NULL);
    return status;
}

/* ---- subjects -------------------------------------------------------------- */

static gt_status put_family(int64_t *id, struct gt_db *db,
                            const struct gt_db_subject *subject, struct gt_err *err) {
    bool found = false;
    gt_status status =
        gt_sql_int(id, &found, db, err, "SELECT id FROM family WHERE name = ? AND hash = ?",
                   "tt", subject->family, subject->family_hash);
    if (status != GEMMTUNE_OK || found)
        return status;
    status = gt_sql_run(db, err, "INSERT INTO family (name, hash) VALUES (?, ?)", "tt",
                        subject->family, subject->family_hash);
    *id = sqlite3_last_insert_rowid(db->conn);
    return status;
}

static gt_status find_device(int64_t *id, struct gt_db *db, const char *key,
                             struct gt_err *err) {
    bool found = false;
    const gt_status status =
        gt_sql_int(id, &found, db, err, "SELECT id FROM device WHERE key = ?", "t", key);
    if (status == GEMMTUNE_OK && !found)
        return gt_fail(err, GEMMTUNE_ENOTFOUND, "%s: holds no device \"%s\"", db->path,
                       key);
    return status;
}

gt_status gt_subject_put(int64_t *id, struct gt_db *db, const struct gt_db_subject *subject,
                         struct gt_err *err) {
    int64_t device = 0, family = 0;
    bool found = false;
    gt_status status = find_device(&device, db, subject->device_key, err);
    if (status == GEMMTUNE_OK)
        status = put_family(&family, db, subject, err);
    if (status == GEMMTUNE_OK)
        status = gt_sql_int(id, &found, db, err,
                            "SELECT id FROM subject WHERE device = ? AND problem = ? AND "
                            "family = ? AND point = ?",
                            "itit", device, subject->problem, family, subject->point);
    if (status != GEMMTUNE_OK || found)
        return status;
    status = gt_sql_run(db, err,
                        "INSERT INTO subject (device, problem, family, point) "
                        "VALUES (?, ?, ?, ?)",
                        "itit", device, subject->problem, family, subject->point);
    *id = sqlite3_last_insert_rowid(db->conn);
    return status;
}

/* ---- sets of records: one (device, problem, provenance) -------------------- */

#define SET_SUBJECTS                                                                       \
    "(SELECT s.id FROM subject AS s JOIN device AS d ON d.id = s.device "                  \
    "WHERE d.key = ? AND s.problem = ?)"

gt_status gt_records_delete(struct gt_db *db, const struct gt_db_subject *subject,
                            const char *provenance, struct gt_err *err) {
    return gt_sql_run(
        db, err, "DELETE FROM record WHERE subject IN " SET_SUBJECTS " AND provenance = ?",
        "ttt", subject->device_key, subject->problem, provenance);
}

gt_status gt_records_stamp(int64_t *measured_ms, bool *found, struct gt_db *db,
                           const struct gt_db_subject *subject, const char *provenance,
                           struct gt_err *err) {
    return gt_sql_int(measured_ms, found, db, err,
                      "SELECT max(measured_ms) FROM record WHERE subject IN " SET_SUBJECTS
                      " AND provenance = ? AND measured_ms <= ?",
                      "ttti", subject->device_key, subject->problem, provenance,
                      gt_latest_ms());
}
