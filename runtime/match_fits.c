/* SPDX-License-Identifier: Apache-2.0 */
/* match_fits.c - whether a kernel may run the problem of a query. Asked before its
 * speed. */
#include "runtime/match_inside.h"

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
           has_room(out, q, why);
}

/* The family bound to the query's problem, which takes as long as a point. NULL: it does
 * not serve the problem, or there are too many families. */
static const struct gt_fit_base *base_of(struct gt_forecasts *all,
                                         const struct gt_family *f) {
    const struct gt_query *q = &all->lookup->query;
    int i = 0;
    while (i < all->bases && all->base[i].binding.family != f)
        i++;
    if (i < all->bases)
        return &all->base[i];
    if (i == GT_BASES_MAX || gt_fit_begin(&all->base[i], f, q->device, q->problem,
                                          q->pointer_align, NULL) != GEMMTUNE_OK)
        return NULL;
    return &all->base[all->bases++];
}

bool gt_forecasts_have_trees(struct gt_forecasts *all, const struct gt_family *f) {
    const struct gt_fit_base *base = base_of(all, f);
    return base != NULL && base->binding.learned != NULL;
}

bool gt_forecasts_fit(struct gt_forecasts *all, const struct gt_forecast *o,
                      struct gt_err *why) {
    const struct gt_query *q = &all->lookup->query;
    const struct gt_fit_base *base = base_of(all, o->family);
    bool fits;
    all->fit.binding.family = NULL;
    if (base == NULL)
        fits = gt_lookup_fits(&all->fit, all->lookup, o->family, o->values, why);
    else
        fits = gt_fit_end(&all->fit, base, q->device, o->values, why) == GEMMTUNE_OK &&
               has_room(&all->fit, q, why);
    all->fit.binding.few_trees = all->is_rough;
    return fits;
}
