/* SPDX-License-Identifier: Apache-2.0 */
/* problem_shape.c - the shapes of a problem's matrices as they are stored, and sizes:
 * elements, bytes, operations, alignment. */
#include "core/epilogue/epilogue_cost.h"
#include "core/epilogue/epilogue_keep.h"
#include "core/problem/problem.h"

struct gt_shape gt_problem_shape_a(const gemmtune_problem *p) {
    return p->trans_a ? (struct gt_shape){p->k, p->m} : (struct gt_shape){p->m, p->k};
}

struct gt_shape gt_problem_shape_b(const gemmtune_problem *p) {
    return p->trans_b ? (struct gt_shape){p->n, p->k} : (struct gt_shape){p->k, p->n};
}

struct gt_shape gt_problem_shape_c(const gemmtune_problem *p) {
    return (struct gt_shape){p->m, p->n};
}

int64_t gt_shape_least_ld(struct gt_shape s) {
    return s.cols > 1 ? s.cols : 1;
}

int64_t gt_shape_elems(struct gt_shape s, int64_t ld) {
    return s.rows == 0 || s.cols == 0 ? 0 : (s.rows - 1) * ld + s.cols;
}

bool gt_shape_count_elems(int64_t *out, struct gt_shape shape, int64_t ld, int64_t stride,
                          int64_t count) {
    return !__builtin_mul_overflow(count - 1, stride, out) &&
           !__builtin_add_overflow(*out, gt_shape_elems(shape, ld), out);
}

double gt_problem_rows(const gemmtune_problem *p) {
    const double expected = (double)gt_problem_expected_rows(p) * (double)p->batch;
    const bool fewer = p->batch_kind != GEMMTUNE_GROUPED_ROWS || expected < (double)p->m;
    return fewer ? expected : (double)p->m;
}

double gt_problem_flops(const gemmtune_problem *p) {
    return 2.0 * gt_problem_rows(p) * (double)p->n * (double)p->k;
}

/* No overflow: gt_problem_settle has computed the same number with checks. */
static int64_t elems_of(struct gt_shape shape, int64_t ld, int64_t stride, int64_t count) {
    int64_t all = 0;
    return gt_shape_elems(shape, ld) > 0 &&
                   gt_shape_count_elems(&all, shape, ld, stride, count)
               ? all
               : 0;
}

int64_t gt_problem_elems_a(const gemmtune_problem *p) {
    return elems_of(gt_problem_shape_a(p), p->lda, p->stride_a, gt_problem_outputs(p));
}

int64_t gt_problem_elems_b(const gemmtune_problem *p) {
    return elems_of(gt_problem_shape_b(p), p->ldb, p->stride_b, p->batch);
}

int64_t gt_problem_elems_c(const gemmtune_problem *p) {
    return elems_of(gt_problem_shape_c(p), p->ldc, p->stride_c, gt_problem_outputs(p));
}

double gt_problem_bytes(const gemmtune_problem *p) {
    return (double)gt_problem_elems_a(p) * (double)gt_type_size(p->type_a) +
           (double)gt_problem_elems_b(p) * (double)gt_type_size(p->type_b) +
           (double)gt_problem_elems_c(p) * (double)gt_type_size(p->type_c);
}

double gt_problem_list_bytes(const gemmtune_problem *p) {
    const size_t pointers = gt_problem_has_pointers(p) ? 3 * sizeof(void *) : 0;
    const size_t rows = gt_problem_has_rows(p) ? sizeof(int32_t) : 0;
    return (double)p->batch * (double)(pointers + rows);
}

/* The bytes that an epilogue reads and writes beside A, B and the new C. */
static double epilogue_bytes(const gemmtune_problem *p) {
    const struct gt_epilogue *e = gt_epilogue_of(p);
    if (e == NULL)
        return 0;
    const struct gt_epilogue_cost cost =
        gt_epilogue_cost_of(e, p->batch, (int64_t)gt_problem_rows(p), p->n);
    return (double)cost.bytes_in + (double)cost.bytes_out;
}

double gt_problem_least_bytes(const gemmtune_problem *p) {
    const double rows = gt_problem_rows(p), n = (double)p->n, k = (double)p->k;
    const bool same_a = gt_problem_outputs(p) > 1 && p->stride_a == 0,
               same_b = p->stride_b == 0;
    const double rows_a = same_a ? (double)gt_problem_expected_rows(p) : rows;
    const double matrices_b = same_b ? 1 : (double)p->batch;
    return rows_a * k * (double)gt_type_size(p->type_a) +
           matrices_b * k * n * (double)gt_type_size(p->type_b) +
           rows * n * (double)gt_type_size(p->type_c) + gt_problem_list_bytes(p) +
           epilogue_bytes(p);
}

int64_t gt_row_align(int64_t ld, int64_t stride, gemmtune_dtype type,
                     int64_t pointer_align) {
    /* The lowest bit set in any of them is the largest power of two that divides all of
     * them. */
    const uint64_t step = (uint64_t)(ld | stride) * gt_type_size(type);
    const uint64_t all = step | (uint64_t)pointer_align | GT_VECTOR_BYTES;
    return (int64_t)(all & -all);
}
