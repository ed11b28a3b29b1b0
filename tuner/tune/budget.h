/* SPDX-License-Identifier: Apache-2.0 */
/* budget.h - how many seconds each problem of a sweep is searched for. */
#ifndef GT_TUNER_TUNE_BUDGET_H
#define GT_TUNER_TUNE_BUDGET_H

#include "tuner/tune/tune.h"

struct gt_budget {
    const struct gt_sweep *sweep;
    double seconds; /* for the whole sweep, by the clock; 0: no budget */
    double usual_s; /* without a budget: for each problem; 0: no limit */
    size_t devices; /* that work at once */
    double began;   /* by gt_seconds */
    bool *given;    /* of each problem: it has had its time, or needs none */
};

/* Begins now; gt_budget_clear ends it. ENOMEM. */
gt_status gt_budget_begin(struct gt_budget *out, const struct gt_tuner *t,
                          const struct gt_sweep *sweep, double seconds, size_t devices,
                          struct gt_err *err);
void gt_budget_clear(struct gt_budget *b);

/* Seconds that problem i may count on: its share of the budget by weight, the same in every
 * run of a command. 0: no limit. */
double gt_budget_promised(const struct gt_budget *b, size_t i);
/* Seconds for problem i, from spaces to finals: its share by weight of the seconds that are
 * left for it and for all problems that are not given. Without a budget: the usual seconds
 * of a search, without set-up and finals. `promised_s`: seconds that other devices still
 * need for their present problems. */
double gt_budget_share(const struct gt_budget *b, size_t i, double promised_s);

#endif
