/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ahead.h - prepares the next problem while one is tuned, so that the device need not wait.
 *
 * - A thread makes the next problem's spaces and the model's outlook on them, which takes
 *   up to a second of one core, while the search runs. Families are shared among cores.
 * - The compile workers build its first candidates when the present search has no more use
 *   for them, and while the finalists are measured.
 */
#ifndef GT_TUNER_TUNE_AHEAD_H
#define GT_TUNER_TUNE_AHEAD_H

#include "tuner/tune/tune.h"

/* Begins with the problem of `item`, which must outlive it, and its order of sums. Does
 * nothing when `item` is NULL, or on a CPU, where the thread would compete with the device.
 */
void gt_ahead_begin(struct gt_ahead *a, const struct gt_tuner *t,
                    const struct gt_sweep_item *item, const char *order);
/* Gives each idle compile worker one of the first candidates of that problem, if any is
 * left, up to one that a compiler has for the present problem. Its search will find the
 * images in the cache. A failure is ignored here: it will occur again there. Does nothing
 * while the thread runs. */
void gt_ahead_compile(struct gt_ahead *a, struct gt_tuner *t);
/* The spaces of a problem, as gt_tune_spaces gives them, and the outlook on them. If the
 * thread made them for this problem and order, its results are used. */
gt_status gt_ahead_spaces(struct gt_space **out, int *spaces, struct gt_outlook *outlook,
                          struct gt_err *untried, struct gt_ahead *a,
                          const struct gt_tuner *t, const struct gt_sweep_item *item,
                          const char *order, struct gt_err *err);
/* Waits for the thread and frees its unused results. */
void gt_ahead_clear(struct gt_ahead *a);

#endif
