/* SPDX-License-Identifier: Apache-2.0 */
#include "tuner/stream/proof.h"

#include "core/element.h"
#include "core/mix.h"
#include "tuner/base/parallel.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { SAMPLES = 64, DOUBT = 12 };

static uint64_t mix(uint64_t z) {
    return gt_mix(z + GT_MIX_STEP);
}

/* ---- sums in twice the precision
 * --------------------------------------------------------- */

/* hi + lo, where lo is small (Ogita, Rump and Oishi, "Accurate sum and dot product", 2005).
 * For integers, `bits` modulo 2^32 instead. */
struct sum {
    double hi, lo;
    uint32_t bits;
};

static void add(struct sum *s, double x) {
    const double hi = s->hi + x, part = hi - s->hi;
    s->lo += (s->hi - (hi - part)) + (x - part);
    s->hi = hi;
}

/* s += x * (w.hi + w.lo) */
static void add_product(struct sum *s, double x, const struct sum *w, bool is_float) {
    if (!is_float) {
        s->bits += (uint32_t)(int64_t)x * w->bits;
        return;
    }
    const double product = x * w->hi;
    add(s, product);
    s->lo += fma(x, w->hi, -product) + x * w->lo;
}

static void add_sum(struct sum *s, const struct sum *x) {
    add(s, x->hi);
    s->lo += x->lo;
    s->bits += x->bits;
}

static double value(const struct sum *s) {
    return s->hi + s->lo;
}

/* ---- a matrix times a vector --------------------------------------------------------- */

struct stored {
    const char *bytes;
    gemmtune_dtype type;
    struct gt_shape shape;
    int64_t ld;
    bool turned; /* the matrix is the transpose of the stored one */
};

static void read_row(double *out, const struct stored *m, int64_t row) {
    const size_t size = gt_type_size(m->type);
    const char *at = m->bytes + (size_t)(row * m->ld) * size;
    gt_elements_get(out, at, m->type, m->shape.cols);
}

struct apply {
    const struct stored *m;
    const struct sum *vector;
    struct sum *out;  /* one a row of the matrix */
    double *norm2;    /* and the sum of squares of the row */
    double *row;      /* a buffer a thread */
    struct sum *part; /* turned: an `out` and */
    double *part2;    /* a `norm2` a thread */
    bool is_float;
};

static void apply_rows(void *user, int thread, int64_t first, int64_t end) {
    const struct apply *a = user;
    const int64_t cols = a->m->shape.cols;
    double *row = a->row + thread * cols;
    for (int64_t i = first; i < end; i++) {
        read_row(row, a->m, i);
        if (a->m->turned) {
            struct sum *out = a->part + thread * cols;
            double *norm2 = a->part2 + thread * cols;
            for (int64_t j = 0; j < cols; j++) {
                add_product(&out[j], row[j], &a->vector[i], a->is_float);
                norm2[j] += row[j] * row[j];
            }
        } else {
            struct sum sum = {0};
            double norm2 = 0;
            for (int64_t j = 0; j < cols; j++) {
                add_product(&sum, row[j], &a->vector[j], a->is_float);
                norm2 += row[j] * row[j];
            }
            a->out[i] = sum;
            a->norm2[i] = norm2;
        }
    }
}

static void join_parts(const struct apply *a, int threads) {
    for (int64_t j = 0; j < a->m->shape.cols; j++) {
        a->out[j] = (struct sum){0};
        a->norm2[j] = 0;
        for (int t = 0; t < threads; t++) {
            add_sum(&a->out[j], &a->part[t * a->m->shape.cols + j]);
            a->norm2[j] += a->part2[t * a->m->shape.cols + j];
        }
    }
}

/* out = matrix * vector, norm2 = squares of the Euclidean norms of its rows. ENOMEM. */
static gt_status multiply(struct sum *out, double *norm2, const struct stored *m,
                          const struct sum *vector, bool is_float, struct gt_err *err) {
    const size_t threads = (size_t)gt_parallel_threads();
    const size_t cells = threads * (size_t)m->shape.cols;
    struct apply a = {.m = m,
                      .vector = vector,
                      .out = out,
                      .norm2 = norm2,
                      .row = calloc(cells, sizeof *a.row),
                      .part = m->turned ? calloc(cells, sizeof *a.part) : NULL,
                      .part2 = m->turned ? calloc(cells, sizeof *a.part2) : NULL,
                      .is_float = is_float};
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

struct sample {
    int64_t row, col;
    double before; /* C's element */
};

struct gt_proof {
    struct sum *x;      /* n random signs, or any integers */
    struct sum *before; /* C0 x; zeros when beta is 0 */
    double *before2;    /* squares of norms of C0's rows */
    struct sample sample[SAMPLES];
};

static struct stored matrix_of(const struct gt_proof_data *d, int which) {
    const gemmtune_problem *p = d->p;
    const struct stored all[] = {
        {d->a, p->type_a, gt_problem_shape_a(p), p->lda, p->trans_a == GEMMTUNE_TRANS},
        {d->b, p->type_b, gt_problem_shape_b(p), p->ldb, p->trans_b == GEMMTUNE_TRANS},
        {d->c, p->type_c, gt_problem_shape_c(p), p->ldc, false}};
    return all[which];
}

static double element(const struct stored *m, int64_t row, int64_t col) {
    const int64_t r = m->turned ? col : row, c = m->turned ? row : col;
    return gt_element_get(m->bytes + (size_t)(r * m->ld + c) * gt_type_size(m->type),
                          m->type);
}

void gt_proof_destroy(struct gt_proof *p) {
    if (p == NULL)
        return;
    free(p->x);
    free(p->before);
    free(p->before2);
    free(p);
}

/* The four corners, and elements anywhere. */
static void choose_samples(struct gt_proof *p, const struct gt_proof_data *d,
                           uint64_t seed) {
    const struct stored c = matrix_of(d, 2);
    const uint64_t m = (uint64_t)d->p->m, n = (uint64_t)d->p->n;
    for (int i = 0; i < SAMPLES; i++) {
        struct sample *s = &p->sample[i];
        s->row = (int64_t)(i < 4 ? (i & 1 ? m - 1 : 0) : mix(seed + 2 * (uint64_t)i) % m);
        s->col =
            (int64_t)(i < 4 ? (i & 2 ? n - 1 : 0) : mix(seed + 2 * (uint64_t)i + 1) % n);
        s->before = d->beta != 0 ? element(&c, s->row, s->col) : 0;
    }
}

gt_status gt_proof_begin(struct gt_proof **out, const struct gt_proof_data *d,
                         uint64_t seed, struct gt_err *err) {
    const bool is_float = gt_type_is_float(d->p->type_acc);
    struct gt_proof *p = calloc(1, sizeof *p);
    gt_status status = GEMMTUNE_OK;
    *out = NULL;
    if (p != NULL) {
        p->x = calloc((size_t)d->p->n, sizeof *p->x);
        p->before = calloc((size_t)d->p->m, sizeof *p->before);
        p->before2 = calloc((size_t)d->p->m, sizeof *p->before2);
    }
    if (p == NULL || p->x == NULL || p->before == NULL || p->before2 == NULL) {
        gt_proof_destroy(p);
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    }
    for (int64_t j = 0; j < d->p->n; j++) {
        const uint64_t random = mix(seed ^ mix((uint64_t)j));
        p->x[j] = (struct sum){random >> 63 ? 1 : -1, 0, (uint32_t)random};
    }
    choose_samples(p, d, seed);
    if (d->beta != 0) {
        const struct stored c = matrix_of(d, 2);
        status = multiply(p->before, p->before2, &c, p->x, is_float, err);
    }
    if (status == GEMMTUNE_OK)
        *out = p;
    else
        gt_proof_destroy(p);
    return status;
}

/* ---- comparing ----------------------------------------------------------------------- */

static double sum_of(const double *x, int64_t count) {
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += x[i];
    return sum;
}

struct rows {
    struct sum *w, *y, *have; /* B x, A w, C x */
    double *b2, *a2, *c2;     /* squares of norms of rows */
};

static void rows_free(struct rows *r) {
    free(r->w);
    free(r->y);
    free(r->have);
    free(r->b2);
    free(r->a2);
    free(r->c2);
}

static bool rows_alloc(struct rows *r, const gemmtune_problem *p) {
    const size_t m = (size_t)p->m, k = (size_t)p->k + 1;
    *r = (struct rows){calloc(k, sizeof *r->w),    calloc(m, sizeof *r->y),
                       calloc(m, sizeof *r->have), calloc(k, sizeof *r->b2),
                       calloc(m, sizeof *r->a2),   calloc(m, sizeof *r->c2)};
    return r->w != NULL && r->y != NULL && r->have != NULL && r->b2 != NULL &&
           r->a2 != NULL && r->c2 != NULL;
}

/* An error as a share of its bound. A share that is no number exceeds every bound. */
static double share(double error, double bound) {
    const double of = error / bound;
    return error == 0 ? 0 : isnan(of) ? INFINITY : of;
}

/* The row's error over its bound; integers: 0 or infinite. */
static double row_excess(const struct gt_proof *proof, const struct gt_proof_data *d,
                         const struct rows *r, double b_norm, int64_t i) {
    const gemmtune_problem *p = d->p;
    if (!gt_type_is_float(p->type_acc)) {
        const uint32_t want = (uint32_t)(int64_t)d->alpha * r->y[i].bits +
                              (uint32_t)(int64_t)d->beta * proof->before[i].bits;
        return want == r->have[i].bits ? 0 : INFINITY;
    }
    const double u_acc = gt_type_unit(p->type_acc), u_c = gt_type_unit(p->type_c);
    const double bound = DOUBT * (12 * u_acc * (1 + u_c) *
                                      (fabs(d->alpha) * sqrt(r->a2[i]) * b_norm +
                                       fabs(d->beta) * sqrt(proof->before2[i])) +
                                  2 * u_c * sqrt(r->c2[i]));
    struct sum error = {0};
    struct sum minus = {-1, 0, 0};
    const struct sum alpha = {d->alpha, 0, 0}, beta = {d->beta, 0, 0};
    add_product(&error, r->y[i].hi, &alpha, true);
    add_product(&error, r->y[i].lo, &alpha, true);
    add_product(&error, proof->before[i].hi, &beta, true);
    add_product(&error, proof->before[i].lo, &beta, true);
    add_product(&error, r->have[i].hi, &minus, true);
    add_product(&error, r->have[i].lo, &minus, true);
    return share(fabs(value(&error)), bound);
}

static gt_status compare_rows(double *worst, const struct gt_proof *proof,
                              const struct gt_proof_data *d, struct rows *r,
                              struct gt_err *err) {
    const bool is_float = gt_type_is_float(d->p->type_acc);
    const struct stored a = matrix_of(d, 0), b = matrix_of(d, 1), c = matrix_of(d, 2);
    gt_status status = GEMMTUNE_OK;
    if (d->p->k > 0)
        status = multiply(r->w, r->b2, &b, proof->x, is_float, err);
    if (status == GEMMTUNE_OK && d->p->k > 0)
        status = multiply(r->y, r->a2, &a, r->w, is_float, err);
    if (status == GEMMTUNE_OK)
        status = multiply(r->have, r->c2, &c, proof->x, is_float, err);
    const double b_norm = sqrt(sum_of(r->b2, d->p->k));
    for (int64_t i = 0; status == GEMMTUNE_OK && i < d->p->m; i++) {
        const double excess = row_excess(proof, d, r, b_norm, i);
        *worst = excess > *worst ? excess : *worst;
        if (!(excess <= 1))
            status = gt_fail(err, GEMMTUNE_EINVAL,
                             "row %" PRId64 " of C is wrong: its product with a random "
                             "vector is %g times as far off as rounding explains",
                             i, excess);
    }
    return status;
}

static double sample_excess(const struct gt_proof_data *d, const struct sample *s) {
    const gemmtune_problem *p = d->p;
    const bool is_float = gt_type_is_float(p->type_acc);
    const struct stored a = matrix_of(d, 0), b = matrix_of(d, 1), c = matrix_of(d, 2);
    const double have = element(&c, s->row, s->col);
    struct sum sum = {0};
    double absolute = 0;
    for (int64_t l = 0; l < p->k; l++) {
        const double x = element(&a, s->row, l), y = element(&b, l, s->col);
        const struct sum factor = {y, 0, (uint32_t)(int64_t)y};
        add_product(&sum, x, &factor, is_float);
        absolute += fabs(x * y);
    }
    if (!is_float)
        return (uint32_t)(int64_t)d->alpha * sum.bits +
                           (uint32_t)(int64_t)d->beta * (uint32_t)(int64_t)s->before ==
                       (uint32_t)(int64_t)have
                   ? 0
                   : INFINITY;
    const double want = d->alpha * value(&sum) + d->beta * s->before;
    const double u_acc = gt_type_unit(p->type_acc), u_c = gt_type_unit(p->type_c);
    const double bound =
        12 * u_acc * (1 + u_c) * (fabs(d->alpha) * absolute + fabs(d->beta * s->before)) +
        2 * u_c * fmax(fabs(want), gt_type_least(p->type_c));
    return share(fabs(have - want), bound);
}

static gt_status compare_samples(double *worst, const struct gt_proof *proof,
                                 const struct gt_proof_data *d, struct gt_err *err) {
    for (int i = 0; i < SAMPLES; i++) {
        const struct sample *s = &proof->sample[i];
        const double excess = sample_excess(d, s);
        *worst = excess > *worst ? excess : *worst;
        if (!(excess <= 1))
            return gt_fail(err, GEMMTUNE_EINVAL,
                           "C[%" PRId64 ", %" PRId64
                           "] is wrong: %g times as far off as rounding explains",
                           s->row, s->col, excess);
    }
    return GEMMTUNE_OK;
}

gt_status gt_proof_end(double *worst, struct gt_proof *proof, const struct gt_proof_data *d,
                       struct gt_err *err) {
    struct rows r;
    *worst = 0;
    gt_status status = rows_alloc(&r, d->p)
                           ? compare_rows(worst, proof, d, &r, err)
                           : gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    rows_free(&r);
    return status == GEMMTUNE_OK ? compare_samples(worst, proof, d, err) : status;
}
