/* SPDX-License-Identifier: Apache-2.0 */
/*
 * surrogate.h - what the measured points of a space say about the others: a Gaussian
 * process of the logarithm of time over the parameters, learned anew as points come in. It
 * knows candidates by their slot and answers with an expected improvement.
 *
 * Points are added when they are given out, told later in the same order, and meanwhile
 * only make their neighbourhood less uncertain.
 */
#ifndef GT_TUNER_SEARCH_SURROGATE_H
#define GT_TUNER_SEARCH_SURROGATE_H

#include "tuner/search/space.h"

enum {
    GT_SURROGATE_ROWS = 256, /* points that it learns from; then it forgets the slow ones */
    GT_SURROGATE_SLOTS = 1088 /* candidates */
};

struct gt_surrogate;

gt_status gt_surrogate_create(struct gt_surrogate **out, const struct gt_space *space,
                              struct gt_err *err);
void gt_surrogate_destroy(struct gt_surrogate *s);

/* A point that was given out. `guess` is the logarithm of what somebody thinks it takes,
 * NAN unknown. */
void gt_surrogate_add(struct gt_surrogate *s, size_t index, double guess);
/* Of the first added that has not been told: the logarithm of its time, NAN for a failure.
 */
void gt_surrogate_tell(struct gt_surrogate *s, double value);
/* The smallest value told; HUGE_VAL when there is none. */
double gt_surrogate_best(const struct gt_surrogate *s);
/* Learns lengths, noise and how far guesses are to be believed. Slots must be set again.
 * True when it did: there is enough, and enough that is new. */
bool gt_surrogate_learn(struct gt_surrogate *s);

/* Slots from .. from + count - 1 stand for these points. */
void gt_surrogate_set(struct gt_surrogate *s, int from, int count, const size_t *index,
                      const double *guess);
/* By how much the logarithm of a slot's time is expected to fall below `best`, failures
 * counted as 0. HUGE_VAL-free, never negative. */
void gt_surrogate_score(struct gt_surrogate *s, int from, int count, double best,
                        double *score);

#endif
