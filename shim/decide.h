/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decide.h - whether a problem is served. It is when a kernel was tuned for the very
 * problem on this device, its image is in the cache, and the database has measurements in
 * which that kernel was faster than the program's own version of the library. A kernel
 * without an image is built by a thread of libgemmtune's; calls are passed on meanwhile,
 * and no call ever waits for a compiler.
 */
#ifndef GT_SHIM_DECIDE_H
#define GT_SHIM_DECIDE_H

#include "shim/call.h"
#include "shim/device.h"
#include "shim/table.h"

/* Decides about an entry that is FRESH or WAITING, unless another thread does so: then it
 * stays as it is. The stream must not be captured. */
void gt_shim_decide(struct gt_shim_entry *e, const struct gt_shim_call *x,
                    const struct gt_shim_driver *d);
/* For a child after a fork: no thread of it holds the lock. */
void gt_shim_decide_anew(void);

#endif
