/* SPDX-License-Identifier: Apache-2.0 */
/* spaces.c - makes the spaces that a search of one problem looks through. */
#include "core/text.h"
#include "tuner/base/parallel.h"
#include "tuner/tune/tune.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool gt_tune_wants(const struct gt_tuner *t, const struct gt_family *f) {
    if (!t->only || t->only->count == 0)
        return true;
    for (int i = 0; i < t->only->count; i++)
        if (strcmp(t->only->text[i], f->name) == 0)
            return true;
    return false;
}

void gt_tune_spaces_free(struct gt_space *space, int spaces) {
    for (int i = 0; i < spaces; i++)
        gt_space_clear(&space[i]);
    free(space);
}

/* Adds a family's error to the line. */
static void add_untried(struct gt_err *untried, const struct gt_err *why) {
    const size_t size = sizeof untried->line;
    int len = (int)strlen(untried->line);
    len = gt_text_put(untried->line, size, len, len > 0 ? "; " : "not tried: ");
    (void)gt_text_put(untried->line, size, len, why->line);
}

/* The space of a family, while the spaces of all families are made side by side. */
struct made {
    const struct gt_family *family;
    struct gt_space space;
    gt_status status;
    struct gt_err why;
};

struct making {
    struct made *made;
    const struct gt_tuner *tuner;
    const gemmtune_problem *problem;
    const char *order;
};

/* A limit of workspace or one order of sums, and a family that is fitted to a problem. */
struct limit {
    const struct gt_tuner *tuner;
    struct gt_fit_base base;
};

/* Whether a point of the family keeps to the limit, and adds in the order. */
static bool keeps_to(const void *user, const int64_t values[GT_POINT_MAX]) {
    const struct limit *l = user;
    struct gt_fit fit;
    if (gt_fit_end(&fit, &l->base, &l->tuner->device, values, NULL) != GEMMTUNE_OK)
        return !l->base.problem.row_order;
    return !l->tuner->limits_workspace ||
           fit.passes.workspace_bytes <= l->tuner->workspace_max;
}

/* False: there is no limit, or the family does not fit. */
static bool has_limit(struct limit *out, const struct gt_tuner *t,
                      const struct gt_family *f, const gemmtune_problem *p,
                      const char *order) {
    out->tuner = t;
    if (!(t->limits_workspace || p->row_order) ||
        gt_fit_begin(&out->base, f, &t->device, p, GT_VECTOR_BYTES, NULL) != GEMMTUNE_OK)
        return false;
    out->base.order = order;
    return true;
}

/* Drops the points that need more workspace than the search is limited to, or add in
 * another order. */
static void drop_unwanted(struct gt_space *s, const struct gt_tuner *t,
                          const gemmtune_problem *p, const char *order) {
    const size_t size = (size_t)s->params;
    int64_t values[GT_POINT_MAX];
    struct limit limit;
    size_t kept = 0;
    if (!has_limit(&limit, t, s->family, p, order))
        return;
    for (size_t i = 0; i < s->count; i++) {
        gt_space_values(s, i, values);
        if (keeps_to(&limit, values))
            memmove(s->idx + kept++ * size, s->idx + i * size, size);
    }
    s->count = kept;
}

static void make_spaces(void *user, int thread, int64_t first, int64_t end) {
    const struct making *m = user;
    (void)thread;
    for (struct made *x = m->made + first; x < m->made + end; x++) {
        x->status =
            gt_space_create(&x->space, x->family, &m->tuner->device, m->problem, &x->why);
        if (x->status == GEMMTUNE_OK)
            drop_unwanted(&x->space, m->tuner, m->problem, m->order);
    }
}

/* Lists the families to try. */
static size_t list_families(struct made *out, const struct gt_tuner *t,
                            const gemmtune_problem *p) {
    size_t n = 0;
    for (size_t i = 0; i < gt_families_count(t->families); i++) {
        const struct gt_family *f = gt_families_at(t->families, i);
        if (gt_tune_wants(t, f) && gt_family_serves(f, &t->device, p, NULL))
            out[n++].family = f;
    }
    return n;
}

/* Hands over all spaces that have points, also after a failure, so that the caller can free
 * them. The first failure that is not a family's own fault is the result. */
static gt_status collect(struct gt_space *space, int *spaces, struct gt_err *untried,
                         struct made *made, size_t count, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    for (size_t i = 0; i < count; i++) {
        struct made *const x = &made[i];
        if (x->status == GEMMTUNE_OK && x->space.count > 0)
            space[(*spaces)++] = x->space;
        else if (x->status == GEMMTUNE_OK)
            gt_space_clear(&x->space);
        else if (x->status == GEMMTUNE_EINVAL)
            add_untried(untried, &x->why);
        else if (status == GEMMTUNE_OK)
            status = gt_fail(err, x->status, "%s", x->why.line);
    }
    return status;
}

/* Why a search has nothing to look through. */
static gt_status refuse(const struct gt_tuner *t, const char *order,
                        const struct gt_err *untried, struct gt_err *err) {
    if (untried->line[0] != '\0')
        return gt_fail(err, GEMMTUNE_EINVAL, "%s", untried->line);
    return gt_fail(err, GEMMTUNE_EUNSUPPORTED,
                   "no family%s has a kernel for it on this device%s%s%s",
                   t->only != NULL && t->only->count > 0 ? " that was asked for" : "",
                   t->limits_workspace ? " within the workspace" : "",
                   order[0] != '\0' ? " in the order of sums " : "", order);
}

gt_status gt_tune_spaces(struct gt_space **out, int *spaces, struct gt_err *untried,
                         const struct gt_tuner *t, const gemmtune_problem *p,
                         const char *order, struct gt_err *err) {
    const size_t room = gt_families_count(t->families) + 1;
    struct gt_space *space = calloc(room, sizeof *space);
    struct made *made = calloc(room, sizeof *made);
    gt_status status = GEMMTUNE_OK;
    int n = 0;
    untried->line[0] = '\0';
    if (space == NULL || made == NULL) {
        status = gt_fail(err, GEMMTUNE_ENOMEM, "no memory for spaces");
    } else {
        struct making m = {made, t, p, order};
        const size_t count = list_families(made, t, p);
        gt_parallel(make_spaces, &m, (int64_t)count);
        status = collect(space, &n, untried, made, count, err);
    }
    free(made);
    if (status == GEMMTUNE_OK && n == 0)
        status = refuse(t, order, untried, err);
    if (status != GEMMTUNE_OK) {
        gt_tune_spaces_free(space, n);
        return status;
    }
    *out = space;
    *spaces = n;
    return GEMMTUNE_OK;
}

/* A family of a folder is counted whole, since the author may not know that the points are
 * too many for a search. */
static size_t enough_of(const struct gt_family *f, size_t enough) {
    for (size_t i = 0; gt_families_built_in[i] != NULL; i++)
        if (gt_families_built_in[i] == f)
            return enough;
    return SIZE_MAX;
}

static gt_status count_family(size_t *points, size_t enough, const struct gt_tuner *t,
                              const struct gt_family *f, const gemmtune_problem *p,
                              struct gt_err *err) {
    struct limit limit;
    const struct gt_space_filter filter = {keeps_to, &limit};
    return gt_space_count(points, enough_of(f, enough), f, &t->device, p,
                          has_limit(&limit, t, f, p, "") ? &filter : NULL, err);
}

gt_status gt_tune_count(size_t *points, size_t enough, const struct gt_tuner *t,
                        const gemmtune_problem *p, struct gt_err *err) {
    struct gt_err untried = {""}, why;
    size_t sum = 0, n = 0;
    for (size_t i = 0; i < gt_families_count(t->families) && sum < enough; i++) {
        const struct gt_family *f = gt_families_at(t->families, i);
        if (!gt_tune_wants(t, f) || !gt_family_serves(f, &t->device, p, NULL))
            continue;
        const gt_status status = count_family(&n, enough - sum, t, f, p, &why);
        if (status == GEMMTUNE_EINVAL)
            add_untried(&untried, &why);
        else if (status != GEMMTUNE_OK)
            return gt_fail(err, status, "%s", why.line);
        sum += n;
    }
    *points = sum;
    return sum > 0 ? GEMMTUNE_OK : refuse(t, "", &untried, err);
}

void gt_tune_candidate(struct gt_candidate *out, const struct gt_space *space,
                       size_t index) {
    struct gt_point point;
    gt_space_point(space, index, &point);
    gt_candidate_set_point(out, space->family, &point);
}
