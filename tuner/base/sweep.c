/* SPDX-License-Identifier: Apache-2.0 */
/* sweep.c - reads sweep.json into a list of problems: problems by name, the problems of an
 * entry (sweep_entry.h), the file. */
#include "tuner/base/sweep.h"

#include "core/json.h"
#include "tuner/base/sweep_entry.h"
#include "tuner/base/sweep_lines.h"
#include "tuner/base/sweep_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 4096 };

/* ---- problems by name ---- */

/* Reads a problem's name, and refuses a problem that cannot be tuned. */
static gt_status read_problem(gemmtune_problem *p, const char *name, struct gt_err *err) {
    const gt_status status = gt_problem_from_name(p, name, err);
    if (status == GEMMTUNE_OK && (p->m == 0 || p->n == 0 || p->k == 0))
        return gt_fail(err, GEMMTUNE_EPARSE, "\"%s\" is an empty product: nothing to tune",
                       name);
    return status;
}

gt_status gt_sweep_add(struct gt_sweep *s, const char *name, struct gt_err *err) {
    gemmtune_problem p;
    gt_status status = read_problem(&p, name, err);
    if (status == GEMMTUNE_OK)
        status = gt_sweep_reserve(s, 1, err);
    if (status != GEMMTUNE_OK)
        return status;
    gt_sweep_append(s, &p, 1);
    for (size_t i = 0; i + 1 < s->count; i++)
        if (strcmp(s->item[i].name, s->item[s->count - 1].name) == 0) {
            s->count--;
            break;
        }
    return GEMMTUNE_OK;
}

/* ---- the problems of an entry ---- */

static gt_status add_problem(struct gt_sweep *s, const struct gt_sweep_entry *e,
                             const gemmtune_problem *like, const struct gt_dtype *type,
                             int layout, const int64_t dim[3], struct gt_err *err) {
    gemmtune_problem p = *like;
    struct gt_err why;
    p.m = dim[0], p.n = dim[1], p.k = dim[2];
    p.trans_a = layout & 2 ? GEMMTUNE_TRANS : GEMMTUNE_NOTRANS;
    p.trans_b = layout & 1 ? GEMMTUNE_TRANS : GEMMTUNE_NOTRANS;
    p.type_a = type->a, p.type_b = type->b, p.type_c = type->c;
    p.type_acc = type->acc, p.math = type->math;
    const gt_status status = gt_problem_canonical(&p, NULL, &p, &why);
    if (status != GEMMTUNE_OK)
        return gt_json_fail_because(e->node, status, &why, err);
    gt_sweep_append(s, &p, e->weight);
    return GEMMTUNE_OK;
}

/* Steps through the values of one dimension. */
struct cursor {
    const struct gt_sweep_spans *spans;
    size_t span;
    int64_t i;
};

static int64_t value_at(const struct cursor *c) {
    const struct gt_sweep_span *span = &c->spans->span[c->span];
    return span->start + c->i * span->step;
}

/* Goes to the next value. After the last value it goes back to the first and
 * returns false. */
static bool advance(struct cursor *c) {
    if (++c->i < c->spans->span[c->span].count)
        return true;
    c->i = 0;
    if (++c->span < c->spans->count)
        return true;
    c->span = 0;
    return false;
}

/* Adds all shapes for one type and layout, each with all options. The last dimension
 * changes faster than the others. */
static gt_status cross_dimensions(struct gt_sweep *s, const struct gt_sweep_entry *e,
                                  const struct gt_dtype *type, int layout,
                                  struct gt_err *err) {
    struct cursor at[3];
    const int dims = e->cubes ? 1 : 3;
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; i < dims; i++)
        at[i] = (struct cursor){&e->dim[i], 0, 0};
    for (int turned = 0; status == GEMMTUNE_OK && turned >= 0;) {
        int64_t dim[3];
        for (int i = 0; i < dims; i++)
            dim[i] = value_at(&at[i]);
        if (e->cubes)
            gt_volume_shape(dim[0], &dim[0], &dim[1], &dim[2]);
        for (size_t i = 0; status == GEMMTUNE_OK && i < e->likes; i++)
            status = add_problem(s, e, &e->like[i].problem, type, layout, dim, err);
        for (turned = dims - 1; turned >= 0 && !advance(&at[turned]);)
            turned--;
    }
    return status;
}

static gt_status expand_entry(struct gt_sweep *s, const struct gt_sweep_entry *e,
                              struct gt_err *err) {
    const double count = gt_sweep_entry_count(e);
    if ((double)s->count + count > GT_SWEEP_MAX)
        return gt_json_fail(e->node, err, "%.17g problems up to here; the limit is %d",
                            (double)s->count + count, GT_SWEEP_MAX);
    gt_status status = gt_sweep_reserve(s, (size_t)count, err);
    for (size_t t = 0; t < e->types; t++)
        for (size_t l = 0; status == GEMMTUNE_OK && l < e->layouts; l++)
            status = cross_dimensions(s, e, e->type[t], e->layout[l], err);
    return status;
}

/* ---- the file ---- */

static gt_status take_name(struct gt_sweep *s, struct gt_node n, struct gt_err *err) {
    gemmtune_problem p;
    struct gt_err why;
    const char *name = "";
    gt_status status = gt_json_string(&name, n, err);
    if (status != GEMMTUNE_OK)
        return status;
    status = read_problem(&p, name, &why);
    if (status != GEMMTUNE_OK)
        return gt_json_fail_because(n, status, &why, err);
    if (s->count == GT_SWEEP_MAX)
        return gt_json_fail(n, err, "%zu problems up to here; the limit is %d",
                            s->count + 1, GT_SWEEP_MAX);
    status = gt_sweep_reserve(s, 1, err);
    if (status == GEMMTUNE_OK)
        gt_sweep_append(s, &p, 1);
    return status;
}

/* One problem by its name, in an object. */
static gt_status take_recorded(struct gt_sweep *s, struct gt_node n, struct gt_err *err) {
    static const char *const keys[] = {"problem", "count", "weight", NULL};
    const struct gt_node calls = gt_json_member(n, "count");
    int64_t count = 1;
    double weight = 1;
    gt_status status = gt_json_only(n, keys, err);
    if (status == GEMMTUNE_OK)
        status = gt_sweep_read_weight(&weight, n, err);
    if (status == GEMMTUNE_OK && gt_json_kind(calls) != GT_JSON_ABSENT)
        status = gt_json_int(&count, calls, 1, GT_SWEEP_CALLS_MAX, err);
    if (status == GEMMTUNE_OK)
        status = take_name(s, gt_json_member(n, "problem"), err);
    if (status == GEMMTUNE_OK) {
        s->item[s->count - 1].weight = weight;
        s->item[s->count - 1].count = count;
    }
    return status;
}

/* ---- lists of other programs ---- */

/* The path of a list beside the sweep file, unless it is absolute. */
static bool list_path(char *out, size_t size, struct gt_node n, const char *name) {
    const char *file = gt_json_file(n.doc), *slash = strrchr(file, '/');
    const int folder = name[0] != '/' && slash != NULL ? (int)(slash + 1 - file) : 0;
    const int len = snprintf(out, size, "%.*s%s", folder, file, name);
    return len > 0 && (size_t)len < size;
}

/* Adds the problems of a list, each in all of the types, if there are any. */
static gt_status add_list(struct gt_sweep *s, const struct gt_sweep *list,
                          const struct gt_sweep_entry *e, struct gt_err *err) {
    const size_t each = e->types > 0 ? e->types : 1;
    if (s->count + list->count * each > GT_SWEEP_MAX)
        return gt_json_fail(e->node, err, "%zu problems up to here; the limit is %d",
                            s->count + list->count * each, GT_SWEEP_MAX);
    gt_status status = gt_sweep_reserve(s, list->count * each, err);
    for (size_t i = 0; status == GEMMTUNE_OK && i < list->count; i++) {
        const size_t first = s->count;
        const gemmtune_problem *p = &list->item[i].problem;
        const int64_t dim[3] = {p->m, p->n, p->k};
        const int layout =
            2 * (p->trans_a == GEMMTUNE_TRANS) + (p->trans_b == GEMMTUNE_TRANS);
        gemmtune_problem like;
        (void)gt_problem_init(&like, sizeof like, GEMMTUNE_F32, 0, 0, 0, NULL);
        like.layout = GEMMTUNE_ROW_MAJOR;
        for (size_t t = 0; status == GEMMTUNE_OK && t < e->types; t++)
            status = add_problem(s, e, &like, e->type[t], layout, dim, err);
        if (e->types == 0)
            gt_sweep_append(s, p, e->weight * list->item[i].weight);
        for (size_t added = first; added < s->count; added++)
            s->item[added].count = list->item[i].count;
    }
    return status;
}

static void add_lines(struct gt_sweep_lines *sum, const struct gt_sweep_lines *more) {
    if (sum->fate[GT_LOGGED_DAMAGED] == 0) {
        sum->damage = more->damage;
        sum->damaged_line = more->damaged_line;
    }
    for (int i = 0; i < GT_LOGGED_FATES; i++)
        sum->fate[i] += more->fate[i];
    sum->untyped += more->untyped;
    sum->half_sums += more->half_sums;
}

/* Types are for a list that names none. */
static gt_status check_list(const struct gt_sweep *list, const struct gt_sweep_entry *e,
                            bool is_json, struct gt_err *err) {
    if (is_json)
        return gt_json_fail(e->node, err,
                            "the list is not the log or list of another program");
    if (e->types > 0 && list->lines.untyped != list->lines.fate[GT_LOGGED_PROBLEM])
        return gt_json_fail(e->node, err, "the list names its types: leave \"dtype\" out");
    return GEMMTUNE_OK;
}

static gt_status take_list(struct gt_sweep *s, struct gt_node n, struct gt_err *err) {
    static const char *const keys[] = {"list", "dtype", "weight", NULL};
    struct gt_sweep_entry e = {.node = n};
    struct gt_sweep list = {0};
    const char *name = "";
    char path[PATH_SIZE];
    bool is_json = false;
    gt_status status = gt_json_only(n, keys, err);
    if (status == GEMMTUNE_OK)
        status = gt_json_string(&name, gt_json_member(n, "list"), err);
    if (status == GEMMTUNE_OK)
        status = gt_sweep_read_weight(&e.weight, n, err);
    if (status == GEMMTUNE_OK && gt_json_kind(gt_json_member(n, "dtype")) != GT_JSON_ABSENT)
        status = gt_sweep_entry_read_types(&e, n, err);
    if (status == GEMMTUNE_OK && !list_path(path, sizeof path, n, name))
        status = gt_json_fail(n, err, "the path of the list is too long");
    if (status == GEMMTUNE_OK)
        status = gt_sweep_lines_load(&list, &is_json, path, err);
    if (status == GEMMTUNE_OK)
        status = check_list(&list, &e, is_json, err);
    if (status == GEMMTUNE_OK)
        status = add_list(s, &list, &e, err);
    if (e.types > 0)
        list.lines.untyped = 0;
    add_lines(&s->lines, &list.lines);
    gt_sweep_clear(&list);
    return status;
}

static gt_status take_entry(struct gt_sweep *s, struct gt_node n, struct gt_err *err) {
    struct gt_sweep_entry e = {.node = n};
    gt_status status;
    if (gt_json_kind(gt_json_member(n, "problem")) != GT_JSON_ABSENT)
        return take_recorded(s, n, err);
    if (gt_json_kind(gt_json_member(n, "list")) != GT_JSON_ABSENT)
        return take_list(s, n, err);
    switch (gt_json_kind(n)) {
    case GT_JSON_STRING:
        return take_name(s, n, err);
    case GT_JSON_OBJECT:
        status = gt_sweep_entry_read(&e, n, err);
        if (status == GEMMTUNE_OK)
            status = expand_entry(s, &e, err);
        gt_sweep_entry_clear(&e);
        return status;
    default:
        return gt_json_fail(n, err, "must be a problem name or an object");
    }
}

static gt_status read_document(struct gt_sweep *s, struct gt_node root,
                               struct gt_err *err) {
    static const char *const keys[] = {"format", "about", "sizes", "passed_on", NULL};
    struct gt_node sizes;
    int64_t version;
    gt_status status = gt_json_only(root, keys, err);
    if (status == GEMMTUNE_OK)
        status = gt_json_need_int(&version, root, "format", 1, 1, err);
    if (status == GEMMTUNE_OK)
        status = gt_json_need(&sizes, root, "sizes", err);
    if (status != GEMMTUNE_OK)
        return status;
    if (gt_json_kind(sizes) != GT_JSON_ARRAY || gt_json_count(sizes) == 0)
        return gt_json_fail(sizes, err, "must be a list of one or more problems");
    for (size_t i = 0; status == GEMMTUNE_OK && i < gt_json_count(sizes); i++)
        status = take_entry(s, gt_json_at(sizes, i), err);
    return status == GEMMTUNE_OK ? gt_sweep_merge(s, false, err) : status;
}

gt_status gt_sweep_take(struct gt_sweep *out, struct gt_json *doc, struct gt_err *err) {
    struct gt_sweep s = {0};
    *out = s;
    const gt_status status = read_document(&s, gt_json_root(doc), err);
    if (status == GEMMTUNE_OK)
        *out = s;
    else
        gt_sweep_clear(&s);
    gt_json_destroy(doc);
    return status;
}

gt_status gt_sweep_load(struct gt_sweep *out, const char *path, struct gt_err *err) {
    struct gt_json *doc = NULL;
    bool is_json = true;
    gt_status status = gt_sweep_lines_load(out, &is_json, path, err);
    if (status != GEMMTUNE_OK || !is_json)
        return status;
    status = gt_json_load(&doc, path, err);
    return status == GEMMTUNE_OK ? gt_sweep_take(out, doc, err) : status;
}
