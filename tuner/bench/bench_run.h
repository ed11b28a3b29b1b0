/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_run.h - a comparison over many problems, in a process of its own: a vendor's
 * library that crashes or hangs costs the line it was at. The caller never touches a
 * device.
 */
#ifndef GT_TUNER_BENCH_BENCH_RUN_H
#define GT_TUNER_BENCH_BENCH_RUN_H

#include "tuner/bench/bench.h"
#include "tuner/bench/bench_overhead.h"
#include "tuner/base/sweep.h"

/* What is heard as it happens. */
struct gt_bench_listener {
    void *user;
    /* Once, first: of each of gt_rivals. False ends the run. */
    bool (*rivals)(void *user, const struct gt_absence *why);
    /* Before the first line with a row of dtype.h: how far our kernel's ratio to itself
     * lies from 1. `row`: the row's index. */
    void (*floor)(void *user, size_t row, double floor);
    /* Of the sweep's item `index`, in order. `text` NULL: measured; else why not, and
     * `outcome`. */
    void (*line)(void *user, size_t index, const struct gt_bench_line *line,
                 gt_outcome outcome, const char *text);
    /* Asked a few times a second: true ends the run. May be NULL: never. */
    bool (*stopped)(void);
};

/* With `with_floor` our kernel runs against itself first, once a row of types. A failure is
 * one of opening the device or our library, or of three lines in a row. */
gt_status gt_bench_run(const struct gt_device *d, const struct gt_bench_options *options,
                       const struct gt_sweep *sweep, bool with_floor,
                       const struct gt_bench_listener *on, struct gt_err *err);

/* Host time of a call; see bench_overhead.h. `stopped` as above. */
gt_status gt_bench_run_overhead(struct gt_overhead *out, const struct gt_device *d,
                                const struct gt_bench_options *options,
                                const gemmtune_problem *p, bool (*stopped)(void),
                                struct gt_err *err);

#endif
