/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fused.c - cases whose problem has an epilogue: its operands on the device, and for each
 * element of the outputs the range that core/epilogue_range.h allows, from the reference of
 * acc and the bound on its error. The host makes the ranges once; kernels are compared with
 * them on the device.
 */
#include "core/epilogue_range.h"
#include "tuner/base/parallel.h"
#include "tuner/lab/check_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Elements between the rows of a matrix operand when C has padding: another number than
 * those of A, B and C, so that a wrong leading dimension shows. */
enum { PAD = 8 };

static const struct gt_rig_ops *ops_of(const struct gt_case *t) {
    return gt_rig_head(t->checker->rig)->ops;
}

static int64_t padded_ld(const gemmtune_problem *p, int which) {
    const int64_t packed = gt_shape_packed_ld(gt_problem_shape_c(p));
    return p->ldc == packed ? packed : p->ldc + PAD * (which + 1);
}

/* The rows of all products, which operands and ranges have one after another. */
static int64_t rows_of(const gemmtune_problem *p) {
    return gt_bytes_product(p->batch, p->m);
}

/* ---- operands ---- */

static struct gt_fused_operand operand_of(const struct gt_case *t, int i) {
    const struct gt_epi_operand *x = &t->fused->epilogue->operand[i];
    const gemmtune_problem *p = &t->spec.problem;
    const gemmtune_dtype type = (gemmtune_dtype)x->type;
    const int64_t single = x->shape == GT_EPI_COLUMNS ? p->n
                           : x->shape == GT_EPI_ROWS  ? rows_of(p)
                                                      : 1;
    struct gt_fused_operand o = {.stored = gt_stack_row(type, single),
                                 .seed = (t->spec.seed * 4 + 1) * 16 + (uint64_t)i};
    if (x->shape == GT_EPI_MATRIX)
        o.stored = (struct gt_stack){.type = type,
                                     .count = 1,
                                     .rows = rows_of(p),
                                     .cols = p->n,
                                     .ld = padded_ld(p, i)};
    o.bytes = gt_guarded_bytes(gt_stack_elements(&o.stored) * (int64_t)gt_type_size(type));
    return o;
}

/* The host's copy of an operand between poison. NULL: no memory. */
static char *operand_data(const struct gt_fused_operand *o, enum gt_data_mode mode) {
    const uint32_t poison = gt_data_poison(o->stored.type);
    char *data = malloc((size_t)o->bytes);
    for (int64_t at = 0; data != NULL && at < o->bytes; at += (int64_t)sizeof poison)
        memcpy(data + at, &poison, sizeof poison);
    if (data != NULL)
        gt_data_fill(data + GT_GUARD, &o->stored, o->seed, mode);
    return data;
}

static gt_status make_operand(struct gt_case *t, struct gt_fused_operand *o,
                              struct gt_err *err) {
    const struct gt_rig_ops *ops = ops_of(t);
    struct gt_rig *rig = t->checker->rig;
    char *data = operand_data(o, t->spec.mode);
    gt_status status =
        data != NULL ? ops->alloc(&o->mem, rig, o->bytes, err)
                     : gt_fail(err, GEMMTUNE_ENOMEM, "no memory for an epilogue's operand");
    if (status == GEMMTUNE_OK)
        status = ops->alloc(&o->copy, rig, o->bytes, err);
    if (status == GEMMTUNE_OK)
        status = ops->write(rig, o->mem, 0, data, o->bytes, err);
    if (status == GEMMTUNE_OK)
        status = ops->write(rig, o->copy, 0, data, o->bytes, err);
    if (status == GEMMTUNE_OK)
        status = ops->view(&o->view, rig, o->mem, GT_GUARD, o->bytes - GT_GUARD, err);
    free(data);
    return status;
}

/* ---- outputs ---- */

/* Elements from the first to the last one of an output. */
static int64_t reach_of(const gemmtune_problem *p, const struct gt_ranged *out) {
    return rows_of(p) > 0 && p->n > 0
               ? (out->count - 1) * out->stride + (out->rows - 1) * out->ld + p->n
               : 0;
}

static int64_t d2_bytes(const gemmtune_problem *p, const struct gt_ranged *out) {
    return gt_guarded_bytes(reach_of(p, out) * (int64_t)gt_type_size(out->type));
}

static gt_status make_ranges_room(struct gt_case *t, struct gt_ranged *out,
                                  struct gt_err *err) {
    const gemmtune_problem *p = &t->spec.problem;
    const int64_t bytes = gt_case_elements(p) * (int64_t)gt_type_size(out->type);
    const gt_status status = ops_of(t)->alloc(&out->low, t->checker->rig, bytes, err);
    return status == GEMMTUNE_OK ? ops_of(t)->alloc(&out->high, t->checker->rig, bytes, err)
                                 : status;
}

static gt_status make_second(struct gt_case *t, struct gt_err *err) {
    struct gt_fused *f = t->fused;
    const struct gt_rig_ops *ops = ops_of(t);
    f->d2_bytes = d2_bytes(&t->spec.problem, &f->out[1]);
    gt_status status = ops->alloc(&f->d2, t->checker->rig, f->d2_bytes, err);
    if (status == GEMMTUNE_OK)
        status = ops->view(&f->d2_view, t->checker->rig, f->d2, GT_GUARD,
                           f->d2_bytes - GT_GUARD, err);
    return status;
}

/* Whether a sum that is rounded to C's type differs from the accumulator's. */
static bool rounds_matter(const struct gt_case *t) {
    const gemmtune_problem *p = &t->spec.problem;
    return t->spec.rounds_sum && gt_type_is_float(p->type_c) &&
           gt_type_unit(p->type_c) > gt_type_unit(p->type_acc);
}

/* The right elements of output `which`. */
static const struct gt_ranged *ranged_of(const struct gt_fused *f, int which,
                                         bool rounds_sum) {
    return which == 0 && rounds_sum && f->rounded.low != NULL ? &f->rounded
                                                              : &f->out[which];
}

gt_status gt_fused_create(struct gt_case *t, struct gt_err *err) {
    const gemmtune_problem *p = &t->spec.problem;
    const struct gt_epilogue *e = gt_epilogue_of(p);
    gt_status status = GEMMTUNE_OK;
    if (e == NULL)
        return GEMMTUNE_OK;
    t->fused = calloc(1, sizeof *t->fused);
    if (t->fused == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for a test case");
    struct gt_fused *f = t->fused;
    f->epilogue = e;
    f->out[0] = (struct gt_ranged){.type = p->type_c,
                                   .count = p->batch,
                                   .stride = p->stride_c,
                                   .rows = p->m,
                                   .ld = p->ldc};
    f->rounded = f->out[0];
    f->out[1] = (struct gt_ranged){.type = (gemmtune_dtype)e->type_d2,
                                   .count = 1,
                                   .rows = rows_of(p),
                                   .ld = padded_ld(p, GT_EPILOGUE_OPERANDS_MAX)};
    for (int i = 0; i < e->operands && status == GEMMTUNE_OK; i++) {
        f->operand[i] = operand_of(t, i);
        status = make_operand(t, &f->operand[i], err);
    }
    for (int i = 0; i < (e->d2 >= 0 ? 2 : 1) && status == GEMMTUNE_OK; i++)
        status = make_ranges_room(t, &f->out[i], err);
    if (status == GEMMTUNE_OK && rounds_matter(t))
        status = make_ranges_room(t, &f->rounded, err);
    return status == GEMMTUNE_OK && e->d2 >= 0 ? make_second(t, err) : status;
}

static void release(struct gt_case *t, void *mem, void *view) {
    if (view != NULL)
        ops_of(t)->view_release(t->checker->rig, view);
    gt_checker_release(t->checker, mem);
}

void gt_fused_destroy(struct gt_case *t) {
    struct gt_fused *f = t->fused;
    if (f == NULL)
        return;
    for (int i = 0; i < f->epilogue->operands; i++) {
        release(t, f->operand[i].mem, f->operand[i].view);
        release(t, f->operand[i].copy, NULL);
    }
    for (int i = 0; i < 2; i++) {
        release(t, f->out[i].low, NULL);
        release(t, f->out[i].high, NULL);
    }
    release(t, f->rounded.low, NULL);
    release(t, f->rounded.high, NULL);
    release(t, f->d2, f->d2_view);
    free(f);
    t->fused = NULL;
}

int64_t gt_fused_bytes(const gemmtune_problem *p) {
    const struct gt_epilogue *e = gt_epilogue_of(p);
    if (e == NULL)
        return 0;
    const int64_t elements = gt_case_elements(p);
    int64_t bytes = gt_bytes_product(elements, 4 * (int64_t)gt_type_size(p->type_c));
    for (int i = 0; i < e->operands; i++)
        if (e->operand[i].shape == GT_EPI_MATRIX)
            bytes = gt_bytes_sum(
                bytes,
                gt_bytes_product(elements, 2 * (int64_t)gt_type_size(
                                                   (gemmtune_dtype)e->operand[i].type)));
    if (e->d2 >= 0)
        bytes = gt_bytes_sum(
            bytes, gt_bytes_product(elements,
                                    3 * (int64_t)gt_type_size((gemmtune_dtype)e->type_d2)));
    return bytes;
}

/* ---- ranges ---- */

/* Ranges that are made: of the two outputs, and of C when the sum is rounded first. */
enum { RANGES = 3, ROUNDED = 2 };

/* Host memory while the ranges are made: acc and the size of its terms in the wide type,
 * then the ends for each range; NULL where the case has none. */
struct making {
    const struct gt_case *t;
    char *acc, *size, *low[RANGES], *high[RANGES];
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

static double operand_value(const struct gt_case *t, int which, int64_t i, int64_t j) {
    const struct gt_fused_operand *o = &t->fused->operand[which];
    const int32_t shape = t->fused->epilogue->operand[which].shape;
    const int64_t row = shape == GT_EPI_MATRIX ? i : 0;
    const int64_t col = shape == GT_EPI_ROWS ? i : shape == GT_EPI_SCALAR ? 0 : j;
    return gt_stack_value(&o->stored, o->seed, 0, row, col, t->spec.mode);
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

/* i counts the rows of all products. */
static void make_element(struct making *m, struct gt_bound bound, int64_t i, int64_t j) {
    const struct gt_case *t = m->t;
    const int64_t rows = t->spec.problem.m;
    const struct gt_epilogue *e = t->fused->epilogue;
    const gemmtune_dtype wide = t->checker->wide;
    const size_t at = (size_t)(i * t->spec.problem.n + j), bytes = gt_type_size(wide);
    double operand[GT_EPILOGUE_OPERANDS_MAX];
    struct gt_range out[2];
    for (int k = 0; k < e->operands; k++)
        operand[k] = operand_value(t, k, i, j);
    const double acc = gt_element_get(m->acc + at * bytes, wide);
    const double error = bound.sum * gt_element_get(m->size + at * bytes, wide) +
                         gt_type_unit(wide) * fabs(acc);
    struct gt_epi_values values = {
        .acc = acc,
        .acc_error = gt_case_is_exact(t) ? 0 : error,
        .c = gt_case_reads_c(t) ? gt_case_old(t, i / rows, i % rows, j) : 0,
        .alpha = t->spec.alpha,
        .beta = t->spec.beta,
        .operand = operand,
    };
    gt_epilogue_range(out, e, &values);
    for (int k = 0; k < (e->d2 >= 0 ? 2 : 1); k++)
        store_range(m, k, at, out[k]);
    if (m->low[ROUNDED] == NULL)
        return;
    values.acc_error += rounding_loss(t, &values);
    gt_epilogue_range(out, e, &values);
    store_range(m, ROUNDED, at, out[0]);
}

static void make_rows(void *user, int thread, int64_t first, int64_t end) {
    struct making *m = user;
    const struct gt_bound bound = gt_bound_of(m->t);
    (void)thread;
    for (int64_t i = first; i < end; i++)
        for (int64_t j = 0; j < m->t->spec.problem.n; j++)
            make_element(m, bound, i, j);
}

static gt_status fetch_reference(struct making *m, struct gt_case *t, int64_t elements,
                                 struct gt_err *err) {
    const int64_t bytes = elements * (int64_t)gt_type_size(t->checker->wide);
    struct gt_rig *rig = t->checker->rig;
    m->acc = malloc((size_t)bytes);
    m->size = malloc((size_t)bytes);
    bool room = m->acc != NULL && m->size != NULL;
    for (int i = 0; i < RANGES; i++) {
        const struct gt_ranged *range = range_at(t->fused, i);
        const size_t all = (size_t)elements * gt_type_size(range->type);
        if (range->low == NULL)
            continue;
        m->low[i] = malloc(all);
        m->high[i] = malloc(all);
        room = room && m->low[i] != NULL && m->high[i] != NULL;
    }
    if (!room)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no host memory for the ranges of a case");
    const gt_status status = ops_of(t)->read(rig, t->r, 0, m->acc, bytes, err);
    return status == GEMMTUNE_OK && gt_type_is_float(t->checker->wide)
               ? ops_of(t)->read(rig, t->s, 0, m->size, bytes, err)
               : status;
}

static gt_status write_ranges(const struct making *m, struct gt_case *t, int64_t elements,
                              struct gt_err *err) {
    struct gt_rig *rig = t->checker->rig;
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; i < RANGES && status == GEMMTUNE_OK; i++) {
        const struct gt_ranged *out = range_at(t->fused, i);
        const int64_t bytes = elements * (int64_t)gt_type_size(out->type);
        if (m->low[i] == NULL)
            continue;
        status = ops_of(t)->write(rig, out->low, 0, m->low[i], bytes, err);
        if (status == GEMMTUNE_OK)
            status = ops_of(t)->write(rig, out->high, 0, m->high[i], bytes, err);
    }
    return status;
}

gt_status gt_fused_settle(struct gt_case *t, struct gt_err *err) {
    const int64_t elements = gt_case_elements(&t->spec.problem);
    struct making m = {.t = t};
    if (t->fused == NULL)
        return GEMMTUNE_OK;
    gt_status status = fetch_reference(&m, t, elements, err);
    if (status == GEMMTUNE_OK) {
        gt_parallel(make_rows, &m, rows_of(&t->spec.problem));
        status = write_ranges(&m, t, elements, err);
    }
    free(m.acc);
    free(m.size);
    for (int i = 0; i < RANGES; i++) {
        free(m.low[i]);
        free(m.high[i]);
    }
    gt_checker_release(t->checker, t->r);
    gt_checker_release(t->checker, t->s);
    t->r = t->s = NULL;
    return status;
}

/* ---- a product ---- */

void gt_fused_call(struct gt_call *call, struct gt_fused_operands *room,
                   const struct gt_case *t) {
    const struct gt_fused *f = t != NULL ? t->fused : NULL;
    if (f == NULL)
        return;
    call->operands = f->epilogue->operands;
    call->operand = room->operand;
    call->operand_ld = room->ld;
    for (int i = 0; i < call->operands; i++) {
        room->operand[i] = f->operand[i].view;
        room->ld[i] = f->operand[i].stored.ld;
    }
    call->d2 = f->d2_view;
    call->d2_ld = f->d2 != NULL ? f->out[1].ld : 0;
}

gt_status gt_fused_spoil(struct gt_case *t, struct gt_err *err) {
    const struct gt_fused *f = t->fused;
    return f != NULL && f->d2 != NULL
               ? ops_of(t)->fill(t->checker->rig, f->d2, f->d2_bytes, GT_POISON_C, err)
               : GEMMTUNE_OK;
}

gt_status gt_fused_compare(struct gt_case *t, bool rounds_sum, int slot,
                           struct gt_err *err) {
    struct gt_checker *c = t->checker;
    const struct gt_fused *f = t->fused;
    const gemmtune_problem *p = &t->spec.problem;
    const int64_t bytes =
        gt_guarded_bytes(gt_problem_elems_c(p) * (int64_t)gt_type_size(p->type_c));
    gt_status status =
        gt_checker_between(c, c->scratch, bytes, p, ranged_of(f, 0, rounds_sum),
                           GT_POISON_C, t->spec.finite ? t->finite_seed : 0, slot, err);
    if (status == GEMMTUNE_OK && f->d2 != NULL)
        status = gt_checker_between(c, f->d2, f->d2_bytes, p, &f->out[1], GT_POISON_C, 0,
                                    slot, err);
    for (int i = 0; i < f->epilogue->operands && status == GEMMTUNE_OK; i++)
        status = gt_checker_same(c, f->operand[i].mem, f->operand[i].copy,
                                 f->operand[i].bytes, slot, err);
    return status;
}

/* ---- a failure in words ---- */

/* The first element of an output outside its range, or false. */
static bool find_wrong(char *text, size_t size, const struct gt_case *t, int which,
                       const char *got, const char *low, const char *high) {
    const gemmtune_problem *p = &t->spec.problem;
    const struct gt_ranged *out = &t->fused->out[which];
    const size_t bytes = gt_type_size(out->type);
    for (int64_t e = 0; e < gt_case_elements(p); e++) {
        const int64_t row = e / p->n, j = e % p->n; /* of the rows of all products */
        const int64_t at = row / out->rows * out->stride + row % out->rows * out->ld + j;
        const double x = gt_element_get(got + (size_t)at * bytes, out->type);
        const double from = gt_element_get(low + (size_t)e * bytes, out->type);
        const double to = gt_element_get(high + (size_t)e * bytes, out->type);
        const bool right =
            isnan(x) ? from > to : x >= fmin(from, to) && x <= fmax(from, to);
        if (right)
            continue;
        char product[40] = "";
        if (gt_problem_is_batch(p))
            snprintf(product, sizeof product, " of product %lld", (long long)(row / p->m));
        snprintf(text, size, "; %s(%lld, %lld)%s is %.9g, not from %.9g to %.9g",
                 which == 0 ? "" : "d2 ", (long long)(row % p->m), (long long)j, product, x,
                 fmin(from, to), fmax(from, to));
        return true;
    }
    return false;
}

static bool look(char *text, size_t size, struct gt_case *t, int which, bool rounds_sum) {
    const struct gt_rig_ops *ops = ops_of(t);
    struct gt_rig *rig = t->checker->rig;
    const gemmtune_problem *p = &t->spec.problem;
    const struct gt_ranged *out = ranged_of(t->fused, which, rounds_sum);
    const int64_t bytes = (int64_t)gt_type_size(out->type);
    const int64_t all = reach_of(p, out) * bytes, packed = gt_case_elements(p) * bytes;
    char *got = malloc((size_t)all), *low = malloc((size_t)packed);
    char *high = malloc((size_t)packed);
    const bool seen = got != NULL && low != NULL && high != NULL &&
                      ops->read(rig, which == 0 ? t->checker->scratch : t->fused->d2,
                                GT_GUARD, got, all, NULL) == GEMMTUNE_OK &&
                      ops->read(rig, out->low, 0, low, packed, NULL) == GEMMTUNE_OK &&
                      ops->read(rig, out->high, 0, high, packed, NULL) == GEMMTUNE_OK;
    const bool found = seen && find_wrong(text, size, t, which, got, low, high);
    free(got);
    free(low);
    free(high);
    return found;
}

void gt_fused_first_wrong(char *text, size_t size, struct gt_case *t, bool rounds_sum) {
    if (!look(text, size, t, 0, rounds_sum) &&
        (t->fused->d2 == NULL || !look(text, size, t, 1, rounds_sum)))
        snprintf(text, size, ", none when run again");
}
