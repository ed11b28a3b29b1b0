/* SPDX-License-Identifier: Apache-2.0 */
/* io.c - see io.h. */
#include "core/io.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

gt_status gt_open_input(int *fd, const char *path, struct gt_err *err) {
    struct stat about;
    const char *why = NULL;
    /* O_NONBLOCK: the opening of a pipe would wait for its other end */
    *fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (*fd < 0 || fstat(*fd, &about) != 0)
        why = strerror(errno);
    else if (S_ISDIR(about.st_mode))
        why = strerror(EISDIR);
    else if (S_ISFIFO(about.st_mode))
        why = "is a pipe: give a file";
    else if (!S_ISREG(about.st_mode))
        why = "not a regular file";
    if (why == NULL)
        return GEMMTUNE_OK;
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -1;
    return gt_fail(err, GEMMTUNE_EIO, "%s: %s", path, why);
}

gt_status gt_fopen_input(FILE **out, const char *path, struct gt_err *err) {
    int fd;
    *out = NULL;
    const gt_status status = gt_open_input(&fd, path, err);
    if (status != GEMMTUNE_OK)
        return status;
    *out = fdopen(fd, "rb");
    if (*out != NULL)
        return GEMMTUNE_OK;
    (void)close(fd);
    return gt_fail(err, GEMMTUNE_ENOMEM, "%s: out of memory", path);
}

bool gt_read_all(int fd, void *to, size_t size) {
    char *p = to;
    while (size > 0) {
        const ssize_t n = read(fd, p, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        p += n;
        size -= (size_t)n;
    }
    return true;
}

bool gt_write_all(int fd, const void *from, size_t size) {
    const char *p = from;
    while (size > 0) {
        const ssize_t n = write(fd, p, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        p += n;
        size -= (size_t)n;
    }
    return true;
}
