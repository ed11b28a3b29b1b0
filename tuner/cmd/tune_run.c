/* SPDX-License-Identifier: Apache-2.0 */
/* tune_run.c - the run of `gemmtune tune`: each problem searched for as long as it may
 * take, on one device after another problem, on several by their crew; the table of all. */
#include "core/clock.h"
#include "tuner/base/cores.h"
#include "tuner/base/talk.h"
#include "tuner/cmd/tune.h"
#include "tuner/cmd/tune_report.h"
#include "tuner/tune/ahead.h"
#include "tuner/tune/crew.h"
#include "tuner/tune/estimate.h"
#include "tuner/tune/seeds.h"
#include "tuner/tune/tuned.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double busy = 1.25; /* a slowdown that is worth a word */
enum { PROBLEMS_ASKED = 100 };   /* for the sources of seeds that are named */

struct run {
    struct gt_tuner *t;
    const struct gt_tune_request *r;
    struct gt_tune_result *result; /* of every problem */
    struct gt_budget budget;
    size_t said; /* problems that have had their line */
    int code;    /* the worst that a member of a crew ended with */
};

static void say_done(struct gt_tuner *t, const struct gt_sweep_item *item,
                     const struct gt_tune_result *r) {
    char line[1024], ns[GT_CELL_MAX], rate[GT_CELL_MAX];
    char lost[64] = "";
    const char *s = gt_text_plural((int64_t)r->trials);
    if (r->dropped > 0)
        snprintf(lost, sizeof lost, ", %d sample%s dropped: throttled", r->dropped,
                 gt_text_plural(r->dropped));
    const int n = snprintf(line, sizeof line, "[%zu/%zu] %s: ", t->progress.problem,
                           t->progress.problems, item->name);
    char *rest = line + n;
    const size_t room = sizeof line - (size_t)n;
    if (r->error[0])
        snprintf(rest, room, "%s", r->error);
    else if (r->undecided)
        snprintf(rest, room, "%zu trial%s (%zu new)", r->trials, s, r->fresh);
    else if (r->winners == 0)
        snprintf(rest, room, "stopped after %zu trial%s", r->trials, s);
    else if (r->before)
        snprintf(rest, room, "tuned before, %s %s; --again searches again",
                 r->winner[0].candidate.family,
                 gt_show_ns(ns, r->winner[0].time.median_ns));
    else
        snprintf(rest, room, "%s %s, %s GFLOP/s, %zu trial%s (%zu new)%s: %s",
                 r->winner[0].candidate.family, gt_show_ns(ns, r->winner[0].time.median_ns),
                 gt_show_rate(rate, gt_problem_flops(&item->problem),
                              r->winner[0].time.median_ns),
                 r->trials, s, r->fresh, lost, r->winner[0].candidate.point);
    gt_progress_line(&t->progress, line);
}

/* A problem has ended. */
static void tell(void *user, size_t i) {
    struct run *run = user;
    run->result[i].reached = true;
    run->t->progress.problem = ++run->said;
    say_done(run->t, &run->r->sweep->item[i], &run->result[i]);
}

/* ---- one device ---- */

/* The next problem that is to be searched; NULL: there is none. */
static const struct gt_sweep_item *after(const struct run *run, size_t i) {
    const struct gt_sweep *sweep = run->r->sweep;
    do
        i++;
    while (i < sweep->count && run->budget.given[i]);
    return i < sweep->count ? &sweep->item[i] : NULL;
}

static gt_status tune_one(struct run *run, size_t i, struct gt_err *err) {
    const struct gt_sweep_item *item = &run->r->sweep->item[i];
    const double seconds = gt_budget_share(&run->budget, i, 0);
    run->budget.given[i] = true;
    run->t->next = after(run, i);
    gt_status status = gt_tune_problem(&run->result[i], run->t, item, seconds, err);
    if (status == GEMMTUNE_OK)
        status = gt_tuned_note(&run->result[i], run->t, item,
                               gt_budget_promised(&run->budget, i), err);
    return status;
}

static gt_status tune_in_order(struct run *run, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    for (size_t i = 0; status == GEMMTUNE_OK && i < run->r->sweep->count; i++) {
        if (gt_session_stop)
            break;
        run->t->progress.problem = i + 1;
        if (!run->result[i].before)
            status = tune_one(run, i, err);
        if (status == GEMMTUNE_OK)
            tell(run, i);
    }
    gt_ahead_clear(&run->t->ahead);
    return status;
}

/* ---- several ---- */

static gt_status tune_together(struct run *run, struct gt_err *err) {
    const struct gt_crew_setup setup = {.devices = &run->r->devices,
                                        .word = run->r->word,
                                        .words = run->r->words,
                                        .tuner = run->t,
                                        .budget = &run->budget,
                                        .ended = tell,
                                        .user = run};
    for (size_t i = 0; i < run->r->sweep->count; i++)
        if (run->result[i].before)
            tell(run, i);
    return gt_crew_tune(run->result, &run->code, &setup, err);
}

/* ---- all of it ---- */

/* Where the time went, below the table. */
static void say_use(const struct run *run) {
    const double seconds = gt_seconds() - run->t->progress.started;
    const double percent = 100 / seconds / (double)run->r->devices.count;
    struct gt_pool_use use = {0};
    size_t points = 0;
    for (size_t i = 0; i < run->r->sweep->count; i++) {
        const struct gt_tune_result *r = &run->result[i];
        points += r->fresh;
        use.running_s += r->use.running_s;
        use.preparing_s += r->use.preparing_s;
        use.building_s += r->use.building_s;
        use.compile_wait_s += r->use.compile_wait_s;
    }
    if (run->t->progress.quiet || points == 0)
        return;
    gt_talk_line(
        "%zu point%s in %.1f s, %.1f a second; the device%s busy for %.0f %%, set up for "
        "%.0f %%, loaded for %.0f %% of it, and waited for compilers for %.0f %%",
        points, gt_text_plural((int64_t)points), seconds, (double)points / seconds,
        run->r->devices.count > 1 ? "s were" : " was", percent * use.running_s,
        percent * use.preparing_s, percent * use.building_s, percent * use.compile_wait_s);
}

/* Its winner is known, or its trials are all that was asked for. */
static bool has_ended_well(const struct gt_tune_result *r) {
    return r->reached && (r->winners > 0 || r->undecided) && r->error[0] == '\0';
}

static int verdict(const struct run *run) {
    const int worst = run->code > GT_EXIT_FAILURE ? run->code : GT_EXIT_FAILURE;
    if (gt_session_stop)
        return gt_session_exit(worst);
    for (size_t i = 0; i < run->r->sweep->count; i++)
        if (!has_ended_well(&run->result[i]))
            return worst;
    return GT_EXIT_OK;
}

/* Says ahead how long it will take. */
static void say_estimate(const struct run *run) {
    char line[256];
    const double slowdown = gt_cores_slowdown();
    const double seconds = gt_estimate_all(&run->budget, run->t, slowdown);
    size_t count = 0;
    for (size_t i = 0; i < run->r->sweep->count; i++)
        count += !run->budget.given[i];
    if (count == 0 || isinf(seconds))
        return;
    int n = snprintf(line, sizeof line, "%zu problem%s to tune, about %.0f s", count,
                     count > 1 ? "s" : "", seconds);
    if (run->budget.seconds > 0 && seconds > 1.1 * run->budget.seconds)
        n += snprintf(line + n, sizeof line - (size_t)n,
                      ": their first trials and finals need more than %.3g s",
                      run->budget.seconds);
    if (slowdown > busy)
        (void)snprintf(line + n, sizeof line - (size_t)n,
                       "; the cores are busy, work takes %.1f times as long", slowdown);
    gt_progress_line(&run->t->progress, line);
}

/* Names the sources that know this device and have points for a problem of the list. */
static void say_seeds(const struct run *run) {
    const struct gt_tuner *t = run->t;
    const struct gt_sweep *sweep = run->r->sweep;
    char said[GT_SEEDS_MAX][GT_SEED_SOURCE_MAX];
    struct gt_seed seed[GT_SEEDS_MAX];
    int sources = 0;
    for (size_t i = 0; i < sweep->count && i < PROBLEMS_ASKED; i++) {
        const int count =
            gt_seeds_find(seed, t->seeds, &t->device, &sweep->item[i].problem);
        for (int j = 0; j < count && sources < GT_SEEDS_MAX; j++) {
            int known = 0;
            while (known < sources && strcmp(said[known], seed[j].source) != 0)
                known++;
            if (!seed[j].named || known < sources)
                continue;
            (void)strcpy(said[sources++], seed[j].source);
            gt_talk_line("the first trials have points of %s", seed[j].source);
        }
    }
}

static gt_status tune_all(struct run *run, const struct gt_session *session,
                          struct gt_err *err) {
    const bool alone = run->r->devices.count == 1;
    gt_status status = alone ? gt_session_begin_run(run->t, session, err) : GEMMTUNE_OK;
    if (status == GEMMTUNE_OK && alone && !run->r->v->quiet)
        say_seeds(run);
    if (status == GEMMTUNE_OK)
        status = gt_budget_begin(&run->budget, run->t, run->r->sweep, run->r->v->budget,
                                 run->r->devices.count, err);
    if (status == GEMMTUNE_OK && !run->r->v->again)
        status = gt_tuned_find_all(run->result, &run->budget, run->t, err);
    if (status == GEMMTUNE_OK)
        say_estimate(run);
    if (status == GEMMTUNE_OK)
        status = alone ? tune_in_order(run, err) : tune_together(run, err);
    return status;
}

int gt_tune_run(struct gt_tuner *t, const struct gt_session *session,
                const struct gt_tune_request *r) {
    struct gt_err err = {""};
    struct run run = {.t = t, .r = r};
    run.result = calloc(r->sweep->count + 1, sizeof *run.result);
    gt_status status = run.result != NULL
                           ? tune_all(&run, session, &err)
                           : gt_fail(&err, GEMMTUNE_ENOMEM, "no memory for the results");
    if (status == GEMMTUNE_OK)
        status = gt_tune_report(run.result, r->sweep, &r->v->format, &err);
    if (status == GEMMTUNE_OK)
        say_use(&run);
    gt_session_end_run(t, status);
    const int code = status != GEMMTUNE_OK ? gt_common_fail(status, &err) : verdict(&run);
    if (code == GT_EXIT_STOPPED)
        gt_talk_line("stopped; everything measured is stored, the same command goes on");
    gt_budget_clear(&run.budget);
    free(run.result);
    return code;
}
