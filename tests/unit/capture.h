/* SPDX-License-Identifier: Apache-2.0 */
/* capture.h - for tests of commands: redirects a file descriptor to a file. */
#ifndef GT_TESTS_CAPTURE_H
#define GT_TESTS_CAPTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

/* Sends `fd` to a file. Returns a copy of the old descriptor, for release(). */
static inline int capture(int fd, FILE *to) {
    (void)fflush(NULL);
    const int kept = dup(fd);
    assert_true(kept >= 0 && dup2(fileno(to), fd) == fd);
    return kept;
}

/* Restores `fd`. `text` gets everything that was written to it, and `from` is closed. */
static inline void release(int fd, int kept, FILE *from, char *text, size_t size) {
    (void)fflush(NULL);
    assert_int_equal(dup2(kept, fd), fd);
    (void)close(kept);
    rewind(from);
    text[fread(text, 1, size - 1, from)] = '\0';
    (void)fclose(from);
}

#endif
