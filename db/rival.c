/* SPDX-License-Identifier: Apache-2.0 */
/* rival.c - the write side of comparisons with libraries. */
#include "db/internal.h"

#include <inttypes.h>
#include <stdio.h>

static gt_status put(struct gt_db *db, const struct gt_rival_row *row, int64_t now_ms,
                     struct gt_err *err) {
    struct gt_stored_rival stored = {.row = *row};
    int64_t subject = 0;
    stored.row.provenance = GT_LOCAL;
    stored.row.measured_ms = now_ms;
    const gt_status status = gt_subject_put(&subject, db, &row->subject, err);
    return status == GEMMTUNE_OK
               ? gt_row_put(NULL, db, &gt_rival_table, subject, &stored, err)
               : status;
}

gt_status gt_db_rivals_put(struct gt_db *db, const struct gt_rival_row *rows, size_t count,
                           struct gt_err *err) {
    const int64_t now_ms = gt_now_ms();
    gt_status status = gt_txn_begin(db, err);
    if (status != GEMMTUNE_OK)
        return status;
    for (size_t i = 0; i < count && status == GEMMTUNE_OK; i++)
        status = put(db, &rows[i], now_ms, err);
    return gt_txn_end(db, status, err);
}

gt_status gt_rival_find(bool *found, struct gt_stored_rival *out, int64_t *id,
                        struct gt_db *db, const struct gt_rival_row *like,
                        const char *provenance, struct gt_err *err) {
    char workspace[24], version[16];
    const char *const texts[] = {like->subject.device_key,
                                 like->subject.problem,
                                 like->subject.family,
                                 like->subject.family_hash,
                                 like->subject.point,
                                 workspace,
                                 like->library,
                                 version,
                                 provenance,
                                 NULL};
    (void)snprintf(workspace, sizeof workspace, "%" PRId64, like->workspace);
    (void)snprintf(version, sizeof version, "%d", like->version);
    return gt_row_find(found, out, id, db, &gt_rival_table,
                       "d.key = ? AND s.problem = ? AND f.name = ? AND f.hash = ? AND "
                       "s.point = ? AND x.workspace = CAST(? AS INTEGER) AND "
                       "x.library = ? AND x.version = CAST(? AS INTEGER) AND "
                       "x.provenance = ?",
                       texts, err);
}
