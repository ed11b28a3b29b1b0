/* SPDX-License-Identifier: Apache-2.0 */
/* proof_judge.c - judges a product by what proof.c has kept: see proof.h. */
#include "tuner/stream/proof_inside.h"

#include "core/element.h"
#include "tuner/base/parallel.h"

#include <inttypes.h>
#include <stdlib.h>

enum { DOUBT = 12 };

/* Products that are computed anew where something is not finite: seconds of work. */
static const int64_t products_anew = INT64_C(1) << 30;

/* ---- an element computed anew -------------------------------------------------------- */

/* Sums of some terms, in any order, lie between -down and up. */
struct reach {
    double up, down;
};

/* The parts of an element of C. */
struct anew {
    struct gt_proof_sum sum; /* of A's and B's products; when all are finite */
    struct reach products;   /* of them */
    struct reach all;        /* of alpha times the products, and of beta C0 */
    bool plus, minus, none;  /* some term is infinite, or no number */
};

static void widen(struct reach *r, double term) {
    if (term > 0)
        r->up += term;
    else
        r->down -= term;
}

static void add_term(struct anew *e, double term, bool infinite) {
    e->none = e->none || isnan(term);
    e->plus = e->plus || (infinite && term > 0);
    e->minus = e->minus || (infinite && term < 0);
    widen(&e->all, term);
}

/* `before`: C0's element, or what is known of it. */
static struct anew compute(const struct gt_proof_data *d, int64_t row, int64_t col,
                           double before) {
    const bool is_float = gt_type_is_float(d->p->type_acc);
    const struct gt_proof_matrix a = gt_proof_matrix_of(d, 0), b = gt_proof_matrix_of(d, 1);
    struct anew e = {.plus = false};
    for (int64_t l = 0; l < gt_proof_depth(d); l++) {
        const double x = gt_proof_element(&a, row, l), y = gt_proof_element(&b, l, col);
        const struct gt_proof_sum factor = {y, 0, is_float ? 0 : (uint32_t)(int64_t)y};
        gt_proof_add_product(&e.sum, x, &factor, is_float);
        widen(&e.products, x * y);
        add_term(&e, d->alpha * (x * y), !isfinite(x) || !isfinite(y));
    }
    if (d->beta != 0)
        add_term(&e, d->beta * before, !isfinite(before));
    e.none = e.none || (e.plus && e.minus);
    return e;
}

/* Whether the element may have this value, which is not finite: A, B or C0 make it so, or
 * some sum of its terms exceeds the largest number of a type. `doubt` bounds what rounding
 * and an unknown C0 add. */
static bool may_be(const struct gt_proof_data *d, const struct anew *e, double have,
                   double doubt) {
    const double most_acc = gt_type_most(d->p->type_acc) * (1 - gt_type_unit(GEMMTUNE_F16));
    const double most = fmin(gt_type_most(d->p->type_c), gt_type_most(d->p->type_acc));
    const bool turned = d->alpha < 0; /* the products' signs */
    const bool over =
        e->all.up + doubt > most || (turned ? e->products.down : e->products.up) > most_acc;
    const bool under = e->all.down + doubt > most ||
                       (turned ? e->products.up : e->products.down) > most_acc;
    const bool has_infinity = isinf(gt_element_round(d->p->type_c, INFINITY));
    if (e->none)
        return isnan(have);
    if (isnan(have))
        return has_infinity ? over && under : over || under;
    return have > 0 ? over && !e->minus : under && !e->plus;
}

/* An error as a share of its bound. A share that is no number exceeds every bound. */
static double share(double error, double bound) {
    const double of = error / bound;
    return error == 0 ? 0 : isnan(of) ? INFINITY : of;
}

/* The element's error over its bound. C0's element may be off by `doubt`. */
static double element_excess(const struct gt_proof_data *d, const struct anew *e,
                             double have, double before, double doubt) {
    const gemmtune_problem *p = d->p;
    if (!gt_type_is_float(p->type_acc))
        return (uint32_t)(int64_t)d->alpha * e->sum.bits +
                           (uint32_t)(int64_t)d->beta * (uint32_t)(int64_t)before ==
                       (uint32_t)(int64_t)have
                   ? 0
                   : INFINITY;
    const double u_acc = gt_type_unit(p->type_acc), u_c = gt_type_unit(p->type_c);
    const bool known = !e->none && !e->plus && !e->minus;
    const double want = d->alpha * (gt_proof_depth(d) > 0 ? gt_proof_value(&e->sum) : 0) +
                        (d->beta != 0 ? d->beta * before : 0);
    const double far = fabs(d->beta) * doubt;
    const double bound = far + 12 * u_acc * (1 + u_c) * (e->all.up + e->all.down + far) +
                         2 * u_c * fmax(fabs(want) + far, gt_type_least(p->type_c));
    if (!isfinite(have))
        return may_be(d, e, have, isfinite(bound) ? bound : far) ? 0 : INFINITY;
    return known ? share(fabs(have - want), bound) : INFINITY;
}

/* ---- rows ---------------------------------------------------------------------------- */

struct rows {
    struct gt_proof_sum *y, *have; /* A w, C x */
    double *a2, *c2;               /* squares of norms of rows */
    double *excess;                /* errors over bounds */
    int64_t *wrong;    /* a column computed anew that has this error; -1: none */
    atomic_bool *of_a; /* the row of A, of C holds an element that is not finite */
    atomic_bool *of_c;
    int64_t *odd; /* the rows that a product with x does not judge */
    int64_t odd_count;
};

static void rows_free(struct rows *r) {
    free(r->y);
    free(r->have);
    free(r->a2);
    free(r->c2);
    free(r->excess);
    free(r->wrong);
    free(r->of_a);
    free(r->of_c);
    free(r->odd);
}

static bool rows_alloc(struct rows *r, const gemmtune_problem *p) {
    const size_t m = (size_t)p->m;
    *r = (struct rows){.y = calloc(m, sizeof *r->y),
                       .have = calloc(m, sizeof *r->have),
                       .a2 = calloc(m, sizeof *r->a2),
                       .c2 = calloc(m, sizeof *r->c2),
                       .excess = calloc(m, sizeof *r->excess),
                       .wrong = calloc(m, sizeof *r->wrong),
                       .of_a = calloc(m, sizeof *r->of_a),
                       .of_c = calloc(m, sizeof *r->of_c),
                       .odd = calloc(m, sizeof *r->odd)};
    return r->y != NULL && r->have != NULL && r->a2 != NULL && r->c2 != NULL &&
           r->excess != NULL && r->wrong != NULL && r->of_a != NULL && r->of_c != NULL &&
           r->odd != NULL;
}

/* The product that is judged, and the parts of a row that the product with x leaves out. */
struct judged {
    const struct gt_proof *proof;
    const struct gt_proof_data *d;
    struct rows *r;
    double b_norm;
    int64_t anew; /* elements that are computed anew, a row and kind */
};

/* The row's error over its bound, without the part `out` of A w, where C0 x is off by
 * `doubt`. Integers: 0 or infinite. NAN when the product with x does not tell. */
static double row_excess(const struct judged *g, int64_t i, const struct gt_proof_sum *out,
                         double doubt) {
    const struct gt_proof_data *d = g->d;
    const struct gt_proof *proof = g->proof;
    const struct rows *r = g->r;
    const gemmtune_problem *p = d->p;
    if (!gt_type_is_float(p->type_acc)) {
        const uint32_t want = (uint32_t)(int64_t)d->alpha * r->y[i].bits +
                              (uint32_t)(int64_t)d->beta * proof->before[i].bits;
        return want == r->have[i].bits ? 0 : INFINITY;
    }
    const double u_acc = gt_type_unit(p->type_acc), u_c = gt_type_unit(p->type_c);
    const double bound = DOUBT * (12 * u_acc * (1 + u_c) *
                                      (fabs(d->alpha) * sqrt(r->a2[i]) * g->b_norm +
                                       fabs(d->beta) * sqrt(proof->before2[i])) +
                                  2 * u_c * sqrt(r->c2[i])) +
                         fabs(d->beta) * doubt;
    const struct gt_proof_sum minus = {-1, 0, 0};
    const struct gt_proof_sum alpha = {d->alpha, 0, 0}, beta = {d->beta, 0, 0};
    struct gt_proof_sum error = {0}, y = r->y[i];
    gt_proof_add_product(&y, out->hi, &minus, true);
    gt_proof_add_product(&y, out->lo, &minus, true);
    gt_proof_add_product(&error, y.hi, &alpha, true);
    gt_proof_add_product(&error, y.lo, &alpha, true);
    gt_proof_add_product(&error, proof->before[i].hi, &beta, true);
    gt_proof_add_product(&error, proof->before[i].lo, &beta, true);
    gt_proof_add_product(&error, r->have[i].hi, &minus, true);
    gt_proof_add_product(&error, r->have[i].lo, &minus, true);
    /* sums and squares of f64 may exceed f64 */
    return isfinite(bound) && isfinite(gt_proof_value(&error))
               ? share(fabs(gt_proof_value(&error)), bound)
               : (double)NAN;
}

/* ---- rows with elements that are not finite ------------------------------------------ */

static enum gt_proof_kind old_kind(const struct judged *g, int64_t i, int64_t j) {
    return g->proof->old != NULL ? (enum gt_proof_kind)g->proof->old[i * g->d->p->n + j]
                                 : GT_PROOF_FINITE;
}

/* Whether A, B or C0 keep the element from being finite. */
static bool is_bound_to(const struct judged *g, int64_t i, int64_t j) {
    return g->r->of_a[i] || g->proof->column[j] || old_kind(g, i, j) != GT_PROOF_FINITE;
}

static void note(const struct judged *g, int64_t i, int64_t j, double excess) {
    if (excess > g->r->excess[i]) {
        g->r->excess[i] = excess;
        g->r->wrong[i] = j;
    }
}

/* C0 is gone. An element of it that was finite is known by the norm of its row. */
static void judge_element(const struct judged *g, int64_t i, int64_t j, struct anew *e) {
    static const double olds[] = {0, (double)NAN, INFINITY, -INFINITY};
    const struct gt_proof_matrix c = gt_proof_matrix_of(g->d, 2);
    const enum gt_proof_kind kind = old_kind(g, i, j);
    const double before = olds[kind];
    const double doubt =
        g->d->beta != 0 && kind == GT_PROOF_FINITE ? sqrt(g->proof->before2[i]) : 0;
    *e = compute(g->d, i, j, before);
    note(g, i, j, element_excess(g->d, e, gt_proof_element(&c, i, j), before, doubt));
}

/* Whether the product with x leaves the element out. */
static bool is_left_out(const struct judged *g, int64_t i, int64_t j) {
    const struct gt_proof_matrix c = gt_proof_matrix_of(g->d, 2);
    return is_bound_to(g, i, j) || !isfinite(gt_proof_element(&c, i, j));
}

static int64_t count_left_out(const struct judged *g, int64_t i) {
    const struct gt_proof_matrix c = gt_proof_matrix_of(g->d, 2);
    int64_t count = 0;
    for (int64_t j = 0; j < g->d->p->n; j++) {
        count += is_left_out(g, i, j);
        if (is_bound_to(g, i, j) && isfinite(gt_proof_element(&c, i, j)))
            note(g, i, j, INFINITY);
    }
    return count;
}

/* The part of the elements that are left out of a row. */
struct part {
    struct gt_proof_sum sum; /* of A w */
    int64_t unknown;         /* how many have a C0 that was finite, and is gone */
};

/* Computes some of the elements anew that are left out, or some of the others. */
static struct part judge_some(const struct judged *g, int64_t i, bool left_out,
                              int64_t step) {
    struct part part = {.unknown = 0};
    int64_t count = 0;
    for (int64_t j = 0; j < g->d->p->n; j++) {
        struct anew e;
        if (is_left_out(g, i, j) != left_out || count++ % step != 0)
            continue;
        judge_element(g, i, j, &e);
        if (g->r->of_a[i] || g->proof->column[j])
            continue;
        gt_proof_add_product(&part.sum, e.sum.hi, &g->proof->x[j], true);
        gt_proof_add_product(&part.sum, e.sum.lo, &g->proof->x[j], true);
        part.unknown += old_kind(g, i, j) == GT_PROOF_FINITE;
    }
    return part;
}

static int64_t step_for(int64_t count, int64_t anew) {
    return count > 0 ? (count + anew - 1) / anew : 1;
}

/* The product with x judges the finite elements of the row when the part of the others can
 * be taken out of it. Else some of them are computed anew. */
static void judge_row(const struct judged *g, int64_t i) {
    g->r->excess[i] = 0;
    const int64_t odd = count_left_out(g, i);
    const int64_t step = step_for(odd, g->anew);
    const struct part part = judge_some(g, i, true, step);
    const double doubt =
        g->d->beta != 0 ? sqrt((double)part.unknown * g->proof->before2[i]) : 0;
    if (odd == g->d->p->n)
        return;
    const double excess = step == 1 ? row_excess(g, i, &part.sum, doubt) : (double)NAN;
    if (isnan(excess))
        (void)judge_some(g, i, false, step_for(g->d->p->n - odd, g->anew));
    else
        note(g, i, -1, excess);
}

static void judge_rows(void *user, int thread, int64_t first, int64_t end) {
    const struct judged *g = user;
    (void)thread;
    for (int64_t at = first; at < end; at++)
        judge_row(g, g->r->odd[at]);
}

/* ---- comparing ----------------------------------------------------------------------- */

static double sum_of(const double *x, int64_t count) {
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += x[i];
    return sum;
}

/* The products with the vector; elements that are not finite are noted and left out. */
static gt_status multiply_rows(const struct judged *g, struct gt_err *err) {
    const bool is_float = gt_type_is_float(g->d->p->type_acc);
    const struct gt_proof_matrix a = gt_proof_matrix_of(g->d, 0),
                                 c = gt_proof_matrix_of(g->d, 2);
    const struct gt_proof_odd of_a = {.row = g->r->of_a}, of_c = {.row = g->r->of_c};
    struct rows *r = g->r;
    gt_status status = GEMMTUNE_OK;
    if (gt_proof_depth(g->d) > 0)
        status = gt_proof_multiply(r->y, r->a2, &a, g->proof->w, is_float, NULL, err);
    if (status == GEMMTUNE_OK && !gt_proof_all_finite(r->a2, g->d->p->m))
        status = gt_proof_multiply(r->y, r->a2, &a, g->proof->w, is_float, &of_a, err);
    if (status == GEMMTUNE_OK)
        status = gt_proof_multiply(r->have, r->c2, &c, g->proof->x, is_float, NULL, err);
    if (status == GEMMTUNE_OK && !gt_proof_all_finite(r->c2, g->d->p->m))
        status = gt_proof_multiply(r->have, r->c2, &c, g->proof->x, is_float, &of_c, err);
    return status;
}

/* Judges each row by its product with x, and then the rows anew in which something is not
 * finite. */
static void judge_all(struct judged *g) {
    const struct gt_proof_sum nothing = {0};
    const int64_t depth_one = gt_proof_depth(g->d) + 1;
    struct rows *r = g->r;
    bool any_column = false;
    for (int64_t j = 0; j < g->d->p->n; j++)
        any_column = any_column || g->proof->column[j];
    for (int64_t i = 0; i < g->d->p->m; i++) {
        r->wrong[i] = -1;
        r->excess[i] = row_excess(g, i, &nothing, 0);
        if (any_column || r->of_a[i] || r->of_c[i] || g->proof->row[i] ||
            isnan(r->excess[i]))
            r->odd[r->odd_count++] = i;
    }
    g->anew = r->odd_count > 0 ? products_anew / depth_one / r->odd_count : 0;
    g->anew = g->anew > 0 ? g->anew : 1;
    gt_parallel(judge_rows, g, r->odd_count);
}

static gt_status say_wrong(int64_t row, int64_t col, double excess, struct gt_err *err) {
    if (col < 0)
        return gt_fail(err, GEMMTUNE_EINVAL,
                       "row %" PRId64 " of C is wrong: its product with a random "
                       "vector is %g times as far off as rounding explains",
                       row, excess);
    return gt_fail(err, GEMMTUNE_EINVAL,
                   "C[%" PRId64 ", %" PRId64
                   "] is wrong: %g times as far off as rounding explains",
                   row, col, excess);
}

static gt_status compare_rows(double *worst, const struct gt_proof *proof,
                              const struct gt_proof_data *d, struct rows *r,
                              struct gt_err *err) {
    struct judged g = {.proof = proof,
                       .d = d,
                       .r = r,
                       .b_norm = sqrt(sum_of(proof->b2, gt_proof_depth(d)))};
    gt_status status = multiply_rows(&g, err);
    if (status == GEMMTUNE_OK)
        judge_all(&g);
    for (int64_t i = 0; status == GEMMTUNE_OK && i < d->p->m; i++) {
        *worst = r->excess[i] > *worst ? r->excess[i] : *worst;
        if (!(r->excess[i] <= 1))
            status = say_wrong(i, r->wrong[i], r->excess[i], err);
    }
    return status;
}

static gt_status compare_samples(double *worst, const struct gt_proof *proof,
                                 const struct gt_proof_data *d, struct gt_err *err) {
    const struct gt_proof_matrix c = gt_proof_matrix_of(d, 2);
    for (int i = 0; i < GT_PROOF_SAMPLES; i++) {
        const struct gt_proof_sample *s = &proof->sample[i];
        const struct anew e = compute(d, s->row, s->col, s->before);
        const double excess =
            element_excess(d, &e, gt_proof_element(&c, s->row, s->col), s->before, 0);
        *worst = excess > *worst ? excess : *worst;
        if (!(excess <= 1))
            return say_wrong(s->row, s->col, excess, err);
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
