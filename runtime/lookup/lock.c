/* SPDX-License-Identifier: Apache-2.0 */
/* lock.c - do the facts of a lock hold, and which kernel does it pin: see lock.h. */
#include "runtime/lookup/lock.h"

#include "core/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- facts --------------------------------------------------------------------------- */

/* The part of a driver's version that is always known: "CUDA 13.0" of
 * "580.65 (CUDA 13.0)", where a library that a container may lack told the rest. */
static struct gt_piece known_part(const char *driver) {
    const char *open = strrchr(driver, '(');
    const char *from = open != NULL ? open + 1 : driver;
    return (struct gt_piece){from, (int)strcspn(from, ")"), '\0'};
}

static bool is_same_driver(const char *x, const char *y) {
    const struct gt_piece a = known_part(x), b = known_part(y);
    const bool both_whole = strchr(x, '(') != NULL && strchr(y, '(') != NULL;
    return strcmp(x, y) == 0 ||
           (!both_whole && a.len == b.len && memcmp(a.text, b.text, (size_t)a.len) == 0);
}

gt_status gt_lock_check_fact(const struct gt_lock *lock, const struct gt_device *d,
                             int fact, struct gt_err *err) {
    char key[GT_DEVICE_KEY_MAX];
    gt_device_key(d, key);
    if (fact == 0 && strcmp(lock->device_key, key) != 0)
        return gt_fail(err, GEMMTUNE_ELOCKED,
                       "the device is %s (%s), and the lock is for %.80s (%.96s)", d->name,
                       key, lock->device_name, lock->device_key);
    if (fact == 1 && lock->driver != NULL && d->driver[0] != '\0' &&
        !is_same_driver(lock->driver, d->driver))
        return gt_fail(err, GEMMTUNE_ELOCKED,
                       "the driver has changed: it is %s here, and %.100s in the lock",
                       d->driver, lock->driver);
    return GEMMTUNE_OK;
}

gt_status gt_lock_bind_kernel(struct gt_pin_kernel *k, const struct gt_families *families,
                              struct gt_err *err) {
    const struct gt_family *f = gt_families_find(families, k->family);
    if (f == NULL)
        return gt_fail(err, GEMMTUNE_ELOCKED, "there is no template %.24s here", k->family);
    if (strcmp(f->hash, k->hash) != 0)
        return gt_fail(err, GEMMTUNE_ELOCKED,
                       "the template %s has changed: it is %.12s... here, and %.12s... in "
                       "the lock",
                       k->family, f->hash, k->hash);
    const gt_status status = gt_values_parse(k->values, f, k->point, err);
    if (status != GEMMTUNE_OK)
        return gt_fail_within(err, GEMMTUNE_ELOCKED, "template %s", k->family);
    k->found = f;
    return GEMMTUNE_OK;
}

gt_status gt_lock_bind(struct gt_lock *lock, const struct gt_families *families,
                       const struct gt_device *d, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; i < GT_LOCK_FACTS && status == GEMMTUNE_OK; i++)
        status = gt_lock_check_fact(lock, d, i, err);
    for (size_t i = 0; i < lock->count; i++)
        for (int k = 0; k < GT_PIN_KERNELS && status == GEMMTUNE_OK; k++)
            if (lock->pin[i].kernel[k].family != NULL)
                status = gt_lock_bind_kernel(&lock->pin[i].kernel[k], families, err);
    return status == GEMMTUNE_OK ? status
                                 : gt_fail_within(err, status, "%.200s", lock->path);
}

/* ---- the choice ---------------------------------------------------------------------- */

static int by_name(const void *name, const void *pin) {
    return strcmp(name, ((const struct gt_pin *)pin)->problem);
}

/* The pin of a problem, by its canonical name; NULL: none. */
static const struct gt_pin *find(const struct gt_lock *lock, const char *problem) {
    return lock->count == 0
               ? NULL
               : bsearch(problem, lock->pin, lock->count, sizeof *lock->pin, by_name);
}

gt_status gt_lock_fit(struct gt_fit *out, const struct gt_pin_kernel *k,
                      const struct gt_device *d, const gemmtune_problem *p,
                      int64_t pointer_align, struct gt_err *err) {
    struct gt_err why = {""};
    if (gt_fit_values(out, k->found, d, p, pointer_align, k->values, &why) != GEMMTUNE_OK)
        return gt_fail(err, GEMMTUNE_ELOCKED, "%s", why.line);
    if (out->passes.workspace_bytes != k->workspace)
        return gt_fail(err, GEMMTUNE_ELOCKED,
                       "the workspace has changed: it is %" PRId64
                       " bytes here, and %" PRId64 " in the lock",
                       out->passes.workspace_bytes, k->workspace);
    out->pinned = &k->pinned;
    return GEMMTUNE_OK;
}

static gt_status choose(struct gt_choice *out, const struct gt_query *q,
                        const struct gt_pin *pin, const struct gt_pin_kernel *k,
                        struct gt_err *err) {
    out->match = pin->match;
    out->expected_loss = pin->expected_loss;
    out->family = k->found;
    gt_point_of_values(&out->point, k->found, k->values);
    (void)snprintf(out->why, sizeof out->why, "pinned by %.300s", q->lock->path);
    const gt_status status =
        gt_lock_fit(&out->fit, k, q->device, q->problem, q->pointer_align, err);
    if (status != GEMMTUNE_OK || (uint64_t)k->workspace <= q->workspace_max)
        return status;
    return gt_fail(err, GEMMTUNE_EWORKSPACE,
                   "the pinned kernel needs %" PRId64 " bytes of workspace, and the caller "
                   "has %zu",
                   k->workspace, q->workspace_max);
}

gt_status gt_match_locked(bool *decided, struct gt_choice *out,
                          const struct gt_query *query, struct gt_err *err) {
    const bool unaligned = query->pointer_align < GT_VECTOR_BYTES;
    char name[GT_PROBLEM_NAME_MAX];
    (void)gt_problem_name(query->problem, name);
    const struct gt_pin *pin = find(query->lock, name);
    *decided = pin != NULL || !query->lock->others;
    memset(out, 0, sizeof *out);
    if (!*decided)
        return GEMMTUNE_OK;
    if (pin == NULL)
        return gt_fail(err, GEMMTUNE_ENOTFOUND, "%.200s: %.200s is not pinned",
                       query->lock->path, name);
    const struct gt_pin_kernel *k =
        &pin->kernel[unaligned ? GT_PIN_UNALIGNED : GT_PIN_WIDE];
    if (k->family == NULL)
        return gt_fail(err, GEMMTUNE_ENOTFOUND,
                       "%.200s: no kernel is pinned for unaligned pointers of %.200s",
                       query->lock->path, name);
    const gt_status status = choose(out, query, pin, k, err);
    return status == GEMMTUNE_OK
               ? status
               : gt_fail_within(err, status, "%.120s: %.200s", query->lock->path, name);
}
