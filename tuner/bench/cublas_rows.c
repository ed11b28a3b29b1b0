/* SPDX-License-Identifier: Apache-2.0 */
/* cublas_rows.c - see cublas_rows.h. */
#include "tuner/bench/cublas_rows.h"

#include <stdlib.h>
#include <string.h>

/* Rows of A, B and C begin at multiples of 16 bytes in every group. Groups of a transposed
 * A are columns of it, which begin anywhere. */
static bool is_aligned(const gemmtune_problem *p) {
    const bool grouped = p->batch_kind == GEMMTUNE_GROUPED_ROWS;
    const int64_t most = GT_VECTOR_BYTES;
    return !(grouped && p->trans_a) &&
           gt_row_align(p->lda, p->stride_a, p->type_a, most) == most &&
           gt_row_align(p->ldb, p->stride_b, p->type_b, most) == most &&
           gt_row_align(p->ldc, p->stride_c, p->type_c, most) == most;
}

bool gt_cublas_rows_in_one(const gemmtune_problem *p, bool pedantic) {
    const bool is_wide = p->type_a == p->type_acc, is_fast = p->math == GEMMTUNE_MATH_TF32;
    return p->type_c == p->type_a && (is_wide || !pedantic) &&
           ((is_wide && (pedantic || !is_fast)) || is_aligned(p));
}

/* ---- the arrays of the call with groups ---- */

static void drop_arrays(struct gt_cublas_rows *r) {
    for (int i = 0; i < 2; i++) {
        free(r->op[i]);
        free(r->scale[i]);
        r->op[i] = NULL;
        r->scale[i] = NULL;
    }
    for (int i = 0; i < GT_CUBLAS_NUMBERS; i++) {
        free(r->number[i]);
        r->number[i] = NULL;
    }
}

static gt_status make_arrays(struct gt_cublas_rows *r, size_t groups, struct gt_err *err) {
    bool enough = true;
    for (int i = 0; i < 2; i++) {
        r->op[i] = calloc(groups, sizeof *r->op[i]);
        r->scale[i] = calloc(groups, sizeof *r->scale[i]);
        enough = enough && r->op[i] != NULL && r->scale[i] != NULL;
    }
    for (int i = 0; i < GT_CUBLAS_NUMBERS; i++) {
        r->number[i] = calloc(groups, sizeof *r->number[i]);
        enough = enough && r->number[i] != NULL;
    }
    return enough ? GEMMTUNE_OK
                  : gt_fail(err, GEMMTUNE_ENOMEM, "no memory for the sizes of groups");
}

static void fill_arrays(struct gt_cublas_rows *r) {
    const struct gt_cublas_shape *s = &r->shape;
    const int number[GT_CUBLAS_NUMBERS] = {
        [GT_CUBLAS_M] = s->m,     [GT_CUBLAS_K] = s->k,     [GT_CUBLAS_LDA] = s->lda,
        [GT_CUBLAS_LDB] = s->ldb, [GT_CUBLAS_LDC] = s->ldc, [GT_CUBLAS_SIZE] = 1};
    for (int g = 0; g < s->batch; g++) {
        r->op[0][g] = s->op_a;
        r->op[1][g] = s->op_b;
        for (int i = 0; i < GT_CUBLAS_NUMBERS; i++)
            r->number[i][g] = number[i];
    }
}

gt_status gt_cublas_rows_prepare(struct gt_cublas_rows *r, const gemmtune_problem *p,
                                 struct gt_err *err) {
    r->shape = gt_cublas_shape_of(p);
    drop_arrays(r);
    gt_status status = make_arrays(r, (size_t)p->batch, err);
    if (status != GEMMTUNE_OK)
        return status;
    fill_arrays(r);
    return gt_pieces_prepare(&r->store, p, err);
}

void gt_cublas_rows_clear(struct gt_cublas_rows *r) {
    drop_arrays(r);
    gt_pieces_clear(&r->store);
}

/* ---- the calls ---- */

static gt_status enqueue_groups(struct gt_cublas_rows *r, gt_cublas_compute compute,
                                const struct gt_pieces *of, const struct gt_call *x,
                                struct gt_err *err) {
    const struct gt_cublas_shape *s = &r->shape;
    const size_t size = s->scale == GT_CUBLAS_F64 ? sizeof(double) : sizeof(float);
    int *const *const n = r->number;
    if (r->api->cublasGemmGroupedBatchedEx == NULL)
        return gt_fail(err, GEMMTUNE_EUNSUPPORTED,
                       "this cuBLAS has no cublasGemmGroupedBatchedEx");
    for (int g = 0; g < of->count; g++) {
        memcpy((char *)r->scale[0] + (size_t)g * size, x->alpha, size);
        memcpy((char *)r->scale[1] + (size_t)g * size, x->beta, size);
    }
    return gt_cublas_result(
        r->api->cublasGemmGroupedBatchedEx(
            r->handle, r->op[0], r->op[1], n[GT_CUBLAS_M], of->rows, n[GT_CUBLAS_K],
            r->scale[0], (const void *const *)of->lists.view[1], s->type_a,
            n[GT_CUBLAS_LDA], (const void *const *)of->lists.view[0], s->type_b,
            n[GT_CUBLAS_LDB], r->scale[1], (void *const *)of->lists.view[2], s->type_c,
            n[GT_CUBLAS_LDC], of->count, n[GT_CUBLAS_SIZE], compute),
        "cublasGemmGroupedBatchedEx", err);
}

static gt_status enqueue_each(const struct gt_cublas_rows *r, gt_cublas_compute compute,
                              const struct gt_pieces *of, const struct gt_call *x,
                              struct gt_err *err) {
    const struct gt_cublas_shape *s = &r->shape;
    gt_status status = GEMMTUNE_OK;
    for (int g = 0; status == GEMMTUNE_OK && g < of->count; g++)
        status = gt_cublas_result(
            r->api->cublasGemmEx(r->handle, s->op_a, s->op_b, s->m, of->rows[g], s->k,
                                 x->alpha, of->matrix[1][g], s->type_a, s->lda,
                                 of->matrix[0][g], s->type_b, s->ldb, x->beta,
                                 of->matrix[2][g], s->type_c, s->ldc, compute,
                                 GT_CUBLAS_ALGO_DEFAULT),
            "cublasGemmEx", err);
    return status;
}

gt_status gt_cublas_rows_enqueue(struct gt_cublas_rows *r, bool in_one,
                                 gt_cublas_compute compute, const struct gt_call *x,
                                 struct gt_err *err) {
    const struct gt_pieces *of;
    const gt_status status = gt_pieces_find(&of, &r->store, x, err);
    if (status != GEMMTUNE_OK || of->count == 0)
        return status;
    return in_one ? enqueue_groups(r, compute, of, x, err)
                  : enqueue_each(r, compute, of, x, err);
}
