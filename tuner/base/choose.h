/* SPDX-License-Identifier: Apache-2.0 */
/*
 * choose.h - asks which kernel the library would choose, for a database file. It calls the
 * function that the library calls.
 */
#ifndef GT_TUNER_BASE_CHOOSE_H
#define GT_TUNER_BASE_CHOOSE_H

#include "db/db.h"
#include "runtime/lookup/match.h"
#include "tuner/base/table.h"

struct gt_chosen {
    struct gt_choice choice;
    struct gt_known *known; /* choice.known points into it */
    int64_t stale;          /* rows of older kernel sources, which were skipped */
};

/* The library's choice for a problem of a caller with so many bytes of workspace, when
 * nothing else limits it: any match, pointers that are aligned. Errors as of gt_match. */
gt_status gt_choose_from(struct gt_choice *out, const struct gt_snapshot *snapshot,
                         const struct gt_device *device, const gemmtune_problem *p,
                         size_t workspace_max, struct gt_err *err);

/* The same from a database. `db` may be NULL, which counts as an empty database. Release
 * with gt_chosen_clear. */
gt_status gt_choose(struct gt_chosen *out, struct gt_db *db,
                    const struct gt_families *families, const struct gt_device *device,
                    const gemmtune_problem *p, size_t workspace_max, struct gt_err *err);
void gt_chosen_clear(struct gt_chosen *c);

/* The choice's expected loss for people: "7.3 % expected", "unknown". Returns `buf`. */
const char *gt_expected_loss(char buf[GT_CELL_MAX], const struct gt_choice *c);
/* The same in per cent for programs; NAN when it is unknown. */
double gt_expected_percent(const struct gt_choice *c);

#endif
