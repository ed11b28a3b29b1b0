/* SPDX-License-Identifier: Apache-2.0 */
/* winner.c - see winner.h. */
#include "tuner/cmd/winner.h"

#include "runtime/family/fit.h"
#include "runtime/plan/workspace.h"
#include "tuner/bench/bench_stats.h"
#include "tuner/bench/cublas_api.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *gt_winner_status(const struct gt_winner *w) {
    const char *outdated = gt_view_outdated(w->row, w->families);
    return outdated != NULL ? outdated : w->row->verified ? "verified" : "imported";
}

double gt_winner_flops(const char *problem) {
    gemmtune_problem p;
    return gt_problem_from_name(&p, problem, NULL) == GEMMTUNE_OK ? gt_problem_flops(&p)
                                                                  : 0;
}

double gt_winner_workspace(const struct gt_winner *w, const struct gt_view_row *r) {
    const struct gt_device *d = gt_view_device(w->view, r->device);
    const struct gt_family *f = gt_families_find(w->families, r->family);
    gemmtune_problem p;
    struct gt_point point;
    struct gt_fit fit;
    const bool runs = d != NULL && f != NULL && gt_view_outdated(r, w->families) == NULL &&
                      gt_problem_from_name(&p, r->problem, NULL) == GEMMTUNE_OK &&
                      gt_point_parse(&point, r->point, NULL) == GEMMTUNE_OK &&
                      gt_fit_point(&fit, f, d, &p, &point, NULL) == GEMMTUNE_OK;
    return runs ? (double)fit.passes.workspace_bytes : (double)NAN;
}

/* The problem's first record that needs no more; NULL: there is none. */
static const struct gt_view_row *first_within(const struct gt_winner *w, double bytes) {
    const struct gt_view_row *const end = w->view->row + w->view->row_count;
    for (const struct gt_view_row *r = w->row;
         r < end && strcmp(r->problem, w->row->problem) == 0 &&
         strcmp(r->device, w->row->device) == 0;
         r++)
        if (gt_winner_workspace(w, r) <= bytes)
            return r;
    return NULL;
}

double gt_winner_within_ns(const struct gt_winner *w, double bytes) {
    const struct gt_view_row *r = first_within(w, bytes);
    return r != NULL ? r->median_ns : (double)NAN;
}

/* The last measurement of that record's kernel beside a vendor's library, each with so
 * many bytes. */
static const struct gt_duel *duel_within(const struct gt_winner *w,
                                         const struct gt_duels *duels, int64_t bytes) {
    const struct gt_view_row *r = first_within(w, (double)bytes);
    const struct gt_duel *duel;
    if (r == NULL)
        return NULL;
    const struct gt_db_subject kernel = {r->device, r->problem, r->family, r->hash,
                                         r->point};
    const size_t count = gt_duels_of(&duel, duels, gt_db_subject_key(&kernel));
    duel = gt_duels_pick(duel, count, 0, (size_t)bytes);
    return duel != NULL && duel->workspace == bytes ? duel : NULL;
}

void gt_winner_find(struct gt_winner *out, const struct gt_view *view,
                    const struct gt_view_row *row, const struct gt_families *families,
                    const struct gt_duels *duels) {
    char version[32];
    *out = (struct gt_winner){.view = view, .row = row, .families = families};
    out->duel = duel_within(out, duels, GT_WORKSPACE_DEFAULT);
    out->duel_without = duel_within(out, duels, 0);
    if (out->duel == NULL)
        return;
    gt_cublas_version(version, (size_t)out->duel->version);
    (void)snprintf(out->vendor, sizeof out->vendor, "%s %s", out->duel->library, version);
}

double gt_winner_rounded(double ratio) {
    return floor(1e4 * ratio + 0.5) / 1e4;
}

double gt_winner_ratio(const struct gt_duel *d) {
    return d != NULL ? gt_winner_rounded(d->ratio) : (double)NAN;
}

const char *gt_winner_verdict(const struct gt_duel *d) {
    return d != NULL ? gt_verdict_word(d->verdict) : NULL;
}
