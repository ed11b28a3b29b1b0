/* SPDX-License-Identifier: Apache-2.0 */
/*
 * predict_check.c - compares the model with stored trials: whether it orders them as the
 * device did, how good the points are that it would try first, and whether its bound would
 * have skipped a good one.
 */
#include "tuner/study/predict.h"

#include "tuner/base/quantile.h"
#include "tuner/study/model_trials.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const size_t gt_tops[GT_TOPS] = {1, 10, 50};

/* ---- rank correlation ---- */

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

/* Ranks the values in their given order. Equal values share their mean rank. */
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

/* ---- order ---- */

/* A trial with its predicted and its measured time. */
struct pair {
    const struct gt_view_row *row;
    double predicted, measured, bound;
    bool held_out;
};

/* Ties keep the order of the rows; qsort alone would not guarantee that. */
static int by_row(const struct pair *x, const struct pair *y) {
    return (x->row > y->row) - (x->row < y->row);
}

static int by_predicted(const void *a, const void *b) {
    const struct pair *x = a, *y = b;
    const int predicted = (x->predicted > y->predicted) - (x->predicted < y->predicted);
    return predicted != 0 ? predicted : by_row(x, y);
}

/* ---- one group ---- */

static double best_of(const struct pair *p, size_t count) {
    double best = p[0].measured;
    for (size_t i = 1; i < count; i++)
        best = fmin(best, p[i].measured);
    return best;
}

/* Judges a group of trials, which it sorts by prediction. */
static gt_status judge_group(struct gt_check_row *row, struct pair *p, size_t count,
                             const char *family, struct gt_err *err) {
    double *number = calloc(3 * count, sizeof *number);
    if (number == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    qsort(p, count, sizeof *p, by_predicted);
    *row = (struct gt_check_row){.trials = count, .held_out = p[0].held_out};
    memcpy(row->problem, p[0].row->problem, sizeof row->problem);
    (void)snprintf(row->family, sizeof row->family, "%s", family);
    const double best = best_of(p, count);
    for (int i = 0; i < GT_TOPS; i++)
        row->top[i] = best_of(p, count < gt_tops[i] ? count : gt_tops[i]) / best;
    for (size_t i = 0; i < count; i++) {
        number[i] = p[i].predicted;
        number[count + i] = p[i].measured;
        number[2 * count + i] = p[i].predicted / p[i].measured;
    }
    row->error = gt_median(number + 2 * count, count);
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

/* Judges each family of a problem, then all of them together. */
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

/* Collects the trials of [begin, end) that have a prediction. */
static size_t pair_up(struct pair *out, struct gt_checked *c,
                      const struct gt_model_trials *all, size_t begin, size_t end) {
    size_t count = 0;
    for (size_t i = begin; i < end; i++) {
        const struct gt_model_trial *t = &all->trial[i];
        if (t->plain_ns > 0)
            out[count++] = (struct pair){t->row, t->plain_ns * t->learned, t->ns,
                                         t->least_ns, t->held_out};
    }
    c->used += count;
    c->unpredicted += end - begin - count;
    return count;
}

static gt_status judge_all(struct gt_checked *c, const struct gt_model_trials *all,
                           struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    struct pair *pair = calloc(all->count + 1, sizeof *pair);
    c->row = calloc(2 * all->count + 1, sizeof *c->row);
    if (pair == NULL || c->row == NULL)
        status = gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    for (size_t i = 0, end; i < all->count && status == GEMMTUNE_OK; i = end) {
        end = gt_model_trials_end(all, i);
        const size_t count = pair_up(pair, c, all, i, end);
        if (count > 0)
            status = judge_problem(c, pair, count, err);
    }
    free(pair);
    return status;
}

gt_status gt_predict_check(struct gt_checked *out, const struct gt_view *v,
                           const struct gt_families *families, const char *device_key,
                           struct gt_err *err) {
    struct gt_model_trials all;
    memset(out, 0, sizeof *out);
    gt_status status =
        gt_model_trials_take(&all, v, families, device_key, NULL, false, err);
    out->unmeasured = all.unmeasured;
    out->unknown_family = all.unknown_family;
    out->unbound = all.unbound;
    out->unpredicted = all.shapeless;
    out->filled = all.filled;
    if (status == GEMMTUNE_OK)
        status = judge_all(out, &all, err);
    gt_model_trials_clear(&all);
    if (status != GEMMTUNE_OK)
        gt_checked_clear(out);
    return status;
}

void gt_checked_clear(struct gt_checked *c) {
    free(c->row);
    memset(c, 0, sizeof *c);
}
