/* SPDX-License-Identifier: Apache-2.0 */
/* starts.h - the points with which the search for a problem starts. */
#ifndef GT_TUNER_TUNE_STARTS_H
#define GT_TUNER_TUNE_STARTS_H

#include "tuner/tune/tune.h"

enum { GT_SEARCH_STARTS_MAX = 80 };

struct gt_starts {
    struct gt_pick pick[GT_SEARCH_STARTS_MAX]; /* without duplicates */
    int count;
    int required; /* this many of the first are tried however little time there is */
};

/* Lists the starting points in this order:
 * 1. The first family's default.
 * 2. The defaults of the families with a role, unless a launch may take a second, or no
 *    winner is chosen.
 * 3. The likeliest to be fast: the winner when this problem was tuned on this device
 *    before, else the kernel that a lookup adapts from another problem's record, else the
 *    first of 10, else the winner of the nearest problem.
 * 4. On a CPU, the starts of the first family.
 * 5. The other finalists from when this problem was tuned on this device, with the present
 *    sources or older ones.
 * 6. The winners of the nearest problems on this device.
 * 7. The winners of the nearest problems on the most similar device in the database: the
 *    same arch first, then peak and units. CPUs and GPUs are never similar.
 * 8. Not on a CPU, the points that a lookup gives to callers without workspace, and with
 *    32 MiB, where its answer without a limit needs more: there are finals for those.
 * 10. The starts of all families ("starts" in space.json), on a CPU of the first one, the
 *    seeds that are defaults where nothing alike was tuned on this device, the points with
 * the best forecasts, and the defaults of all families. They are sorted by forecast; a
 * start goes before points that are expected to be up to a quarter faster. Points with a
 * forecast over three times the best one are left out, unless they are the best of their
 * family. A start that is not legal here is replaced by its best neighbour. The points of 1
 * to 3 are required: they are tried even when there is no time. */
gt_status gt_starts_find(struct gt_starts *out, const struct gt_tuner *t,
                         const struct gt_space *space, int spaces,
                         struct gt_outlook *outlook, const gemmtune_problem *p,
                         struct gt_err *err);

#endif
