/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tune.c - `gemmtune tune`: a list of problems on one device, each searched for as long as
 * it may take, every trial committed.
 */
#include "core/clock.h"
#include "tuner/tune/ahead.h"
#include "tuner/cmd/common.h"
#include "tuner/lab/lab.h"
#include "tuner/cmd/session.h"
#include "tuner/cmd/tune_report.h"
#include "tuner/tune/tune.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct values {
    const char *device, *sizes, *db, *effort, *strategy;
    struct gt_texts families, templates;
    double budget, timeout;
    int64_t seed, jobs;
    bool dry_run, quiet;
    struct gt_format format;
};

static const struct gt_option options[] = {
    GT_OPTION_DEVICE(struct values),
    {"sizes", 's', GT_OPT_TEXT, offsetof(struct values, sizes), "FILE",
     "problems to tune (sweep.json)", 0, 0},
    GT_OPTION_DB(struct values),
    {"budget", 'b', GT_OPT_SECONDS, offsetof(struct values, budget), "TIME",
     "time for all problems together, shared by weight: 90s, 5m, 1h", 0, 0},
    GT_OPTION_EFFORT(struct values),
    {"strategy", 0, GT_OPT_TEXT, offsetof(struct values, strategy), "NAME",
     "how to search: model (default), ils, anneal, genetic, clblast, random or full", 0, 0},
    {"family", 'f', GT_OPT_NAMES, offsetof(struct values, families), "NAMES",
     "try these families only, with commas between; may be repeated", 0, 0},
    GT_OPTION_TEMPLATES(struct values),
    GT_OPTION_SEED(struct values),
    {"timeout", 0, GT_OPT_SECONDS, offsetof(struct values, timeout), "TIME",
     "for compiling one candidate, and for its launches (default: a minute, and by the "
     "size "
     "of the problem)",
     0, 0},
    {"jobs", 'j', GT_OPT_INT, offsetof(struct values, jobs), "N",
     "compile workers (default: by the number of cores)", 0, 32},
    {"dry-run", 'n', GT_OPT_FLAG, offsetof(struct values, dry_run), NULL,
     "count points, estimate time and memory; run nothing", 0, 0},
    GT_OPTION_QUIET(struct values),
    GT_OPTION_JSON(struct values),
    GT_OPTION_CSV(struct values),
    GT_OPTION_END,
};

/* ---- --dry-run ---- */

/* A problem and what tuning it would take. */
struct dry_row {
    const char *problem;
    size_t points, trials;
    double seconds, bytes;
    struct gt_err why; /* "", or why it cannot be tuned */
};

#define DRY(X)                                                                             \
    X("problem", "problem", TEXT, 0, r->problem, "its name")                               \
    X("points", "points", COUNT, 0, r->points,                                             \
      "points that may be tried, of all families")                                         \
    X("trials", "trials", COUNT, 0, r->trials, "points that would be tried at most")       \
    X("seconds", "seconds", COUNT, 0, round(r->seconds * 10) / 10,                         \
      "time of the search, estimated")                                                     \
    X("device_bytes", "device memory", BYTES, 1, r->bytes, "device memory that is needed") \
    X("status", "status", TAIL, 0, gt_cell_filled(r->why.line), "why it cannot be tuned")
GT_COLUMNS(dry, struct dry_row, DRY)
static const struct gt_form dry = GT_FORM(dry, "with --dry-run");

struct dry_total {
    double seconds;
    size_t refused; /* problems that cannot be tuned */
};

/* Legal points of all families; 0 and why when there are none. */
static size_t count_points(const struct gt_tuner *t, const gemmtune_problem *p,
                           struct gt_err *why) {
    struct gt_space *space = NULL;
    struct gt_err untried;
    size_t points = 0;
    int spaces = 0;
    if (gt_tune_spaces(&space, &spaces, &untried, t, p, why) != GEMMTUNE_OK)
        return 0;
    for (int i = 0; i < spaces; i++)
        points += space[i].count;
    gt_tune_spaces_free(space, spaces);
    return points;
}

static gt_status add_item(struct dry_total *total, struct gt_table *t,
                          const struct gt_tuner *tuner, const struct gt_sweep_item *item,
                          struct gt_err *err) {
    /* seconds a trial, as seen: compiling on a CPU device, compiling ahead elsewhere */
    const double one = tuner->device.is_cpu ? 0.4 : 0.06;
    const double cap = tuner->device.is_cpu ? tuner->effort->cpu_s : tuner->effort->gpu_s;
    struct dry_row row = {.problem = item->name};
    row.points = count_points(tuner, &item->problem, &row.why);
    row.trials = row.points < tuner->effort->trials ? row.points : tuner->effort->trials;
    row.seconds = cap > 0 ? fmin(cap, (double)row.trials * one) : (double)row.trials * one;
    row.bytes = (double)gt_lab_bytes(&item->problem, &tuner->device);
    total->seconds += row.seconds;
    total->refused += row.why.line[0] != '\0';
    return add_dry(t, &row, err);
}

/* Exits as the run itself would: a problem that cannot be tuned does not keep the others.
 */
static int dry_run(const struct gt_tuner *tuner, const struct gt_sweep *sweep,
                   const struct gt_format *format) {
    struct gt_err err = {""};
    struct gt_table *t = NULL;
    struct dry_total total = {0};
    gt_status status = gt_table_create(&t, &dry, &err);
    for (size_t i = 0; status == GEMMTUNE_OK && i < sweep->count; i++)
        status = add_item(&total, t, tuner, &sweep->item[i], &err);
    if (status == GEMMTUNE_OK) {
        gt_common_print(t, format);
        fprintf(stderr, "%zu problems on %s, about %.0f s of search\n", sweep->count,
                tuner->device.name, total.seconds);
    }
    gt_table_destroy(t);
    return status          ? gt_common_fail(status, &err)
           : total.refused ? GT_EXIT_FAILURE
                           : GT_EXIT_OK;
}

/* ---- the run ---- */

/* Seconds of search for problem i: its share by weight of what is left of the budget, less
 * what a problem takes `beside` its search (spaces, set-up, finals), or the last ones would
 * get nothing; without a budget the effort's. */
static double share(const struct values *v, const struct gt_tuner *t,
                    const struct gt_sweep *s, size_t i, double spent, double beside) {
    double weights = 0;
    if (v->budget <= 0)
        return t->device.is_cpu ? t->effort->cpu_s : t->effort->gpu_s;
    for (size_t j = i; j < s->count; j++)
        weights += s->item[j].weight;
    const double fair = fmax((v->budget - spent) * s->item[i].weight / weights, 0.001);
    return fmax(fair - beside, fair / 4);
}

static void say_done(struct gt_tuner *t, const struct gt_sweep_item *item,
                     const struct gt_tune_result *r) {
    char line[1024], ns[GT_CELL_MAX], rate[GT_CELL_MAX], passed[64] = "";
    char lost[64] = "";
    if (r->dropped > 0)
        snprintf(lost, sizeof lost, ", %d samples dropped: throttled", r->dropped);
    if (r->hopeless > 0)
        snprintf(passed, sizeof passed, ", %zu too slow by their code", r->hopeless);
    const int n = snprintf(line, sizeof line, "[%zu/%zu] %s: ", t->progress.problem,
                           t->progress.problems, item->name);
    char *rest = line + n;
    const size_t room = sizeof line - (size_t)n;
    if (r->error[0])
        snprintf(rest, room, "%s", r->error);
    else if (r->winners == 0)
        snprintf(rest, room, "stopped after %zu trials", r->trials);
    else
        snprintf(rest, room, "%s %s, %s GFLOP/s, %zu trials (%zu new%s)%s: %s",
                 r->winner[0].candidate.family, gt_show_ns(ns, r->winner[0].time.median_ns),
                 gt_show_rate(rate, gt_problem_flops(&item->problem),
                              r->winner[0].time.median_ns),
                 r->trials, r->fresh, passed, lost, r->winner[0].candidate.point);
    gt_progress_line(&t->progress, line);
}

static gt_status tune_all(struct gt_tune_result *result, struct gt_tuner *t,
                          const struct values *v, const struct gt_sweep *sweep,
                          size_t *done, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    const double started = gt_seconds();
    double beside = 0; /* seconds, of all problems so far */
    for (*done = 0; status == GEMMTUNE_OK && *done < sweep->count && !gt_session_stop;
         (*done)++) {
        const size_t i = *done;
        const double began = gt_seconds();
        const double seconds =
            share(v, t, sweep, i, began - started, i > 0 ? beside / (double)i : 0);
        t->progress.problem = i + 1;
        t->next = i + 1 < sweep->count ? &sweep->item[i + 1] : NULL;
        status = gt_tune_problem(&result[i], t, &sweep->item[i], seconds, err);
        beside += fmax(gt_seconds() - began - seconds, 0);
        if (status == GEMMTUNE_OK)
            say_done(t, &sweep->item[i], &result[i]);
    }
    gt_ahead_clear(&t->ahead);
    return status;
}

/* Where the time went, below the table. */
static void say_use(const struct gt_tuner *t, const struct gt_tune_result *result,
                    size_t done) {
    const double seconds = gt_seconds() - t->progress.started, percent = 100 / seconds;
    const struct gt_pool_use use = gt_pool_use(t->pool);
    size_t points = 0;
    for (size_t i = 0; i < done; i++)
        points += result[i].fresh;
    if (t->progress.quiet || points == 0)
        return;
    fprintf(stderr,
            "%zu points in %.1f s, %.1f a second; the device was busy for %.0f %%, set up "
            "for %.0f %%, loaded for %.0f %% of it, and waited for compilers for %.0f %%\n",
            points, seconds, (double)points / seconds, percent * use.running_s,
            percent * use.preparing_s, percent * use.building_s,
            percent * use.compile_wait_s);
}

static int verdict(const struct gt_tune_result *result, size_t done, size_t count) {
    if (gt_session_stop)
        return GT_EXIT_STOPPED;
    for (size_t i = 0; i < done; i++)
        if (result[i].winners == 0)
            return GT_EXIT_FAILURE;
    return done < count ? GT_EXIT_FAILURE : GT_EXIT_OK;
}

static int tune_and_report(struct gt_tuner *t, const struct values *v,
                           const struct gt_sweep *sweep, const char *again) {
    struct gt_err err = {""}, ignored;
    size_t done = 0;
    struct gt_tune_result *result = calloc(sweep->count + 1, sizeof *result);
    gt_status status = result ? gt_session_begin_run(t, again, &err)
                              : gt_fail(&err, GEMMTUNE_ENOMEM, "no memory for the results");
    gt_session_catch();
    if (status == GEMMTUNE_OK)
        status = tune_all(result, t, v, sweep, &done, &err);
    if (status == GEMMTUNE_OK)
        status = gt_tune_report(result, sweep, done, &v->format, &err);
    if (status == GEMMTUNE_OK)
        say_use(t, result, done);
    if (t->run_id)
        (void)gt_db_run_end(t->db, t->run_id,
                            status            ? "failed"
                            : gt_session_stop ? "stopped"
                                              : "done",
                            &ignored);
    const int code = status != GEMMTUNE_OK ? gt_common_fail(status, &err)
                                           : verdict(result, done, sweep->count);
    if (code == GT_EXIT_STOPPED)
        fprintf(stderr,
                "stopped; everything measured is stored, the same command goes on\n");
    free(result);
    return code;
}

/* ---- options ---- */

static int load_problems(struct gt_sweep *s, const struct values *v, int argc, char **argv,
                         int first) {
    struct gt_err err = {""};
    gt_status status = GEMMTUNE_OK;
    if (!v->sizes && first == argc)
        return gt_die(GT_EXIT_USAGE, "nothing to tune: give --sizes FILE or problem names");
    if (v->sizes)
        status = gt_sweep_load(s, v->sizes, &err);
    for (int i = first; status == GEMMTUNE_OK && i < argc; i++)
        status = gt_sweep_add(s, argv[i], &err);
    return status != GEMMTUNE_OK ? gt_die(GT_EXIT_INPUT, "%s", err.line) : -1;
}

static int choose(struct gt_tuner *t, const struct values *v) {
    t->effort = gt_effort_choose(v->effort, v->budget);
    if (!t->effort)
        return gt_die(GT_EXIT_USAGE, "there is no effort '%s': quick, normal or full",
                      v->effort);
    const char *strategy = v->strategy                            ? v->strategy
                           : strcmp(t->effort->name, "full") == 0 ? "full"
                                                                  : gt_strategies[0]->name;
    t->strategy = gt_strategy_find(strategy);
    if (!t->strategy)
        return gt_die(GT_EXIT_USAGE, "there is no strategy '%s': %s", strategy,
                      gt_strategy_names());
    return -1;
}

static int check_families(const struct gt_tuner *t) {
    const struct gt_family *f;
    int code = -1;
    for (int i = 0; code < 0 && i < t->only->count; i++)
        code = gt_common_family(&f, t->families, t->only->text[i]);
    return code;
}

static int with_session(struct gt_tuner *t, const struct values *v,
                        const struct gt_sweep *sweep) {
    struct gt_session session;
    char again[GT_AGAIN_MAX];
    const struct gt_session_setup setup = {.device = v->device,
                                           .templates = &v->templates,
                                           .compilers = v->jobs,
                                           .timeout_s = v->timeout};
    int code = gt_session_open(&session, &setup);
    if (code >= 0)
        return code;
    gt_session_lend(t, &session, sweep->count, v->quiet);
    gt_session_again(again, &setup);
    code = check_families(t);
    if (code < 0 && v->dry_run)
        code = dry_run(t, sweep, &v->format);
    if (code < 0)
        code = gt_common_write_db(&t->db, v->db);
    if (code < 0)
        code = tune_and_report(t, v, sweep, again);
    gt_db_close(t->db);
    gt_session_close(&session);
    return code;
}

static int run(const struct gt_cmd *cmd, int argc, char **argv) {
    struct values v = {.seed = 1, .jobs = -1};
    struct gt_sweep sweep = {0};
    struct gt_tuner *t = NULL;
    int first = 0;
    int code = gt_common_parse(cmd, argc, argv, &v, &v.format, 0, argc, &first);
    if (code < 0)
        code = load_problems(&sweep, &v, argc, argv, first);
    if (code < 0) {
        t = calloc(1, sizeof *t);
        code = t ? choose(t, &v) : gt_die(GT_EXIT_FAILURE, "out of memory");
    }
    if (code < 0) {
        t->only = &v.families;
        t->seed = (uint64_t)v.seed;
        t->strict = v.budget > 0;
        code = with_session(t, &v, &sweep);
    }
    gt_sweep_clear(&sweep);
    free(t);
    return code;
}

const struct gt_cmd gt_cmd_tune = {
    .name = "tune",
    .operands = "--device N (--sizes FILE | PROBLEM...)",
    .about = "Search for the fastest kernel of each problem and store it.",
    .options = options,
    .run = run,
};
