/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agree.h - compares several independent runs of tuning on one problem, after all their
 * winners have been measured together: whether they chose alike, how much slower their
 * choices are than the best, and whether the new times agree with the stored ones. It takes
 * numbers and gives numbers.
 */
#ifndef GT_TUNER_STUDY_AGREE_H
#define GT_TUNER_STUDY_AGREE_H

#include "core/outcome.h"

enum { GT_AGREE_RUNS_MAX = 23 };

/* One run: the number of its winner, and the winners that it found tied with that one. */
struct gt_agree_run {
    int choice;    /* -1: it has no winner */
    unsigned tied; /* bit i: winner i, its own choice included */
    struct gt_measurement stored;
    /* filled in by gt_agree */
    double regret; /* time of its choice over the best's, minus 1, round by round */
    /* the same over the reference's; negative when its choice is faster */
    double over_reference;
    bool found_again; /* the new median lies in the stored interval */
};

struct gt_agreement {
    int runs;    /* runs with a choice */
    int winners; /* number of different choices */
    int same;    /* runs with the most frequent choice */
    /* the same, plus runs that found it tied with their choice, or that tie with it here */
    int same_tie;
    int found_again;
    double median_regret, most_regret, median_over_reference;
};

/* again[i] is winner i, all measured in one race that none left. Winners that could not be
 * measured again have no samples, and runs that chose them do not count. `reference` is the
 * index of a kernel that is known to be good from elsewhere; -1: none. */
void gt_agree(struct gt_agreement *out, struct gt_agree_run *run, int runs,
              const struct gt_measurement *again, int winners, int reference);

#endif
