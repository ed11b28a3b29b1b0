/* SPDX-License-Identifier: Apache-2.0 */
/* child.c - see child.h. */
#define _DEFAULT_SOURCE /* for prctl's declaration on old C libraries */
#include "tuner/base/child.h"

#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <unistd.h>

static const int to_groups[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};

void gt_child_begin(pid_t parent, int last) {
    sigset_t blocked;
    (void)sigemptyset(&blocked);
    for (size_t i = 0; i < sizeof to_groups / sizeof *to_groups; i++)
        (void)sigaddset(&blocked, to_groups[i]);
    (void)sigdelset(&blocked, last);
    (void)sigprocmask(SIG_SETMASK, &blocked, NULL);
    (void)signal(last, SIG_DFL);
    (void)prctl(PR_SET_PDEATHSIG, last);
    if (getppid() != parent) /* it died before the line above */
        _exit(0);
}
