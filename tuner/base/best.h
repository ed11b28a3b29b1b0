/* SPDX-License-Identifier: Apache-2.0 */
/* best.h - keeps the best few of many elements in a sorted array. */
#ifndef GT_TUNER_BASE_BEST_H
#define GT_TUNER_BASE_BEST_H

#include <stddef.h>

/* Opens a place for an element with this key and returns it; the caller fills it in. Each
 * element of the array (`size` bytes) must begin with its key, a double; the smallest key
 * comes first, and a new element comes after equal ones. `*count` grows up to `max`, and
 * then the last element is dropped. NULL when the new element is not among the best `max`.
 */
void *gt_best_place(void *array, int *count, int max, size_t size, double key);

#endif
