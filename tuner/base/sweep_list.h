/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_list.h - the list of a sweep while its file is read. */
#ifndef GT_TUNER_BASE_SWEEP_LIST_H
#define GT_TUNER_BASE_SWEEP_LIST_H

#include "tuner/base/sweep.h"

/* Makes room for `more` items after the existing ones. */
gt_status gt_sweep_reserve(struct gt_sweep *s, size_t more, struct gt_err *err);
/* Adds an item. There must be room for it. */
void gt_sweep_append(struct gt_sweep *s, const gemmtune_problem *p, double weight);
/* Leaves the first of equal problems, with the sum of their weights or the largest one. */
gt_status gt_sweep_merge(struct gt_sweep *s, bool adds_up, struct gt_err *err);

#endif
