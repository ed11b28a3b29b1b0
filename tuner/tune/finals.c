/* SPDX-License-Identifier: Apache-2.0 */
/* finals.c - see finals.h. */
#include "tuner/tune/finals.h"

#include "core/clock.h"
#include "core/log.h"
#include "tuner/base/best.h"
#include "tuner/lab/lab.h"
#include "tuner/lab/ratio.h"
#include "tuner/lab/race.h"
#include "tuner/lab/product.h" /* for GT_WORKSPACE_BYTES */
#include "tuner/tune/estimate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int64_t gt_finals_workspace(const struct gt_tuner *t, const gemmtune_problem *p,
                            const struct gt_candidate *c) {
    const struct gt_family *f = gt_families_find(t->families, c->family);
    struct gt_point point;
    struct gt_fit fit;
    const bool runs = f != NULL && gt_point_parse(&point, c->point, NULL) == GEMMTUNE_OK &&
                      gt_fit_point(&fit, f, &t->device, p, &point, NULL) == GEMMTUNE_OK;
    return runs ? fit.passes.workspace_bytes : INT64_MAX;
}

/* Workspaces that callers give: none, and the size usually given to cublasLt. */
static const int64_t workspace_limits[GT_WORKSPACE_LIMITS] = {0, GT_WORKSPACE_BYTES};

static void offer_limited(struct gt_finals *f, const struct gt_finalist *who) {
    for (int i = 0; i < GT_WORKSPACE_LIMITS; i++) {
        const double ns = f->limited[i].screen_ns;
        if (who->workspace_bytes <= workspace_limits[i] && (ns == 0 || who->screen_ns < ns))
            f->limited[i] = *who;
    }
}

/* The index of a family's role in gt_finals.compared, or -1. */
static int compared_index(const struct gt_family *f) {
    static const enum gt_role roles[GT_COMPARED] = {GT_ROLE_BASELINE, GT_ROLE_TEXTBOOK};
    for (int i = 0; f != NULL && i < GT_COMPARED; i++)
        if (f->role == roles[i])
            return i;
    return -1;
}

void gt_finals_offer(struct gt_finals *f, const struct gt_tuner *t,
                     const struct gt_finalist *who) {
    const double ns = who->screen_ns;
    const struct gt_family *family = gt_families_find(t->families, who->candidate.family);
    const int at = compared_index(family);
    if (at >= 0 && (f->compared[at].screen_ns == 0 || ns < f->compared[at].screen_ns))
        f->compared[at] = *who;
    offer_limited(f, who);
    struct gt_finalist *place =
        gt_best_place(f->best, &f->count, GT_BEST_MAX, sizeof *f->best, ns);
    if (place != NULL)
        *place = *who;
}

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
    bool current; /* the winner is local and has its family's present source */
    int64_t measured_ms;
};

static gt_status take_stored(void *user, const struct gt_record_row *row,
                             struct gt_err *err) {
    struct stored *s = user;
    (void)err;
    if (!row->verified ||
        !gt_families_current(s->t->families, row->subject.family, row->subject.family_hash))
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
    struct stored s = {.result = result, .t = t};
    const gt_status status =
        gt_db_records(t->db, t->device_key, item->name, take_stored, &s, err);
    *found = status == GEMMTUNE_OK && s.current;
    result->measured_ms = s.measured_ms;
    return status;
}

static bool any_later(const struct gt_finals *f, int64_t moment_ms) {
    for (int i = 0; i < f->count; i++)
        if (f->best[i].ended_ms >= moment_ms)
            return true;
    for (int i = 0; i < GT_WORKSPACE_LIMITS; i++)
        if (f->limited[i].screen_ns > 0 && f->limited[i].ended_ms >= moment_ms)
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
static void add_defender(struct gt_finals *f, const struct gt_tune_result *stored,
                         const struct gt_tuner *t, const gemmtune_problem *p) {
    const struct gt_candidate *c = &stored->winner[0].candidate;
    if (stored->winners == 0)
        return;
    for (int i = 0; i < f->count; i++)
        if (gt_candidate_same(&f->best[i].candidate, c))
            return;
    if (f->count < GT_BEST_MAX)
        f->count++;
    f->best[f->count - 1] = (struct gt_finalist){
        .candidate = *c, .workspace_bytes = gt_finals_workspace(t, p, c)};
}

static bool any_within(const struct gt_finals *f, int64_t bytes) {
    for (int i = 0; i < f->count; i++)
        if (f->best[i].workspace_bytes <= bytes)
            return true;
    return false;
}

/* Callers give workspaces of the sizes in `workspace_limits`. For each size, the largest
 * first, one finalist must need no more. Where none of them does, the best such candidate
 * of this run or of the stored records is added. */
static void add_limited(struct gt_finals *f, const struct gt_tune_result *stored,
                        const struct gt_tuner *t, const gemmtune_problem *p) {
    for (int i = 0; i < stored->winners; i++) {
        const struct gt_measurement *time = &stored->winner[i].time;
        const double share = gt_clock_share(time, t->device.clock_mhz);
        const struct gt_finalist who = {
            .candidate = stored->winner[i].candidate,
            .workspace_bytes = gt_finals_workspace(t, p, &stored->winner[i].candidate),
            .screen_ns = share * time->median_ns,
            .share = share};
        offer_limited(f, &who);
    }
    for (int i = GT_WORKSPACE_LIMITS - 1; i >= 0; i--)
        if (f->limited[i].screen_ns > 0 && !any_within(f, workspace_limits[i]))
            f->best[f->count++] = f->limited[i];
}

/* ---- measuring ---- */

/* On a CPU other programs and the system disturb a sample of a millisecond, so finals take
 * four times as long, as far as the problem's share allows. They end sooner when all is
 * known. */
static double patience_of(const struct gt_finals *f, const struct gt_tuner *t) {
    const double most = 4, usual_s = 1e-9 * gt_final_budget.rule.total_ns * f->count;
    if (!t->device.is_cpu || f->count == 0)
        return 1;
    return f->until > 0 ? fmax(fmin((f->until - gt_seconds()) / usual_s, most), 1) : most;
}

void gt_finals_job(struct gt_job *job, const struct gt_finals *f, const struct gt_tuner *t,
                   const struct gt_sweep_item *item) {
    gt_job_init(job, GT_JOB_FINAL, &t->device, item->name);
    job->seed = f->hurried ? t->seed : t->seed + GT_FINALS_SEED;
    job->patience = patience_of(f, t);
    job->count = f->count;
    for (int i = 0; i < f->count; i++)
        job->candidate[i] = f->best[i].candidate;
}

/* ---- deciding ---- */

struct place {
    const struct gt_result *result;
    double ratio; /* of its times to the winner's, round by round */
    bool tied;    /* with the winner */
};

/* Whether a finalist is not to be called slower than the winner: it ties, or it was faster
 * in most of their common rounds. Without a common round medians count, but not beside the
 * proof that it was beaten. */
static bool is_as_fast(const struct gt_measurement *winner,
                       const struct gt_measurement *m) {
    struct gt_measurement ratio;
    gt_ratio_of(&ratio, m, winner);
    return ((ratio.samples > 0 || !m->beaten) && gt_ratio_median(m, winner) < 1) ||
           gt_race_tied(m, winner);
}

static int by_rank(const void *a, const void *b) {
    const struct place *x = a, *y = b;
    if (x->tied != y->tied)
        return x->tied ? -1 : 1;
    return x->ratio < y->ratio ? -1 : x->ratio > y->ratio;
}

/* Sorts the winner first, then the kernels that tie with it, then the others, each by its
 * ratio to the winner: the samples of beaten ones may be of other rounds, so medians do not
 * compare. */
static int order_finalists(struct place place[], const struct gt_job *job,
                           const struct gt_report *report) {
    const struct gt_measurement *time[GT_JOB_POINTS_MAX];
    int n = 0;
    for (int i = 0; i < report->count; i++) {
        if (report->result[i].outcome == GT_CORRECT) {
            time[n] = &report->result[i].time;
            place[n++].result = &report->result[i];
        } else
            gt_log(GEMMTUNE_LOG_WARN, "%s: finalist %s \"%s\" is out: %s: %s", job->problem,
                   job->candidate[i].family, job->candidate[i].point,
                   gt_outcome_word(report->result[i].outcome), report->result[i].error);
    }
    const int first = n > 0 ? gt_race_winner(time, n) : 0;
    for (int i = 0; i < n; i++) {
        place[i].ratio = i == first ? 0 : gt_ratio_median(time[i], time[first]);
        place[i].tied = i == first || is_as_fast(time[first], time[i]);
    }
    qsort(place, (size_t)n, sizeof *place, by_rank);
    return n;
}

/* The best time of the family at index `at` of gt_finals.compared: of the finals, or else
 * of its screening. In the finals it is the winner's time multiplied by the ratio of their
 * common rounds, since one that left early has a median of other rounds. */
static double compared_ns(const struct gt_tune_result *result, const struct gt_finals *f,
                          const struct gt_tuner *t, int at) {
    const struct gt_finalist *who = &f->compared[at];
    const struct gt_measurement *winner = &result->winner[0].time;
    double least = 0;
    for (int i = 0; i < result->winners; i++) {
        const struct gt_measurement *time = &result->winner[i].time;
        const double ns = winner->median_ns * (i == 0 ? 1 : gt_ratio_median(time, winner));
        const struct gt_family *family =
            gt_families_find(t->families, result->winner[i].candidate.family);
        if (compared_index(family) == at && (least == 0 || ns < least))
            least = ns;
    }
    return least > 0 || who->screen_ns == 0 ? least : who->screen_ns / who->share;
}

static void compare(struct gt_tune_result *result, const struct gt_finals *f,
                    const struct gt_tuner *t) {
    result->baseline_ns = compared_ns(result, f, t, 0);
    result->textbook_ns = compared_ns(result, f, t, 1);
}

/* Ties are decided with the measured intervals. The stored intervals are wider. */
void gt_finals_rank(struct gt_tune_result *result, const struct gt_finals *f,
                    const struct gt_tuner *t, const struct gt_job *job,
                    const struct gt_report *report) {
    struct place place[GT_JOB_POINTS_MAX];
    result->winners = order_finalists(place, job, report);
    for (int i = 0; i < result->winners; i++) {
        result->winner[i].candidate = job->candidate[place[i].result - report->result];
        result->winner[i].time = place[i].result->time;
        gt_race_widen(&result->winner[i].time, t->device.clock_mhz);
        result->winner[i].tied = place[i].tied;
    }
    compare(result, f, t);
}

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
    add_defender(&all, result, t, &item->problem);
    add_limited(&all, result, t, &item->problem);
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
    compare(result, f, t);
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
