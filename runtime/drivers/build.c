/* SPDX-License-Identifier: Apache-2.0 */
/* build.c - see build.h: the key of an image, and the compiler when the cache has no
 * image. */
#include "runtime/drivers/build.h"

#include "core/clock.h"
#include "core/hash.h"
#include "core/log.h"
#include "runtime/drivers/cache.h"
#include "runtime/drivers/driver_util.h"
#include "runtime/drivers/toolchain.h"

#include <stdlib.h>
#include <unistd.h>

/* Hash of everything that the image depends on. */
static void key_of(char key[GT_CACHE_KEY_SIZE], const struct gt_driver *driver,
                   const struct gt_device *d, const char *toolchain, const char *source) {
    struct gt_hash h;
    gt_hash_init(&h);
    gt_hash_add_text(&h, "gemmtune image 1");
    gt_hash_add_text(&h, gt_backend_name(driver->backend));
    gt_hash_add_text(&h, d->arch);
    gt_hash_add_text(&h, toolchain);
    gt_hash_add_text(&h, source);
    gt_hash_hex(&h, key);
}

static gt_status compile(struct gt_image *image, const struct gt_driver *driver,
                         const struct gt_device *device, const char *source,
                         struct gt_build_stats *stats, struct gt_err *err) {
    const double start = gt_seconds();
    free(image->log); /* the driver starts a new log */
    image->log = NULL;
    const gt_status status = driver->build(image, device, source, err);
    stats->compile_ms = 1e3 * (gt_seconds() - start);
    if (!image->log)
        image->log = calloc(1, 1);
    return status;
}

/* Takes the image out of the cache by the toolchain that was noted for these libraries.
 * False when there is no note, or no image: then the compiler's library is asked. */
static bool recall(struct gt_image *image, int folder, const char *libraries,
                   const struct gt_driver *driver, const struct gt_device *device,
                   const char *source) {
    char toolchain[GT_TOOLCHAIN_MAX], key[GT_CACHE_KEY_SIZE];
    if (libraries[0] == '\0' || !gt_toolchain_recall(toolchain, folder, libraries))
        return false;
    key_of(key, driver, device, toolchain, source);
    return gt_cache_take(image, folder, key);
}

/* Takes the image out of the cache, or builds and keeps it. */
static gt_status build_through(struct gt_image *image, int folder, const char *toolchain,
                               const struct gt_driver *driver,
                               const struct gt_device *device, const char *source,
                               struct gt_build_stats *stats, struct gt_err *err) {
    char key[GT_CACHE_KEY_SIZE];
    key_of(key, driver, device, toolchain, source);
    stats->cached = gt_cache_take(image, folder, key);
    if (stats->cached)
        return GEMMTUNE_OK;
    const gt_status status = compile(image, driver, device, source, stats, err);
    if (status == GEMMTUNE_OK && image->bytes && image->size > 0)
        gt_cache_keep(folder, image, key);
    return status;
}

/* Asks the compiler's library for the toolchain, which loads it. */
static gt_status build_with_library(struct gt_image *image, int folder,
                                    const char *libraries, const struct gt_driver *driver,
                                    const struct gt_device *device, const char *source,
                                    struct gt_build_stats *stats, struct gt_err *err) {
    char toolchain[GT_TOOLCHAIN_MAX];
    const gt_status status = driver->toolchain(toolchain, device, err);
    if (status != GEMMTUNE_OK)
        return status;
    if (folder < 0)
        return compile(image, driver, device, source, stats, err);
    if (libraries[0] != '\0')
        gt_toolchain_note(folder, libraries, toolchain);
    return build_through(image, folder, toolchain, driver, device, source, stats, err);
}

gt_status gt_build(struct gt_image *image, const struct gt_driver *driver,
                   const struct gt_device *device, const char *source,
                   struct gt_build_stats *stats, struct gt_err *err) {
    struct gt_build_stats unread;
    char libraries[GT_CACHE_KEY_SIZE] = "";
    gt_status status = GEMMTUNE_OK;
    if (!stats)
        stats = &unread;
    *stats = (struct gt_build_stats){.cached = false};
    gt_image_init(image);
    const int folder = driver->keeps_images ? gt_cache_open() : -1;
    if (folder >= 0 && driver->libraries)
        driver->libraries(libraries, device);
    stats->cached = folder >= 0 && recall(image, folder, libraries, driver, device, source);
    if (!stats->cached)
        status = build_with_library(image, folder, libraries, driver, device, source, stats,
                                    err);
    if (folder >= 0)
        (void)close(folder);
    return status;
}

void gt_build_keep(struct gt_image *image, const struct gt_kernel *kernel,
                   const struct gt_device *device, const char *source) {
    const struct gt_driver *driver = kernel->driver;
    char toolchain[GT_TOOLCHAIN_MAX], key[GT_CACHE_KEY_SIZE];
    struct gt_err why = {""};
    const int folder = driver->keeps_images ? gt_cache_open() : -1;
    if (folder < 0)
        return;
    gt_status status = driver->toolchain(toolchain, device, &why);
    if (status == GEMMTUNE_OK)
        status = driver->image_of(image, kernel, &why);
    if (status == GEMMTUNE_OK) {
        key_of(key, driver, device, toolchain, source);
        gt_cache_keep(folder, image, key);
    } else {
        gt_log(GEMMTUNE_LOG_INFO, "an image is not kept: %s", why.line);
    }
    (void)close(folder);
}

bool gt_build_keeps(const struct gt_driver *driver) {
    const int folder = driver->keeps_images ? gt_cache_open() : -1;
    if (folder >= 0)
        (void)close(folder);
    return folder >= 0;
}

/* Takes the image out of the cache by the toolchain of a compiler that is loaded. */
static bool take_by_loaded(struct gt_image *image, int folder,
                           const struct gt_driver *driver, const struct gt_device *device,
                           const char *source) {
    char toolchain[GT_TOOLCHAIN_MAX], key[GT_CACHE_KEY_SIZE];
    if (driver->toolchain(toolchain, device, NULL) != GEMMTUNE_OK)
        return false;
    key_of(key, driver, device, toolchain, source);
    return gt_cache_take(image, folder, key);
}

bool gt_build_find(struct gt_image *image, const struct gt_driver *driver,
                   const struct gt_device *device, const char *source) {
    char libraries[GT_CACHE_KEY_SIZE] = "";
    gt_image_init(image);
    const int folder = driver->keeps_images ? gt_cache_open() : -1;
    if (folder < 0)
        return false;
    if (driver->libraries != NULL)
        driver->libraries(libraries, device);
    const bool found = libraries[0] != '\0'
                           ? recall(image, folder, libraries, driver, device, source)
                           : take_by_loaded(image, folder, driver, device, source);
    (void)close(folder);
    return found;
}

void gt_build_know(const struct gt_driver *driver, const struct gt_device *device) {
    char libraries[GT_CACHE_KEY_SIZE] = "", toolchain[GT_TOOLCHAIN_MAX];
    const int folder = driver->keeps_images ? gt_cache_open() : -1;
    if (folder < 0)
        return;
    if (driver->libraries != NULL)
        driver->libraries(libraries, device);
    if (libraries[0] != '\0' && !gt_toolchain_recall(toolchain, folder, libraries) &&
        driver->toolchain(toolchain, device, NULL) == GEMMTUNE_OK)
        gt_toolchain_note(folder, libraries, toolchain);
    (void)close(folder);
}
