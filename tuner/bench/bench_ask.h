/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_ask.h - asks a child about one problem, or the rivals; the child answers with one
 * result. The caller never touches a device. `stopped` is called a few times a second: true
 * ends the child. It may be NULL.
 */
#ifndef GT_TUNER_BENCH_BENCH_ASK_H
#define GT_TUNER_BENCH_BENCH_ASK_H

#include "tuner/bench/bench.h"
#include "tuner/bench/bench_errors.h"
#include "tuner/bench/bench_overhead.h"

/* Opens the rivals: why[i] has the version of gt_rivals[i], or why it is missing. The texts
 * end with a NUL. */
gt_status gt_bench_ask_rivals(struct gt_absence why[GT_RIVALS], const struct gt_device *d,
                              const struct gt_bench_options *options,
                              const gemmtune_problem *p, bool (*stopped)(void),
                              struct gt_err *err);
/* Measures the host time of calls; see bench_overhead.h. */
gt_status gt_bench_ask_overhead(struct gt_overhead *out, const struct gt_device *d,
                                const struct gt_bench_options *options,
                                const gemmtune_problem *p, bool (*stopped)(void),
                                struct gt_err *err);
/* Measures times and errors; see bench_errors.h. */
gt_status gt_bench_ask_errors(struct gt_errors *out, const struct gt_device *d,
                              const struct gt_bench_options *options,
                              const gemmtune_problem *p, bool (*stopped)(void),
                              struct gt_err *err);

#endif
