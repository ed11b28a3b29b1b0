/* SPDX-License-Identifier: Apache-2.0 */
/* timeline.h - which operation of an engine ran when. */
#ifndef GT_RUNTIME_HOST_TIMELINE_H
#define GT_RUNTIME_HOST_TIMELINE_H

#include "runtime/host/engine.h"

/* Adds an engine's operations to a report that averages over `devices` engines, and calls
 * options->trace for each. The engine's threads have ended. */
void gt_host_timeline_add(gemmtune_host_report *report, const struct gt_host_cut *cut,
                          const struct gt_host_engine *e, int device, int devices,
                          const gemmtune_host_options *options);

#endif
