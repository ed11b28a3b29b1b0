/* SPDX-License-Identifier: Apache-2.0 */
/*
 * match_options.c - the kernels that are offered for a problem, each with a forecast and a
 * cost. They are
 *
 *     the points of near records, and the families' starts and default points
 *     points that may not run as they are, with smaller values of the parameters that the
 *         refusing rules name: tiles that are larger than the matrices
 *     the same with other values of the parameters that the family lists as "adapt": mostly
 *         the width of copies, when rows are not aligned
 *     starts that leave units idle in a batch, with as many parts of k as fill the device
 *     the cheapest of these with other splits of k
 *
 * A forecast for a farther problem has a higher cost, because the model's error may differ
 * there. So has a point that was changed. A start was never measured: without trees it gets
 * the error of its family's records, and it must beat measured kernels by a margin.
 */
#include "runtime/lookup/match_inside.h"

#include "runtime/lookup/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    SPLIT_MAX = 8,  /* options that get other splits of k; walks find them for others */
    ADAPT_MAX = 32, /* near records that may not run as they are; others are not adapted */
};

/* The cost of a forecast for each step away from a measurement, in natural logarithms. */
static const double cost_distance = 0.03; /* a factor of two in m, n or k */
static const double cost_split = 0.04;    /* another split of k */
static const double cost_adapt = 0.04;    /* smaller, or other adaptable values */
static const double cost_start = 0.12;    /* never measured; no step costs more */
/* The share of these costs where trees have learned the model's errors (learned.h). None,
 * half and all of them chose worse for drawn problems. */
static const double beside_trees = 0.25;
/* cost_distance where the model has no prediction */
static const double cost_unpredicted = 0.9;
/* An option that the trees of a glance (learned.h) find so many times as long as the best
 * forecast so far gets no more trees. The trees after them made few forecasts shorter by a
 * third. Points beside settled options are many, and alike: 1.05 lost half of what such
 * walks gain. */
static const double too_long = 2, too_long_settled = 1.3;

/* ---- the point of an option ---------------------------------------------------------- */

static void start_values(int64_t values[GT_POINT_MAX], const struct gt_family *f,
                         int start) {
    memset(values, 0, GT_POINT_MAX * sizeof *values);
    for (int i = 0; i < f->param_count; i++)
        values[i] = start < f->start_count ? f->start[start][i] : f->param[i].preset;
}

void gt_forecast_point(struct gt_point *out, const struct gt_forecast *o) {
    gt_point_of_values(out, o->family, o->values);
}

void gt_forecast_changes(char *buf, size_t size, const struct gt_forecast *o) {
    int64_t before[GT_POINT_MAX];
    size_t at = 0;
    buf[0] = '\0';
    if (o->from != NULL)
        memcpy(before, o->from->known->values, sizeof before);
    else
        start_values(before, o->family, o->start);
    for (int i = 0; i < o->family->param_count; i++)
        if (before[i] != o->values[i] && at < size)
            at +=
                (size_t)snprintf(buf + at, size - at, "%s%s=%lld", at == 0 ? " with " : " ",
                                 o->family->param[i].name, (long long)o->values[i]);
}

/* ---- one option ---------------------------------------------------------------------- */

/* The time at the record's own rate of operations, for use without a model. */
static double ns_at_same_rate(const struct gt_lookup *l, const struct gt_known *known) {
    return known->median_ns * fmax(1, gt_problem_flops(l->query.problem)) /
           fmax(1, gt_problem_flops(&known->problem));
}

/* Whether a forecast without a prediction is allowed: for records of the same layout only,
 * and never for a start. */
static bool may_lack_prediction(const struct gt_lookup *l, const struct gt_forecast *o) {
    return o->from != NULL && gt_problem_lends(&o->from->known->problem, l->query.problem);
}

/* The forecast of the option that was fitted last; 0: there is none. */
static double ns_by_model(struct gt_forecasts *all, const struct gt_forecast *o) {
    struct gt_prediction p;
    all->model.few_trees = all->is_rough;
    all->model.too_long_ns = (all->is_rough ? too_long : too_long_settled) * all->least_ns;
    return o->asks_model && gt_model_predict_fit(&p, &all->model, &all->fit)
               ? p.ns * gt_forecast_error(all, o, &p)
               : 0;
}

static double cost_of(const struct gt_forecast *o) {
    return log(o->ns) + (o->has_trees ? beside_trees : 1) * o->doubt;
}

/* Forecasts the option again. */
static void renew(struct gt_forecasts *all, struct gt_forecast *o) {
    if (!o->has_trees || !gt_forecasts_fit(all, o, NULL))
        return;
    const double ns = ns_by_model(all, o);
    if (ns <= 0)
        return;
    o->ns = fmax(ns, 1);
    o->cost = cost_of(o);
}

void gt_forecasts_settle(struct gt_forecasts *all, int count) {
    double least_ns = 0;
    all->is_rough = false;
    all->least_ns = 0;
    for (int i = 0; i < count; i++) {
        struct gt_forecast *o = &all->item[i];
        renew(all, o);
        o->is_settled = true;
        if (o->has_trees && (least_ns == 0 || o->ns < least_ns))
            least_ns = o->ns;
    }
    all->least_ns = least_ns;
}

/* Adds the option if its values may run, and it has a forecast. `why` (may be NULL) gets
 * the reason when they may not run, which is the result. */
static bool add_option(struct gt_forecasts *all, const struct gt_forecast *o,
                       struct gt_err *why) {
    const struct gt_lookup *l = all->lookup;
    if (!gt_forecasts_fit(all, o, why))
        return false;
    const double ns = ns_by_model(all, o);
    if (all->count == GT_FORECASTS_MAX || (ns <= 0 && !may_lack_prediction(l, o)))
        return true;
    struct gt_forecast *new = &all->item[all->count++];
    *new = *o;
    new->ns = fmax(ns > 0 ? ns : ns_at_same_rate(l, o->from->known), 1);
    new->asks_model = ns > 0;
    new->has_trees = ns > 0 && all->model.trees != NULL;
    new->is_settled = !all->is_rough;
    if (new->has_trees && (all->least_ns == 0 || new->ns < all->least_ns))
        all->least_ns = new->ns;
    new->doubt = ns > 0 ? o->doubt : cost_unpredicted * o->from->distance;
    new->cost = cost_of(new);
    return true;
}

/* Whether the shape of the option that was refused last is right: rows are not aligned, or
 * a rule is broken. */
static bool is_misfit(const struct gt_forecasts *all) {
    return all->fit.binding.family != NULL && gt_is_misfit(&all->fit.binding);
}

/* ---- adapted points ------------------------------------------------------------------ */

/* Whether the option is that point of the family. */
static bool is_point(const struct gt_forecast *o, const struct gt_family *f,
                     const int64_t values[GT_POINT_MAX]) {
    return o->family == f && memcmp(o->values, values, sizeof o->values) == 0;
}

static bool is_offered(const struct gt_forecasts *all, const struct gt_forecast *o) {
    int i = 0;
    while (i < all->count && !is_point(&all->item[i], o->family, o->values))
        i++;
    return i < all->count;
}

/* Gives the option, which was refused last, smaller values of the parameters that the
 * refusing rules name, and adds it if it may run then and is not there yet. False when it
 * may not run: all->fit knows why. */
static bool add_lowered(struct gt_forecasts *all, struct gt_forecast *o) {
    const double doubt = o->doubt + cost_adapt;
    int last = -1;
    while (all->fit.binding.family != NULL &&
           gt_family_lower(o->values, &last, &all->fit.binding)) {
        o->doubt = doubt;
        if (is_offered(all, o) || add_option(all, o, NULL))
            return true;
    }
    return false;
}

void gt_forecasts_offer_best(struct gt_forecasts *all, const struct gt_forecast *o,
                             int best) {
    if (!add_option(all, o, NULL)) {
        struct gt_forecast lower = *o;
        (void)add_lowered(all, &lower);
    }
    if (all->count > best + 1 && all->item[best + 1].cost < all->item[best].cost)
        all->item[best] = all->item[best + 1];
    all->count = all->count > best ? best + 1 : best;
}

/* Adds the cheapest of the option's adapted points that may run. */
static void add_adapted(struct gt_forecasts *all, struct gt_forecast o) {
    const int best = all->count;
    o.doubt += cost_adapt;
    for (int i = 0; best + 1 < GT_FORECASTS_MAX && gt_family_adapt(o.values, o.family, i);
         i++)
        gt_forecasts_offer_best(all, &o, best);
}

/* Adds the option. When it may not run, adds it with smaller values, or with k in one
 * piece; when it is a misfit then and `adapts` is set, adapted. False when it may not run
 * as it is. */
static bool offer(struct gt_forecasts *all, struct gt_forecast o, bool adapts) {
    if (add_option(all, &o, all->count == 0 ? &all->last : NULL))
        return true;
    if (!o.asks_model || add_lowered(all, &o))
        return false;
    const int split = gt_family_split(o.family);
    bool misfit = is_misfit(all);
    if (!misfit && split >= 0 && o.values[split] != 1) {
        o.values[split] = 1;
        o.doubt += cost_split;
        misfit = !add_option(all, &o, NULL) && is_misfit(all);
    }
    if (misfit && adapts && o.family->adapt_count > 0)
        add_adapted(all, o);
    return false;
}

/* ---- other splits of k --------------------------------------------------------------- */

/* Adds the option with each other split of k. */
static void add_splits(struct gt_forecasts *all, struct gt_forecast o) {
    const int at = gt_family_split(o.family);
    const int64_t own = at >= 0 ? o.values[at] : 0;
    if (at < 0 || !o.asks_model)
        return;
    const struct gt_param *split = &o.family->param[at];
    o.doubt += cost_split;
    for (int i = 0; i < split->count; i++) {
        o.values[at] = split->value[i];
        if (o.values[at] > 0 && o.values[at] != own)
            (void)add_option(all, &o, NULL);
    }
}

/* Whether a cheaper option differs from option `i` in the split of k alone. */
static bool has_cheaper(const struct gt_forecasts *all, int i) {
    const struct gt_forecast *o = &all->item[i];
    const int split = gt_family_split(o->family);
    for (int j = 0; split >= 0 && j < i; j++) {
        const struct gt_forecast *other = &all->item[j];
        int64_t values[GT_POINT_MAX];
        memcpy(values, o->values, sizeof values);
        values[split] = other->values[split];
        if (is_point(other, o->family, values))
            return true;
    }
    return false;
}

void gt_forecasts_offer_splits(struct gt_forecasts *all) {
    const int count = all->count;
    int bases = 0;
    for (int i = 0; i < count && bases < SPLIT_MAX; i++) {
        if (has_cheaper(all, i))
            continue;
        add_splits(all, all->item[i]);
        bases++;
    }
}

/* ---- records and starts -------------------------------------------------------------- */

void gt_forecasts_offer_records(struct gt_forecasts *all) {
    int refused = 0;
    for (int i = 0; i < all->lessons; i++) {
        const struct gt_lesson *l = &all->lesson[i];
        struct gt_forecast o = {.from = l->near,
                                .family = l->near->known->family,
                                .kind = l->kind,
                                .asks_model = l->by_model};
        /* Of several records of a point the nearest is offered. Records without a
         * prediction have forecasts of their own. */
        if (l->by_model && l->kind != i)
            continue;
        memcpy(o.values, l->values, sizeof o.values);
        o.doubt = fmin(cost_distance * l->near->distance, cost_start);
        if (!offer(all, o, refused < ADAPT_MAX))
            refused++;
    }
}

/* Adds a batch's start, which may run as it is and was fitted last, with the most parts of
 * k for which the units of the device are enough. A start that leaves units idle with k in
 * one piece is too dear to get other splits below. Single products find their parts in
 * records. Most of these have values that a batch may not have. */
static void add_filling(struct gt_forecasts *all, struct gt_forecast o) {
    const struct gt_passes *passes = &all->fit.passes;
    const int64_t *grid = passes->item[passes->main].launch.grid;
    const int64_t fill = all->lookup->query.device->units / (grid[0] * grid[1] * grid[2]);
    const int at = gt_family_split(o.family);
    if (at < 0 || o.values[at] != 1)
        return;
    const struct gt_param *split = &o.family->param[at];
    for (int i = 0; i < split->count; i++)
        if (split->value[i] <= fill && split->value[i] > o.values[at])
            o.values[at] = split->value[i];
    o.doubt += cost_split;
    if (o.values[at] > 1)
        (void)add_option(all, &o, NULL);
}

void gt_forecasts_offer_starts(struct gt_forecasts *all) {
    const struct gt_lookup *l = all->lookup;
    const struct gt_families *families = l->query.snapshot->families;
    for (size_t i = 0; i < gt_families_count(families); i++) {
        const struct gt_family *f = gt_families_at(families, i);
        if (l->query.worst < GEMMTUNE_MATCH_DEFAULT ||
            !gt_family_serves(f, l->query.device, l->query.problem, NULL))
            continue;
        for (int s = 0; s <= f->start_count; s++) {
            struct gt_forecast o = {.family = f,
                                    .start = s,
                                    .kind = -1,
                                    .asks_model = true,
                                    .doubt = cost_start};
            start_values(o.values, f, s);
            if (offer(all, o, true) && gt_problem_is_batch(l->query.problem))
                add_filling(all, o);
        }
    }
}
