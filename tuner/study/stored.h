/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stored.h - spaces of points that have been measured already: a Kernel Tuner cache, or the
 * trials of a problem in one of our databases. A search can be replayed on them without a
 * device. A point without a row is not in the space.
 */
#ifndef GT_TUNER_STUDY_STORED_H
#define GT_TUNER_STUDY_STORED_H

#include "db/db.h"
#include "tuner/search/search.h"

struct gt_stored {
    char title[256]; /* device, kernel or problem */
    int spaces;
    struct gt_space *space;
    gt_outcome **outcome; /* by space and index */
    double **ns;          /* set with GT_CORRECT */
    double best_ns;
};

/* Reads a cache file of Kernel Tuner, plain or gzip, even if it was not closed. Times are
 * its "time", in ms. Values that are not whole numbers are replaced by their index in the
 * list. EIO; EPARSE with file, line and path, or with the kind of file that it is instead;
 * *out is then empty. At most 64 MiB of text and GT_VALUES_MAX values of a parameter. Of
 * more than GT_POINT_MAX parameters, those with the fewest values share one of the space's.
 */
gt_status gt_stored_cache(struct gt_stored *out, const char *path, struct gt_err *err);
/* `name` is the file's name in messages. */
gt_status gt_stored_parse(struct gt_stored *out, const char *name, const char *text,
                          size_t size, struct gt_err *err);
/* Reads the trials of a problem on a device: one space for each family and version of it.
 * ENOTFOUND: there is no correct one. */
gt_status gt_stored_trials(struct gt_stored *out, struct gt_db *db, const char *device_key,
                           const char *problem, struct gt_err *err);
void gt_stored_clear(struct gt_stored *s);

/* The `room` best picks of `from` that are also points of `s`, best first. 0 when memory is
 * short. */
int gt_stored_starts(struct gt_pick *out, int room, const struct gt_stored *s,
                     const struct gt_stored *from);

/* ---- building: for the readers ---- */

/* Rows of one space, in the order in which they are read. */
struct gt_stored_rows {
    char name[GT_NAME_MAX]; /* of the family */
    int params;
    char param[GT_POINT_MAX][GT_NAME_MAX];
    size_t count, room;
    struct gt_stored_row {
        int64_t value[GT_POINT_MAX];
        gt_outcome outcome;
        double ns;
    } * row; /* owned by the function that fills it */
};
gt_status gt_stored_row(struct gt_stored_rows *rows, const struct gt_stored_row *row,
                        struct gt_err *err);
/* Adds a space of these rows, which get sorted. Of several rows for a point, the fastest
 * correct one counts. EINVAL: too many values. */
gt_status gt_stored_add(struct gt_stored *s, struct gt_stored_rows *rows,
                        struct gt_err *err);

#endif
