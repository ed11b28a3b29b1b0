/* SPDX-License-Identifier: Apache-2.0 */
/*
 * predict.c - the fastest points of a problem on a device, as the model sees them: every
 * legal point of every family is asked about, and the best few are kept.
 */
#include "tuner/study/predict.h"

#include "tuner/search/space.h"

#include <string.h>

/* Puts a point where it belongs among the best so far. */
static void keep(struct gt_predicted *out, size_t most, size_t *count,
                 const struct gt_predicted *f) {
    size_t at = *count;
    while (at > 0 && out[at - 1].prediction.ns > f->prediction.ns)
        at--;
    if (at == most)
        return;
    if (*count < most)
        (*count)++;
    memmove(&out[at + 1], &out[at], (*count - at - 1) * sizeof *out);
    out[at] = *f;
}

static bool is_named(const struct gt_texts *names, const char *family) {
    for (int i = 0; i < names->count; i++)
        if (strcmp(names->text[i], family) == 0)
            return true;
    return names->count == 0;
}

static gt_status look_through(struct gt_predicted *out, size_t most, size_t *count,
                              size_t *asked, const struct gt_family *family,
                              const struct gt_device *d, const gemmtune_problem *p,
                              struct gt_err *err) {
    struct gt_space space;
    struct gt_binding b;
    struct gt_predicted f = {.family = family};
    const gt_status status = gt_space_create(&space, family, d, p, err);
    if (status != GEMMTUNE_OK)
        return status;
    gt_bind_problem(&b, family, d, p);
    for (size_t i = 0; i < space.count; i++) {
        int64_t values[GT_POINT_MAX];
        gt_space_values(&space, i, values);
        if (gt_bind_values(&b, values, NULL) != GEMMTUNE_OK ||
            !gt_model_predict(&f.prediction, &b, d, NULL))
            continue;
        if (*count == most && f.prediction.ns >= out[most - 1].prediction.ns)
            continue;
        gt_space_point(&space, i, &f.point);
        keep(out, most, count, &f);
    }
    *asked += space.count;
    gt_space_clear(&space);
    return GEMMTUNE_OK;
}

gt_status gt_predict_best(struct gt_predicted *out, size_t most, size_t *count,
                          size_t *asked, const struct gt_families *families,
                          const struct gt_texts *names, const struct gt_device *d,
                          const gemmtune_problem *p, struct gt_err *err) {
    const struct gt_family *family;
    gt_status status = GEMMTUNE_OK;
    *count = *asked = 0;
    for (size_t i = 0;
         status == GEMMTUNE_OK && (family = gt_families_at(families, i)) != NULL; i++)
        if (family->has_shape && is_named(names, family->name) &&
            gt_family_serves(family, d, p, NULL))
            status = look_through(out, most, count, asked, family, d, p, err);
    return status;
}
