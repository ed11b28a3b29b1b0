/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fused.c - cases with an epilogue: its operands and outputs on the device, a
 * product with them, and the first wrong element. fused_ranges.c says which elements are
 * right.
 */
#include "tuner/base/parallel.h"
#include "tuner/lab/check_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Elements between the rows of a matrix operand when C has padding: another number than for
 * A, B and C, so that a wrong leading dimension shows. */
enum { PAD = 8 };

static const struct gt_rig_ops *ops_of(const struct gt_case *t) {
    return gt_rig_head(t->checker->rig)->ops;
}

static int64_t padded_ld(const gemmtune_problem *p, int which) {
    const int64_t packed = gt_shape_least_ld(gt_problem_shape_c(p));
    return p->ldc == packed ? packed : p->ldc + PAD * (which + 1);
}

/* ---- operands ---- */

static struct gt_epi_extent extent_of(const gemmtune_problem *p, int32_t shape) {
    return gt_epi_extent_of(shape, gt_fused_rows(p), p->n, p->batch);
}

static struct gt_fused_operand operand_of(const struct gt_case *t, int i) {
    const struct gt_epi_operand *x = &t->fused->epilogue->operand[i];
    const gemmtune_problem *p = &t->spec.problem;
    const gemmtune_dtype type = (gemmtune_dtype)x->type;
    const struct gt_epi_extent extent = extent_of(p, x->shape);
    struct gt_fused_operand o = {
        .stored = {.type = type,
                   .count = 1,
                   .rows = extent.rows,
                   .cols = extent.columns,
                   .ld = gt_epi_has_ld(x->shape) ? padded_ld(p, i) : extent.columns},
        .seed = (t->spec.seed * 4 + 1) * 16 + (uint64_t)i};
    o.bytes = gt_guarded_bytes(gt_stack_elements(&o.stored) * (int64_t)gt_type_size(type));
    return o;
}

/* The host's copy of an operand under way. */
struct filling {
    const struct gt_fused_operand *operand;
    enum gt_data_mode mode;
    char *data;
};

static void fill_rows(void *user, int thread, int64_t first, int64_t end) {
    const struct filling *f = user;
    const struct gt_fused_operand *o = f->operand;
    (void)thread;
    for (int64_t row = first; row < end; row++)
        gt_data_fill_row(f->data + GT_GUARD, &o->stored, o->seed, f->mode, row);
}

/* The host's copy of an operand between poison. NULL: no memory. */
static char *operand_data(const struct gt_case *t, const struct gt_fused_operand *o) {
    const uint32_t poison = gt_case_word(t, o->stored.type, o->seed);
    struct filling f = {o, t->spec.mode, malloc((size_t)o->bytes)};
    for (int64_t at = 0; f.data != NULL && at < o->bytes; at += (int64_t)sizeof poison)
        memcpy(f.data + at, &poison, sizeof poison);
    if (f.data != NULL)
        gt_parallel(fill_rows, &f, o->stored.count * o->stored.rows);
    return f.data;
}

static gt_status make_operand(struct gt_case *t, struct gt_fused_operand *o,
                              struct gt_err *err) {
    const struct gt_rig_ops *ops = ops_of(t);
    struct gt_rig *rig = t->checker->rig;
    o->data = operand_data(t, o);
    gt_status status = o->data != NULL ? ops->alloc(&o->mem, rig, o->bytes, err)
                                       : gt_fail(err, GEMMTUNE_ENOMEM,
                                                 "no memory for an epilogue's operand");
    if (status == GEMMTUNE_OK)
        status = ops->alloc(&o->copy, rig, o->bytes, err);
    if (status == GEMMTUNE_OK)
        status = ops->write(rig, o->mem, 0, o->data, o->bytes, err);
    if (status == GEMMTUNE_OK)
        status = ops->write(rig, o->copy, 0, o->data, o->bytes, err);
    if (status == GEMMTUNE_OK)
        status = ops->view(&o->view, rig, o->mem, GT_GUARD, o->bytes - GT_GUARD, err);
    return status;
}

/* ---- outputs ---- */

/* Elements from the first to the last one of an output. */
static int64_t reach_of(const gemmtune_problem *p, const struct gt_ranged *out) {
    return gt_fused_rows(p) > 0 && p->n > 0
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
                                   .count = gt_problem_outputs(p),
                                   .stride = p->stride_c,
                                   .rows = p->m,
                                   .ld = p->ldc,
                                   .ranges = gt_orders_plain.place,
                                   .keeps_old = gt_case_reads_c(t)};
    f->rounded = f->out[0];
    const int64_t ld2 = padded_ld(p, GT_EPILOGUE_OPERANDS_MAX);
    f->out[1] = (struct gt_ranged){.type = (gemmtune_dtype)e->type_d2,
                                   .count = gt_problem_outputs(p),
                                   .stride = p->m * ld2,
                                   .rows = p->m,
                                   .ld = ld2,
                                   .ranges = t->orders.place};
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
        free(f->operand[i].data);
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
    for (int i = 0; i < e->operands; i++) {
        const struct gt_epi_operand *x = &e->operand[i];
        const struct gt_epi_extent extent = extent_of(p, x->shape);
        const int64_t each = 2 * (int64_t)gt_type_size((gemmtune_dtype)x->type);
        const int64_t own = gt_bytes_product(extent.rows, extent.columns);
        if (gt_epi_has_ld(x->shape)) /* single rows are left out: they are small */
            bytes = gt_bytes_sum(bytes, gt_bytes_product(own, each));
    }
    if (e->d2 >= 0)
        bytes = gt_bytes_sum(
            bytes, gt_bytes_product(elements,
                                    3 * (int64_t)gt_type_size((gemmtune_dtype)e->type_d2)));
    return bytes;
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
    if (f == NULL || f->d2 == NULL)
        return GEMMTUNE_OK;
    t->poison_d2 = gt_case_word(t, f->out[1].type, t->finite_seed + 3);
    return ops_of(t)->fill(t->checker->rig, f->d2, f->d2_bytes, t->poison_d2, err);
}

gt_status gt_fused_compare(struct gt_case *t, bool rounds_sum, int slot,
                           struct gt_err *err) {
    struct gt_checker *c = t->checker;
    const struct gt_fused *f = t->fused;
    const gemmtune_problem *p = &t->spec.problem;
    const int64_t bytes =
        gt_guarded_bytes(gt_problem_elems_c(p) * (int64_t)gt_type_size(p->type_c));
    gt_status status =
        gt_checker_between(t, c->scratch, bytes, ranged_of(f, 0, rounds_sum), t->poison_c,
                           t->spec.finite ? t->finite_seed : 0, slot, err);
    if (status == GEMMTUNE_OK && f->d2 != NULL)
        status = gt_checker_between(t, f->d2, f->d2_bytes, &f->out[1], t->poison_d2, 0,
                                    slot, err);
    for (int i = 0; i < f->epilogue->operands && status == GEMMTUNE_OK; i++)
        status = gt_checker_same(c, f->operand[i].mem, f->operand[i].copy,
                                 f->operand[i].bytes, slot, err);
    return status;
}

gt_status gt_fused_second(double *out, const struct gt_case *t, int64_t z, int64_t i,
                          int64_t j, struct gt_err *err) {
    const struct gt_ranged *d2 = &t->fused->out[1];
    const int64_t size = (int64_t)gt_type_size(d2->type);
    const int64_t at = z * d2->stride + i * d2->ld + j;
    char bytes[8];
    const gt_status status = ops_of(t)->read(t->checker->rig, t->fused->d2,
                                             GT_GUARD + at * size, bytes, size, err);
    if (status == GEMMTUNE_OK)
        *out = gt_element_get(bytes, d2->type);
    return status;
}

/* ---- a failure in words ---- */

/* Describes the first element of an output that is outside its range. False:
 * there is none. */
static bool find_wrong(char *text, size_t size, const struct gt_case *t, int which,
                       const char *got, const char *low, const char *high) {
    const gemmtune_problem *p = &t->spec.problem;
    const struct gt_ranged *out = &t->fused->out[which];
    const size_t bytes = gt_type_size(out->type);
    for (int64_t all = 0; all < gt_case_elements(p); all++) {
        const int64_t row = all / p->n, j = all % p->n; /* of the rows of all products */
        const int64_t z = row / out->rows, i = row % out->rows,
                      at = z * out->stride + i * out->ld + j;
        const int64_t e =
            (gt_order_at(out->ranges, z, out->count) * out->rows + i) * p->n + j;
        if (t->rows.used != NULL && i >= t->rows.used[z])
            continue;
        const double x = gt_element_get(got + (size_t)at * bytes, out->type);
        const double from = gt_element_get(low + (size_t)e * bytes, out->type);
        const double to = gt_element_get(high + (size_t)e * bytes, out->type);
        const bool right = isnan(x) ? from > to || isnan(from)
                                    : x >= fmin(from, to) && x <= fmax(from, to);
        if (right)
            continue;
        char product[40] = "";
        if (gt_problem_is_batch(p))
            snprintf(product, sizeof product, " of product %lld",
                     (long long)gt_case_product(t, e / p->n));
        snprintf(text, size, "; %s(%lld, %lld)%s is %.9g, not from %.9g to %.9g",
                 which == 0 ? "" : "d2 ", (long long)i, (long long)j, product, x,
                 fmin(from, to), fmax(from, to));
        return true;
    }
    return false;
}

/* Reads an output and its ranges, and describes the first wrong element. */
static bool describe_wrong(char *text, size_t size, struct gt_case *t, int which,
                           bool rounds_sum) {
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
    if (!describe_wrong(text, size, t, 0, rounds_sum) &&
        (t->fused->d2 == NULL || !describe_wrong(text, size, t, 1, rounds_sum)))
        snprintf(text, size, ", none when run again");
}
