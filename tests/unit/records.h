/* SPDX-License-Identifier: Apache-2.0 */
/* records.h - local records of a problem, whatever is there. */
#ifndef GT_TESTS_UNIT_RECORDS_H
#define GT_TESTS_UNIT_RECORDS_H

#include "db/db.h"

static inline gt_status put_local_records(struct gt_db *db, const char *device_key,
                                          const char *problem,
                                          const struct gt_record_row *rows, size_t count,
                                          struct gt_err *err) {
    int64_t known_ms;
    bool put;
    const gt_status status = gt_db_records_moment(&known_ms, db, device_key, problem, err);
    return status == GEMMTUNE_OK ? gt_db_records_replace(&put, db, known_ms, device_key,
                                                         problem, rows, count, err)
                                 : status;
}

#endif
