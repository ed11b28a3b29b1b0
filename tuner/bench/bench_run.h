/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_run.h - compares many problems in a process of its own, so that a crash or hang of
 * a vendor's library costs one line. The caller never touches a device.
 */
#ifndef GT_TUNER_BENCH_BENCH_RUN_H
#define GT_TUNER_BENCH_BENCH_RUN_H

#include "tuner/bench/bench.h"
#include "tuner/base/sweep.h"

/* Functions that are called as results arrive. */
struct gt_bench_listener {
    void *user;
    /* Called once, first: `why` has an entry for each of gt_rivals. False ends the run. */
    bool (*rivals)(void *user, const struct gt_absence *why);
    /* Called before the first line of each row of dtype.h: how far our kernel's ratio to
     * itself is from 1. `row` is the row's index. */
    void (*floor)(void *user, size_t row, double floor);
    /* Called for each item of the sweep, in order. `text` is NULL when it was measured,
     * else it and `outcome` give the reason. */
    void (*line)(void *user, size_t index, const struct gt_bench_line *line,
                 gt_outcome outcome, const char *text);
    /* Called once when a rival has been busy for some seconds without another side's turn:
     * it compiles its kernels, mostly. `limit_s` is when it is left out. May be NULL. */
    void (*waiting)(void *user, size_t index, const struct gt_rival *rival, double limit_s);
    /* Called a few times a second: true ends the run. May be NULL. */
    bool (*stopped)(void);
};

/* With `with_floor`, our kernel first runs against itself, once for each row of types. An
 * error: opening the device or our library failed, or three lines in a row. */
gt_status gt_bench_run(const struct gt_device *d, const struct gt_bench_options *options,
                       const struct gt_sweep *sweep, bool with_floor,
                       const struct gt_bench_listener *on, struct gt_err *err);

#endif
