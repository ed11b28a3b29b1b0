/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fused_ranges.c - the right elements of a case with an epilogue: for each element of the
 * outputs the range that core/epilogue_range.h allows, from the reference of acc and the
 * bound on its error. The host makes the ranges once, a slab of rows at a time; kernels are
 * compared with them on the device.
 */
#include "core/epilogue_range.h"
#include "core/mix.h"
#include "tuner/base/parallel.h"
#include "tuner/lab/check_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Ranges that are made: of the two outputs, and of C when the sum is rounded first. */
enum { RANGES = 3, ROUNDED = 2 };

/* Host memory while the ranges of a slab of rows are made: acc and the size of its terms in
 * the wide type, then the ends for each range; NULL where the case has none. */
struct making {
    const struct gt_case *t;
    int64_t first_row; /* of the slab; rows of all matrices of C are counted */
    char *acc, *size, *low[RANGES], *high[RANGES];
    struct judged *seen; /* SEEN_MAX for each thread; NULL: each element is judged */
};

static const struct gt_ranged *range_at(const struct gt_fused *f, int i) {
    return i == ROUNDED ? &f->rounded : &f->out[i];
}

/* Where NaN is right as well, low and high are exchanged. They must differ then, so a
 * single number gets the range from 0 to it. */
static void put_range(char *low, char *high, gemmtune_dtype type, struct gt_range x) {
    if (x.nan && x.low >= x.high) {
        x.low = fmin(x.low, 0);
        x.high = x.high > 0 ? x.high : x.low < 0 ? 0 : gt_type_least(type);
    }
    gt_element_put(low, type, x.nan ? x.high : x.low);
    gt_element_put(high, type, x.nan ? x.low : x.high);
}

/* The value of an operand at row i of all products, column j, product or group z. */
static double operand_value(const struct gt_case *t, int which, int64_t z, int64_t i,
                            int64_t j) {
    const struct gt_fused_operand *o = &t->fused->operand[which];
    const int32_t shape = t->fused->epilogue->operand[which].shape;
    const struct gt_epi_place at = gt_epi_place_of(shape, i, j, z);
    return gt_stack_value(&o->stored, o->seed, 0, at.row, at.column, t->spec.mode);
}

/* The error of a sum that is rounded to C's type. */
static double rounding_loss(const struct gt_case *t, const struct gt_epi_values *v) {
    const gemmtune_dtype type = t->spec.problem.type_c;
    const double x = v->alpha * v->acc + (v->beta != 0 ? v->beta * v->c : 0);
    const double most = fabs(x) + fabs(v->alpha) * v->acc_error;
    return v->alpha == 0
               ? 0
               : gt_type_unit(type) * fmax(most, gt_type_least(type)) / fabs(v->alpha);
}

static void store_range(struct making *m, int range, size_t at, struct gt_range x) {
    const gemmtune_dtype type = range_at(m->t->fused, range)->type;
    const size_t place = at * gt_type_size(type);
    if (m->low[range] != NULL)
        put_range(m->low[range] + place, m->high[range] + place, type, x);
}

/* The numbers of an element, and its ranges. */
struct judged {
    double operand[GT_EPILOGUE_OPERANDS_MAX];
    struct gt_epi_values values; /* its operands are those above; NULL: not judged yet */
    struct gt_range out[RANGES];
};

/* i counts the rows of C's matrices as they lie in memory, z is the row's product or group;
 * the element is number `at` of its slab. Operands have their rows in the order of
 * products. */
static void read_element(struct judged *x, const struct making *m, struct gt_bound bound,
                         size_t at, int64_t z, int64_t i, int64_t j) {
    const struct gt_case *t = m->t;
    const int64_t rows = t->spec.problem.m;
    const int64_t row = gt_problem_outputs(&t->asked) > 1 ? z * rows + i % rows : i;
    const gemmtune_dtype wide = t->checker->wide;
    const size_t bytes = gt_type_size(wide);
    for (int k = 0; k < t->fused->epilogue->operands; k++)
        x->operand[k] = operand_value(t, k, z, row, j);
    const double acc = gt_element_get(m->acc + at * bytes, wide);
    const double error = bound.sum * gt_element_get(m->size + at * bytes, wide) +
                         gt_type_unit(wide) * fabs(acc);
    x->values = (struct gt_epi_values){
        .acc = acc,
        .acc_error = gt_case_is_exact(t) ? 0 : error,
        .c = gt_case_reads_c(t) ? gt_case_old(t, i / rows, i % rows, j) : 0,
        .alpha = t->spec.alpha,
        .beta = t->spec.beta,
        .operand = x->operand,
    };
}

static void judge(struct judged *x, const struct making *m) {
    const struct gt_epilogue *e = m->t->fused->epilogue;
    struct gt_range out[2];
    gt_epilogue_range(x->out, e, &x->values);
    if (m->low[ROUNDED] == NULL)
        return;
    struct gt_epi_values values = x->values;
    values.acc_error += rounding_loss(m->t, &values);
    gt_epilogue_range(out, e, &values);
    x->out[ROUNDED] = out[0];
}

/* Elements that were judged before. An exact case has small integers, so many of its
 * elements have the same numbers. */
enum { SEEN_MAX = 1 << 12 };

static bool is_same(const struct judged *x, const struct judged *y, int operands) {
    return memcmp(&x->values.acc, &y->values.acc, sizeof x->values.acc) == 0 &&
           memcmp(&x->values.c, &y->values.c, sizeof x->values.c) == 0 &&
           memcmp(x->operand, y->operand, (size_t)operands * sizeof *x->operand) == 0;
}

/* The place of an element among those seen. Numbers with the same integer part share one.
 */
static size_t place_of(const struct judged *x, int operands) {
    uint64_t hash = gt_mix((uint64_t)(int64_t)x->values.acc * GT_MIX_STEP +
                           (uint64_t)(int64_t)x->values.c);
    for (int k = 0; k < operands; k++)
        hash = hash * GT_MIX_STEP + (uint64_t)(int64_t)x->operand[k];
    return (size_t)(gt_mix(hash) % SEEN_MAX);
}

/* Judges an element, or takes the ranges of an equal one. `seen` may be NULL. */
static void judge_again(struct judged *x, struct judged *seen, const struct making *m) {
    const int operands = m->t->fused->epilogue->operands;
    struct judged *old = seen != NULL ? &seen[place_of(x, operands)] : NULL;
    if (old != NULL && old->values.operand != NULL && is_same(old, x, operands)) {
        memcpy(x->out, old->out, sizeof x->out);
        return;
    }
    judge(x, m);
    if (old != NULL)
        *old = *x;
}

static void make_rows(void *user, int thread, int64_t first, int64_t end) {
    struct making *m = user;
    const struct gt_bound bound = gt_bound_of(m->t);
    const int64_t n = m->t->spec.problem.n;
    struct judged x;
    memset(&x, 0, sizeof x);
    struct judged *seen = m->seen != NULL ? &m->seen[(size_t)thread * SEEN_MAX] : NULL;
    for (int64_t i = first; i < end; i++) {
        const int64_t row = m->first_row + i, z = gt_case_product(m->t, row);
        for (int64_t j = 0; j < n; j++) {
            const size_t at = (size_t)(i * n + j);
            read_element(&x, m, bound, at, z, row, j);
            judge_again(&x, seen, m);
            for (int k = 0; k < RANGES; k++)
                store_range(m, k, at, x.out[k]);
        }
    }
}

/* ---- slabs ---- */

/* Rows of a slab: some 32 MB of acc, so that the host needs little memory for a large
 * product, and a slab is still a matter of milliseconds. */
static int64_t slab_rows(const struct gt_case *t) {
    const int64_t bytes = t->spec.problem.n * (int64_t)gt_type_size(t->checker->wide);
    const int64_t rows = (INT64_C(32) << 20) / (bytes > 0 ? bytes : 1);
    const int64_t all = gt_fused_rows(&t->spec.problem);
    return rows < 1 ? 1 : rows < all ? rows : all;
}

static gt_status make_room(struct making *m, int64_t rows, struct gt_err *err) {
    const struct gt_case *t = m->t;
    const size_t elements = (size_t)(rows * t->spec.problem.n) + 1;
    m->acc = malloc(elements * gt_type_size(t->checker->wide));
    m->size = malloc(elements * gt_type_size(t->checker->wide));
    bool room = m->acc != NULL && m->size != NULL;
    for (int i = 0; i < RANGES; i++) {
        const struct gt_ranged *range = range_at(t->fused, i);
        if (range->low == NULL)
            continue;
        m->low[i] = malloc(elements * gt_type_size(range->type));
        m->high[i] = malloc(elements * gt_type_size(range->type));
        room = room && m->low[i] != NULL && m->high[i] != NULL;
    }
    if (gt_case_is_exact(t)) /* without it, all elements are judged */
        m->seen = calloc((size_t)gt_parallel_threads() * SEEN_MAX, sizeof *m->seen);
    return room ? GEMMTUNE_OK
                : gt_fail(err, GEMMTUNE_ENOMEM, "no host memory for the ranges of a case");
}

static void release_room(struct making *m) {
    free(m->acc);
    free(m->size);
    free(m->seen);
    for (int i = 0; i < RANGES; i++) {
        free(m->low[i]);
        free(m->high[i]);
    }
}

static gt_status read_slab(struct making *m, int64_t rows, struct gt_err *err) {
    const struct gt_case *t = m->t;
    const gemmtune_dtype wide = t->checker->wide;
    const int64_t row = t->spec.problem.n * (int64_t)gt_type_size(wide);
    struct gt_rig *rig = t->checker->rig;
    const struct gt_rig_ops *ops = gt_rig_head(rig)->ops;
    const gt_status status =
        ops->read(rig, t->r, m->first_row * row, m->acc, rows * row, err);
    return status == GEMMTUNE_OK && gt_type_is_float(wide)
               ? ops->read(rig, t->s, m->first_row * row, m->size, rows * row, err)
               : status;
}

static gt_status write_slab(const struct making *m, int64_t rows, struct gt_err *err) {
    struct gt_rig *rig = m->t->checker->rig;
    const struct gt_rig_ops *ops = gt_rig_head(rig)->ops;
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; i < RANGES && status == GEMMTUNE_OK; i++) {
        const struct gt_ranged *out = range_at(m->t->fused, i);
        const int64_t row = m->t->spec.problem.n * (int64_t)gt_type_size(out->type);
        const int64_t from = m->first_row * row, bytes = rows * row;
        if (m->low[i] == NULL)
            continue;
        status = ops->write(rig, out->low, from, m->low[i], bytes, err);
        if (status == GEMMTUNE_OK)
            status = ops->write(rig, out->high, from, m->high[i], bytes, err);
    }
    return status;
}

/* Makes the ranges slab by slab. */
static gt_status make_all(struct making *m, int64_t slab, struct gt_err *err) {
    const int64_t all = gt_fused_rows(&m->t->spec.problem);
    gt_status status = GEMMTUNE_OK;
    for (; m->first_row < all && status == GEMMTUNE_OK; m->first_row += slab) {
        const int64_t left = all - m->first_row, rows = slab < left ? slab : left;
        status = read_slab(m, rows, err);
        if (status == GEMMTUNE_OK) {
            gt_parallel(make_rows, m, rows);
            status = write_slab(m, rows, err);
        }
    }
    return status;
}

gt_status gt_fused_settle(struct gt_case *t, struct gt_err *err) {
    struct making m = {.t = t};
    if (t->fused == NULL)
        return GEMMTUNE_OK;
    const int64_t slab = slab_rows(t);
    gt_status status = make_room(&m, slab, err);
    if (status == GEMMTUNE_OK)
        status = make_all(&m, slab, err);
    release_room(&m);
    gt_checker_release(t->checker, t->r);
    gt_checker_release(t->checker, t->s);
    t->r = t->s = NULL;
    return status;
}
