/* SPDX-License-Identifier: Apache-2.0 */
/* recording.c - see recording.h. */
#include "tuner/cmd/recording.h"

#include "core/room.h"
#include "shim/mode.h"
#include "tuner/base/recorded.h"
#include "tuner/base/talk.h"
#include "tuner/cmd/cmd.h"
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

static void add_up(struct gt_recording *out, const struct gt_recorded *r) {
    for (size_t i = 0; i < r->count; i++)
        if (r->item[i].function == NULL) {
            out->problems++;
            out->calls += r->item[i].count;
        } else {
            out->passed += r->item[i].count;
        }
}

/* A file that is merged is removed once the sweep file has it. A process that was killed
 * between two may be counted twice, and never lost. */
static gt_status merge_locked(struct gt_recording *out, struct gt_err *err) {
    struct gt_recorded r = {0};
    struct leavings l = {0};
    gt_status status = find_leavings(&l, out->path, err);
    if (status == GEMMTUNE_OK)
        status = gt_recorded_load(&r, out->path, err);
    for (size_t i = 0; status == GEMMTUNE_OK && i < l.count; i++)
        status = gt_recorded_add_process(&r, l.path[i], err);
    if (status == GEMMTUNE_OK && l.count > 0)
        status = gt_recorded_write(&r, out->path, err);
    for (size_t i = 0; status == GEMMTUNE_OK && i < l.count; i++)
        (void)unlink(l.path[i]);
    out->any = l.count > 0;
    out->running = l.running;
    add_up(out, &r);
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

gt_status gt_recording_merge(struct gt_recording *r, struct gt_err *err) {
    char lock[GT_PATH_SIZE + 8];
    (void)snprintf(lock, sizeof lock, "%s.lock", r->path);
    const int fd = take_lock(lock);
    if (fd < 0)
        return gt_fail(err, GEMMTUNE_EIO, "%s: %s", lock, strerror(errno));
    const gt_status status = merge_locked(r, err);
    (void)unlink(lock);
    (void)close(fd);
    return status;
}

void gt_recording_say(const struct gt_recording *r) {
    if (r->any)
        gt_talk("%s: %lld problem%s in %lld call%s, %lld call%s of other kinds", r->path,
                (long long)r->problems, gt_text_plural(r->problems), (long long)r->calls,
                gt_text_plural(r->calls), (long long)r->passed, gt_text_plural(r->passed));
    else
        gt_talk("%s: no call of cuBLAS was recorded", r->path);
    if (r->running > 0)
        gt_talk(
            "%d process%s still recording: gemmtune record --merge -o %s adds them later",
            r->running, r->running == 1 ? " is" : "es are", r->path);
}

/* ---- the program  ---- */

static int check_folder(const char *path) {
    char folder[GT_PATH_SIZE];
    (void)snprintf(folder, sizeof folder, "%s", path);
    *strrchr(folder, '/') = '\0';
    return access(folder[0] != '\0' ? folder : "/", W_OK | X_OK) == 0
               ? -1
               : gt_die(GT_EXIT_FAILURE, "%s: %s", path, strerror(errno));
}

int gt_recording_begin(struct gt_recording *r, const char *file, const char *command) {
    struct gt_err err = {""};
    *r = (struct gt_recording){.any = false};
    if (strchr(file, ',') != NULL)
        return gt_die(GT_EXIT_USAGE, "%s: a comma in %s would end its name", command, file);
    return gt_program_path(r->path, file, &err) == GEMMTUNE_OK
               ? check_folder(r->path)
               : gt_die(GT_EXIT_FAILURE, "%s", err.line);
}

int gt_recording_run(int *ended, const struct gt_recording *r, char **argv) {
    struct gt_err err = {""};
    char mode[GT_PATH_SIZE + 16];
    (void)snprintf(mode, sizeof mode, "record:%s", r->path);
    if (gt_program_check(&err) != GEMMTUNE_OK)
        return gt_die(GT_EXIT_FAILURE, "%s", err.line);
    *ended = gt_program_wait(mode, argv);
    return -1;
}
