/* SPDX-License-Identifier: Apache-2.0 */
/*
 * space.c - the legal points of a family, without walking the cross product.
 *
 * Parameters are bound in file order, one a level. Level l of a name is how many parameters must
 * be bound before it has a value: 0 for what the device and the problem give, i + 1 for parameter
 * i, and for a derived name the highest level of the names in it. A rule is tested at the level
 * of its highest name, and a refusal there cuts off everything below.
 */
#include "tuner/space.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    POINTS_MAX = 4 << 20,           /* 4 Mi points of 24 bytes are 96 MiB */
    NODES_MAX = 1000 * 1000 * 1000, /* about a minute of search */
    TESTS_MAX = 3 * GT_RULES_MAX,
    POINTER_ALIGN = 16, /* of the tuner's buffers; kernels ask for no more */
};

/* One thing to do at a level: compute a derived name (slot >= 0) or test a rule (slot < 0). */
struct test {
    const struct gt_expr *expr;
    int slot, level;
};

struct walk {
    struct gt_space *space;
    size_t room;   /* points that fit space->idx */
    int64_t nodes; /* prefixes tried */
    bool accept;   /* test the accept rules as well */
    struct gt_binding bound;
    int tests;
    struct test
        test[TESTS_MAX]; /* by level; derived names ahead of the rules of their level */
    int first[GT_POINT_MAX + 1]; /* test of each level, or of one above it */
    unsigned char at[GT_POINT_MAX];
    struct gt_err *err;
};

_Static_assert(GT_VALUES_MAX <= UCHAR_MAX + 1, "an index into a domain must fit a byte");

/* ---- levels ---------------------------------------------------------------------- */

static int level_of(const struct gt_expr *e, const int *level,
                    const struct gt_symbols *symbols) {
    int highest = 0;
    for (int slot = 0; slot < symbols->count; slot++)
        if (level[slot] > highest && gt_expr_uses(e, slot))
            highest = level[slot];
    return highest;
}

/* Inserts behind everything of its level: the order in which tests are added is kept. */
static void add_test(struct walk *w, const struct gt_expr *e, int slot, int level) {
    int i = w->tests++;
    for (; i > 0 && w->test[i - 1].level > level; i--)
        w->test[i] = w->test[i - 1];
    w->test[i] = (struct test){e, slot, level};
}

/* Derived names stand in an order in which each uses earlier ones only. */
static void plan_tests(struct walk *w, const struct gt_family *f) {
    int level[GT_SYMBOLS_MAX] = {0};
    for (int i = 0; i < f->param_count; i++)
        level[f->param[i].slot] = i + 1;
    for (int i = 0; i < f->derive_count; i++) {
        const struct gt_derived *d = &f->derive[i];
        level[d->slot] = level_of(d->expr, level, &f->symbols);
        add_test(w, d->expr, d->slot, level[d->slot]);
    }
    for (int i = 0; i < f->require_count; i++)
        add_test(w, f->require[i].expr, -1,
                 level_of(f->require[i].expr, level, &f->symbols));
    for (int i = 0; w->accept && i < f->accept_count; i++)
        add_test(w, f->accept[i].expr, -1, level_of(f->accept[i].expr, level, &f->symbols));
    for (int l = 0, i = 0; l <= f->param_count; l++) {
        while (i < w->tests && w->test[i].level < l)
            i++;
        w->first[l] = i;
    }
}

/* ---- search ------------------------------------------------------------------------ */

/* Whether everything that is known at this level, and not before, holds. An expression that
 * fails (a division by zero) refuses, as it does when a point is bound. */
static bool holds(struct walk *w, int level) {
    for (int i = w->first[level]; i < w->tests && w->test[i].level == level; i++) {
        const struct test *t = &w->test[i];
        int64_t value;
        if (gt_expr_eval(&value, t->expr, w->bound.value, NULL) != GEMMTUNE_OK)
            return false;
        if (t->slot >= 0)
            w->bound.value[t->slot] = value;
        else if (value == 0)
            return false;
    }
    return true;
}

static gt_status keep(struct walk *w) {
    struct gt_space *s = w->space;
    const size_t size = (size_t)s->params;
    if (s->count == POINTS_MAX)
        return gt_fail(w->err, GEMMTUNE_EINVAL, "family %s has more than %d legal points",
                       s->family->name, POINTS_MAX);
    if (s->count == w->room) {
        const size_t room = w->room == 0 ? 256 : 2 * w->room;
        unsigned char *idx =
            realloc(s->idx, room * size + 1); /* + 1: a family without any */
        if (idx == NULL)
            return gt_fail(w->err, GEMMTUNE_ENOMEM, "no memory for %zu points of family %s",
                           room, s->family->name);
        s->idx = idx;
        w->room = room;
    }
    memcpy(s->idx + s->count * size, w->at, size);
    s->count++;
    return GEMMTUNE_OK;
}

static gt_status descend(struct walk *w, int level) {
    const struct gt_family *f = w->space->family;
    gt_status status = GEMMTUNE_OK;
    if (++w->nodes > NODES_MAX)
        return gt_fail(
            w->err, GEMMTUNE_EINVAL,
            "family %s: no end after %d partial points; its rules need to refuse "
            "earlier",
            f->name, NODES_MAX);
    if (!holds(w, level))
        return GEMMTUNE_OK;
    if (level ==
        f->param_count) /* alignment demands are not rules, and cheap to ask last */
        return w->accept && gt_not_accepted(&w->bound) != NULL ? GEMMTUNE_OK : keep(w);
    const struct gt_param *param = &f->param[level];
    for (int i = 0; status == GEMMTUNE_OK && i < param->count; i++) {
        w->at[level] = (unsigned char)i;
        w->bound.value[param->slot] = param->value[i];
        status = descend(w, level + 1);
    }
    return status;
}

static gt_status create(struct gt_space *out, const struct gt_family *f,
                        const struct gt_device *d, const gemmtune_problem *p, bool accept,
                        struct gt_err *err) {
    struct gt_space s = {.family = f, .params = f->param_count, .raw = 1};
    struct walk w = {.space = &s, .accept = accept, .err = err};
    for (int i = 0; i < f->param_count; i++)
        s.raw *= f->param[i].count;
    gt_bind_problem(&w.bound, f, d, p);
    gt_bind_align(&w.bound, p, POINTER_ALIGN);
    plan_tests(&w, f);
    const gt_status status = descend(&w, 0);
    if (status != GEMMTUNE_OK)
        gt_space_clear(&s);
    *out = s;
    return status;
}

gt_status gt_space_create(struct gt_space *out, const struct gt_family *f,
                          const struct gt_device *d, const gemmtune_problem *p,
                          struct gt_err *err) {
    return create(out, f, d, p, true, err);
}

gt_status gt_space_create_any(struct gt_space *out, const struct gt_family *f,
                              const struct gt_device *d, const gemmtune_problem *p,
                              struct gt_err *err) {
    return create(out, f, d, p, false, err);
}

void gt_space_clear(struct gt_space *s) {
    free(s->idx);
    *s = (struct gt_space){0};
}

/* ---- points -------------------------------------------------------------------------- */

void gt_space_values(const struct gt_space *s, size_t i, int64_t values[GT_POINT_MAX]) {
    const unsigned char *at = s->idx + i * (size_t)s->params;
    for (int j = 0; j < s->params; j++)
        values[j] = s->family->param[j].value[at[j]];
}

void gt_space_point(const struct gt_space *s, size_t i, struct gt_point *out) {
    const unsigned char *at = s->idx + i * (size_t)s->params;
    out->count = s->params;
    for (int j = 0; j < s->params; j++) {
        memcpy(out->entry[j].name, s->family->param[j].name, sizeof out->entry[j].name);
        out->entry[j].value = s->family->param[j].value[at[j]];
    }
}

/* The point as positions in the domains; false when it has other names or values. */
static bool index_of(unsigned char at[GT_POINT_MAX], const struct gt_space *s,
                     const struct gt_point *point) {
    if (point->count != s->params)
        return false;
    for (int j = 0; j < s->params; j++) {
        const struct gt_param *param = &s->family->param[j];
        int64_t value;
        int i = 0;
        if (!gt_point_get(point, param->name, &value))
            return false;
        while (i < param->count && param->value[i] != value)
            i++;
        if (i == param->count)
            return false;
        at[j] = (unsigned char)i;
    }
    return true;
}

/* Enumeration leaves the packed rows in the order of memcmp. */
size_t gt_space_at(const struct gt_space *s, const unsigned char *at) {
    const size_t size = (size_t)s->params;
    size_t low = 0, high = s->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = memcmp(s->idx + middle * size, at, size);
        if (order == 0)
            return middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return SIZE_MAX;
}

size_t gt_space_find(const struct gt_space *s, const struct gt_point *point) {
    unsigned char at[GT_POINT_MAX];
    return index_of(at, s, point) ? gt_space_at(s, at) : SIZE_MAX;
}
