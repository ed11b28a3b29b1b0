/* SPDX-License-Identifier: Apache-2.0 */
/* build.c - see build.h: the key of an image, and the compiler when the cache has no
 * image. */
#include "runtime/build.h"

#include "core/clock.h"
#include "core/hash.h"
#include "runtime/cache.h"
#include "runtime/driver_util.h"

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

gt_status gt_build(struct gt_image *image, const struct gt_driver *driver,
                   const struct gt_device *device, const char *source,
                   struct gt_build_stats *stats, struct gt_err *err) {
    struct gt_build_stats unread;
    if (!stats)
        stats = &unread;
    *stats = (struct gt_build_stats){.cached = false};
    gt_image_init(image);
    char toolchain[GT_TOOLCHAIN_MAX], key[GT_CACHE_KEY_SIZE];
    gt_status status = driver->toolchain(toolchain, device, err);
    if (status != GEMMTUNE_OK)
        return status;
    const int folder = driver->keeps_images ? gt_cache_open() : -1;
    if (folder < 0)
        return compile(image, driver, device, source, stats, err);
    key_of(key, driver, device, toolchain, source);
    stats->cached = gt_cache_take(image, folder, key);
    if (!stats->cached) {
        status = compile(image, driver, device, source, stats, err);
        if (status == GEMMTUNE_OK && image->bytes && image->size > 0)
            gt_cache_keep(folder, image, key);
    }
    (void)close(folder);
    return status;
}
