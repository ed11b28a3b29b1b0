/* SPDX-License-Identifier: Apache-2.0 */
/*
 * surrogate.h - predicts the times of a space's points from the measured ones: a Gaussian
 * process of the logarithm of time over the parameters, which learns again as points come
 * in. A candidate has a slot, and its score is its expected improvement.
 *
 * A point is added when it is given out, and told later; the order is the same. Until it is
 * told, it only makes its neighbourhood less uncertain.
 */
#ifndef GT_TUNER_SEARCH_SURROGATE_H
#define GT_TUNER_SEARCH_SURROGATE_H

#include "tuner/search/space.h"

enum {
    /* points to learn from; when all rows are used, the slow points are forgotten */
    GT_SURROGATE_ROWS = 256,
    GT_SURROGATE_SLOTS = 1088 /* candidates */
};

struct gt_surrogate;

gt_status gt_surrogate_create(struct gt_surrogate **out, const struct gt_space *space,
                              struct gt_err *err);
void gt_surrogate_destroy(struct gt_surrogate *s);

/* Adds a point that was given out. `guess` is the logarithm of its forecast, NAN when
 * unknown. */
void gt_surrogate_add(struct gt_surrogate *s, size_t index, double guess);
/* Gives the logarithm of the time of the first added point that has not been told, NAN for
 * a failure. */
void gt_surrogate_tell(struct gt_surrogate *s, double value);
/* Learns lengths, noise and the weight of guesses. Returns true when they have changed;
 * then the slots must be set again. False: there are too few points or too few new ones. */
bool gt_surrogate_learn(struct gt_surrogate *s);

/* Assigns points to the slots from .. from + count - 1. */
void gt_surrogate_set(struct gt_surrogate *s, int from, int count, const size_t *index,
                      const double *guess);
/* The expected decrease of the logarithm of time below `best`, for each slot. It is reduced
 * near failed points; it is finite and never negative. */
void gt_surrogate_score(struct gt_surrogate *s, int from, int count, double best,
                        double *score);

#endif
