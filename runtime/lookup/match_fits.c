/* SPDX-License-Identifier: Apache-2.0 */
/* match_fits.c - whether a kernel may run the problem of a query. Asked before its
 * speed. */
#include "runtime/lookup/match_inside.h"

static bool has_room(const struct gt_fit *fit, const struct gt_query *q,
                     struct gt_err *why) {
    if ((uint64_t)fit->passes.workspace_bytes <= q->workspace_max)
        return true;
    (void)gt_fail(why, GEMMTUNE_EWORKSPACE, "it needs more workspace than is allowed");
    return false;
}

bool gt_lookup_fits(struct gt_fit *out, const struct gt_lookup *l,
                    const struct gt_family *f, const int64_t *values, struct gt_err *why) {
    const struct gt_query *q = &l->query;
    return gt_fit_values(out, f, q->device, q->problem, q->pointer_align, values, why) ==
               GEMMTUNE_OK &&
           gt_fit_order(out, l->order.text, why) == GEMMTUNE_OK && has_room(out, q, why);
}

bool gt_lookup_lacks_room(const struct gt_lookup *l, const struct gt_known *known) {
    const struct gt_query *q = &l->query;
    struct gt_fit fit;
    return gt_fit_values(&fit, known->family, q->device, q->problem, q->pointer_align,
                         known->values, NULL) == GEMMTUNE_OK &&
           !has_room(&fit, q, NULL);
}

/* The model that a query asks. Where the device's peaks are not known, it computes with a
 * usual device. */
static void begin_model(struct gt_model *m, const struct gt_forecasts *all,
                        const struct gt_binding *b) {
    gt_model_with(m, all->shelf, b, &all->lookup->model_device);
}

/* Index of the family bound to the query's problem, which takes as long as a point. -1: the
 * family does not serve the problem, or there are too many families. */
static int base_of(struct gt_forecasts *all, const struct gt_family *f) {
    const struct gt_query *q = &all->lookup->query;
    int i = 0;
    while (i < all->bases && all->base[i].binding.family != f)
        i++;
    if (i < all->bases)
        return i;
    if (i == GT_BASES_MAX || gt_fit_begin(&all->base[i], f, q->device, q->problem,
                                          q->pointer_align, NULL) != GEMMTUNE_OK)
        return -1;
    all->base[all->bases].order = all->lookup->order.text;
    begin_model(&all->base_model[i], all, &all->base[i].binding);
    return all->bases++;
}

bool gt_forecasts_have_trees(struct gt_forecasts *all, const struct gt_family *f) {
    const int base = base_of(all, f);
    return base >= 0 && all->base_model[base].trees != NULL;
}

bool gt_forecasts_fit(struct gt_forecasts *all, const struct gt_forecast *o,
                      struct gt_err *why) {
    const struct gt_query *q = &all->lookup->query;
    const int base = base_of(all, o->family);
    all->fit.binding.family = NULL;
    if (base < 0) {
        if (!gt_lookup_fits(&all->fit, all->lookup, o->family, o->values, why))
            return false;
        begin_model(&all->model, all, &all->fit.binding);
        return true;
    }
    all->model = all->base_model[base];
    return gt_fit_end(&all->fit, &all->base[base], q->device, o->values, why) ==
               GEMMTUNE_OK &&
           has_room(&all->fit, q, why);
}
