/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ratio.h - how many times as long one side takes as another, round by round. No device.
 */
#ifndef GT_TUNER_LAB_RATIO_H
#define GT_TUNER_LAB_RATIO_H

#include "core/outcome.h"

/* Divides the sample of `theirs` by the sample of `ours` in each round that both have, and
 * finds median and interval. Above 1, ours is faster. Sample i is of round `unsettled` + i.
 * Without a common round there is no ratio: no sample, and a median of 0. */
void gt_ratio_of(struct gt_measurement *out, const struct gt_measurement *theirs,
                 const struct gt_measurement *ours);
/* The median of that ratio; without a common round the ratio of the two medians. */
double gt_ratio_median(const struct gt_measurement *theirs,
                       const struct gt_measurement *ours);
/* How far from 1 the ratio of a thing to itself may be: the farther end of the interval. */
double gt_ratio_floor(const struct gt_measurement *ratio);

#endif
