/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.c - `gemmtune record PROGRAM ARG...`: runs a program and counts its GEMM calls in
 * a sweep file. The exit code is the program's. With --merge alone: brings the files
 * together that processes have left.
 */
#include "core/room.h"
#include "shim/mode.h"
#include "tuner/base/recorded.h"
#include "tuner/base/talk.h"
#include "tuner/cmd/common.h"
#include "tuner/cmd/program.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

struct values {
    const char *output;
    bool merge, quiet;
};

static const struct gt_option options[] = {
    {"output", 'o', GT_OPT_TEXT, offsetof(struct values, output), "FILE",
     "sweep file to write or to add to (default: recorded.json)", 0, 0},
    {"merge", 0, GT_OPT_FLAG, offsetof(struct values, merge), NULL,
     "run nothing: add what processes of this host with GEMMTUNE_EXEC=record:FILE left", 0,
     0},
    GT_OPTION_QUIET(struct values),
    GT_OPTION_END,
};

/* ---- files of processes  ---- */

/* The files of processes that go into one sweep file. */
struct leavings {
    size_t count, room;
    char (*path)[GT_PATH_SIZE];
    int running; /* further processes that still write */
};

static gt_status keep_path(struct leavings *l, const char *folder, const char *name,
                           struct gt_err *err) {
    char(*const all)[GT_PATH_SIZE] =
        gt_room_for(l->path, &l->room, l->count, sizeof *l->path);
    if (all == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    l->path = all;
    const int needed = snprintf(l->path[l->count], GT_PATH_SIZE, "%s/%s", folder, name);
    l->count += needed > 0 && needed < GT_PATH_SIZE;
    return GEMMTUNE_OK;
}

/* Whether *name begins with the word and a dot, which are skipped. */
static bool skip_word(const char **name, const char *word) {
    const size_t length = strlen(word);
    if (strncmp(*name, word, length) != 0 || (*name)[length] != '.')
        return false;
    *name += length + 1;
    return true;
}

/* The process of "FILE.HOST.1234" or "FILE.HOST.1234.1"; 0: the name is none of these. Only
 * this host knows which of its processes still run. */
static pid_t process_of(const char *name, const char *file) {
    char host[GT_SHIM_HOST_SIZE], *end = NULL;
    gt_shim_host(host);
    if (!skip_word(&name, file) || !skip_word(&name, host) || name[0] < '1' ||
        name[0] > '9')
        return 0;
    const long number = strtol(name, &end, 10);
    if (*end == '.' && strspn(end + 1, "0123456789") == strlen(end + 1))
        end += strlen(end);
    return *end == '\0' ? (pid_t)number : 0;
}

static gt_status find_leavings(struct leavings *l, const char *path, struct gt_err *err) {
    char folder[GT_PATH_SIZE];
    (void)snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    *slash = '\0';
    DIR *dir = opendir(folder[0] != '\0' ? folder : "/");
    if (dir == NULL)
        return gt_fail(err, GEMMTUNE_EIO, "%s: %s", folder, strerror(errno));
    gt_status status = GEMMTUNE_OK;
    for (struct dirent *d; status == GEMMTUNE_OK && (d = readdir(dir)) != NULL;) {
        const pid_t process = process_of(d->d_name, slash + 1);
        if (process == 0)
            continue;
        if (kill(process, 0) == 0 || errno == EPERM)
            l->running++;
        else
            status = keep_path(l, folder, d->d_name, err);
    }
    (void)closedir(dir);
    return status;
}

/* ---- merging ---- */

static void say_sums(const struct gt_recorded *r, const char *path) {
    int64_t problems = 0, calls = 0, passed = 0;
    for (size_t i = 0; i < r->count; i++)
        if (r->item[i].function == NULL) {
            problems++;
            calls += r->item[i].count;
        } else {
            passed += r->item[i].count;
        }
    gt_talk("%s: %lld problem%s in %lld call%s, %lld call%s of other kinds", path,
            (long long)problems, gt_text_plural(problems), (long long)calls,
            gt_text_plural(calls), (long long)passed, gt_text_plural(passed));
}

static void say_result(const struct gt_recorded *r, const char *path, bool any,
                       int running) {
    if (any)
        say_sums(r, path);
    else
        gt_talk("%s: no call of cuBLAS was recorded", path);
    if (running > 0)
        gt_talk(
            "%d process%s still recording: gemmtune record --merge -o %s adds them later",
            running, running == 1 ? " is" : "es are", path);
}

/* A file that is merged is removed once the sweep file has it. A process that was killed
 * between two may be counted twice, and never lost. */
static gt_status merge_locked(const char *path, bool quiet, struct gt_err *err) {
    struct gt_recorded r = {0};
    struct leavings l = {0};
    gt_status status = find_leavings(&l, path, err);
    if (status == GEMMTUNE_OK)
        status = gt_recorded_load(&r, path, err);
    for (size_t i = 0; status == GEMMTUNE_OK && i < l.count; i++)
        status = gt_recorded_add_process(&r, l.path[i], err);
    if (status == GEMMTUNE_OK && l.count > 0)
        status = gt_recorded_write(&r, path, err);
    for (size_t i = 0; status == GEMMTUNE_OK && i < l.count; i++)
        (void)unlink(l.path[i]);
    if (status == GEMMTUNE_OK && !quiet)
        say_result(&r, path, l.count > 0, l.running);
    free(l.path);
    gt_recorded_clear(&r);
    return status;
}

/* Opens FILE.lock and waits for its lock. Its last owner may have removed the file that was
 * opened. */
static int take_lock(const char *lock) {
    enum { TRIES = 1000 };
    for (int i = 0; i < TRIES; i++) {
        struct stat opened, present;
        const int fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (fd < 0 || flock(fd, LOCK_EX) != 0 || fstat(fd, &opened) != 0)
            return fd;
        if (stat(lock, &present) == 0 && opened.st_dev == present.st_dev &&
            opened.st_ino == present.st_ino)
            return fd;
        (void)close(fd);
    }
    return -1;
}

/* Several programs may be recorded into one file at once. */
static gt_status merge(const char *path, bool quiet, struct gt_err *err) {
    char lock[GT_PATH_SIZE + 8];
    (void)snprintf(lock, sizeof lock, "%s.lock", path);
    const int fd = take_lock(lock);
    if (fd < 0)
        return gt_fail(err, GEMMTUNE_EIO, "%s: %s", lock, strerror(errno));
    const gt_status status = merge_locked(path, quiet, err);
    (void)unlink(lock);
    (void)close(fd);
    return status;
}

/* A file that cannot be written is said before the program runs, and not at its end. */
static int check_folder(const char *path) {
    char folder[GT_PATH_SIZE];
    (void)snprintf(folder, sizeof folder, "%s", path);
    *strrchr(folder, '/') = '\0';
    return access(folder[0] != '\0' ? folder : "/", W_OK | X_OK) == 0
               ? -1
               : gt_die(GT_EXIT_FAILURE, "%s: %s", path, strerror(errno));
}

static int run(const struct gt_cmd *cmd, int argc, char **argv) {
    struct values v = {.output = "recorded.json"};
    struct gt_err err = {""};
    char path[GT_PATH_SIZE], mode[GT_PATH_SIZE + 16];
    int first;
    int code = gt_common_parse(cmd, argc, argv, &v, NULL, 0, argc, &first);
    if (code >= 0)
        return code;
    if (v.merge != (first == argc))
        return gt_die(GT_EXIT_USAGE, v.merge
                                         ? "record: --merge runs no program"
                                         : "record: PROGRAM is missing; usage: gemmtune "
                                           "record PROGRAM ARG...");
    if (strchr(v.output, ',') != NULL)
        return gt_die(GT_EXIT_USAGE, "record: a comma in %s would end its name", v.output);
    gt_status status = gt_program_path(path, v.output, &err);
    code = status == GEMMTUNE_OK ? check_folder(path) : -1;
    if (code >= 0)
        return code;
    if (status == GEMMTUNE_OK && !v.merge) {
        (void)snprintf(mode, sizeof mode, "record:%s", path);
        status = gt_program_prepare(mode, &err);
    }
    if (status != GEMMTUNE_OK)
        return gt_die(GT_EXIT_FAILURE, "%s", err.line);
    code = v.merge ? GT_EXIT_OK : gt_program_wait(argv + first);
    if (merge(path, v.quiet, &err) == GEMMTUNE_OK)
        return code;
    gt_talk("%s", err.line);
    return code != GT_EXIT_OK || !v.merge ? code : GT_EXIT_FAILURE;
}

const struct gt_cmd gt_cmd_record = {
    .name = "record",
    .operands = "PROGRAM ARG...",
    .about = "Run a program and count its cuBLAS products in a sweep file.",
    .options = options,
    .run = run,
    .runs_program = true,
};
