/* SPDX-License-Identifier: Apache-2.0 */
/*
 * predict.c - finds the points of a problem that the model expects to be fastest on a
 * device. It asks for every legal point of every family and keeps the best few.
 */
#include "tuner/study/predict.h"

#include "core/log.h"
#include "tuner/search/space.h"

#include <stdio.h>
#include <string.h>

/* Inserts a point among the best so far. With `distinct`, only the first point of a family
 * with a given time is kept. */
static void keep(struct gt_predicted *out, size_t most, size_t *count, bool distinct,
                 const struct gt_predicted *f) {
    size_t at = *count;
    while (at > 0 && out[at - 1].prediction.ns > f->prediction.ns)
        at--;
    for (size_t i = at; distinct && i > 0 && out[i - 1].prediction.ns == f->prediction.ns;
         i--)
        if (out[i - 1].family == f->family)
            return;
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

/* One family's space for one problem, and the best points of all families so far. */
struct search {
    struct gt_space space;
    struct gt_binding b;
    struct gt_model model;
    const struct gt_family *family;
    const struct gt_device *d;
    struct gt_predicted *best;
    size_t most, *count;
    bool distinct;
};

static void ask(struct search *s, size_t index) {
    int64_t values[GT_POINT_MAX];
    struct gt_predicted f = {.family = s->family, .index = index};
    gt_space_values(&s->space, index, values);
    if (gt_bind_values(&s->b, values, NULL) != GEMMTUNE_OK ||
        !gt_model_predict(&f.prediction, &s->model, &s->b, NULL))
        return;
    if (*s->count == s->most && f.prediction.ns >= s->best[s->most - 1].prediction.ns)
        return;
    gt_space_point(&s->space, index, &f.point);
    keep(s->best, s->most, s->count, s->distinct, &f);
}

/* A family gives none and a line in the log, if its points cannot be counted; the others go
 * on. */
static gt_status create_space(struct search *s, const gemmtune_problem *p,
                              struct gt_err *err) {
    struct gt_err why;
    const gt_status status = gt_space_create(&s->space, s->family, s->d, p, &why);
    if (status == GEMMTUNE_EINVAL) {
        gt_log(GEMMTUNE_LOG_WARN, "left out: %s", why.line);
        return GEMMTUNE_OK;
    }
    if (status != GEMMTUNE_OK && err != NULL)
        *err = why;
    return status;
}

static gt_status look_through(struct search *s, const gemmtune_problem *p, size_t *asked,
                              struct gt_err *err) {
    const gt_status status = create_space(s, p, err);
    if (status != GEMMTUNE_OK)
        return status;
    gt_bind_problem(&s->b, s->family, s->d, p);
    gt_model_begin(&s->model, &s->b, s->d);
    for (size_t i = 0; i < s->space.count; i++)
        ask(s, i);
    *asked += s->space.count;
    gt_space_clear(&s->space);
    return GEMMTUNE_OK;
}

static bool is_asked(const struct gt_family *f, const struct gt_texts *names,
                     const struct gt_device *d, const gemmtune_problem *p) {
    return f->has_shape && is_named(names, f->name) && gt_family_serves(f, d, p, NULL);
}

gt_status gt_predict_best(struct gt_predicted *out, size_t most, size_t *count,
                          size_t *asked, const struct gt_predict_query *q,
                          struct gt_err *err) {
    struct search s = {
        .d = q->device, .best = out, .most = most, .count = count, .distinct = q->distinct};
    gt_status status = GEMMTUNE_OK;
    *count = *asked = 0;
    for (size_t i = 0;
         status == GEMMTUNE_OK && (s.family = gt_families_at(q->families, i)) != NULL; i++)
        if (is_asked(s.family, q->names, q->device, q->problem))
            status = look_through(&s, q->problem, asked, err);
    return status;
}

/* ---- the best of a space, briefly ---- */

/* Number of points of a space that are asked for first, evenly spread. The neighbours of
 * the best one come next; they differ from it in the last parameters. */
enum { SAMPLES = 4096 };

static gt_status look_here_and_there(struct search *s, const gemmtune_problem *p,
                                     struct gt_err *err) {
    const gt_status status = create_space(s, p, err);
    if (status != GEMMTUNE_OK)
        return status;
    const size_t all = s->space.count, step = all / SAMPLES + 1;
    gt_bind_problem(&s->b, s->family, s->d, p);
    gt_model_begin(&s->model, &s->b, s->d);
    for (size_t i = 0; i < all; i += step)
        ask(s, i);
    if (*s->count > 0 && s->best->family == s->family) {
        const size_t at = s->best->index, from = at > step ? at - step : 0;
        for (size_t i = from; i < all && i < at + step; i++)
            ask(s, i);
    }
    gt_space_clear(&s->space);
    return GEMMTUNE_OK;
}

gt_status gt_predict_nearly_best(struct gt_predicted *out,
                                 const struct gt_families *families,
                                 const struct gt_device *d, const gemmtune_problem *p,
                                 struct gt_err *err) {
    const struct gt_texts all = {.count = 0};
    size_t count = 0;
    struct search s = {.d = d, .best = out, .most = 1, .count = &count};
    gt_status status = GEMMTUNE_OK;
    for (size_t i = 0;
         status == GEMMTUNE_OK && (s.family = gt_families_at(families, i)) != NULL; i++)
        if (is_asked(s.family, &all, d, p))
            status = look_here_and_there(&s, p, err);
    if (status == GEMMTUNE_OK && count == 0)
        status = gt_fail(err, GEMMTUNE_ENOTFOUND, "no point that can be predicted on %s",
                         d->name);
    return status;
}

gt_status gt_predict_point(struct gt_point *out, const struct gt_family *family,
                           const char *text, struct gt_err *err) {
    struct gt_point given;
    gt_family_default(family, out);
    gt_status status = gt_point_parse(&given, text, err);
    for (int i = 0; status == GEMMTUNE_OK && i < given.count; i++) {
        int64_t old;
        if (!gt_point_get(out, given.entry[i].name, &old))
            return gt_fail(err, GEMMTUNE_EINVAL, "family %s has no parameter %s",
                           family->name, given.entry[i].name);
        status = gt_point_set(out, given.entry[i].name, given.entry[i].value, err);
    }
    return status;
}

gt_status gt_predict_text(struct gt_predicted *out, const struct gt_families *families,
                          const char *text, const struct gt_device *d,
                          const gemmtune_problem *p, struct gt_err *err) {
    char name[GT_NAME_MAX];
    const size_t len = strcspn(text, " ");
    (void)snprintf(name, sizeof name, "%.*s", (int)len, text);
    out->family = gt_families_find(families, name);
    if (out->family == NULL)
        return gt_fail(err, GEMMTUNE_ENOTFOUND, "no family '%s'", name);
    gt_status status = gt_predict_point(&out->point, out->family,
                                        text + len + strspn(text + len, " "), err);
    if (status == GEMMTUNE_OK)
        status = gt_model_explain(&out->prediction, out->family, d, p, &out->point, err);
    return status;
}
