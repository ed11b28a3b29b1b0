/* SPDX-License-Identifier: Apache-2.0 */
/* proof.c - what a proof needs from before the product: see proof.h. */
#include "tuner/stream/proof_inside.h"

#include "core/element.h"
#include "core/mix.h"
#include "tuner/base/parallel.h"

#include <stdlib.h>

static uint64_t mix(uint64_t z) {
    return gt_mix(z + GT_MIX_STEP);
}

/* ---- a matrix times a vector --------------------------------------------------------- */

struct gt_proof_matrix gt_proof_matrix_of(const struct gt_proof_data *d, int which) {
    const gemmtune_problem *p = d->p;
    const struct gt_proof_matrix all[] = {
        {d->a, p->type_a, gt_problem_shape_a(p), p->lda, p->trans_a == GEMMTUNE_TRANS},
        {d->b, p->type_b, gt_problem_shape_b(p), p->ldb, p->trans_b == GEMMTUNE_TRANS},
        {d->c, p->type_c, gt_problem_shape_c(p), p->ldc, false}};
    return all[which];
}

double gt_proof_element(const struct gt_proof_matrix *m, int64_t row, int64_t col) {
    const int64_t r = m->turned ? col : row, c = m->turned ? row : col;
    return gt_element_get(m->bytes + (size_t)(r * m->ld + c) * gt_type_size(m->type),
                          m->type);
}

static void read_row(double *out, const struct gt_proof_matrix *m, int64_t row) {
    const size_t size = gt_type_size(m->type);
    const char *at = m->bytes + (size_t)(row * m->ld) * size;
    gt_elements_get(out, at, m->type, m->shape.cols);
}

static enum gt_proof_kind kind_of(double x) {
    return isfinite(x) ? GT_PROOF_FINITE
           : isnan(x)  ? GT_PROOF_NO_NUMBER
           : x > 0     ? GT_PROOF_PLUS
                       : GT_PROOF_MINUS;
}

struct apply {
    const struct gt_proof_matrix *m;
    const struct gt_proof_sum *vector;
    struct gt_proof_sum *out;  /* one a row of the matrix */
    double *norm2;             /* and the sum of squares of the row */
    double *row;               /* a buffer a thread */
    struct gt_proof_sum *part; /* turned: an `out` and */
    double *part2;             /* a `norm2` a thread */
    bool is_float;
    const struct gt_proof_odd
        *odd; /* NULL: all elements count; else zeros stand for odd ones */
};

/* Notes the odd elements of a stored row and puts zeros in their place. */
static void clean_row(double *row, const struct apply *a, int64_t stored) {
    const struct gt_proof_odd *odd = a->odd;
    for (int64_t at = 0; at < a->m->shape.cols; at++) {
        const enum gt_proof_kind kind = kind_of(row[at]);
        const int64_t i = a->m->turned ? at : stored, j = a->m->turned ? stored : at;
        if (kind == GT_PROOF_FINITE)
            continue;
        row[at] = 0;
        if (odd->row != NULL)
            odd->row[i] = true;
        if (odd->col != NULL)
            odd->col[j] = true;
        if (odd->element != NULL)
            odd->element[stored * a->m->shape.cols + at] = (char)kind;
    }
}

/* Adds what row i of the stored matrix gives each row of its transpose. */
static void apply_turned(const struct apply *a, int thread, const double *row, int64_t i) {
    const int64_t cols = a->m->shape.cols;
    struct gt_proof_sum *out = a->part + thread * cols;
    double *norm2 = a->part2 + thread * cols;
    for (int64_t j = 0; j < cols; j++) {
        gt_proof_add_product(&out[j], row[j], &a->vector[i], a->is_float);
        norm2[j] += row[j] * row[j];
    }
}

static void apply_row(const struct apply *a, const double *row, int64_t i) {
    struct gt_proof_sum sum = {0};
    double norm2 = 0;
    for (int64_t j = 0; j < a->m->shape.cols; j++) {
        gt_proof_add_product(&sum, row[j], &a->vector[j], a->is_float);
        norm2 += row[j] * row[j];
    }
    a->out[i] = sum;
    a->norm2[i] = norm2;
}

static void apply_rows(void *user, int thread, int64_t first, int64_t end) {
    const struct apply *a = user;
    double *row = a->row + thread * a->m->shape.cols;
    for (int64_t i = first; i < end; i++) {
        read_row(row, a->m, i);
        if (a->odd != NULL)
            clean_row(row, a, i);
        if (a->m->turned)
            apply_turned(a, thread, row, i);
        else
            apply_row(a, row, i);
    }
}

static void join_parts(const struct apply *a, int threads) {
    for (int64_t j = 0; j < a->m->shape.cols; j++) {
        a->out[j] = (struct gt_proof_sum){0};
        a->norm2[j] = 0;
        for (int t = 0; t < threads; t++) {
            gt_proof_add_sum(&a->out[j], &a->part[t * a->m->shape.cols + j]);
            a->norm2[j] += a->part2[t * a->m->shape.cols + j];
        }
    }
}

gt_status gt_proof_multiply(struct gt_proof_sum *out, double *norm2,
                            const struct gt_proof_matrix *m,
                            const struct gt_proof_sum *vector, bool is_float,
                            const struct gt_proof_odd *odd, struct gt_err *err) {
    const size_t threads = (size_t)gt_parallel_threads();
    const size_t cells = threads * (size_t)m->shape.cols;
    struct apply a = {.m = m,
                      .vector = vector,
                      .out = out,
                      .norm2 = norm2,
                      .row = calloc(cells, sizeof *a.row),
                      .part = m->turned ? calloc(cells, sizeof *a.part) : NULL,
                      .part2 = m->turned ? calloc(cells, sizeof *a.part2) : NULL,
                      .is_float = is_float,
                      .odd = odd};
    const bool ready = a.row != NULL && (!m->turned || (a.part != NULL && a.part2 != NULL));
    if (ready) {
        gt_parallel(apply_rows, &a, m->shape.rows);
        if (m->turned)
            join_parts(&a, (int)threads);
    }
    free(a.row);
    free(a.part);
    free(a.part2);
    return ready ? GEMMTUNE_OK : gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
}

/* ---- the proof ----------------------------------------------------------------------- */

int64_t gt_proof_depth(const struct gt_proof_data *d) {
    return d->alpha != 0 ? d->p->k : 0;
}

void gt_proof_destroy(struct gt_proof *p) {
    if (p == NULL)
        return;
    free(p->x);
    free(p->w);
    free(p->before);
    free(p->b2);
    free(p->before2);
    free(p->column);
    free(p->row);
    free(p->old);
    free(p);
}

static struct gt_proof *create(const gemmtune_problem *problem) {
    const size_t m = (size_t)problem->m, n = (size_t)problem->n;
    const size_t k = (size_t)problem->k + 1;
    struct gt_proof *p = calloc(1, sizeof *p);
    if (p == NULL)
        return NULL;
    p->x = calloc(n, sizeof *p->x);
    p->w = calloc(k, sizeof *p->w);
    p->before = calloc(m, sizeof *p->before);
    p->b2 = calloc(k, sizeof *p->b2);
    p->before2 = calloc(m, sizeof *p->before2);
    p->column = calloc(n, sizeof *p->column);
    p->row = calloc(m, sizeof *p->row);
    if (p->x != NULL && p->w != NULL && p->before != NULL && p->b2 != NULL &&
        p->before2 != NULL && p->column != NULL && p->row != NULL)
        return p;
    gt_proof_destroy(p);
    return NULL;
}

/* The four corners, and elements anywhere. */
static void choose_samples(struct gt_proof *p, const struct gt_proof_data *d,
                           uint64_t seed) {
    const struct gt_proof_matrix c = gt_proof_matrix_of(d, 2);
    const uint64_t m = (uint64_t)d->p->m, n = (uint64_t)d->p->n;
    for (int i = 0; i < GT_PROOF_SAMPLES; i++) {
        struct gt_proof_sample *s = &p->sample[i];
        s->row = (int64_t)(i < 4 ? (i & 1 ? m - 1 : 0) : mix(seed + 2 * (uint64_t)i) % m);
        s->col =
            (int64_t)(i < 4 ? (i & 2 ? n - 1 : 0) : mix(seed + 2 * (uint64_t)i + 1) % n);
        s->before = d->beta != 0 ? gt_proof_element(&c, s->row, s->col) : 0;
    }
}

bool gt_proof_all_finite(const double *norm2, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(norm2[i]))
            return false;
    return true;
}

/* B x. The columns of B that are not finite make columns of C that are not either; x leaves
 * them out. */
static gt_status multiply_b(struct gt_proof *p, const struct gt_proof_data *d,
                            struct gt_err *err) {
    const bool is_float = gt_type_is_float(d->p->type_acc);
    const struct gt_proof_matrix b = gt_proof_matrix_of(d, 1);
    const struct gt_proof_odd unread = {.row = NULL}, odd = {.col = p->column};
    gt_status status = gt_proof_multiply(p->w, p->b2, &b, p->x, is_float, NULL, err);
    if (status != GEMMTUNE_OK || gt_proof_all_finite(p->b2, d->p->k))
        return status;
    status = gt_proof_multiply(p->w, p->b2, &b, p->x, is_float, &odd, err);
    for (int64_t j = 0; j < d->p->n; j++)
        if (p->column[j])
            p->x[j] = (struct gt_proof_sum){0};
    return status == GEMMTUNE_OK
               ? gt_proof_multiply(p->w, p->b2, &b, p->x, is_float, &unread, err)
               : status;
}

/* C0 x, without the elements of C0 that are not finite. */
static gt_status multiply_c0(struct gt_proof *p, const struct gt_proof_data *d,
                             struct gt_err *err) {
    const bool is_float = gt_type_is_float(d->p->type_acc);
    const struct gt_proof_matrix c = gt_proof_matrix_of(d, 2);
    const gt_status status =
        gt_proof_multiply(p->before, p->before2, &c, p->x, is_float, NULL, err);
    if (status != GEMMTUNE_OK || gt_proof_all_finite(p->before2, d->p->m))
        return status;
    p->old = calloc((size_t)d->p->m, (size_t)d->p->n);
    const struct gt_proof_odd odd = {.row = p->row, .element = p->old};
    return p->old != NULL
               ? gt_proof_multiply(p->before, p->before2, &c, p->x, is_float, &odd, err)
               : gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
}

gt_status gt_proof_begin(struct gt_proof **out, const struct gt_proof_data *d,
                         uint64_t seed, struct gt_err *err) {
    struct gt_proof *p = create(d->p);
    gt_status status = GEMMTUNE_OK;
    *out = NULL;
    if (p == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    for (int64_t j = 0; j < d->p->n; j++) {
        const uint64_t random = mix(seed ^ mix((uint64_t)j));
        p->x[j] = (struct gt_proof_sum){random >> 63 ? 1 : -1, 0, (uint32_t)random};
    }
    choose_samples(p, d, seed);
    if (gt_proof_depth(d) > 0)
        status = multiply_b(p, d, err);
    if (status == GEMMTUNE_OK && d->beta != 0)
        status = multiply_c0(p, d, err);
    if (status == GEMMTUNE_OK)
        *out = p;
    else
        gt_proof_destroy(p);
    return status;
}
