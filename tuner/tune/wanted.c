/* SPDX-License-Identifier: Apache-2.0 */
/* wanted.c - see wanted.h. */
#define _GNU_SOURCE /* for tdestroy */
#include "tuner/tune/wanted.h"

#include "core/hash.h"
#include "core/room.h"
#include "runtime/drivers/build.h"
#include "runtime/plan/plan_choose.h"
#include "runtime/plan/workspace.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

gt_status gt_wanted_init(struct gt_wanted_list *l, const struct gt_snapshot *snapshot,
                         const struct gt_device *device, struct gt_err *err) {
    *l = (struct gt_wanted_list){.snapshot = snapshot, .device = device};
    return pthread_mutex_init(&l->lock, NULL) == 0
               ? GEMMTUNE_OK
               : gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
}

void gt_wanted_clear(struct gt_wanted_list *l) {
    tdestroy(l->by_source, free); /* it holds every item */
    free(l->item);
    (void)pthread_mutex_destroy(&l->lock);
}

/* ---- the cache ----------------------------------------------------------------------- */

static bool look(struct gt_wanted *w, const struct gt_device *d, const char *source) {
    struct gt_image image = {0};
    const bool found = gt_build_find(&image, gt_driver_of(d->backend), d, source);
    w->bytes = found ? image.size + strlen(image.log) : 0;
    gt_image_clear(&image);
    return found;
}

bool gt_wanted_look(struct gt_wanted *w, const struct gt_device *d) {
    struct gt_fit fit;
    char *source = NULL;
    gt_status status =
        gt_fit_values(&fit, w->family, d, w->problem, w->pointer_align, w->values, NULL);
    if (status == GEMMTUNE_OK)
        status = gt_source_of(&source, &fit.binding, d, NULL);
    const bool found = status == GEMMTUNE_OK && look(w, d, source);
    free(source);
    return found;
}

/* ---- the list ------------------------------------------------------------------------ */

static int by_source(const void *a, const void *b) {
    const struct gt_wanted *x = a, *y = b;
    return memcmp(x->source, y->source, sizeof x->source);
}

static bool make_room(struct gt_wanted_list *l) {
    struct gt_wanted **const all =
        gt_room_for(l->item, &l->room, l->count, sizeof(struct gt_wanted *));
    if (all != NULL)
        l->item = all;
    return all != NULL;
}

/* The image of the key's source; a new one is a copy of the key. NULL: no memory. The
 * caller holds the lock. */
static struct gt_wanted *find_or_add(bool *is_new, struct gt_wanted_list *l,
                                     const struct gt_wanted *key) {
    struct gt_wanted *const *found = tfind(key, &l->by_source, by_source);
    *is_new = found == NULL;
    if (found != NULL)
        return *found;
    struct gt_wanted *w = make_room(l) ? malloc(sizeof *w) : NULL;
    if (w == NULL)
        return NULL;
    *w = *key;
    if (tsearch(w, &l->by_source, by_source) == NULL) {
        free(w);
        return NULL;
    }
    l->item[l->count++] = w;
    return w;
}

bool gt_wanted_outdated(const struct gt_wanted_plans *plans) {
    for (size_t i = 0; i < sizeof plans->kernel / sizeof *plans->kernel; i++)
        if (plans->kernel[i] != NULL && plans->kernel[i]->state == GT_WANTED_FAILED)
            return true;
    return false;
}

static int most_wanted_first(const void *a, const void *b) {
    const struct gt_wanted *x = *(struct gt_wanted *const *)a;
    const struct gt_wanted *y = *(struct gt_wanted *const *)b;
    if (x->general != y->general)
        return x->general ? -1 : 1;
    if (x->late != y->late)
        return x->late ? 1 : -1;
    if (x->plans != y->plans)
        return x->plans < y->plans ? 1 : -1;
    return (x->place > y->place) - (x->place < y->place);
}

void gt_wanted_sort(struct gt_wanted_list *l) {
    if (l->count > 1)
        qsort(l->item, l->count, sizeof(struct gt_wanted *), most_wanted_first);
}

/* ---- the kernels of a plan ----------------------------------------------------------- */

/* A kernel of a plan, while it is chosen. */
struct wanting {
    struct gt_wanted_list *list;
    int64_t pointer_align;
    bool late, general;
    const gemmtune_problem *problem;
    size_t place;
    struct gt_wanted *kernel; /* the one that was listed last */
};

static gt_status describe(struct gt_wanted *out, char **source, const struct wanting *w,
                          const struct gt_fit *fit, struct gt_err *err) {
    const struct gt_binding *b = &fit->binding;
    struct gt_hash h;
    *out = (struct gt_wanted){.problem = w->problem,
                              .family = b->family,
                              .pointer_align = w->pointer_align,
                              .place = w->place,
                              .late = w->late,
                              .general = w->general};
    for (int i = 0; i < b->family->param_count; i++)
        out->values[i] = b->value[b->family->param[i].slot];
    const gt_status status = gt_source_of(source, b, w->list->device, err);
    if (status != GEMMTUNE_OK)
        return status;
    gt_hash_init(&h);
    gt_hash_add_text(&h, *source);
    gt_hash_hex(&h, out->source);
    return GEMMTUNE_OK;
}

/* The listed image of a source, which one more plan needs. *is_new: nobody has looked for
 * it in the cache yet. *failed: it has failed to build. NULL: no memory. */
static struct gt_wanted *take(bool *is_new, bool *failed, struct wanting *wanting,
                              const struct gt_wanted *key) {
    struct gt_wanted_list *l = wanting->list;
    (void)pthread_mutex_lock(&l->lock);
    struct gt_wanted *w = find_or_add(is_new, l, key);
    if (w != NULL) {
        w->plans++;
        w->late = w->late && wanting->late;
        w->general = w->general || wanting->general;
        w->place = w->place < wanting->place ? w->place : wanting->place;
        *failed = w->state == GT_WANTED_FAILED;
    }
    (void)pthread_mutex_unlock(&l->lock);
    return w;
}

/* Looks for a new image in the cache, while other threads add to the list. */
static void look_for(struct gt_wanted_list *l, struct gt_wanted *w, const char *source) {
    struct gt_wanted seen = {.bytes = 0};
    const bool found = look(&seen, l->device, source);
    (void)pthread_mutex_lock(&l->lock);
    w->bytes = seen.bytes;
    if (found)
        w->state = GT_WANTED_FOUND;
    (void)pthread_mutex_unlock(&l->lock);
}

/* A gt_try_fn: lists the image instead of building it. EBUILD: it has failed to build. */
static gt_status list(void *user, struct gt_gpu *gpu, const struct gt_fit *fit,
                      struct gt_err *err) {
    struct wanting *wanting = user;
    struct gt_wanted key, *w = NULL;
    char *source = NULL;
    bool is_new = false, failed = false;
    (void)gpu;
    const gt_status status = describe(&key, &source, wanting, fit, err);
    if (status == GEMMTUNE_OK)
        w = take(&is_new, &failed, wanting, &key);
    if (w != NULL && is_new)
        look_for(wanting->list, w, source);
    free(source);
    if (status != GEMMTUNE_OK)
        return status;
    if (w == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    wanting->kernel = w;
    return failed ? gt_fail(err, GEMMTUNE_EBUILD, "it failed") : GEMMTUNE_OK;
}

/* The kernels of the plan with such a workspace. A narrow kernel that is made by a call
 * gets no more workspace than the plan has said (runtime/plan/plan.c). */
static gt_status add_plan(struct gt_wanted *kernel[2], struct gt_wanted_list *l,
                          struct gt_query query, size_t place, struct gt_err *err) {
    const bool late = !gt_driver_of(query.device->backend)->pointers_are_addresses;
    struct wanting wide = {.list = l,
                           .pointer_align = GT_VECTOR_BYTES,
                           .problem = query.problem,
                           .place = place};
    struct wanting odd = {.list = l,
                          .pointer_align = 1,
                          .late = late,
                          .problem = query.problem,
                          .place = place + 1};
    struct gt_choice choice, narrow;
    gt_status status = gt_plan_choose(&choice, NULL, query, false, list, &wide, err);
    kernel[0] = wide.kernel;
    if (status != GEMMTUNE_OK || !gt_wants_narrow(&choice.fit, query.problem))
        return status;
    if (late)
        query.workspace_max = (size_t)choice.fit.passes.workspace_bytes;
    status = gt_plan_choose_narrow(&narrow, NULL, query, &choice, false, list, &odd, err);
    kernel[1] = odd.kernel;
    return status;
}

gt_status gt_wanted_add(struct gt_wanted_plans *out, struct gt_wanted_list *l,
                        const gemmtune_problem *p, size_t place, struct gt_err *err) {
    static const size_t workspace[] = {SIZE_MAX, GT_WORKSPACE_DEFAULT, 0};
    char key[GT_DEVICE_KEY_MAX];
    gt_device_key(l->device, key);
    *out = (struct gt_wanted_plans){{NULL}};
    for (size_t i = 0; i < sizeof workspace / sizeof *workspace; i++) {
        const struct gt_query query = {.snapshot = l->snapshot,
                                       .device = l->device,
                                       .device_key = key,
                                       .problem = p,
                                       .worst = GEMMTUNE_MATCH_DEFAULT,
                                       .workspace_max = workspace[i],
                                       .pointer_align = GT_VECTOR_BYTES};
        const gt_status status =
            add_plan(&out->kernel[2 * i], l, query, 6 * place + 2 * i, err);
        if (status == GEMMTUNE_ENOMEM)
            return status;
    }
    return GEMMTUNE_OK;
}

gt_status gt_wanted_wish(struct gt_wanted_list *l, const struct gt_wish *wish, size_t place,
                         struct gt_err *err) {
    struct wanting wanting = {.list = l,
                              .pointer_align = wish->pointer_align,
                              .general = true,
                              .problem = &wish->problem,
                              .place = place};
    struct gt_fit fit;
    if (gt_fit_values(&fit, wish->family, l->device, &wish->problem, wish->pointer_align,
                      wish->values, NULL) != GEMMTUNE_OK)
        return GEMMTUNE_OK;
    const gt_status status = list(&wanting, NULL, &fit, err);
    return status == GEMMTUNE_ENOMEM ? status : GEMMTUNE_OK;
}
