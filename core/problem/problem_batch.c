/* SPDX-License-Identifier: Apache-2.0 */
/* problem_batch.c - the kinds of batches: their matrices and their rows. */
#include "core/problem/problem.h"

bool gt_problem_is_batch(const gemmtune_problem *p) {
    return p->batch_kind != GEMMTUNE_BATCH_STRIDED || p->batch > 1;
}

bool gt_problem_has_pointers(const gemmtune_problem *p) {
    return p->batch_kind == GEMMTUNE_BATCH_POINTERS;
}

bool gt_problem_has_rows(const gemmtune_problem *p) {
    return p->batch_kind == GEMMTUNE_GROUPED_ROWS || p->batch_kind == GEMMTUNE_MASKED_ROWS;
}

int64_t gt_problem_outputs(const gemmtune_problem *p) {
    return p->batch_kind == GEMMTUNE_GROUPED_ROWS ? 1 : p->batch;
}

int64_t gt_problem_expected_rows(const gemmtune_problem *p) {
    return gt_problem_has_rows(p) ? p->expected_rows : p->m;
}

int64_t gt_problem_rows_by_default(const gemmtune_problem *p) {
    if (!gt_problem_has_rows(p))
        return 0;
    return p->batch_kind == GEMMTUNE_GROUPED_ROWS ? (p->m + p->batch - 1) / p->batch : p->m;
}
