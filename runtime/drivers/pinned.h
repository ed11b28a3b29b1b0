/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pinned.h - the image that a lock (runtime/lookup/lock.h) demands of a source. The source
 * must have one digest, and so must the image. The image comes out of the folder of the
 * lock, or else as any image does: out of the cache, or from a compiler.
 *
 * Two OpenCL compilations of one source may differ in bytes that mean nothing: PoCL writes
 * random names. So the digest of a compiled image counts where the driver compiles apart;
 * elsewhere the compiler must be the one that the lock names. An image of the folder
 * has its digest everywhere.
 */
#ifndef GT_RUNTIME_DRIVERS_PINNED_H
#define GT_RUNTIME_DRIVERS_PINNED_H

#include "runtime/drivers/build.h"

enum { GT_DIGEST_SIZE = 65 }; /* hex digits of a SHA-256, and the NUL */

/* Borrowed texts: of a lock, which outlives whatever was built by it. */
struct gt_pinned {
    const char *source, *image; /* digests */
    const char *compiler;       /* the toolchain that made the image */
    const char *folder;         /* where <image>.image is; NULL: no image is kept */
};

/* The SHA-256 of these bytes. */
void gt_digest(char digest[GT_DIGEST_SIZE], const void *bytes, size_t size);

/* gt_build for a pinned kernel. With a folder, or with `only_cached`, nothing is compiled.
 * ELOCKED, with a sentence that says what changed; ENOTFOUND: with `only_cached` the image
 * is not in the cache; errors of gt_build. */
gt_status gt_build_pinned(struct gt_image *image, const struct gt_driver *driver,
                          const struct gt_device *device, const char *source,
                          const struct gt_pinned *pinned, bool only_cached,
                          struct gt_build_stats *stats, struct gt_err *err);

/* The path of an image in a folder of a lock. EIO: it is too long. */
gt_status gt_pinned_path(char *path, size_t size, const char *folder,
                         const char digest[GT_DIGEST_SIZE], struct gt_err *err);

#endif
