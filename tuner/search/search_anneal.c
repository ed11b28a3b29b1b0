/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search_anneal.c - simulated annealing. It steps to a random neighbour (any value of one
 * parameter) when that is better, and sometimes when it is worse: the greater the relative
 * loss and the lower the temperature, the more seldom. When it is cold it starts again from
 * a random point. Points with a known result cost no evaluation.
 */
#include "tuner/search/search.h"

#include <math.h>
#include <stdlib.h>

enum { NEIGHBOURS = 512 };
/* As a part of the time here. A schedule takes about 200 steps, known points included. */
static const double hot = 0.5, cold = 1e-3, cooling = 0.97;

struct anneal {
    struct gt_search *search;
    struct gt_pick here, trial;
    double here_ns, temperature;
    /* it has a point to step from; it waits for the result of `trial` */
    bool standing, looking;
};

static gt_status anneal_create(void **self, struct gt_search *search, struct gt_err *err) {
    struct anneal *a = calloc(1, sizeof *a);
    *self = a;
    if (!a)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for the search");
    a->search = search;
    a->temperature = hot;
    return GEMMTUNE_OK;
}

static void consider(struct anneal *a, struct gt_pick p, double ns) {
    const double loss = ns / a->here_ns - 1;
    if (!a->standing || isinf(a->here_ns) || loss <= 0 ||
        gt_search_uniform(a->search) < exp(-loss / a->temperature)) {
        a->here = p;
        a->here_ns = ns;
        a->standing = true;
    }
    a->temperature *= cooling;
    if (a->temperature < cold) {
        a->temperature = hot;
        a->standing = false;
    }
}

static bool step(struct anneal *a, struct gt_pick *out) {
    struct gt_pick list[NEIGHBOURS];
    if (!a->standing)
        return gt_search_any(out, a->search);
    const struct gt_space *s = &gt_search_setup_of(a->search)->space[a->here.space];
    const int n = gt_search_neighbours(list, NEIGHBOURS, s, a->here, true);
    if (n == 0)
        return gt_search_any(out, a->search);
    *out = list[gt_search_below(a->search, (size_t)n)];
    return true;
}

static enum gt_ask anneal_ask(void *self, struct gt_pick *out) {
    enum { STEPS = 1000 };
    struct anneal *a = self;
    if (a->looking) {
        if (isnan(gt_search_told(a->search, a->trial)))
            return GT_ASK_WAIT;
        a->looking = false;
        consider(a, a->trial, gt_search_told(a->search, a->trial));
    }
    for (int i = 0; i < STEPS && step(a, &a->trial); i++) {
        const double ns = gt_search_told(a->search, a->trial);
        if (!isnan(ns)) {
            consider(a, a->trial, ns);
        } else if (!gt_search_taken(a->search, a->trial)) {
            *out = a->trial;
            a->looking = true;
            return GT_ASK_PICK;
        }
    }
    return gt_search_any(out, a->search) ? GT_ASK_PICK : GT_ASK_DONE;
}

/* Begins at the best start. */
static void anneal_tell(void *self, const struct gt_pick *pick, gt_outcome outcome,
                        double ns) {
    struct anneal *a = self;
    if (a->looking || outcome != GT_CORRECT || (a->standing && ns >= a->here_ns))
        return;
    a->here = *pick;
    a->here_ns = ns;
    a->standing = true;
}

const struct gt_strategy gt_search_anneal = {
    .name = "anneal",
    .create = anneal_create,
    .destroy = free,
    .after_starts = true,
    .ask = anneal_ask,
    .tell = anneal_tell,
};
