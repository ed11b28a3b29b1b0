/* SPDX-License-Identifier: Apache-2.0 */
/* compare.h - what the parts of `gemmtune compare` share: compare.c asks and prints,
 * compare_rows.c makes the rows. */
#ifndef GT_TUNER_CMD_COMPARE_H
#define GT_TUNER_CMD_COMPARE_H

#include "tuner/cmd/common.h"
#include "tuner/base/published.h"
#include "tuner/study/versus.h"

/* One of the two: known to a database, or to a publication, or to both. */
struct gt_compare_side {
    const char *key;       /* in the view; NULL: in no database */
    const char *name;      /* for people */
    const char *published; /* its name in published figures; NULL: in none */
    bool described;        /* device is known */
    struct gt_device device;
};

struct gt_comparison {
    struct gt_view view;
    struct gt_published published;
    struct gt_versus versus;
    struct gt_compare_side a, b;
    struct gt_families *families;
    bool predict; /* predictions were asked for */
};

extern const struct gt_form gt_compare_form;
/* A row a problem, then the published figures. The table, of all or none, is the caller's.
 */
gt_status gt_compare_rows(struct gt_table **out, const struct gt_comparison *c,
                          struct gt_err *err);

/* Three digits and no exponent: ratios run from a thousandth to a thousand. NULL for what
 * is none. */
const char *gt_compare_ratio(char buf[GT_CELL_MAX], double value);

#endif
