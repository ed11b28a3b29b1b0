/* SPDX-License-Identifier: Apache-2.0 */
/* starts.h - where the search for a problem starts. */
#ifndef GT_TUNER_TUNE_STARTS_H
#define GT_TUNER_TUNE_STARTS_H

#include "tuner/tune/tune.h"

enum { GT_SEARCH_STARTS_MAX = 80 };

struct gt_starts {
    struct gt_pick pick[GT_SEARCH_STARTS_MAX]; /* each once */
    int count;
    int required; /* so many of the first are tried however little time there is */
};

/* The first family's default, those of families with a role where a launch takes no second,
 * and the likeliest to be fast: the winner when the problem was tuned on this device
 * before, else what the model expects to be fastest, else the winner of the nearest
 * problem. Those are the required. Then what else was in the finals when it was tuned
 * before, with these sources or older ones; the winners of the nearest problems tuned on
 * this device; those of the nearest problems on the device most like it in the database
 * (the same arch first, then peak and units; a CPU is like no GPU). Then what the model
 * expects to be fast, the defaults of all families and what they say did well elsewhere,
 * all in the order in which the model expects them; for a start that is not legal here the
 * best of its neighbours. On a CPU the first family's starts come right behind the
 * required. */
gt_status gt_starts_find(struct gt_starts *out, const struct gt_tuner *t,
                         const struct gt_space *space, int spaces,
                         struct gt_outlook *outlook, const gemmtune_problem *p,
                         struct gt_err *err);

#endif
