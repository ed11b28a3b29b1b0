/* SPDX-License-Identifier: Apache-2.0 */
/* finals.c - see finals.h. */
#include "tuner/tune/row_order.h"
#include "tuner/tune/finals.h"

#include "core/clock.h"
#include "core/log.h"
#include "tuner/base/best.h"
#include "tuner/lab/lab.h"
#include "tuner/lab/ratio.h"
#include "tuner/lab/race.h"
#include "tuner/tune/estimate.h"
#include "tuner/tune/finals_limit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether the clock went down under any of the best. */
static bool any_slowed(const struct gt_finals *f) {
    for (int i = 0; i < f->count; i++)
        if (f->best[i].share < 1 - GT_SCREEN_MARGIN)
            return true;
    return false;
}

int gt_finals_entrants(const struct gt_finals *f) {
    enum { LEAST = 3 };
    const bool slowed = any_slowed(f);
    const int most = slowed || f->count < GT_BEST_STEADY ? f->count : GT_BEST_STEADY;
    int n = f->count < LEAST ? f->count : LEAST;
    double reach = 0;
    for (int i = 0; i < f->count; i++)
        if (i == 0 || f->best[i].high_ns < reach)
            reach = f->best[i].high_ns;
    reach *= 1 + (slowed ? GT_SCREEN_MARGIN_SLOWED : GT_SCREEN_MARGIN);
    while (n < most && f->best[n].low_ns <= reach)
        n++;
    return n;
}

void gt_finals_add_compared(struct gt_finals *f) {
    /* A launch of microseconds that is timed alone may seem this much too long. */
    const double reach = 4 * (f->count > 0 ? f->best[0].screen_ns : 0);
    for (int i = 0; i < GT_COMPARED; i++) {
        const struct gt_finalist *who = &f->compared[i];
        bool there = who->screen_ns == 0 || who->screen_ns > reach;
        for (int j = 0; !there && j < f->count; j++)
            there = gt_candidate_same(&f->best[j].candidate, &who->candidate);
        if (!there)
            f->best[f->count++] = *who;
    }
}

/* ---- stored records ---- */

struct stored {
    struct gt_tune_result *result;
    const struct gt_tuner *t;
    const gemmtune_problem *problem;
    bool current; /* the winner is local and has its family's present source */
    int64_t measured_ms;
};

/* Records that add in another order than the run's came from a merged database. */
static bool is_in_order(const struct stored *s, const struct gt_record_row *row) {
    const char *order = gt_tune_kept_order(s->t, s->problem);
    struct gt_point point;
    struct gt_fit fit;
    return order[0] == '\0' ||
           (gt_point_parse(&point, row->subject.point, NULL) == GEMMTUNE_OK &&
            gt_fit_point(&fit, gt_families_find(s->t->families, row->subject.family),
                         &s->t->device, s->problem, &point, NULL) == GEMMTUNE_OK &&
            gt_fit_order(&fit, order, NULL) == GEMMTUNE_OK);
}

static gt_status take_stored(void *user, const struct gt_record_row *row,
                             struct gt_err *err) {
    struct stored *s = user;
    (void)err;
    if (!row->verified ||
        !gt_families_current(s->t->families, row->subject.family,
                             row->subject.family_hash) ||
        !is_in_order(s, row))
        return GEMMTUNE_OK;
    if (row->rank == 0) {
        /* a single sample is no measurement to rely on */
        s->current = row->measured_ms <= gt_latest_ms() && row->time.samples > 1;
        s->measured_ms = row->measured_ms;
        s->result->baseline_ns = row->baseline_ns;
    }
    const int i = s->result->winners;
    if (i < GT_FINALISTS_MAX) {
        gt_candidate_set(&s->result->winner[i].candidate, row->subject.family,
                         row->subject.point);
        s->result->winner[i].time = row->time;
        s->result->winner[i].tied = row->tied;
        s->result->winners++;
    }
    return GEMMTUNE_OK;
}

gt_status gt_finals_recall(bool *found, struct gt_tune_result *result,
                           const struct gt_tuner *t, const struct gt_sweep_item *item,
                           struct gt_err *err) {
    struct stored s = {.result = result, .t = t, .problem = &item->problem};
    const gt_status status =
        gt_db_records(t->db, t->device_key, item->name, take_stored, &s, err);
    for (int i = 0; i < result->winners; i++)
        result->winner[i].workspace_bytes =
            gt_finals_workspace(t, &item->problem, &result->winner[i].candidate);
    *found = status == GEMMTUNE_OK && s.current;
    result->measured_ms = s.measured_ms;
    return status;
}

static bool any_later(const struct gt_finals *f, int64_t moment_ms) {
    for (int i = 0; i < f->count; i++)
        if (f->best[i].ended_ms >= moment_ms)
            return true;
    for (int i = 0; i < gt_finals_limits(f); i++)
        if (f->limited[i].count > 0 && f->limited[i].best[0].ended_ms >= moment_ms)
            return true;
    return false;
}

/* Whether the best of the screened candidates may be faster than the stored winner and was
 * not in its finals: another process decided while this one searched. */
static bool is_unknown(const struct gt_tune_result *stored, const struct gt_finals *f,
                       const struct gt_tuner *t) {
    const struct gt_measurement *const winner = &stored->winner[0].time;
    const struct gt_finalist *const best = &f->best[0];
    bool known = false;
    for (int i = 0; !known && i < stored->winners; i++)
        known = gt_candidate_same(&stored->winner[i].candidate, &best->candidate);
    return !known &&
           best->low_ns <= gt_clock_share(winner, t->device.clock_mhz) * winner->high_ns;
}

/* Recalls the stored records. They are the result unless they must be decided again, which
 * is so when a finalist ended after their finals (in this run, in another process, or in a
 * run that was stopped before its finals) or is unknown to them. */
static gt_status keep_stored(bool *kept, struct gt_tune_result *result,
                             const struct gt_finals *f, struct gt_tuner *t,
                             const struct gt_sweep_item *item, struct gt_err *err) {
    const double baseline_ns = result->baseline_ns;
    const gt_status status = gt_finals_recall(kept, result, t, item, err);
    *kept = *kept && !any_later(f, result->measured_ms) && !is_unknown(result, f, t);
    result->baseline_ns = baseline_ns; /* the one of this search */
    return status;
}

/* Adds the stored winner, without a screened time: a run over other families must beat it,
 * not just replace it. It gets the last place when all are taken. */
static void add_defender(struct gt_finals *f, const struct gt_tune_result *stored) {
    const struct gt_candidate *c = &stored->winner[0].candidate;
    if (stored->winners == 0)
        return;
    for (int i = 0; i < f->count; i++)
        if (gt_candidate_same(&f->best[i].candidate, c))
            return;
    if (f->count < GT_BEST_MAX)
        f->count++;
    f->best[f->count - 1] = (struct gt_finalist){
        .candidate = *c, .workspace_bytes = stored->winner[0].workspace_bytes};
}

static bool any_within(const struct gt_finals *f, int64_t bytes) {
    for (int i = 0; i < f->count; i++)
        if (f->best[i].workspace_bytes <= bytes)
            return true;
    return false;
}

/* For each workspace that callers give, the largest first, one finalist must need no more.
 * Where none of them does, the best such candidate of this run or of the stored records is
 * added. */
static void add_limited(struct gt_finals *f, const struct gt_tune_result *stored,
                        const struct gt_tuner *t) {
    for (int i = 0; i < stored->winners; i++) {
        const struct gt_measurement *time = &stored->winner[i].time;
        const double share = gt_clock_share(time, t->device.clock_mhz);
        const struct gt_finalist who = {.candidate = stored->winner[i].candidate,
                                        .workspace_bytes =
                                            stored->winner[i].workspace_bytes,
                                        .screen_ns = share * time->median_ns,
                                        .share = share};
        gt_finals_offer_limited(f, &who);
    }
    for (int i = gt_finals_limits(f) - 1; i >= 0; i--)
        if (f->limited[i].count > 0 && !any_within(f, gt_finals_limit_bytes(f, i)))
            f->best[f->count++] = f->limited[i].best[0];
}

/* ---- deciding ---- */

/* *stored is false when other records than the records of `known_ms` are there now. */
static gt_status store(bool *stored, int64_t known_ms, const struct gt_tune_result *result,
                       struct gt_tuner *t, const struct gt_sweep_item *item,
                       struct gt_err *err) {
    struct gt_record_row rows[GT_FINALISTS_MAX];
    struct gt_err why = {""};
    for (int i = 0; i < result->winners; i++) {
        const struct gt_candidate *c = &result->winner[i].candidate;
        const struct gt_family *f = gt_families_find(t->families, c->family);
        rows[i] = (struct gt_record_row){.subject = {.device_key = t->device_key,
                                                     .problem = item->name,
                                                     .family = c->family,
                                                     .family_hash = f->hash,
                                                     .point = c->point},
                                         .rank = i,
                                         .tied = i > 0 ? result->winner[i].tied
                                                       : result->winners > 1 &&
                                                             result->winner[1].tied,
                                         .verified = true,
                                         .time = result->winner[i].time,
                                         .baseline_ns = result->baseline_ns,
                                         .provenance = "local",
                                         .measured_ms = result->measured_ms};
    }
    const gt_status status =
        gt_db_records_replace(stored, t->db, known_ms, t->device_key, item->name, rows,
                              (size_t)result->winners, &why);
    return status == GEMMTUNE_OK
               ? GEMMTUNE_OK
               : gt_fail(err, status, "the winners are not stored: %s", why.line);
}

/* Reports why there is no finalist. */
static gt_status explain_none(const struct gt_tune_result *result, struct gt_err *err) {
    if (result->tried_elsewhere > 0)
        return gt_fail(
            err, GEMMTUNE_ENOTFOUND,
            "nothing to choose from yet: another process is trying %zu of its points",
            result->tried_elsewhere);
    return gt_fail(err, GEMMTUNE_ENOTFOUND, "%s",
                   result->trials == 0 ? "no time was left for it"
                                       : "no candidate was correct");
}

/* Measures the finalists and the stored winner, which `result` has. */
static gt_status measure(struct gt_tune_result *result, const struct gt_finals *f,
                         struct gt_tuner *t, const struct gt_sweep_item *item,
                         struct gt_err *err) {
    struct gt_finals all = *f;
    struct gt_job job;
    struct gt_report report;
    all.count = gt_finals_entrants(&all);
    add_defender(&all, result);
    add_limited(&all, result, t);
    gt_finals_add_compared(&all);
    result->winners = 0;
    /* candidates that end from now on are not in these finals */
    result->measured_ms = gt_now_ms();
    gt_finals_job(&job, &all, t, item);
    const double began = gt_seconds();
    const gt_status status = gt_pool_run_final(&report, t->pool, &job, !f->hurried, err);
    gt_estimate_learn(&t->finals_s, gt_seconds() - began);
    if (status != GEMMTUNE_OK)
        return status;
    gt_finals_rank(result, f, t, &job, &report);
    gt_finals_limit(result, &all, t, item);
    result->dropped += report.result[0].time.dropped; /* dropped rounds, the same for all */
    return result->winners > 0 ? GEMMTUNE_OK
                               : gt_fail(err, GEMMTUNE_ENOTFOUND,
                                         "no finalist was correct when measured again");
}

/* Decides once. *done is false when another process has stored its winner meanwhile: also
 * between the first two steps, where finals are held in vain. */
static gt_status decide(bool *done, struct gt_tune_result *result,
                        const struct gt_finals *f, struct gt_tuner *t,
                        const struct gt_sweep_item *item, struct gt_err *err) {
    int64_t known_ms = 0;
    *done = true;
    gt_status status =
        gt_db_records_moment(&known_ms, t->db, t->device_key, item->name, err);
    bool kept = false;
    result->winners = 0;
    if (status == GEMMTUNE_OK)
        status = keep_stored(&kept, result, f, t, item, err);
    gt_finals_compare(result, f, t);
    if (status != GEMMTUNE_OK || kept)
        return status;
    if (*t->stop) {
        result->winners = 0;
        return GEMMTUNE_OK;
    }
    status = measure(result, f, t, item, err);
    return status == GEMMTUNE_OK ? store(done, known_ms, result, t, item, err) : status;
}

/* Each run stores its winner once, so this ends. */
gt_status gt_finals_decide(struct gt_tune_result *result, const struct gt_finals *f,
                           struct gt_tuner *t, const struct gt_sweep_item *item,
                           struct gt_err *err) {
    bool done = false;
    gt_status status = GEMMTUNE_OK;
    if (f->count == 0)
        return *t->stop ? GEMMTUNE_OK : explain_none(result, err);
    while (status == GEMMTUNE_OK && !done)
        status = decide(&done, result, f, t, item, err);
    return status;
}
