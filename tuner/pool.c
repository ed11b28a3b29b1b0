/* SPDX-License-Identifier: Apache-2.0 */
/* pool.c - see pool.h. Every way in which a worker can end goes through retire(). */
#include "tuner/pool.h"

#include "core/io.h"
#include "tuner/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    WORKERS_MAX = 33,      /* one that runs, 32 that compile */
    PREPARE_SECONDS = 300, /* opening a device, references of large problems */
    COMPILE_SECONDS = 60,  /* for one candidate */
};

struct worker {
    pid_t pid; /* 0: not started */
    int to, from;
    bool busy;
    enum gt_stage stage;
    double deadline; /* by monotonic clock, for the present stage */
    struct gt_job job;
    struct gt_report report; /* the next one, of which `heard` bytes have come */
    size_t heard;
};

struct gt_pool {
    struct gt_pool_setup setup;
    int count; /* worker[0] runs, the others compile */
    struct worker worker[WORKERS_MAX];
};

/* ---- starting and ending a worker ---- */

static void child(int in, int out, const struct gt_texts *templates) {
    char *argv[4 + 2 * GT_TEXTS_MAX];
    char in_text[16], out_text[16];
    int n = 0;
    snprintf(in_text, sizeof in_text, "%d", in);
    snprintf(out_text, sizeof out_text, "%d", out);
    union {
        const char *text;
        char *arg;
    } cast;
    const char *const fixed[4] = {"gemmtune", "worker", in_text, out_text};
    for (int i = 0; i < 4; i++) {
        cast.text = fixed[i];
        argv[n++] = cast.arg;
    }
    for (int i = 0; templates && i < templates->count && n + 1 < 4 + 2 * GT_TEXTS_MAX;
         i++) {
        cast.text = templates->text[i];
        argv[n++] = cast.arg;
    }
    argv[n] = NULL;
    (void)fcntl(in, F_SETFD, 0);
    (void)fcntl(out, F_SETFD, 0);
    /* Signals often go to the whole group; the parent decides when a trial ends. */
    const int ignored[] = {SIGINT, SIGTERM, SIGUSR1};
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        (void)signal(ignored[i], SIG_IGN);
    const char *self = getenv("GEMMTUNE_SELF"); /* a test program stands in for us */
    execv(self ? self : "/proc/self/exe", argv);
    _exit(127);
}

static gt_status start(struct gt_pool *p, struct worker *w, struct gt_err *err) {
    int job_pipe[2], report_pipe[2];
    if (pipe(job_pipe) != 0)
        return gt_fail(err, GEMMTUNE_EDEVICE, "cannot make a pipe: %s", strerror(errno));
    if (pipe(report_pipe) != 0) {
        close(job_pipe[0]);
        close(job_pipe[1]);
        return gt_fail(err, GEMMTUNE_EDEVICE, "cannot make a pipe: %s", strerror(errno));
    }
    const int ends[4] = {job_pipe[0], job_pipe[1], report_pipe[0], report_pipe[1]};
    for (int i = 0; i < 4; i++)
        (void)fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    const pid_t pid = fork();
    if (pid == 0)
        child(job_pipe[0], report_pipe[1], p->setup.templates);
    close(job_pipe[0]);
    close(report_pipe[1]);
    if (pid < 0) {
        close(job_pipe[1]);
        close(report_pipe[0]);
        return gt_fail(err, GEMMTUNE_EDEVICE, "cannot start a worker: %s", strerror(errno));
    }
    w->pid = pid;
    w->to = job_pipe[1];
    w->from = report_pipe[0];
    w->busy = false;
    w->heard = 0;
    return GEMMTUNE_OK;
}

/* Ends the process and says how it ended: "signal 11 (Segmentation fault)". */
static void retire(struct worker *w, char how[96]) {
    int state = 0;
    snprintf(how, 96, "was stopped");
    if (w->pid == 0)
        return;
    close(w->to);
    close(w->from);
    if (waitpid(w->pid, &state, WNOHANG) == 0) {
        /* a moment for one that is already on its way out, so that its own end is what we see */
        const struct timespec moment = {.tv_nsec = 50 * 1000 * 1000};
        nanosleep(&moment, NULL);
        if (waitpid(w->pid, &state, WNOHANG) == 0) {
            kill(w->pid, SIGKILL);
            while (waitpid(w->pid, &state, 0) < 0 && errno == EINTR)
                ;
        }
    }
    if (WIFSIGNALED(state))
        snprintf(how, 96, "was ended by signal %d (%s)", WTERMSIG(state),
                 strsignal(WTERMSIG(state)));
    else if (WIFEXITED(state))
        snprintf(how, 96, "exited with code %d", WEXITSTATUS(state));
    w->pid = 0;
    w->busy = false;
}

gt_status gt_pool_create(struct gt_pool **out, const struct gt_pool_setup *setup,
                         struct gt_err *err) {
    struct gt_pool *p = calloc(1, sizeof *p);
    *out = p;
    if (!p)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for the worker processes");
    p->setup = *setup;
    p->count =
        1 + (setup->compilers < WORKERS_MAX - 1 ? setup->compilers : WORKERS_MAX - 1);
    signal(SIGPIPE, SIG_IGN); /* a dead worker's pipe is an error of write, not our end */
    return GEMMTUNE_OK;
}

void gt_pool_destroy(struct gt_pool *p) {
    char how[96];
    if (!p)
        return;
    for (int i = 0; i < p->count; i++)
        if (p->worker[i].pid && p->worker[i].busy)
            kill(p->worker[i].pid, SIGKILL);
    for (int i = 0; i < p->count; i++)
        retire(&p->worker[i], how);
    free(p);
}

/* ---- jobs ---- */

static struct worker *idle_compiler(struct gt_pool *p) {
    for (int i = 1; i < p->count; i++)
        if (!p->worker[i].busy)
            return &p->worker[i];
    return NULL;
}

bool gt_pool_can_run(const struct gt_pool *p) {
    return !p->worker[0].busy;
}

bool gt_pool_can_compile(const struct gt_pool *p) {
    for (int i = 1; i < p->count; i++)
        if (!p->worker[i].busy)
            return true;
    return false;
}

/* Generous: ten seconds, and twenty times what a slow kernel (100 GFLOP/s on a GPU, 0.2 a unit on
 * a CPU) takes for the dozen launches of a trial. A hang costs so much, a slow kernel never does.
 * OpenCL drivers may go on compiling at the first launch, PoCL for many seconds. */
double gt_pool_launch_seconds(const struct gt_job *job) {
    gemmtune_problem problem;
    const double base = job->device.backend == GEMMTUNE_OPENCL ? 30 : 10;
    if (gt_problem_from_name(&problem, job->problem, NULL))
        return base;
    const double rate = job->device.is_cpu ? 2e8 * fmax(job->device.units, 1) : 1e11;
    return fmax(job->count, 1) * (base + 20 * gt_problem_flops(&problem) / rate);
}

static double stage_seconds(const struct gt_pool *p, const struct worker *w) {
    switch (w->stage) {
    case GT_STAGE_PREPARING:
        return PREPARE_SECONDS + gt_pool_launch_seconds(&w->job);
    case GT_STAGE_COMPILING:
        return COMPILE_SECONDS * fmax(w->job.count, 1);
    default:
        return p->setup.timeout_s > 0 ? p->setup.timeout_s * fmax(w->job.count, 1)
                                      : gt_pool_launch_seconds(&w->job);
    }
}

static void enter(struct gt_pool *p, struct worker *w, enum gt_stage stage) {
    w->stage = stage;
    w->deadline = gt_seconds() + stage_seconds(p, w);
}

gt_status gt_pool_send(struct gt_pool *p, const struct gt_job *job, struct gt_err *err) {
    struct worker *w = job->kind == GT_JOB_COMPILE ? idle_compiler(p) : &p->worker[0];
    gt_status status = GEMMTUNE_OK;
    char how[96];
    if (!w || w->busy)
        return gt_fail(err, GEMMTUNE_EINVAL, "the worker is busy");
    /* one that died while idle is found out here, and replaced once */
    for (int attempt = 0; !status && attempt < 2; attempt++) {
        if (w->pid == 0)
            status = start(p, w, err);
        if (!status && gt_write_all(w->to, job, sizeof *job)) {
            w->job = *job;
            w->busy = true;
            enter(p, w,
                  job->kind == GT_JOB_COMPILE ? GT_STAGE_COMPILING : GT_STAGE_PREPARING);
            return GEMMTUNE_OK;
        }
        retire(w, how);
    }
    return status ? status : gt_fail(err, GEMMTUNE_EDEVICE, "the worker process %s", how);
}

/* ---- events ---- */

static void blame(struct gt_event *out, const struct worker *w, gt_outcome outcome,
                  const char *text) {
    out->kind = w->job.kind;
    /* before anything of the candidate ran, it is not the candidate's doing */
    const bool ours = w->stage == GT_STAGE_PREPARING;
    gt_report_init(&out->report, w->job.id, ours ? GT_STAGE_FAILED : GT_STAGE_DONE);
    out->report.status = GEMMTUNE_EDEVICE;
    snprintf(out->report.error, sizeof out->report.error, "%s", text);
    out->report.count = w->job.count;
    for (int i = 0; i < w->job.count; i++) {
        out->report.result[i].outcome = outcome;
        out->report.result[i].registers = out->report.result[i].spill_bytes = -1;
        out->report.result[i].smem_bytes = -1;
        snprintf(out->report.result[i].error, sizeof out->report.result[i].error, "%s",
                 text);
    }
}

static const char *doing(const struct worker *w) {
    return w->stage == GT_STAGE_PREPARING   ? "preparing"
           : w->stage == GT_STAGE_COMPILING ? "compiling"
                                            : "running";
}

static void died(struct gt_event *out, struct worker *w) {
    char how[96], text[160];
    struct worker was = *w;
    retire(w, how);
    snprintf(text, sizeof text, "the worker %s while %s", how, doing(&was));
    blame(out, &was, GT_CRASHED, text);
}

static void overdue(struct gt_event *out, struct gt_pool *p, struct worker *w) {
    char how[96], text[160];
    struct worker was = *w;
    kill(w->pid, SIGKILL);
    retire(w, how);
    snprintf(text, sizeof text, "still %s after %.3g s", doing(&was),
             stage_seconds(p, &was));
    blame(out, &was, GT_TIMEOUT, text);
}

/* Reads what there is: one that is stopped inside a frame must not hold us up. True when the job
 * ended with it. */
static bool hear(struct gt_event *out, struct gt_pool *p, struct worker *w) {
    char how[96];
    const ssize_t n =
        read(w->from, (char *)&w->report + w->heard, sizeof w->report - w->heard);
    if (n < 0 && errno == EINTR)
        return false;
    if (n > 0 && (w->heard += (size_t)n) < sizeof w->report)
        return false;
    if (n <= 0 || !gt_report_sound(&w->report) || w->report.id != w->job.id) {
        died(out, w);
        return true;
    }
    out->report = w->report;
    w->heard = 0;
    if (out->report.stage != GT_STAGE_DONE && out->report.stage != GT_STAGE_FAILED) {
        enter(p, w, out->report.stage);
        return false;
    }
    if (out->report.stage == GT_STAGE_DONE && w->job.kind != GT_JOB_PREPARE &&
        out->report.count != w->job.count) {
        died(out, w);
        return true;
    }
    out->kind = w->job.kind;
    w->busy = false;
    bool fatal = out->report.stage == GT_STAGE_FAILED;
    for (int i = 0; i < out->report.count; i++)
        fatal = fatal || out->report.result[i].fatal;
    if (fatal)
        retire(w, how);
    return true;
}

static double until_next_deadline(const struct gt_pool *p, double seconds) {
    double t = seconds;
    for (int i = 0; i < p->count; i++)
        if (p->worker[i].busy)
            t = fmin(t, p->worker[i].deadline - gt_seconds());
    return t < 0 ? 0 : t;
}

static bool find_overdue(struct gt_event *out, struct gt_pool *p) {
    for (int i = 0; i < p->count; i++)
        if (p->worker[i].busy && gt_seconds() > p->worker[i].deadline) {
            overdue(out, p, &p->worker[i]);
            return true;
        }
    return false;
}

gt_status gt_pool_wait(bool *got, struct gt_event *out, struct gt_pool *p, double seconds,
                       struct gt_err *err) {
    struct pollfd fds[WORKERS_MAX];
    int who[WORKERS_MAX], n = 0;
    *got = false;
    for (int i = 0; i < p->count; i++)
        if (p->worker[i].busy) {
            fds[n] = (struct pollfd){.fd = p->worker[i].from, .events = POLLIN};
            who[n++] = i;
        }
    const int ms = (int)(until_next_deadline(p, seconds) * 1e3) + 1;
    const int ready = poll(fds, (nfds_t)n, ms);
    if (ready < 0 && errno != EINTR)
        return gt_fail(err, GEMMTUNE_EDEVICE, "cannot wait for the workers: %s",
                       strerror(errno));
    for (int i = 0; ready > 0 && i < n && !*got; i++)
        if (fds[i].revents)
            *got = hear(out, p, &p->worker[who[i]]);
    if (!*got)
        *got = find_overdue(out, p);
    return GEMMTUNE_OK;
}

gt_status gt_pool_refresh(struct gt_pool *p, struct gt_err *err) {
    char how[96];
    if (p->worker[0].busy)
        return gt_fail(err, GEMMTUNE_EINVAL, "the run worker is busy");
    retire(&p->worker[0], how);
    return GEMMTUNE_OK;
}

gt_status gt_pool_run(struct gt_report *out, struct gt_pool *p, const struct gt_job *job,
                      struct gt_err *err) {
    struct gt_event event;
    bool got = false;
    gt_status status = gt_pool_send(p, job, err);
    while (!status && !(got && event.kind == job->kind))
        status = gt_pool_wait(&got, &event, p, 1, err);
    if (!status)
        *out = event.report;
    if (!status && out->stage == GT_STAGE_FAILED)
        status =
            gt_fail(err, out->status ? out->status : GEMMTUNE_EDEVICE, "%s", out->error);
    return status;
}

/* A lost context or worker takes others along, what computes wrongly may have written to data that
 * others are judged by, and a failure of timing several together is charged to all. */
static bool may_be_anothers(gt_outcome outcome) {
    return outcome == GT_CRASHED || outcome == GT_TIMEOUT || outcome == GT_WRONG_RESULT ||
           outcome == GT_LAUNCH || outcome == GT_OUT_OF_MEMORY;
}

static gt_status run_alone(struct gt_result *out, struct gt_pool *p,
                           const struct gt_job *job, int i, struct gt_err *err) {
    struct gt_job one = *job;
    struct gt_report report;
    one.count = 1;
    one.candidate[0] = job->candidate[i];
    gt_status status = gt_pool_refresh(p, err);
    if (!status)
        status = gt_pool_run(&report, p, &one, err);
    if (!status)
        *out = report.result[0];
    return status;
}

gt_status gt_pool_run_final(struct gt_report *out, struct gt_pool *p,
                            const struct gt_job *job, struct gt_err *err) {
    gt_status status = gt_pool_refresh(p, err);
    if (!status)
        status = gt_pool_run(out, p, job, err);
    for (int i = 0; !status && job->count > 1 && i < job->count; i++)
        if (may_be_anothers(out->result[i].outcome))
            status = run_alone(&out->result[i], p, job, i, err);
    return status;
}
