/* SPDX-License-Identifier: Apache-2.0 */
/*
 * finals.h - measures the best candidates of a problem again: on fresh data, in turn, in a
 * fresh worker unless a budget is over. These times are stored.
 *
 * A candidate takes part unless screening shows that it is slower than the best. The lower
 * end of its interval is at most the best's upper end plus
 * GT_SCREEN_MARGIN (GT_SCREEN_MARGIN_SLOWED where the clock went down). At least three do.
 *
 * How it goes: a finalist that is proven slower than the leader by more than GT_TIE_MARGIN,
 * round by round, leaves; the others get its time. The least median of the finalists that
 * stay to the end wins.
 *
 * A finalist ties with the winner if it is not proven slower by more than GT_TIE_MARGIN.
 * That is, the lower end of the interval of their ratios is at most 1 +
 * GT_TIE_MARGIN. With few common rounds one of the ratios is, too (gt_race_tied).
 */
#ifndef GT_TUNER_TUNE_FINALS_H
#define GT_TUNER_TUNE_FINALS_H

#include "tuner/tune/tune.h"

/* Added to the random seed, so that the data differ from the screening's. */
enum { GT_FINALS_SEED = 0x5eed };

struct gt_finalist {
    double screen_ns; /* its screened median at the device's highest clock; 0: none */
    struct gt_candidate candidate;
    int64_t workspace_bytes;
    double low_ns, high_ns; /* interval of screen_ns */
    double share;           /* its clock, as a part of the highest */
    int64_t ended_ms;       /* end of its trial, since 1970 */
};

/* The best candidates that need no more than a usual workspace, the fastest first. */
struct gt_limited {
    int count;
    struct gt_finalist best[GT_LIMITED_MAX];
};

/* The best of the screened candidates and the candidates that they are compared with.
 * best[] is sorted, the fastest first. Callers that give a workspace of a usual size get
 * one of limited[], so these are always measured. */
struct gt_finals {
    int count;
    struct gt_finalist best[GT_FINALISTS_MAX];
    struct gt_limited limited[GT_LIMITS_MAX]; /* within gt_finals_limit_bytes(i) */
    int64_t own_limit; /* bytes of workspace that the search was limited to; 0: none */
    /* The best of the families with the roles baseline and textbook; screen_ns is 0 without
     * one. */
    struct gt_finalist compared[GT_COMPARED];
    /* They run in the worker of the search, on its data: another set-up would take too much
     * of the time. */
    bool hurried;
    double until; /* gt_seconds when the problem's share of a budget is over; 0: never */
    double expected_s; /* seconds that they will take */
};

/* The number of the best that take part in the finals. */
int gt_finals_entrants(const struct gt_finals *f);
/* The workspaces that callers give, the smallest first: none, and the workspace of a
 * one-call form (GT_WORKSPACE_DEFAULT). */
extern const int64_t gt_workspace_limits[GT_WORKSPACE_LIMITS];
/* The limits of these finals, the smallest first: the usual ones, and between them the
 * limit of a search that was given less than a one-call form has. */
int gt_finals_limits(const struct gt_finals *f);
int64_t gt_finals_limit_bytes(const struct gt_finals *f, int i);

/* Adds to the f->count entrants those in compared[] that may be as fast. A winner that is
 * no faster than the baseline must be measured beside it. */
void gt_finals_add_compared(struct gt_finals *f);
void gt_finals_offer(struct gt_finals *f, const struct gt_tuner *t,
                     const struct gt_finalist *who);
/* Offers it for the finals within usual workspaces only. One that is there stays once. */
void gt_finals_offer_limited(struct gt_finals *f, const struct gt_finalist *who);
/* Bytes of workspace that a stored candidate needs for the problem; INT64_MAX when it
 * cannot run the problem. The result of a trial of this run already has the number. */
int64_t gt_finals_workspace(const struct gt_tuner *t, const gemmtune_problem *p,
                            const struct gt_candidate *c);

/* Copies the stored records of the problem into the result. *found is true when their
 * winner was measured by this database's own runs, with more than one sample, and has its
 * family's present source. */
gt_status gt_finals_recall(bool *found, struct gt_tune_result *result,
                           const struct gt_tuner *t, const struct gt_sweep_item *item,
                           struct gt_err *err);

/* The job that measures the finalists. Hurried finals have the seed of the search, so that
 * a worker which has its data makes no others. */
void gt_finals_job(struct gt_job *job, const struct gt_finals *f, const struct gt_tuner *t,
                   const struct gt_sweep_item *item);
/* Fills in the winners, best first, and the times of the families that winners are compared
 * with. `report` has the times of the job's candidates, taken in turn. A candidate ties
 * with the winner when it was as fast as the winner in their common rounds. */
void gt_finals_rank(struct gt_tune_result *result, const struct gt_finals *f,
                    const struct gt_tuner *t, const struct gt_job *job,
                    const struct gt_report *report);
/* Fills in the times of the families that winners are compared with. */
void gt_finals_compare(struct gt_tune_result *result, const struct gt_finals *f,
                       const struct gt_tuner *t);
/* Measures the finalists and stores the records. Does nothing when stored records exist and
 * nothing says that a finalist which was not in their finals may be faster; otherwise the
 * stored winner takes part as well. When another process stores its winner meanwhile, this
 * is decided again. */
gt_status gt_finals_decide(struct gt_tune_result *result, const struct gt_finals *f,
                           struct gt_tuner *t, const struct gt_sweep_item *item,
                           struct gt_err *err);

#endif
