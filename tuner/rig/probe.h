/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe.h - lists the devices of this machine. A child process asks the drivers, so a
 * driver that crashes or hangs while it starts costs an error message, not the program.
 */
#ifndef GT_TUNER_RIG_PROBE_H
#define GT_TUNER_RIG_PROBE_H

#include "runtime/drivers/driver.h"

enum { GT_PROBE_SECONDS = 30 }; /* the slowest start that was seen took a few seconds */

/* Lists the devices as gt_devices_list does, but in a child process; release with
 * gt_devices_clear. EDEVICE: the child crashed, or did not answer within GT_PROBE_SECONDS.
 * A signal that the program catches leaves the child one more second. It forks, so no other
 * thread may run. */
gt_status gt_probe_devices(struct gt_device_list *out, struct gt_err *err);

/* Picks a device: `what` is as for gt_devices_pick, NULL is the first. With `usable`, only
 * devices that kernels can be built for count. Always ENODRIVER (exit 4) when there is
 * none, whatever the reason. */
gt_status gt_probe_pick(struct gt_device *out, const char *what, bool usable,
                        struct gt_err *err);

#endif
