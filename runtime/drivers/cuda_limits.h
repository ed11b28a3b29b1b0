/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_limits.h - the launches and tensor maps that CUDA accepts. It asks no device. */
#ifndef GT_RUNTIME_DRIVERS_CUDA_LIMITS_H
#define GT_RUNTIME_DRIVERS_CUDA_LIMITS_H

#include "core/device.h"
#include "core/launch.h"

/* gt_driver's check_launch and check_map. */
gt_status gt_cuda_check_launch(const struct gt_launch *launch, const struct gt_device *d,
                               struct gt_err *err);
gt_status gt_cuda_check_map(const struct gt_tiling *tiling, int64_t at, struct gt_err *err);

#endif
