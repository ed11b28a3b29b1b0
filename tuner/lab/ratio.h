/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ratio.h - how many times as long one side takes as another, sample by sample. No device.
 */
#ifndef GT_TUNER_LAB_RATIO_H
#define GT_TUNER_LAB_RATIO_H

#include "core/outcome.h"

/* Divides sample i of `theirs` by sample i of `ours` and finds median and interval. Above
 * 1, ours is faster. */
void gt_ratio_of(struct gt_measurement *out, const struct gt_measurement *theirs,
                 const struct gt_measurement *ours);
/* How far from 1 the ratio of a thing to itself may be: the farther end of the interval. */
double gt_ratio_floor(const struct gt_measurement *ratio);

#endif
