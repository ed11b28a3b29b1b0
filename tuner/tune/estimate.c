/* SPDX-License-Identifier: Apache-2.0 */
/* estimate.c - see estimate.h. */
#include "tuner/tune/estimate.h"

#include <math.h>

/* Seconds on idle cores, as seen on two cores with PoCL and on an H200. */
struct usual {
    double trial_s;  /* of a trial; a CPU device compiles in it, others before it */
    double beside_s; /* of a problem beside its search: spaces, set-ups, finals */
    double least_s;  /* of a search that has no time: its required trials */
};
enum { LEAST_TRIALS = 3 }; /* are made however little time there is: see starts.h */
static const struct usual on_cpu = {.trial_s = 0.4, .beside_s = 5, .least_s = 1.2};
static const struct usual on_gpu = {.trial_s = 0.06, .beside_s = 1, .least_s = 0.2};

static const struct usual *usual_of(const struct gt_tuner *t) {
    return t->device.is_cpu ? &on_cpu : &on_gpu;
}

static size_t most_trials(const struct gt_tuner *t, size_t points) {
    return points < t->effort->trials ? points : t->effort->trials;
}

double gt_estimate_problem(const struct gt_budget *b, const struct gt_tuner *t, size_t i,
                           size_t points, double slowdown) {
    const struct usual *u = usual_of(t);
    const double limit_s = gt_budget_promised(b, i);
    const size_t most = most_trials(t, points);
    const double trials_s =
        most < SIZE_MAX ? (double)most * u->trial_s * slowdown : (double)INFINITY;
    const double beside_s = u->beside_s * slowdown;
    const double least_s = fmin(u->least_s * slowdown, trials_s);
    if (b->seconds > 0)
        return fmax(fmin(limit_s, trials_s + beside_s), least_s + beside_s);
    return beside_s + (limit_s > 0 ? fmin(fmax(limit_s, least_s), trials_s) : trials_s);
}

/* A budget covers the work beside the search, the seconds of an effort do not. */
size_t gt_estimate_trials(const struct gt_budget *b, const struct gt_tuner *t, size_t i,
                          size_t points, double slowdown) {
    const struct usual *u = usual_of(t);
    const size_t most = most_trials(t, points),
                 least = most < LEAST_TRIALS ? most : LEAST_TRIALS;
    const double limit_s = gt_budget_promised(b, i);
    const double beside_s = b->seconds > 0 ? u->beside_s * slowdown : 0;
    const double fit = (limit_s - beside_s) / (u->trial_s * slowdown);
    if (!(limit_s > 0) || fit >= (double)most)
        return most;
    return fit > (double)least ? (size_t)fit : least;
}

double gt_estimate_all(const struct gt_budget *b, const struct gt_tuner *t,
                       double slowdown) {
    double sum = 0;
    for (size_t i = 0; i < b->sweep->count; i++)
        sum += b->given[i] ? 0 : gt_estimate_problem(b, t, i, SIZE_MAX, slowdown);
    return sum / (double)b->devices;
}

void gt_estimate_learn(double *mean_s, double took_s) {
    *mean_s = *mean_s > 0 ? 0.75 * *mean_s + 0.25 * took_s : took_s;
}
