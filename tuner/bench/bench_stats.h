/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_stats.h - evaluates the times of two sides: a verdict, and means over classes of
 * shapes. No device, no file.
 */
#ifndef GT_TUNER_BENCH_BENCH_STATS_H
#define GT_TUNER_BENCH_BENCH_STATS_H

#include "core/device.h"
#include "core/outcome.h"
#include "core/problem/problem.h"

enum { GT_SHAPE_CLASSES = 7 };
/* "small", "deep" ...: the first class in the table that the shape fits, and its index. */
const char *gt_shape_class(const gemmtune_problem *p);
size_t gt_shape_class_index(const gemmtune_problem *p);
/* Name and meaning of class i in the table's order; NULL after the last one. */
const char *gt_shape_class_at(size_t i, const char **about);

/* With an interval of the ratio wider than this factor there is no verdict. */
#define GT_RATIO_SPAN_MAX 1.5

const char *gt_verdict_word(enum gt_verdict v); /* "" "win" "tie" "loss" "noisy" */
/* Noisy when the ratio's interval spans more than GT_RATIO_SPAN_MAX; a tie when the
 * interval comes within the floor of 1. The intervals of the two times do not matter: both
 * sides follow the clock, and when it wanders they overlap whatever the ratio is. */
enum gt_verdict gt_verdict_of(const struct gt_measurement *ratio, double floor);

struct gt_tally {
    int wins, ties, losses;
    int noisy;   /* not among the above, nor in the mean */
    double logs; /* sum of the logarithms of the ratios */
};
void gt_tally_add(struct gt_tally *t, enum gt_verdict v, double ratio);
/* The number of wins, ties and losses. */
int gt_tally_count(const struct gt_tally *t);
double gt_tally_geomean(const struct gt_tally *t); /* 0 when empty */

/* The least time that peak arithmetic and a single transfer of A, B and C allow; 0 when
 * unknown. */
double gt_roofline_ns(const gemmtune_problem *p, const struct gt_device *d);

#endif
