/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.c - hands lines to one function for the whole process. It is set before the first
 * gemmtune_open and only read afterwards, so there is no lock.
 */
#include "core/log.h"

#include "core/text.h"

static struct {
    gemmtune_log_fn fn; /* NULL: silent */
    void *user;
    gemmtune_log_level most;
} sink;

void gemmtune_set_log(gemmtune_log_fn fn, void *user, gemmtune_log_level most) {
    sink.fn = fn;
    sink.user = user;
    sink.most = most;
}

void gt_log(gemmtune_log_level level, const char *fmt, ...) {
    if (sink.fn == NULL || level > sink.most)
        return;
    char line[512];
    va_list args;
    va_start(args, fmt);
    gt_text_line(line, sizeof line, fmt, args);
    va_end(args);
    sink.fn(sink.user, level, line);
}
