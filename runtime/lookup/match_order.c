/* SPDX-License-Identifier: Apache-2.0 */
/*
 * match_order.c - the order of sums that all kernels for rows of one kind must have. Rows
 * are of one kind when types, layout, n, k and epilogue agree; m, the batch, strides and
 * alignment must not matter.
 */
#include "core/epilogue/epilogue_keep.h"
#include "runtime/lookup/lock.h"
#include "runtime/lookup/match_inside.h"

#include <stdio.h>
#include <string.h>

/* Whether two problems have the same types, layout, n, k and epilogue. */
static bool is_same_kind(const gemmtune_problem *x, const gemmtune_problem *y) {
    gemmtune_problem like = *x;
    if (x->n != y->n || x->k != y->k)
        return false;
    like.batch = y->batch;
    like.batch_kind = y->batch_kind;
    like.row_order = y->row_order;
    return gt_problem_same_kind(&like, y);
}

gemmtune_problem gt_match_row(const gemmtune_problem *p) {
    gemmtune_problem q = *p;
    q.m = 1;
    q.batch = 1;
    q.batch_kind = GEMMTUNE_BATCH_STRIDED;
    q.expected_rows = 0;
    q.pointer_align = 0;
    q.packed_b = 0;
    q.n = q.n > 0 ? q.n : 1;
    q.lda = gt_shape_least_ld(gt_problem_shape_a(&q));
    q.ldb = gt_shape_least_ld(gt_problem_shape_b(&q));
    q.ldc = gt_shape_least_ld(gt_problem_shape_c(&q));
    return q;
}

/* The order of a point for such a row, whether or not the point may run it. */
static bool order_of(char out[GT_ORDER_MAX], const struct gt_family *f,
                     const struct gt_device *d, const gemmtune_problem *row,
                     const int64_t *values) {
    struct gt_binding b;
    gt_bind_problem(&b, f, d, row);
    return gt_bind_checked(&b, values, NULL) == GEMMTUNE_OK && gt_order_of(out, &b, NULL);
}

/* ---- records --------------------------------------------------------------------- */

enum { ORDERS_MAX = 16 }; /* orders of records of one kind; more come from merges alone */

struct counted {
    char text[GT_ORDER_MAX];
    const struct gt_known *first;
    int problems;
};

static void count_order(struct counted *all, int *count, const char *text,
                        const struct gt_known *known) {
    int i = 0;
    while (i < *count && strcmp(all[i].text, text) != 0)
        i++;
    if (i == ORDERS_MAX)
        return;
    if (i == *count) {
        all[(*count)++] = (struct counted){.first = known};
        memcpy(all[i].text, text, strlen(text) + 1);
    }
    all[i].problems++;
    if (strcmp(known->problem_name, all[i].first->problem_name) < 0)
        all[i].first = known;
}

static bool is_before(const struct counted *x, const struct counted *y) {
    return x->problems != y->problems ? x->problems > y->problems
                                      : strcmp(x->text, y->text) < 0;
}

/* Winners count, once each: finalists of a problem have its order as well. */
static bool choose_by_records(struct gt_row_order *out, const struct gt_snapshot *s,
                              const struct gt_device *d, const gemmtune_problem *row) {
    struct counted all[ORDERS_MAX];
    char text[GT_ORDER_MAX];
    int count = 0, best = 0;
    for (size_t i = 0; i < s->count; i++) {
        const struct gt_known *k = &s->known[i];
        if (k->problem.row_order && k->rank == 0 && strcmp(k->arch, d->arch) == 0 &&
            is_same_kind(&k->problem, row) && order_of(text, k->family, d, row, k->values))
            count_order(all, &count, text, k);
    }
    for (int i = 0; i < count; i++) {
        best = is_before(&all[i], &all[best]) ? i : best;
        out->others += all[i].problems;
    }
    if (count == 0)
        return false;
    memcpy(out->text, all[best].text, sizeof out->text);
    out->known = all[best].first;
    out->records = all[best].problems;
    out->others -= out->records;
    return true;
}

/* ---- the default ----------------------------------------------------------------- */

/* Whether the family's default point may exist on the device. */
static bool has_default(char out[GT_ORDER_MAX], const struct gt_family *f,
                        const struct gt_device *d, const gemmtune_problem *row) {
    int64_t values[GT_POINT_MAX] = {0};
    struct gt_fit fit;
    for (int i = 0; i < f->param_count; i++)
        values[i] = f->param[i].preset;
    return f->sums.is_default && gt_family_serves(f, d, row, NULL) &&
           gt_fit_values(&fit, f, d, row, 1, values, NULL) == GEMMTUNE_OK &&
           order_of(out, f, d, row, values);
}

static void choose_by_default(struct gt_row_order *out, const struct gt_families *families,
                              const struct gt_device *d, const gemmtune_problem *row) {
    for (size_t i = 0; i < gt_families_count(families); i++) {
        const struct gt_family *f = gt_families_at(families, i);
        if (has_default(out->text, f, d, row)) {
            out->family = f;
            return;
        }
    }
    out->text[0] = '\0';
}

void gt_match_order(struct gt_row_order *out, const struct gt_snapshot *snapshot,
                    const struct gt_device *device, const gemmtune_problem *problem) {
    const gemmtune_problem row = gt_match_row(problem);
    memset(out, 0, sizeof *out);
    if (problem->row_order && !choose_by_records(out, snapshot, device, &row))
        choose_by_default(out, snapshot->families, device, &row);
}

/* Names are parsed here alone: a problem that is pinned itself does not come so far. */
bool gt_match_pinned_order(struct gt_row_order *out, const struct gt_lock *lock,
                           const gemmtune_problem *problem) {
    const gemmtune_problem row = gt_match_row(problem);
    gemmtune_problem p;
    for (size_t i = 0; lock != NULL && problem->row_order && i < lock->count; i++) {
        const struct gt_pin *pin = &lock->pin[i];
        if (pin->signature[0] == '\0' ||
            gt_problem_from_name(&p, pin->problem, NULL) != GEMMTUNE_OK ||
            !is_same_kind(&p, &row))
            continue;
        memset(out, 0, sizeof *out);
        (void)snprintf(out->text, sizeof out->text, "%s", pin->signature);
        return true;
    }
    return false;
}
