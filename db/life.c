/* SPDX-License-Identifier: Apache-2.0 */
/*
 * life.c - the begin and the end of a file, as far as the program alone decides them:
 * mended before it is read, removed when nothing came into it.
 */
#include "db/internal.h"

#include <unistd.h>

/* Opening for writing rolls back what a dead process has left, and brings an older file up
 * to date. */
static bool mend(const char *path) {
    struct gt_db *db = NULL;
    struct gt_err unread;
    if (access(path, R_OK | W_OK) != 0)
        return false;
    const gt_status mended = gt_db_open(&db, path, GT_DB_WRITE, &unread);
    gt_db_close(db);
    return mended == GEMMTUNE_OK;
}

gt_status gt_db_open_mended(struct gt_db **out, enum gt_db_flaw *flaw, const char *path,
                            struct gt_err *err) {
    const gt_status status = gt_db_open_flawed(out, flaw, path, GT_DB_READ, err);
    if (*flaw == GT_DB_SOUND)
        return status;
    if (mend(path))
        return gt_db_open(out, path, GT_DB_READ, err);
    *flaw = GT_DB_SOUND;
    return status;
}

/* Whether no row was ever stored. Every other row needs a device. */
static bool is_empty(struct gt_db *db) {
    int64_t rows = 1;
    return gt_sql_int(&rows, NULL, db, NULL, "SELECT count(*) FROM device", "") ==
               GEMMTUNE_OK &&
           rows == 0;
}

/* The lock keeps other writers out meanwhile. One that has opened the file already notices
 * that it is gone, and makes another (gt_txn_begin). So may have happened to us: then the
 * path is another's. */
void gt_db_close_unused(struct gt_db *db) {
    if (db != NULL && db->made &&
        gt_sql_script(db, "BEGIN EXCLUSIVE", NULL) == GEMMTUNE_OK) {
        if (is_empty(db) && !gt_db_has_moved(db))
            (void)unlink(gt_db_real_path(db));
        (void)gt_sql_script(db, "ROLLBACK", NULL);
    }
    gt_db_close(db);
}
