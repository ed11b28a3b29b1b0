/* SPDX-License-Identifier: Apache-2.0 */
/* window_inside.h - declarations that window.c (asking, jobs, reports), window_time.c (what
 * there is time for) and window_trial.c (rows and outcomes) share. */
#ifndef GT_TUNER_TUNE_WINDOW_INSIDE_H
#define GT_TUNER_TUNE_WINDOW_INSIDE_H

#include "tuner/tune/window.h"

enum { GT_WINDOW_PICKS = 64 };

enum gt_window_state {
    GT_PICK_ASKED,
    GT_PICK_COMPILING,
    GT_PICK_READY,
    GT_PICK_RUNNING,
    GT_PICK_RESOLVED
};

struct gt_window_entry {
    struct gt_pick pick;
    bool required; /* tried however little time there is */
    struct gt_candidate candidate;
    const struct gt_family *family;
    enum gt_window_state state;
    int64_t id;        /* id of its jobs */
    double compile_at; /* monotonic clock: when a compile worker got it */
    int64_t trial_id;
    gt_outcome outcome;
    double median_ns;  /* at the device's highest clock */
    double compile_ms; /* of a compile worker; 0 when the image was in the cache */
};

struct gt_window {
    struct gt_tuner *t;
    const struct gt_sweep_item *item;
    const struct gt_space *space;
    struct gt_search *search;
    struct gt_window_entry entry[GT_WINDOW_PICKS]; /* ring: entries head .. head + open */
    int head, open;
    bool exhausted, waiting; /* the strategy is done; it waits for results */
    bool prepared;           /* the run worker has got the job to set the problem up */
    double limit_s;          /* as gt_tune_problem got it; 0: none */
    double began, prepare_began;
    double set_up_s;     /* what the set-up took, 0 until it is done */
    double deadline;     /* of the search: only required trials begin later */
    double best_ns;      /* median of the best, at the highest clock */
    double best_high_ns; /* upper end of its interval, at the highest clock */
    double shown_ns;     /* median of the best, as measured */
    const char *best_family;
    size_t planned; /* approximate number of trials */
    int required;   /* this many of the next picks are required */
    struct gt_tune_result *result;
    struct gt_finals *finals;
};

/* The pick number i of those open, oldest first. */
static inline struct gt_window_entry *gt_window_at(struct gt_window *w, int i) {
    return &w->entry[(w->head + i) % GT_WINDOW_PICKS];
}

/* ---- window_time.c ---- */

/* Whether only required picks are tried from now on. */
bool gt_window_is_late(const struct gt_window *w);
/* Whether the pick may still be tried. */
bool gt_window_wants(const struct gt_window *w, const struct gt_window_entry *e);
/* Whether a candidate that a compiler begins with now may come in time for a trial, or is
 * required. */
bool gt_window_should_compile(const struct gt_window *w, const struct gt_window_entry *e);
/* Whether a compiler is at the candidate for another problem, or has been since before this
 * search began: then the image will soon be in the cache. */
bool gt_window_is_compiled_ahead(const struct gt_window *w,
                                 const struct gt_window_entry *e);
/* Whether compilers have no more use for this problem, so that the next one gets them. */
bool gt_window_compilers_are_free(const struct gt_window *w);
/* Whether nothing more is begun. */
bool gt_window_is_out_of_time(struct gt_window *w);
/* Notes how long a candidate took that was compiled. An image in the cache says nothing
 * about that time, nor does a worker that died. The latest candidate's time is a quarter of
 * the mean. */
void gt_window_note_compile(struct gt_window *w, const struct gt_window_entry *e);
/* Seconds more for required trials. */
double gt_window_grace_s(void);
/* Sets the deadline at the end of the set-up. Under a budget the finals must end within the
 * problem's share too, with a set-up as long if they have one of their own. */
void gt_window_start_clock(struct gt_window *w);
/* Sets the time at which the workers' jobs end. Under a budget, trials that began in time
 * get a part of its time more when there is a result already, required ones more than
 * that. */
void gt_window_limit_jobs(struct gt_window *w);
/* Seconds until the problem is done, finals included, by what trials and finals have taken.
 * -1 before the set-up is done. Notes what the finals will take. */
double gt_window_left(struct gt_window *w);
/* Whether the finals have no set-up of their own: no time is left for it, or it would take
 * more than a quarter of the problem's share. */
bool gt_window_hurries_finals(const struct gt_window *w);

/* ---- window_trial.c ---- */

/* A job of `kind` with the pick's candidate. */
void gt_window_init_job(struct gt_job *job, const struct gt_window *w,
                        enum gt_job_kind kind, const struct gt_window_entry *e);
/* Gives the pick an earlier result of its candidate: of this or another run, or of a
 * process that runs now. */
gt_status gt_window_find_stored(bool *found, struct gt_window *w, struct gt_window_entry *e,
                                struct gt_err *err);
/* Claims the trial for this run. Without the claim, the pick is resolved: another process
 * is trying it or has tried it. */
gt_status gt_window_begin_trial(bool *claimed, struct gt_window *w,
                                struct gt_window_entry *e, struct gt_err *err);
/* Stores the outcome of a claimed trial, and offers the candidate to the finals. */
gt_status gt_window_end_trial(struct gt_window *w, struct gt_window_entry *e,
                              const struct gt_result *r, struct gt_err *err);
/* Begins and ends a trial that never reached the device,
 * because the compiler refused it. */
gt_status gt_window_record_refusal(struct gt_window *w, struct gt_window_entry *e,
                                   const struct gt_result *r, struct gt_err *err);
/* Resolves the pick without an outcome: another program killed the worker twice. The trial
 * stays "running" in the name of this run, and the next run may claim it. */
void gt_window_abandon(struct gt_window *w, struct gt_window_entry *e, const char *why);

#endif
