/* SPDX-License-Identifier: Apache-2.0 */
/* parallel.h - work on the host that all cores share. */
#ifndef GT_TUNER_BASE_PARALLEL_H
#define GT_TUNER_BASE_PARALLEL_H

#include "tuner/base/cores.h"

#include <stdint.h>

/* Does the items from `first` to before `end`. `thread` is from 0 to
 * gt_parallel_threads() - 1. */
typedef void gt_parallel_fn(void *user, int thread, int64_t first, int64_t end);

int gt_parallel_threads(void);
/* From now on threads of gt_parallel use these cores, beside the process's own: another
 * process lends them. Not to be called while gt_parallel runs. */
void gt_parallel_borrow(const struct gt_core_set *cores);
/* Calls fn for parts of `count` items, in as many threads as there are cores but no more
 * than items, and returns when all are done. If a thread cannot be started, the others do
 * its part. */
void gt_parallel(gt_parallel_fn *fn, void *user, int64_t count);

#endif
