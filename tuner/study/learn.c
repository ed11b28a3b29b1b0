/* SPDX-License-Identifier: Apache-2.0 */
/* learn.c - see learn.h. */
#include "tuner/study/learn.h"

#include "tuner/base/quantile.h"
#include "tuner/study/model_trials.h"
#include "tuner/study/predict.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    HELD_OUT_LEAST = 8, /* problems; fewer say nothing */
    STEPS_LEAST = 200,
    STEPS_MOST = 3000,
};
static const double fit_predictions = 4e6; /* of a fit: a few seconds */

/* ---- what a shelf is worth ----------------------------------------------------------- */

/* Kernels for comparison are chosen only with their trees, as in a lookup. */
static bool may_choose(const struct gt_model_trial *t, const struct gt_shelf *shelf) {
    return t->plain_ns > 0 && (t->family->role == GT_ROLE_NONE ||
                               gt_learned_for(&shelf->trees, t->family) != NULL);
}

/* The loss of the least forecast among trials [begin, end); negative: there is none. */
static double loss_of(const struct gt_model_trials *all, size_t begin, size_t end) {
    double least = HUGE_VAL, best = HUGE_VAL, chosen = 0;
    for (size_t i = begin; i < end; i++) {
        const struct gt_model_trial *t = &all->trial[i];
        best = fmin(best, t->ns);
        if (may_choose(t, all->shelf) && t->plain_ns * t->learned < least) {
            least = t->plain_ns * t->learned;
            chosen = t->ns;
        }
    }
    return least < HUGE_VAL ? chosen / best - 1 : -1;
}

static struct gt_learned_loss sum_up(double *loss, size_t count) {
    struct gt_learned_loss sum = {0, 0};
    for (size_t i = 0; i < count; i++)
        sum.mean += log1p(loss[i]);
    if (count == 0)
        return sum;
    gt_sort_numbers(loss, count);
    sum.mean = expm1(sum.mean / (double)count);
    sum.of_95 = gt_quantile(loss, count, 0.95);
    return sum;
}

/* Finds the loss of forecasts by `shelf` on the problems held out, and counts problems and
 * trials. */
static gt_status judge(struct gt_learned_loss *out, struct gt_lessons *l,
                       const struct gt_view *v, const struct gt_families *families,
                       const char *device_key, const struct gt_shelf *shelf,
                       struct gt_err *err) {
    struct gt_model_trials all;
    gt_status status =
        gt_model_trials_take(&all, v, families, device_key, shelf, false, err);
    double *const loss = status == GEMMTUNE_OK ? calloc(all.count + 1, sizeof *loss) : NULL;
    if (status == GEMMTUNE_OK && loss == NULL)
        status = gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    l->problems = l->held_out = l->trials = 0;
    for (size_t i = 0, end; status == GEMMTUNE_OK && i < all.count; i = end) {
        end = gt_model_trials_end(&all, i);
        const double of = loss_of(&all, i, end);
        l->problems++;
        for (size_t j = i; j < end; j++)
            l->trials += all.trial[j].can_teach;
        if (all.trial[i].held_out && all.trial[i].can_teach && of >= 0)
            loss[l->held_out++] = of;
    }
    if (status == GEMMTUNE_OK)
        *out = sum_up(loss, l->held_out);
    free(loss);
    gt_model_trials_clear(&all);
    return status;
}

/* ---- costs --------------------------------------------------------------------------- */

/* Rounded as the file has them, so that trees learn about what is read. */
static void round_costs(struct gt_costs *c) {
    char text[40];
    for (int i = 0; i < GT_COSTS; i++) {
        (void)snprintf(text, sizeof text, "%.3g", *gt_cost_at(c, i));
        *gt_cost_at(c, i) = strtod(text, NULL);
    }
}

void gt_costs_write(void *file, const struct gt_costs *costs) {
    struct gt_costs c = *costs;
    char text[40];
    (void)fputs("{\n  \"format\": 1", file);
    for (int i = 0; i < GT_COSTS; i++) {
        (void)snprintf(text, sizeof text, "%.3g", *gt_cost_at(&c, i));
        (void)fprintf(file, ",\n  \"%s\": %g", gt_cost_list[i].name, strtod(text, NULL));
    }
    (void)fputs("\n}\n", file);
}

/* Fits costs, beginning with the costs of `base`. */
static gt_status fit(struct gt_costs *out, const struct gt_lessons *l,
                     const struct gt_view *v, const struct gt_families *families,
                     const char *device_key, const struct gt_shelf *base,
                     struct gt_err *err) {
    struct gt_fitted f;
    const double steps = fit_predictions / (double)(l->trials + 1);
    const gt_status status =
        gt_predict_fit(&f, v, families, device_key, base,
                       (int)fmin(STEPS_MOST, fmax(STEPS_LEAST, steps)), 1, err);
    if (status != GEMMTUNE_OK)
        return status;
    *out = f.costs;
    round_costs(out);
    return GEMMTUNE_OK;
}

/* ---- all of it ----------------------------------------------------------------------- */

/* Takes the costs of `shelf`, and the trees that were learned after its own. */
static gt_status take_trees(struct gt_lessons *l, const struct gt_learning *learning,
                            const struct gt_shelf *shelf, struct gt_err *err) {
    const struct gt_held_out *h = &learning->all;
    if (h->problems < HELD_OUT_LEAST || h->loss[1] > l->after.mean)
        return GEMMTUNE_OK;
    const gt_status status = gt_learning_trees(&l->shelf.trees, learning, err);
    if (status != GEMMTUNE_OK)
        return status;
    l->shelf.costs = shelf->costs;
    l->after = (struct gt_learned_loss){h->loss[1], h->loss_95[1]};
    l->is_better = true;
    return GEMMTUNE_OK;
}

static gt_status learn_trees(struct gt_lessons *l, const struct gt_view *v,
                             const struct gt_families *families, const char *device_key,
                             const struct gt_shelf *shelf, struct gt_err *err) {
    struct gt_learning learning;
    gt_status status =
        gt_predict_learn(&learning, v, families, device_key, shelf,
                         shelf->trees.count > 0 ? GT_LEARN_MORE : GT_LEARN_ANEW, err);
    if (status == GEMMTUNE_OK)
        status = take_trees(l, &learning, shelf, err);
    gt_learning_clear(&learning);
    return status == GEMMTUNE_ENOTFOUND ? GEMMTUNE_OK : status; /* too few trials */
}

/* Fits costs, unless trees were learned about the shipped ones. */
static gt_status learn_costs(struct gt_lessons *l, struct gt_shelf *shelf,
                             const struct gt_view *v, const struct gt_families *families,
                             const char *device_key, struct gt_err *err) {
    struct gt_learned_loss fitted = {0};
    if (shelf->trees.count > 0)
        return GEMMTUNE_OK;
    gt_status status = fit(&shelf->costs, l, v, families, device_key, shelf, err);
    if (status == GEMMTUNE_OK)
        status = judge(&fitted, l, v, families, device_key, shelf, err);
    if (status == GEMMTUNE_OK && fitted.mean < l->before.mean) {
        l->shelf.costs = shelf->costs;
        l->after = fitted;
        l->is_better = true;
    }
    return status;
}

gt_status gt_learn(struct gt_lessons *out, const struct gt_view *v,
                   const struct gt_families *families, const char *device_key,
                   struct gt_err *err) {
    *out = (struct gt_lessons){.shelf = gt_shelf_usual};
    const struct gt_device *const device = gt_view_device(v, device_key);
    if (device == NULL)
        return GEMMTUNE_OK;
    struct gt_shelf shelf = *gt_shelf_shipped(device);
    gt_status status = judge(&out->before, out, v, families, device_key, &shelf, err);
    out->after = out->before;
    if (status != GEMMTUNE_OK || out->held_out < HELD_OUT_LEAST)
        return status;
    status = learn_costs(out, &shelf, v, families, device_key, err);
    if (status == GEMMTUNE_OK)
        status = learn_trees(out, v, families, device_key, &shelf, err);
    return status;
}

void gt_lessons_clear(struct gt_lessons *l) {
    gt_trees_clear(&l->shelf.trees);
}
