/* SPDX-License-Identifier: Apache-2.0 */
/* estimate.c - see estimate.h. */
#include "tuner/tune/estimate.h"

#include <math.h>

/* Seconds on idle cores, as seen on two cores with PoCL and on an H200. */
struct usual {
    double trial_s;  /* of a trial; a CPU device compiles in it, others ahead of it */
    double beside_s; /* of a problem beside its search: spaces, set-ups, finals */
    double least_s;  /* of a search that has no time: its required trials */
};
static const struct usual on_cpu = {.trial_s = 0.4, .beside_s = 5, .least_s = 1.2};
static const struct usual on_gpu = {.trial_s = 0.06, .beside_s = 1, .least_s = 0.2};

double gt_estimate_problem(const struct gt_budget *b, const struct gt_tuner *t, size_t i,
                           size_t points, double slowdown) {
    const struct usual *u = t->device.is_cpu ? &on_cpu : &on_gpu;
    const double limit_s = gt_budget_promised(b, i);
    const size_t most = points < t->effort->trials ? points : t->effort->trials;
    const double trials_s =
        most < SIZE_MAX ? (double)most * u->trial_s * slowdown : (double)INFINITY;
    const double beside_s = u->beside_s * slowdown;
    const double least_s = fmin(u->least_s * slowdown, trials_s);
    if (b->seconds > 0)
        return fmax(fmin(limit_s, trials_s + beside_s), least_s + beside_s);
    return beside_s + (limit_s > 0 ? fmin(fmax(limit_s, least_s), trials_s) : trials_s);
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
