/* SPDX-License-Identifier: Apache-2.0 */
/*
 * images.h - the images that a run has asked its compilers for. A source has no size of a
 * problem, so the image of a point serves all problems of a kind: a point that was asked
 * for before costs a search no compilation.
 */
#ifndef GT_TUNER_TUNE_IMAGES_H
#define GT_TUNER_TUNE_IMAGES_H

#include "tuner/search/space.h"

/* A set of numbers; a zeroed one is empty. */
struct gt_images {
    uint64_t *key; /* 0: a free place */
    size_t count, room;
};

/* What the family's source takes from the problem and the device, as a number: problems
 * with the same number share the images of points. 0: not known. It takes about a
 * millisecond. */
uint64_t gt_images_kind(const struct gt_family *f, const struct gt_device *d,
                        const gemmtune_problem *p);
/* Without memory, images are forgotten. Nothing is added to kind 0, and it has nothing. */
void gt_images_add(struct gt_images *set, uint64_t kind, const struct gt_space *space,
                   size_t index);
bool gt_images_has(const struct gt_images *set, uint64_t kind, const struct gt_space *space,
                   size_t index);
void gt_images_clear(struct gt_images *set);

#endif
