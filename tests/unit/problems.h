/* SPDX-License-Identifier: Apache-2.0 */
/* problems.h - problems to test with, and their comparison. */
#ifndef GT_TESTS_UNIT_PROBLEMS_H
#define GT_TESTS_UNIT_PROBLEMS_H

#include "core/problem/problem.h"

#include "core/epilogue/epilogue.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* A row-major f32 problem, not yet canonical. */
static inline gemmtune_problem rows(int64_t m, int64_t n, int64_t k) {
    gemmtune_problem p;
    gemmtune_problem_init(&p, GEMMTUNE_F32, m, n, k);
    p.layout = GEMMTUNE_ROW_MAJOR;
    return p;
}

static inline gemmtune_problem named(const char *name) {
    gemmtune_problem p;
    struct gt_err err = {""};
    const gt_status status = gt_problem_read_name(&p, name, &err);
    assert_string_equal(err.line, "");
    assert_int_equal(status, GEMMTUNE_OK);
    return p;
}

static inline void assert_same(const gemmtune_problem *a, const gemmtune_problem *b) {
    assert_int_equal(a->struct_size, b->struct_size);
    assert_int_equal(a->layout, b->layout);
    assert_int_equal(a->trans_a, b->trans_a);
    assert_int_equal(a->trans_b, b->trans_b);
    assert_int_equal(a->type_a, b->type_a);
    assert_int_equal(a->type_b, b->type_b);
    assert_int_equal(a->type_c, b->type_c);
    assert_int_equal(a->type_acc, b->type_acc);
    assert_int_equal(a->math, b->math);
    assert_int_equal(a->m, b->m);
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->k, b->k);
    assert_int_equal(a->lda, b->lda);
    assert_int_equal(a->ldb, b->ldb);
    assert_int_equal(a->ldc, b->ldc);
    assert_int_equal(a->batch, b->batch);
    assert_int_equal(a->stride_a, b->stride_a);
    assert_int_equal(a->stride_b, b->stride_b);
    assert_int_equal(a->stride_c, b->stride_c);
    assert_int_equal(a->reads_c, b->reads_c);
    assert_int_equal(a->batch_kind, b->batch_kind);
    assert_int_equal(a->expected_rows, b->expected_rows);
    assert_int_equal(a->packed_b, b->packed_b);
    assert_int_equal(a->row_order, b->row_order);
    assert_int_equal(a->epilogue == NULL, b->epilogue == NULL);
    if (a->epilogue != NULL)
        assert_string_equal(a->epilogue, b->epilogue);
}

/* ---- canonical form ---- */

static inline void assert_refused(const gemmtune_problem *p, gt_status status,
                                  const char *said) {
    struct gt_err err = {""};
    gemmtune_problem out = {.m = 77};
    bool swapped = true;
    assert_int_equal(gt_problem_canonical(&out, &swapped, p, &err), status);
    if (strstr(err.line, said) == NULL)
        fail_msg("said: %s", err.line);
    assert_int_equal(out.m, 77);
    assert_true(swapped);
    assert_int_equal(gt_problem_canonical(&out, NULL, p, NULL), status);
}

#endif
