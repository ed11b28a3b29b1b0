/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe.c - gets the device list from a child process over a pipe. Both ends are the same
 * program, so structs are sent as they stand in memory. The parent still checks them, since
 * the child may have been crashing while it wrote.
 */
#include "tuner/rig/probe.h"

#include "core/clock.h"
#include "core/io.h"
#include "tuner/base/child.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    DEVICES_MAX = 256, /* a larger count is not ours */
    STOP_SECONDS = 1,  /* for an answer, when the user wants an end */
};

/* The child sends this before `count` struct gt_device. */
struct answer {
    gt_status status;
    size_t count;
    struct gt_err err;
    char missing[GT_BACKENDS][GT_MISSING_MAX];
};

/* ---- the child ---- */

/* Never returns. The child owns nothing that has to be released, and a driver's exit
 * handlers may hang. */
static void answer_and_exit(int fd, pid_t parent) {
    struct gt_device_list list = {0};
    struct answer a = {.status = GEMMTUNE_OK};
    gt_child_begin(parent, SIGKILL);
    (void)dup2(STDERR_FILENO,
               STDOUT_FILENO); /* drivers print to stdout, which is for the parent's data */
    a.status = gt_devices_list(&list, &a.err);
    a.count = a.status == GEMMTUNE_OK && list.count <= DEVICES_MAX ? list.count : 0;
    memcpy(a.missing, list.missing, sizeof a.missing);
    const bool sent = gt_write_all(fd, &a, sizeof a) &&
                      gt_write_all(fd, list.device, a.count * sizeof *list.device);
    _exit(sent ? 0 : 1);
}

/* ---- the parent ---- */

struct wait {
    double deadline; /* monotonic clock */
    bool stopped;    /* a signal has cut the time short */
    sigset_t mask;   /* signals that are blocked while it waits */
};

/* Signals that the program does not catch end it. The others are the user's wish to end. */
static void hurry(struct wait *w) {
    w->stopped = true;
    w->deadline = fmin(w->deadline, gt_seconds() + STOP_SECONDS);
}

/* Waits until there is something to read. Signals are let in here alone, so that one that
 * came before the wait ends it as well. */
static int await(int fd, const struct wait *w) {
    const double left = w->deadline - gt_seconds();
    const struct timespec time = {(time_t)left, (long)(1e9 * (left - floor(left)))};
    fd_set set;
    FD_ZERO(&set);
    FD_SET(fd, &set);
    return left > 0 ? pselect(fd + 1, &set, NULL, NULL, &time, &w->mask) : 0;
}

/* Reads the next bytes. False at the end of the pipe or after the deadline. */
static bool receive(int fd, void *data, size_t size, struct wait *w) {
    char *at = data;
    while (size > 0) {
        const int ready = await(fd, w);
        if (ready < 0 && errno == EINTR) {
            hurry(w);
            continue;
        }
        const ssize_t got = ready > 0 ? read(fd, at, size) : 0;
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        at += got;
        size -= (size_t)got;
    }
    return true;
}

static bool receive_devices(struct gt_device_list *out, size_t count, int fd,
                            struct wait *w) {
    if (count > DEVICES_MAX)
        return false;
    out->device = calloc(count + 1, sizeof *out->device);
    if (out->device == NULL || !receive(fd, out->device, count * sizeof *out->device, w))
        return false;
    out->count = count;
    return true;
}

/* Ends a child that did not answer, and reports what happened to it. */
static gt_status explain(pid_t child, const struct wait *w, struct gt_err *err) {
    const bool late = gt_seconds() >= w->deadline;
    int how = 0;
    if (late)
        (void)kill(child, SIGKILL);
    while (waitpid(child, &how, 0) < 0 && errno == EINTR)
        ;
    if (late && w->stopped)
        return gt_fail(err, GEMMTUNE_EDEVICE,
                       "stopped while a device driver listed its devices");
    if (late)
        return gt_fail(
            err, GEMMTUNE_EDEVICE,
            "a device driver did not answer within %d s while devices were listed",
            GT_PROBE_SECONDS);
    if (WIFSIGNALED(how))
        return gt_fail(err, GEMMTUNE_EDEVICE,
                       "a device driver crashed (signal %d, %s) while devices were listed",
                       WTERMSIG(how), strsignal(WTERMSIG(how)));
    return gt_fail(err, GEMMTUNE_EDEVICE,
                   "a device driver ended the process (exit %d) while devices were listed",
                   WEXITSTATUS(how));
}

static gt_status ask(struct gt_device_list *out, pid_t child, int fd, const sigset_t *mask,
                     struct gt_err *err) {
    struct answer a;
    struct wait w = {.deadline = gt_seconds() + GT_PROBE_SECONDS, .mask = *mask};
    const bool whole = receive(fd, &a, sizeof a, &w) &&
                       (a.status != GEMMTUNE_OK || receive_devices(out, a.count, fd, &w));
    if (!whole)
        return explain(child, &w, err);
    (void)kill(child, SIGKILL); /* the answer is complete */
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
    if (a.status != GEMMTUNE_OK)
        return gt_fail(err, a.status, "%s", a.err.line);
    memcpy(out->missing, a.missing, sizeof out->missing);
    return GEMMTUNE_OK;
}

gt_status gt_probe_devices(struct gt_device_list *out, struct gt_err *err) {
    int end[2];
    *out = (struct gt_device_list){0};
    if (pipe(end) != 0)
        return gt_fail(err, GEMMTUNE_EDEVICE, "pipe: %s", strerror(errno));
    const pid_t self = getpid();
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, &before);
    const pid_t child = fork();
    if (child == 0) {
        (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
        (void)close(end[0]);
        answer_and_exit(end[1], self);
    }
    (void)close(end[1]);
    const gt_status status =
        child > 0 ? ask(out, child, end[0], &before, err)
                  : gt_fail(err, GEMMTUNE_EDEVICE, "fork: %s", strerror(errno));
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)close(end[0]);
    if (status != GEMMTUNE_OK)
        gt_devices_clear(out);
    return status;
}

/* ---- picking ---- */

static gt_status no_device(const struct gt_device_list *list, struct gt_err *err) {
    char missing[GT_ALL_MISSING_MAX];
    (void)gt_devices_missing(missing, list);
    return gt_fail(err, GEMMTUNE_ENODRIVER, "no device%s%s", missing[0] != '\0' ? ": " : "",
                   missing);
}

gt_status gt_probe_pick(struct gt_device *out, const char *what, bool usable,
                        struct gt_err *err) {
    struct gt_device_list list;
    size_t index = 0;
    if (gt_probe_devices(&list, err) != GEMMTUNE_OK)
        return GEMMTUNE_ENODRIVER;
    gt_status status = list.count == 0 ? no_device(&list, err) : GEMMTUNE_OK;
    if (status == GEMMTUNE_OK && what != NULL &&
        gt_devices_pick(&index, &list, what, err) != GEMMTUNE_OK)
        status = GEMMTUNE_ENODRIVER;
    if (status == GEMMTUNE_OK)
        *out = list.device[index];
    if (status == GEMMTUNE_OK && usable && out->trouble[0] != '\0')
        status = gt_fail(err, GEMMTUNE_ENODRIVER, "device %zu, %s: %s", index, out->name,
                         out->trouble);
    gt_devices_clear(&list);
    return status;
}
