/* SPDX-License-Identifier: Apache-2.0 */
/* import_shelf.h - `gemmtune import` of a folder that `export --shelf` wrote, and the check
 * of a sample before results are taken. */
#ifndef GT_TUNER_CMD_IMPORT_SHELF_H
#define GT_TUNER_CMD_IMPORT_SHELF_H

#include "core/new_file.h"
#include "db/db.h"

#include <stdbool.h>
#include <stdint.h>

/* Where the results of `path` stand: the file itself, or tuned.json in the folder. */
const char *gt_import_results(char buf[GT_PATH_SIZE], const char *path);
/* Takes what the folder `path` has learned of a device, and says so. A file has nothing. */
gt_status gt_import_learned(const char *path, const char *database, struct gt_err *err);

/* gt_db_import or gt_db_merge */
typedef gt_status (*gt_take_fn)(struct gt_merge_report *report, struct gt_db *db,
                                const char *path, struct gt_err *err);

/* Results in a database of their own, for as long as they are looked at. */
struct gt_borrowed {
    struct gt_db *db;
    char folder[GT_PATH_SIZE]; /* "": there is none */
    char path[GT_PATH_SIZE + 16];
};

/* Opens a database to read, or takes the results of a shelf's folder into one; `path` NULL:
 * the default database, which may be missing: then `db` is NULL. Returns -1, or the exit
 * code. Call gt_import_return in either case. */
int gt_import_open(struct gt_borrowed *out, const char *path);
void gt_import_return(struct gt_borrowed *b);

/* Takes the results of the files into a database of its own, and checks `sample` winners of
 * the device there. Returns -1 when all are correct, else the exit code of `verify`. */
int gt_import_check(gt_take_fn take, int count, char **paths, const char *device,
                    int64_t sample);

#endif
