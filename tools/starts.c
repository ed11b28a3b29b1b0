/* SPDX-License-Identifier: Apache-2.0 */
/* starts.c - see starts.h. */
#include "tools/starts.h"

#include "runtime/family/fit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Single products, thin ones, and batches of small and of large products. */
static const char *const shapes[] = {
    "1024x1024x1024",       "2048x16x4096",         "16x2048x4096",
    "1x4096x4096",          "4096x1x4096",          "64x64x65536",
    "16x16x16,batch=1000",  "4x4x4,batch=1000",     "64x64x64,batch=1000",
    "100x100x100,batch=99", "200x200x200,batch=99", "48x240x100,batch=99",
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static gt_status add(struct gt_exported *to, const struct gt_family *f, const char *problem,
                     const struct gt_point *point, struct gt_err *err) {
    char text[GT_POINT_TEXT_MAX];
    struct gt_recorded *grown = realloc(to->item, (to->count + 1) * sizeof *grown);
    if (grown == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    to->item = grown;
    (void)gt_point_text(point, text);
    struct gt_recorded *item = &grown[to->count++];
    *item = (struct gt_recorded){.family = strdup(f->name),
                                 .hash = strdup(f->hash),
                                 .problem = strdup(problem),
                                 .point = strdup(text)};
    return item->family != NULL && item->hash != NULL && item->problem != NULL &&
                   item->point != NULL
               ? GEMMTUNE_OK
               : gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
}

static bool fits(const struct gt_family *f, const struct gt_device *d, const char *name,
                 const struct gt_point *point) {
    struct gt_fit fit;
    gemmtune_problem problem;
    struct gt_err err;
    return gt_problem_from_name(&problem, name, &err) == GEMMTUNE_OK &&
           gt_fit_point(&fit, f, d, &problem, point, &err) == GEMMTUNE_OK;
}

/* The types and layouts of the family come in turns, so that its starts have all. */
static bool find_problem(char name[GT_PROBLEM_NAME_MAX], const struct gt_family *f,
                         const struct gt_device *d, const struct gt_point *point,
                         int turn) {
    const int all = (int)GT_DTYPES * GT_LAYOUTS;
    for (int i = 0; i < SHAPES; i++)
        for (int j = 0; j < all; j++) {
            /* 4 and the number of types may have a common factor: both parts move */
            const int type = (turn + j) % (int)GT_DTYPES;
            const int layout = (turn + j + j / (int)GT_DTYPES) % GT_LAYOUTS;
            if ((f->dtypes & gt_dtype_bit(gt_dtype_at((size_t)type))) == 0)
                continue;
            (void)snprintf(name, GT_PROBLEM_NAME_MAX, "%s-%s-%s",
                           gt_dtype_at((size_t)type)->name, gt_layout_words[layout],
                           shapes[i]);
            if (fits(f, d, name, point))
                return true;
        }
    return false;
}

/* The starts and the default point of `f`, which is the new tree's. */
static gt_status add_starts(struct gt_exported *to, const struct gt_family *f,
                            const struct gt_family *old, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; i <= f->start_count && status == GEMMTUNE_OK; i++) {
        char name[GT_PROBLEM_NAME_MAX];
        struct gt_point point;
        if (i < f->start_count)
            gt_family_start(f, i, &point);
        else
            gt_family_default(f, &point);
        if (find_problem(name, f, &to->device[0], &point, i))
            status = add(to, old, name, &point, err);
    }
    return status;
}

gt_status gt_starts_list(struct gt_exported *out, const struct gt_device *d,
                         const struct gt_tree *old_tree, const struct gt_tree *new_tree,
                         struct gt_err *err) {
    const struct gt_families *all = gt_tree_families(new_tree);
    gt_status status = GEMMTUNE_OK;
    *out = (struct gt_exported){.devices = 1, .device = calloc(1, sizeof *d)};
    if (out->device == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    out->device[0] = *d;
    for (size_t i = 0; i < gt_families_count(all) && status == GEMMTUNE_OK; i++) {
        const struct gt_family *f = gt_families_at(all, i);
        const struct gt_family *old = gt_families_find(gt_tree_families(old_tree), f->name);
        if (old != NULL && f->source[d->backend]->name != NULL)
            status = add_starts(out, f, old, err);
    }
    return status;
}
