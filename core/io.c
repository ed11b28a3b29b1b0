/* SPDX-License-Identifier: Apache-2.0 */
/* io.c - see io.h. */
#include "core/io.h"

#include <errno.h>
#include <unistd.h>

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
