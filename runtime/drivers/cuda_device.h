/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_device.h - the CUDA devices of the machine and their descriptions. */
#ifndef GT_RUNTIME_DRIVERS_CUDA_DEVICE_H
#define GT_RUNTIME_DRIVERS_CUDA_DEVICE_H

#include "runtime/drivers/cuda_api.h"
#include "runtime/drivers/driver.h"

/* gt_driver's enumerate. */
gt_status gt_cuda_enumerate(void (*fn)(void *user, const struct gt_device *d), void *user,
                            char missing[GT_MISSING_MAX], struct gt_err *err);
/* The description that enumerate gives of one device, without its driver's and compiler's
 * versions: those would load NVML and NVRTC. Needs no context. */
gt_status gt_cuda_describe(struct gt_device *out, const struct gt_cuda *cu, CUdevice device,
                           struct gt_err *err);

/* gt_driver's fill_version. */
void gt_cuda_fill_version(struct gt_device *d);

#endif
