/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache.h - built images on disk: $GEMMTUNE_CACHE_DIR, else $XDG_CACHE_HOME/gemmtune, else
 * $HOME/.cache/gemmtune; private (0700, files 0600, owner checked, links not followed),
 * content-addressed by SHA-256 of source, toolchain, arch; each file carries its digest;
 * written by rename; any bad entry is a miss. No folder, or GEMMTUNE_CACHE_DIR empty: no
 * cache. What was not used for longest goes when all together exceed $GEMMTUNE_CACHE_MAX
 * mebibytes (1024; 0: no limit).
 */
#ifndef GT_RUNTIME_CACHE_H
#define GT_RUNTIME_CACHE_H

#include "runtime/driver.h"

enum { GT_CACHE_KEY_SIZE = 65 }; /* hex digits of a SHA-256, and the NUL */

/* A descriptor of the folder, which is made when missing; -1 when it cannot serve. */
int gt_cache_open(void);
/* False on a miss of any kind. `image` was initialised. */
bool gt_cache_take(struct gt_image *image, int folder, const char key[GT_CACHE_KEY_SIZE]);
/* A full disk or a folder that cannot be written only means that the next run compiles
 * again. Now and then it makes room. */
void gt_cache_keep(int folder, const struct gt_image *image,
                   const char key[GT_CACHE_KEY_SIZE]);

/* Most bytes of all images; 0: no limit. */
int64_t gt_cache_max(void);
/* Removes every image; *removed counts files. */
gt_status gt_cache_clear(int64_t *removed, struct gt_err *err);
/* Folder (or "" when there is none), number of images, bytes. */
gt_status gt_cache_stat(char *folder, size_t size, int64_t *count, int64_t *bytes,
                        struct gt_err *err);

#endif
