/* SPDX-License-Identifier: Apache-2.0 */
/* lock_check.c - `gemmtune lock --check`: see lock.h. */
#include "tuner/cmd/lock.h"

#include "core/room.h"
#include "runtime/lookup/lock.h"
#include "tuner/base/talk.h"
#include "tuner/base/wrap.h"
#include "tuner/cmd/common.h"
#include "tuner/cmd/which_device.h"
#include "tuner/rig/probe.h"

#include <stdlib.h>
#include <string.h>

/* A change, and the kernels that have it. */
struct change {
    char what[sizeof((struct gt_err *)0)->line];
    const char *problem; /* the first one; NULL: the change is no kernel's */
    size_t kernels;
};

struct changes {
    struct change *item;
    size_t count, room;
};

/* Of many kernels with one change a line tells once. ENOMEM. */
static gt_status note(struct changes *all, const char *what, const char *problem,
                      struct gt_err *err) {
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->item[i].what, what) == 0) {
            all->item[i].kernels++;
            return GEMMTUNE_OK;
        }
    struct change *c = gt_room_for(all->item, &all->room, all->count, sizeof *c);
    if (c == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    all->item = c;
    c = &all->item[all->count++];
    *c = (struct change){.problem = problem, .kernels = 1};
    memcpy(c->what, what, strlen(what) + 1);
    return GEMMTUNE_OK;
}

/* ---- one kernel ---------------------------------------------------------------------- */

/* The same questions that a plan asks. */
static gt_status check_kernel(struct gt_pin_kernel *k, int which, const char *problem,
                              const struct gt_families *families, const struct gt_device *d,
                              struct gt_err *err) {
    struct gt_build_stats stats;
    struct gt_image image = {0};
    gemmtune_problem p;
    struct gt_fit fit;
    char *source = NULL;
    gt_status status = gt_problem_from_name(&p, problem, err);
    if (status == GEMMTUNE_OK)
        status = gt_lock_bind_kernel(k, families, err);
    if (status == GEMMTUNE_OK)
        status =
            gt_lock_fit(&fit, k, d, &p, which == GT_PIN_WIDE ? GT_VECTOR_BYTES : 1, err);
    if (status == GEMMTUNE_OK)
        status = gt_source_of(&source, &fit.binding, d, err);
    if (status == GEMMTUNE_OK)
        status = gt_build_pinned(&image, gt_driver_of(d->backend), d, source, &k->pinned,
                                 false, &stats, err);
    gt_image_clear(&image);
    free(source);
    return status;
}

static gt_status check_pins(struct changes *all, struct gt_lock *lock,
                            const struct gt_families *families, const struct gt_device *d,
                            struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    for (size_t i = 0; i < lock->count; i++)
        for (int k = 0; k < GT_PIN_KERNELS && status == GEMMTUNE_OK; k++) {
            struct gt_pin *pin = &lock->pin[i];
            if (pin->kernel[k].family == NULL)
                continue;
            status = check_kernel(&pin->kernel[k], k, pin->problem, families, d, err);
            if (status == GEMMTUNE_ELOCKED)
                status = note(all, err->line, pin->problem, err);
        }
    return status;
}

static gt_status check_facts(struct changes *all, const struct gt_lock *lock,
                             const struct gt_device *d, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; i < GT_LOCK_FACTS && status == GEMMTUNE_OK; i++)
        if (gt_lock_check_fact(lock, d, i, err) == GEMMTUNE_ELOCKED)
            status = note(all, err->line, NULL, err);
    return status;
}

/* ---- the command --------------------------------------------------------------------- */

static int conclude(const struct changes *all, const struct gt_lock *lock) {
    for (size_t i = 0; i < all->count; i++) {
        const struct change *c = &all->item[i];
        if (c->problem == NULL)
            gt_wrap_print(stdout, 4, "%s", c->what);
        else if (c->kernels == 1)
            gt_wrap_print(stdout, 4, "%s: %s", c->problem, c->what);
        else
            gt_wrap_print(stdout, 4, "%s and %zu more kernel%s: %s", c->problem,
                          c->kernels - 1, gt_text_plural((int64_t)c->kernels - 1), c->what);
    }
    gt_talk_line("%s: %zu problem%s pinned by gemmtune %s, %zu change%s", lock->path,
                 lock->count, gt_text_plural((int64_t)lock->count), lock->version,
                 all->count, gt_text_plural((int64_t)all->count));
    return all->count > 0 ? GT_EXIT_LOCK : GT_EXIT_OK;
}

/* The device that is named, else one of the lock's model, else the first. */
static int find_device(struct gt_device *out, const struct gt_lock_check_values *v,
                       const struct gt_lock *lock) {
    struct gt_err err = {""};
    struct gt_which which = {.device = v->device, .file = v->device_file, .db = v->db};
    int code = 0;
    if (v->device == NULL && v->device_file == NULL) {
        which.device = lock->device_key;
        code = gt_which_device(out, &which, &err);
        which.device = NULL;
    }
    if (code >= 0)
        code = gt_which_device(out, &which, &err);
    return code < 0 ? code : gt_die(code, "%s", err.line);
}

static int check(struct gt_lock *lock, const struct gt_lock_check_values *v,
                 const struct gt_families *families) {
    struct changes all = {0};
    struct gt_device d;
    struct gt_err err = {""};
    int code = find_device(&d, v, lock);
    if (code >= 0)
        return code;
    gt_status status = check_facts(&all, lock, &d, &err);
    /* Kernels of another model have other sources, which would tell nothing more. */
    if (status == GEMMTUNE_OK && gt_lock_check_fact(lock, &d, 0, NULL) == GEMMTUNE_OK)
        status = check_pins(&all, lock, families, &d, &err);
    code = status == GEMMTUNE_OK ? conclude(&all, lock)
                                 : gt_die(gt_exit_of(status), "%s", err.line);
    free(all.item);
    return code;
}

static int load(struct gt_lock **out, const char *path) {
    struct gt_err err = {""};
    const gt_status status = gt_lock_load(out, path, &err);
    return status == GEMMTUNE_OK ? -1 : gt_die(gt_exit_of(status), "%s", err.line);
}

int gt_lock_check(const struct gt_lock_check_values *v) {
    static const struct gt_texts none;
    struct gt_families *families = NULL;
    struct gt_lock *lock = NULL;
    int code = load(&lock, v->path);
    if (code < 0)
        code = gt_common_families(&families, &none);
    if (code < 0)
        code = check(lock, v, families);
    gt_families_destroy(families);
    gt_lock_destroy(lock);
    return code;
}

static int glance(struct gt_lock *lock, const struct gt_families *families) {
    struct gt_device d;
    struct gt_err err = {""};
    if (gt_probe_pick(&d, lock->device_key, false, NULL) != GEMMTUNE_OK &&
        gt_probe_pick(&d, NULL, false, &err) != GEMMTUNE_OK)
        return gt_die(GT_EXIT_DEVICE, "%s", err.line);
    const gt_status status = gt_lock_bind(lock, families, &d, &err);
    return status == GEMMTUNE_OK ? -1 : gt_die(gt_exit_of(status), "%s", err.line);
}

int gt_lock_glance(const char *path) {
    static const struct gt_texts none;
    struct gt_families *families = NULL;
    struct gt_lock *lock = NULL;
    int code = load(&lock, path);
    if (code < 0)
        code = gt_common_families(&families, &none);
    if (code < 0)
        code = glance(lock, families);
    gt_families_destroy(families);
    gt_lock_destroy(lock);
    return code;
}
