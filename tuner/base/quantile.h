/* SPDX-License-Identifier: Apache-2.0 */
/* quantile.h - sorts numbers and finds medians and other quantiles. */
#ifndef GT_TUNER_BASE_QUANTILE_H
#define GT_TUNER_BASE_QUANTILE_H

#include <stddef.h>

/* Sorts in ascending order. */
void gt_sort_numbers(double *values, size_t count);
/* Sorts the values. The mean of the two middle ones when `count` is even;
 * 0 without values. */
double gt_median(double *values, size_t count);
/* The smallest value that is not below `share` (0 to 1) of the values; `count` is 1 or
 * more. */
double gt_quantile(const double *sorted, size_t count, double share);

#endif
