/* SPDX-License-Identifier: Apache-2.0 */
/*
 * predict_check.c - the model against stored trials: does it order them as the device did, how
 * good are the points it would have tried first, and would its bound have passed over a good one.
 */
#include "tuner/predict.h"

#include "core/hash.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const size_t gt_regret_tops[GT_REGRETS] = {1, 10, 50};

enum { HELD_OUT = 3 }; /* of so many problems one is not fitted to */

/* A trial of which both times are known. */
struct pair {
    const struct gt_view_row *row;
    double predicted, measured, bound;
};

struct pairs {
    size_t count;
    struct pair *pair;
};

/* ---- rank correlation ------------------------------------------------------------------- */

struct ranked {
    double value, rank;
    size_t at;
};

static int by_value(const void *a, const void *b) {
    const struct ranked *x = a, *y = b;
    return (x->value > y->value) - (x->value < y->value);
}

static int by_place(const void *a, const void *b) {
    const struct ranked *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

/* Ranks in the order of the values given; equal ones share their mean. */
static void rank(struct ranked *r, const double *values, size_t count) {
    for (size_t i = 0; i < count; i++)
        r[i] = (struct ranked){.value = values[i], .at = i};
    qsort(r, count, sizeof *r, by_value);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && r[end].value == r[i].value;)
            end++;
        for (size_t j = i; j < end; j++)
            r[j].rank = (double)(i + end - 1) / 2;
    }
    qsort(r, count, sizeof *r, by_place);
}

gt_status gt_spearman(double *out, const double *a, const double *b, size_t count,
                      struct gt_err *err) {
    struct ranked *r = calloc(2 * count + 1, sizeof *r);
    double ab = 0, aa = 0, bb = 0;
    *out = 0;
    if (r == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    rank(r, a, count);
    rank(r + count, b, count);
    const double mean = ((double)count - 1) / 2;
    for (size_t i = 0; i < count; i++) {
        const double x = r[i].rank - mean, y = r[count + i].rank - mean;
        ab += x * y;
        aa += x * x;
        bb += y * y;
    }
    if (aa > 0 && bb > 0)
        *out = ab / sqrt(aa * bb);
    free(r);
    return GEMMTUNE_OK;
}

/* ---- trials and their predictions ----------------------------------------------------------- */

/* A parameter that came after the trial takes its default, which as a rule is what was done
 * before. Whether there was one. */
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

static void take(struct pairs *out, struct gt_checked *c, const struct gt_view_row *row,
                 const struct gt_families *families, const struct gt_device *d) {
    const struct gt_family *f = gt_families_find(families, row->family);
    gemmtune_problem p;
    struct gt_point point;
    struct gt_binding b;
    struct gt_prediction prediction;
    if (row->record || row->outcome != GT_CORRECT || row->median_ns <= 0) {
        c->unmeasured += !row->record;
        return;
    }
    if (f == NULL) {
        c->unknown_family++;
        return;
    }
    if (gt_problem_from_name(&p, row->problem, NULL) != GEMMTUNE_OK ||
        gt_point_parse(&point, row->point, NULL) != GEMMTUNE_OK ||
        !gt_family_serves(f, d, &p, NULL)) {
        c->unbound++;
        return;
    }
    c->filled += fill_in(&point, f);
    gt_bind_problem(&b, f, d, &p);
    if (gt_bind_point(&b, &point, NULL) != GEMMTUNE_OK) {
        c->unbound++;
        return;
    }
    if (!gt_model_predict(&prediction, &b, d, NULL)) {
        c->unpredicted++;
        return;
    }
    out->pair[out->count++] =
        (struct pair){row, prediction.ns, row->median_ns, prediction.least_ns};
}

/* Ties are in the order of the rows, whatever the C library's qsort makes of them. */
static int by_row(const struct pair *x, const struct pair *y) {
    return (x->row > y->row) - (x->row < y->row);
}

static int by_problem(const void *a, const void *b) {
    const struct pair *x = a, *y = b;
    const int problem = strcmp(x->row->problem, y->row->problem);
    const int family = strcmp(x->row->family, y->row->family);
    return problem != 0 ? problem : family != 0 ? family : by_row(x, y);
}

static int by_predicted(const void *a, const void *b) {
    const struct pair *x = a, *y = b;
    const int predicted = (x->predicted > y->predicted) - (x->predicted < y->predicted);
    return predicted != 0 ? predicted : by_row(x, y);
}

static int by_number(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* ---- one group --------------------------------------------------------------------------------- */

/* By a hash of the shape, so that the types and runs of one shape are on the same side. */
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

static double best_of(const struct pair *p, size_t count) {
    double best = p[0].measured;
    for (size_t i = 1; i < count; i++)
        best = fmin(best, p[i].measured);
    return best;
}

/* Sorts the group by prediction. */
static gt_status judge_group(struct gt_check_row *row, struct pair *p, size_t count,
                             const char *family, struct gt_err *err) {
    double *number = calloc(3 * count, sizeof *number);
    if (number == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    qsort(p, count, sizeof *p, by_predicted);
    *row =
        (struct gt_check_row){.trials = count, .held_out = is_held_out(p[0].row->problem)};
    memcpy(row->problem, p[0].row->problem, sizeof row->problem);
    (void)snprintf(row->family, sizeof row->family, "%s", family);
    const double best = best_of(p, count);
    for (int i = 0; i < GT_REGRETS; i++)
        row->regret[i] =
            best_of(p, count < gt_regret_tops[i] ? count : gt_regret_tops[i]) / best;
    for (size_t i = 0; i < count; i++) {
        number[i] = p[i].predicted;
        number[count + i] = p[i].measured;
        number[2 * count + i] = p[i].predicted / p[i].measured;
    }
    qsort(number + 2 * count, count, sizeof *number, by_number);
    row->error = number[2 * count + count / 2];
    const gt_status status =
        gt_spearman(&row->spearman, number, number + count, count, err);
    free(number);
    return status;
}

static void judge_bound(struct gt_checked *c, const struct pair *p, size_t count) {
    const double best = best_of(p, count);
    for (size_t i = 0; i < count; i++) {
        const double ratio = p[i].measured / best;
        c->below_bound += p[i].measured < p[i].bound;
        if (p[i].bound <= best)
            continue;
        if (c->pruned++ == 0 || ratio < c->nearest_pruned)
            c->nearest_pruned = ratio;
    }
}

/* The families of a problem one by one, then all together. */
static gt_status judge_problem(struct gt_checked *c, struct pair *p, size_t count,
                               struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    judge_bound(c, p, count);
    for (size_t i = 0, end; i < count && status == GEMMTUNE_OK; i = end) {
        for (end = i + 1; end < count && strcmp(p[end].row->family, p[i].row->family) == 0;)
            end++;
        if (end - i >= GT_CHECK_LEAST)
            status =
                judge_group(&c->row[c->count++], p + i, end - i, p[i].row->family, err);
    }
    if (status == GEMMTUNE_OK && count >= GT_CHECK_LEAST)
        status = judge_group(&c->row[c->count++], p, count, "", err);
    return status;
}

static gt_status judge_all(struct gt_checked *c, struct pairs *all, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    qsort(all->pair, all->count, sizeof *all->pair, by_problem);
    for (size_t i = 0, end; i < all->count && status == GEMMTUNE_OK; i = end) {
        const char *problem = all->pair[i].row->problem;
        for (end = i + 1;
             end < all->count && strcmp(all->pair[end].row->problem, problem) == 0;)
            end++;
        status = judge_problem(c, all->pair + i, end - i, err);
    }
    return status;
}

gt_status gt_predict_check(struct gt_checked *out, const struct gt_view *v,
                           const struct gt_families *families, const char *device_key,
                           struct gt_err *err) {
    struct pairs all = {0};
    gt_status status = GEMMTUNE_OK;
    memset(out, 0, sizeof *out);
    all.pair = calloc(v->row_count + 1, sizeof *all.pair);
    out->row = calloc(v->row_count + 1, sizeof *out->row);
    if (all.pair == NULL || out->row == NULL)
        status = gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    for (size_t i = 0; status == GEMMTUNE_OK && i < v->device_count; i++)
        for (size_t j = 0; j < v->row_count; j++)
            if (strcmp(v->device[i].key, device_key) == 0 &&
                strcmp(v->row[j].device, device_key) == 0)
                take(&all, out, &v->row[j], families, &v->device[i].device);
    out->used = all.count;
    if (status == GEMMTUNE_OK)
        status = judge_all(out, &all, err);
    free(all.pair);
    if (status != GEMMTUNE_OK)
        gt_checked_clear(out);
    return status;
}

void gt_checked_clear(struct gt_checked *c) {
    free(c->row);
    memset(c, 0, sizeof *c);
}
