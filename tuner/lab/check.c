/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.c - see check.h: checks kernels on cases. All cases of a kernel are enqueued back
 * to back, and their counters are read once. Only a failure costs a second look.
 */
#include "tuner/lab/check_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- a candidate against a case ---- */

/* Fills A and B with the case's numbers or, before, with others. */
static gt_status fill_inputs(struct gt_case *t, uint64_t other, struct gt_err *err) {
    const struct gt_guarded *input[2] = {&t->a, &t->b};
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; status == GEMMTUNE_OK && i < 2; i++)
        status = gt_checker_fill(t->checker, input[i]->view, &input[i]->filled,
                                 input[i]->seed + other, t->spec.mode, err);
    return status;
}

static gt_status compare_all(struct gt_case *t, const struct gt_product *product, int slot,
                             struct gt_err *err) {
    gt_status status = t->fused == NULL
                           ? gt_checker_compare(t, slot, err)
                           : gt_fused_compare(t, product->rounds_sum, slot, err);
    if (status == GEMMTUNE_OK)
        status = gt_checker_unchanged(t, &t->a, slot, err);
    if (status == GEMMTUNE_OK)
        status = gt_checker_unchanged(t, &t->b, slot, err);
    if (status == GEMMTUNE_OK)
        status = gt_checker_within(t, product->workspace_bytes, slot, err);
    return status;
}

/* Launches on an output and a workspace as they are, and compares. */
static gt_status launch(struct gt_case *t, const struct gt_product *product,
                        const struct gt_call *call, int slot, struct gt_err *err) {
    const gt_status status = product->enqueue(product->self, call, err);
    return status == GEMMTUNE_OK ? compare_all(t, product, slot, err) : status;
}

/* Launches more than once on one output and one workspace. The first launch has other
 * numbers at the same addresses, and its result is not compared; each of the next two is.
 * Whatever a kernel has left in C, in the workspace or anywhere else is then worth nothing,
 * and C holds the right result before the last launch. */
static gt_status launch_again(struct gt_case *t, const struct gt_product *product,
                              const struct gt_call *call, int slot, struct gt_err *err) {
    enum { OTHER = 1 << 20 }; /* far from the seeds of all cases */
    gt_status status = fill_inputs(t, OTHER, err);
    if (status == GEMMTUNE_OK)
        status = product->enqueue(product->self, call, err);
    if (status == GEMMTUNE_OK)
        status = fill_inputs(t, 0, err);
    if (status == GEMMTUNE_OK)
        status = launch(t, product, call, slot, err);
    return status == GEMMTUNE_OK ? launch(t, product, call, slot, err) : status;
}

static gt_status enqueue_case(struct gt_case *t, const struct gt_product *product, int slot,
                              struct gt_err *err) {
    struct gt_checker *c = t->checker;
    const gemmtune_problem *p = &t->spec.problem;
    const struct gt_lists *lists = &t->lists;
    const bool again = t->spec.again && !gt_case_reads_c(t);
    void *view = NULL;
    const union gt_value alpha = gt_value_of(p->type_acc, t->spec.alpha),
                         beta = gt_value_of(p->type_acc, t->spec.beta);
    gt_status status = gt_case_output(&view, t, err);
    struct gt_fused_operands operands;
    struct gt_call call = {.alpha = &alpha,
                           .a = lists->view[0] != NULL ? lists->view[0] : t->a.view,
                           .b = lists->view[1] != NULL ? lists->view[1] : t->b.view,
                           .beta = &beta,
                           .c = lists->view[2] != NULL ? lists->view[2] : view,
                           .workspace = c->workspace.view,
                           .rows = t->rows.mem,
                           .stream = gt_rig_head(c->rig)->stream};
    gt_fused_call(&call, &operands, t);
    if (status == GEMMTUNE_OK)
        status = gt_case_workspace(t, product->workspace_bytes, err);
    if (status == GEMMTUNE_OK)
        status = gt_fused_spoil(t, err);
    if (status == GEMMTUNE_OK)
        status = (again ? launch_again : launch)(t, product, &call, slot, err);
    if (view)
        gt_rig_head(c->rig)->ops->view_release(c->rig, view);
    return status;
}

/* ---- a failure in words ---- */

/* The output and the reference of a case on the host. C has its leading dimension and
 * stride. */
struct seen {
    char *c, *r, *s;
};

static gt_status see(struct seen *v, struct gt_case *t, struct gt_err *err) {
    struct gt_checker *k = t->checker;
    const struct gt_rig_ops *ops = gt_rig_head(k->rig)->ops;
    const gemmtune_problem *p = &t->spec.problem;
    const int64_t es = (int64_t)gt_type_size(p->type_c);
    const int64_t c_bytes = gt_problem_elems_c(p) * es;
    const int64_t r_bytes = gt_case_elements(p) * (int64_t)gt_type_size(k->wide);
    v->c = malloc((size_t)c_bytes);
    v->r = malloc((size_t)r_bytes);
    v->s = malloc((size_t)r_bytes);
    if (!v->c || !v->r || !v->s)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory to examine a wrong result");
    gt_status status = ops->read(k->rig, k->scratch, GT_GUARD, v->c, c_bytes, err);
    if (status == GEMMTUNE_OK)
        status = ops->read(k->rig, t->r, 0, v->r, r_bytes, err);
    if (status == GEMMTUNE_OK)
        status = ops->read(k->rig, t->s, 0, v->s, r_bytes, err);
    return status;
}

bool gt_case_is_right(const struct gt_case *t, double got, double want, double size) {
    const struct gt_bound b = gt_bound_of(t);
    const double near = gt_element_round(t->spec.problem.type_c, want);
    if (got == near || (isnan(got) && isnan(near)))
        return true;
    return !gt_case_is_exact(t) &&
           fabs(got - want) <= b.sum * size + b.rounding * fmax(fabs(want), b.least);
}

/* Writes the first wrong element, "; (3, 4) is 1.5, not 2", of a batch "; (3, 4) of product
 * 7 is 1.5, not 2"; ", none when run again" when a second run had none. */
static void first_wrong(char *text, size_t size, const struct gt_case *t,
                        const struct seen *v) {
    const gemmtune_problem *p = &t->spec.problem;
    const gemmtune_dtype wide = t->checker->wide;
    const size_t c_size = gt_type_size(p->type_c), r_size = gt_type_size(wide);
    snprintf(text, size, ", none when run again");
    for (int64_t e = 0; e < gt_case_elements(p); e++) {
        const int64_t z = e / p->n / p->m, i = e / p->n % p->m, j = e % p->n;
        const int64_t at = z * p->stride_c + i * p->ldc + j;
        if (t->rows.used != NULL && i >= t->rows.used[z])
            continue;
        const double got = gt_element_get(v->c + (size_t)at * c_size, p->type_c);
        const double want = gt_element_get(v->r + (size_t)e * r_size, wide);
        if (!gt_case_is_right(t, got, want,
                              gt_element_get(v->s + (size_t)e * r_size, wide))) {
            char product[40] = "";
            if (gt_problem_outputs(p) > 1)
                snprintf(product, sizeof product, " of product %lld",
                         (long long)gt_case_product(t, z * p->m + i));
            snprintf(text, size, "; (%lld, %lld)%s is %.9g, not %.9g", (long long)i,
                     (long long)j, product, got, want);
            return;
        }
    }
}

static void describe_wrong(char *text, size_t size, struct gt_case *t,
                           const struct gt_product *product) {
    /* elements: wrong elements of larger outputs are counted, not shown */
    enum { LOOK_MAX = 1 << 26 };
    struct seen v = {0};
    const gemmtune_problem *p = &t->spec.problem;
    if (gt_problem_elems_c(p) > LOOK_MAX ||
        enqueue_case(t, product, GT_CASES_MAX - 1, NULL) != GEMMTUNE_OK)
        return;
    if (t->fused != NULL)
        gt_fused_first_wrong(text, size, t, product->rounds_sum);
    else if (see(&v, t, NULL) == GEMMTUNE_OK)
        first_wrong(text, size, t, &v);
    free(v.c);
    free(v.r);
    free(v.s);
}

static void describe(char *why, struct gt_case *t, const struct gt_product *product,
                     const uint32_t found[GT_COUNTERS]) {
    char name[GT_PROBLEM_NAME_MAX], element[128] = "";
    gt_problem_name(&t->asked, name);
    if (found[0])
        describe_wrong(element, sizeof element, t, product);
    static const char *const what[GT_COUNTERS] = {
        "elements wrong", "elements written outside C", "input elements overwritten",
        "bytes written outside the workspace"};
    int i = 0;
    while (i < GT_COUNTERS - 1 && !found[i])
        i++;
    snprintf(why, GT_VERDICT_MAX, "%.200s alpha %g beta %g: %u %s%s", name, t->spec.alpha,
             t->spec.beta, found[i], what[i], element);
}

/* ---- all cases ---- */

static gt_status enqueue_all(struct gt_checker *c, struct gt_case *const *cases,
                             const struct gt_product *products, int count,
                             struct gt_err *err) {
    const struct gt_rig_ops *ops = gt_rig_head(c->rig)->ops;
    gt_status status = ops->fill(c->rig, c->found, GT_CASES_MAX * GT_COUNTERS * 4, 0, err);
    for (int i = 0; status == GEMMTUNE_OK && i < count; i++)
        status = enqueue_case(cases[i], &products[i], i, err);
    return status;
}

/* The first case with a counter above 0, or -1. */
static int first_failed(uint32_t (*found)[GT_COUNTERS], int count) {
    for (int i = 0; i < count; i++)
        for (int j = 0; j < GT_COUNTERS; j++)
            if (found[i][j])
                return i;
    return -1;
}

/* Waits for the work that was enqueued before a launch was refused. A fault of that work is
 * worse than the refusal, so it is reported instead. */
static gt_status finish(struct gt_checker *c, gt_status status, struct gt_err *err) {
    struct gt_err fault;
    const gt_status ended = gt_rig_head(c->rig)->ops->finish(c->rig, &fault);
    return ended != GEMMTUNE_OK ? gt_fail(err, ended, "%s", fault.line) : status;
}

/* Runs products[i] on cases[i]. */
static gt_status check_all(bool *right, char *why, struct gt_checker *c,
                           struct gt_case *const *cases, const struct gt_product *products,
                           int count, struct gt_err *err) {
    const struct gt_rig_ops *ops = gt_rig_head(c->rig)->ops;
    uint32_t found[GT_CASES_MAX][GT_COUNTERS];
    *right = false;
    why[0] = '\0';
    gt_status status = enqueue_all(c, cases, products, count, err);
    if (status == GEMMTUNE_OK || status == GEMMTUNE_EINVAL ||
        status == GEMMTUNE_EUNSUPPORTED)
        status = finish(c, status, err);
    if (status == GEMMTUNE_OK)
        status = ops->read(c->rig, c->found, 0, found, count * GT_COUNTERS * 4, err);
    if (status != GEMMTUNE_OK)
        return status;
    const int bad = first_failed(found, count);
    *right = bad < 0;
    if (bad >= 0)
        describe(why, cases[bad], &products[bad], found[bad]);
    return GEMMTUNE_OK;
}

gt_status gt_check(bool *right, char *why, struct gt_checker *c,
                   struct gt_case *const *cases, const struct gt_exec *const *execs,
                   int count, struct gt_err *err) {
    struct gt_product product[GT_CASES_MAX];
    for (int i = 0; i < count; i++)
        product[i] = gt_product_of(execs[i]);
    return check_all(right, why, c, cases, product, count, err);
}

gt_status gt_check_product(bool *right, char *why, struct gt_checker *c,
                           struct gt_case *const *cases, const struct gt_product *product,
                           int count, struct gt_err *err) {
    struct gt_product same[GT_CASES_MAX];
    for (int i = 0; i < count; i++)
        same[i] = *product;
    return check_all(right, why, c, cases, same, count, err);
}

gt_status gt_error_of(struct gt_error *out, struct gt_checker *c, struct gt_case *t,
                      const struct gt_product *product, struct gt_err *err) {
    const gt_status status =
        finish(c, enqueue_case(t, product, GT_CASES_MAX - 1, err), err);
    return status == GEMMTUNE_OK ? gt_checker_error(out, t, err) : status;
}
