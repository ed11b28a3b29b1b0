/* SPDX-License-Identifier: Apache-2.0 */
/* pinned.c - see pinned.h. */
#include "runtime/drivers/pinned.h"

#include "core/hash.h"
#include "core/io.h"
#include "runtime/drivers/driver_util.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_SIZE = 4096, SHOWN = 12 }; /* digits of a digest in a sentence */

static const off_t image_max = 256 << 20;

void gt_digest(char digest[GT_DIGEST_SIZE], const void *bytes, size_t size) {
    struct gt_hash h;
    gt_hash_init(&h);
    gt_hash_add(&h, bytes, size);
    gt_hash_hex(&h, digest);
}

/* ---- the folder ---------------------------------------------------------------------- */

gt_status gt_pinned_path(char *path, size_t size, const char *folder,
                         const char digest[GT_DIGEST_SIZE], struct gt_err *err) {
    const int needed = snprintf(path, size, "%s/%s.image", folder, digest);
    return needed > 0 && (size_t)needed < size
               ? GEMMTUNE_OK
               : gt_fail(err, GEMMTUNE_EIO, "%.200s...: the path is too long", folder);
}

static gt_status read_bytes(struct gt_image *image, int fd, const char *path,
                            struct gt_err *err) {
    struct stat s;
    if (fstat(fd, &s) != 0 || s.st_size <= 0 || s.st_size > image_max)
        return gt_fail(err, GEMMTUNE_ELOCKED, "%s is empty or too large for an image",
                       path);
    image->size = (size_t)s.st_size;
    image->bytes = malloc(image->size);
    if (image->bytes == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    return gt_read_all(fd, image->bytes, image->size)
               ? GEMMTUNE_OK
               : gt_fail(err, GEMMTUNE_EIO, "%s: %s", path, strerror(errno));
}

/* Takes the image out of the folder. Its name says which bytes it has. */
static gt_status take(struct gt_image *image, const struct gt_pinned *pinned,
                      struct gt_err *err) {
    char path[PATH_SIZE], digest[GT_DIGEST_SIZE];
    int fd = -1;
    gt_status status =
        gt_pinned_path(path, sizeof path, pinned->folder, pinned->image, err);
    if (status == GEMMTUNE_OK && gt_open_input(&fd, path, err) != GEMMTUNE_OK)
        return gt_fail_within(err, GEMMTUNE_ELOCKED, "the pinned image cannot be opened");
    if (status == GEMMTUNE_OK)
        status = read_bytes(image, fd, path, err);
    if (fd >= 0)
        (void)close(fd);
    if (status != GEMMTUNE_OK)
        return status;
    gt_digest(digest, image->bytes, image->size);
    if (strcmp(digest, pinned->image) != 0)
        return gt_fail(err, GEMMTUNE_ELOCKED,
                       "%s has changed: its bytes have the digest %.*s...", path, SHOWN,
                       digest);
    return GEMMTUNE_OK;
}

/* ---- what must be the same ----------------------------------------------------------- */

static gt_status check_source(const char *source, const struct gt_pinned *pinned,
                              struct gt_err *err) {
    char digest[GT_DIGEST_SIZE];
    gt_digest(digest, source, strlen(source));
    return strcmp(digest, pinned->source) == 0
               ? GEMMTUNE_OK
               : gt_fail(
                     err, GEMMTUNE_ELOCKED,
                     "the source has changed: it is %.*s... now, and %.*s... in the lock",
                     SHOWN, digest, SHOWN, pinned->source);
}

/* ELOCKED, with both names, unless the compiler for the device is the one that is
 * pinned. */
static gt_status check_compiler(const struct gt_driver *driver,
                                const struct gt_device *device,
                                const struct gt_pinned *pinned, struct gt_err *err) {
    char toolchain[GT_TOOLCHAIN_MAX];
    const gt_status status = driver->toolchain(toolchain, device, err);
    if (status != GEMMTUNE_OK || strcmp(toolchain, pinned->compiler) == 0)
        return status;
    return gt_fail(err, GEMMTUNE_ELOCKED,
                   "the compiler has changed: it is \"%.180s\" here, and \"%.180s\" in the "
                   "lock",
                   toolchain, pinned->compiler);
}

/* A compiled image is another one: another compiler is a reason that says more. */
static gt_status check_image(const struct gt_image *image, const struct gt_driver *driver,
                             const struct gt_device *device, const struct gt_pinned *pinned,
                             struct gt_err *err) {
    char digest[GT_DIGEST_SIZE];
    gt_digest(digest, image->bytes, image->size);
    if (strcmp(digest, pinned->image) == 0)
        return GEMMTUNE_OK;
    const gt_status status = check_compiler(driver, device, pinned, err);
    return status != GEMMTUNE_OK
               ? status
               : gt_fail(
                     err, GEMMTUNE_ELOCKED,
                     "the image has changed: the same source and compiler give %.*s..., "
                     "and the lock has %.*s...",
                     SHOWN, digest, SHOWN, pinned->image);
}

/* ---- building ------------------------------------------------------------------------ */

/* Without a folder. A compiler that is another one is not asked to compile. */
static gt_status find_or_build(struct gt_image *image, const struct gt_driver *driver,
                               const struct gt_device *device, const char *source,
                               const struct gt_pinned *pinned, bool only_cached,
                               struct gt_build_stats *stats, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    gt_image_clear(image); /* each question begins a new one */
    stats->cached = gt_build_find(image, driver, device, source);
    if (!stats->cached && only_cached)
        return gt_fail(err, GEMMTUNE_ENOTFOUND, "its image is not in the cache");
    if (!stats->cached) /* with a note, so that the next process finds its images */
        gt_build_know(driver, device);
    if (!stats->cached || !driver->compiles_apart)
        status = check_compiler(driver, device, pinned, err);
    if (status == GEMMTUNE_OK && !stats->cached) {
        gt_image_clear(image);
        status = gt_build(image, driver, device, source, stats, err);
    }
    return status == GEMMTUNE_OK && driver->compiles_apart
               ? check_image(image, driver, device, pinned, err)
               : status;
}

gt_status gt_build_pinned(struct gt_image *image, const struct gt_driver *driver,
                          const struct gt_device *device, const char *source,
                          const struct gt_pinned *pinned, bool only_cached,
                          struct gt_build_stats *stats, struct gt_err *err) {
    *stats = (struct gt_build_stats){.cached = pinned->folder != NULL};
    gt_image_init(image);
    const gt_status status = check_source(source, pinned, err);
    if (status != GEMMTUNE_OK)
        return status;
    return pinned->folder != NULL ? take(image, pinned, err)
                                  : find_or_build(image, driver, device, source, pinned,
                                                  only_cached, stats, err);
}
