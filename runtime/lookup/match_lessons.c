/* SPDX-License-Identifier: Apache-2.0 */
/*
 * match_lessons.c - lessons: how far off the model is for the kernels of near records. They
 * serve where no trees (learned.h) correct the forecast. The error of a forecast is the
 * weighted geometric mean of the lessons about its family. A lesson weighs more when it is
 * about the same point, when its problem is near, and when the terms of its prediction have
 * like parts: then the same resource binds.
 */
#include "runtime/lookup/match_inside.h"

#include <math.h>
#include <string.h>

/* A lesson's weight is 1 / (1 + (distance / far)^2 + (difference / unlike)^2)^2. */
static const double far = 4;       /* factors of two between the problems */
static const double unlike = 0.05; /* between the parts of the predictions, Euclidean */
/* Share of a lesson about another point of the family. */
static const double other_point = 0.2;
/* The weight of no error, so that lessons about nothing like the option count little. */
static const double no_error = 1e-4;

/* The parts that the terms have of the time that was computed. */
static void fill_parts(double part[GT_TERM_COUNT], const struct gt_prediction *p) {
    for (int i = 0; i < GT_TERM_COUNT; i++)
        part[i] = p->term_ns[i] / gt_computed_ns(p);
}

/* A record's family, bound to the record's problem. */
struct own {
    const struct gt_known *known; /* NULL: none yet */
    struct gt_binding binding;
};

/* Neighbours are mostly of one problem and one family. */
static void bind_own(struct own *own, const struct gt_lookup *l,
                     const struct gt_known *known) {
    if (own->known == NULL || own->known->family != known->family ||
        strcmp(own->known->problem_name, known->problem_name) != 0)
        gt_bind_problem(&own->binding, known->family, l->query.device, &known->problem);
    own->known = known;
}

/* Compares the record's kernel on its own problem with its prediction by `model`, which has
 * no trees: a lesson serves where no tree corrects the forecast. False when there is none.
 */
static bool learn(struct gt_lesson *out, struct own *own, const struct gt_lookup *l,
                  const struct gt_model *model) {
    const struct gt_known *known = out->near->known;
    struct gt_prediction p;
    bind_own(own, l, known);
    struct gt_binding b = own->binding;
    if (gt_bind_checked(&b, out->values, NULL) != GEMMTUNE_OK ||
        !gt_model_predict(&p, model, &b, NULL) || p.ns <= 0)
        return false;
    out->log_error = log(known->median_ns / p.ns);
    fill_parts(out->part, &p);
    return true;
}

static int kind_of(const struct gt_forecasts *all, const struct gt_lesson *l) {
    int i = 0;
    while (i < all->lessons &&
           (all->lesson[i].near->known->family != l->near->known->family ||
            memcmp(all->lesson[i].values, l->values, sizeof l->values) != 0))
        i++;
    return i;
}

void gt_forecasts_learn(struct gt_forecasts *all, const struct gt_near *near,
                        size_t count) {
    const struct gt_model model = {.device = &all->lookup->model_device,
                                   .costs = &all->shelf->costs};
    struct own own = {0};
    all->lessons = 0;
    for (size_t i = 0; i < count; i++) {
        struct gt_lesson *l = &all->lesson[all->lessons];
        memcpy(l->values, near[i].known->values, sizeof l->values);
        l->near = &near[i];
        l->kind = kind_of(all, l);
        const struct gt_family *const family = near[i].known->family;
        const bool has_trees = gt_forecasts_have_trees(all, family);
        const bool teaches = !has_trees && learn(l, &own, all->lookup, &model);
        l->by_model = has_trees || teaches;
        all->taught[all->lessons++] = teaches ? family : NULL;
    }
}

static double weight_of(const struct gt_lesson *l, int kind,
                        const double part[GT_TERM_COUNT]) {
    double difference2 = 0;
    for (int i = 0; i < GT_TERM_COUNT; i++)
        difference2 += (part[i] - l->part[i]) * (part[i] - l->part[i]);
    const double distance = l->near->distance / far;
    const double apart = 1 + distance * distance + difference2 / (unlike * unlike);
    return (l->kind == kind ? 1 : other_point) / (apart * apart);
}

double gt_forecast_error(const struct gt_forecasts *all, const struct gt_forecast *o,
                         const struct gt_prediction *p) {
    double part[GT_TERM_COUNT], sum = 0, weight = no_error;
    if (all->model.trees != NULL)
        return 1;
    fill_parts(part, p);
    for (int i = 0; i < all->lessons; i++) {
        const struct gt_lesson *l = &all->lesson[i];
        if (all->taught[i] != o->family)
            continue;
        const double w = weight_of(l, o->kind, part);
        sum += w * l->log_error;
        weight += w;
    }
    return exp(sum / weight);
}
