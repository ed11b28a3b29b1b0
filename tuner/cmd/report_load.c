/* SPDX-License-Identifier: Apache-2.0 */
/* report_load.c - the rows of a database, put together by problem. */
#include "tuner/cmd/report.h"

#include "runtime/plan/workspace.h"
#include "tuner/bench/bench_stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

gt_status gt_report_add(struct gt_report_page *r, struct gt_db *db, const char *key,
                        struct gt_err *err) {
    gt_status status = gt_view_devices(&r->records, db, err);
    if (status == GEMMTUNE_OK)
        status = gt_view_records(&r->records, db, key, NULL, err);
    if (status == GEMMTUNE_OK)
        status = gt_view_trials(&r->trials, db, key, NULL, err);
    if (status != GEMMTUNE_OK || r->duels.count > 0)
        return status;
    return gt_duels_load(&r->duels, db, NULL, err); /* of all devices, at once */
}

void gt_report_clear(struct gt_report_page *r) {
    free(r->problem);
    gt_duels_clear(&r->duels);
    gt_view_clear(&r->records);
    gt_view_clear(&r->trials);
    gt_figures_clear(&r->figures);
    gt_families_destroy(r->families);
    *r = (struct gt_report_page){.count = 0};
}

double gt_report_share(const struct gt_report_problem *p) {
    return p->has_winner && p->roofline_ns > 0 ? p->roofline_ns / p->winner.row->median_ns
                                               : (double)NAN;
}

/* ---- one problem ---- */

/* The end of the rows from `i` on that are of one device and problem. */
static size_t end_of(const struct gt_view *v, size_t i) {
    size_t end = i;
    while (end < v->row_count && strcmp(v->row[end].problem, v->row[i].problem) == 0 &&
           strcmp(v->row[end].device, v->row[i].device) == 0)
        end++;
    return end;
}

static size_t place_of(const struct gt_view *v, const char *key) {
    size_t i = 0;
    while (i < v->device_count && strcmp(v->device[i].key, key) != 0)
        i++;
    return i;
}

static void set_winner(struct gt_report_problem *p, const struct gt_report_page *r,
                       size_t first, size_t count) {
    size_t i = first;
    while (i < first + count && r->records.row[i].rank != 0)
        i++;
    p->finals = first + count - i;
    p->has_winner = p->finals > 0;
    p->workspace = p->within = p->without = (double)NAN;
    if (!p->has_winner)
        return;
    gt_winner_find(&p->winner, &r->records, &r->records.row[i], r->families, &r->duels);
    p->workspace = gt_winner_workspace(&p->winner, p->winner.row);
    p->within = gt_winner_within_ns(&p->winner, GT_WORKSPACE_DEFAULT);
    p->without = gt_winner_within_ns(&p->winner, 0);
}

static void set_trials(struct gt_report_problem *p, struct gt_report_page *r, size_t first,
                       size_t count) {
    p->trial = first;
    p->trials = count;
    for (size_t i = first; i < first + count; i++) {
        const struct gt_view_row *row = &r->trials.row[i];
        const bool done = row->state == GT_TRIAL_DONE;
        p->correct += done && row->outcome == GT_CORRECT;
        r->unfinished += !done;
        r->failed += done && row->outcome != GT_CORRECT;
    }
}

/* A name that this version does not read is left out. */
static bool set_problem(struct gt_report_problem *p, const struct gt_report_page *r,
                        const struct gt_view_row *row) {
    *p = (struct gt_report_problem){.name = row->problem, .device = row->device};
    p->place = place_of(&r->records, row->device);
    if (p->place == r->records.device_count ||
        gt_problem_from_name(&p->problem, row->problem, NULL) != GEMMTUNE_OK)
        return false;
    p->flops = gt_problem_flops(&p->problem);
    p->bytes = gt_problem_least_bytes(&p->problem);
    p->roofline_ns = gt_roofline_ns(&p->problem, &r->records.device[p->place].device);
    return true;
}

/* ---- all problems ---- */

static int order_of(const struct gt_view_row *x, const struct gt_view_row *y) {
    const int device = strcmp(x->device, y->device);
    return device != 0 ? device : strcmp(x->problem, y->problem);
}

/* Both views have the order of device and problem. */
gt_status gt_report_find(struct gt_report_page *r, struct gt_err *err) {
    const struct gt_view *records = &r->records, *trials = &r->trials;
    size_t a = 0, b = 0;
    gt_view_rank(&r->records, 0, r->families);
    r->problem = calloc(records->row_count + trials->row_count + 1, sizeof *r->problem);
    if (r->problem == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for a report");
    while (a < records->row_count || b < trials->row_count) {
        struct gt_report_problem *p = &r->problem[r->count];
        const int order = a == records->row_count ? 1
                          : b == trials->row_count
                              ? -1
                              : order_of(&records->row[a], &trials->row[b]);
        const size_t record = a, trial = b;
        const struct gt_view_row *row = order <= 0 ? &records->row[a] : &trials->row[b];
        if (order <= 0)
            a = end_of(records, a);
        if (order >= 0)
            b = end_of(trials, b);
        if (!set_problem(p, r, row))
            continue;
        set_winner(p, r, record, a - record);
        set_trials(p, r, trial, b - trial);
        r->count++;
    }
    return GEMMTUNE_OK;
}
