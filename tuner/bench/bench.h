/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench.h - tuned kernels against what a user would run instead, on one problem: both
 * verified on the problem's data, then timed in turn. In the process that owns the device;
 * tuner/bench/bench_run.h is the other side of it.
 */
#ifndef GT_TUNER_BENCH_BENCH_H
#define GT_TUNER_BENCH_BENCH_H

#include "core/device.h"
#include "core/outcome.h"
#include "tuner/work/proto.h"
#include "tuner/bench/rival.h"

#include <stdatomic.h>

struct gt_bench_options {
    const char *db;  /* NULL: the default one */
    unsigned rivals; /* bit i: gt_rivals[i] */
    int rounds;      /* at most GT_SAMPLES_MAX */
    /* of device time for the rounds of a line; six rounds there are always */
    double budget_s;
    double turn_s;    /* device time of a side before the other's turn; 0: one sample */
    double timeout_s; /* for a line; 0: from its size */
    uint64_t seed;
    /* told who is being called: i, gt_rivals[i]; -1, ours. NULL: nobody asks */
    atomic_int *at;
};

/* One side of a line. */
struct gt_bench_side {
    bool timed;                  /* it was right, and took part */
    gt_outcome outcome;          /* when it did not */
    struct gt_measurement time;  /* sample i is of round i */
    struct gt_measurement ratio; /* its time over ours, round by round */
    char what[GT_RIVAL_TEXT_MAX];
    char error[GT_VERDICT_TEXT_MAX]; /* why not; or what was left out of a choice; or "" */
};

struct gt_bench_line {
    struct gt_bench_side own, rival[GT_RIVALS];
    int best;                                   /* the fastest rival; -1 none */
    int dropped, clock_low_mhz, clock_high_mhz; /* 0 when unknown */
    bool fatal;                                 /* the next line wants a fresh process */
};

/* Why a rival that was asked for takes no part. */
struct gt_absence {
    bool foreign;                   /* it has nothing to do with such a device */
    char text[GT_VERDICT_TEXT_MAX]; /* "": it takes part, or was not asked for */
};

struct gt_bench;

/* Opens the device, ours, and of the rivals asked for those that are here. */
gt_status gt_bench_create(struct gt_bench **out, const struct gt_device *d,
                          const struct gt_bench_options *options,
                          struct gt_absence why[GT_RIVALS], struct gt_err *err);
void gt_bench_destroy(struct gt_bench *b);

/* Device time that the rounds of a line may take, seconds. */
double gt_bench_seconds(const struct gt_bench_options *o);

/* One problem against the rivals. What becomes of either side is in the line; a failure is
 * of whoever options.at says, since a rival may have lost the context or written where ours
 * reads. */
gt_status gt_bench_measure(struct gt_bench_line *out, struct gt_bench *b,
                           const gemmtune_problem *p, unsigned rivals, struct gt_err *err);

#endif
