/* SPDX-License-Identifier: Apache-2.0 */
/* programs.c - see programs.h. */
#include "runtime/exec/programs.h"

#include "runtime/exec/exec_inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what must be the same ------------------------------------------------------- */

enum { PASS_TEXT = GT_NAME_MAX + 200 };

/* The facts of a pass that the driver is told when a kernel is loaded: the name, and what
 * it checks or sets once. A grid is told at each launch. */
static int pass_text(char out[PASS_TEXT], const struct gt_passes *passes, int pass) {
    const struct gt_launch *l = &passes->item[pass].launch;
    return snprintf(out, PASS_TEXT,
                    "%s %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "\n",
                    passes->item[pass].entry, l->block[0], l->block[1], l->block[2],
                    l->cluster[0] * l->cluster[1] * l->cluster[2], l->smem_bytes);
}

/* The key of a loaded program: the image that it must have, the facts of its passes, the
 * main one first, and its source. False: out of memory. */
static bool set_key(struct gt_shared *shared, const struct gt_fit *fit,
                    const char *source) {
    const struct gt_passes *passes = &fit->passes;
    const size_t source_size = strlen(source);
    char *key = malloc((size_t)(GT_PASSES_MAX + 2) * PASS_TEXT + source_size);
    size_t size = 0;
    if (key == NULL)
        return false;
    size += (size_t)snprintf(key, PASS_TEXT, "%s\n",
                             fit->pinned != NULL ? fit->pinned->image : "");
    size += (size_t)pass_text(key + size, passes, passes->main);
    for (int i = 0; i < passes->count; i++)
        size += (size_t)pass_text(key + size, passes, i);
    memcpy(key + size, source, source_size);
    shared->key = key;
    shared->key_size = size + source_size;
    return true;
}

/* ---- loading once ---------------------------------------------------------------- */

static struct gt_loaded *loaded_of(struct gt_shared *shared) {
    return (struct gt_loaded *)((char *)shared - offsetof(struct gt_loaded, shared));
}

static gt_status load_once(struct gt_loaded **out, struct gt_sharing *programs,
                           struct gt_gpu *gpu, const struct gt_fit *fit, const char *source,
                           bool only_cached, struct gt_err *err) {
    struct gt_loaded *fresh = gt_loaded_create(gpu, fit);
    *out = NULL;
    if (fresh == NULL || !set_key(&fresh->shared, fit, source)) {
        gt_loaded_release(fresh);
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    }
    *out = loaded_of(gt_sharing_take(programs, &fresh->shared));
    if (*out != fresh) {
        gt_loaded_release(fresh);
        return GEMMTUNE_OK;
    }
    const gt_status status = only_cached ? gt_loaded_find(fresh, source, err)
                                         : gt_loaded_build(fresh, source, true, err);
    gt_shared_settle(&fresh->shared, status == GEMMTUNE_OK);
    if (status != GEMMTUNE_OK) {
        gt_loaded_release(fresh);
        *out = NULL;
    }
    return status;
}

gt_status gt_exec_build_shared(struct gt_exec **out, struct gt_sharing *programs,
                               struct gt_gpu *gpu, const struct gt_fit *fit,
                               bool only_cached, struct gt_err *err) {
    struct gt_loaded *l = NULL;
    char *source = NULL;
    *out = NULL;
    if (gt_exec_is_empty(&fit->problem)) /* nothing is built */
        return gt_exec_build(out, gpu, fit, NULL, err);
    gt_status status = gt_exec_check_maps(gpu, fit, err);
    if (status == GEMMTUNE_OK)
        status = gt_source_of(&source, &fit->binding, &gpu->device, err);
    if (status == GEMMTUNE_OK)
        status = load_once(&l, programs, gpu, fit, source, only_cached, err);
    free(source);
    return status == GEMMTUNE_OK
               ? gt_exec_of(out, l, fit, err)
               : gt_fail_within(err, status, "family %s", fit->binding.family->name);
}

/* ---- programs that stay ---------------------------------------------------------- */

void gt_exec_retain(const struct gt_exec *e) {
    gt_shared_retain(&e->loaded->shared);
}

static void destroy(struct gt_shared *shared) {
    gt_loaded_destroy(loaded_of(shared));
}

void gt_programs_relinquish(struct gt_sharing *programs) {
    gt_sharing_relinquish(programs, destroy);
}
