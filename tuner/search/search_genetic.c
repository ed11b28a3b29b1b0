/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search_genetic.c - a genetic algorithm. The better half of the population breeds: a child
 * has each parameter from one of two parents or, now and then, a random value. A generation
 * must be told before the next one is bred. Points with a known result cost no evaluation.
 */
#include "tuner/base/best.h"
#include "tuner/search/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POPULATION = 20, TRIES = 200 };
static const double mutation = 0.1; /* probability for each parameter */

struct genetic {
    struct gt_search *search;
    struct gt_keyed_pick adult[POPULATION]; /* the best so far, by time */
    int adults;
    struct gt_pick child[POPULATION]; /* the generation that is being tried */
    int children, given;
};

static gt_status genetic_create(void **self, struct gt_search *search, struct gt_err *err) {
    struct genetic *g = calloc(1, sizeof *g);
    *self = g;
    if (!g)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for the search");
    g->search = search;
    return GEMMTUNE_OK;
}

/* Adds a point to the adults. The best POPULATION of them are kept, each once. */
static void grow_up(struct genetic *g, struct gt_pick p) {
    const double ns = gt_search_told(g->search, p);
    for (int i = 0; i < g->adults; i++)
        if (g->adult[i].pick.space == p.space && g->adult[i].pick.index == p.index)
            return;
    if (isinf(ns))
        return;
    struct gt_keyed_pick *place =
        gt_best_place(g->adult, &g->adults, POPULATION, sizeof *g->adult, ns);
    if (place != NULL)
        *place = (struct gt_keyed_pick){ns, p};
}

static bool breed(struct genetic *g, struct gt_pick *out) {
    const size_t half = ((size_t)g->adults + 1) / 2;
    const struct gt_pick a = g->adult[gt_search_below(g->search, half)].pick;
    const struct gt_pick b = g->adult[gt_search_below(g->search, half)].pick;
    const struct gt_space *s = &gt_search_setup_of(g->search)->space[a.space];
    const size_t params = (size_t)s->params;
    const unsigned char *mother = s->idx + a.index * params;
    const unsigned char *father = a.space == b.space ? s->idx + b.index * params : mother;
    unsigned char at[GT_POINT_MAX];
    for (int i = 0; i < s->params; i++) {
        at[i] = gt_search_uniform(g->search) < 0.5 ? mother[i] : father[i];
        if (gt_search_uniform(g->search) < mutation)
            at[i] = (unsigned char)gt_search_below(g->search,
                                                   (size_t)s->family->param[i].count);
    }
    *out = (struct gt_pick){a.space, gt_space_at(s, at)};
    return out->index != SIZE_MAX && !gt_search_taken(g->search, *out);
}

static bool among(const struct genetic *g, struct gt_pick p) {
    for (int i = 0; i < g->children; i++)
        if (g->child[i].space == p.space && g->child[i].index == p.index)
            return true;
    return false;
}

/* Breeds children that have not been tried. When it finds too few,
 * random points are added. */
static void next_generation(struct genetic *g) {
    struct gt_pick p;
    const bool first = g->adults < 2;
    g->children = g->given = 0;
    for (int i = 0; !first && i < TRIES && g->children < POPULATION; i++)
        if (breed(g, &p) && !among(g, p))
            g->child[g->children++] = p;
    for (int i = 0; i < TRIES && g->children < (first ? POPULATION : POPULATION / 4); i++)
        if (gt_search_any(&p, g->search) && !among(g, p))
            g->child[g->children++] = p;
}

static enum gt_ask genetic_ask(void *self, struct gt_pick *out) {
    struct genetic *g = self;
    if (g->given == g->children) {
        for (int i = 0; i < g->children; i++)
            if (isnan(gt_search_told(g->search, g->child[i])))
                return GT_ASK_WAIT;
        next_generation(g);
        if (g->children == 0)
            return GT_ASK_DONE;
    }
    *out = g->child[g->given++];
    return GT_ASK_PICK;
}

static void genetic_tell(void *self, const struct gt_pick *pick, gt_outcome outcome,
                         double ns) {
    (void)outcome;
    (void)ns;
    grow_up(self, *pick);
}

const struct gt_strategy gt_search_genetic = {
    .name = "genetic",
    .create = genetic_create,
    .destroy = free,
    .ask = genetic_ask,
    .tell = genetic_tell,
};
