/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evaluate.h - shared by the parts of `gemmtune evaluate`: evaluate.c hides tuned problems,
 * evaluate_fresh.c tunes problems that are named or drawn. Both begin and end in
 * evaluate_work.c, and evaluate_measure.c times the kernels. Functions that return int
 * return -1 to go on, else the exit code, having said why.
 */
#ifndef GT_TUNER_JUDGE_EVALUATE_H
#define GT_TUNER_JUDGE_EVALUATE_H

#include "tuner/cmd/drawn.h"
#include "tuner/judge/evaluate_report.h"
#include "tuner/cmd/session.h"

struct gt_evaluate_values {
    const char *device, *db, *sizes, *effort, *keep;
    struct gt_texts templates, rules;
    double holdout, budget, workspace;
    int64_t folds, seed;
    struct gt_drawn_values drawn;
    bool stored, quiet;
    struct gt_format format;
};

/* Takes a kernel that was timed for problem h, and how it went. */
typedef int (*gt_evaluate_taker)(void *user, const struct gt_hidden *h,
                                 const struct gt_candidate *c, const struct gt_result *r);

/* The data of a command. */
struct gt_evaluate_work {
    struct gt_evaluate_values v;
    unsigned rules;        /* bit i: rule i */
    struct gt_sweep sweep; /* named or drawn problems; none: tuned ones are hidden */
    const struct gt_families *families;
    struct gt_session *session; /* NULL with --stored */
    struct gt_device device;
    char device_key[GT_DEVICE_KEY_MAX];
    struct gt_view view;
    struct gt_known *known;
    size_t known_count;
    struct gt_evaluation *evaluation;
    struct gt_hidden *hidden;
    /* problems that are hidden, named or drawn, and how many of them were timed */
    size_t count, done;
    int wrong, failed;       /* kernels that were not correct on the device */
    gt_evaluate_taker taker; /* NULL: nobody asks */
    void *taker_user;
};

/* Reads the records of the device and makes w->evaluation. */
int gt_evaluate_prepare(struct gt_evaluate_work *w);
/* Takes the session's device and families. */
void gt_evaluate_take(struct gt_evaluate_work *w, struct gt_session *session);
/* Whether the budget has time for another problem. */
bool gt_evaluate_has_time(const struct gt_evaluate_work *w, int64_t start_ms);
/* Prints the tables, and returns the exit code. */
int gt_evaluate_end(const struct gt_evaluate_work *w);

/* Compiles the kernels of all hidden problems into the image cache, on all compilers. */
void gt_evaluate_build_ahead(struct gt_evaluate_work *w, struct gt_progress *progress);
/* Compiles the kernels of one problem on all compilers, and waits for them. */
void gt_evaluate_build(struct gt_evaluate_work *w, const struct gt_hidden *h);
/* Times a problem's answers in turns with its winner. When the problem cannot be set up,
 * its losses stay unknown. */
int gt_evaluate_measure(struct gt_evaluate_work *w, struct gt_hidden *h);

/* Tunes, looks up and times the problems that are named or that --random draws. */
int gt_evaluate_fresh(struct gt_evaluate_work *w);

#endif
