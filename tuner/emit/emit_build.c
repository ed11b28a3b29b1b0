/* SPDX-License-Identifier: Apache-2.0 */
/* emit_build.c - the images of a folder: compiled, on all cores, and deflated. */
#include "tuner/emit/emit_inside.h"

#include "runtime/drivers/build.h"
#include "runtime/drivers/nvrtc.h"
#include "tuner/base/parallel.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* ---- one image for each source ---- */

/* The image of the source, which it takes. */
static gt_status add_image(int *out, struct gt_emit_kit *kit, int target, char *source,
                           struct gt_err *err) {
    char hash[65];
    gt_emit_hash(hash, source, &kit->target[target]);
    for (*out = 0; *out < kit->images; ++*out)
        if (strcmp(kit->image[*out].hash, hash) == 0) {
            free(source);
            return GEMMTUNE_OK;
        }
    struct gt_emit_image *more =
        realloc(kit->image, ((size_t)kit->images + 1) * sizeof *more);
    if (more == NULL) {
        free(source);
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    }
    kit->image = more;
    struct gt_emit_image *image = &more[kit->images++];
    memset(image, 0, sizeof *image);
    image->target = target;
    image->source = source;
    memcpy(image->hash, hash, sizeof hash);
    return GEMMTUNE_OK;
}

static gt_status add_images(struct gt_emit_kit *kit, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; i < kit->kernels && status == GEMMTUNE_OK; i++) {
        struct gt_emit_kernel *k = &kit->kernel[i];
        char *source = NULL;
        status =
            gt_source_of(&source, &k->fit.binding, &kit->target[k->target].device, err);
        if (status == GEMMTUNE_OK)
            status = add_image(&k->image, kit, k->target, source, err);
    }
    return status;
}

/* ---- compiling ---- */

static gt_status deflate_whole(struct gt_emit_image *to, const struct gt_image *from) {
    z_stream z = {.next_in = from->bytes, .avail_in = (uInt)from->size};
    enum { RAW = -15, LEVEL = 9, MEMORY = 9 };
    if (deflateInit2(&z, LEVEL, Z_DEFLATED, RAW, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
        return gt_fail(&to->err, GEMMTUNE_ENOMEM, "out of memory");
    const uLong room = deflateBound(&z, (uLong)from->size);
    to->packed = malloc(room);
    z.next_out = to->packed;
    z.avail_out = (uInt)room;
    const bool done = to->packed != NULL && deflate(&z, Z_FINISH) == Z_STREAM_END;
    to->size = from->size;
    to->packed_size = (size_t)z.total_out;
    (void)deflateEnd(&z);
    return done ? GEMMTUNE_OK : gt_fail(&to->err, GEMMTUNE_ENOMEM, "out of memory");
}

static gt_status build_ptx(struct gt_image *out, const struct gt_device *d,
                           const char *source, struct gt_err *err) {
    struct gt_nvrtc_choice choice;
    const gt_status status = gt_nvrtc_choose_ptx(&choice, d->cc, err);
    return status == GEMMTUNE_OK ? gt_nvrtc_build(out, &choice, source, err) : status;
}

static void build_one(struct gt_emit_image *image, const struct gt_emit_target *t) {
    const struct gt_device *d = &t->device;
    struct gt_image built = {0};
    image->status = t->ptx ? build_ptx(&built, d, image->source, &image->err)
                           : gt_build(&built, gt_driver_of(d->backend), d, image->source,
                                      NULL, &image->err);
    if (image->status == GEMMTUNE_OK)
        image->status = deflate_whole(image, &built);
    gt_image_clear(&built);
}

static void build_some(void *user, int thread, int64_t first, int64_t end) {
    struct gt_emit_kit *kit = user;
    (void)thread;
    for (int64_t i = first; i < end; i++)
        if (kit->image[i].packed == NULL && kit->image[i].status == GEMMTUNE_OK)
            build_one(&kit->image[i], &kit->target[kit->image[i].target]);
}

/* Gives every image its place. Fails for the first kernel with an image that did not build;
 * images that no kernel has any more are not packed. */
static gt_status place_images(struct gt_emit_kit *kit, struct gt_err *err) {
    kit->image_bytes = 0;
    for (int i = 0; i < kit->images; i++)
        kit->image[i].used = false;
    for (int i = 0; i < kit->kernels; i++) {
        struct gt_emit_image *image = &kit->image[kit->kernel[i].image];
        image->used = true;
        if (image->status != GEMMTUNE_OK)
            return gt_fail(err, image->status, "%s on %s: %s", kit->kernel[i].name,
                           kit->target[image->target].arch, image->err.line);
    }
    for (int i = 0; i < kit->images; i++) {
        kit->image[i].at = kit->image_bytes;
        kit->image_bytes += kit->image[i].used ? kit->image[i].packed_size : 0;
    }
    return GEMMTUNE_OK;
}

gt_status gt_emit_build(struct gt_emit_kit *kit, struct gt_progress *progress,
                        struct gt_err *err) {
    gt_status status = add_images(kit, err);
    if (status != GEMMTUNE_OK)
        return status;
    /* A batch of images at a time, so that progress is seen. */
    const int step = 4 * gt_parallel_threads();
    for (int i = 0; i < kit->images; i += step) {
        struct gt_emit_kit part = *kit;
        const int count = kit->images - i < step ? kit->images - i : step;
        gt_progress_count(progress, "images", (size_t)i, (size_t)kit->images);
        part.image = kit->image + i;
        gt_parallel(build_some, &part, count);
    }
    gt_progress_end(progress);
    return place_images(kit, err);
}
