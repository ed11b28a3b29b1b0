/* SPDX-License-Identifier: Apache-2.0 */
/* model_trials.c - binds the rows of a view to their families and takes their facts. */
#include "tuner/study/model_trials.h"

#include "core/hash.h"

#include <stdlib.h>
#include <string.h>

enum { HELD_OUT = 3 }; /* one of this many problems is not used for fitting */

/* Decides by a hash of the shape, so that all types and runs of a shape are on the same
 * side. */
static bool is_held_out(const char *problem) {
    const char *shape = strchr(problem, '-');
    struct gt_hash h;
    char hex[65];
    gt_hash_init(&h);
    gt_hash_add_text(&h, shape != NULL ? shape + 1 : problem);
    gt_hash_hex(&h, hex);
    hex[8] = '\0';
    return strtoul(hex, NULL, 16) % HELD_OUT == 0;
}

/* Gives parameters that are newer than the trial their default, which usually means the
 * older behaviour. True when there were some. */
static bool fill_in(struct gt_point *point, const struct gt_family *f) {
    bool filled = false;
    for (int i = 0; i < f->param_count; i++) {
        int64_t value;
        if (!gt_point_get(point, f->param[i].name, &value))
            filled |= gt_point_set(point, f->param[i].name, f->param[i].preset, NULL) ==
                      GEMMTUNE_OK;
    }
    return filled;
}

/* Binds the row's point. False when it is not a point of the family. */
static bool bind_row(struct gt_binding *b, bool *filled, const struct gt_view_row *row,
                     const struct gt_family *f, const struct gt_device *d) {
    gemmtune_problem p;
    struct gt_point point;
    if (gt_problem_from_name(&p, row->problem, NULL) != GEMMTUNE_OK ||
        gt_point_parse(&point, row->point, NULL) != GEMMTUNE_OK ||
        !gt_family_serves(f, d, &p, NULL))
        return false;
    *filled = fill_in(&point, f);
    gt_bind_problem(b, f, d, &p);
    return gt_bind_point(b, &point, NULL) == GEMMTUNE_OK;
}

/* Predicts the trial's time, and what was learned about it; writes down what trees ask. */
static void predict(struct gt_model_trial *t, const struct gt_binding *b,
                    const struct gt_model_trials *all) {
    const struct gt_learned *const trees = gt_learned_of(&all->shelf->trees, b);
    struct gt_prediction p;
    t->learned = 1;
    if (!gt_model_predict_facts(&p, &t->facts, &all->model_device, &all->shelf->costs,
                                NULL))
        return;
    t->plain_ns = p.ns;
    t->least_ns = p.least_ns;
    t->can_teach = gt_learned_may(b);
    if (t->can_teach || trees != NULL)
        gt_learned_inputs(t->x, b, &t->facts, &p);
    if (trees != NULL)
        t->learned = gt_learned_factor(gt_learned_sum(trees->node, trees->trees, t->x),
                                       p.ns, p.least_ns);
}

static void take(struct gt_model_trials *out, const struct gt_view_row *row,
                 const struct gt_families *families) {
    const struct gt_family *f = gt_families_find(families, row->family);
    struct gt_model_trial *t = &out->trial[out->count];
    struct gt_binding b;
    bool filled;
    if ((!row->record && row->outcome != GT_CORRECT) || row->median_ns <= 0)
        out->unmeasured++;
    else if (f == NULL)
        out->unknown_family++;
    else if (!bind_row(&b, &filled, row, f, out->device))
        out->unbound++;
    else if (!gt_facts_of(&t->facts, &b, out->device))
        out->shapeless++;
    else {
        t->row = row;
        t->family = f;
        t->ns = row->median_ns;
        t->held_out = is_held_out(row->problem);
        predict(t, &b, out);
        out->filled += filled;
        out->count++;
    }
}

/* Ties keep the order of the rows; qsort alone would not guarantee that. */
static int by_problem(const void *a, const void *b) {
    const struct gt_model_trial *x = a, *y = b;
    const int problem = strcmp(x->row->problem, y->row->problem);
    const int family = strcmp(x->row->family, y->row->family);
    return problem != 0  ? problem
           : family != 0 ? family
                         : (x->row > y->row) - (x->row < y->row);
}

static int problem_of(const void *name, const void *trial) {
    return strcmp(name, ((const struct gt_model_trial *)trial)->row->problem);
}

/* Takes the records of problems without trials. */
static void take_records(struct gt_model_trials *out, const struct gt_view *v,
                         const struct gt_families *families, const char *device_key) {
    const size_t trials = out->count;
    for (size_t i = 0; i < v->row_count; i++) {
        const struct gt_view_row *row = &v->row[i];
        if (row->record && strcmp(row->device, device_key) == 0 &&
            bsearch(row->problem, out->trial, trials, sizeof *out->trial, problem_of) ==
                NULL)
            take(out, row, families);
    }
    qsort(out->trial, out->count, sizeof *out->trial, by_problem);
}

gt_status gt_model_trials_take(struct gt_model_trials *out, const struct gt_view *v,
                               const struct gt_families *families, const char *device_key,
                               const struct gt_shelf *shelf, bool records,
                               struct gt_err *err) {
    memset(out, 0, sizeof *out);
    out->trial = calloc(v->row_count + 1, sizeof *out->trial);
    if (out->trial == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    out->device = gt_view_device(v, device_key);
    if (out->device == NULL)
        return GEMMTUNE_OK;
    out->model_device = gt_model_device(out->device);
    out->shelf = shelf != NULL ? shelf : gt_shelf_of(out->device);
    for (size_t i = 0; i < v->row_count; i++)
        if (!v->row[i].record && strcmp(v->row[i].device, device_key) == 0)
            take(out, &v->row[i], families);
    qsort(out->trial, out->count, sizeof *out->trial, by_problem);
    if (records)
        take_records(out, v, families, device_key);
    return GEMMTUNE_OK;
}

void gt_model_trials_clear(struct gt_model_trials *t) {
    free(t->trial);
    memset(t, 0, sizeof *t);
}

size_t gt_model_trials_end(const struct gt_model_trials *t, size_t i) {
    size_t end = i + 1;
    while (end < t->count &&
           strcmp(t->trial[end].row->problem, t->trial[i].row->problem) == 0)
        end++;
    return end;
}
