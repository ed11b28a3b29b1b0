/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_overhead.h - what a call costs the host: of our library, of the driver alone with
 * the same kernels and arguments, and of the vendors' libraries.
 */
#ifndef GT_TUNER_BENCH_BENCH_OVERHEAD_H
#define GT_TUNER_BENCH_BENCH_OVERHEAD_H

#include "tuner/bench/bench.h"

/* From GT_CALL_RIVAL on, gt_rivals in their order. */
enum {
    GT_CALL_LAUNCH,  /* the driver's own calls for the kernels that the plan launches */
    GT_CALL_EXECUTE, /* gemmtune_execute with a plan */
    GT_CALL_GEMM,    /* gemmtune_gemm, whose plan is remembered */
    GT_CALL_RIVAL,
    GT_CALLS = GT_CALL_RIVAL + GT_RIVALS
};
const char *gt_call_name(int call);

/* Nanoseconds of the host: median and a 95 % interval. */
struct gt_cost {
    double median_ns, low_ns, high_ns;
};

struct gt_overhead {
    int launches;                 /* kernels that one call of ours launches; 0 unknown */
    char what[GT_RIVAL_TEXT_MAX]; /* which kernel of ours */
    bool asked[GT_CALLS];
    char why[GT_CALLS][GT_VERDICT_TEXT_MAX]; /* asked for and not measured; else "" */
    struct gt_cost cost[GT_CALLS];           /* from call to return */
    struct gt_cost above[GT_CALLS];          /* above the launch of the same turn */
};

/* Whether the call was measured. */
bool gt_call_counts(const struct gt_overhead *o, int call);

/* In the process that owns the device. */
gt_status gt_overhead_measure(struct gt_overhead *out, const struct gt_device *d,
                              const struct gt_bench_options *options,
                              const gemmtune_problem *p, struct gt_err *err);

#endif
