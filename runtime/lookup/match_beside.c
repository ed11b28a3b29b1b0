/* SPDX-License-Identifier: Apache-2.0 */
/*
 * match_beside.c - points that nobody measured, beside the cheapest options. A walk begins
 * at an option. Each step changes the one parameter that lowers the cost the most. When
 * rules refuse the new point, it gets smaller values of what they name. Each step adds to
 * the doubt. The walk ends when no change pays. So a tile, a split or a width of copies
 * that was right for another problem comes to fit this one.
 *
 * Rough walks begin at the best option of each of a few families, so that each family is
 * compared at a point that suits the problem. Where trees correct forecasts, other walks
 * follow. They begin at all settled options, and all trees make their forecasts. Such a
 * walk leaves out points that it or an earlier one asked about.
 */
#include "core/mix.h"
#include "runtime/lookup/match_inside.h"

#include <string.h>

enum {
    WALKS_MAX = 4, /* rough walks, from the cheapest option of as many families */
    STEPS_MAX = 4, /* steps of a walk */
    TRIES = 16     /* places of a table that are tried for a hash */
};

/* The cost of a step, in natural logarithms. */
static const double cost_step = 0.03;

/* Whether option `i` is the cheapest of its family that the model forecasts. */
static bool is_first_of_family(const struct gt_forecasts *all, int i) {
    for (int j = 0; j < i; j++)
        if (all->item[j].family == all->item[i].family && all->item[j].asks_model)
            return false;
    return all->item[i].asks_model;
}

/* ---- points that walks by all trees asked about -------------------------------------- */

static uint64_t hash_of(const struct gt_forecast *o) {
    uint64_t hash;
    memcpy(&hash, o->family->hash, sizeof hash);
    for (int i = 0; i < o->family->param_count; i++)
        hash = gt_mix(hash + (uint64_t)o->values[i] + GT_MIX_STEP);
    return hash != 0 ? hash : 1; /* 0 is a free place */
}

/* Remembers the option's point. False when it was remembered before. When the table has no
 * free place near its hash, the point stays unknown, and may be asked about again. */
static bool remember(struct gt_forecasts *all, const struct gt_forecast *o) {
    const uint64_t hash = hash_of(o);
    for (uint64_t i = 0; i < TRIES; i++) {
        uint64_t *place = &all->seen[(hash + i) % GT_SEEN_MAX];
        if (*place == hash)
            return false;
        if (*place == 0) {
            *place = hash;
            return true;
        }
    }
    return true;
}

/* ---- walks --------------------------------------------------------------------------- */

/* Adds the cheapest option that differs from `o` in one parameter, and in the parameters
 * that rules lower then, if it is cheaper. There must be room for two: the cheapest one,
 * and the one that is compared with it. */
static bool step(struct gt_forecasts *all, const struct gt_forecast *o) {
    const struct gt_family *f = o->family;
    const int best = all->count;
    struct gt_forecast next = *o;
    next.doubt += cost_step;
    for (int i = 0; i < f->param_count && best + 1 < GT_FORECASTS_MAX; i++) {
        for (int j = 0; j < f->param[i].count; j++) {
            next.values[i] = f->param[i].value[j];
            if (next.values[i] != o->values[i] && (all->is_rough || remember(all, &next)))
                gt_forecasts_offer_best(all, &next, best);
        }
        next.values[i] = o->values[i];
    }
    if (all->count > best && all->item[best].cost < o->cost)
        return true;
    all->count = best;
    return false;
}

static void walk(struct gt_forecasts *all, int from) {
    int at = from;
    for (int i = 0; i < STEPS_MAX && step(all, &all->item[at]); i++)
        at = all->count - 1;
}

void gt_forecasts_offer_beside(struct gt_forecasts *all) {
    const int count = all->count;
    int walks = 0;
    for (int i = 0; i < count && walks < WALKS_MAX; i++) {
        if (!is_first_of_family(all, i))
            continue;
        walk(all, i);
        walks++;
    }
}

void gt_forecasts_offer_beside_settled(struct gt_forecasts *all, int settled) {
    memset(all->seen, 0, sizeof all->seen);
    for (int i = 0; i < settled; i++)
        (void)remember(all, &all->item[i]);
    for (int i = 0; i < settled; i++)
        if (all->item[i].has_trees)
            walk(all, i);
}
