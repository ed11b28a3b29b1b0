/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ladder.h - one problem by every kind of kernel, from a loop on the CPU to the tuned best.
 * It gives the published tables, measured here and in one run.
 *
 * The rungs from below:
 * - a loop and a BLAS on the CPU,
 * - the "rungs" of the families, the family with the highest rank first,
 * - in the same order, the other families that the search tried for the problem,
 * - the winner of the search, which its finals have decided. Another rung may be faster
 *   here; then there is a remark.
 */
#ifndef GT_TUNER_TUNE_LADDER_H
#define GT_TUNER_TUNE_LADDER_H

#include "tuner/tune/tune.h"

enum { GT_LADDER_MAX = 24 }; /* rungs; a job must have room for as many points */

struct gt_ladder_rung {
    char name[GT_RUNG_NAME_MAX];
    bool on_device;
    double ns; /* 0: not measured */
    /* "block BM=.. BN=..", a library's name, or "" */
    char how[GT_POINT_TEXT_MAX + GT_NAME_MAX];
    char note[128]; /* why it was not measured, or "" */
};

struct gt_ladder {
    gemmtune_problem problem;
    char name[GT_PROBLEM_NAME_MAX];
    int count;
    int baseline; /* the rung that speed-ups are relative to; -1: there is none */
    struct gt_ladder_rung rung[GT_LADDER_MAX];
    char remark[192]; /* about a rung that is faster than the tuned kernel's; or "" */
};

/* Makes the rungs that every problem's ladder has, without measuring them. Rungs beyond
 * GT_LADDER_MAX are left out. */
void gt_ladder_init(struct gt_ladder *out, const struct gt_families *families);

/* Tunes the problem, unless that is done, and then measures the rungs in turn. The CPU loop
 * is left out above `loop_volume` multiplications. */
gt_status gt_ladder_climb(struct gt_ladder *out, struct gt_tuner *t,
                          const struct gt_sweep_item *item, double seconds,
                          double loop_volume, struct gt_err *err);

/* Fills in the remark. Rung i was measured as result at[i]; -1: it was not. */
void gt_ladder_remark(struct gt_ladder *l, const int at[], const struct gt_report *report);

#endif
