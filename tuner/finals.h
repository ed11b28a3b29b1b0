/* SPDX-License-Identifier: Apache-2.0 */
/*
 * finals.h - the best candidates of a problem, measured again: in a fresh worker, on fresh data,
 * interleaved. That figure is what is stored.
 */
#ifndef GT_TUNER_FINALS_H
#define GT_TUNER_FINALS_H

#include "tuner/tune.h"

/* The best of what was screened, best first, and what they are compared with. */
struct gt_finals {
    int count;
    struct {
        struct gt_candidate candidate;
        double screen_ns;
    } best[GT_FINALISTS_MAX];
    double naive_ns, tile_ns;
};

void gt_finals_offer(struct gt_finals *f, const struct gt_candidate *c,
                     const struct gt_measurement *m);

/* Measures the finalists and stores the records, unless nothing is new since they were stored. */
gt_status gt_finals_decide(struct gt_tune_result *result, const struct gt_finals *f,
                           struct gt_tuner *t, const struct gt_sweep_item *item,
                           struct gt_err *err);

#endif
