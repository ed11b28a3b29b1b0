/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_process.h - a child of `bench` as its parent sees it: starting it, receiving its
 * frames until a deadline, ending it. It is forked, not started as a new program: the
 * parent has no device, no library and no thread that it could inherit.
 */
#ifndef GT_TUNER_BENCH_BENCH_PROCESS_H
#define GT_TUNER_BENCH_BENCH_PROCESS_H

#include "tuner/bench/bench_child.h"

#include <sys/types.h>

struct gt_bench_process {
    pid_t pid;
    int from;        /* the descriptor that its frames come from */
    double deadline; /* on the clock of gt_seconds */
    char end[96];    /* "exited with code 0", once gt_bench_process_end has returned */
};

enum gt_bench_event { GT_GOT_FRAME, GT_CHILD_ENDED, GT_TIMED_OUT, GT_STOPPED };

/* Seconds that a rival may take at line `i` before it is another side's turn: to compile
 * its kernels, mostly. They follow the time for the rounds. */
double gt_bench_rival_seconds(const struct gt_bench_task *t, size_t i);
/* Seconds that the child may take for line `i` of its task, longer than the limits of its
 * launches. */
double gt_bench_line_seconds(const struct gt_bench_task *t, size_t i);

/* Starts a child that does the job. Its first frame is due after the time for opening the
 * device and for the task's first line. */
gt_status gt_bench_process_start(struct gt_bench_process *out, gt_bench_job *job,
                                 struct gt_bench_task *t, struct gt_err *err);
/* Waits for a whole frame, the end of the child, the deadline, or until `is_over` is true,
 * which is called a few times a second. */
enum gt_bench_event gt_bench_process_receive(struct gt_bench_frame *f,
                                             const struct gt_bench_process *c,
                                             bool (*is_over)(void *user), void *user);
/* Kills the child unless its last event was its own end, and waits for it. */
void gt_bench_process_end(struct gt_bench_process *c, enum gt_bench_event last);

/* The status and the sentence of a frame that is no result. */
gt_status gt_bench_process_failure(const struct gt_bench_frame *f, struct gt_err *err);

#endif
