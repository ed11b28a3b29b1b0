/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agree.h - what several independent runs of tuning say of one problem, once all their
 * winners have been measured together: whether they chose alike, what their choices cost,
 * whether the times they stored are found again. Numbers in, numbers out.
 */
#ifndef GT_TUNER_STUDY_AGREE_H
#define GT_TUNER_STUDY_AGREE_H

#include "core/outcome.h"

enum { GT_AGREE_RUNS_MAX = 23 };

/* One run: which of the distinct winners it chose, by number, and which it found tied with
 * it. */
struct gt_agree_run {
    int choice;    /* -1: it chose none */
    unsigned tied; /* bit i: the i-th winner, its own choice too */
    struct gt_measurement stored;
    /* filled by gt_agree */
    double regret;     /* its choice's time over the best's, less 1, round by round */
    double over_known; /* and over that of the best known, which it may be ahead of */
    bool found_again;  /* the new median lies in the stored interval */
};

struct gt_agreement {
    int runs;     /* that chose */
    int winners;  /* distinct choices */
    int same;     /* runs that chose the one that was chosen most often */
    int same_tie; /* or found it tied with their choice, or it is by these measurements */
    int found_again;
    double median_regret, most_regret, median_over_known;
};

/* again[i]: winner i, of one race in which all stayed. Those that could not be measured
 * again have no samples; runs that chose them count as none. One of them, `known`, may be
 * there because somebody knows it to be good; -1: none is. */
void gt_agree(struct gt_agreement *out, struct gt_agree_run *run, int runs,
              const struct gt_measurement *again, int winners, int known);

#endif
