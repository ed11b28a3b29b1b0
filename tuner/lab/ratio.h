/* SPDX-License-Identifier: Apache-2.0 */
/* ratio.h - how many times as long one side takes as another, sample by sample. Pure. */
#ifndef GT_TUNER_LAB_RATIO_H
#define GT_TUNER_LAB_RATIO_H

#include "core/outcome.h"

/* Sample i of `theirs` over sample i of `ours`, with median and interval: above 1 ours is
 * faster. */
void gt_ratio_of(struct gt_measurement *out, const struct gt_measurement *theirs,
                 const struct gt_measurement *ours);
/* How far from 1 the ratio of a thing to itself may lie: the farther end of the interval.
 */
double gt_ratio_floor(const struct gt_measurement *ratio);

#endif
