/* SPDX-License-Identifier: Apache-2.0 */
/* ladder.c - see ladder.h. */
#include "tuner/tune/ladder.h"

#include "tuner/lab/reference.h"
#include "tuner/base/view.h"

#include <stdio.h>
#include <string.h>

/* Which kernels stand on a rung: a family, and of naive one mapping. */
static const struct {
    const char *name;
    const char *family; /* NULL: none, or all */
    int map;            /* value of naive's MAP; -1: any */
} rungs[GT_RUNGS] = {
    [GT_RUNG_CPU_LOOP] = {"cpu loop", NULL, -1},
    [GT_RUNG_CPU_BLAS] = {"cpu blas", NULL, -1},
    [GT_RUNG_NAIVE] = {"naive", "naive", 0},
    [GT_RUNG_NAIVE_ROW] = {"naive, along rows", "naive", 1},
    [GT_RUNG_COALESCED] = {"coalesced", "coalesced", -1},
    [GT_RUNG_TILE] = {"tile", "tile", -1},
    [GT_RUNG_BLOCK] = {"block", "block", -1},
    [GT_RUNG_COLUMN] = {"column", "column", -1},
    [GT_RUNG_TUNED] = {"tuned", NULL, -1},
};

const char *gt_rung_name(enum gt_rung rung) {
    return rungs[rung].name;
}

/* The best stored trial of each rung. */
struct best {
    struct gt_candidate candidate;
    double ns;
};

static bool stands_on(enum gt_rung rung, const struct gt_view_row *row,
                      const struct gt_point *point) {
    int64_t map = -1;
    if (rung == GT_RUNG_TUNED)
        return true;
    if (!rungs[rung].family || strcmp(rungs[rung].family, row->family) != 0)
        return false;
    return rungs[rung].map < 0 ||
           (gt_point_get(point, "MAP", &map) && map == rungs[rung].map);
}

static void offer(struct best best[GT_RUNGS], const struct gt_view_row *row,
                  const struct gt_families *families) {
    struct gt_point point;
    if (row->outcome != GT_CORRECT || row->median_ns <= 0 ||
        !gt_view_current(row, families) || gt_point_parse(&point, row->point, NULL))
        return;
    for (int r = 0; r < GT_RUNGS; r++) {
        if (!stands_on((enum gt_rung)r, row, &point) ||
            (best[r].ns > 0 && best[r].ns <= row->median_ns))
            continue;
        best[r].ns = row->median_ns;
        snprintf(best[r].candidate.family, GT_NAME_MAX, "%s", row->family);
        snprintf(best[r].candidate.point, GT_POINT_TEXT_MAX, "%s", row->point);
    }
}

/* A rung without a trial of its own stands on its family's default point. */
static void fall_back(struct best *b, enum gt_rung rung, const struct gt_tuner *t,
                      const gemmtune_problem *p) {
    const struct gt_family *f =
        rungs[rung].family ? gt_families_find(t->families, rungs[rung].family) : NULL;
    struct gt_point point;
    if (b->ns > 0 || !f || !gt_family_serves(f, &t->device, p, NULL))
        return;
    gt_family_default(f, &point);
    if (rungs[rung].map >= 0 && gt_point_set(&point, "MAP", rungs[rung].map, NULL))
        return;
    snprintf(b->candidate.family, GT_NAME_MAX, "%s", f->name);
    gt_point_text(&point, b->candidate.point);
}

static gt_status find_best(struct best best[GT_RUNGS], struct gt_tuner *t,
                           const struct gt_sweep_item *item, struct gt_err *err) {
    struct gt_view view = {0};
    gt_status status = gt_view_trials(&view, t->db, t->device_key, item->name, err);
    for (size_t i = 0; status == GEMMTUNE_OK && i < view.row_count; i++)
        offer(best, &view.row[i], t->families);
    for (int r = 0; r < GT_RUNGS; r++)
        fall_back(&best[r], (enum gt_rung)r, t, &item->problem);
    gt_view_clear(&view);
    return status;
}

/* ---- measuring ---- */

static void take(struct gt_ladder *out, enum gt_rung rung, const struct gt_candidate *c,
                 const struct gt_result *r) {
    snprintf(out->rung[rung].how, sizeof out->rung[rung].how, "%s %s", c->family, c->point);
    if (r->outcome == GT_CORRECT)
        out->rung[rung].ns = r->time.median_ns;
    else
        snprintf(out->rung[rung].note, sizeof out->rung[rung].note, "%s: %.90s",
                 gt_outcome_word(r->outcome), r->error);
}

static bool same(const struct gt_candidate *a, const struct gt_candidate *b) {
    return strcmp(a->family, b->family) == 0 && strcmp(a->point, b->point) == 0;
}

/* All kernels of the ladder in one job; the tuned best is one of the others, or comes last.
 */
static gt_status measure(struct gt_ladder *out, struct gt_tuner *t,
                         const struct gt_sweep_item *item, const struct best best[GT_RUNGS],
                         struct gt_err *err) {
    struct gt_job job;
    struct gt_report report;
    int at[GT_RUNGS];
    gt_job_init(&job, GT_JOB_FINAL, &t->device, item->name);
    job.seed = t->seed + 0x1add;
    for (int r = 0; r < GT_RUNGS; r++) {
        at[r] = -1;
        for (int i = 0; i < job.count && best[r].candidate.family[0]; i++)
            if (same(&job.candidate[i], &best[r].candidate))
                at[r] = i;
        if (at[r] < 0 && best[r].candidate.family[0] && job.count < GT_JOB_POINTS_MAX) {
            at[r] = job.count;
            job.candidate[job.count++] = best[r].candidate;
        }
    }
    gt_status status = gt_pool_run_final(&report, t->pool, &job, err);
    for (int r = 0; status == GEMMTUNE_OK && r < GT_RUNGS; r++)
        if (at[r] >= 0)
            take(out, (enum gt_rung)r, &job.candidate[at[r]], &report.result[at[r]]);
    return status;
}

static void measure_cpu(struct gt_ladder *out, double loop_volume) {
    const gemmtune_problem *p = &out->problem;
    struct gt_err err = {""};
    if (gt_problem_flops(p) / 2 > loop_volume)
        snprintf(out->rung[GT_RUNG_CPU_LOOP].note, 128,
                 "left out above %.3g multiplications", loop_volume);
    else
        (void)gt_cpu_time(&out->rung[GT_RUNG_CPU_LOOP].ns, out->rung[GT_RUNG_CPU_LOOP].how,
                          GT_CPU_LOOP, p, NULL);
    if (gt_cpu_time(&out->rung[GT_RUNG_CPU_BLAS].ns, out->rung[GT_RUNG_CPU_BLAS].how,
                    GT_CPU_BLAS, p, &err))
        snprintf(out->rung[GT_RUNG_CPU_BLAS].note, 128, "%.120s", err.line);
}

gt_status gt_ladder_climb(struct gt_ladder *out, struct gt_tuner *t,
                          const struct gt_sweep_item *item, double seconds,
                          double loop_volume, struct gt_err *err) {
    struct gt_tune_result tuned;
    struct best best[GT_RUNGS];
    memset(out, 0, sizeof *out);
    memset(best, 0, sizeof best);
    out->problem = item->problem;
    snprintf(out->name, sizeof out->name, "%s", item->name);
    gt_status status = gt_tune_problem(&tuned, t, item, seconds, err);
    if (status == GEMMTUNE_OK && tuned.error[0])
        status = gt_fail(err, GEMMTUNE_EDEVICE, "%s", tuned.error);
    if (status == GEMMTUNE_OK && *t->stop)
        return GEMMTUNE_OK;
    if (status == GEMMTUNE_OK)
        status = find_best(best, t, item, err);
    if (status == GEMMTUNE_OK)
        status = measure(out, t, item, best, err);
    if (status == GEMMTUNE_OK)
        measure_cpu(out, loop_volume);
    return status;
}
