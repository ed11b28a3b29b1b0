/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build.h - from source text to a loaded kernel, through the image cache. The library and the
 * tuner both go this way: what was timed is what is shipped.
 *
 * The cache: $GEMMTUNE_CACHE_DIR, else $XDG_CACHE_HOME/gemmtune, else $HOME/.cache/gemmtune; private
 * (0700, files 0600, owner checked, links not followed), content-addressed by SHA-256 of source,
 * toolchain, arch; each file carries its digest; written by rename; any bad entry is a miss. No
 * folder, or GEMMTUNE_CACHE_DIR empty: no cache.
 */
#ifndef GT_RUNTIME_BUILD_H
#define GT_RUNTIME_BUILD_H

#include "runtime/driver.h"

struct gt_build_stats {
    bool cached;
    double compile_ms; /* 0 when cached */
};

/* Builds (or takes from the cache) an image; needs no context where the driver can. `stats` may be NULL. */
gt_status gt_build(struct gt_image *image, const struct gt_driver *driver,
                   const struct gt_device *device, const char *source,
                   struct gt_build_stats *stats, struct gt_err *err);
/* Removes every image; *removed counts files. */
gt_status gt_cache_clear(int64_t *removed, struct gt_err *err);
/* Folder (or "" when there is none), number of images, bytes. */
gt_status gt_cache_stat(char *folder, size_t size, int64_t *count, int64_t *bytes,
                        struct gt_err *err);

#endif
