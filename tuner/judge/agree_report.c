/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agree_report.c - the tables of `gemmtune agree`: one with a line for each problem, one
 * with a line for each run.
 */
#include "tuner/judge/agree_report.h"

#include <math.h>

static double hundredths(double x) {
    return round(100 * x) / 100;
}

/* ---- a line a problem ---- */

struct summary {
    const struct gt_agree_study *study;
    double seconds, trials, points_per_s, busy; /* averages over the runs */
};

static struct summary sum_up(const struct gt_agree_study *s) {
    struct summary sum = {.study = s};
    for (int i = 0; i < s->runs; i++) {
        const struct gt_tune_result *r = &s->result[i];
        sum.trials += (double)r->trials / s->runs;
        sum.points_per_s += (double)r->fresh / r->seconds / s->runs;
        sum.busy += 100 * r->use.running_s / r->seconds / s->runs;
        sum.seconds += r->seconds / s->runs;
    }
    return sum;
}

static double over_stored(const struct summary *s) {
    return s->study->stored >= 0
               ? hundredths(100 * s->study->agreement.median_over_reference)
               : (double)NAN;
}

#define SUMMARIES(X)                                                                       \
    X("problem", "problem", TEXT, 0, r->study->problem, "its name")                        \
    X("runs", "runs", COUNT, 1, r->study->agreement.runs, "runs that chose a kernel")      \
    X("winners", "winners", COUNT, 1, r->study->agreement.winners, "different choices")    \
    X("same", "same", COUNT, 0, r->study->agreement.same,                                  \
      "runs with the most frequent choice")                                                \
    X("same_or_tied", "or tied", COUNT, 0, r->study->agreement.same_tie,                   \
      "the same, plus runs that found it tied with their choice")                          \
    X("found_again", "found again", COUNT, 2, r->study->agreement.found_again,             \
      "runs whose winner was measured again with a median in the stored interval")         \
    X("median_regret_percent", "regret %", COUNT, 0,                                       \
      hundredths(100 * r->study->agreement.median_regret),                                 \
      "how much slower a run's choice is than the best one, median")                       \
    X("most_regret_percent", "at most %", COUNT, 0,                                        \
      hundredths(100 * r->study->agreement.most_regret), "the same for the worst run")     \
    X("over_known_percent", "over known %", COUNT, 3, over_stored(r),                      \
      "how much slower than the winner of --db, median")                                   \
    X("seconds", "seconds", COUNT, 0, hundredths(r->seconds), "time of a run")             \
    X("trials", "trials", COUNT, 2, round(r->trials), "trials of a run")                   \
    X("points_per_s", "points/s", COUNT, 4, hundredths(r->points_per_s),                   \
      "new trials a second")                                                               \
    X("device_busy_percent", "busy %", COUNT, 4, round(r->busy),                           \
      "part of the time in which the device ran kernels")
GT_COLUMNS(summary, struct summary, SUMMARIES)
const struct gt_form gt_agree_form = GT_FORM(summary, "");

gt_status gt_agree_add(struct gt_table *t, const struct gt_agree_study *s,
                       struct gt_err *err) {
    const struct summary row = sum_up(s);
    return add_summary(t, &row, err);
}

/* ---- a line a run ---- */

struct run {
    const struct gt_agree_study *study;
    int number; /* counts from 0 */
    const struct gt_agree_run *run;
    const struct gt_measurement *stored, *again;
    bool both; /* it was measured by its run and again */
};

static const struct gt_candidate *choice_of(const struct run *r) {
    static const struct gt_candidate none;
    return r->stored->samples > 0 ? &r->study->winner[r->run->choice] : &none;
}

/* The value, or an empty cell for a run that was not measured both times. */
static double of_both(const struct run *r, double value) {
    return r->both ? value : (double)NAN;
}

static double run_over_stored(const struct run *r) {
    return r->study->stored >= 0 ? of_both(r, hundredths(100 * r->run->over_reference))
                                 : (double)NAN;
}

#define RUNS(X)                                                                            \
    X("problem", "problem", TEXT, 0, r->study->problem, "its name")                        \
    X("run", "run", COUNT, 0, r->number + 1, "number of the run")                          \
    X("family", "family", TEXT, 0, gt_cell_filled(choice_of(r)->family),                   \
      "family of the run's winner")                                                        \
    X("point", "point", POINT, 1, gt_cell_filled(choice_of(r)->point),                     \
      "values of its family's parameters")                                                 \
    X("median_ns", "stored", NS, 0, r->stored->median_ns,                                  \
      "median time that the run stored")                                                   \
    X("low_ns", NULL, COUNT, 0, gt_interval_low(r->stored),                                \
      "lower end of its 95 % interval")                                                    \
    X("high_ns", NULL, COUNT, 0, gt_interval_high(r->stored), "upper end of the interval") \
    X("samples", NULL, COUNT, 0, r->stored->samples, "its samples")                        \
    X("again_median_ns", "again", NS, 0, r->again->median_ns,                              \
      "median time, measured again beside the other runs' winners")                        \
    X("again_low_ns", NULL, COUNT, 0, gt_interval_low(r->again),                           \
      "lower end of its 95 % interval")                                                    \
    X("again_high_ns", NULL, COUNT, 0, gt_interval_high(r->again),                         \
      "upper end of the interval")                                                         \
    X("again_samples", NULL, COUNT, 0, r->again->samples, "its samples")                   \
    X("found_again", "found again", BOOL, 2, of_both(r, r->run->found_again),              \
      "whether the new median lies in the stored interval")                                \
    X("regret_percent", "regret %", COUNT, 0, hundredths(100 * r->run->regret),            \
      "how much slower than the best choice")                                              \
    X("clock_mhz", "MHz", COUNT, 4, r->stored->clock_mhz, "clock of the stored time")      \
    X("again_clock_mhz", "MHz again", COUNT, 4, r->again->clock_mhz, "clock now")          \
    X("dropped", "dropped", COUNT, 5, r->stored->dropped,                                  \
      "samples left out because the device throttled its clock")                           \
    X("unsettled", "unsettled", COUNT, 5, r->stored->unsettled,                            \
      "samples left out because the clock had not settled")                                \
    X("over_known_percent", "over known %", COUNT, 3, run_over_stored(r),                  \
      "how much slower than the winner of --db")                                           \
    X("trials", "trials", COUNT, 2, r->study->result[r->number].trials, "its trials")      \
    X("seconds", "seconds", COUNT, 2, hundredths(r->study->result[r->number].seconds),     \
      "its time")
GT_COLUMNS(run, struct run, RUNS)
const struct gt_form gt_agree_run_form = GT_FORM(run, "with --each");

gt_status gt_agree_add_runs(struct gt_table *t, const struct gt_agree_study *s,
                            struct gt_err *err) {
    static const struct gt_measurement nothing;
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; status == GEMMTUNE_OK && i < s->runs; i++) {
        const struct gt_agree_run *run = &s->run[i];
        struct run row = {
            s,    i, run, &run->stored, run->choice < 0 ? &nothing : &s->again[run->choice],
            false};
        row.both = row.stored->samples > 0 && row.again->samples > 0;
        status = add_run(t, &row, err);
    }
    return status;
}
