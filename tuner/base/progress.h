/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.h - shows on stderr how far a long command is. A terminal has one line, which is
 * rewritten and cut to the terminal's width; elsewhere there is a line for each problem.
 */
#ifndef GT_TUNER_BASE_PROGRESS_H
#define GT_TUNER_BASE_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

/* A message of a process that works beside others, to the program that draws for all. */
struct gt_progress_note {
    enum gt_note_kind {
        GT_NOTE_TRIALS, /* `done` trials of the problem, `rate` a second */
        GT_NOTE_STEP,   /* it does what `text` says */
        GT_NOTE_LINE,   /* `text` is to stay */
    } kind;
    size_t done;
    double rate;
    const char *text;
};

struct gt_progress {
    bool live; /* stderr is a terminal */
    bool quiet;
    size_t problem, problems; /* 1-based */
    size_t seen;              /* the problem that was shown last */
    double seen_at;           /* when it was shown first; gt_seconds */
    double started, shown;    /* gt_seconds */
    double count_began;       /* gt_progress_count */
    /* Receives every message in place of stderr, with `user`; NULL: stderr. */
    void (*relay)(void *user, const struct gt_progress_note *note);
    void *user;
    /* Receives the rewritten line now and then, also where no terminal shows it; NULL:
     * nobody. */
    void (*watch)(void *user, const char *text);
    void *watcher;
    double watched; /* gt_seconds */
};

void gt_progress_init(struct gt_progress *p, size_t problems, bool quiet);
/* `planned` is 0 when the number of trials is unknown. `left_s` is for this problem,
 * negative when unknown. The time left of the sweep is estimated from the problems before,
 * or from the first one. */
void gt_progress_show(struct gt_progress *p, const char *name, size_t done, size_t planned,
                      double rate, double best_gflops, const char *best_family,
                      double left_s);
/* Says at once which step begins now. */
void gt_progress_say(struct gt_progress *p, const char *text);
/* The same, but only on a terminal: for one step of many. */
void gt_progress_step(struct gt_progress *p, const char *text);
/* A line about several processes: on a terminal alone, and not too often. */
void gt_progress_crowd(struct gt_progress *p, const char *text);
/* How far a loop is: called before step `done` of `of`, from 0 on. */
void gt_progress_count(struct gt_progress *p, const char *what, size_t done, size_t of);
/* Erases the rewritten line from the terminal. */
void gt_progress_end(struct gt_progress *p);
/* Ends the rewritten line and prints `text` on a line of its own. */
void gt_progress_line(struct gt_progress *p, const char *text);

#endif
