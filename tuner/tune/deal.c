/* SPDX-License-Identifier: Apache-2.0 */
/* deal.c - see deal.h. */
#include "tuner/tune/deal.h"

#include "tuner/base/shard.h"

#include <stdlib.h>

static double cost(const struct gt_deal *d, size_t problem) {
    return (double)gt_sweep_cost(&d->budget->sweep->item[problem], d->budget->seconds > 0);
}

/* The problems as listed, or the costliest first. */
static gt_status order(size_t **out, const struct gt_budget *b, struct gt_err *err) {
    const struct gt_sweep *s = b->sweep;
    if (!s->in_order)
        return gt_sweep_order(out, s, b->seconds > 0, err);
    *out = calloc(s->count + 1, sizeof **out);
    if (*out == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for %zu problems", s->count);
    for (size_t i = 0; i < s->count; i++)
        (*out)[i] = i;
    return GEMMTUNE_OK;
}

gt_status gt_deal_begin(struct gt_deal *out, struct gt_budget *budget, size_t devices,
                        struct gt_err *err) {
    const size_t problems = budget->sweep->count;
    *out = (struct gt_deal){.budget = budget, .devices = devices};
    out->next = calloc(devices, sizeof *out->next);
    out->losses = calloc(problems + 1, sizeof *out->losses);
    if (out->next == NULL || out->losses == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for %zu problems", problems);
    for (size_t i = 0; i < devices; i++)
        out->next[i] = GT_DEAL_NONE;
    for (size_t i = 0; i < problems; i++)
        out->left += budget->given[i] ? 0 : cost(out, i);
    return order(&out->order, budget, err);
}

void gt_deal_clear(struct gt_deal *d) {
    free(d->next);
    free(d->order);
    free(d->losses);
    *d = (struct gt_deal){0};
}

static bool others_prepare(const struct gt_deal *d, size_t device, size_t problem) {
    bool found = false;
    for (size_t i = 0; i < d->devices; i++)
        found = found || (i != device && d->next[i] == problem);
    return found;
}

/* The first problem, in that order, that is not given and that no other device prepares
 * for; else the first problem that others prepare for; else none. */
static size_t find(const struct gt_deal *d, size_t device) {
    size_t second = GT_DEAL_NONE;
    for (size_t i = 0; i < d->budget->sweep->count; i++) {
        const size_t problem = d->order[i];
        if (d->budget->given[problem])
            continue;
        if (!others_prepare(d, device, problem))
            return problem;
        if (second == GT_DEAL_NONE)
            second = problem;
    }
    return second;
}

size_t gt_deal_next(struct gt_deal *d, size_t device) {
    const size_t next = d->next[device];
    const bool prepared = next != GT_DEAL_NONE && !d->budget->given[next];
    const size_t problem = prepared ? next : find(d, device);
    if (problem == GT_DEAL_NONE)
        return problem;
    d->budget->given[problem] = true;
    d->next[device] = find(d, device);
    return problem;
}

void gt_deal_leave(struct gt_deal *d, size_t device) {
    d->next[device] = GT_DEAL_NONE;
}

bool gt_deal_lose(struct gt_deal *d, size_t problem) {
    d->budget->given[problem] = ++d->losses[problem] >= GT_DEAL_LOSSES_MAX;
    return !d->budget->given[problem];
}

void gt_deal_end(struct gt_deal *d, size_t problem) {
    d->left -= cost(d, problem);
    d->done += cost(d, problem);
}
