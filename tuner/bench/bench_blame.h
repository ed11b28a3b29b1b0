/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_blame.h - which rivals are left out after a failure. A vendor's library may crash,
 * hang, lose the context or write where ours reads. So a failure is not blamed on ours
 * while a rival is in the process. When a line fails, it is begun again in a new process
 * without the rival that was active, or without all rivals when ours was active:
 * - The line succeeds: those rivals have lost it, and take part in the next line. A rival
 *   that has lost GT_BENCH_FAILURES_MAX lines in a row is dropped.
 * - The line fails again without a rival: ours is to blame, the line is reported as failed,
 *   and the next process begins with the next line.
 */
#ifndef GT_TUNER_BENCH_BENCH_BLAME_H
#define GT_TUNER_BENCH_BENCH_BLAME_H

#include "tuner/bench/bench.h"

/* Lines in a row: the rival is dropped, or the run fails. */
enum { GT_BENCH_FAILURES_MAX = 3 };

struct gt_bench_suspect {
    bool skips_line;             /* left out of this line, which failed with it */
    bool dropped;                /* left out of all lines that follow */
    int lost_lines;              /* in a row: lines that were measured only without it */
    struct gt_bench_side reason; /* for being left out */
};

/* Starts as zeros, with `requested` set. */
struct gt_bench_blame {
    unsigned requested; /* bit i: gt_rivals[i] */
    struct gt_bench_suspect rival[GT_RIVALS];
};

/* The rivals that take part in the present line: bit i is gt_rivals[i]. */
unsigned gt_bench_blame_present(const struct gt_bench_blame *x);
bool gt_bench_blame_any_skips(const struct gt_bench_blame *x);

/* Takes a failure of the present line while rivals were present. Leaves out the rival that
 * was active (its index in gt_rivals), or all present ones when ours was (-1). */
void gt_bench_blame_rivals(struct gt_bench_blame *x, int active,
                           const struct gt_bench_line *line, gt_outcome outcome,
                           const char *text);
/* Ends the line for the rivals that were left out of it, and puts their reasons into it.
 * `failed`: the line failed without them too. */
void gt_bench_blame_settle(struct gt_bench_line *line, struct gt_bench_blame *x,
                           bool failed);

#endif
