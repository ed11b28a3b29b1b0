/* SPDX-License-Identifier: Apache-2.0 */
/* budget.c - see budget.h. */
#include "tuner/tune/budget.h"

#include "core/clock.h"

#include <math.h>
#include <stdlib.h>

gt_status gt_budget_begin(struct gt_budget *out, const struct gt_tuner *t,
                          const struct gt_sweep *sweep, double seconds, size_t devices,
                          struct gt_err *err) {
    *out = (struct gt_budget){
        .sweep = sweep,
        .seconds = seconds,
        .usual_s = t->device.is_cpu ? t->effort->cpu_s : t->effort->gpu_s,
        .devices = devices,
        .began = gt_seconds(),
        .given = calloc(sweep->count + 1, sizeof *out->given),
    };
    return out->given != NULL
               ? GEMMTUNE_OK
               : gt_fail(err, GEMMTUNE_ENOMEM, "no memory for %zu problems", sweep->count);
}

void gt_budget_clear(struct gt_budget *b) {
    free(b->given);
    b->given = NULL;
}

double gt_budget_promised(const struct gt_budget *b, size_t i) {
    const struct gt_sweep_item *item = b->sweep->item;
    double weights = 0;
    if (b->seconds <= 0)
        return b->usual_s;
    for (size_t j = 0; j < b->sweep->count; j++)
        weights += item[j].weight;
    return b->seconds * fmin((double)b->devices * item[i].weight / weights, 1);
}

double gt_budget_share(const struct gt_budget *b, size_t i, double promised_s) {
    const struct gt_sweep_item *item = b->sweep->item;
    const double left_s = b->seconds - (gt_seconds() - b->began);
    double weights = 0;
    if (b->seconds <= 0)
        return b->usual_s;
    for (size_t j = 0; j < b->sweep->count; j++)
        weights += j == i || !b->given[j] ? item[j].weight : 0;
    const double all_s = (double)b->devices * left_s - promised_s;
    return fmax(fmin(all_s * item[i].weight / weights, left_s), 0.001);
}
