/* SPDX-License-Identifier: Apache-2.0 */
/* fit.c - see fit.h. The questions stand in the order in which they can be answered. */
#include "runtime/family/fit.h"

#include <string.h>

/* m and n become at least 1. k may be 0: a kernel runs for it, and a rule may use it. */
static gemmtune_problem not_empty(const gemmtune_problem *p) {
    gemmtune_problem q = *p;
    q.m = q.m > 0 ? q.m : 1;
    q.n = q.n > 0 ? q.n : 1;
    return q;
}

/* May the point exist on the device, for the problem's types and layout? */
static gt_status bind(struct gt_binding *b, const int64_t *values, struct gt_err *err) {
    const gt_status status = gt_bind_checked(b, values, err);
    if (status != GEMMTUNE_OK)
        return status;
    const struct gt_rule *rule = gt_refused(b);
    if (rule != NULL)
        return gt_fail(err, GEMMTUNE_EINVAL, "%s (%s)", rule->why,
                       gt_expr_text(rule->expr));
    return GEMMTUNE_OK;
}

/* May the kernel run the problem, and with which launches? */
static gt_status accept(struct gt_fit *out, const struct gt_device *d, struct gt_err *err) {
    struct gt_binding *b = &out->binding;
    const char *why = gt_not_accepted(b);
    if (why != NULL)
        return gt_fail(err, GEMMTUNE_EINVAL, "%s", why);
    gt_status status = gt_bind_panels(b, err);
    if (status == GEMMTUNE_OK)
        status = gt_passes_of(&out->passes, b, d, err);
    if (status != GEMMTUNE_OK)
        return status;
    for (int i = 0; i < 3; i++)
        out->align[i] = gt_align_needed(b, i);
    return GEMMTUNE_OK;
}

gt_status gt_fit_order(const struct gt_fit *fit, const char *order, struct gt_err *err) {
    char own[GT_ORDER_MAX];
    const char *why = NULL;
    if (!fit->problem.row_order)
        return GEMMTUNE_OK;
    if (!gt_order_of(own, &fit->binding, &why))
        return gt_fail(err, GEMMTUNE_EINVAL, "row_order: %s", why);
    if (order == NULL || order[0] == '\0' || strcmp(own, order) == 0)
        return GEMMTUNE_OK;
    return gt_fail(err, GEMMTUNE_EINVAL,
                   "row_order: it adds in the order \"%s\", not \"%s\"", own, order);
}

gt_status gt_fit_begin(struct gt_fit_base *out, const struct gt_family *f,
                       const struct gt_device *d, const gemmtune_problem *p,
                       int64_t pointer_align, struct gt_err *err) {
    const gemmtune_problem shape = not_empty(p);
    const char *why = NULL;
    if (!gt_family_serves(f, d, p, &why))
        return gt_fail(err, GEMMTUNE_EUNSUPPORTED, "family %s: %s", f->name, why);
    out->problem = *p;
    out->order = NULL;
    gt_bind_problem(&out->binding, f, d, &shape);
    gt_bind_align(&out->binding, &shape, pointer_align);
    return GEMMTUNE_OK;
}

gt_status gt_fit_end(struct gt_fit *out, const struct gt_fit_base *base,
                     const struct gt_device *d, const int64_t *values, struct gt_err *err) {
    out->problem = base->problem;
    out->binding = base->binding;
    out->pinned = NULL;
    gt_status status = bind(&out->binding, values, err);
    if (status == GEMMTUNE_OK)
        status = accept(out, d, err);
    if (status == GEMMTUNE_OK)
        status = gt_fit_order(out, base->order, err);
    return status == GEMMTUNE_OK
               ? status
               : gt_fail_within(err, status, "family %s", base->binding.family->name);
}

gt_status gt_fit_values(struct gt_fit *out, const struct gt_family *f,
                        const struct gt_device *d, const gemmtune_problem *p,
                        int64_t pointer_align, const int64_t *values, struct gt_err *err) {
    struct gt_fit_base base;
    gt_status status = gt_fit_begin(&base, f, d, p, pointer_align, err);
    if (status != GEMMTUNE_OK)
        return status;
    status = gt_values_check(f, values, err);
    return status == GEMMTUNE_OK ? gt_fit_end(out, &base, d, values, err)
                                 : gt_fail_within(err, status, "family %s", f->name);
}

gt_status gt_fit_point(struct gt_fit *out, const struct gt_family *f,
                       const struct gt_device *d, const gemmtune_problem *p,
                       const struct gt_point *point, struct gt_err *err) {
    int64_t values[GT_POINT_MAX];
    const gt_status status = gt_point_values(values, f, point, err);
    return status == GEMMTUNE_OK ? gt_fit_values(out, f, d, p, GT_VECTOR_BYTES, values, err)
                                 : gt_fail_within(err, status, "family %s", f->name);
}
