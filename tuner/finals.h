/* SPDX-License-Identifier: Apache-2.0 */
/*
 * finals.h - the best candidates of a problem, measured again: in a fresh worker, on fresh data,
 * interleaved. That figure is what is stored.
 */
#ifndef GT_TUNER_FINALS_H
#define GT_TUNER_FINALS_H

#include "tuner/tune.h"

struct gt_finalist {
    struct gt_candidate candidate;
    double screen_ns; /* 0: there is none */
    int64_t ended_ms; /* since 1970: when it was tried */
};

/* The best of what was screened, best first, and what they are compared with. `spare` is the best
 * of those that need no workspace: it serves who gives none, so it is measured in any case. */
struct gt_finals {
    int count;
    struct gt_finalist best[GT_FINALISTS_MAX], spare;
    double naive_ns, tile_ns;
};

void gt_finals_offer(struct gt_finals *f, const struct gt_tuner *t,
                     const gemmtune_problem *p, const struct gt_finalist *who);

/* Measures the finalists and stores the records. What is stored already keeps its place unless one
 * that was tried later beats it in the same finals; when there is none, nothing is measured. */
gt_status gt_finals_decide(struct gt_tune_result *result, const struct gt_finals *f,
                           struct gt_tuner *t, const struct gt_sweep_item *item,
                           struct gt_err *err);

#endif
