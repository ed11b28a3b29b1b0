/* SPDX-License-Identifier: Apache-2.0 */
/*
 * versus.h - two devices' results on the same problems, set against each other. Works on a
 * view: no device, no database, no printing.
 */
#ifndef GT_TUNER_STUDY_VERSUS_H
#define GT_TUNER_STUDY_VERSUS_H

#include "tuner/base/view.h"

enum { GT_DIFFERS_MAX = 1200 }; /* every parameter as "NAME old->new" */

/* One problem. Rows are the view's. */
struct gt_versus_row {
    const char *problem;
    const struct gt_view_row *a, *b; /* winners; one is NULL when that side has none */
    double ratio;                    /* time of a over time of b; 0 when one is missing */
    char differs[GT_DIFFERS_MAX];    /* "BM 128->64", "tile->block"; "" when the same */
    const struct gt_view_row
        *shared;                     /* measured on both: the point that serves both best */
    double shared_a_ns, shared_b_ns; /* its times */
    double shared_slowdown;          /* the worse of its times over the side's best */
};

struct gt_versus {
    size_t count, common;
    struct gt_versus_row *row; /* by problem */
    double geomean;            /* of the common ratios; 0 when there is none */
};

/* `a` and `b` are device keys of the view, whose rows are sorted by this. */
gt_status gt_versus_create(struct gt_versus *out, struct gt_view *v, const char *a,
                           const char *b, struct gt_err *err);
void gt_versus_clear(struct gt_versus *v);

#endif
