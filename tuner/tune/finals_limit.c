/* SPDX-License-Identifier: Apache-2.0 */
/* finals_limit.c - see finals_limit.h. */
#include "tuner/tune/finals_limit.h"

#include "core/clock.h"
#include "core/log.h"

#include <string.h>

/* ---- who takes part ---- */

int gt_finals_within(const struct gt_tune_result *result, int64_t bytes) {
    int i = 0;
    while (i < result->winners && result->winner[i].workspace_bytes > bytes)
        i++;
    return i;
}

static bool is_there(const struct gt_finals *f, const struct gt_candidate *c) {
    for (int i = 0; i < f->count; i++)
        if (gt_candidate_same(&f->best[i].candidate, c))
            return true;
    return false;
}

int gt_finals_limit_entrants(struct gt_finals *out, const struct gt_tune_result *result,
                             const struct gt_finals *f, int which) {
    const struct gt_limited *l = &f->limited[which];
    const int first = gt_finals_within(result, gt_finals_limit_bytes(f, which));
    *out = (struct gt_finals){.hurried = f->hurried, .until = f->until};
    if (first == 0 || (first < result->winners && result->winner[first].tied))
        return 0;
    for (int i = 0; i < l->count; i++)
        out->best[out->count++] = l->best[i];
    if (first < result->winners && !is_there(out, &result->winner[first].candidate))
        out->best[out->count++] =
            (struct gt_finalist){.candidate = result->winner[first].candidate};
    return out->count > 1 ? out->count : 0;
}

/* ---- what comes of it ---- */

void gt_finals_limit_take(struct gt_tune_result *result, const struct gt_tune_result *won,
                          int64_t bytes) {
    const int at = gt_finals_within(result, bytes);
    int from = at;
    if (won->winners == 0)
        return;
    while (from < result->winners &&
           !gt_candidate_same(&result->winner[from].candidate, &won->winner[0].candidate))
        from++;
    if (from == GT_FINALISTS_MAX)
        from--; /* the last one has no use */
    else if (from == result->winners)
        result->winners++;
    memmove(&result->winner[at + 1], &result->winner[at],
            (size_t)(from - at) * sizeof result->winner[0]);
    result->winner[at] = won->winner[0];
    result->winner[at].tied = false;
}

static void hold(struct gt_tune_result *result, const struct gt_finals *f,
                 struct gt_tuner *t, const struct gt_sweep_item *item, int which) {
    struct gt_tune_result won = {.winners = 0};
    struct gt_finals some;
    struct gt_job job;
    struct gt_report report;
    struct gt_err err = {""};
    if (gt_finals_limit_entrants(&some, result, f, which) == 0)
        return;
    gt_finals_job(&job, &some, t, item);
    if (gt_pool_run_final(&report, t->pool, &job, false, &err) != GEMMTUNE_OK) {
        gt_log(GEMMTUNE_LOG_WARN, "%s: no finals within %lld bytes of workspace: %s",
               item->name, (long long)gt_finals_limit_bytes(f, which), err.line);
        return;
    }
    gt_finals_rank(&won, &some, t, &job, &report);
    gt_finals_limit_take(result, &won, gt_finals_limit_bytes(f, which));
}

void gt_finals_limit(struct gt_tune_result *result, const struct gt_finals *f,
                     struct gt_tuner *t, const struct gt_sweep_item *item) {
    for (int i = gt_finals_limits(f) - 1; i >= 0 && !*t->stop; i--)
        if (result->winners > 0 && (f->until == 0 || gt_seconds() < f->until))
            hold(result, f, t, item, i);
}
