/* SPDX-License-Identifier: Apache-2.0 */
/* new_file.c - see new_file.h. */
#include "core/new_file.h"

#include "core/log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINKS_MAX = 40 };

static gt_status fail_io(const char *path, int error, struct gt_err *err) {
    return gt_fail(err, GEMMTUNE_EIO, "%.300s: %s", path,
                   error == EWOULDBLOCK ? "another process is writing it"
                                        : strerror(error));
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

/* Follows the links at the path's end; the last one may lead to a file that is not there.
 * Returns 0 or an errno. */
static int resolve(char out[GT_PATH_SIZE], const char *path) {
    int error = path[0] != '\0' ? follow(out, path, strlen(path)) : ENOENT;
    for (int i = 0; error == 0 && i < LINKS_MAX; i++) {
        char target[GT_PATH_SIZE];
        const ssize_t length = readlink(out, target, sizeof target);
        if (length < 0) /* no link, or nothing yet */
            return errno == EINVAL || errno == ENOENT ? 0 : errno;
        error = follow(out, target, (size_t)length);
    }
    return error == 0 ? ELOOP : error;
}

/* Whether the place may be taken; returns 0 or an errno. *mode is the old file's, if there
 * is one. */
static int look(mode_t *mode, const char *path) {
    struct stat old;
    if (stat(path, &old) != 0)
        return errno == ENOENT ? 0 : errno;
    *mode = old.st_mode & 07777;
    if (S_ISDIR(old.st_mode))
        return EISDIR;
    return faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0 ? 0 : errno;
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
    if (error == 0) {
        (void)snprintf(out->part, sizeof out->part, "%s.gemmtune-part", out->path);
        error = open_part(out, mode);
    }
    if (error != 0) {
        if (out->fd >= 0)
            close_part(out);
        out->part[0] = '\0';
    }
    return error == 0 ? GEMMTUNE_OK : fail_io(path, error, err);
}

/* ---- the end --------------------------------------------------------------- */

/* Makes the new name survive a power cut. Some file systems cannot do this; the error is
 * ignored. */
static void sync_folder(const char *path) {
    char folder[GT_PATH_SIZE];
    const size_t length = folder_length(path);
    (void)snprintf(folder, sizeof folder, "%.*s", length > 0 ? (int)length : 1,
                   length > 0 ? path : ".");
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    (void)fsync(fd);
    (void)close(fd);
}

gt_status gt_new_file_keep(struct gt_new_file *f, struct gt_err *err) {
    if (fsync(f->fd) != 0 || rename(f->part, f->path) != 0) {
        const gt_status status = fail_io(f->path, errno, err);
        gt_new_file_drop(f);
        return status;
    }
    sync_folder(f->path);
    close_part(f);
    f->part[0] = '\0';
    return GEMMTUNE_OK;
}

void gt_new_file_drop(struct gt_new_file *f) {
    if (f->part[0] == '\0')
        return;
    (void)unlink(f->part); /* before its lock ends */
    close_part(f);
    f->part[0] = '\0';
}

/* ---- texts ----------------------------------------------------------------- */

gt_status gt_new_text_begin(struct gt_new_text *out, const char *path, struct gt_err *err) {
    struct stat about;
    *out = (struct gt_new_text){.path = path};
    if (stat(path, &about) == 0 && !S_ISREG(about.st_mode)) {
        out->out = fopen(path, "we");
        return out->out != NULL ? GEMMTUNE_OK : fail_io(path, errno, err);
    }
    const gt_status status = gt_new_file_begin(&out->file, path, err);
    if (status != GEMMTUNE_OK)
        return status;
    const int fd = fcntl(out->file.fd, F_DUPFD_CLOEXEC, 0); /* shares the lock */
    out->out = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (out->out != NULL)
        return GEMMTUNE_OK;
    if (fd >= 0)
        (void)close(fd);
    gt_new_file_drop(&out->file);
    return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
}

gt_status gt_new_text_end(struct gt_new_text *t, gt_status status, struct gt_err *err) {
    const bool bad = ferror(t->out) != 0;
    if ((fclose(t->out) != 0 || bad) && status == GEMMTUNE_OK)
        status = fail_io(t->path, errno, err);
    if (t->file.part[0] == '\0')
        return status;
    if (status == GEMMTUNE_OK)
        return gt_new_file_keep(&t->file, err);
    gt_new_file_drop(&t->file);
    return status;
}
