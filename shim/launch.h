/* SPDX-License-Identifier: Apache-2.0 */
/* launch.h - a product that is served. */
#ifndef GT_SHIM_LAUNCH_H
#define GT_SHIM_LAUNCH_H

#include "shim/call.h"
#include "shim/table.h"

/* Launches the entry's plan with the arguments of the call, and `c` for its C. A plan that
 * cannot be launched is not tried again. */
enum gt_shim_reason gt_shim_launch(struct gt_shim_entry *e, const struct gt_shim_call *x,
                                   void *c, void *workspace, void *stream);

#endif
