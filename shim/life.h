/* SPDX-License-Identifier: Apache-2.0 */
/* life.h - a process that forks, and one that ends. */
#ifndef GT_SHIM_LIFE_H
#define GT_SHIM_LIFE_H

#include "shim/state.h"

/* From now on a child after a fork finds no lock that nobody holds. */
void gt_shim_watch_forks(void);
/* The state of the process, after what must be done once is done. */
struct gt_shim_state *gt_shim_life(void);

#endif
