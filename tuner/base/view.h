/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view.h - what one or several databases hold, in memory and without a device: devices, and
 * the trials and records of chosen problems.
 */
#ifndef GT_TUNER_BASE_VIEW_H
#define GT_TUNER_BASE_VIEW_H

#include "db/db.h"
#include "runtime/family.h"

struct gt_view_device {
    char key[GT_DEVICE_KEY_MAX];
    struct gt_device device;
};

/* A trial, or a record. */
struct gt_view_row {
    char device[GT_DEVICE_KEY_MAX];
    char problem[GT_PROBLEM_NAME_MAX];
    char family[GT_NAME_MAX];
    char hash[65]; /* of the family's source */
    char *point, *error, *provenance;
    bool record;
    int rank;                  /* records: 0 is the winner */
    bool current;              /* records that have been ranked: of the present source */
    bool verified, tied;       /* records */
    double baseline_ns;        /* records; 0 unknown */
    enum gt_trial_state state; /* trials; a record counts as done */
    gt_outcome outcome;        /* trials; a record counts as correct */
    int64_t run_id;            /* trials made here; else 0 */
    int attempts, registers, spill_bytes, smem_bytes; /* trials */
    double median_ns, low_ns, high_ns;                /* 0 when never measured */
};

struct gt_view {
    size_t device_count, row_count;
    struct gt_view_device *device; /* by key, each once */
    struct gt_view_row *row;       /* as they came */
};

/* Each adds what the database has to the view, which starts zeroed. NULL selects
 * everything. */
gt_status gt_view_devices(struct gt_view *v, struct gt_db *db, struct gt_err *err);
gt_status gt_view_records(struct gt_view *v, struct gt_db *db, const char *device_key,
                          const char *problem, struct gt_err *err);
gt_status gt_view_trials(struct gt_view *v, struct gt_db *db, const char *device_key,
                         const char *problem, struct gt_err *err);
void gt_view_clear(struct gt_view *v);

/* Whether the row is of its family's present source: its kernel is what would be built. */
bool gt_view_current(const struct gt_view_row *row, const struct gt_families *families);
/* Ranks rows `from` and on anew, which are the records of one database and nothing else: of
 * each device and problem the current ones in their order, then the stale. 0 is then the
 * winner that can be served, if there is any. */
void gt_view_rank(struct gt_view *v, size_t from, const struct gt_families *families);

/* The device whose key or name is `what`, else the only one with `what` in its key or name;
 * capitals do not matter; NULL: the only one there is. ENOTFOUND when there is none, EINVAL
 * when several. */
gt_status gt_view_pick(size_t *index, const struct gt_view *v, const char *what,
                       struct gt_err *err);

/* Whether `part` stands in `text`, or is all of it; capitals do not matter (ASCII). */
bool gt_text_holds(const char *text, const char *part);
bool gt_text_same(const char *a, const char *b);

#endif
