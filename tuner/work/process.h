/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process.h - one worker process: this program, started again, which gets jobs and sends
 * reports over two pipes. The output of the libraries in it is kept, and shown only when it
 * dies by itself: a compiler's "1 error generated." about a candidate is already in the
 * candidate's outcome.
 */
#ifndef GT_TUNER_WORK_PROCESS_H
#define GT_TUNER_WORK_PROCESS_H

#include "core/text.h"
#include "tuner/base/cores.h"

#include <stdio.h>
#include <sys/types.h>

struct gt_process {
    pid_t pid; /* 0: not started */
    int to, from;
    /* its output since its last job; NULL: it goes to the terminal at once */
    FILE *output;
    bool killed; /* killed by us */
};

/* `cores`: see gt_cores_keep. */
gt_status gt_process_start(struct gt_process *p, const struct gt_texts *templates,
                           const struct gt_core_set *cores, struct gt_err *err);
/* Drops the output of a job that ended well, but prints our own log lines in it. */
void gt_process_drop_output(struct gt_process *p);
void gt_process_kill(struct gt_process *p);
/* Ends the process: it gets a twentieth of a second, then SIGKILL. `how` gets the way it
 * ended: "was ended by signal 11 (Segmentation fault)", or "was stopped" when it was never
 * started. True when another program killed it: SIGKILL never comes from a kernel, but from
 * a user, or from the system when memory is short. */
bool gt_process_end(struct gt_process *p, char how[96]);

#endif
