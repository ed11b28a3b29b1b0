/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge.c - takes everything from another database. The other file may come from a
 * stranger: it is opened read-only and goes through the checks of every reader. Our file
 * changes in one transaction.
 */
#include "db/internal.h"

#include <string.h>
#include <sys/stat.h>

static bool same_file(const char *a, const char *b) {
    struct stat first, second;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

/* Devices come first: the other rows refer to them. */
static gt_status take_all(struct gt_intake *in, struct gt_db *source, struct gt_err *err) {
    static const struct {
        const struct gt_db_table *table;
        gt_stored_fn take;
    } steps[] = {
        {&gt_device_table, gt_intake_device},
        {&gt_trial_table, gt_intake_trial},
        {&gt_record_table, gt_intake_record},
        {&gt_rival_table, gt_intake_rival},
    };
    gt_status status = GEMMTUNE_OK;
    for (size_t i = 0; i < sizeof steps / sizeof *steps && status == GEMMTUNE_OK; i++)
        status = gt_db_each(source, steps[i].table, NULL, NULL, steps[i].take, in, err);
    in->report.skipped += source->bad;
    return status;
}

static gt_status merge(struct gt_merge_report *report, struct gt_db *db,
                       struct gt_db *source, struct gt_err *err) {
    char theirs[GT_PROVENANCE_MAX];
    struct gt_intake in = {.db = db, .theirs = theirs};
    gt_status status = gt_db_origin(theirs, source, err);
    if (status == GEMMTUNE_OK)
        status = gt_txn_begin(db, err);
    if (status != GEMMTUNE_OK)
        return status;
    status = gt_db_origin(in.own, db, err);
    if (status == GEMMTUNE_OK)
        status = take_all(&in, source, err);
    status = gt_txn_end(db, status, err);
    if (status == GEMMTUNE_OK)
        *report = in.report;
    return status;
}

gt_status gt_db_merge(struct gt_merge_report *report, struct gt_db *db, const char *from,
                      struct gt_err *err) {
    struct gt_db *source = NULL;
    *report = (struct gt_merge_report){0};
    if (same_file(db->path, from))
        return gt_fail(err, GEMMTUNE_EINVAL, "%s: cannot be merged into itself", from);
    gt_status status = gt_db_open(&source, from, GT_DB_READ, err);
    if (status == GEMMTUNE_OK)
        status = merge(report, db, source, err);
    gt_db_close(source);
    return status;
}
