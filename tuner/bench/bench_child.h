/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_child.h - what a child of `bench` measures, and the frames in which it sends the
 * results to the parent. The child owns the device. It is forked, so it reads its task in
 * its copy of the parent's memory.
 */
#ifndef GT_TUNER_BENCH_BENCH_CHILD_H
#define GT_TUNER_BENCH_BENCH_CHILD_H

#include "tuner/base/sweep.h"
#include "tuner/bench/bench.h"
#include "tuner/bench/bench_errors.h"
#include "tuner/bench/bench_overhead.h"

struct gt_bench_task {
    const struct gt_device *device;
    const struct gt_bench_options *options;
    const struct gt_sweep *sweep;
    size_t first;    /* the line of the sweep to begin with */
    bool only_one;   /* end after this line */
    unsigned rivals; /* bit i: gt_rivals[i] takes part */
    bool with_floor; /* measure the noise floor, once for each row of dtype.h */
    bool has_floor[GT_DTYPES];
    struct gt_bench_active *active; /* options.active of the child, shared */
};

enum gt_bench_frame_kind {
    GT_FRAME_RIVALS,
    GT_FRAME_FLOOR,
    GT_FRAME_LINE,
    GT_FRAME_OVERHEAD,
    GT_FRAME_ERRORS,
    GT_FRAME_FAILED
};

struct gt_bench_frame {
    enum gt_bench_frame_kind kind;
    union {
        struct gt_absence why[GT_RIVALS];
        struct {
            size_t row; /* a row of dtype.h */
            double value;
        } floor;
        struct {
            struct gt_bench_line measured;
            gt_outcome outcome;
            char text[GT_VERDICT_TEXT_MAX]; /* "" when it was measured */
        } line;
        struct gt_overhead overhead;
        struct gt_errors errors;
        struct {
            gt_status status;
            char text[GT_VERDICT_TEXT_MAX];
        } failed;
    };
};

/* The work of a child, which sends its frames to the file descriptor `to`. The child exits
 * when the job returns. */
typedef void gt_bench_job(struct gt_bench_task *t, int to);

/* Sends a frame of rivals, then a frame for each line, some with a floor before it. */
gt_bench_job gt_bench_child_compare;
/* Opens the rivals of the options, and sends the frame of rivals alone. */
gt_bench_job gt_bench_child_rivals;
/* Each sends one frame about the first problem of the sweep. */
gt_bench_job gt_bench_child_overhead, gt_bench_child_errors;

#endif
