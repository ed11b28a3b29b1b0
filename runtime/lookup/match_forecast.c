/* SPDX-License-Identifier: Apache-2.0 */
/*
 * match_forecast.c - forecasts: how long kernels should take on a problem for which they
 * were not timed.
 *
 *     forecast = prediction of the model x error of the model
 *     error    = measured / predicted, on the problem of a record near by
 *
 * match_lessons.c finds the error. Where trees correct the prediction (learned.h), the
 * error is 1: there all options are forecast with the first trees, hopeless ones with
 * fewer, and then the best ones, and points beside them, with all. match_options.c says
 * which kernels get a forecast, and what a forecast costs.
 */
#include "runtime/lookup/match_inside.h"

#include <stdlib.h>

/* Options, the best by rough forecasts, that are forecast in full. 24 chose no better. */
enum { SETTLED = 12 };

/* Whether anything else is preferred: a kernel of a family for comparison, or a start of a
 * rung of the ladder, which was not measured. The model alone flatters such kernels on
 * small problems, since it sees mostly their launch: an H200 took 2.5 to 3.6 times the
 * winner's time with the textbook kernel. Trees know them like any other kernel. */
static bool is_last_resort(const struct gt_forecast *o) {
    return !o->has_trees && (o->family->role != GT_ROLE_NONE ||
                             (o->from == NULL && o->family->rung_count > 0));
}

/* Best first; rough forecasts follow settled ones. */
static int by_cost(const void *a, const void *b) {
    const struct gt_forecast *x = a, *y = b;
    int o = y->is_settled - x->is_settled;
    if (o == 0)
        o = is_last_resort(x) - is_last_resort(y);
    if (o == 0)
        o = gt_compare(x->cost, y->cost);
    if (o == 0)
        o = gt_compare((double)x->family->rank, (double)y->family->rank);
    return o != 0 ? o : gt_compare((double)x->start, (double)y->start);
}

static void sort(struct gt_forecasts *all) {
    qsort(all->item, (size_t)all->count, sizeof *all->item, by_cost);
}

void gt_forecasts_make(struct gt_forecasts *all, const struct gt_near *near, size_t count,
                       bool starts) {
    all->shelf = gt_shelf_of(all->lookup->query.device);
    all->count = 0;
    all->bases = 0;
    all->is_rough = true;
    all->least_ns = 0;
    all->last.line[0] = '\0';
    gt_forecasts_learn(all, near, count);
    gt_forecasts_offer_records(all);
    if (starts || all->count > 0)
        gt_forecasts_offer_starts(all);
    sort(all);
    gt_forecasts_offer_splits(all);
    sort(all);
    gt_forecasts_offer_beside(all);
    sort(all);
    const int settled = all->count < SETTLED ? all->count : SETTLED;
    gt_forecasts_settle(all, settled);
    gt_forecasts_offer_beside_settled(all, settled);
    sort(all);
}
