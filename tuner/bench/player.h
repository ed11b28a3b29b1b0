/* SPDX-License-Identifier: Apache-2.0 */
/* player.h - one side of a comparison: a rival with one of its variants, and its watch. */
#ifndef GT_TUNER_BENCH_PLAYER_H
#define GT_TUNER_BENCH_PLAYER_H

#include "tuner/bench/rival.h"
#include "tuner/lab/cpu_time.h"
#include "tuner/lab/stopwatch.h"

struct gt_player {
    const struct gt_rival *who;
    void *self; /* of `who`, opened */
    int variant;
    /* one of the two, from gt_player_start on: the lab's, or for a rival on the host the
     * watch of all commands */
    struct gt_stopwatch *watch;
    struct gt_cpu_watch *cpu_watch;
};

/* The player's product, for checks. The player must outlive it. */
struct gt_product gt_player_product(struct gt_player *p);

/* Makes the player's watch: samples of `sample_ns`, as gt_stopwatch_create. */
gt_status gt_player_start(struct gt_player *p, struct gt_lab *lab, double sample_ns,
                          double most_ns, struct gt_err *err);
void gt_player_stop(struct gt_player *p);
bool gt_player_has_started(const struct gt_player *p);
/* Takes the next sample: the time of one launch. */
gt_status gt_player_sample(struct gt_player *p, double *ns, struct gt_err *err);
int gt_player_launches(const struct gt_player *p); /* in a sample */

#endif
