/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tuned.h - whether a problem has been tuned already. This is so when its winner is stored
 * and a search on this device has ended that used the present sources of the same families
 * and at least this effort.
 */
#ifndef GT_TUNER_TUNE_TUNED_H
#define GT_TUNER_TUNE_TUNED_H

#include "tuner/tune/tune.h"

/* Recalls the stored records when the problem has been tuned with t->effort and `seconds`
 * of search (0: no limit) or more. Then *found and result->before are true. */
gt_status gt_tuned_find(bool *found, struct gt_tune_result *result,
                        const struct gt_tuner *t, const struct gt_sweep_item *item,
                        double seconds, struct gt_err *err);
/* Stores that the problem has been tuned, if `result` says that its search came to the end.
 */
gt_status gt_tuned_note(const struct gt_tune_result *result, const struct gt_tuner *t,
                        const struct gt_sweep_item *item, double seconds,
                        struct gt_err *err);

#endif
