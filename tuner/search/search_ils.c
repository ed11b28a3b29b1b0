/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search_ils.c - greedy iterated local search. It goes from a random point to the first
 * better neighbour (any value of one parameter) until there is none. From the best optimum
 * it then makes a few random steps and descends again. After several descents without a
 * gain it starts at another random point. Points with a known result cost no evaluation.
 */
#include "tuner/search/search.h"

#include <math.h>
#include <stdlib.h>

enum { NEIGHBOURS = 512, KICK = 2, PATIENCE = 10 };

struct ils {
    struct gt_search *search;
    /* the present point; the best local optimum since a restart */
    struct gt_pick here, home;
    double here_ns, home_ns;
    struct gt_pick list[NEIGHBOURS]; /* neighbours of `here`, in random order */
    int count, next;
    int fruitless; /* descents since `home` was found */
    /* it has a point to step from; it waits for the result of `trial` */
    bool standing, looking;
    struct gt_pick trial;
};

static gt_status ils_create(void **self, struct gt_search *search, struct gt_err *err) {
    struct ils *l = calloc(1, sizeof *l);
    *self = l;
    if (!l)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for the search");
    l->search = search;
    l->home_ns = HUGE_VAL;
    return GEMMTUNE_OK;
}

static int list_neighbours(struct ils *l, struct gt_pick p) {
    const struct gt_space *s = &gt_search_setup_of(l->search)->space[p.space];
    const int n = gt_search_neighbours(l->list, NEIGHBOURS, s, p, true);
    for (int i = n; i > 1; i--) {
        const int j = (int)gt_search_below(l->search, (size_t)i);
        const struct gt_pick q = l->list[j];
        l->list[j] = l->list[i - 1];
        l->list[i - 1] = q;
    }
    return n;
}

static void stand(struct ils *l, struct gt_pick p, double ns) {
    l->here = p;
    l->here_ns = ns;
    l->count = list_neighbours(l, p);
    l->next = 0;
    l->standing = true;
}

/* The point from which to go on after a local optimum. */
static bool kick(struct ils *l, struct gt_pick *out) {
    if (l->here_ns < l->home_ns) {
        l->home = l->here;
        l->home_ns = l->here_ns;
        l->fruitless = 0;
    } else if (++l->fruitless >= PATIENCE) {
        l->home_ns = HUGE_VAL;
        l->fruitless = 0;
        return gt_search_any(out, l->search);
    }
    *out = l->home;
    for (int i = 0; i < KICK; i++)
        if (list_neighbours(l, *out) > 0)
            *out = l->list[0];
    return true;
}

/* Moves to a point with a known result, if it is better. */
static void consider(struct ils *l, struct gt_pick p, double ns) {
    if (!l->standing || ns < l->here_ns)
        stand(l, p, ns);
}

static enum gt_ask ils_ask(void *self, struct gt_pick *out) {
    enum { KICKS = 100 };
    struct ils *l = self;
    if (l->looking) {
        if (isnan(gt_search_told(l->search, l->trial)))
            return GT_ASK_WAIT;
        l->looking = false;
        consider(l, l->trial, gt_search_told(l->search, l->trial));
    }
    for (int kicks = 0; kicks < KICKS;) {
        struct gt_pick p;
        if (l->standing && l->next < l->count) {
            p = l->list[l->next++];
        } else if (l->standing && kick(l, &p)) {
            l->standing = false;
            kicks++;
        } else if (!gt_search_any(&p, l->search)) {
            return GT_ASK_DONE;
        }
        const double ns = gt_search_told(l->search, p);
        if (!isnan(ns)) {
            consider(l, p, ns);
        } else if (!gt_search_taken(l->search, p)) {
            *out = l->trial = p;
            l->looking = true;
            return GT_ASK_PICK;
        }
    }
    l->standing = false; /* all results around are known */
    return gt_search_any(out, l->search) ? GT_ASK_PICK : GT_ASK_DONE;
}

/* Begins at a start. */
static void ils_tell(void *self, const struct gt_pick *pick, gt_outcome outcome,
                     double ns) {
    struct ils *l = self;
    if (!l->looking && outcome == GT_CORRECT)
        consider(l, *pick, ns);
}

const struct gt_strategy gt_search_ils = {
    .name = "ils",
    .create = ils_create,
    .destroy = free,
    .after_starts = true,
    .ask = ils_ask,
    .tell = ils_tell,
};
