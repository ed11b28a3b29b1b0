/* SPDX-License-Identifier: Apache-2.0 */
/* seeded.h - the legal points that seeds stand for. */
#ifndef GT_TUNER_TUNE_SEEDED_H
#define GT_TUNER_TUNE_SEEDED_H

#include "tuner/search/space.h"
#include "tuner/tune/seeds.h"

/* The legal point of the family's space that is nearest to the seed; SIZE_MAX: all are too
 * far away to have anything to do with it. */
size_t gt_seed_place(const struct gt_seed *seed, const struct gt_space *space);

/* All seeds of a problem on a device. */
struct gt_seeded {
    int count;
    struct {
        char family[GT_SEED_KERNEL_MAX], point[GT_POINT_TEXT_MAX];
        char source[GT_SEED_SOURCE_MAX];
    } at[GT_SEEDS_MAX];
};

/* ENOMEM. Where a family's points cannot be listed, it has none here. */
gt_status gt_seeded_find(struct gt_seeded *out, const struct gt_seeds *seeds,
                         const struct gt_families *families, const struct gt_device *d,
                         const gemmtune_problem *p, struct gt_err *err);
/* The source of the point; NULL: no seed stands for it. */
const char *gt_seeded_source(const struct gt_seeded *s, const char *family,
                             const char *point);

#endif
