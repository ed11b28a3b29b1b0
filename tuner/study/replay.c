/* SPDX-License-Identifier: Apache-2.0 */
/* replay.c - see replay.h. */
#include "tuner/study/replay.h"

#include "tuner/base/quantile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const double gt_replay_goal[GT_REPLAY_GOALS] = {0.90, 0.95, 0.99};
const size_t gt_replay_mark[GT_REPLAY_MARKS] = {10, 25, 50, 100, 200};

struct replay {
    const struct gt_replay_setup *setup;
    size_t budget;
    float *quality; /* by run and by evaluation */
    double spent_s; /* processor time of the strategies */
    size_t picks;
};

static double processor_s(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Makes one run. Up to `ahead` picks are open and are told in order, as in a tuner's
 * pipeline. */
static gt_status drive(struct replay *r, struct gt_search *search, float *quality,
                       struct gt_err *err) {
    const struct gt_stored *stored = r->setup->stored;
    struct gt_pick p, *given = calloc(r->budget + 1, sizeof *given);
    size_t asked = 0, told = 0;
    double best = 0;
    if (!given)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for a replay");
    for (;;) {
        const enum gt_ask answer = gt_search_ask(search, &p);
        if (answer == GT_ASK_PICK)
            given[asked++] = p;
        if (answer == GT_ASK_PICK && asked - told < (size_t)r->setup->ahead)
            continue;
        if (told == asked)
            break;
        p = given[told];
        const gt_outcome outcome = stored->outcome[p.space][p.index];
        const double ns = stored->ns[p.space][p.index];
        if (outcome == GT_CORRECT)
            best = fmax(best, stored->best_ns / ns);
        quality[told++] = (float)best;
        gt_search_tell(search, &p, outcome, ns);
    }
    free(given);
    r->picks += asked;
    for (; told < r->budget; told++)
        quality[told] = (float)best;
    return GEMMTUNE_OK;
}

static gt_status run_one(struct replay *r, int run, struct gt_err *err) {
    const struct gt_replay_setup *setup = r->setup;
    struct gt_search *search;
    const struct gt_search_setup s = {.space = setup->stored->space,
                                      .spaces = setup->stored->spaces,
                                      .start = setup->start,
                                      .starts = setup->starts,
                                      .budget = r->budget,
                                      .ahead = setup->ahead,
                                      .target_ns = setup->stored->best_ns,
                                      .seed = setup->first_seed + (uint64_t)run};
    const double began = processor_s();
    gt_status status = gt_search_create(&search, setup->strategy, &s, err);
    if (status == GEMMTUNE_OK)
        status = drive(r, search, r->quality + (size_t)run * r->budget, err);
    gt_search_destroy(search);
    r->spent_s += processor_s() - began;
    return status;
}

/* ---- statistics ---- */

static void reach(struct gt_replay_reach *out, const struct replay *r, double goal,
                  double *scratch) {
    const size_t runs = (size_t)r->setup->runs;
    out->runs = 0;
    for (size_t i = 0; i < runs; i++) {
        const float *quality = r->quality + i * r->budget;
        size_t at = 0;
        while (at < r->budget && (double)quality[at] < goal)
            at++;
        scratch[i] = at < r->budget ? (double)(at + 1) : HUGE_VAL;
        out->runs += at < r->budget;
    }
    gt_sort_numbers(scratch, runs);
    out->median = gt_quantile(scratch, runs, 0.5);
    out->p90 = gt_quantile(scratch, runs, 0.9);
}

static void summarize(struct gt_replay *out, const struct replay *r, double *scratch) {
    const size_t runs = (size_t)r->setup->runs;
    for (int i = 0; i < GT_REPLAY_GOALS; i++)
        reach(&out->reach[i], r, gt_replay_goal[i], scratch);
    for (size_t at = 0; at < r->budget; at++) {
        for (size_t i = 0; i < runs; i++)
            scratch[i] = (double)r->quality[i * r->budget + at];
        gt_sort_numbers(scratch, runs);
        out->median[at] = gt_quantile(scratch, runs, 0.5);
        out->low[at] = gt_quantile(scratch, runs, 0.1);
    }
    out->pick_us = r->picks > 0 ? 1e6 * r->spent_s / (double)r->picks : 0;
}

gt_status gt_replay_run(struct gt_replay *out, const struct gt_replay_setup *setup,
                        struct gt_err *err) {
    struct replay r = {.setup = setup};
    size_t points = 0;
    for (int i = 0; i < setup->stored->spaces; i++)
        points += setup->stored->space[i].count;
    r.budget = setup->budget < points ? setup->budget : points;
    *out = (struct gt_replay){
        .strategy = setup->strategy, .runs = setup->runs, .budget = r.budget};
    r.quality = malloc((size_t)setup->runs * r.budget * sizeof *r.quality + 1);
    double *scratch = malloc((size_t)setup->runs * sizeof *scratch);
    out->median = malloc((r.budget + 1) * sizeof *out->median);
    out->low = malloc((r.budget + 1) * sizeof *out->low);
    gt_status status = r.quality && scratch && out->median && out->low
                           ? GEMMTUNE_OK
                           : gt_fail(err, GEMMTUNE_ENOMEM, "no memory for a replay");
    for (int run = 0; status == GEMMTUNE_OK && run < setup->runs; run++)
        status = run_one(&r, run, err);
    if (status == GEMMTUNE_OK)
        summarize(out, &r, scratch);
    else
        gt_replay_clear(out);
    free(scratch);
    free(r.quality);
    return status;
}

void gt_replay_clear(struct gt_replay *r) {
    free(r->median);
    free(r->low);
    r->median = r->low = NULL;
}
