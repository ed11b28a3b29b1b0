/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.h - measures how soon a search strategy finds good points. The strategy gets the
 * stored times of a space that has been measured already. Runs differ only in their random
 * seed.
 */
#ifndef GT_TUNER_STUDY_REPLAY_H
#define GT_TUNER_STUDY_REPLAY_H

#include "tuner/study/stored.h"

/* Quality is the best time of the space over the best one found so far: 0 before the first
 * correct point, 1 at the optimum. */
enum { GT_REPLAY_GOALS = 3, GT_REPLAY_MARKS = 5 };
extern const double gt_replay_goal[GT_REPLAY_GOALS]; /* 0.90 0.95 0.99 */
extern const size_t gt_replay_mark[GT_REPLAY_MARKS]; /* 10 25 50 100 200 evaluations */

struct gt_replay_setup {
    const struct gt_stored *stored;
    const struct gt_strategy *strategy;
    const struct gt_pick *start;
    int starts;
    size_t budget; /* evaluations in a run, at most all points */
    int ahead;
    int runs; /* their random seeds are first_seed, first_seed + 1, .. */
    uint64_t first_seed;
};

struct gt_replay {
    const struct gt_strategy *strategy;
    int runs;
    size_t budget;
    struct gt_replay_reach {
        int runs;           /* runs that reached it */
        double median, p90; /* number of evaluations; HUGE_VAL: not within the budget */
    } reach[GT_REPLAY_GOALS];
    /* [i]: quality after i + 1 evaluations: median of the runs, and the value that 90 %
     * reach */
    double *median, *low;
    double pick_us; /* processor time of the strategy for a pick */
};

gt_status gt_replay_run(struct gt_replay *out, const struct gt_replay_setup *setup,
                        struct gt_err *err);
void gt_replay_clear(struct gt_replay *r);

/* Draws quality over evaluations, one line for each replay. EIO */
gt_status gt_replay_svg(const char *path, const char *title, const struct gt_replay *replay,
                        int count, struct gt_err *err);

#endif
