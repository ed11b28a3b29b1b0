/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build.h - from source text to a loaded kernel, through the image cache. The library and
 * the tuner both build this way, so users get the kernel that was timed.
 */
#ifndef GT_RUNTIME_DRIVERS_BUILD_H
#define GT_RUNTIME_DRIVERS_BUILD_H

#include "runtime/drivers/driver.h"

struct gt_build_stats {
    bool cached;
    double compile_ms; /* 0 when cached */
};

/* Takes an image from the cache, or builds it. Needs no context where the driver needs
 * none. `stats` may be NULL. */
gt_status gt_build(struct gt_image *image, const struct gt_driver *driver,
                   const struct gt_device *device, const char *source,
                   struct gt_build_stats *stats, struct gt_err *err);
/* Keeps the image of a kernel that was loaded from its source. A failure is ignored. Where
 * there is a folder and the driver gives them, the image has its bytes afterwards. */
void gt_build_keep(struct gt_image *image, const struct gt_kernel *kernel,
                   const struct gt_device *device, const char *source);
/* Whether the driver's images have a folder to be kept in. It may still be full. */
bool gt_build_keeps(const struct gt_driver *driver);
/* Takes an image from the cache, and loads no compiler. False when it is not there. */
bool gt_build_find(struct gt_image *image, const struct gt_driver *driver,
                   const struct gt_device *device, const char *source);

/* Has gt_build_find find the images of a cache that this program meets for the first time:
 * unless a note has the toolchain, the compiler's library is loaded and asked for it. */
void gt_build_know(const struct gt_driver *driver, const struct gt_device *device);

#endif
