/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_overhead.h - the host time of a call: of our library, of the driver alone with the
 * same kernels and arguments, and of the vendors' libraries.
 */
#ifndef GT_TUNER_BENCH_BENCH_OVERHEAD_H
#define GT_TUNER_BENCH_BENCH_OVERHEAD_H

#include "tuner/bench/bench.h"

/* From GT_CALL_RIVAL on: gt_rivals in their order. */
enum {
    GT_CALL_LAUNCH,  /* the driver's own calls for the plan's kernels */
    GT_CALL_EXECUTE, /* gemmtune_execute with a plan */
    GT_CALL_GEMM,    /* gemmtune_gemm, with its plan in the cache */
    GT_CALL_RIVAL,
    GT_CALLS = GT_CALL_RIVAL + GT_RIVALS
};
const char *gt_call_name(int call);

/* Host time in nanoseconds: median and a 95 % interval. */
struct gt_cost {
    double median_ns, low_ns, high_ns;
};

struct gt_overhead {
    int launches;                 /* kernels that one call of ours launches; 0 unknown */
    char what[GT_RIVAL_TEXT_MAX]; /* name of our kernel */
    bool asked[GT_CALLS];
    /* why a requested call was not measured, or "" */
    char why[GT_CALLS][GT_VERDICT_TEXT_MAX];
    struct gt_cost cost[GT_CALLS];  /* from call to return */
    struct gt_cost above[GT_CALLS]; /* difference to the launch of the same turn */
};

/* Whether the call was measured. */
bool gt_call_counts(const struct gt_overhead *o, int call);

/* Runs in the process that owns the device. */
gt_status gt_overhead_measure(struct gt_overhead *out, const struct gt_device *d,
                              const struct gt_bench_options *options,
                              const gemmtune_problem *p, struct gt_err *err);

#endif
