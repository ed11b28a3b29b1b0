/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fused_ranges.c - the right elements of a case with an epilogue: for each element of the
 * outputs the range that core/epilogue/epilogue_range.h allows, from the reference of acc
 * and the bound on its error. The host makes the ranges once, a slab of rows at a time;
 * kernels are compared with them on the device.
 */
#include "core/epilogue/epilogue_range.h"
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
};

static const struct gt_ranged *range_at(const struct gt_fused *f, int i) {
    return i == ROUNDED ? &f->rounded : &f->out[i];
}

/* ---- the numbers of a block of elements ---- */

/* Elements of one row: number `at` and following ones of a block, (row, column) and
 * following ones of C's matrices. Their rows count as they lie in memory. */
struct stretch {
    int at, count;
    int64_t row, column;
    int64_t product; /* or group, that has the row */
};

/* The values of an operand: one after another along a row, or one for the whole stretch.
 * Operands have their rows in the order of products. */
static void read_operand(double *value, const struct gt_case *t, int which,
                         const struct stretch *s) {
    const struct gt_fused_operand *o = &t->fused->operand[which];
    const int32_t shape = t->fused->epilogue->operand[which].shape;
    const int64_t rows = t->spec.problem.m, z = s->product;
    const int64_t row =
        gt_problem_outputs(&t->asked) > 1 ? z * rows + s->row % rows : s->row;
    const struct gt_epi_place at = gt_epi_place_of(shape, row, s->column, z);
    const bool along = at.column != gt_epi_place_of(shape, row, s->column + 1, z).column;
    const int64_t element = at.row * o->stored.ld + at.column;
    const char *from = o->data + GT_GUARD + (size_t)element * gt_type_size(o->stored.type);
    gt_elements_get(value, from, o->stored.type, along ? s->count : 1);
    if (!along)
        for (int i = 1; i < s->count; i++)
            value[i] = value[0];
}

static void read_stretch(struct gt_epi_block *block, const struct gt_case *t,
                         const struct stretch *s) {
    const int64_t rows = t->spec.problem.m;
    for (int k = 0; k < t->fused->epilogue->operands; k++)
        read_operand(&block->operand[k][s->at], t, k, s);
    if (!gt_case_reads_c(t))
        return;
    for (int i = 0; i < s->count; i++)
        block->c[s->at + i] = gt_case_old(t, s->row / rows, s->row % rows, s->column + i);
}

/* The sums of a block and their errors. `first` counts the elements of the slab. */
static void read_sums(struct gt_epi_block *block, const struct making *m, int64_t first,
                      int count) {
    const gemmtune_dtype wide = m->t->checker->wide;
    const size_t from = (size_t)first * gt_type_size(wide);
    const double bound = gt_bound_of(m->t).sum, unit = gt_type_unit(wide);
    const bool exact = gt_case_is_exact(m->t);
    double size[GT_EPI_BLOCK];
    gt_elements_get(block->acc, m->acc + from, wide, count);
    gt_elements_get(size, m->size + from, wide, count);
    for (int i = 0; i < count; i++)
        block->acc_error[i] = exact ? 0 : bound * size[i] + unit * fabs(block->acc[i]);
}

static void read_block(struct gt_epi_block *block, const struct making *m, int64_t first,
                       int count) {
    const int64_t n = m->t->spec.problem.n;
    struct stretch s = {.at = 0};
    read_sums(block, m, first, count);
    for (; s.at < count; s.at += s.count) {
        const int64_t left = n - (first + s.at) % n;
        s.row = m->first_row + (first + s.at) / n;
        s.column = (first + s.at) % n;
        s.count = left < count - s.at ? (int)left : count - s.at;
        s.product = gt_case_product(m->t, s.row);
        read_stretch(block, m->t, &s);
    }
}

/* Adds the error of sums that are rounded to C's type. */
static void add_rounding(struct gt_epi_block *block, const struct gt_case *t, int count) {
    const gemmtune_dtype type = t->spec.problem.type_c;
    const double unit = gt_type_unit(type), least = gt_type_least(type);
    const double alpha = fabs(block->alpha);
    if (alpha <= 0)
        return;
    for (int i = 0; i < count; i++) {
        const double c = block->beta != 0 ? block->beta * block->c[i] : 0;
        const double most =
            fabs(block->alpha * block->acc[i] + c) + alpha * block->acc_error[i];
        block->acc_error[i] += unit * fmax(most, least) / alpha;
    }
}

/* ---- the ranges of a block ---- */

/* Where NaN is right as well, low and high are exchanged. They must differ then, so a
 * single number gets the range from 0 to it. Where only NaN is right, both are NaN. */
static void exchange(struct gt_epi_ranges *x, gemmtune_dtype type, int count) {
    for (int i = 0; i < count; i++) {
        double low = x->low[i], high = x->high[i];
        if (x->nan[i] <= 0)
            continue;
        if (low > high) {
            low = high = NAN;
        } else if (low >= high) {
            low = fmin(low, 0);
            high = high > 0 ? high : low < 0 ? 0 : gt_type_least(type);
        }
        x->low[i] = high;
        x->high[i] = low;
    }
}

static void write_ranges(struct making *m, int which, struct gt_epi_ranges *x,
                         int64_t first, int count) {
    const gemmtune_dtype type = range_at(m->t->fused, which)->type;
    const size_t to = (size_t)first * gt_type_size(type);
    if (m->low[which] == NULL)
        return;
    exchange(x, type, count);
    gt_elements_put(m->low[which] + to, type, x->low, count);
    gt_elements_put(m->high[which] + to, type, x->high, count);
}

static void make_block(struct making *m, struct gt_epi_block *block, int64_t first,
                       int count) {
    const struct gt_epilogue *e = m->t->fused->epilogue;
    struct gt_epi_ranges out[2];
    read_block(block, m, first, count);
    gt_epilogue_ranges(out, e, block, count);
    for (int i = 0; i < 2; i++)
        write_ranges(m, i, &out[i], first, count);
    if (m->low[ROUNDED] == NULL)
        return;
    add_rounding(block, m->t, count);
    gt_epilogue_ranges(out, e, block, count);
    write_ranges(m, ROUNDED, &out[0], first, count);
}

/* Blocks go on from row to row, so that short rows make full blocks. */
static void make_rows(void *user, int thread, int64_t first, int64_t end) {
    struct making *m = user;
    const int64_t n = m->t->spec.problem.n;
    struct gt_epi_block block = {.alpha = m->t->spec.alpha, .beta = m->t->spec.beta};
    (void)thread;
    for (int64_t at = first * n; at < end * n; at += GT_EPI_BLOCK) {
        const int64_t left = end * n - at;
        make_block(m, &block, at, left < GT_EPI_BLOCK ? (int)left : GT_EPI_BLOCK);
    }
}

/* ---- one element ---- */

/* The operand as make_rows reads it from the host's copy, which is gone. */
static double operand_value(const struct gt_case *t, int which, int64_t z, int64_t row,
                            int64_t column) {
    const struct gt_fused_operand *o = &t->fused->operand[which];
    const struct gt_epi_place at =
        gt_epi_place_of(t->fused->epilogue->operand[which].shape, row, column, z);
    return gt_stack_value(&o->stored, o->seed, 0, at.row, at.column, t->spec.mode);
}

bool gt_fused_allows(const struct gt_case *t, int which, const struct gt_fused_element *x,
                     double got) {
    const struct gt_epilogue *e = t->fused->epilogue;
    const double unit = gt_type_unit(t->checker->wide);
    double operand[GT_EPILOGUE_OPERANDS_MAX];
    struct gt_epi_result out[2];
    const struct gt_epi_values values = {
        .acc = x->sum,
        .acc_error =
            gt_case_is_exact(t) ? 0 : gt_bound_of(t).sum * x->size + unit * fabs(x->sum),
        .c = x->old,
        .alpha = x->alpha,
        .beta = x->beta,
        .operand = operand};
    for (int i = 0; i < e->operands; i++)
        operand[i] = operand_value(t, i, x->product, x->row, x->column);
    gt_epilogue_eval(out, e, &values);
    const struct gt_range *store = &out[which].store;
    return isnan(got) ? store->nan : got >= store->low && got <= store->high;
}

/* ---- slabs ---- */

/* Rows of a slab: some 32 MB of acc, so that sums and ranges of a large product take little
 * of the host's memory, and a slab is still a matter of milliseconds. Operands stay whole.
 */
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
    return room ? GEMMTUNE_OK
                : gt_fail(err, GEMMTUNE_ENOMEM, "no host memory for the ranges of a case");
}

static void release_room(struct making *m) {
    free(m->acc);
    free(m->size);
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
    for (int i = 0; i < t->fused->epilogue->operands; i++) {
        free(t->fused->operand[i].data);
        t->fused->operand[i].data = NULL;
    }
    return status;
}
