/* SPDX-License-Identifier: Apache-2.0 */
/* progress.c - see progress.h. */
#include "tuner/base/progress.h"

#include "core/clock.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { REDRAW_HZ = 5 };

void gt_progress_init(struct gt_progress *p, size_t problems, bool quiet) {
    memset(p, 0, sizeof *p);
    p->live = isatty(STDERR_FILENO);
    p->quiet = quiet;
    p->problems = problems;
    p->started = gt_seconds();
}

void gt_progress_show(struct gt_progress *p, const char *name, size_t done, size_t planned,
                      double rate, double best_gflops, const char *best_family,
                      double left_s) {
    const double now = gt_seconds();
    if (!p->live || p->quiet || now - p->shown < 1.0 / REDRAW_HZ)
        return;
    p->shown = now;
    fprintf(stderr, "\r\033[K[%zu/%zu] %s  %zu/%zu  %.1f/s", p->problem, p->problems, name,
            done, planned, rate);
    if (best_gflops > 0)
        fprintf(stderr, "  best %.4g GFLOP/s (%s)", best_gflops, best_family);
    if (left_s >= 0)
        fprintf(stderr, "  %.0f s left", left_s);
    fflush(stderr);
}

/* Elsewhere than on a terminal a line is said when the work has gone on for a while, and
 * then only now and then. */
static const double first_plain_s = 2, next_plain_s = 10;

static bool is_due(const struct gt_progress *p, double now) {
    if (p->live)
        return now - p->shown >= 1.0 / REDRAW_HZ;
    return now - p->count_began >= first_plain_s && now - p->shown >= next_plain_s;
}

void gt_progress_count(struct gt_progress *p, const char *what, size_t done, size_t of) {
    const double now = gt_seconds();
    if (done == 0)
        p->count_began = now;
    if (p->quiet || !is_due(p, now))
        return;
    p->shown = now;
    fprintf(stderr, "%s%s: %zu of %zu", p->live ? "\r\033[K" : "gemmtune: ", what, done,
            of);
    if (done > 0)
        fprintf(stderr, ", %.0f s left",
                (now - p->count_began) / (double)done * (double)(of - done));
    (void)fputs(p->live ? "" : "\n", stderr);
    fflush(stderr);
}

void gt_progress_end(struct gt_progress *p) {
    if (p->live && !p->quiet && p->shown > 0)
        (void)fputs("\r\033[K", stderr);
}

void gt_progress_line(struct gt_progress *p, const char *text) {
    if (p->quiet)
        return;
    fprintf(stderr, "%s%s\n", p->live ? "\r\033[K" : "", text);
}
