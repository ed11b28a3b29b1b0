/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search_local.c - seeds, then a random sample of every space, then the neighbours of the best:
 * one parameter one step, from the leaders in turn; when they have none left, two parameters;
 * then random points again. When the spaces hold no more than the budget, all of
 * them are tried. Picks come in generations: the next is made when the last has been told, so
 * that the order of compiling does not change the search.
 */
#include "tuner/search.h"

#include <stdlib.h>
#include <string.h>

enum {
    LEADERS = 16,   /* best points whose neighbours are worth trying */
    BEST = 4,       /* and whose neighbours in two parameters are */
    GENERATION = 48 /* picks at most between two looks at the results */
};

/* A pick that was correct. */
struct scored {
    struct gt_pick pick;
    double ns;
    int expanded; /* how many parameters at once its moves have changed */
};

struct local {
    struct gt_search_setup setup;
    unsigned char **seen; /* by space, by index: given already */
    struct gt_pick queue[GENERATION];
    int queued, taken, told;
    struct scored *good;
    size_t goods, total, given;
    uint64_t rng;
    bool sampled; /* the random sample has been given */
};

static void local_destroy(void *self) {
    struct local *l = self;
    if (!l)
        return;
    for (int i = 0; l->seen && i < l->setup.spaces; i++)
        free(l->seen[i]);
    free(l->seen);
    free(l->good);
    free(l);
}

static bool room(const struct local *l) {
    return l->queued < GENERATION &&
           l->given + (size_t)(l->queued - l->taken) < l->setup.budget;
}

static bool propose(struct local *l, struct gt_pick p) {
    if (!room(l) || l->seen[p.space][p.index])
        return false;
    l->seen[p.space][p.index] = 1;
    l->queue[l->queued++] = p;
    return true;
}

static gt_status local_create(void **self, const struct gt_search_setup *setup,
                              struct gt_err *err) {
    struct local *l = calloc(1, sizeof *l);
    *self = NULL;
    if (!l)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for the search");
    l->setup = *setup;
    l->rng = setup->seed;
    l->seen = calloc((size_t)setup->spaces + 1, sizeof *l->seen);
    bool ok = l->seen != NULL;
    for (int i = 0; ok && i < setup->spaces; i++) {
        l->seen[i] = calloc(setup->space[i].count + 1, 1);
        ok = l->seen[i] != NULL;
        l->total += setup->space[i].count;
    }
    const size_t most = l->total < setup->budget ? l->total : setup->budget;
    l->good = ok ? calloc(most + 1, sizeof *l->good) : NULL;
    if (!l->good) {
        local_destroy(l);
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for the search");
    }
    for (int i = 0; i < setup->seed_picks; i++)
        (void)propose(l, setup->seed_pick[i]);
    *self = l;
    return GEMMTUNE_OK;
}

/* A point of the space that has not been given: from a random place, the next free one. */
static bool propose_random(struct local *l, int space) {
    const size_t count = l->setup.space[space].count;
    if (count == 0)
        return false;
    const size_t from = (size_t)(gt_random(&l->rng) % count);
    for (size_t i = 0; i < count; i++) {
        const struct gt_pick p = {.space = space, .index = (from + i) % count};
        if (!l->seen[space][p.index])
            return propose(l, p);
    }
    return false;
}

/* Rounds over the spaces, so that each has its share whatever its size. */
static void fill_random(struct local *l, size_t want) {
    bool any = true;
    while (want > 0 && any && room(l)) {
        any = false;
        for (int s = 0; s < l->setup.spaces && want > 0; s++)
            if (propose_random(l, s)) {
                any = true;
                want--;
            }
    }
}

static int place_of(const struct gt_param *param, int64_t value) {
    int at = 0;
    while (at + 1 < param->count && param->value[at] != value)
        at++;
    return at;
}

/* The legal points that differ from `point` in `depth` parameters, from the `from`th on, each by one
 * place of its domain. Rules tie parameters together: where no single step is legal, two may be. */
static void propose_moves(struct local *l, int space, struct gt_point *point, int from,
                          int depth) {
    const struct gt_space *s = &l->setup.space[space];
    if (depth == 0) {
        const size_t index = gt_space_find(s, point);
        if (index != SIZE_MAX)
            (void)propose(l, (struct gt_pick){.space = space, .index = index});
        return;
    }
    for (int i = from; i < s->params && room(l); i++) {
        const struct gt_param *param = &s->family->param[i];
        const int64_t value = point->entry[i].value;
        const int at = place_of(param, value), step[2] = {at - 1, at + 1};
        for (int j = 0; j < 2; j++) {
            if (step[j] < 0 || step[j] >= param->count)
                continue;
            point->entry[i].value = param->value[step[j]];
            propose_moves(l, space, point, i + 1, depth - 1);
        }
        point->entry[i].value = value;
    }
}

static int by_time(const void *a, const void *b) {
    const struct scored *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? -1 : 1;
    if (x->pick.space != y->pick.space)
        return x->pick.space < y->pick.space ? -1 : 1;
    return x->pick.index < y->pick.index ? -1 : x->pick.index > y->pick.index;
}

/* Moves of `depth` parameters from the first leaders that have not made them all. */
static void expand_leaders(struct local *l, size_t leaders, int depth) {
    struct gt_point point;
    qsort(l->good, l->goods, sizeof *l->good, by_time);
    for (size_t i = 0; i < l->goods && i < leaders && l->queued == 0; i++) {
        struct scored *leader = &l->good[i];
        if (leader->expanded >= depth)
            continue;
        gt_space_point(&l->setup.space[leader->pick.space], leader->pick.index, &point);
        propose_moves(l, leader->pick.space, &point, 0, depth);
        if (room(l)) /* else some are left for the next generation */
            leader->expanded = depth;
    }
}

static void next_generation(struct local *l) {
    /* without a budget in picks somebody else ends the search: sample one generation, then climb */
    const size_t plan = l->setup.budget == SIZE_MAX ? 2 * GENERATION : l->setup.budget;
    l->queued = l->taken = l->told = 0;
    if (l->total <= plan) {
        fill_random(l, GENERATION);
        return;
    }
    if (!l->sampled) {
        l->sampled = true;
        const size_t half = plan / 2;
        fill_random(l, half > l->given ? half - l->given : 0);
    }
    if (l->queued == 0)
        expand_leaders(l, LEADERS, 1);
    if (l->queued == 0)
        expand_leaders(l, BEST, 2);
    if (l->queued == 0)
        fill_random(l, (size_t)l->setup.spaces);
}

static enum gt_ask local_ask(void *self, struct gt_pick *out) {
    struct local *l = self;
    if (l->taken == l->queued) {
        if (l->told < l->taken)
            return GT_ASK_WAIT;
        next_generation(l);
        if (l->queued == 0)
            return GT_ASK_DONE;
    }
    *out = l->queue[l->taken++];
    l->given++;
    return GT_ASK_PICK;
}

static void local_tell(void *self, const struct gt_pick *pick, gt_outcome outcome,
                       double ns) {
    struct local *l = self;
    l->told++;
    if (outcome == GT_CORRECT)
        l->good[l->goods++] = (struct scored){.pick = *pick, .ns = ns};
}

const struct gt_strategy gt_search_local = {
    .name = "local",
    .about = "seeds, a random sample, then neighbours of the best",
    .create = local_create,
    .destroy = local_destroy,
    .ask = local_ask,
    .tell = local_tell,
};
