/* SPDX-License-Identifier: Apache-2.0 */
/*
 * versus.h - compares the results of two devices on the same problems. It works on a view:
 * no device, no database, no printing.
 */
#ifndef GT_TUNER_STUDY_VERSUS_H
#define GT_TUNER_STUDY_VERSUS_H

#include "tuner/base/view.h"

enum { GT_DIFFERS_MAX = 1200 }; /* room for every parameter as "NAME old->new" */

/* One problem. The rows belong to the view. */
struct gt_versus_row {
    const char *problem;
    const struct gt_view_row *a, *b; /* winners; NULL when a side has none */
    double ratio;                    /* time of a over time of b; 0 when one is missing */
    /* "BM 128->64", "tile->block"; "" when they are the same */
    char differs[GT_DIFFERS_MAX];
    const struct gt_view_row
        /* measured on both: the kernel with the smallest loss on both */
        *shared;
    double shared_a_ns, shared_b_ns; /* its times */
    double shared_slowdown;          /* its larger slowdown against the side's best */
};

struct gt_versus {
    size_t count, common;
    struct gt_versus_row *row; /* by problem */
    double geomean;            /* of all ratios; 0 when there is none */
};

/* `a` and `b` are keys of devices in the view. The view's rows are sorted by this call. */
gt_status gt_versus_create(struct gt_versus *out, struct gt_view *v, const char *a,
                           const char *b, struct gt_err *err);
void gt_versus_clear(struct gt_versus *v);

#endif
