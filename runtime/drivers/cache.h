/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache.h - built images on disk, and small files beside them.
 *
 * The folder is $GEMMTUNE_CACHE_DIR, else $XDG_CACHE_HOME/gemmtune, else
 * $HOME/.cache/gemmtune. Without a folder, or with an empty GEMMTUNE_CACHE_DIR, there is no
 * cache.
 * - It is private: mode 0700, files 0600, owner checked, links not followed.
 * - It is content-addressed: by SHA-256 of source, toolchain and architecture.
 * - Each file carries its digest and is written by rename; a bad file is a miss.
 * - When all files exceed $GEMMTUNE_CACHE_MAX mebibytes (1024; 0: no limit), the longest
 *   unused ones are removed.
 */
#ifndef GT_RUNTIME_DRIVERS_CACHE_H
#define GT_RUNTIME_DRIVERS_CACHE_H

#include "runtime/drivers/driver.h"

enum { GT_CACHE_KEY_SIZE = 65 }; /* hex digits of a SHA-256, and the NUL */

/* A descriptor of the folder, which is made when missing; -1 when it cannot be used. */
int gt_cache_open(void);
/* False on a miss of any kind. `image` must be initialised. */
bool gt_cache_take(struct gt_image *image, int folder, const char key[GT_CACHE_KEY_SIZE]);
/* Stores the image, and now and then makes room. A failure is ignored: the next run
 * compiles again. */
void gt_cache_keep(int folder, const struct gt_image *image,
                   const char key[GT_CACHE_KEY_SIZE]);

/* The suffixes of notes (toolchain.h), of kept records (known_kept.c) and of lists of
 * general kernels (general_file.c). */
#define GT_CACHE_NOTE    ".tool"
#define GT_CACHE_KNOWN   ".known"
#define GT_CACHE_GENERAL ".general"
/* Writes a file <key><suffix> of the folder whole, or not at all. */
bool gt_cache_write(int folder, const char *key, const char *suffix, const void *bytes,
                    size_t size);
/* A descriptor of such a file for reading; -1 when there is none of ours. */
int gt_cache_open_file(int folder, const char *key, const char *suffix);

/* The limit for all images together, in bytes; 0: no limit. */
int64_t gt_cache_max(void);
/* Removes every image and the files beside them; *removed counts images. */
gt_status gt_cache_clear(int64_t *removed, struct gt_err *err);
/* The folder ("" when there is none), the number of images, and their bytes. */
gt_status gt_cache_stat(char *folder, size_t size, int64_t *count, int64_t *bytes,
                        struct gt_err *err);

#endif
