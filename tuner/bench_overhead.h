/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_overhead.h - what a call costs the host: of our library, of the driver alone with the same
 * kernels and arguments, and of cuBLAS.
 */
#ifndef GT_TUNER_BENCH_OVERHEAD_H
#define GT_TUNER_BENCH_OVERHEAD_H

#include "tuner/bench.h"

enum gt_call_kind {
    GT_CALL_LAUNCH, /* the driver's launch of the kernels that the plan launches; CUDA only */
    GT_CALL_EXECUTE, /* gemmtune_execute with a plan */
    GT_CALL_GEMM,    /* gemmtune_gemm, whose plan is remembered */
    GT_CALL_CUBLAS,  /* cublasSgemm; f32 only */
    GT_CALLS
};
const char *gt_call_name(enum gt_call_kind kind);

/* Median nanoseconds from call to return; 0: not measured, and why not. */
struct gt_overhead {
    int launches; /* kernels that one call of ours launches */
    double ns[GT_CALLS];
    char why[GT_CALLS][GT_VERDICT_TEXT_MAX];
};

/* In the process that owns the device. */
gt_status gt_overhead_measure(struct gt_overhead *out, const struct gt_device *d,
                              const struct gt_bench_options *options,
                              const gemmtune_problem *p, struct gt_err *err);

#endif
