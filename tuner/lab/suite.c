/* SPDX-License-Identifier: Apache-2.0 */
/* suite.c - a kernel made ready for all cases of a lab, its workspace, and its check. */
#include "tuner/lab/check_internal.h"
#include "tuner/lab/lab_internal.h"

#include <stdio.h>
#include <stdlib.h>

struct gt_suite {
    const struct gt_exec *exec; /* made for the problem; owned by the caller */
    /* for the listed cases; NULL: the kernel does not accept the case, or there is none */
    struct gt_exec *shared[GT_LAB_LISTED];
};

void gt_suite_destroy(struct gt_suite *s) {
    if (!s)
        return;
    for (int i = 0; i < GT_LAB_LISTED; i++)
        gt_exec_destroy(s->shared[i]);
    free(s);
}

static gt_status share_cases(struct gt_suite *s, const struct gt_lab *lab,
                             struct gt_err *err) {
    enum { FEW = 4 }; /* cases: a kernel that accepts fewer gets the substitutes */
    struct gt_case_spec spec;
    gt_status status = GEMMTUNE_OK;
    int accepted = 0;
    for (int i = 0; i < GT_LAB_LISTED && status == GEMMTUNE_OK; i++) {
        if (lab->listed[i] == NULL || !gt_case_listed(&spec, &lab->problem, i, lab->seed))
            continue;
        if (spec.stands_in && accepted >= FEW)
            continue;
        status = gt_exec_share(&s->shared[i], s->exec, &spec.problem, err);
        status = status == GEMMTUNE_EINVAL ? GEMMTUNE_OK : status;
        accepted += s->shared[i] != NULL;
    }
    return status;
}

/* ---- workspace ---- */

static int64_t workspace_of(const struct gt_exec *e) {
    struct gt_exec_info info;
    gt_exec_describe(e, &info);
    return info.fit->passes.workspace_bytes;
}

/* The limit has two parts. A caller of the library can be asked for a GiB, or for twice
 * what the matrices take: products by residues need 4 / 3 of it. The device must have room
 * for it beside the problem. */
static int64_t workspace_max(const struct gt_lab *lab) {
    const struct gt_device *d = gt_lab_device(lab);
    const int64_t left = d->mem_bytes - gt_lab_bytes(&lab->problem, d);
    const int64_t had = (left < d->max_alloc ? left : d->max_alloc) - 2 * GT_VIEW_ALIGN;
    const int64_t matrices = (int64_t)gt_problem_bytes(&lab->problem);
    const int64_t asked = matrices > INT64_C(1) << 29 ? 2 * matrices : INT64_C(1) << 30;
    return had < asked ? had : asked;
}

/* The largest workspace that one of the cases needs. */
static int64_t suite_workspace(const struct gt_suite *s) {
    int64_t need = workspace_of(s->exec);
    for (int i = 0; i < GT_LAB_LISTED; i++)
        if (s->shared[i] && workspace_of(s->shared[i]) > need)
            need = workspace_of(s->shared[i]);
    return need;
}

static gt_status reserve(struct gt_lab *lab, int64_t bytes, struct gt_err *err) {
    if (bytes > 0 && bytes > workspace_max(lab))
        return gt_fail(err, GEMMTUNE_EINVAL,
                       "needs %lld bytes of workspace, at most %lld may be had",
                       (long long)bytes, (long long)workspace_max(lab));
    return gt_checker_reserve(lab->checker, bytes, err);
}

gt_status gt_lab_reserve(struct gt_suite **out, struct gt_lab *lab, const struct gt_exec *e,
                         struct gt_err *err) {
    struct gt_suite *s = calloc(1, sizeof *s);
    *out = NULL;
    if (!s)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for the cases of a kernel");
    s->exec = e;
    gt_status status = share_cases(s, lab, err);
    if (status == GEMMTUNE_OK)
        status = reserve(lab, suite_workspace(s), err);
    if (status == GEMMTUNE_OK)
        *out = s;
    else
        gt_suite_destroy(s);
    return status;
}

/* ---- checking ---- */

gt_status gt_lab_check(bool *right, char why[GT_VERDICT_MAX], struct gt_lab *lab,
                       const struct gt_suite *s, struct gt_err *err) {
    enum { COUNT = GT_LAB_LISTED + 2 };
    struct gt_case *cases[COUNT];
    const struct gt_exec *execs[COUNT];
    int count = 0;
    for (int i = 0; i < GT_LAB_LISTED; i++)
        if (s->shared[i]) {
            cases[count] = lab->listed[i];
            execs[count++] = s->shared[i];
        }
    for (int i = 0; i < 2; i++) {
        cases[count] = lab->timed[i];
        execs[count++] = s->exec;
    }
    return gt_check(right, why, lab->checker, cases, execs, count, err);
}

gt_status gt_lab_recheck(bool *right, char why[GT_VERDICT_MAX], struct gt_lab *lab,
                         const struct gt_exec *e, struct gt_err *err) {
    for (int i = 0; i < GT_RACERS_MAX; i++)
        if (lab->found[i].exec == e && lab->found[i].why[0] != '\0') {
            snprintf(why, GT_VERDICT_MAX, "%s", lab->found[i].why);
            *right = false;
            return GEMMTUNE_OK;
        }
    return gt_check(right, why, lab->checker, &lab->timed[1], &e, 1, err);
}

gt_status gt_lab_error(struct gt_error *out, bool *measured, struct gt_lab *lab,
                       struct gt_err *err) {
    const gemmtune_problem *p = &lab->problem;
    *measured =
        gt_type_is_float(p->type_acc) && p->epilogue == NULL && p->m > 0 && p->n > 0;
    return *measured ? gt_checker_error(out, lab->timed[1], err) : GEMMTUNE_OK;
}
