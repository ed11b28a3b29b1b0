/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outlook.h - the forecasts of the performance model (runtime/lookup/model.h) for the
 * points of a problem's spaces. A search asks for single points, its starts are the best.
 * Each point is computed once, when it is first asked for.
 */
#ifndef GT_TUNER_SEARCH_OUTLOOK_H
#define GT_TUNER_SEARCH_OUTLOOK_H

#include "runtime/lookup/model.h"
#include "tuner/search/search.h"

/* A zeroed outlook has no forecasts. */
struct gt_outlook {
    /* By space and index: 0 not asked yet, NAN no forecast. NULL for a space without
     * forecasts. */
    float **ns;
    /* By space: bound to the problem and to the point that was asked about last. */
    struct gt_binding *bound;
    struct gt_model *model; /* by space */
    const struct gt_device *device;
    const struct gt_space *space;
    int spaces;
};

/* Looks for the best points of each space: among all points of a small space, in a large
 * one among a sample and by climbing from the best of it. A point takes one to two
 * microseconds. The spaces are shared among the cores of the calling thread. Spaces and
 * device are borrowed. Without memory, forecasts are missing. */
void gt_outlook_make(struct gt_outlook *out, const struct gt_space *space, int spaces,
                     const struct gt_device *d, const gemmtune_problem *p);
void gt_outlook_clear(struct gt_outlook *o);
/* The forecast in ns, 0 when there is none. Fits gt_search_setup.predict; `user` is the
 * outlook. */
double gt_outlook_ns(void *user, const struct gt_pick *pick);
enum { GT_OUTLOOK_BEST_MAX = 64 };
/* Lists the points that are expected to be fastest among those asked about so far, fastest
 * first: at most `room` (up to GT_OUTLOOK_BEST_MAX), and at most `each` of a space. Any two
 * of a space differ in at least two parameters, since one alone seldom matters, and in
 * their tile, their split of k or the bytes that a block reads. */
int gt_outlook_best(struct gt_pick *out, int room, int each, struct gt_outlook *o);

#endif
