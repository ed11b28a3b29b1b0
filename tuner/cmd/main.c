/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - the edge of the process: which signals and descriptors the program starts with,
 * and whether what it printed has arrived. Everything else begins in cmd.c.
 */
#include "tuner/cmd/cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A closed standard descriptor would be handed to the next file opened, and a table printed
 * into the database. The stand-in fails every read or write, as the closed one would. */
static void hold_standard_descriptors(void) {
    static const int mode[] = {O_WRONLY, O_RDONLY, O_RDONLY};
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) == -1 && errno == EBADF)
            (void)open("/dev/null", mode[fd]); /* the lowest free descriptor is fd */
}

/* A full disk or a reader that went away shows only when the buffer is flushed. */
static int close_stdout(int code) {
    errno = 0;
    const bool earlier = ferror(stdout) != 0;
    if (fflush(stdout) == 0 && !earlier)
        return code;
    if (errno == EPIPE) /* `gemmtune list | head`: the reader has what it wants */
        return code != GT_EXIT_OK ? code : GT_EXIT_FAILURE;
    const int failed = gt_die(GT_EXIT_FAILURE, "cannot write to standard output: %s",
                              errno != 0 ? strerror(errno) : "write error");
    return code != GT_EXIT_OK ? code : failed;
}

/* What the library would keep to itself: a row skipped, a cache entry refused. */
static void say(void *user, gemmtune_log_level level, const char *line) {
    (void)user, (void)level;
    fprintf(stderr, "gemmtune: %s\n", line);
}

int main(int argc, char **argv) {
    hold_standard_descriptors();
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ,
                 SIG_IGN); /* a file at its limit is an error of write, not our end */
    gemmtune_set_log(say, NULL, GEMMTUNE_LOG_WARN);
    return close_stdout(gt_cmd_dispatch(argc, argv));
}
