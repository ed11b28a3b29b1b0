/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outlook.h - what the performance model (runtime/model.h) expects of the points of a
 * problem's spaces: a search asks for single points, and its seeds for the best. Each point
 * is worked out once, when it is first asked for.
 */
#ifndef GT_TUNER_SEARCH_OUTLOOK_H
#define GT_TUNER_SEARCH_OUTLOOK_H

#include "tuner/search/search.h"

/* Zeroed it knows nothing. */
struct gt_outlook {
    /* By space, by index: 0 not asked yet, NAN unknown. A space's is NULL when nothing of
     * it can be known. */
    float **ns;
    /* By space: to the problem, and to the point asked about last. */
    struct gt_binding *bound;
    const struct gt_device *device;
    const struct gt_space *space;
    int spaces;
};

/* Looks for the best of each space: at all points of a small one; at a sample of a large
 * one, from the best of which it climbs. One to two microseconds a point. Spaces and device
 * are borrowed. Without memory it knows less. */
void gt_outlook_make(struct gt_outlook *out, const struct gt_space *space, int spaces,
                     const struct gt_device *d, const gemmtune_problem *p);
void gt_outlook_clear(struct gt_outlook *o);
/* In ns, 0 when unknown; for gt_search_setup.predict, `user` being the outlook. */
double gt_outlook_ns(void *user, const struct gt_pick *pick);
enum { GT_OUTLOOK_BEST_MAX = 64 };
/* Lists the points that are expected to be fastest among those asked about so far, fastest
 * first: at most `room` (up to GT_OUTLOOK_BEST_MAX), and at most `each` of a space. Any two
 * of a space differ in at least two parameters, since one alone seldom matters. */
int gt_outlook_best(struct gt_pick *out, int room, int each, struct gt_outlook *o);

#endif
