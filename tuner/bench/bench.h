/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench.h - compares tuned kernels with the libraries that a user would otherwise call, on
 * one problem: all are verified on the problem's data and then timed in turn. It runs in
 * the process that owns the device; tuner/bench/bench_run.h is the parent's side.
 */
#ifndef GT_TUNER_BENCH_BENCH_H
#define GT_TUNER_BENCH_BENCH_H

#include "core/device.h"
#include "core/outcome.h"
#include "tuner/work/proto.h"
#include "tuner/bench/rival.h"

#include <stdatomic.h>

/* The side that runs, which is to blame if the process dies. The child writes it, the
 * parent reads it. */
struct gt_bench_active {
    atomic_int who;        /* index in gt_rivals, or -1 for ours */
    atomic_uint entrances; /* how often a side began */
};

/* The options when nothing else is said. */
enum { GT_BENCH_ROUNDS = 21, GT_BENCH_BUDGET_S = 5 };

struct gt_bench_options {
    const char *db;  /* NULL: the default one */
    unsigned rivals; /* bit i: gt_rivals[i] */
    int rounds;      /* at most GT_SAMPLES_MAX */
    /* device time for the rounds of a line; at least six rounds are made */
    double budget_s;
    /* device time of a side before it is the other's turn; 0: one sample */
    double turn_s;
    double timeout_s; /* for a line; 0: depends on its size */
    double workspace; /* bytes of each side; INFINITY: as gt_bench_workspace.limit says */
    uint64_t seed;
    enum gt_spread spread;          /* of timed rows */
    struct gt_bench_active *active; /* may be NULL */
};

/* One side of a line. */
struct gt_bench_side {
    bool timed;                  /* it was correct and took part */
    gt_outcome outcome;          /* set when it did not take part */
    struct gt_measurement time;  /* sample i is of round i */
    struct gt_measurement ratio; /* its time over ours, round by round */
    double first_s;              /* as of gt_rival; 0: not known */
    char what[GT_RIVAL_TEXT_MAX];
    /* the reason for not taking part, or for leaving out the last such variant; or "" */
    char error[GT_VERDICT_TEXT_MAX];
    int wrong; /* number of variants with wrong results */
    /* The time of variant 0, which programs get by default, if its result was wrong by our
     * bound; 0: it was right, or could not be timed. A short measurement. */
    double wrong_default_ns;
};

struct gt_bench_line {
    struct gt_bench_side own, rival[GT_RIVALS];
    struct gt_candidate kernel;                 /* of our own side, if it was timed */
    int64_t workspace;                          /* bytes that each side had */
    int best;                                   /* index of the fastest rival; -1: none */
    int dropped, clock_low_mhz, clock_high_mhz; /* 0 when unknown */
    bool fatal;                                 /* the next line needs a fresh process */
};

/* The reason why a requested rival takes no part, or the version of one that does. */
struct gt_absence {
    bool foreign;                   /* it does not serve this kind of device */
    int version;                    /* as of gt_rival; 0: it has none, or takes no part */
    char text[GT_VERDICT_TEXT_MAX]; /* "": it takes part, or was not requested */
};

struct gt_bench;

/* Opens the device, our library, and the requested rivals that are available, until the
 * process ends. */
gt_status gt_bench_create(struct gt_bench **out, const struct gt_device *d,
                          const struct gt_bench_options *options,
                          struct gt_absence why[GT_RIVALS], struct gt_err *err);

/* Device time in seconds that the rounds of a line may take. */
double gt_bench_seconds(const struct gt_bench_options *o);

/* Compares one problem with the rivals. Failures of a side are in the line. An error is the
 * fault of the side in options.active, since a rival may have lost the context or written
 * where ours reads. */
gt_status gt_bench_measure(struct gt_bench_line *out, struct gt_bench *b,
                           const gemmtune_problem *p, unsigned rivals, struct gt_err *err);

#endif
