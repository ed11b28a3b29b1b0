/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view.h - the contents of one or several databases in memory, without a device: devices,
 * and the trials and records of chosen problems.
 */
#ifndef GT_TUNER_BASE_VIEW_H
#define GT_TUNER_BASE_VIEW_H

#include "db/db.h"
#include "runtime/family/family.h"

struct gt_view_device {
    char key[GT_DEVICE_KEY_MAX];
    struct gt_device device;
};

/* A trial or a record. Some members belong to one of the two, as their comments say. */
struct gt_view_row {
    char device[GT_DEVICE_KEY_MAX];
    char problem[GT_PROBLEM_NAME_MAX];
    char family[GT_NAME_MAX];
    char hash[65]; /* of the family's source */
    char *point, *error, *provenance;
    bool record;
    int rank;            /* records: 0 is the winner; trials: see gt_view_join */
    bool current;        /* ranked records: made of the present source of the family */
    bool verified, tied; /* records */
    double baseline_ns;  /* records; 0 unknown */
    enum gt_trial_state state; /* trials; a record counts as done */
    gt_outcome outcome;        /* trials; a record counts as correct */
    int64_t run_id;            /* trials made here; else 0 */
    int attempts, registers, spill_bytes, smem_bytes; /* trials */
    int samples; /* 0 when it was never measured; a single one has no interval */
    double median_ns, low_ns, high_ns; /* 0 when there is none */
    double final_ns; /* median of its record; 0: there is none, or gt_view_join was not
                      * called */
};

struct gt_view {
    size_t device_count, row_count;
    struct gt_view_device *device; /* one for each key, sorted by key */
    struct gt_view_row *row;       /* in the order in which they were read */
};

/* Each adds rows of the database to the view, which must be zeroed at first. NULL selects
 * everything. */
gt_status gt_view_devices(struct gt_view *v, struct gt_db *db, struct gt_err *err);
gt_status gt_view_records(struct gt_view *v, struct gt_db *db, const char *device_key,
                          const char *problem, struct gt_err *err);
gt_status gt_view_trials(struct gt_view *v, struct gt_db *db, const char *device_key,
                         const char *problem, struct gt_err *err);
void gt_view_clear(struct gt_view *v);

/* Whether the row's kernel has the present source of its family, so that a build would give
 * the same kernel. */
bool gt_view_current(const struct gt_view_row *row, const struct gt_families *families);
/* Why it has not: "no family" when there is none of its name, else "stale"; NULL when it
 * has.
 */
const char *gt_view_outdated(const struct gt_view_row *row,
                             const struct gt_families *families);
/* Ranks the rows from `from` on again; they must be the records of one database. For each
 * device and problem, the current rows come first and the stale ones last, each in their
 * old order. Rank 0 is then the winner that can be used, if there is one. */
void gt_view_rank(struct gt_view *v, size_t from, const struct gt_families *families);

/* Gives each row the rank and the time of its kernel's record for the same device and
 * problem; rank -1 when it has none. `records` are ranked. */
void gt_view_join(struct gt_view *v, const struct gt_view *records);

/* The word for a trial's outcome, or for the state of a trial without one. */
const char *gt_view_word(const struct gt_view_row *row);

/* The device with the key; NULL: the view has none. */
const struct gt_device *gt_view_device(const struct gt_view *v, const char *key);
/* Finds the device with the key or name `what`, else the only one that has `what` in its
 * key or name. Upper and lower case are the same. NULL finds the only device of the view.
 * ENOTFOUND when there is none, EINVAL when there are several. */
gt_status gt_view_pick(size_t *index, const struct gt_view *v, const char *what,
                       struct gt_err *err);

/* Whether `part` stands in `text`. Upper and lower case are the same (ASCII only). */
bool gt_text_holds(const char *text, const char *part);
bool gt_text_same(const char *a, const char *b);

#endif
