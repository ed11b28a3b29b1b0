/* SPDX-License-Identifier: Apache-2.0 */
/* player.h - one side of a comparison: a rival with one of its variants, and its watch. */
#ifndef GT_TUNER_BENCH_PLAYER_H
#define GT_TUNER_BENCH_PLAYER_H

#include "tuner/bench/rival.h"
#include "tuner/lab/stopwatch.h"

struct gt_player {
    const struct gt_rival *who;
    void *self; /* of `who`, opened */
    int variant;
    struct gt_stopwatch *watch; /* NULL until it is timed */
};

/* The player's product, for checks and for a watch. The player must outlive it. */
struct gt_product gt_player_product(struct gt_player *p);

#endif
