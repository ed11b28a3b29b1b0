/* SPDX-License-Identifier: Apache-2.0 */
/* emit_write.c - the files of a folder: the fixed ones of out/, the tables, the images. */
#include "tuner/emit/emit_inside.h"

#include "core/embed.h"
#include "core/io.h"
#include "core/new_file.h"

#include <string.h>

static gt_status begin(struct gt_new_text *t, char path[GT_PATH_SIZE], const char *folder,
                       const char *name, struct gt_err *err) {
    if (snprintf(path, GT_PATH_SIZE, "%s/%s", folder, name) >= GT_PATH_SIZE)
        return gt_fail(err, GEMMTUNE_EIO, "%.200s: the path is too long", folder);
    return gt_new_text_begin(t, path, err);
}

/* The files that are the same in all folders. */
static gt_status write_fixed(const char *folder, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    for (const struct gt_embedded *e = gt_embedded_emitted;
         e->path != NULL && status == GEMMTUNE_OK; e++) {
        char path[GT_PATH_SIZE];
        struct gt_new_text t;
        status =
            begin(&t, path, folder,
                  strrchr(e->path, '/') != NULL ? strrchr(e->path, '/') + 1 : e->path, err);
        if (status != GEMMTUNE_OK)
            break;
        (void)fputs(e->text, t.out);
        status = gt_new_text_end(&t, GEMMTUNE_OK, err);
    }
    return status;
}

/* A file that is printed. */
static gt_status write_text(const struct gt_emit_kit *kit, const char *folder,
                            const char *name,
                            void (*print)(FILE *out, const struct gt_emit_kit *kit),
                            struct gt_err *err) {
    char path[GT_PATH_SIZE];
    struct gt_new_text t;
    const gt_status status = begin(&t, path, folder, name, err);
    if (status != GEMMTUNE_OK)
        return status;
    print(t.out, kit);
    return gt_new_text_end(&t, GEMMTUNE_OK, err);
}

static gt_status write_images(const struct gt_emit_kit *kit, const char *folder,
                              struct gt_err *err) {
    char path[GT_PATH_SIZE];
    struct gt_new_text t;
    const gt_status status = begin(&t, path, folder, "gemmkit_images.bin", err);
    if (status != GEMMTUNE_OK)
        return status;
    for (int i = 0; i < kit->images; i++)
        if (kit->image[i].used)
            (void)fwrite(kit->image[i].packed, 1, kit->image[i].packed_size, t.out);
    return gt_new_text_end(&t, GEMMTUNE_OK, err);
}

gt_status gt_emit_write(const struct gt_emit_kit *kit, const char *folder,
                        struct gt_err *err) {
    gt_status status = write_fixed(folder, err);
    if (status == GEMMTUNE_OK)
        status = write_text(kit, folder, "gemmkit_expected.c", gt_emit_print_expected, err);
    if (status == GEMMTUNE_OK)
        status = write_images(kit, folder, err);
    if (status == GEMMTUNE_OK) /* last: it marks a folder that is whole */
        status = write_text(kit, folder, "gemmkit_kernels.c", gt_emit_print_tables, err);
    return status;
}
