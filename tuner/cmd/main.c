/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - the edge of the process: its signals and descriptors, and whether its output has
 * arrived. Everything else begins in cmd.c.
 */
#include "shim/mode.h"
#include "tuner/cmd/cmd.h"
#include "tuner/cmd/program.h"
#include "tuner/base/talk.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef GT_REVISION /* the Makefile gives it */
#define GT_REVISION NULL
#endif

/* Opens /dev/null for closed standard descriptors. Otherwise the next file that is opened
 * would get one of them, and a table could be printed into the database. The stand-in fails
 * every read or write, as a closed descriptor would. */
static void hold_standard_descriptors(void) {
    static const int mode[] = {O_WRONLY, O_RDONLY, O_RDONLY};
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) == -1 && errno == EBADF)
            (void)open("/dev/null", mode[fd]); /* the lowest free descriptor is fd */
}

/* A full disk, or a reader that has gone, is noticed only when the buffer is flushed. */
static int close_stdout(int code) {
    errno = 0;
    const bool earlier = ferror(stdout) != 0;
    if (fflush(stdout) == 0 && !earlier)
        return code;
    if (errno == EPIPE) /* `gemmtune list | head`: the reader has enough */
        return code != GT_EXIT_OK ? code : GT_EXIT_FAILURE;
    const int failed = gt_die(GT_EXIT_FAILURE, "cannot write to standard output: %s",
                              errno != 0 ? strerror(errno) : "write error");
    return code != GT_EXIT_OK ? code : failed;
}

/* Prints messages that the library would keep to itself: a skipped row, a refused cache
 * entry. */
static void say(void *user, gemmtune_log_level level, const char *line) {
    (void)user, (void)level;
    gt_talk("%s", line);
}

/* A shell that runs commands in turn sees only so that the user wants an end to all of
 * them. */
static int end_as_stopped(int code) {
    if (code > GT_EXIT_SIGNAL) {
        (void)signal(code - GT_EXIT_SIGNAL, SIG_DFL);
        (void)raise(code - GT_EXIT_SIGNAL);
    }
    return code;
}

/* Times of the vendor's libraries must be theirs, in an environment that has the shim
 * loaded as well. `exec` and `record` say for their program what it does. */
static void leave_shim_off(void) {
    (void)setenv(GT_SHIM_VARIABLE, "off", 1);
}

int main(int argc, char **argv) {
    gt_cmd_revision = GT_REVISION;
    leave_shim_off();
    hold_standard_descriptors();
    gt_program_ignore(SIGPIPE);
    gt_program_ignore(SIGXFSZ); /* writing past a file's size limit then fails instead */
    gemmtune_set_log(say, NULL, GEMMTUNE_LOG_WARN);
    return end_as_stopped(close_stdout(gt_cmd_dispatch(argc, argv)));
}
