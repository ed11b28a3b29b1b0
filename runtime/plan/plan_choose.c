/* SPDX-License-Identifier: Apache-2.0 */
/* plan_choose.c - see plan_choose.h. */
#include "runtime/plan/plan_choose.h"

#include "core/log.h"
#include "runtime/lookup/model.h"

enum {
    TRIES_MAX = 32,  /* choices that may fail to build before a plan gives up */
    RECORDS_MAX = 8, /* records among them: when so many fail, records are not the cause */
    ASKED_MAX = 64   /* choices that are looked for in the cache; 0.3 ms each */
};

/* ---- choices that failed ------------------------------------------------------------- */

/* Choices that failed to build: records, and families by their default points. When only
 * cached images are wanted, those that are not cached are skipped as well. */
struct failures {
    const struct gt_gpu *gpu;
    bool only_cached;
    int asked; /* how many choices were looked for in the cache */
    int count, records;
    struct {
        const struct gt_known *known;
        const struct gt_family *family;
    } entry[TRIES_MAX];
};

static bool has_failed(const struct failures *f, const struct gt_choice *c) {
    if (c->known != NULL && f->records >= RECORDS_MAX)
        return true;
    for (int i = 0; i < f->count; i++)
        if (f->entry[i].known == c->known && f->entry[i].family == c->family)
            return true;
    return false;
}

/* A choice that a lock pins. It is the only one. */
static bool is_pinned(const struct gt_choice *c) {
    return c->fit.pinned != NULL;
}

static bool is_skipped(void *user, const struct gt_choice *c) {
    struct failures *f = user;
    if (has_failed(f, c))
        return true;
    return f->only_cached &&
           (f->asked++ >= ASKED_MAX || !gt_exec_is_cached(f->gpu, &c->fit));
}

static void note_failure(struct failures *f, const struct gt_choice *c,
                         const struct gt_err *err) {
    f->entry[f->count].known = c->known;
    f->entry[f->count].family = c->family;
    f->count++;
    f->records += c->known != NULL;
    gt_log(GEMMTUNE_LOG_WARN, "does not build, trying the next (%s): %s", c->why,
           err->line);
}

bool gt_is_about_kernel(gt_status status) {
    return status != GEMMTUNE_ENOMEM && status != GEMMTUNE_EIO &&
           status != GEMMTUNE_ESTOPPED;
}

/* ---- the choice ---------------------------------------------------------------------- */

gt_status gt_plan_choose(struct gt_choice *choice, struct gt_gpu *gpu,
                         struct gt_query query, bool only_cached, gt_try_fn try, void *user,
                         struct gt_err *err) {
    struct failures failures = {.gpu = gpu, .only_cached = only_cached};
    struct gt_err first = {""}, now = {""};
    gt_status first_status = GEMMTUNE_OK, status;
    query.skip = is_skipped;
    query.user = &failures;
    do {
        status = gt_match(choice, &query, &now);
        if (status != GEMMTUNE_OK)
            break;
        status = try(user, gpu, &choice->fit, &now);
        if (status == GEMMTUNE_OK)
            return GEMMTUNE_OK;
        if (!gt_is_about_kernel(status) || is_pinned(choice))
            return gt_fail(err, status, "%s", now.line);
        note_failure(&failures, choice, &now);
        if (first_status == GEMMTUNE_OK) {
            first_status = status;
            first = now;
        }
    } while (failures.count < TRIES_MAX);
    if (first_status != GEMMTUNE_OK) {
        status = first_status;
        now = first;
    }
    return gt_fail(err, status, "%s", now.line);
}

/* ---- kernels for unaligned pointers -------------------------------------------------- */

static size_t element_size(const gemmtune_problem *p, int operand) {
    const gemmtune_dtype type[3] = {p->type_a, p->type_b, p->type_c};
    return gt_type_size(type[operand]);
}

/* A narrow kernel that is made out of the wide one may take this many times the forecast of
 * the wide one. */
static const double narrow_slowdown_max = 1.25;

/* The model's time for a point, in ns. False when the point may not run the query's
 * problem. `order`: the order of sums that it must have, if any.
 */
static bool forecast(double *ns, struct gt_fit *fit, const struct gt_query *q,
                     const struct gt_model *m, const struct gt_family *f,
                     const int64_t *values, const char *order) {
    struct gt_prediction prediction;
    if (gt_fit_values(fit, f, q->device, q->problem, q->pointer_align, values, NULL) !=
            GEMMTUNE_OK ||
        gt_fit_order(fit, order, NULL) != GEMMTUNE_OK ||
        (uint64_t)fit->passes.workspace_bytes > q->workspace_max ||
        !gt_model_predict_fit(&prediction, m, fit))
        return false;
    *ns = prediction.ns;
    return true;
}

static void set_values(struct gt_choice *c, const int64_t *values) {
    for (int i = 0; i < c->family->param_count; i++)
        (void)gt_point_set(&c->point, c->family->param[i].name, values[i], NULL);
}

/* The wide kernel with other values of its adaptable parameters: the fastest by the model.
 * This spares a lookup, which takes 2 ms. False when none of them may run, or all are much
 * slower. */
static bool narrow_down(struct gt_choice *out, const struct gt_query *q,
                        const struct gt_choice *wide) {
    struct gt_prediction prediction;
    int64_t values[GT_POINT_MAX];
    struct gt_model model;
    struct gt_fit fit;
    char order[GT_ORDER_MAX];
    double ns;
    bool found = false;
    (void)gt_order_of(order, &wide->fit.binding, NULL);
    *out = *wide;
    if (is_pinned(wide))
        return false;
    gt_model_begin(&model, &wide->fit.binding, q->device);
    if (!gt_model_predict_fit(&prediction, &model, &wide->fit) ||
        gt_point_values(values, wide->family, &wide->point, NULL) != GEMMTUNE_OK)
        return false;
    double least_ns = narrow_slowdown_max * prediction.ns;
    for (int i = 0; gt_family_adapt(values, wide->family, i); i++) {
        if (!forecast(&ns, &fit, q, &model, wide->family, values, order) || ns > least_ns)
            continue;
        found = true;
        least_ns = ns;
        out->fit = fit;
        set_values(out, values);
    }
    return found;
}

struct gt_query gt_narrow_query(struct gt_query query) {
    query.pointer_align = 1;
    query.worst = GEMMTUNE_MATCH_DEFAULT;
    return query;
}

gt_status gt_match_narrow(struct gt_choice *choice, struct gt_query query,
                          const struct gt_choice *wide, struct gt_err *err) {
    query = gt_narrow_query(query);
    return narrow_down(choice, &query, wide) ? GEMMTUNE_OK : gt_match(choice, &query, err);
}

gt_status gt_plan_choose_narrow(struct gt_choice *choice, struct gt_gpu *gpu,
                                struct gt_query query, const struct gt_choice *wide,
                                bool only_cached, gt_try_fn try, void *user,
                                struct gt_err *err) {
    query = gt_narrow_query(query);
    if (narrow_down(choice, &query, wide) &&
        (!only_cached || gt_exec_is_cached(gpu, &choice->fit))) {
        const gt_status status = try(user, gpu, &choice->fit, err);
        if (status == GEMMTUNE_OK || !gt_is_about_kernel(status))
            return status;
    }
    return gt_plan_choose(choice, gpu, query, only_cached, try, user, err);
}

bool gt_wants_narrow(const struct gt_fit *fit, const gemmtune_problem *p) {
    if (gt_problem_has_pointers(p))
        return false; /* arrays are aligned as promised */
    for (int i = 0; i < 3; i++)
        if (fit->align[i] > (int64_t)element_size(p, i))
            return true;
    return false;
}
