/* SPDX-License-Identifier: Apache-2.0 */
/* tune_dry.c - `gemmtune tune --dry-run`: what tuning would look at, and what it would
 * take.
 */
#include "tuner/base/cores.h"
#include "tuner/base/talk.h"
#include "tuner/cmd/tune.h"
#include "tuner/lab/lab.h"
#include "tuner/tune/estimate.h"
#include "tuner/tune/tuned.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ENOUGH = 1000 }; /* points that are counted; a search of more trials needs more */

/* A problem and what tuning it would take. */
struct dry_row {
    const char *problem;
    size_t points, trials;
    bool more; /* there may be more points */
    char shown[GT_CELL_MAX];
    double seconds, bytes;
    struct gt_err why; /* "", "tuned", or why it cannot be tuned */
};

#define DRY(X)                                                                             \
    X("problem", "problem", TEXT, 0, r->problem, "its name")                               \
    X(NULL, "points", TEXT, 0, r->shown,                                                   \
      "points that may be tried, of all families; counted until there are enough")         \
    X("points", NULL, COUNT, 0, r->points, "the same")                                     \
    X("trials", "trials", COUNT, 0, r->trials,                                             \
      "points that would be tried in that time, estimated")                                \
    X("seconds", "seconds", COUNT, 0, round(r->seconds * 10) / 10,                         \
      "time of tuning it, estimated")                                                      \
    X("device_bytes", "device memory", BYTES, 1, r->bytes, "device memory that is needed") \
    X("status", "status", TAIL, 0, gt_cell_filled(r->why.line),                            \
      "tuned, or why it cannot be tuned")                                                  \
    X("more_points", NULL, BOOL, 0, r->more, "whether there may be more points")
GT_COLUMNS(dry, struct dry_row, DRY)
const struct gt_form gt_tune_dry_form = GT_FORM(dry, "with --dry-run");

struct dry {
    const struct gt_tuner *tuner;
    const struct gt_budget *budget; /* problems that are tuned are given */
    struct gt_table *table;
    double slowdown; /* of the machine's cores */
    double seconds;
    size_t refused; /* problems that cannot be tuned */
};

/* Counts points until there are as many as the search can try, and ENOUGH. */
static void count_points(struct dry_row *row, const struct dry *c, size_t i) {
    const size_t most = gt_estimate_trials(c->budget, c->tuner, i, SIZE_MAX, c->slowdown);
    const size_t enough = most > ENOUGH ? most : ENOUGH;
    if (gt_tune_count(&row->points, enough, c->tuner, &c->budget->sweep->item[i].problem,
                      &row->why) != GEMMTUNE_OK)
        row->points = 0;
    row->more = row->points >= enough;
    snprintf(row->shown, sizeof row->shown, "%zu%s", row->points, row->more ? "+" : "");
}

static gt_status add_item(struct dry *c, size_t i, struct gt_err *err) {
    const struct gt_sweep_item *item = &c->budget->sweep->item[i];
    const struct gt_tuner *tuner = c->tuner;
    struct dry_row row = {.problem = item->name};
    count_points(&row, c, i);
    c->refused += row.why.line[0] != '\0';
    if (c->budget->given[i]) {
        (void)snprintf(row.why.line, sizeof row.why.line, "tuned");
    } else if (row.points > 0) {
        row.trials = gt_estimate_trials(c->budget, tuner, i, row.points, c->slowdown);
        row.seconds = gt_estimate_problem(c->budget, tuner, i, row.points, c->slowdown);
    }
    row.bytes = (double)gt_lab_bytes(&item->problem, &tuner->device);
    c->seconds += row.seconds;
    return add_dry(c->table, &row, err);
}

static gt_status count_all(struct dry *c, struct gt_err *err) {
    const size_t count = c->budget->sweep->count;
    struct gt_progress progress = c->tuner->progress;
    gt_status status = GEMMTUNE_OK;
    c->slowdown = gt_cores_slowdown();
    for (size_t i = 0; status == GEMMTUNE_OK && i < count; i++) {
        gt_progress_count(&progress, "counting points", i, count);
        status = add_item(c, i, err);
    }
    gt_progress_end(&progress);
    return status;
}

/* `given` of the budget: problems that are tuned already. */
static gt_status find_tuned(struct gt_budget *budget, struct gt_tuner *t,
                            const struct gt_tune_request *r, struct gt_err *err) {
    struct gt_tune_result *result = NULL;
    gt_status status =
        gt_budget_begin(budget, t, r->sweep, r->v->budget, r->devices.count, err);
    if (status != GEMMTUNE_OK || r->v->again || t->db == NULL)
        return status;
    result = calloc(r->sweep->count + 1, sizeof *result);
    status = result != NULL ? gt_tuned_find_all(result, budget, t, err)
                            : gt_fail(err, GEMMTUNE_ENOMEM, "no memory for the results");
    free(result);
    return status;
}

static void say_total(const struct dry *c, const struct gt_tune_request *r) {
    const struct gt_alike *devices = &r->devices;
    char several[32] = "";
    if (devices->count > 1)
        snprintf(several, sizeof several, "%zu devices, ", devices->count);
    gt_talk_line("%zu problem%s on %s%s, about %.0f s", r->sweep->count,
                 gt_text_plural((int64_t)r->sweep->count), several, devices->device[0].name,
                 c->seconds / (double)devices->count);
}

/* Exits as the run itself would: a problem that cannot be tuned does not keep
 * the others. */
int gt_tune_dry_run(struct gt_tuner *t, const struct gt_tune_request *r) {
    struct gt_err err = {""};
    struct gt_budget budget = {0};
    struct dry c = {.tuner = t, .budget = &budget};
    gt_status status = find_tuned(&budget, t, r, &err);
    if (status == GEMMTUNE_OK)
        status = gt_table_create(&c.table, &gt_tune_dry_form, &err);
    if (status == GEMMTUNE_OK)
        status = count_all(&c, &err);
    if (status == GEMMTUNE_OK) {
        gt_common_print(c.table, &r->v->format);
        say_total(&c, r);
    }
    gt_table_destroy(c.table);
    gt_budget_clear(&budget);
    return status != GEMMTUNE_OK ? gt_common_fail(status, &err)
           : c.refused > 0       ? GT_EXIT_FAILURE
                                 : GT_EXIT_OK;
}
