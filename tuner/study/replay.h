/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.h - how soon a search strategy finds what is good, told the stored times of a
 * space that was measured already. Runs differ by their seed only.
 */
#ifndef GT_TUNER_STUDY_REPLAY_H
#define GT_TUNER_STUDY_REPLAY_H

#include "tuner/study/stored.h"

/* Quality is the best time there is over the best one found so far: 0 nothing yet, 1 the
 * optimum. */
enum { GT_REPLAY_GOALS = 3, GT_REPLAY_MARKS = 5 };
extern const double gt_replay_goal[GT_REPLAY_GOALS]; /* 0.90 0.95 0.99 */
extern const size_t gt_replay_mark[GT_REPLAY_MARKS]; /* 10 25 50 100 200 evaluations */

struct gt_replay_setup {
    const struct gt_stored *stored;
    const struct gt_strategy *strategy;
    const struct gt_pick *start;
    int starts;
    size_t budget; /* evaluations of a run; no more than there are points */
    int ahead;
    int runs; /* with seeds first_seed, first_seed + 1, .. */
    uint64_t first_seed;
};

struct gt_replay {
    const struct gt_strategy *strategy;
    int runs;
    size_t budget;
    struct gt_replay_reach {
        int runs;           /* that got there */
        double median, p90; /* evaluations; HUGE_VAL: not within the budget */
    } reach[GT_REPLAY_GOALS];
    double *median,
        *low;       /* quality after evaluation i + 1: median, and what 90 % of runs have */
    double pick_us; /* of processor time, the strategy's own, by pick */
};

gt_status gt_replay_run(struct gt_replay *out, const struct gt_replay_setup *setup,
                        struct gt_err *err);
void gt_replay_clear(struct gt_replay *r);

/* Quality over evaluations, a line for each: a picture of its own. EIO */
gt_status gt_replay_svg(const char *path, const char *title, const struct gt_replay *replay,
                        int count, struct gt_err *err);

#endif
