/* SPDX-License-Identifier: Apache-2.0 */
/* opencl_device.h - the OpenCL devices of the machine and their descriptions. */
#ifndef GT_RUNTIME_DRIVERS_OPENCL_DEVICE_H
#define GT_RUNTIME_DRIVERS_OPENCL_DEVICE_H

#include "runtime/drivers/driver.h"
#include "runtime/drivers/opencl_api.h"

/* gt_driver's enumerate. */
gt_status gt_opencl_enumerate(void (*fn)(void *user, const struct gt_device *d), void *user,
                              char missing[GT_MISSING_MAX], struct gt_err *err);
/* The description that enumerate gives of one device; needs no context. */
gt_status gt_opencl_describe(struct gt_device *out, const struct gt_opencl *cl,
                             cl_device_id device, struct gt_err *err);

/* The device with this ordinal (struct gt_device): platforms in the loader's order, then
 * devices in the platform's. ENODRIVER when there is none. */
gt_status gt_opencl_device(cl_platform_id *platform, cl_device_id *device, int ordinal,
                           struct gt_err *err);

#endif
