/* SPDX-License-Identifier: Apache-2.0 */
/* tuning.c - how far each problem was searched, so that the same search is not repeated. */
#include "db/internal.h"

#define OF_PROBLEM                                                                         \
    "device = (SELECT id FROM device WHERE key = ?) AND problem = ? AND families = ?"

gt_status gt_db_tuning_put(struct gt_db *db, const struct gt_tuning *tuning,
                           struct gt_err *err) {
    int64_t device = 0;
    gt_status status = gt_txn_begin(db, err);
    if (status != GEMMTUNE_OK)
        return status;
    status = gt_sql_int(&device, NULL, db, err, "SELECT id FROM device WHERE key = ?", "t",
                        tuning->device_key);
    if (status == GEMMTUNE_OK && device == 0)
        status = gt_fail(err, GEMMTUNE_EINVAL, "%s: holds no device \"%s\"", db->path,
                         tuning->device_key);
    if (status == GEMMTUNE_OK) /* a row with two limits as high or higher stays */
        status = gt_sql_run(
            db, err,
            "INSERT INTO tuning (device, problem, families, trials, limit_ms, ended_ms) "
            "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (device, problem, families) DO UPDATE "
            "SET trials = excluded.trials, limit_ms = excluded.limit_ms, "
            "ended_ms = excluded.ended_ms "
            "WHERE NOT (trials >= excluded.trials AND limit_ms >= excluded.limit_ms)",
            "ittiii", device, tuning->problem, tuning->families, tuning->trials,
            tuning->limit_ms, gt_now_ms());
    return gt_txn_end(db, status, err);
}

gt_status gt_db_tuning_find(bool *found, struct gt_db *db, const struct gt_tuning *least,
                            struct gt_err *err) {
    int64_t id = 0;
    return gt_sql_int(&id, found, db, err,
                      "SELECT id FROM tuning WHERE " OF_PROBLEM
                      " AND trials >= ? AND limit_ms >= ?",
                      "tttii", least->device_key, least->problem, least->families,
                      least->trials, least->limit_ms);
}
