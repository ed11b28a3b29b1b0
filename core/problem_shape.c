/* SPDX-License-Identifier: Apache-2.0 */
/* problem_shape.c - the shapes of a problem's matrices as they are stored. */
#include "core/problem.h"

struct gt_shape gt_problem_shape_a(const gemmtune_problem *p) {
    return p->trans_a ? (struct gt_shape){p->k, p->m} : (struct gt_shape){p->m, p->k};
}

struct gt_shape gt_problem_shape_b(const gemmtune_problem *p) {
    return p->trans_b ? (struct gt_shape){p->n, p->k} : (struct gt_shape){p->k, p->n};
}

struct gt_shape gt_problem_shape_c(const gemmtune_problem *p) {
    return (struct gt_shape){p->m, p->n};
}

int64_t gt_shape_packed_ld(struct gt_shape s) {
    return s.cols > 1 ? s.cols : 1;
}
