/* SPDX-License-Identifier: Apache-2.0 */
/* match_lessons.c - what near records teach about the model: how far off it is for their
 * kernels. The errors of all records of one point are averaged; nearer records weigh
 * more. */
#include "runtime/match_inside.h"

#include "runtime/model.h"

#include <math.h>
#include <string.h>

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

void gt_forecasts_learn(struct gt_forecasts *all, const struct gt_near *near,
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

double gt_forecast_error(const struct gt_forecasts *all, const struct gt_family *f,
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
