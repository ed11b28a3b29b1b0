/* SPDX-License-Identifier: Apache-2.0 */
/*
 * match_options.c - the kernels that are offered for a problem, each with a forecast and a
 * cost. They are
 *
 *     the points of near records, and the families' starts and default points
 *     points that may not run as they are, with other values of the parameters that the
 *         family lists as "adapt": mostly the width of copies, when rows are not aligned
 *     the cheapest of these with other splits of k
 *
 * A forecast for a farther problem has a higher cost, because the model's error may differ
 * there. So has a point that was changed. A start was never measured: it gets the error of
 * its family's records, and must beat measured kernels by a margin.
 */
#include "runtime/match_inside.h"

#include "runtime/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    SPLIT_MAX = 40, /* options that get other splits of k */
    ADAPT_MAX = 32, /* near records that may not run as they are, and are adapted */
};

/* The cost of a forecast for each step away from a measurement, in natural logarithms. */
static const double cost_distance = 0.03; /* a factor of two in m, n or k */
static const double cost_split = 0.04;    /* another split of k */
static const double cost_adapt = 0.04;    /* other values of adaptable parameters */
static const double cost_start = 0.12;    /* never measured; no step costs more */
/* cost_distance where the model has no prediction */
static const double cost_unpredicted = 0.9;

/* ---- the point of an option ---------------------------------------------------------- */

static void start_point(struct gt_point *out, const struct gt_family *f, int start) {
    if (start < f->start_count)
        gt_family_start(f, start, out);
    else
        gt_family_default(f, out);
}

/* The point of the record or start, before it was changed. */
static void unchanged_point(struct gt_point *out, const struct gt_forecast *o) {
    if (o->from != NULL)
        *out = o->from->known->point;
    else
        start_point(out, o->family, o->start);
}

void gt_forecast_point(struct gt_point *out, const struct gt_forecast *o) {
    unchanged_point(out, o);
    for (int i = 0; i < o->family->param_count; i++)
        (void)gt_point_set(out, o->family->param[i].name, o->values[i], NULL);
}

void gt_forecast_changes(char *buf, size_t size, const struct gt_forecast *o) {
    struct gt_point point;
    int64_t before[GT_POINT_MAX];
    size_t at = 0;
    buf[0] = '\0';
    unchanged_point(&point, o);
    if (gt_point_values(before, o->family, &point, NULL) != GEMMTUNE_OK)
        return;
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

enum verdict {
    MAY_RUN, /* it was added, unless it has no forecast */
    MISFIT,  /* its shape is right, but rows are not aligned, or a rule is broken */
    MAY_NOT_RUN
};

/* Adds the option if its values may run. `why` (may be NULL) gets the reason when not. */
static enum verdict add_option(struct gt_forecasts *all, const struct gt_forecast *o,
                               struct gt_err *why) {
    const struct gt_lookup *l = all->lookup;
    struct gt_prediction prediction;
    struct gt_fit fit;
    fit.binding.family = NULL;
    if (!gt_lookup_fits(&fit, l, o->family, o->values, why))
        return fit.binding.family != NULL && gt_is_misfit(&fit.binding) ? MISFIT
                                                                        : MAY_NOT_RUN;
    const double ns =
        o->predicted && gt_model_predict_fit(&prediction, &fit, &l->model_device)
            ? prediction.ns * gt_forecast_error(all, o, &prediction)
            : 0;
    if (all->count == GT_FORECASTS_MAX || (ns <= 0 && !may_lack_prediction(l, o)))
        return MAY_RUN;
    struct gt_forecast *new = &all->item[all->count++];
    *new = *o;
    new->ns = fmax(ns > 0 ? ns : ns_at_same_rate(l, o->from->known), 1);
    new->cost = log(new->ns) + (ns > 0 ? o->doubt : cost_unpredicted * o->from->distance);
    return MAY_RUN;
}

/* ---- adapted points ------------------------------------------------------------------ */

/* The index of the parameter that is the family's shape "split", the number of parts of k;
 * -1: there is none. */
static int split_of(const struct gt_family *f) {
    const char *name = f->has_shape ? gt_expr_text(f->shape[GT_SHAPE_SPLIT]) : "";
    int i = f->param_count - 1;
    while (i >= 0 && strcmp(f->param[i].name, name) != 0)
        i--;
    return i;
}

/* Sets the adaptable parameters to their combination `which`. False past the last one. */
static bool set_adaptable(int64_t values[GT_POINT_MAX], const struct gt_family *f,
                          int which) {
    for (int i = 0; i < f->adapt_count; i++) {
        const struct gt_param *p = &f->param[f->adapt[i]];
        values[f->adapt[i]] = p->value[which % p->count];
        which /= p->count;
    }
    return which == 0;
}

void gt_forecasts_offer_best(struct gt_forecasts *all, const struct gt_forecast *o,
                             int best) {
    (void)add_option(all, o, NULL);
    if (all->count > best + 1 && all->item[best + 1].cost < all->item[best].cost)
        all->item[best] = all->item[best + 1];
    all->count = all->count > best ? best + 1 : best;
}

/* Adds the cheapest of the option's adapted points that may run. */
static void add_adapted(struct gt_forecasts *all, struct gt_forecast o) {
    const int best = all->count;
    o.doubt += cost_adapt;
    for (int i = 0; best < GT_FORECASTS_MAX && set_adaptable(o.values, o.family, i); i++)
        gt_forecasts_offer_best(all, &o, best);
}

/* Adds the option. When it may not run, adds it with k in one piece; when it is a
 * misfit and `adapts` is set, adapted. False when it may not run as it is. */
static bool offer(struct gt_forecasts *all, struct gt_forecast o, bool adapts) {
    const int split = split_of(o.family);
    const enum verdict as_is = add_option(all, &o, all->count == 0 ? &all->last : NULL);
    enum verdict verdict = as_is;
    if (as_is == MAY_NOT_RUN && split >= 0 && o.values[split] != 1 && o.predicted) {
        o.values[split] = 1;
        o.doubt += cost_split;
        verdict = add_option(all, &o, NULL);
    }
    if (verdict == MISFIT && adapts && o.predicted && o.family->adapt_count > 0)
        add_adapted(all, o);
    return as_is == MAY_RUN;
}

/* ---- other splits of k --------------------------------------------------------------- */

/* Adds the option with each other split of k. */
static void add_splits(struct gt_forecasts *all, struct gt_forecast o) {
    const int at = split_of(o.family);
    const int64_t own = at >= 0 ? o.values[at] : 0;
    if (at < 0 || !o.predicted)
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
    const int split = split_of(o->family);
    for (int j = 0; split >= 0 && j < i; j++) {
        const struct gt_forecast *other = &all->item[j];
        int64_t values[GT_POINT_MAX];
        memcpy(values, o->values, sizeof values);
        values[split] = other->values[split];
        if (other->family == o->family && memcmp(values, other->values, sizeof values) == 0)
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
                                .predicted = l->predicted};
        /* Of several records of a point the nearest is offered. Records without a
         * prediction have forecasts of their own. */
        if (l->predicted && l->kind != i)
            continue;
        memcpy(o.values, l->values, sizeof o.values);
        o.doubt = fmin(cost_distance * l->near->distance, cost_start);
        if (!offer(all, o, refused < ADAPT_MAX))
            refused++;
    }
}

void gt_forecasts_offer_starts(struct gt_forecasts *all) {
    const struct gt_lookup *l = all->lookup;
    const struct gt_families *families = l->query.snapshot->families;
    for (size_t i = 0; i < gt_families_count(families); i++) {
        const struct gt_family *f = gt_families_at(families, i);
        struct gt_point point;
        if (l->query.worst < GEMMTUNE_MATCH_DEFAULT ||
            !gt_family_serves(f, l->query.device, l->query.problem, NULL))
            continue;
        for (int s = 0; s <= f->start_count; s++) {
            struct gt_forecast o = {.family = f,
                                    .start = s,
                                    .kind = -1,
                                    .predicted = true,
                                    .doubt = cost_start};
            start_point(&point, f, s);
            (void)gt_point_values(o.values, f, &point, NULL);
            (void)offer(all, o, true);
        }
    }
}
