/* SPDX-License-Identifier: Apache-2.0 */
/* estimate.h - how long tuning will take, told before it begins. */
#ifndef GT_TUNER_TUNE_ESTIMATE_H
#define GT_TUNER_TUNE_ESTIMATE_H

#include "tuner/tune/budget.h"

/* The seconds of problem i, by what earlier runs took:
 * - its time by effort or budget, but at most as long as `points` trials take, and at least
 * as long as the required ones;
 * - the work beside that time, which a budget includes. This work and trials take
 * `slowdown` times as long as on idle cores (gt_cores_slowdown). SIZE_MAX `points`: their
 * number is unknown. INFINITY when no limit is known at all. */
double gt_estimate_problem(const struct gt_budget *b, const struct gt_tuner *t, size_t i,
                           size_t points, double slowdown);
/* The trials of problem i in that time;
 * SIZE_MAX when neither points nor time limit them. */
size_t gt_estimate_trials(const struct gt_budget *b, const struct gt_tuner *t, size_t i,
                          size_t points, double slowdown);
/* The seconds of all problems that are not given yet, on b->devices at once. */
double gt_estimate_all(const struct gt_budget *b, const struct gt_tuner *t,
                       double slowdown);
/* Moves a running mean of seconds, 0 before the first, a quarter of the way to `took_s`. */
void gt_estimate_learn(double *mean_s, double took_s);

#endif
