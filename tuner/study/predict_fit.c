/* SPDX-License-Identifier: Apache-2.0 */
/*
 * predict_fit.c - fits costs of the performance model to stored trials. A random search
 * changes the costs and keeps changes that bring predictions nearer to the measured times.
 * It uses two of three problems.
 */
#include "tuner/study/model_trials.h"
#include "tuner/study/predict.h"
#include "tuner/search/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A trial's weight is (best time of its problem / its time) to this power. The order of
 * slow trials hardly matters. */
static const double weight_power = 3;
/* Larger errors (of the logarithm) count linearly, so that one odd kernel does not distort
 * all costs. */
static const double error_knee = 0.3;
/* Length of the first and of the last steps, as logarithms. */
static const double step_first = 0.5, step_last = 0.02;

/* ---- how far off ---- */

struct fit {
    const struct gt_model_trials *trials;
    double *weight;        /* of each trial; the weights of a problem add up to 1 */
    enum gt_cost_fit kind; /* the costs that are fitted */
};

static void weigh_problem(const struct fit *f, size_t begin, size_t end) {
    const struct gt_model_trial *t = f->trials->trial;
    double best = t[begin].ns, sum = 0;
    for (size_t i = begin; i < end; i++)
        best = fmin(best, t[i].ns);
    for (size_t i = begin; i < end; i++)
        sum += f->weight[i] = pow(best / t[i].ns, weight_power);
    for (size_t i = begin; i < end; i++)
        f->weight[i] /= sum;
}

static double penalty(double error) {
    const double far = fabs(error);
    return far < error_knee ? far * far : error_knee * (2 * far - error_knee);
}

/* The weighted root mean square of log(predicted / measured), on the problems held out or
 * on the others. */
static double loss_of(const struct fit *f, const struct gt_costs *costs, bool held_out) {
    double sum = 0, all = 0;
    for (size_t i = 0; i < f->trials->count; i++) {
        const struct gt_model_trial *t = &f->trials->trial[i];
        struct gt_prediction p;
        if (t->held_out != held_out ||
            !gt_model_predict_facts(&p, &t->facts, &f->trials->model_device, costs, NULL))
            continue;
        sum += f->weight[i] * penalty(log(p.ns / t->ns));
        all += f->weight[i];
    }
    return all > 0 ? sqrt(sum / all) : 0;
}

/* The factor by which the times that were fitted to are longer than computed: the weighted
 * mean of the logarithm. */
static double scale_of(const struct fit *f, const struct gt_costs *costs) {
    double sum = 0, all = 0;
    for (size_t i = 0; i < f->trials->count; i++) {
        const struct gt_model_trial *t = &f->trials->trial[i];
        struct gt_prediction p;
        if (t->held_out ||
            !gt_model_predict_facts(&p, &t->facts, &f->trials->model_device, costs, NULL))
            continue;
        sum += f->weight[i] * log(t->ns / p.ns);
        all += f->weight[i];
    }
    return all > 0 ? costs->scale * exp(sum / all) : costs->scale;
}

/* ---- the search ---- */

/* Approximately normal with mean 0 and deviation 1: the sum of twelve uniform numbers,
 * minus 6. */
static double normal(uint64_t *state) {
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += gt_random_uniform(state);
    return sum;
}

/* Changes one to three of the fitted costs a little, within their bounds. */
static struct gt_costs stray(const struct fit *f, const struct gt_costs *from, double step,
                             uint64_t *state) {
    struct gt_costs to = *from;
    for (uint64_t left = 1 + gt_random(state) % 3; left > 0;) {
        const int i = (int)(gt_random(state) % GT_COSTS);
        const struct gt_cost_row *const about = &gt_cost_list[i];
        double *const cost = gt_cost_at(&to, i);
        if (about->fitted != f->kind)
            continue;
        *cost = fmin(fmax(*cost * exp(step * normal(state)), about->low), about->high);
        left--;
    }
    return to;
}

static void search(struct gt_fitted *out, const struct fit *f, int steps, uint64_t seed) {
    double least = loss_of(f, &out->costs, false);
    for (int i = 0; i < steps; i++) {
        const double step = step_first * pow(step_last / step_first, (double)i / steps);
        const struct gt_costs next = stray(f, &out->costs, step, &seed);
        const double loss = loss_of(f, &next, false);
        if (loss >= least)
            continue;
        out->costs = next;
        least = loss;
    }
}

gt_status gt_predict_fit(struct gt_fitted *out, const struct gt_view *v,
                         const struct gt_families *families, const char *device_key,
                         const struct gt_shelf *shelf, int steps, uint64_t seed,
                         struct gt_err *err) {
    struct gt_model_trials trials;
    struct fit f = {.trials = &trials};
    memset(out, 0, sizeof *out);
    gt_status status =
        gt_model_trials_take(&trials, v, families, device_key, shelf, false, err);
    if (status == GEMMTUNE_OK && trials.count == 0)
        status =
            gt_fail(err, GEMMTUNE_ENOTFOUND, "no trials on %s to fit costs to", device_key);
    if (status == GEMMTUNE_OK && !(f.weight = calloc(trials.count, sizeof *f.weight)))
        status = gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    if (status == GEMMTUNE_OK) {
        f.kind = trials.device->is_cpu ? GT_COST_OF_CPU : GT_COST_OF_GPU;
        out->costs = trials.shelf->costs;
        for (size_t i = 0, end; i < trials.count; i = end) {
            end = gt_model_trials_end(&trials, i);
            weigh_problem(&f, i, end);
        }
        if (gt_model_guesses(trials.device))
            out->costs.scale = scale_of(&f, &out->costs);
        for (int side = 0; side < 2; side++)
            out->was[side] = loss_of(&f, &out->costs, side);
        search(out, &f, steps, seed);
        for (int side = 0; side < 2; side++)
            out->is[side] = loss_of(&f, &out->costs, side);
    }
    out->trials = trials.count;
    free(f.weight);
    gt_model_trials_clear(&trials);
    return status;
}
