/* SPDX-License-Identifier: Apache-2.0 */
/* bench_process.c - see bench_process.h. */
#define _DEFAULT_SOURCE /* for prctl's declaration on old C libraries */
#include "tuner/bench/bench_process.h"

#include "core/clock.h"
#include "tuner/base/child.h"
#include "tuner/base/cores.h"
#include "tuner/work/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    OPEN_SECONDS = 120, /* for opening a context, and libraries of half a gigabyte */
    LINE_SECONDS =
        60 /* for data and references on idle cores; launches have their own limit */
};

double gt_bench_line_seconds(const struct gt_bench_task *t, size_t i) {
    struct gt_job job;
    if (t->options->timeout_s > 0)
        return t->options->timeout_s;
    gt_job_init(&job, GT_JOB_FINAL, t->device, t->sweep->item[i].name);
    job.count = 2; /* sides */
    const double crowding = gt_cores_crowding();
    return LINE_SECONDS * crowding +
           gt_pool_launch_seconds(&job) * (t->device->is_cpu ? crowding : 1) +
           gt_bench_seconds(t->options);
}

double gt_bench_rival_seconds(const struct gt_bench_task *t, size_t i) {
    const double least = LINE_SECONDS / 3.0, budget = 20 * t->options->budget_s;
    struct gt_job job;
    if (t->options->timeout_s > 0)
        return t->options->timeout_s;
    gt_job_init(&job, GT_JOB_FINAL, t->device, t->sweep->item[i].name);
    return fmax(budget, least) + gt_pool_launch_seconds(&job) + t->options->turn_s;
}

static void prepare_child(pid_t parent) {
    gt_child_begin(parent, SIGKILL);
    /* `ps` tells it from the child that lists devices */
    (void)prctl(PR_SET_NAME, "gemmtune-bench");
    /* drivers print to stdout, which is for data */
    (void)dup2(STDERR_FILENO, STDOUT_FILENO);
}

gt_status gt_bench_process_start(struct gt_bench_process *out, gt_bench_job *job,
                                 struct gt_bench_task *t, struct gt_err *err) {
    int ends[2];
    if (pipe(ends) != 0)
        return gt_fail(err, GEMMTUNE_EIO, "cannot make a pipe: %s", strerror(errno));
    for (int i = 0; i < 2; i++) /* a compiler that a driver starts must not keep it open */
        (void)fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    (void)fflush(NULL); /* otherwise the child would write our buffered output too */
    const pid_t self = getpid();
    out->pid = fork();
    if (out->pid == 0) {
        prepare_child(self);
        (void)close(ends[0]);
        job(t, ends[1]);
        _exit(0); /* exit handlers of drivers and libraries may hang */
    }
    (void)close(ends[1]);
    out->from = ends[0];
    out->deadline = gt_seconds() + OPEN_SECONDS + gt_bench_line_seconds(t, t->first);
    if (out->pid > 0)
        return GEMMTUNE_OK;
    (void)close(ends[0]);
    return gt_fail(err, GEMMTUNE_EIO, "cannot start a process: %s", strerror(errno));
}

enum gt_bench_event gt_bench_process_receive(struct gt_bench_frame *f,
                                             const struct gt_bench_process *c,
                                             bool (*is_over)(void *user), void *user) {
    enum { PATIENCE_MS = 200 };
    size_t got = 0;
    while (got < sizeof *f) {
        struct pollfd wait = {.fd = c->from, .events = POLLIN};
        if (is_over(user))
            return GT_STOPPED;
        if (gt_seconds() > c->deadline)
            return GT_TIMED_OUT;
        if (poll(&wait, 1, PATIENCE_MS) <= 0)
            continue;
        const ssize_t n = read(c->from, (char *)f + got, sizeof *f - got);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return GT_CHILD_ENDED;
        got += (size_t)n;
    }
    return GT_GOT_FRAME;
}

void gt_bench_process_end(struct gt_bench_process *c, enum gt_bench_event last) {
    int state = 0;
    if (last != GT_CHILD_ENDED)
        (void)kill(c->pid, SIGKILL);
    (void)close(c->from);
    while (waitpid(c->pid, &state, 0) < 0 && errno == EINTR)
        ;
    if (WIFSIGNALED(state))
        snprintf(c->end, sizeof c->end, "ended by signal %d (%s)", WTERMSIG(state),
                 strsignal(WTERMSIG(state)));
    else
        snprintf(c->end, sizeof c->end, "exited with code %d", WEXITSTATUS(state));
}

gt_status gt_bench_process_failure(const struct gt_bench_frame *f, struct gt_err *err) {
    if (f->kind != GT_FRAME_FAILED)
        return gt_fail(err, GEMMTUNE_EDEVICE,
                       "the measuring process sent an invalid frame");
    return gt_fail(err,
                   f->failed.status != GEMMTUNE_OK ? f->failed.status : GEMMTUNE_EDEVICE,
                   "%.*s", GT_VERDICT_TEXT_MAX - 1, f->failed.text);
}
