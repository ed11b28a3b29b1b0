/* SPDX-License-Identifier: Apache-2.0 */
/* problem_near.c - which problems one kernel may serve, and how far two problems are from
 * each other. */
#include "core/problem/problem.h"

#include "core/epilogue/epilogue_keep.h"

#include <math.h>
#include <string.h>

/* Whether two problems of the same types have epilogues of one meaning. */
static bool same_epilogue(const gemmtune_problem *x, const gemmtune_problem *y) {
    char of_x[GT_EPILOGUE_MAX], of_y[GT_EPILOGUE_MAX];
    if (x->epilogue == y->epilogue || x->epilogue == NULL || y->epilogue == NULL)
        return x->epilogue == y->epilogue;
    return gt_epilogue_settle(of_x, x->epilogue, x->type_c, x->type_acc, NULL) ==
               GEMMTUNE_OK &&
           gt_epilogue_settle(of_y, y->epilogue, y->type_c, y->type_acc, NULL) ==
               GEMMTUNE_OK &&
           strcmp(of_x, of_y) == 0;
}

bool gt_problem_same_kind(const gemmtune_problem *x, const gemmtune_problem *y) {
    return gt_dtype_of(x) == gt_dtype_of(y) && x->trans_a == y->trans_a &&
           x->trans_b == y->trans_b && x->batch_kind == y->batch_kind &&
           gt_problem_is_batch(x) == gt_problem_is_batch(y) &&
           x->row_order == y->row_order && same_epilogue(x, y);
}

bool gt_problem_lends(const gemmtune_problem *known, const gemmtune_problem *p) {
    gemmtune_problem q = *known;
    if (p->row_order)
        q.row_order = p->row_order;
    if (p->epilogue != NULL)
        q.epilogue = p->epilogue;
    if (known->batch > 1 && known->batch_kind == GEMMTUNE_BATCH_STRIDED)
        q.batch_kind = p->batch_kind;
    return gt_problem_same_kind(&q, p);
}

gemmtune_problem gt_problem_plain(const gemmtune_problem *p) {
    gemmtune_problem plain = *p;
    plain.epilogue = NULL;
    plain.type_c = gt_type_without_epilogue(p->type_c, p->type_acc);
    return plain;
}

static double log_of(int64_t size) {
    return log2((double)(size > 1 ? size : 1));
}

void gt_problem_place(double at[GT_PLACE_DIMS], const gemmtune_problem *p) {
    at[0] = log_of(gt_problem_expected_rows(p));
    at[1] = log_of(p->n);
    at[2] = log_of(p->k);
    at[3] = log_of(p->batch);
}

double gt_place_distance2(const double x[GT_PLACE_DIMS], const double y[GT_PLACE_DIMS]) {
    double sum = 0;
    for (int i = 0; i < GT_PLACE_DIMS; i++)
        sum += (x[i] - y[i]) * (x[i] - y[i]);
    return sum;
}

double gt_problem_distance2(const gemmtune_problem *x, const gemmtune_problem *y) {
    double at_x[GT_PLACE_DIMS], at_y[GT_PLACE_DIMS];
    gt_problem_place(at_x, x);
    gt_problem_place(at_y, y);
    return gt_place_distance2(at_x, at_y);
}
