/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_logged.c - any bytes as a line of another program's log. A problem must be one that
 * its name means again, and a damaged line must have a reason.
 */
#include "tests/fuzz/standalone.h"

#include "tuner/base/logged.h"

#include <stdlib.h>
#include <string.h>

static void check(const struct gt_logged *x) {
    gemmtune_problem again;
    char name[GT_PROBLEM_NAME_MAX], second[GT_PROBLEM_NAME_MAX];
    (void)gt_problem_name(&x->problem, name);
    if (gt_problem_from_name(&again, name, NULL) != GEMMTUNE_OK)
        abort();
    (void)gt_problem_name(&again, second);
    if (strcmp(name, second) != 0 || again.m < 1 || again.n < 1 || again.k < 1)
        abort();
}

static void read_line(const char *line, size_t len) {
    struct gt_logged x;
    struct gt_err err = {""};
    const gt_status status = gt_logged_read(&x, line, len, &err);
    if (status != GEMMTUNE_OK || (x.fate == GT_LOGGED_DAMAGED && err.line[0] == '\0') ||
        x.calls < 0)
        abort();
    if (x.fate == GT_LOGGED_PROBLEM)
        check(&x);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *at = (const char *)data, *end = at + size;
    while (at < end) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        const size_t len = (size_t)((line_end != NULL ? line_end : end) - at);
        read_line(at, len);
        at += len + (line_end != NULL);
    }
    return 0;
}
