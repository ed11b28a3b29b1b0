/* SPDX-License-Identifier: Apache-2.0 */
/* finals_rank.c - see finals.h: the candidates that finals are made of, and the order in
 * which their times put them. */
#include "tuner/tune/finals.h"

#include "core/clock.h"
#include "core/log.h"
#include "runtime/plan/workspace.h" /* for GT_WORKSPACE_DEFAULT */
#include "tuner/base/best.h"
#include "tuner/lab/lab.h"
#include "tuner/lab/race.h"
#include "tuner/lab/ratio.h"

#include <math.h>
#include <stdlib.h>

/* ---- candidates ---- */

int64_t gt_finals_workspace(const struct gt_tuner *t, const gemmtune_problem *p,
                            const struct gt_candidate *c) {
    const struct gt_family *f = gt_families_find(t->families, c->family);
    struct gt_point point;
    struct gt_fit fit;
    const bool runs = f != NULL && gt_point_parse(&point, c->point, NULL) == GEMMTUNE_OK &&
                      gt_fit_point(&fit, f, &t->device, p, &point, NULL) == GEMMTUNE_OK;
    return runs ? fit.passes.workspace_bytes : INT64_MAX;
}

const int64_t gt_workspace_limits[GT_WORKSPACE_LIMITS] = {0, GT_WORKSPACE_DEFAULT};

static bool has_own_limit(const struct gt_finals *f) {
    return f->own_limit > 0 && f->own_limit < GT_WORKSPACE_DEFAULT;
}

int gt_finals_limits(const struct gt_finals *f) {
    return GT_WORKSPACE_LIMITS + has_own_limit(f);
}

int64_t gt_finals_limit_bytes(const struct gt_finals *f, int i) {
    if (!has_own_limit(f) || i == 0)
        return gt_workspace_limits[i];
    return i == 1 ? f->own_limit : gt_workspace_limits[i - 1];
}

void gt_finals_offer_limited(struct gt_finals *f, const struct gt_finalist *who) {
    for (int i = 0; i < gt_finals_limits(f); i++) {
        struct gt_limited *l = &f->limited[i];
        bool fits = who->workspace_bytes <= gt_finals_limit_bytes(f, i);
        for (int j = 0; fits && j < l->count; j++) /* stored ones may be there already */
            fits = !gt_candidate_same(&l->best[j].candidate, &who->candidate);
        struct gt_finalist *place = fits ? gt_best_place(l->best, &l->count, GT_LIMITED_MAX,
                                                         sizeof *l->best, who->screen_ns)
                                         : NULL;
        if (place != NULL)
            *place = *who;
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
    gt_finals_offer_limited(f, who);
    struct gt_finalist *place =
        gt_best_place(f->best, &f->count, GT_BEST_MAX, sizeof *f->best, ns);
    if (place != NULL)
        *place = *who;
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

/* ---- ranking ---- */

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

void gt_finals_compare(struct gt_tune_result *result, const struct gt_finals *f,
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
        result->winner[i].workspace_bytes = place[i].result->workspace_bytes;
        gt_race_widen(&result->winner[i].time, t->device.clock_mhz);
        result->winner[i].tied = place[i].tied;
    }
    gt_finals_compare(result, f, t);
}
