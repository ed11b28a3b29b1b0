/* SPDX-License-Identifier: Apache-2.0 */
/*
 * match_forecast.c - forecasts: how long kernels should take on a problem for which they
 * were not timed.
 *
 *     forecast = prediction of the model x error of the model
 *     error    = measured / predicted, on the problem of a record near by
 *
 * The errors of all records of one point are averaged; nearer records weigh more. A
 * forecast for a farther problem has a higher cost, because the model's error may differ
 * there. Near records also stand for their point with other splits of k. A start was never
 * measured: it gets the error of its family's records, and must beat measured kernels by a
 * margin.
 */
#include "runtime/match_inside.h"

#include "runtime/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SPLIT_MAX = 8 }; /* near records that get other splits of k */

/* The cost of a forecast for each step away from a measurement, in natural logarithms. */
static const double cost_distance = 0.07; /* a factor of two in m, n or k */
static const double cost_split = 0.1;     /* another split of k */
static const double cost_start = 0.25;    /* never measured; no step costs more */
static const double cost_unpredicted =
    0.9; /* cost_distance where the model has no prediction */

/* The index of the parameter that is the family's shape "split", the number of parts of k;
 * -1: there is none. */
static int split_of(const struct gt_family *f) {
    const char *name = f->has_shape ? gt_expr_text(f->shape[GT_SHAPE_SPLIT]) : "";
    int i = f->param_count - 1;
    while (i >= 0 && strcmp(f->param[i].name, name) != 0)
        i--;
    return i;
}

const char *gt_forecast_split_name(const struct gt_forecast *o) {
    return o->family->param[split_of(o->family)].name;
}

void gt_forecast_point(struct gt_point *out, const struct gt_forecast *o) {
    if (o->from == NULL && o->start == o->family->start_count)
        gt_family_default(o->family, out);
    else if (o->from == NULL)
        gt_family_start(o->family, o->start, out);
    else
        *out = o->from->known->point;
    if (o->split > 0)
        (void)gt_point_set(out, gt_forecast_split_name(o), o->split, NULL);
}

/* ---- the error of the model --------------------------------------------------------- */

/* Measured over predicted time of the record's kernel on its own problem; 0: no
 * prediction. */
static double model_error(const struct gt_lookup *l, const struct gt_known *known,
                          const int64_t *values) {
    struct gt_prediction p;
    struct gt_binding b;
    gt_bind_problem(&b, known->family, l->query.device, &known->problem);
    if (gt_bind_values(&b, values, NULL) != GEMMTUNE_OK)
        return 0;
    return gt_model_predict(&p, &b, &l->model_device, NULL) && p.ns > 0
               ? known->median_ns / p.ns
               : 0;
}

static void take_lessons(struct gt_forecasts *all, const struct gt_near *near,
                         size_t count) {
    all->lessons = 0;
    for (size_t i = 0; i < count; i++) {
        struct gt_lesson *l = &all->lesson[all->lessons];
        const struct gt_known *known = near[i].known;
        memset(l->values, 0, sizeof l->values);
        if (gt_point_values(l->values, known->family, &known->point, NULL) != GEMMTUNE_OK)
            continue;
        l->near = &near[i];
        l->error = model_error(all->lookup, known, l->values);
        all->lessons++;
    }
}

/* The geometric mean of the lessons about the family, or about one point of it. Nearer
 * lessons weigh more. 1 when there is none. */
static double error_of(const struct gt_forecasts *all, const struct gt_family *f,
                       const int64_t *values) {
    double sum = 0, weight = 0;
    for (int i = 0; i < all->lessons; i++) {
        const struct gt_lesson *l = &all->lesson[i];
        if (l->near->known->family != f || l->error <= 0 ||
            (values != NULL && memcmp(values, l->values, sizeof l->values) != 0))
            continue;
        const double w = exp(-l->near->distance);
        sum += w * log(l->error);
        weight += w;
    }
    return weight > 0 ? exp(sum / weight) : 1;
}

/* ---- options ------------------------------------------------------------------------- */

/* The time at the record's own rate of operations, for use without a model. */
static double ns_at_same_rate(const struct gt_lookup *l, const struct gt_known *known) {
    return known->median_ns * fmax(1, gt_problem_flops(l->query.problem)) /
           fmax(1, gt_problem_flops(&known->problem));
}

/* Whether a forecast without a prediction is allowed: for records of the same layout only,
 * and never for a start. */
static bool may_lack_prediction(const struct gt_lookup *l, const struct gt_forecast *o) {
    return o->from != NULL &&
           gt_problem_same_kind(&o->from->known->problem, l->query.problem);
}

/* Adds the option if it may run with these values. `error` is the model's error for it. */
static void add_option(struct gt_forecasts *all, struct gt_forecast o,
                       const int64_t *values, double error, double doubt) {
    const struct gt_lookup *l = all->lookup;
    struct gt_prediction prediction;
    struct gt_fit fit;
    if (all->count == GT_FORECASTS_MAX)
        return;
    if (!gt_lookup_fits(&fit, l, o.family, values, all->count == 0 ? &all->last : NULL))
        return;
    const double ns =
        error *
        (gt_model_predict_fit(&prediction, &fit, &l->model_device) ? prediction.ns : 0);
    if (ns <= 0 && !may_lack_prediction(l, &o))
        return;
    o.ns = fmax(ns > 0 ? ns : ns_at_same_rate(l, o.from->known), 1);
    o.cost = log(o.ns) + (ns > 0 ? doubt : cost_unpredicted * o.from->distance);
    all->item[all->count++] = o;
}

/* Adds the option with each other split of k. */
static void add_splits(struct gt_forecasts *all, const struct gt_forecast *as_is,
                       const int64_t *values, double error, double doubt) {
    const int at = split_of(as_is->family);
    int64_t other[GT_POINT_MAX];
    if (at < 0 || error <= 0)
        return;
    const struct gt_param *split = &as_is->family->param[at];
    memcpy(other, values, sizeof other);
    for (int i = 0; i < split->count; i++) {
        struct gt_forecast o = *as_is;
        o.split = other[at] = split->value[i];
        if (o.split > 0 && o.split != values[at])
            add_option(all, o, other, error, doubt + cost_split);
    }
}

/* Whether a nearer record has the same point as lesson `i`. */
static bool has_nearer(const struct gt_forecasts *all, int i) {
    const struct gt_lesson *l = &all->lesson[i];
    for (int j = 0; j < i; j++)
        if (all->lesson[j].near->known->family == l->near->known->family &&
            memcmp(all->lesson[j].values, l->values, sizeof l->values) == 0)
            return true;
    return false;
}

static void offer_records(struct gt_forecasts *all) {
    for (int i = 0; i < all->lessons; i++) {
        const struct gt_lesson *l = &all->lesson[i];
        const struct gt_forecast o = {.from = l->near, .family = l->near->known->family};
        /* Records without a prediction have forecasts of their own. */
        if (l->error > 0 && has_nearer(all, i))
            continue;
        const double error = l->error > 0 ? error_of(all, o.family, l->values) : 0;
        const double doubt = fmin(cost_distance * l->near->distance, cost_start);
        add_option(all, o, l->values, error, doubt);
        if (i < SPLIT_MAX)
            add_splits(all, &o, l->values, error, doubt);
    }
}

static void start_values(int64_t values[GT_POINT_MAX], const struct gt_family *f,
                         int start) {
    memset(values, 0, GT_POINT_MAX * sizeof *values);
    for (int i = 0; i < f->param_count; i++)
        values[i] = start < f->start_count ? f->start[start][i] : f->param[i].preset;
}

/* Adds the family's starts, and the default point last. */
static void add_starts(struct gt_forecasts *all) {
    const struct gt_lookup *l = all->lookup;
    const struct gt_families *families = l->query.snapshot->families;
    for (size_t i = 0; i < gt_families_count(families); i++) {
        const struct gt_family *f = gt_families_at(families, i);
        int64_t values[GT_POINT_MAX];
        if (l->query.worst < GEMMTUNE_MATCH_DEFAULT ||
            !gt_family_serves(f, l->query.device, l->query.problem, NULL))
            continue;
        const double error = error_of(all, f, NULL);
        for (int s = 0; s <= f->start_count; s++) {
            const struct gt_forecast o = {.family = f, .start = s};
            start_values(values, f, s);
            add_option(all, o, values, error, cost_start);
            add_splits(all, &o, values, error, cost_start);
        }
    }
}

static int by_cost(const void *a, const void *b) {
    const struct gt_forecast *x = a, *y = b;
    int o = gt_compare(x->cost, y->cost);
    if (o == 0)
        o = gt_compare((double)x->family->rank, (double)y->family->rank);
    return o != 0 ? o : gt_compare((double)x->start, (double)y->start);
}

void gt_forecasts_make(struct gt_forecasts *all, const struct gt_near *near, size_t count,
                       bool starts) {
    all->count = 0;
    all->last.line[0] = '\0';
    take_lessons(all, near, count);
    offer_records(all);
    if (starts || all->count > 0)
        add_starts(all);
    qsort(all->item, (size_t)all->count, sizeof *all->item, by_cost);
}
