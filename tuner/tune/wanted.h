/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wanted.h - which images the library would want: it asks for each problem as
 * gemmtune_plan_create does, without a workspace, with the workspace of one-call forms and
 * with any, and lists the distinct sources of the kernels that it gets. Needs no device.
 * Any thread may add to a list.
 */
#ifndef GT_TUNER_TUNE_WANTED_H
#define GT_TUNER_TUNE_WANTED_H

#include "runtime/lookup/match.h"

#include <pthread.h>

enum gt_wanted_state {
    GT_WANTED_MISSING,
    GT_WANTED_SENT, /* it is being built */
    GT_WANTED_FAILED,
    GT_WANTED_BUILT,
    GT_WANTED_FOUND, /* it was in the cache before */
};

/* An image, by a kernel that needs it. */
struct gt_wanted {
    char source[65]; /* SHA-256 of the kernel's text */
    enum gt_wanted_state state;
    size_t plans, place; /* plans that need it; the place of the first of them */
    bool late;           /* no plan is made with it: a call with odd offsets needs it */
    bool general;        /* it is wished for, and comes before all others */
    size_t bytes;        /* of the image, when it is in the cache */
    const gemmtune_problem *problem; /* of the list that was asked about */
    const struct gt_family *family;
    int64_t values[GT_POINT_MAX];
    int64_t pointer_align; /* as in gt_fit_values */
};

/* The images, most wanted first. An image is worth the plans that need it. Where a call
 * makes the narrow kernel of a plan, that kernel comes after all others. */
struct gt_wanted_list {
    const struct gt_snapshot *snapshot;
    const struct gt_device *device;
    struct gt_wanted **item;
    size_t count, room;
    void *by_source;      /* a tree of tsearch(3) */
    pthread_mutex_t lock; /* guards the three above, and what plans add to an item */
};

/* An image that is wanted besides, by a problem that its kernel may run. */
struct gt_wish {
    gemmtune_problem problem;
    const struct gt_family *family;
    int64_t values[GT_POINT_MAX];
    int64_t pointer_align;
};

/* The snapshot and the device must outlive the list. */
gt_status gt_wanted_init(struct gt_wanted_list *l, const struct gt_snapshot *snapshot,
                         const struct gt_device *device, struct gt_err *err);
void gt_wanted_clear(struct gt_wanted_list *l);
/* The kernels of a problem's plans, two a plan; NULL where there is none. */
struct gt_wanted_plans {
    struct gt_wanted *kernel[6];
};

/* Adds the images for a canonical problem, which must outlive the list. A plan goes past a
 * kernel with a source that has FAILED, as the library does. A problem that no kernel may
 * run adds nothing. `place` is the problem's among others. ENOMEM. */
gt_status gt_wanted_add(struct gt_wanted_plans *out, struct gt_wanted_list *l,
                        const gemmtune_problem *p, size_t place, struct gt_err *err);
/* Adds the image of a wish, which must outlive the list. A kernel that may not run the
 * wish's problem adds nothing. ENOMEM. */
gt_status gt_wanted_wish(struct gt_wanted_list *l, const struct gt_wish *wish, size_t place,
                         struct gt_err *err);
/* Whether one of the plans now takes another kernel. */
bool gt_wanted_outdated(const struct gt_wanted_plans *plans);
void gt_wanted_sort(struct gt_wanted_list *l);
/* Looks the image up in the cache. Its bytes become 0 when it is not there. */
bool gt_wanted_look(struct gt_wanted *w, const struct gt_device *device);

#endif
