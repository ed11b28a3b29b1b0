/* SPDX-License-Identifier: Apache-2.0 */
/*
 * general.h - general kernels: a few points for each kind of problem (types, layout, single
 * products or batches), chosen so that one of them is near the best for any problem of the
 * kind. `gemmtune build --general` chooses them (tuner/tune/general.h), builds their images
 * and keeps the list in a file beside the images. With GEMMTUNE_OPEN_BUILD_BEHIND a context
 * takes the best of them while a better kernel is built.
 */
#ifndef GT_RUNTIME_LOOKUP_GENERAL_H
#define GT_RUNTIME_LOOKUP_GENERAL_H

#include "runtime/lookup/match.h"

enum { GT_GENERALS_RANKED = 32 }; /* kernels of a kind that a lookup looks at, at most */

/* The kind of problem that a kernel was chosen for. */
struct gt_general_kind {
    const struct gt_dtype *types;
    const char *layout; /* of gt_layout_words */
    bool batch;         /* strided batches; else single products */
};

struct gt_general {
    struct gt_general_kind kind;
    const struct gt_family *family;
    int64_t values[GT_POINT_MAX];
};

/* A plain list; kernels of one kind stand together, the most useful ones first. */
struct gt_generals {
    struct gt_general *item;
    size_t count, room;
};

void gt_generals_clear(struct gt_generals *g);
/* Adds a copy. False: out of memory. */
bool gt_generals_add(struct gt_generals *g, const struct gt_general *kernel);

/* Whether points of the family may be general: an image serves any problem of a kind. */
bool gt_general_may(const struct gt_family *f);

/* Reads the list that was kept for the device. Without one *g is empty. Lines that are not
 * sound are left out: another release may have written them. */
void gt_generals_load(struct gt_generals *g, const struct gt_families *families,
                      const struct gt_device *d);
/* Keeps the list in place of the one before. False when it cannot be written. */
bool gt_generals_keep(const struct gt_generals *g, const struct gt_device *d);

/* The forecast of a point for the query's problem, in ns; 0 where the model has none. False
 * when the point may not run the problem. The fit is then unspecified. */
bool gt_general_forecast(double *ns, struct gt_fit *fit, const struct gt_query *q,
                         const struct gt_family *f, const int64_t *values);

/* A general kernel that may run a problem. */
struct gt_general_rank {
    const struct gt_general *kernel;
    double ns; /* the forecast; 0: none */
};

/* The kernels that may run the query's problem, the shortest forecast first; kernels
 * without a forecast come last, in the list's order. Returns how many. */
size_t gt_generals_rank(struct gt_general_rank out[GT_GENERALS_RANKED],
                        const struct gt_generals *g, const struct gt_query *q);
/* The choice of such a kernel. `best_ns` is the forecast of the best kernel; 0: there is
 * none. False when the kernel may not run after all. */
bool gt_general_choose(struct gt_choice *out, const struct gt_general_rank *rank,
                       const struct gt_query *q, double best_ns);

#endif
