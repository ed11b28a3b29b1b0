/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window.h - the search of one problem. A window holds the picks that the strategy has made
 * and that have no result yet, so that compilers and the device have work. The strategy is
 * told results in the order of its picks, so that a run can be repeated.
 */
#ifndef GT_TUNER_TUNE_WINDOW_H
#define GT_TUNER_TUNE_WINDOW_H

#include "tuner/tune/finals.h"

struct gt_window_setup {
    struct gt_tuner *tuner;
    const struct gt_sweep_item *item;
    /* spaces, starts, seed and forecasts; the window says how many picks are open */
    struct gt_search_setup search;
    int required; /* this many of the first picks are tried however little time there is */
    size_t planned; /* approximate number of trials, for the progress line */
    double limit_s; /* as gt_tune_problem got it */
    double began;   /* of the problem, by gt_seconds */
};

/* Searches until the strategy is done or the time is up. Every trial is committed. Adds the
 * trials to the result and offers the correct ones to the finals. */
gt_status gt_window_search(struct gt_tune_result *result, struct gt_finals *finals,
                           const struct gt_window_setup *setup, struct gt_err *err);

/* The row of a trial that ended in t's run with *r. Texts are borrowed. */
struct gt_trial_row gt_trial_row_of(const struct gt_tuner *t,
                                    const struct gt_db_subject *subject,
                                    const struct gt_result *r);

#endif
