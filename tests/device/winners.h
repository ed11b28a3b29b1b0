/* SPDX-License-Identifier: Apache-2.0 */
/* winners.h - a database in which given kernels have won, for tests of plans. */
#ifndef GT_TESTS_DEVICE_WINNERS_H
#define GT_TESTS_DEVICE_WINNERS_H

#include "runtime/family/family.h"
#include "tests/device/machines.h"
#include "tests/unit/records.h"

#include <stdio.h>
#include <string.h>

/* A file that the test removes again; `buf` is returned. */
static inline const char *winners_path(char buf[512]) {
    const char *tmp = getenv("TMPDIR");
    (void)snprintf(buf, 512, "%s/gt-winners-%ld.db", tmp != NULL ? tmp : "/tmp",
                   (long)getpid());
    (void)remove(buf);
    return buf;
}

/* Opens it with a run on the machine's device. */
static inline struct gt_db *winners_begin(int64_t *run, const char *path,
                                          const struct machine *m) {
    const struct gt_run_info info = {"0", "driver", "compiler", "", 1};
    struct gt_db *db = NULL;
    struct gt_err err = {""};
    (void)gt_db_open(&db, path, GT_DB_WRITE, &err);
    assert_string_equal(err.line, "");
    (void)gt_db_run_begin(run, db, m->device, &info, &err);
    assert_string_equal(err.line, "");
    return db;
}

/* The family's point has won the problem. The point is in gt_point_text's form. */
static inline void winners_add(struct gt_db *db, const struct machine *m,
                               const struct gt_family *f, const char *point,
                               const char *problem) {
    struct gt_err err = {""};
    const struct gt_record_row row = {.subject = {m->key, problem, f->name, f->hash, point},
                                      .verified = true,
                                      .time = {.median_ns = 1000,
                                               .low_ns = 900,
                                               .high_ns = 1100,
                                               .samples = 7,
                                               .launches = 1},
                                      .provenance = "local"};
    (void)put_local_records(db, m->key, problem, &row, 1, &err);
    assert_string_equal(err.line, "");
}

static inline void winners_end(struct gt_db *db, int64_t run) {
    assert_int_equal(gt_db_run_end(db, run, "done", NULL), GEMMTUNE_OK);
    gt_db_close(db);
}

#endif
