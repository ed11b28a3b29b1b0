/* SPDX-License-Identifier: Apache-2.0 */
/* explain_order.h - the order of sums of a problem with row_order, and what it costs beside
 * the free choice, for `explain`. */
#ifndef GT_TUNER_CMD_EXPLAIN_ORDER_H
#define GT_TUNER_CMD_EXPLAIN_ORDER_H

#include "runtime/lookup/match.h"

struct gt_explained_order {
    char order[GT_ORDER_MAX];
    char from[GT_PROBLEM_NAME_MAX + 64]; /* who chose it */
    int others;                          /* problems with records of other orders */
    double ns, free_ns; /* of the kernel in the order, and of the free choice; 0: no
                         * time is known */
    bool measured;      /* both were measured for this problem; else forecasts */
    char kernel[2][GT_NAME_MAX + GT_POINT_TEXT_MAX + 4]; /* "" where there is none */
};

/* Returns an exit code, or -1 to go on. `db` NULL: the usual one, which may be missing. */
int gt_explain_order(struct gt_explained_order *out, const char *db,
                     const struct gt_families *families, const struct gt_device *device,
                     const gemmtune_problem *p);
void gt_explain_order_print(const struct gt_explained_order *o);
void gt_explain_order_json(const struct gt_explained_order *o);

#endif
