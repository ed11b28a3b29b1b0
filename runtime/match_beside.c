/* SPDX-License-Identifier: Apache-2.0 */
/*
 * match_beside.c - points that nobody measured, beside the cheapest options. A walk begins
 * at an option. Each step changes the one parameter that lowers the cost the most, and adds
 * the doubt of a step, until no change pays, or until it comes to an option that is there
 * already. So a tile, a split or a width of copies that was right for another problem comes
 * to fit this one.
 *
 * Rough walks begin at the best option of each of a few families, so that each family is
 * compared at a point that suits the problem. Where trees correct forecasts, others follow
 * them that begin at all settled options, and whose forecasts are made by all trees.
 */
#include "runtime/match_inside.h"

#include <string.h>

enum {
    WALKS_MAX = 4, /* rough walks, from the cheapest option of as many families */
    STEPS_MAX = 4  /* steps of a walk */
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

/* Whether the last option is one of those before it. */
static bool is_known(struct gt_forecasts *all) {
    all->count--;
    const bool is = gt_forecasts_has(all, &all->item[all->count]);
    all->count++;
    return is;
}

/* Adds the cheapest option that differs from `o` in one parameter, if it is cheaper, and
 * new. There must be room for two: the cheapest one, and the one that is compared with
 * it. */
static bool step(struct gt_forecasts *all, const struct gt_forecast *o) {
    const struct gt_family *f = o->family;
    const int best = all->count;
    struct gt_forecast next = *o;
    next.doubt += cost_step;
    for (int i = 0; i < f->param_count && best + 1 < GT_FORECASTS_MAX; i++) {
        for (int j = 0; j < f->param[i].count; j++) {
            next.values[i] = f->param[i].value[j];
            if (next.values[i] != o->values[i])
                gt_forecasts_offer_best(all, &next, best);
        }
        next.values[i] = o->values[i];
    }
    if (all->count > best && all->item[best].cost < o->cost && !is_known(all))
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

void gt_forecasts_offer_beside_settled(struct gt_forecasts *all) {
    const int count = all->count;
    for (int i = 0; i < count && all->item[i].is_settled; i++)
        if (all->item[i].has_trees)
            walk(all, i);
}
