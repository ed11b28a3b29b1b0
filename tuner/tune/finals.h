/* SPDX-License-Identifier: Apache-2.0 */
/*
 * finals.h - the best candidates of a problem, measured again: in a fresh worker, on fresh
 * data, interleaved. That figure is what is stored.
 *
 * Those take part whose screening cannot tell them from the best: whose interval, and
 * GT_SCREEN_MARGIN more (GT_SCREEN_MARGIN_SLOWED where the clock gave way), reaches the
 * best's; three at least. Round by round, whoever is proven slower than the leader by more
 * than GT_TIE_MARGIN leaves, and the time is for those still close. Of those that stay to
 * the end the least median wins. Tied with it is whoever was not proven slower by more than
 * GT_TIE_MARGIN: the lower end of the interval of the ratios, round by round, is at most 1
 * + GT_TIE_MARGIN.
 */
#ifndef GT_TUNER_TUNE_FINALS_H
#define GT_TUNER_TUNE_FINALS_H

#include "tuner/tune/tune.h"

/* Added to the seed: other data than the screening saw. */
enum { GT_FINALS_SEED = 0x5eed };

struct gt_finalist {
    double screen_ns; /* at the device's highest clock; 0: there is none */
    struct gt_candidate candidate;
    int64_t workspace_bytes;
    double low_ns, high_ns; /* its interval, at that clock as well */
    double share;           /* of the highest clock that it was timed at */
    int64_t ended_ms;       /* since 1970: when it was tried */
};

/* The best of what was screened, best first, and what they are compared with. `spare` are
 * the best of those that need no workspace and of those that need GT_WORKSPACE_BYTES at
 * most: they serve who gives no more, so they are measured in any case. */
struct gt_finals {
    int count;
    struct gt_finalist best[GT_FINALISTS_MAX], limited[GT_WORKSPACE_LIMITS];
    /* The best of the families with the roles baseline and textbook; screen_ns 0: none. */
    struct gt_finalist compared[GT_COMPARED];
};

/* How many of the best take part. */
int gt_finals_entrants(const struct gt_finals *f);
/* Adds behind the entrants, f->count of them, those of the compared that may be as fast: a
 * winner that is no faster than the baseline must be measured beside it. */
void gt_finals_add_compared(struct gt_finals *f);
void gt_finals_offer(struct gt_finals *f, const struct gt_tuner *t,
                     const struct gt_finalist *who);
/* Bytes of workspace that a stored candidate needs for the problem; INT64_MAX when it may
 * not run it. A trial of this run has the number in its result. */
int64_t gt_finals_workspace(const struct gt_tuner *t, const gemmtune_problem *p,
                            const struct gt_candidate *c);

/* Takes the stored records of the problem for the answer, if their winner is of this
 * database's own runs and of its family's present source: *found. */
gt_status gt_finals_recall(bool *found, struct gt_tune_result *result,
                           const struct gt_tuner *t, const struct gt_sweep_item *item,
                           struct gt_err *err);

/* Measures the finalists and stores the records. What is stored already keeps its place
 * unless one that was tried later beats it in the same finals; when there is none, nothing
 * is measured. */
gt_status gt_finals_decide(struct gt_tune_result *result, const struct gt_finals *f,
                           struct gt_tuner *t, const struct gt_sweep_item *item,
                           struct gt_err *err);

#endif
