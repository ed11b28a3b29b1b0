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

/* A limit of workspace, and a family that is fitted to a problem. */
struct limit {
    int64_t workspace_max;
    const struct gt_device *device;
    struct gt_fit_base base;
};

/* Whether a point of the family keeps to the limit. A point that does not fit at all needs
 * no workspace: its trial says why. */
static bool keeps_to(const void *user, const int64_t values[GT_POINT_MAX]) {
    const struct limit *l = user;
    struct gt_fit fit;
    return gt_fit_end(&fit, &l->base, l->device, values, NULL) != GEMMTUNE_OK ||
           fit.passes.workspace_bytes <= l->workspace_max;
}

/* The points that a search may try. *limit is for as long as the filter is used. */
static struct gt_space_filter filter_of(struct limit *limit, const struct gt_tuner *t,
                                        const struct gt_family *f,
                                        const gemmtune_problem *p, const char *order) {
    struct gt_space_filter filter = {.order = order, .user = limit};
    limit->workspace_max = t->workspace_max;
    limit->device = &t->device;
    if (t->limits_workspace &&
        gt_fit_begin(&limit->base, f, &t->device, p, GT_VECTOR_BYTES, NULL) == GEMMTUNE_OK)
        filter.wants = keeps_to;
    return filter;
}

static void make_spaces(void *user, int thread, int64_t first, int64_t end) {
    const struct making *m = user;
    const struct gt_tuner *t = m->tuner;
    (void)thread;
    for (struct made *x = m->made + first; x < m->made + end; x++) {
        struct limit limit;
        const struct gt_space_filter filter =
            filter_of(&limit, t, x->family, m->problem, m->order);
        x->status = gt_space_create_wanted(&x->space, x->family, &t->device, m->problem,
                                           &filter, &x->why);
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
    const struct gt_space_filter filter = filter_of(&limit, t, f, p, "");
    return gt_space_count(points, enough_of(f, enough), f, &t->device, p, &filter, err);
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
