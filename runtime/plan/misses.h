/* SPDX-License-Identifier: Apache-2.0 */
/*
 * misses.h - the log of misses: problems for which a program got a kernel by forecast. It
 * is written only when GEMMTUNE_MISSES names a file, and `gemmtune tune --from-misses`
 * reads it.
 *
 * A line is "<expected loss> <device key> <problem>", for example
 * "73 nvidia-h200-57d74f7c f32-nn-100x200x300". The loss is in thousandths, 1 or more. The
 * problem may contain blanks. A plan writes one line, so a problem that many processes ask
 * for has many lines. Each line is appended by one write, so that several processes may
 * share the file. A file of GT_MISSES_BYTES or more gets no more lines.
 */
#ifndef GT_RUNTIME_PLAN_MISSES_H
#define GT_RUNTIME_PLAN_MISSES_H

#include "core/problem/problem.h"

enum {
    GT_MISSES_BYTES = 1 << 20,
    GT_MISS_LOSS_MAX = 1000000, /* a larger loss is written as this */
};

/* Appends a line for the problem, if the user wants a log. A file that cannot be written
 * gets one line in the program's log. */
void gt_misses_note(const gemmtune_problem *p, const char *device_key,
                    double expected_loss);

#endif
