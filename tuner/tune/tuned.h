/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tuned.h - whether a problem has been tuned already. It has when a search on this device,
 * with the present sources of the same families and at least this effort, came to its end,
 * and its winner is stored.
 */
#ifndef GT_TUNER_TUNE_TUNED_H
#define GT_TUNER_TUNE_TUNED_H

#include "tuner/tune/budget.h"

/* Finds the problems of the budget's sweep that have been tuned with t->effort and their
 * seconds of search (0: no limit) or more. Such a problem is `given`: its stored records
 * are result[i], with `before`. result[i] of another problem stays 0. Orders of sums that
 * the records decide are kept in t->orders. */
gt_status gt_tuned_find_all(struct gt_tune_result *result, struct gt_budget *budget,
                            struct gt_tuner *t, struct gt_err *err);
/* Records the problem as tuned, if `result` says that a search came to its end. */
gt_status gt_tuned_note(const struct gt_tune_result *result, const struct gt_tuner *t,
                        const struct gt_sweep_item *item, double seconds,
                        struct gt_err *err);

#endif
