/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process.h - one process of ours: this program again, started, spoken to over two pipes,
 * ended. The text that libraries in a worker print stays with it and is shown only when it
 * dies of itself: a compiler's "1 error generated." about a candidate is in the candidate's
 * outcome already.
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
    FILE *said;  /* what it printed since its last job; NULL: that is printed at once */
    bool killed; /* by us */
    int code;    /* once it has ended: its exit code, or 128 and the signal */
};

struct gt_process_setup {
    const char *command;     /* of this program: "worker" */
    const char *const *word; /* of its command line, after the two descriptors */
    int words;
    const struct gt_core_set *cores; /* as for gt_cores_keep */
    bool aloud; /* what it prints, to stdout as well, goes to our stderr at once */
};

/* The process begins as gt_child_begin says. A process that is aloud obeys SIGTERM, and
 * gets it when the program is gone: it stores first what it has measured. */
gt_status gt_process_start(struct gt_process *p, const struct gt_process_setup *setup,
                           struct gt_err *err);
/* Call after a job that ended well. Drops what the process printed during it, except
 * gemmtune's own log lines, which go to stderr. */
void gt_process_hush(struct gt_process *p);
void gt_process_kill(struct gt_process *p);
/* Seconds that cores have worked for it since it was started, each core's for itself. */
double gt_process_worked(const struct gt_process *p);
/* Ends it, after a twentieth of a second of grace by force, and says how it ended: "was
 * ended by signal 11 (Segmentation fault)". One that was not started "was stopped". True
 * when somebody else killed it: SIGKILL is never a kernel's doing, but a user's, or the
 * system's when memory is short. Of *p all is 0 then but the code. */
bool gt_process_end(struct gt_process *p, char how[96]);

#endif
