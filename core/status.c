/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status.c - the text of a status, the line of an error, and the one line each thread keeps
 * for gemmtune_errmsg.
 */
#include "core/status.h"

#include "core/text.h"

#include <string.h>

static _Thread_local struct gt_err thread_err;
static _Thread_local gemmtune_argument thread_argument;

struct gt_err *gt_thread_err(void) {
    return &thread_err;
}

const char *gemmtune_errmsg(void) {
    return thread_err.line;
}

gemmtune_argument gemmtune_errarg(void) {
    return thread_argument;
}

const char *gemmtune_strerror(gemmtune_status status) {
    static const struct {
        gemmtune_status status;
        const char *text;
    } rows[] = {
#define X(name, value, text) {name, text},
        GEMMTUNE_STATUS_LIST(X)
#undef X
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].status == status)
            return rows[i].text;
    return "unknown status";
}

int gemmtune_version(void) {
    return 10000 * GEMMTUNE_VERSION_MAJOR + 100 * GEMMTUNE_VERSION_MINOR +
           GEMMTUNE_VERSION_PATCH;
}

/* Both functions format beside the old line, because an argument may point into it. */

gt_status gt_fail(struct gt_err *err, gt_status status, const char *fmt, ...) {
    if (err != NULL) {
        struct gt_err fresh;
        va_list args;
        va_start(args, fmt);
        gt_text_line(fresh.line, sizeof fresh.line, fmt, args);
        va_end(args);
        *err = fresh;
        if (err == &thread_err)
            thread_argument = GEMMTUNE_ARG_NONE;
    }
    return status;
}

gt_status gt_blame(struct gt_err *err, gt_status status, gemmtune_argument argument) {
    if (err == &thread_err && status != GEMMTUNE_OK)
        thread_argument = argument;
    return status;
}

gt_status gt_fail_null(struct gt_err *err, const char *name, gemmtune_argument argument) {
    return gt_blame(err, gt_fail(err, GEMMTUNE_EINVAL, "%s is NULL", name), argument);
}

gt_status gt_fail_within(struct gt_err *err, gt_status status, const char *fmt, ...) {
    if (err != NULL) {
        struct gt_err outer;
        va_list args;
        va_start(args, fmt);
        gt_text_line(outer.line, sizeof outer.line, fmt, args);
        va_end(args);
        const char *colon = err->line[0] != '\0' ? ": " : "";
        const gemmtune_argument argument = thread_argument;
        (void)gt_fail(err, status, "%s%s%s", outer.line, colon, err->line);
        (void)gt_blame(err, status, argument);
    }
    return status;
}

struct gt_err *gt_public_entry(void) {
    struct gt_err *err = gt_thread_err();
    err->line[0] = '\0';
    thread_argument = GEMMTUNE_ARG_NONE;
    return err;
}
