/* SPDX-License-Identifier: Apache-2.0 */
/* program.c - see program.h. */
#define _DEFAULT_SOURCE /* for realpath */
#include "tuner/cmd/program.h"

#include "core/io.h"
#include "shim/mode.h"
#include "tuner/base/talk.h"
#include "tuner/cmd/cmd.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char blas_name[] = "libgemmtune-blas.so",
                  audit_name[] = "libgemmtune-audit.so";

/* ---- where the libraries are  ---- */

/* Beside the program, or where `make install` and packages put libraries. */
static bool find_folder(char folder[GT_PATH_SIZE]) {
    static const char *const places[] = {"",
                                         "/../lib",
                                         "/../lib64",
                                         "/../lib/x86_64-linux-gnu",
                                         "/../lib/x86_64-linux-gnu/gemmtune",
                                         "/../lib/aarch64-linux-gnu",
                                         "/../lib/aarch64-linux-gnu/gemmtune"};
    char self[GT_PATH_SIZE], path[GT_PATH_SIZE + 64], real[GT_PATH_SIZE];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0)
        return false;
    self[length] = '\0';
    char *slash = strrchr(self, '/');
    if (slash == NULL)
        return false;
    *slash = '\0';
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const int needed =
            snprintf(path, sizeof path, "%s%s/%s", self, places[i], blas_name);
        if (needed < 0 || (size_t)needed >= sizeof path || realpath(path, real) == NULL)
            continue;
        *strrchr(real, '/') = '\0';
        memcpy(folder, real, strlen(real) + 1);
        return true;
    }
    return false;
}

/* Puts FOLDER/NAME before what the variable has. */
static gt_status put_first(const char *variable, const char *folder, const char *name,
                           struct gt_err *err) {
    const char *before = getenv(variable);
    const bool has = before != NULL && before[0] != '\0';
    const size_t size = strlen(folder) + strlen(name) + (has ? strlen(before) + 1 : 0) + 2;
    char *text = malloc(size);
    if (text == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    (void)snprintf(text, size, "%s/%s%s%s", folder, name, has ? ":" : "",
                   has ? before : "");
    const int failed = setenv(variable, text, 1);
    free(text);
    return failed == 0 ? GEMMTUNE_OK : gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
}

static gt_status find_libraries(char folder[GT_PATH_SIZE], struct gt_err *err) {
    if (!find_folder(folder))
        return gt_fail(err, GEMMTUNE_EIO,
                       "%s is neither beside this program nor in the lib folder beside it",
                       blas_name);
    if (strpbrk(folder, ": ") != NULL)
        return gt_fail(err, GEMMTUNE_EIO,
                       "%s has a blank or a colon, where ld.so ends names", folder);
    return GEMMTUNE_OK;
}

gt_status gt_program_check(struct gt_err *err) {
    char folder[GT_PATH_SIZE];
    return find_libraries(folder, err);
}

gt_status gt_program_prepare(const char *exec, struct gt_err *err) {
    char folder[GT_PATH_SIZE];
    gt_status status = find_libraries(folder, err);
    if (status == GEMMTUNE_OK)
        status = put_first("LD_PRELOAD", folder, blas_name, err);
    if (status == GEMMTUNE_OK)
        status = put_first("LD_AUDIT", folder, audit_name, err);
    if (status == GEMMTUNE_OK && setenv(GT_SHIM_VARIABLE, exec, 1) != 0)
        status = gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    return status;
}

gt_status gt_program_path(char out[GT_PATH_SIZE], const char *path, struct gt_err *err) {
    char here[GT_PATH_SIZE] = "";
    if (path[0] != '/' && getcwd(here, sizeof here) == NULL)
        return gt_fail(err, GEMMTUNE_EIO, "the present folder has no name: %s",
                       strerror(errno));
    const int needed =
        snprintf(out, GT_PATH_SIZE, "%s%s%s", here, path[0] != '/' ? "/" : "", path);
    return needed > 0 && needed < GT_PATH_SIZE
               ? GEMMTUNE_OK
               : gt_fail(err, GEMMTUNE_EIO, "%s: the path is too long", path);
}

/* ---- the program  ---- */

/* Signals that gemmtune itself ignores, and what they did before. */
static struct {
    int number;
    struct sigaction before;
} ignored[4];
static size_t ignored_count;

void gt_program_ignore(int number) {
    const struct sigaction none = {.sa_handler = SIG_IGN};
    if (ignored_count == sizeof ignored / sizeof *ignored)
        return;
    ignored[ignored_count].number = number;
    (void)sigaction(number, &none, &ignored[ignored_count++].before);
}

int gt_program_become(char **argv) {
    enum { NOT_FOUND = 127, NOT_EXECUTABLE = 126 };
    for (size_t i = 0; i < ignored_count; i++)
        (void)sigaction(ignored[i].number, &ignored[i].before, NULL);
    (void)execvp(argv[0], argv);
    return gt_die(errno == ENOENT ? NOT_FOUND : NOT_EXECUTABLE, "%s: %s", argv[0],
                  strerror(errno));
}

static volatile sig_atomic_t child; /* its process; 0 before and after */

static void hand_on(int signal) {
    if (child > 0)
        (void)kill((pid_t)child, signal);
}

/* A terminal sends SIGINT and SIGQUIT to the program as well, so they are not handed on. */
static const struct {
    int number;
    bool handed_on;
} signals[] = {{SIGTERM, true}, {SIGHUP, true}, {SIGINT, false}, {SIGQUIT, false}};
enum { SIGNALS = sizeof signals / sizeof *signals };
static struct sigaction before[SIGNALS]; /* what the signals did before the program */

/* An ignored signal (nohup) stays ignored. */
static void listen_to_signals(void) {
    const struct sigaction own = {.sa_handler = hand_on, .sa_flags = SA_RESTART};
    const struct sigaction none = {.sa_handler = SIG_IGN};
    for (int i = 0; i < SIGNALS; i++) {
        (void)sigaction(signals[i].number, NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN)
            (void)sigaction(signals[i].number, signals[i].handed_on ? &own : &none, NULL);
    }
}

void gt_program_let_go(void) {
    for (int i = 0; i < SIGNALS; i++)
        (void)sigaction(signals[i].number, &before[i], NULL);
}

static int become_served(const char *exec, char **argv) {
    struct gt_err err = {""};
    return gt_program_prepare(exec, &err) == GEMMTUNE_OK
               ? gt_program_become(argv)
               : gt_die(GT_EXIT_FAILURE, "%s", err.line);
}

int gt_program_wait(const char *exec, char **argv) {
    sigset_t held, mask;
    int status = 0;
    /* A signal that comes before `child` is known waits. */
    (void)sigemptyset(&held);
    (void)sigaddset(&held, SIGTERM);
    (void)sigaddset(&held, SIGHUP);
    (void)sigprocmask(SIG_BLOCK, &held, &mask);
    listen_to_signals();
    const pid_t started = fork();
    if (started == 0) {
        gt_program_let_go();
        (void)sigprocmask(SIG_SETMASK, &mask, NULL);
        _exit(become_served(exec, argv));
    }
    child = started;
    (void)sigprocmask(SIG_SETMASK, &mask, NULL);
    if (started < 0)
        return gt_die(GT_EXIT_FAILURE, "no process can be started: %s", strerror(errno));
    while (waitpid(started, &status, 0) < 0)
        if (errno != EINTR)
            return GT_EXIT_FAILURE;
    child = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : GT_EXIT_SIGNAL + WTERMSIG(status);
}
