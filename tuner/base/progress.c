/* SPDX-License-Identifier: Apache-2.0 */
/* progress.c - see progress.h. */
#include "tuner/base/progress.h"

#include "core/clock.h"
#include "core/text.h"
#include "tuner/base/table.h"
#include "tuner/base/talk.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    REDRAW_HZ = 5,
    LINE_BYTES = 512,
    NAME_SHOWN = 40, /* characters of a problem's name; an epilogue may make it long */
};

void gt_progress_init(struct gt_progress *p, size_t problems, bool quiet) {
    memset(p, 0, sizeof *p);
    p->live = isatty(STDERR_FILENO);
    p->quiet = quiet;
    p->problems = problems;
    p->started = gt_seconds();
}

static void relay(const struct gt_progress *p, enum gt_note_kind kind, size_t done,
                  double rate, const char *text) {
    const struct gt_progress_note note = {kind, done, rate, text};
    p->relay(p->user, &note);
}

static void note_problem(struct gt_progress *p, double now) {
    if (p->seen != p->problem)
        p->seen_at = now;
    p->seen = p->problem;
}

/* The estimate takes the problems to come to be as long as those before, set-up and finals
 * included, or as the first one. */
static double sweep_left(const struct gt_progress *p, double left_s) {
    const size_t before = p->problem > 0 ? p->problem - 1 : 0;
    const double one = before > 0 ? (p->seen_at - p->started) / (double)before
                                  : gt_seconds() - p->started + left_s;
    return left_s + one * (double)(p->problems - p->problem);
}

/* Writes what a narrow terminal should still show first; a long name is cut. */
static void write_search(char line[LINE_BYTES], const struct gt_progress *p,
                         const char *name, size_t done, size_t planned, double rate,
                         double left_s) {
    const bool cut = strlen(name) > NAME_SHOWN;
    const double all_s = sweep_left(p, left_s);
    const size_t of = planned > 0 ? planned : done;
    int n = snprintf(line, LINE_BYTES, "[%zu/%zu] %.*s%s  %zu", p->problem, p->problems,
                     cut ? NAME_SHOWN - 3 : NAME_SHOWN, name, cut ? "..." : "", done);
    if (planned > 0)
        n += snprintf(line + n, LINE_BYTES - (size_t)n, "/%zu", planned);
    n += snprintf(line + n, LINE_BYTES - (size_t)n, " trial%s, %.1f/s",
                  gt_text_plural((int64_t)of), rate);
    if (left_s >= 0)
        n += snprintf(line + n, LINE_BYTES - (size_t)n, ", %.0f s left", left_s);
    if (left_s >= 0 && all_s > left_s)
        (void)snprintf(line + n, LINE_BYTES - (size_t)n, ", %.0f s of all", all_s);
}

static const double watch_s = 1; /* from one look to the next */

static bool is_watched(const struct gt_progress *p, double now) {
    return p->watch != NULL && now - p->watched >= watch_s;
}

static void watch(struct gt_progress *p, const char *text, double now) {
    if (!is_watched(p, now))
        return;
    p->watched = now;
    p->watch(p->watcher, text);
}

void gt_progress_show(struct gt_progress *p, const char *name, size_t done, size_t planned,
                      double rate, double best_gflops, const char *best_family,
                      double left_s) {
    char line[LINE_BYTES], best[GT_CELL_MAX];
    const double now = gt_seconds();
    const bool shows = p->live && !p->quiet && now - p->shown >= 1.0 / REDRAW_HZ;
    note_problem(p, now);
    if (!shows && !is_watched(p, now))
        return;
    if (shows)
        p->shown = now;
    if (shows && p->relay != NULL) {
        relay(p, GT_NOTE_TRIALS, done, rate, name);
        return;
    }
    write_search(line, p, name, done, planned, rate, left_s);
    if (best_gflops > 0) {
        const size_t n = strlen(line);
        (void)snprintf(line + n, sizeof line - n, "  best so far %s GFLOP/s (%s)",
                       gt_show_rate(best, best_gflops, 1), best_family);
    }
    watch(p, line, now);
    if (shows)
        gt_talk_redraw(line);
}

/* Where stderr is not a terminal, a line is printed only after some time, and then now and
 * then. */
static const double first_plain_s = 2, next_plain_s = 10;

static bool is_due(const struct gt_progress *p, double now) {
    if (p->live)
        return now - p->shown >= 1.0 / REDRAW_HZ;
    return now - p->count_began >= first_plain_s && now - p->shown >= next_plain_s;
}

/* Rewrites the line on a terminal; prints a new line elsewhere. */
static void say(struct gt_progress *p, const char *text, double now) {
    p->shown = now;
    if (p->relay != NULL) {
        relay(p, GT_NOTE_STEP, 0, 0, text);
        return;
    }
    if (p->live)
        gt_talk_redraw(text);
    else
        gt_talk("%s", text);
}

void gt_progress_say(struct gt_progress *p, const char *text) {
    if (!p->quiet)
        say(p, text, gt_seconds());
}

void gt_progress_step(struct gt_progress *p, const char *text) {
    if (!p->quiet && p->live)
        say(p, text, gt_seconds());
}

void gt_progress_crowd(struct gt_progress *p, const char *text) {
    char line[1024];
    const double now = gt_seconds();
    const bool shows = p->live && !p->quiet && now - p->shown >= 1.0 / REDRAW_HZ;
    if (!shows && !is_watched(p, now))
        return;
    snprintf(line, sizeof line, "[%zu/%zu] %s", p->problem, p->problems, text);
    watch(p, line, now);
    if (shows)
        say(p, line, now);
}

void gt_progress_count(struct gt_progress *p, const char *what, size_t done, size_t of) {
    const double now = gt_seconds();
    char text[256], left[64] = "";
    if (done == 0)
        p->count_began = now;
    if (p->quiet || !is_due(p, now))
        return;
    if (done > 0)
        snprintf(left, sizeof left, ", %.0f s left",
                 (now - p->count_began) / (double)done * (double)(of - done));
    snprintf(text, sizeof text, "%s: %zu of %zu%s", what, done, of, left);
    say(p, text, now);
}

void gt_progress_end(struct gt_progress *p) {
    (void)p;
    gt_talk_clear();
}

void gt_progress_line(struct gt_progress *p, const char *text) {
    if (p->quiet)
        return;
    if (p->relay != NULL)
        relay(p, GT_NOTE_LINE, 0, 0, text);
    else
        gt_talk_line("%s", text);
}
