/* SPDX-License-Identifier: Apache-2.0 */
/*
 * case.c - see check.h: a product on the device, its data between guards, its reference,
 * and the host's check of the reference.
 */
#include "tuner/lab/check_internal.h"

#include <math.h>
#include <stdlib.h>

/* multiplications that the host spends on checking a reference */
enum { HOST_MACS = 1 << 22 };

/* ---- data ---- */

static int64_t operand_bytes(int64_t elements, gemmtune_dtype type) {
    return gt_guarded_bytes(elements * (int64_t)gt_type_size(type));
}

int64_t gt_case_bytes(const gemmtune_problem *asked) {
    const gemmtune_problem memory = gt_memory_of(asked), *p = &memory;
    const int64_t size = (int64_t)gt_type_size(gt_type_wide(p->type_acc));
    const int64_t c = gt_bytes_product(gt_case_elements(p), 2 * size); /* see gt_case */
    const int64_t a = operand_bytes(gt_problem_elems_a(p), p->type_a);
    const int64_t b = operand_bytes(gt_problem_elems_b(p), p->type_b);
    const int64_t more = gt_bytes_sum(gt_fused_bytes(p), gt_lists_bytes(asked));
    return gt_bytes_sum(gt_bytes_sum(gt_bytes_sum(a, b), c), more);
}

/* Makes operand 0 (A) or 1 (B). With alpha 0 it must not be read: all of it stays NaN. */
static gt_status make_operand(struct gt_guarded *o, const struct gt_case *t, int operand,
                              struct gt_err *err) {
    struct gt_checker *c = t->checker;
    const struct gt_rig_ops *ops = gt_rig_head(c->rig)->ops;
    const struct gt_stack stored = gt_stack_of(&t->spec.problem, operand);
    const gemmtune_dtype type = stored.type;
    o->seed = t->spec.seed * 4 + 1 + (uint64_t)operand;
    o->filled = stored;
    o->poison = gt_case_word(t, type, o->seed);
    if (t->spec.alpha == 0)
        o->filled.rows = 0;
    o->bytes = operand_bytes(gt_stack_elements(&stored), type);
    gt_status status = ops->alloc(&o->mem, c->rig, o->bytes, err);
    if (status == GEMMTUNE_OK)
        status = ops->fill(c->rig, o->mem, o->bytes, o->poison, err);
    if (status == GEMMTUNE_OK)
        status = ops->view(&o->view, c->rig, o->mem, GT_GUARD, o->bytes - GT_GUARD, err);
    if (status == GEMMTUNE_OK)
        status = gt_checker_fill(c, o->view, &o->filled, o->seed, t->spec.mode, err);
    return status;
}

static void clear_operand(struct gt_guarded *o, struct gt_checker *c) {
    if (o->view)
        gt_rig_head(c->rig)->ops->view_release(c->rig, o->view);
    gt_checker_release(c, o->mem);
}

/* Fills the scratch before a product, as gt_case_spec.finite says. The finite numbers are
 * one row of the generator. */
static gt_status spoil_output(struct gt_case *t, int64_t bytes, struct gt_err *err) {
    struct gt_checker *c = t->checker;
    const int64_t elements = bytes / (int64_t)gt_type_size(t->spec.problem.type_c);
    t->finite_seed = (t->spec.seed << 32) + 4 * ++c->outputs;
    t->poison_c = gt_case_word(t, t->spec.problem.type_c, t->finite_seed);
    if (!t->spec.finite)
        return gt_rig_head(c->rig)->ops->fill(c->rig, c->scratch, bytes, t->poison_c, err);
    const struct gt_stack row = gt_stack_row(t->spec.problem.type_c, elements);
    return gt_checker_fill(c, c->scratch, &row, t->finite_seed, GT_DATA_UNIFORM, err);
}

gt_status gt_case_output(void **view, struct gt_case *t, struct gt_err *err) {
    struct gt_checker *c = t->checker;
    const struct gt_rig_ops *ops = gt_rig_head(c->rig)->ops;
    const gemmtune_problem *p = &t->spec.problem;
    const struct gt_stack stored = gt_stack_of(p, 2);
    const int64_t bytes = operand_bytes(gt_problem_elems_c(p), p->type_c);
    if (bytes > c->scratch_bytes)
        return gt_fail(err, GEMMTUNE_EINVAL,
                       "the checker has %lld bytes for C, the case needs %lld",
                       (long long)c->scratch_bytes, (long long)bytes);
    gt_status status = spoil_output(t, bytes, err);
    if (status == GEMMTUNE_OK)
        status = ops->view(view, c->rig, c->scratch, GT_GUARD, bytes - GT_GUARD, err);
    if (status == GEMMTUNE_OK && gt_case_reads_c(t))
        status =
            gt_checker_fill(c, *view, &stored, gt_case_seed_c(t), gt_case_mode_c(t), err);
    return status;
}

static gt_status make_reference(struct gt_case *t, struct gt_err *err) {
    struct gt_checker *c = t->checker;
    void *view = NULL;
    gt_status status = gt_case_output(&view, t, err);
    if (status == GEMMTUNE_OK)
        status = gt_checker_reference(t, view, err);
    if (status == GEMMTUNE_OK)
        status = gt_rig_head(c->rig)->ops->finish(c->rig, err);
    if (view)
        gt_rig_head(c->rig)->ops->view_release(c->rig, view);
    return status;
}

gt_status gt_case_workspace(struct gt_case *t, int64_t bytes, struct gt_err *err) {
    struct gt_checker *c = t->checker;
    const gemmtune_dtype type = t->spec.problem.type_c;
    const struct gt_stack row = gt_stack_row(type, bytes / (int64_t)gt_type_size(type));
    if (bytes == 0)
        return GEMMTUNE_OK;
    t->poison_w = gt_case_word(t, type, t->finite_seed + 2);
    const gt_status status = gt_rig_head(c->rig)->ops->fill(
        c->rig, c->workspace.mem, gt_workspace_bytes(bytes), t->poison_w, err);
    return status != GEMMTUNE_OK || !t->spec.finite
               ? status
               : gt_checker_fill(c, c->workspace.view, &row, t->finite_seed + 1,
                                 GT_DATA_UNIFORM, err);
}

/* ---- the host's word on the reference ---- */

/* An element of C: (row, col) of product z. */
struct place {
    int64_t z, row, col;
};

static struct place place_of(const gemmtune_problem *p, int64_t e) {
    return (struct place){e / p->n / p->m, e / p->n % p->m, e % p->n};
}

/* Row i of op(A) for matrix z of C: its k numbers. */
static void row_of_a(double *x, const struct gt_case *t, int64_t z, int64_t i) {
    const gemmtune_problem *p = &t->spec.problem;
    const struct gt_stack a = gt_stack_of(p, 0);
    const int64_t at = gt_order_at(t->orders.a, z, p->batch);
    for (int64_t q = 0; q < p->k; q++)
        x[q] = gt_stack_value(&a, t->a.seed, at, p->trans_a ? q : i, p->trans_a ? i : q,
                              t->spec.mode);
}

/* Column j of op(B) for row i of matrix z of C: its k numbers. */
static void column_of_b(double *y, const struct gt_case *t, int64_t z, int64_t i,
                        int64_t j) {
    const gemmtune_problem *p = &t->spec.problem;
    const struct gt_stack b = gt_stack_of(p, 1);
    const int64_t at =
        gt_order_at(t->orders.b, z, p->batch) + gt_rows_group(&t->rows, p, i);
    for (int64_t q = 0; q < p->k; q++)
        y[q] = gt_stack_value(&b, t->b.seed, at, p->trans_b ? j : q, p->trans_b ? q : j,
                              t->spec.mode);
}

/* An element in higher precision, and the sum of the sizes of its terms. x is its row of
 * op(A), y its column of op(B). Integers are exact, modulo 2^32. */
static long double host_element(const struct gt_case *t, struct place at, const double *x,
                                const double *y, long double *size) {
    const struct gt_case_spec *s = &t->spec;
    const double alpha = gt_case_alpha(t), beta = gt_case_beta(t);
    const int64_t depth = alpha == 0 ? 0 : s->problem.k;
    const bool whole = !gt_type_is_float(t->checker->wide);
    long double sum = 0, abs_sum = 0;
    uint32_t wrap = 0;
    for (int64_t q = 0; q < depth && whole; q++)
        wrap += (uint32_t)(int32_t)x[q] * (uint32_t)(int32_t)y[q];
    for (int64_t q = 0; q < depth && !whole; q++) {
        const long double term = (long double)x[q] * y[q];
        sum += term;
        abs_sum += fabsl(term);
    }
    const double old = beta == 0 ? 0 : gt_case_old(t, at.z, at.row, at.col);
    *size = fabsl((long double)alpha) * abs_sum + fabsl((long double)beta * old);
    if (whole)
        return (int32_t)((uint32_t)(int32_t)alpha * wrap +
                         (uint32_t)(int32_t)beta * (uint32_t)(int32_t)old);
    return alpha * sum + (long double)beta * old;
}

/* Whether the reference has what the host has; `bytes` is element e of the reference. */
static gt_status agree(struct gt_case *t, int64_t e, const double *x, const double *y,
                       const void *bytes, struct gt_err *err) {
    const gemmtune_problem *p = &t->spec.problem;
    long double size;
    const struct place at = place_of(p, e);
    const long double want = host_element(t, at, x, y, &size);
    const double got = gt_element_get(bytes, t->checker->wide);
    const long double u = gt_type_unit(t->checker->wide);
    const bool same = got == want || (isnan(got) && isnan(want));
    if (same || fabsl(got - want) <= 2 * u * size + u * fabsl(want))
        return GEMMTUNE_OK;
    char name[GT_PROBLEM_NAME_MAX];
    gt_problem_name(p, name);
    return gt_fail(
        err, GEMMTUNE_EDEVICE,
        "the device computes %s wrongly even without tuning: element (%lld, %lld) of "
        "product %lld of the reference is %.17g, the host has %.17Lg",
        name, (long long)at.row, (long long)at.col, (long long)at.z, got, want);
}

/* Product z. `host` has its elements of the reference. `y` has room for all of op(B), so
 * that each number is made once. */
static gt_status agree_product(struct gt_case *t, int64_t z, double *x, double *y,
                               const char *host, struct gt_err *err) {
    const gemmtune_problem *p = &t->spec.problem;
    const size_t size = gt_type_size(t->checker->wide);
    gt_status status = GEMMTUNE_OK;
    for (int64_t j = 0; j < p->n; j++)
        column_of_b(y + j * p->k, t, z, 0, j);
    for (int64_t i = 0; status == GEMMTUNE_OK && i < p->m; i++) {
        row_of_a(x, t, z, i);
        for (int64_t j = 0; status == GEMMTUNE_OK && j < p->n; j++) {
            const int64_t e = i * p->n + j;
            status = agree(t, z * p->m * p->n + e, x, y + j * p->k, host + (size_t)e * size,
                           err);
        }
    }
    return status;
}

static gt_status agree_all(struct gt_case *t, double *x, double *y, struct gt_err *err) {
    const gemmtune_problem *p = &t->spec.problem;
    const int64_t bytes = p->m * p->n * (int64_t)gt_type_size(t->checker->wide);
    char *host = malloc((size_t)(p->batch * bytes));
    if (!host)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory to check the reference");
    gt_status status =
        gt_rig_head(t->checker->rig)
            ->ops->read(t->checker->rig, t->r, 0, host, p->batch * bytes, err);
    for (int64_t z = 0; status == GEMMTUNE_OK && z < p->batch; z++)
        status = agree_product(t, z, x, y, host + z * bytes, err);
    free(host);
    return status;
}

static gt_status agree_sampled(struct gt_case *t, int64_t samples, double *x, double *y,
                               struct gt_err *err) {
    const gemmtune_problem *p = &t->spec.problem;
    const int64_t size = (int64_t)gt_type_size(t->checker->wide);
    const int64_t total = gt_case_elements(p);
    gt_status status = GEMMTUNE_OK;
    for (int64_t i = 0; status == GEMMTUNE_OK && i < samples; i++) {
        /* both ends, and golden-ratio steps between them: spread over products, rows and
         * columns alike */
        const double where = fmod((double)i * 0.6180339887498949, 1.0);
        const int64_t e = i == 0   ? 0
                          : i == 1 ? total - 1
                                   : (int64_t)(where * (double)total);
        char bytes[8];
        status = gt_rig_head(t->checker->rig)
                     ->ops->read(t->checker->rig, t->r, e * size, bytes, size, err);
        row_of_a(x, t, place_of(p, e).z, place_of(p, e).row);
        column_of_b(y, t, place_of(p, e).z, place_of(p, e).row, place_of(p, e).col);
        if (status == GEMMTUNE_OK)
            status = agree(t, e, x, y, bytes, err);
    }
    return status;
}

static gt_status host_check(struct gt_case *t, struct gt_err *err) {
    const gemmtune_problem *p = &t->spec.problem;
    const int64_t depth = p->k > 1 ? p->k : 1;
    const int64_t samples = HOST_MACS / depth > 16 ? HOST_MACS / depth : 16;
    const bool all = gt_case_elements(p) <= samples && t->rows.host == NULL;
    double *x = malloc((size_t)depth * sizeof *x);
    double *y = malloc((size_t)(depth * (all && p->n > 1 ? p->n : 1)) * sizeof *y);
    gt_status status;
    if (!x || !y)
        status = gt_fail(err, GEMMTUNE_ENOMEM, "no memory to check the reference");
    else if (all)
        status = agree_all(t, x, y, err);
    else
        status = agree_sampled(t, samples < 512 ? samples : 512, x, y, err);
    free(x);
    free(y);
    return status;
}

/* ---- a case ---- */

static gt_status make_lists(struct gt_case *t, struct gt_err *err) {
    struct gt_checker *c = t->checker;
    const struct gt_rig_ops *ops = gt_rig_head(c->rig)->ops;
    void *output = NULL;
    gt_status status =
        ops->view(&output, c->rig, c->scratch, GT_GUARD, c->scratch_bytes - GT_GUARD, err);
    void *const matrix[3] = {t->a.view, t->b.view, output};
    if (status == GEMMTUNE_OK)
        status = gt_lists_create(&t->lists, c->rig, &t->asked, &t->spec.problem, matrix,
                                 &t->orders, err);
    if (output != NULL)
        ops->view_release(c->rig, output);
    return status;
}

gt_status gt_case_create(struct gt_case **out, struct gt_checker *c,
                         const struct gt_case_spec *spec, struct gt_err *err) {
    const struct gt_rig_ops *ops = gt_rig_head(c->rig)->ops;
    *out = NULL;
    struct gt_case *t = calloc(1, sizeof *t);
    if (!t)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for a test case");
    t->checker = c;
    t->asked = spec->problem;
    t->spec = *spec;
    t->spec.problem = gt_memory_of(&t->asked);
    t->orders = gt_orders_of(&t->asked);
    const int64_t r_bytes =
        gt_case_elements(&t->spec.problem) * (int64_t)gt_type_size(c->wide);
    gt_status status = gt_fused_create(t, err);
    if (status == GEMMTUNE_OK)
        status = make_operand(&t->a, t, 0, err);
    if (status == GEMMTUNE_OK)
        status = make_operand(&t->b, t, 1, err);
    if (status == GEMMTUNE_OK)
        status = make_lists(t, err);
    if (status == GEMMTUNE_OK)
        status = gt_rows_create(&t->rows, c->rig, &t->asked, spec->spread, spec->seed, err);
    if (status == GEMMTUNE_OK)
        status = ops->alloc(&t->r, c->rig, r_bytes, err);
    if (status == GEMMTUNE_OK)
        status = ops->alloc(&t->s, c->rig, r_bytes, err);
    if (status == GEMMTUNE_OK)
        status = make_reference(t, err);
    if (status == GEMMTUNE_OK)
        status = host_check(t, err);
    if (status == GEMMTUNE_OK)
        status = gt_fused_settle(t, err);
    if (status != GEMMTUNE_OK) {
        gt_case_destroy(t);
        return status;
    }
    *out = t;
    return GEMMTUNE_OK;
}

void gt_case_destroy(struct gt_case *t) {
    if (!t)
        return;
    clear_operand(&t->a, t->checker);
    clear_operand(&t->b, t->checker);
    gt_lists_clear(&t->lists, t->checker->rig);
    gt_rows_clear(&t->rows, t->checker->rig);
    gt_fused_destroy(t);
    gt_checker_release(t->checker, t->r);
    gt_checker_release(t->checker, t->s);
    free(t);
}
