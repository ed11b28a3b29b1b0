/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ladder.h - one problem by every kind of kernel, from a CPU loop and the uncoalesced naive
 * kernel to the tuned best: the published tables, measured here and in one run.
 */
#ifndef GT_TUNER_TUNE_LADDER_H
#define GT_TUNER_TUNE_LADDER_H

#include "tuner/tune/tune.h"

enum gt_rung {
    GT_RUNG_CPU_LOOP,
    GT_RUNG_CPU_BLAS,
    GT_RUNG_NAIVE,     /* a warp runs down a column: uncoalesced */
    GT_RUNG_NAIVE_ROW, /* the same kernel, a warp along a row */
    GT_RUNG_COALESCED, /* from here on: the best point of the family */
    GT_RUNG_TILE,
    GT_RUNG_BLOCK,
    GT_RUNG_COLUMN,
    GT_RUNG_TUNED, /* the best of all families */
    GT_RUNGS
};
const char *gt_rung_name(enum gt_rung rung);

struct gt_ladder {
    gemmtune_problem problem;
    char name[GT_PROBLEM_NAME_MAX];
    struct {
        double ns;                                 /* 0: not measured */
        char how[GT_POINT_TEXT_MAX + GT_NAME_MAX]; /* "block BM=.. BN=..", a library, "" */
        char note[128];                            /* why it was not measured, or "" */
    } rung[GT_RUNGS];
};

/* Tunes the problem as far as it has not been, then measures the rungs interleaved. The CPU
 * loop is left out above `loop_volume` multiplications. */
gt_status gt_ladder_climb(struct gt_ladder *out, struct gt_tuner *t,
                          const struct gt_sweep_item *item, double seconds,
                          double loop_volume, struct gt_err *err);

#endif
