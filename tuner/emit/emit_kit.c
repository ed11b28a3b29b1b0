/* SPDX-License-Identifier: Apache-2.0 */
/* emit_kit.c - the contents of a folder: adding a kernel, and the end. */
#include "tuner/emit/emit_inside.h"

#include "core/hash.h"

#include <stdlib.h>
#include <string.h>

gt_status gt_emit_add(struct gt_emit_kernel **out, struct gt_emit_kit *kit, int target,
                      struct gt_err *err) {
    struct gt_emit_kernel *more =
        realloc(kit->kernel, ((size_t)kit->kernels + 1) * sizeof *more);
    if (more == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    kit->kernel = more;
    *out = &more[kit->kernels++];
    memset(*out, 0, sizeof **out);
    (*out)->target = target;
    return GEMMTUNE_OK;
}

int gt_emit_units(const struct gt_emit_target *t, const struct gt_fit *fit) {
    const struct gt_family *f = fit->binding.family;
    struct gt_device smaller = t->device;
    struct gt_fit other;
    int64_t values[GT_POINT_MAX];
    char *mine = NULL, *theirs = NULL;
    bool same = false;
    smaller.units = t->device.units > 2 ? t->device.units / 2 + 1 : 1;
    for (int i = 0; i < f->param_count; i++)
        values[i] = fit->binding.value[f->param[i].slot];
    if (gt_fit_values(&other, f, &smaller, &fit->problem, GT_VECTOR_BYTES, values, NULL) ==
            GEMMTUNE_OK &&
        memcmp(&other.passes, &fit->passes, sizeof other.passes) == 0 &&
        gt_source_of(&mine, &fit->binding, &t->device, NULL) == GEMMTUNE_OK &&
        gt_source_of(&theirs, &other.binding, &smaller, NULL) == GEMMTUNE_OK)
        same = strcmp(mine, theirs) == 0;
    free(mine);
    free(theirs);
    return same ? 0 : t->device.units;
}

void gt_emit_hash(char hash[65], const char *source, const struct gt_emit_target *t) {
    struct gt_hash h;
    gt_hash_init(&h);
    gt_hash_add_text(&h, t->arch);
    gt_hash_add_text(&h, source);
    gt_hash_hex(&h, hash);
}

bool gt_emit_failed(const struct gt_emit_kit *kit, int target, const struct gt_fit *fit) {
    const struct gt_emit_target *t = &kit->target[target];
    char *source = NULL, hash[65] = "";
    bool failed = false;
    for (int i = 0; i < kit->images && !failed; i++) {
        if (kit->image[i].status == GEMMTUNE_OK)
            continue;
        if (source == NULL &&
            gt_source_of(&source, &fit->binding, &t->device, NULL) == GEMMTUNE_OK)
            gt_emit_hash(hash, source, t);
        failed = strcmp(hash, kit->image[i].hash) == 0;
    }
    free(source);
    return failed;
}

void gt_emit_clear(struct gt_emit_kit *kit) {
    for (int i = 0; i < kit->targets; i++) {
        gt_index_destroy(kit->target[i].index);
        free(kit->target[i].known);
    }
    for (int i = 0; i < kit->images; i++) {
        free(kit->image[i].source);
        free(kit->image[i].packed);
    }
    free(kit->kernel);
    free(kit->image);
    memset(kit, 0, sizeof *kit);
}
