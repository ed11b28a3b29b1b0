/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tune_report.c - prints a line for each problem: the winner, how it compares, and the cost
 * of the search.
 */
#include "tuner/cmd/tune_report.h"

#include "runtime/plan/workspace.h"
#include "tuner/tune/finals_limit.h"

#include <math.h>
#include <stdio.h>

/* A problem and its result. */
struct row {
    const struct gt_sweep_item *item;
    const struct gt_tune_result *result;
    char failures[256];
};

/* Writes "compile 3, wrong_result 1"; "" when nothing failed. */
static void say_failures(struct row *row) {
    const struct gt_tune_result *r = row->result;
    size_t used = 0;
    for (int i = 0; i < GT_OUTCOMES; i++)
        if (i != GT_CORRECT && r->outcome[i] > 0 && used < sizeof row->failures)
            used += (size_t)snprintf(row->failures + used, sizeof row->failures - used,
                                     "%s%s %zu", used > 0 ? ", " : "",
                                     gt_outcome_word((gt_outcome)i), r->outcome[i]);
}

static const char *status_of(const struct gt_tune_result *r) {
    return r->error[0] != '\0' ? r->error
           : r->before         ? "tuned before"
           : r->winners > 0    ? "tuned"
           : r->undecided      ? "tried"
                               : "stopped";
}

/* The number of finalists that were not proven slower than the winner. */
static double tied(const struct gt_tune_result *r) {
    int count = 0;
    for (int i = 1; i < r->winners; i++)
        count += r->winner[i].tied;
    return r->winners > 0 ? count : (double)NAN;
}

/* The median of the best finalist that needs no more workspace; NAN: there is none. */
static double within(const struct gt_tune_result *r, int64_t bytes) {
    const int i = gt_finals_within(r, bytes);
    return i < r->winners ? r->winner[i].time.median_ns : (double)NAN;
}

static double workspace_of(const struct gt_tune_result *r) {
    return r->winners > 0 ? (double)r->winner[0].workspace_bytes : (double)NAN;
}

static double rounded(double value, int digits) {
    const double scale = pow(10, digits);
    return round(scale * value) / scale;
}

/* How many times as long as the winner's time; NAN, an empty cell, when one is unknown. */
static double times(double ns, const struct gt_tune_result *r) {
    return gt_cell_known(rounded(ns / r->winner[0].time.median_ns, 2));
}

static double share(double seconds, const struct gt_tune_result *r) {
    return rounded(seconds / r->seconds, 4);
}

#define RESULTS(X)                                                                         \
    X("problem", "problem", TEXT, 0, r->item->name, "its name")                            \
    X("family", "family", TEXT, 0, gt_cell_filled(r->result->winner[0].candidate.family),  \
      "family of the winner, the fastest correct kernel")                                  \
    X("point", "point", POINT, 3, gt_cell_filled(r->result->winner[0].candidate.point),    \
      "values of its family's parameters")                                                 \
    X("median_ns", "median", NS, 0, r->result->winner[0].time.median_ns,                   \
      "its median time of a product")                                                      \
    X("low_ns", "low", NS, 6, gt_interval_low(&r->result->winner[0].time),                 \
      "lower end of the median's 95 % interval")                                           \
    X("high_ns", "high", NS, GT_PAIRED(6), gt_interval_high(&r->result->winner[0].time),   \
      "upper end of the interval")                                                         \
    X("gflops", "GFLOP/s", RATE, 0,                                                        \
      gt_problem_flops(&r->item->problem) / r->result->winner[0].time.median_ns,           \
      "rate at the median")                                                                \
    X("over_baseline", "x baseline", COUNT, 1, times(r->result->baseline_ns, r->result),   \
      "how many times as long the best kernel of the baseline family takes")               \
    X("over_textbook", "x textbook", COUNT, 2, times(r->result->textbook_ns, r->result),   \
      "how many times as long the best kernel of the textbook's family takes")             \
    X("tied", "tied", COUNT, 5, tied(r->result),                                           \
      "other finalists that the measurements do not prove slower than the winner")         \
    X("workspace_bytes", "workspace", BYTES, 4, workspace_of(r->result),                   \
      "workspace that the winner needs")                                                   \
    X("within_ns", "in 32 MiB", NS, 4, within(r->result, GT_WORKSPACE_DEFAULT),            \
      "median of the best finalist that needs at most 32 MiB, as a one-call form has")     \
    X("without_ns", "without", NS, 4, within(r->result, 0),                                \
      "median of the best finalist that needs no workspace")                               \
    X("trials", "trials", COUNT, 2, r->result->trials,                                     \
      "points tried on the problem, in this run and before; 0: it was tuned before")       \
    X("correct", "correct", COUNT, 5, r->result->outcome[GT_CORRECT],                      \
      "trials that were correct and timed")                                                \
    X("failures", "failed", TAIL, 4, gt_cell_filled(r->failures),                          \
      "failed trials, by outcome")                                                         \
    X("status", "status", TAIL, 0, status_of(r->result),                                   \
      "tuned, tuned before, tried (--trials-only), stopped, or why there is no winner")    \
    X("seconds", NULL, COUNT, 0, rounded(r->result->seconds, 3), "time for the problem")   \
    X("points_per_s", NULL, COUNT, 0,                                                      \
      rounded((double)r->result->fresh / r->result->seconds, 2), "new trials a second")    \
    X("device_busy", NULL, COUNT, 0, share(r->result->use.running_s, r->result),           \
      "part of the time in which the device ran kernels")                                  \
    X("setting_up", NULL, COUNT, 0, share(r->result->use.preparing_s, r->result),          \
      "part of the time in which problems were set up")                                    \
    X("loading", NULL, COUNT, 0, share(r->result->use.building_s, r->result),              \
      "part of the time in which kernels were built or loaded")                            \
    X("compile_wait", NULL, COUNT, 0, share(r->result->use.compile_wait_s, r->result),     \
      "part of the time in which the device waited for compilers")                         \
    X("checking", NULL, COUNT, 0, share(r->result->spent.check_s, r->result),              \
      "part of the time in which results were verified")                                   \
    X("measuring", NULL, COUNT, 0, share(r->result->spent.time_s, r->result),              \
      "part of the time in which kernels were timed")
GT_COLUMNS(result, struct row, RESULTS)
const struct gt_form gt_tune_form = GT_FORM(result, "");

gt_status gt_tune_report(const struct gt_tune_result *result, const struct gt_sweep *sweep,
                         const struct gt_format *format, struct gt_err *err) {
    struct gt_table *t = NULL;
    gt_status status = gt_table_create(&t, &gt_tune_form, err);
    for (size_t i = 0; status == GEMMTUNE_OK && i < sweep->count; i++) {
        if (!result[i].reached)
            continue;
        struct row row = {&sweep->item[i], &result[i], ""};
        say_failures(&row);
        status = add_result(t, &row, err);
    }
    if (status == GEMMTUNE_OK)
        gt_common_print(t, format);
    gt_table_destroy(t);
    return status;
}
