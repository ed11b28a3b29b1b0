/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tune.c - `gemmtune tune`: a list of problems on one device, each searched for as long as
 * it may take, every trial committed.
 */
#include "core/clock.h"
#include "tuner/base/cores.h"
#include "tuner/tune/ahead.h"
#include "tuner/cmd/common.h"
#include "tuner/lab/lab.h"
#include "tuner/cmd/session.h"
#include "tuner/cmd/tune_report.h"
#include "tuner/tune/tune.h"
#include "tuner/tune/tuned.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct values {
    const char *device, *sizes, *db, *effort, *strategy;
    struct gt_texts families, templates;
    double budget, timeout;
    int64_t seed, jobs;
    bool dry_run, again, quiet;
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
    {"again", 0, GT_OPT_FLAG, offsetof(struct values, again), NULL,
     "search again what is tuned with at least this effort", 0, 0},
    GT_OPTION_QUIET(struct values),
    GT_OPTION_JSON(struct values),
    GT_OPTION_CSV(struct values),
    GT_OPTION_WIDE(struct values),
    GT_OPTION_END,
};

/* ---- what is tuned already ---- */

/* Seconds of search that problem i may count on: its share of the budget by weight, the
 * same in every run of a command; without a budget the effort's; 0: no limit. */
static double promised(const struct values *v, const struct gt_tuner *t,
                       const struct gt_sweep *s, size_t i) {
    double weights = 0;
    if (v->budget <= 0)
        return t->device.is_cpu ? t->effort->cpu_s : t->effort->gpu_s;
    for (size_t j = 0; j < s->count; j++)
        weights += s->item[j].weight;
    return v->budget * s->item[i].weight / weights;
}

/* Fills in the results of the problems that need not be searched. */
static gt_status find_tuned(struct gt_tune_result *result, const struct gt_tuner *t,
                            const struct values *v, const struct gt_sweep *sweep,
                            struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    for (size_t i = 0; i < sweep->count && status == GEMMTUNE_OK; i++) {
        bool found = false;
        if (v->again || t->db == NULL)
            break;
        status = gt_tuned_find(&found, &result[i], t, &sweep->item[i],
                               promised(v, t, sweep, i), err);
        if (!found)
            memset(&result[i], 0, sizeof result[i]);
    }
    return status;
}

/* ---- --dry-run ---- */

/* A problem and what tuning it would take. */
struct dry_row {
    const char *problem;
    size_t points, trials;
    double seconds, bytes;
    struct gt_err why; /* "", "tuned", or why it cannot be tuned */
};

#define DRY(X)                                                                             \
    X("problem", "problem", TEXT, 0, r->problem, "its name")                               \
    X("points", "points", COUNT, 0, r->points,                                             \
      "points that may be tried, of all families")                                         \
    X("trials", "trials", COUNT, 0, r->trials, "points that would be tried at most")       \
    X("seconds", "seconds", COUNT, 0, round(r->seconds * 10) / 10,                         \
      "time of tuning it, estimated")                                                      \
    X("device_bytes", "device memory", BYTES, 1, r->bytes, "device memory that is needed") \
    X("status", "status", TAIL, 0, gt_cell_filled(r->why.line),                            \
      "tuned, or why it cannot be tuned")
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

static size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

static gt_status add_item(struct dry_total *total, struct gt_table *t,
                          const struct gt_tuner *tuner, const struct gt_sweep_item *item,
                          bool is_tuned, struct gt_err *err) {
    /* seconds a trial, as seen: compiling on a CPU device, compiling ahead elsewhere */
    const double one = tuner->device.is_cpu ? 0.4 : 0.06;
    /* seconds a problem, as seen on idle cores: spaces, set-up, trials begun in time,
     * finals */
    const double beside = (tuner->device.is_cpu ? 5 : 1) * gt_cores_crowding();
    const double cap = tuner->device.is_cpu ? tuner->effort->cpu_s : tuner->effort->gpu_s;
    struct dry_row row = {.problem = item->name};
    row.points = count_points(tuner, &item->problem, &row.why);
    total->refused += row.why.line[0] != '\0';
    if (is_tuned) {
        (void)snprintf(row.why.line, sizeof row.why.line, "tuned");
    } else {
        row.trials = smaller(row.points, tuner->effort->trials);
        row.seconds = beside + (double)row.trials * one;
        if (cap > 0)
            row.seconds = fmin(row.seconds, beside + cap);
    }
    row.bytes = (double)gt_lab_bytes(&item->problem, &tuner->device);
    total->seconds += row.seconds;
    return add_dry(t, &row, err);
}

/* Exits as the run itself would: a problem that cannot be tuned does not keep the others.
 */
static int dry_run(const struct gt_tuner *tuner, const struct values *v,
                   const struct gt_sweep *sweep) {
    struct gt_err err = {""};
    struct gt_table *t = NULL;
    struct dry_total total = {0};
    struct gt_progress progress = tuner->progress;
    struct gt_tune_result *result = calloc(sweep->count + 1, sizeof *result);
    gt_status status = result != NULL
                           ? find_tuned(result, tuner, v, sweep, &err)
                           : gt_fail(&err, GEMMTUNE_ENOMEM, "no memory for the results");
    if (status == GEMMTUNE_OK)
        status = gt_table_create(&t, &dry, &err);
    for (size_t i = 0; status == GEMMTUNE_OK && i < sweep->count; i++) {
        gt_progress_count(&progress, "counting points", i, sweep->count);
        status = add_item(&total, t, tuner, &sweep->item[i], result[i].before, &err);
    }
    gt_progress_end(&progress);
    if (status == GEMMTUNE_OK) {
        gt_common_print(t, &v->format);
        fprintf(stderr, "%zu problems on %s, about %.0f s\n", sweep->count,
                tuner->device.name, total.seconds);
    }
    gt_table_destroy(t);
    free(result);
    return status          ? gt_common_fail(status, &err)
           : total.refused ? GT_EXIT_FAILURE
                           : GT_EXIT_OK;
}

/* ---- the run ---- */

/* Seconds of search for problem i: its share by weight of what is left of the budget for
 * problems that are to be searched, less what a problem takes `beside` its search (spaces,
 * set-up, finals), or the last ones would get nothing; without a budget the effort's. */
static double share(const struct values *v, const struct gt_tuner *t,
                    const struct gt_sweep *s, const struct gt_tune_result *result, size_t i,
                    double spent, double beside) {
    double weights = 0;
    if (v->budget <= 0)
        return promised(v, t, s, i);
    for (size_t j = i; j < s->count; j++)
        if (!result[j].before)
            weights += s->item[j].weight;
    const double fair = fmax((v->budget - spent) * s->item[i].weight / weights, 0.001);
    return fmax(fair - beside, fair / 4);
}

static void say_done(struct gt_tuner *t, const struct gt_sweep_item *item,
                     const struct gt_tune_result *r) {
    char line[1024], ns[GT_CELL_MAX], rate[GT_CELL_MAX];
    char lost[64] = "";
    if (r->dropped > 0)
        snprintf(lost, sizeof lost, ", %d samples dropped: throttled", r->dropped);
    const int n = snprintf(line, sizeof line, "[%zu/%zu] %s: ", t->progress.problem,
                           t->progress.problems, item->name);
    char *rest = line + n;
    const size_t room = sizeof line - (size_t)n;
    if (r->error[0])
        snprintf(rest, room, "%s", r->error);
    else if (r->winners == 0)
        snprintf(rest, room, "stopped after %zu trials", r->trials);
    else if (r->before)
        snprintf(rest, room, "tuned before, %s %s; --again searches again",
                 r->winner[0].candidate.family,
                 gt_show_ns(ns, r->winner[0].time.median_ns));
    else
        snprintf(rest, room, "%s %s, %s GFLOP/s, %zu trials (%zu new)%s: %s",
                 r->winner[0].candidate.family, gt_show_ns(ns, r->winner[0].time.median_ns),
                 gt_show_rate(rate, gt_problem_flops(&item->problem),
                              r->winner[0].time.median_ns),
                 r->trials, r->fresh, lost, r->winner[0].candidate.point);
    gt_progress_line(&t->progress, line);
}

/* The next problem that is to be searched; NULL: there is none. */
static const struct gt_sweep_item *after(const struct gt_sweep *sweep,
                                         const struct gt_tune_result *result, size_t i) {
    do
        i++;
    while (i < sweep->count && result[i].before);
    return i < sweep->count ? &sweep->item[i] : NULL;
}

/* So far. */
struct spent {
    double started; /* by gt_seconds */
    double beside;  /* seconds of all problems but for their searches */
    size_t problems;
};

static gt_status tune_one(struct gt_tune_result *result, struct spent *spent,
                          struct gt_tuner *t, const struct values *v,
                          const struct gt_sweep *sweep, size_t i, struct gt_err *err) {
    const double began = gt_seconds();
    const double beside = spent->problems > 0 ? spent->beside / (double)spent->problems : 0;
    const double seconds = share(v, t, sweep, result, i, began - spent->started, beside);
    t->next = after(sweep, result, i);
    gt_status status = gt_tune_problem(&result[i], t, &sweep->item[i], seconds, err);
    if (status == GEMMTUNE_OK)
        status =
            gt_tuned_note(&result[i], t, &sweep->item[i], promised(v, t, sweep, i), err);
    spent->beside += fmax(gt_seconds() - began - seconds, 0);
    spent->problems++;
    return status;
}

static gt_status tune_all(struct gt_tune_result *result, struct gt_tuner *t,
                          const struct values *v, const struct gt_sweep *sweep,
                          size_t *done, struct gt_err *err) {
    struct spent spent = {.started = gt_seconds()};
    gt_status status = find_tuned(result, t, v, sweep, err);
    for (*done = 0; status == GEMMTUNE_OK && *done < sweep->count && !gt_session_stop;
         (*done)++) {
        const size_t i = *done;
        t->progress.problem = i + 1;
        if (!result[i].before)
            status = tune_one(result, &spent, t, v, sweep, i, err);
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
        if (result[i].winners == 0 || result[i].error[0] != '\0')
            return GT_EXIT_FAILURE;
    return done < count ? GT_EXIT_FAILURE : GT_EXIT_OK;
}

static int tune_and_report(struct gt_tuner *t, const struct values *v,
                           const struct gt_sweep *sweep, const struct gt_session *session) {
    struct gt_err err = {""};
    size_t done = 0;
    struct gt_tune_result *result = calloc(sweep->count + 1, sizeof *result);
    gt_status status = result ? gt_session_begin_run(t, session, &err)
                              : gt_fail(&err, GEMMTUNE_ENOMEM, "no memory for the results");
    gt_session_catch();
    if (status == GEMMTUNE_OK)
        status = tune_all(result, t, v, sweep, &done, &err);
    if (status == GEMMTUNE_OK)
        status = gt_tune_report(result, sweep, done, &v->format, &err);
    if (status == GEMMTUNE_OK)
        say_use(t, result, done);
    gt_session_end_run(t, status);
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

/* What the session is opened for. */
struct request {
    const struct values *v;
    const struct gt_sweep *sweep;
};

/* A dry run makes no database. */
static int open_db(struct gt_tuner *t, const struct values *v) {
    if (!v->dry_run)
        return gt_common_write_db(&t->db, v->db);
    if (v->db != NULL && access(v->db, F_OK) != 0)
        return -1;
    return gt_common_read_db(&t->db, v->db);
}

static int work(struct gt_tuner *t, struct gt_session *session, void *user) {
    const struct request *r = user;
    int code = open_db(t, r->v);
    if (code < 0)
        code = r->v->dry_run ? dry_run(t, r->v, r->sweep)
                             : tune_and_report(t, r->v, r->sweep, session);
    gt_db_close(t->db);
    return code;
}

static int tune(struct gt_tuner *t, const struct values *v, const struct gt_sweep *sweep) {
    const struct gt_session_search how = {v->effort, v->strategy, v->budget};
    const struct gt_session_setup setup = {.device = v->device,
                                           .templates = &v->templates,
                                           .compilers = v->jobs,
                                           .timeout_s = v->timeout};
    struct request request = {v, sweep};
    t->only = &v->families;
    t->seed = (uint64_t)v->seed;
    t->strict = v->budget > 0;
    const int code = gt_session_choose(t, &how);
    return code >= 0 ? code
                     : gt_session_tune(t, &setup, sweep->count, v->quiet, work, &request);
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
        code = t ? tune(t, &v, &sweep) : gt_die(GT_EXIT_FAILURE, "out of memory");
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
    .tables = (const struct gt_form *const[]){&gt_tune_form, &dry, NULL},
    .run = run,
};
