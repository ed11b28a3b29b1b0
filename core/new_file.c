/* SPDX-License-Identifier: Apache-2.0 */
/* new_file.c - see new_file.h. */
#define _DEFAULT_SOURCE /* S_ISVTX */
#include "core/new_file.h"

#include "core/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINKS_MAX = 40 };

/* Errors beside the system's errors. */
enum { AN_OPEN_FILE = -1, A_CLOSED_FOLDER = -2, A_STICKY_FOLDER = -3, A_FOREIGN_PART = -4 };

static const char *word_of(int error) {
    static const char *const words[] = {
        [-AN_OPEN_FILE] = "is an open file of a process, and cannot be replaced",
        [-A_CLOSED_FOLDER] = "cannot be replaced, since its folder may not be written",
        [-A_STICKY_FOLDER] = "cannot be replaced, since it belongs to another user, and "
                             "its folder is sticky",
        [-A_FOREIGN_PART] = "belongs to another user: remove it"};
    return error == EWOULDBLOCK ? "another process is writing it"
           : error < 0          ? words[-error]
                                : strerror(error);
}

static gt_status fail_io(const char *path, int error, struct gt_err *err) {
    return gt_fail(err, GEMMTUNE_EIO, "%.300s%s %s", path, error < 0 ? "" : ":",
                   word_of(error));
}

/* ---- where ----------------------------------------------------------------- */

/* The length of the path up to its last slash, with it. */
static size_t folder_length(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? (size_t)(slash - path) + 1 : 0;
}

/* Puts what a link says in the place of the link's path. Returns 0 or an errno. */
static int follow(char path[GT_PATH_SIZE], const char *target, size_t length) {
    const size_t folder = target[0] == '/' ? 0 : folder_length(path);
    if (folder + length >= GT_PATH_SIZE)
        return ENAMETOOLONG;
    memcpy(path + folder, target, length);
    path[folder + length] = '\0';
    return 0;
}

/* The path's folder, "." for none. */
static void folder_of(char folder[GT_PATH_SIZE], const char *path) {
    const size_t length = folder_length(path);
    (void)snprintf(folder, GT_PATH_SIZE, "%.*s", length > 0 ? (int)length : 1,
                   length > 0 ? path : ".");
}

/* Whether the folder lists the open files of a process, as /dev/fd and /proc/self/fd do. */
static bool lists_open_files(const char *path) {
    char folder[GT_PATH_SIZE];
    folder_of(folder, path);
    char *const real = realpath(folder, NULL);
    const size_t length = real != NULL ? strlen(real) : 0;
    const bool yes = length > 3 && strncmp(real, "/proc/", 6) == 0 &&
                     strcmp(real + length - 3, "/fd") == 0;
    free(real);
    return yes;
}

/* Follows the links at the path's end; the last one may lead to a file that is not there,
 * or to an open file of a process, which is not followed. Returns 0 or an error. */
static int resolve(char out[GT_PATH_SIZE], const char *path) {
    out[0] = '\0';
    int error = path[0] != '\0' ? follow(out, path, strlen(path)) : ENOENT;
    for (int i = 0; error == 0 && i < LINKS_MAX; i++) {
        char target[GT_PATH_SIZE];
        if (lists_open_files(out))
            return AN_OPEN_FILE;
        const ssize_t length = readlink(out, target, sizeof target);
        if (length < 0) /* no link, or nothing yet */
            return errno == EINVAL || errno == ENOENT ? 0 : errno;
        error = follow(out, target, (size_t)length);
    }
    return error == 0 ? ELOOP : error;
}

/* Whether a file of the folder may be replaced; `old` is that file, or zeros. Returns 0 or
 * an error. */
static int look_at_folder(const char *path, const struct stat *old) {
    char folder[GT_PATH_SIZE];
    struct stat about;
    folder_of(folder, path);
    if (stat(folder, &about) != 0)
        return errno;
    if (faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) != 0)
        return errno == EACCES ? A_CLOSED_FOLDER : errno;
    const uid_t us = geteuid();
    return old->st_nlink > 0 && (about.st_mode & S_ISVTX) != 0 && us != 0 &&
                   old->st_uid != us && about.st_uid != us
               ? A_STICKY_FOLDER
               : 0;
}

/* Whether the place may be taken; returns 0 or an error. *mode is the old file's, if there
 * is one. */
static int look(mode_t *mode, const char *path) {
    struct stat old = {0};
    if (stat(path, &old) != 0)
        return errno == ENOENT ? look_at_folder(path, &old) : errno;
    *mode = old.st_mode & 07777;
    if (S_ISDIR(old.st_mode))
        return EISDIR;
    if (faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0)
        return errno;
    return look_at_folder(path, &old);
}

/* ---- the part -------------------------------------------------------------- */

static void close_part(struct gt_new_file *f) {
    (void)close(f->fd);
    f->fd = -1;
}

/* Opens the part and locks it. Its last writer may have renamed it or removed it in
 * between; *again says so. Returns 0 or an errno. */
static int open_once(bool *again, struct gt_new_file *f, struct stat *about) {
    struct stat there;
    *again = false;
    f->fd = open(f->part, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (f->fd < 0)
        return errno;
    if (flock(f->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return EWOULDBLOCK;
    if (fstat(f->fd, about) != 0)
        return errno;
    if (about->st_uid != geteuid())
        return A_FOREIGN_PART;
    *again = lstat(f->part, &there) != 0 || there.st_dev != about->st_dev ||
             there.st_ino != about->st_ino;
    /* a file that has another name is not ours to empty */
    return !*again && (!S_ISREG(about->st_mode) || about->st_nlink > 1) ? EEXIST : 0;
}

static int open_part(struct gt_new_file *f, mode_t mode) {
    struct stat about = {0};
    bool again = true;
    int error = 0;
    while (error == 0 && again) {
        error = open_once(&again, f, &about);
        if (f->fd >= 0 && (error != 0 || again))
            close_part(f);
    }
    if (error == 0 && about.st_size > 0)
        gt_log(GEMMTUNE_LOG_WARN, "%s was left by a process that was killed: removed",
               f->part);
    if (error == 0 && ftruncate(f->fd, 0) != 0)
        error = errno;
    if (error == 0 && mode != 0)
        (void)fchmod(f->fd, mode);
    return error;
}

gt_status gt_new_file_begin(struct gt_new_file *out, const char *path, struct gt_err *err) {
    mode_t mode = 0;
    *out = (struct gt_new_file){.fd = -1};
    int error = resolve(out->path, path);
    if (error == 0)
        error = look(&mode, out->path);
    if (error != 0)
        return fail_io(path, error, err);
    (void)snprintf(out->part, sizeof out->part, "%s.gemmtune-part", out->path);
    error = open_part(out, mode);
    if (error == 0)
        return GEMMTUNE_OK;
    const gt_status status = fail_io(error == EWOULDBLOCK ? path : out->part, error, err);
    if (out->fd >= 0)
        close_part(out);
    out->part[0] = '\0';
    return status;
}

/* ---- the end --------------------------------------------------------------- */

/* Makes the new name survive a power cut. Some file systems cannot do this; the error is
 * ignored. */
static void sync_folder(const char *path) {
    char folder[GT_PATH_SIZE];
    folder_of(folder, path);
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    (void)fsync(fd);
    (void)close(fd);
}

gt_status gt_new_file_keep(struct gt_new_file *f, struct gt_err *err) {
    if (fsync(f->fd) != 0) {
        const gt_status status = fail_io(f->part, errno, err);
        gt_new_file_drop(f);
        return status;
    }
    const int error = rename(f->part, f->path) == 0 ? 0 : errno;
    gt_status status = GEMMTUNE_OK;
    if (error == 0)
        sync_folder(f->path);
    else
        status = gt_fail(err, GEMMTUNE_EIO, "%.200s: %s; the new file stays %.200s",
                         f->path, strerror(error), f->part);
    close_part(f);
    f->part[0] = '\0';
    return status;
}

void gt_new_file_drop(struct gt_new_file *f) {
    if (f->part[0] == '\0')
        return;
    (void)unlink(f->part); /* before its lock ends */
    close_part(f);
    f->part[0] = '\0';
}

/* ---- texts ----------------------------------------------------------------- */

static bool is_stdout(const char *path) {
    return strcmp(path, "-") == 0;
}

bool gt_new_text_flows(const char *path) {
    char real[GT_PATH_SIZE];
    struct stat about;
    return is_stdout(path) || resolve(real, path) == AN_OPEN_FILE ||
           (stat(path, &about) == 0 && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode));
}

gt_status gt_new_text_ask(const char *path, struct gt_err *err) {
    struct gt_new_file file;
    if (gt_new_text_flows(path)) /* not opened: it may be a pipe that somebody reads */
        return is_stdout(path) || access(path, W_OK) == 0 ? GEMMTUNE_OK
                                                          : fail_io(path, errno, err);
    const gt_status status = gt_new_file_begin(&file, path, err);
    gt_new_file_drop(&file);
    return status;
}

/* Opens what the path leads to, and empties nothing. An open file of ours goes on where it
 * is. Returns a descriptor or -1. */
static int open_flow(const char *path) {
    char real[GT_PATH_SIZE], folder[GT_PATH_SIZE], own[64];
    struct stat there, ours;
    if (is_stdout(path)) {
        (void)fflush(NULL);
        return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
    }
    const bool is_open = resolve(real, path) == AN_OPEN_FILE;
    folder_of(folder, real);
    (void)snprintf(own, sizeof own, "/proc/%ld/fd", (long)getpid());
    if (!is_open || stat(folder, &there) != 0 || stat(own, &ours) != 0 ||
        there.st_dev != ours.st_dev || there.st_ino != ours.st_ino)
        return open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    (void)fflush(NULL); /* what was printed earlier comes first */
    return fcntl((int)strtol(real + folder_length(real), NULL, 10), F_DUPFD_CLOEXEC, 0);
}

gt_status gt_new_text_begin(struct gt_new_text *out, const char *path, struct gt_err *err) {
    const bool flows = gt_new_text_flows(path);
    int fd = -1;
    *out = (struct gt_new_text){.path = is_stdout(path) ? "standard output" : path};
    const gt_status status = flows ? GEMMTUNE_OK : gt_new_file_begin(&out->file, path, err);
    if (status != GEMMTUNE_OK)
        return status;
    /* a copy shares the lock */
    fd = flows ? open_flow(path) : fcntl(out->file.fd, F_DUPFD_CLOEXEC, 0);
    out->out = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (out->out != NULL)
        return GEMMTUNE_OK;
    const int error = errno;
    if (fd >= 0)
        (void)close(fd);
    gt_new_file_drop(&out->file);
    return fail_io(out->path, error, err);
}

/* A failed write may be long ago. Writing what is left again tells its reason; a write that
 * is not repeated has lost it. */
static int flush(FILE *out) {
    const bool bad = ferror(out) != 0;
    return fflush(out) != 0 ? errno : bad ? EIO : 0;
}

gt_status gt_new_text_end(struct gt_new_text *t, gt_status status, struct gt_err *err) {
    int error = flush(t->out);
    if (fclose(t->out) != 0 && error == 0)
        error = errno;
    if (error != 0 && status == GEMMTUNE_OK)
        status = fail_io(t->file.part[0] != '\0' ? t->file.part : t->path, error, err);
    if (t->file.part[0] == '\0')
        return status;
    if (status == GEMMTUNE_OK)
        return gt_new_file_keep(&t->file, err);
    gt_new_file_drop(&t->file);
    return status;
}
