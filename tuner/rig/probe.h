/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe.h - which devices this machine has, asked in a child process: a driver that crashes
 * or hangs while it starts costs one sentence, not the program.
 */
#ifndef GT_TUNER_RIG_PROBE_H
#define GT_TUNER_RIG_PROBE_H

#include "runtime/driver.h"

enum { GT_PROBE_SECONDS = 30 }; /* the slowest start seen is a few seconds */

/* As gt_devices_list (gt_devices_clear ends it), from a child. EDEVICE: the child crashed,
 * or said nothing within GT_PROBE_SECONDS. Not for use while other threads run: it forks.
 */
gt_status gt_probe_devices(struct gt_device_list *out, struct gt_err *err);

/* One device by what gt_devices_pick takes; NULL: the first. With `usable`, one that
 * kernels can be built for. Whatever the reason that there is none, it is ENODRIVER (exit
 * 4). */
gt_status gt_probe_pick(struct gt_device *out, const char *what, bool usable,
                        struct gt_err *err);

#endif
