/* SPDX-License-Identifier: Apache-2.0 */
/* parallel.h - work on the host that all cores share. */
#ifndef GT_TUNER_BASE_PARALLEL_H
#define GT_TUNER_BASE_PARALLEL_H

#include <stdint.h>

/* Does the items from `first` to before `end`. `thread` is from 0 to
 * gt_parallel_threads() - 1. */
typedef void gt_parallel_fn(void *user, int thread, int64_t first, int64_t end);

int gt_parallel_threads(void);
/* Calls fn for parts of `count` items, in as many threads as there are cores, and returns
 * when all are done. Threads that cannot be started are done without. */
void gt_parallel(gt_parallel_fn *fn, void *user, int64_t count);

#endif
