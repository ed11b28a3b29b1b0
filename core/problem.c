/* SPDX-License-Identifier: Apache-2.0 */
/*
 * problem.c - one form for every problem: checked, row-major, everything filled in; and its
 * name. Knows what is computed, never how.
 */
#include "core/problem.h"

#include "core/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

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

static int64_t elems(struct gt_shape s, int64_t ld) {
    return s.rows == 0 || s.cols == 0 ? 0 : (s.rows - 1) * ld + s.cols;
}

/* ---- canonical form -------------------------------------------------------- */

/* The enums of a caller's struct may hold anything. */
static gt_status check_words(const gemmtune_problem *p, struct gt_err *err) {
    const struct {
        const char *member;
        unsigned value, most;
    } words[] = {
        {"layout", (unsigned)p->layout, GEMMTUNE_ROW_MAJOR},
        {"trans_a", (unsigned)p->trans_a, GEMMTUNE_TRANS},
        {"trans_b", (unsigned)p->trans_b, GEMMTUNE_TRANS},
        {"type_a", (unsigned)p->type_a, GEMMTUNE_I32},
        {"type_b", (unsigned)p->type_b, GEMMTUNE_I32},
        {"type_c", (unsigned)p->type_c, GEMMTUNE_I32},
        {"type_acc", (unsigned)p->type_acc, GEMMTUNE_I32},
        {"math", (unsigned)p->math, GEMMTUNE_MATH_FAST},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i].value > words[i].most)
            return gt_fail(err, GEMMTUNE_EINVAL, "%s is %u, not a value of its enum",
                           words[i].member, words[i].value);
    return GEMMTUNE_OK;
}

static gt_status check_numbers(const gemmtune_problem *p, struct gt_err *err) {
    const struct {
        const char *member;
        int64_t value, least, most;
    } numbers[] = {
        {"m", p->m, 0, GT_DIM_MAX},
        {"n", p->n, 0, GT_DIM_MAX},
        {"k", p->k, 0, GT_DIM_MAX},
        {"lda", p->lda, 0, GT_DIM_MAX},
        {"ldb", p->ldb, 0, GT_DIM_MAX},
        {"ldc", p->ldc, 0, GT_DIM_MAX},
        {"batch", p->batch, 1, INT64_MAX},
        {"stride_a", p->stride_a, 0, INT64_MAX},
        {"stride_b", p->stride_b, 0, INT64_MAX},
        {"stride_c", p->stride_c, 0, INT64_MAX},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i].value < numbers[i].least || numbers[i].value > numbers[i].most)
            return gt_fail(err, GEMMTUNE_EINVAL,
                           "%s is %" PRId64 ", must be from %" PRId64 " to %" PRId64,
                           numbers[i].member, numbers[i].value, numbers[i].least,
                           numbers[i].most);
    return GEMMTUNE_OK;
}

static gt_status check_support(const gemmtune_problem *p, struct gt_err *err) {
    char types[GT_TYPES_WORD_MAX];
    (void)gt_types_word(p, types);
    if (gt_dtype_of(p) == NULL)
        return gt_fail(err, GEMMTUNE_EUNSUPPORTED, "no kernel for types %s yet", types);
    if (p->batch > 1)
        return gt_fail(err, GEMMTUNE_EUNSUPPORTED,
                       "batch is %" PRId64
                       ": gemmtune has no batched kernels, only batch 1",
                       p->batch);
    return GEMMTUNE_OK;
}

/* Column-major memory read as row-major is the transpose: C' = B' A'. What was stored
 * transposed stays so. */
static gemmtune_problem row_major(const gemmtune_problem *p) {
    gemmtune_problem r = *p;
    r.layout = GEMMTUNE_ROW_MAJOR;
    if (p->layout == GEMMTUNE_COL_MAJOR) {
        r.trans_a = p->trans_b, r.trans_b = p->trans_a;
        r.type_a = p->type_b, r.type_b = p->type_a;
        r.m = p->n, r.n = p->m;
        r.lda = p->ldb, r.ldb = p->lda;
    }
    return r;
}

/* Fills in the leading dimension and the stride of operand `letter` (the caller's name). */
static gt_status settle(int64_t *ld, int64_t *stride, struct gt_shape s,
                        gemmtune_dtype type, char letter, struct gt_err *err) {
    int64_t bytes;
    if (*ld == 0)
        *ld = gt_shape_packed_ld(s);
    if (*ld < gt_shape_packed_ld(s))
        return gt_fail(err, GEMMTUNE_EINVAL,
                       "ld%c is %" PRId64 ", must be 0 (packed) or at least %" PRId64,
                       letter - 'A' + 'a', *ld, gt_shape_packed_ld(s));
    /* Elements fit an int64 because dimensions are below 2^31; bytes may not. */
    if (__builtin_mul_overflow(elems(s, *ld), (int64_t)gt_type_size(type), &bytes))
        return gt_fail(err, GEMMTUNE_EINVAL,
                       "%c has %" PRId64 " elements of %s: more bytes than 64 bits count",
                       letter, elems(s, *ld), gt_type_name(type));
    *stride = s.rows * *ld; /* of no use with batch 1: one value, so that equal is equal */
    return GEMMTUNE_OK;
}

gt_status gt_problem_canonical(gemmtune_problem *out, bool *swapped,
                               const gemmtune_problem *in, struct gt_err *err) {
    if (in->struct_size != sizeof *in)
        return gt_fail(err, GEMMTUNE_EINVAL,
                       "struct_size is %" PRIu32
                       ", not %zu: call gemmtune_problem_init first",
                       in->struct_size, sizeof *in);
    const bool swap = in->layout == GEMMTUNE_COL_MAJOR;
    gemmtune_problem p = row_major(in);
    p.reads_c = in->reads_c != 0;
    p.math = gt_type_math(p.math, p.type_a, p.type_b, p.type_acc);
    gt_status status = check_words(in, err);
    if (status == GEMMTUNE_OK)
        status = check_numbers(in, err);
    if (status == GEMMTUNE_OK)
        status = check_support(&p, err);
    if (status == GEMMTUNE_OK)
        status = settle(&p.lda, &p.stride_a, gt_problem_shape_a(&p), p.type_a,
                        swap ? 'B' : 'A', err);
    if (status == GEMMTUNE_OK)
        status = settle(&p.ldb, &p.stride_b, gt_problem_shape_b(&p), p.type_b,
                        swap ? 'A' : 'B', err);
    if (status == GEMMTUNE_OK)
        status = settle(&p.ldc, &p.stride_c, gt_problem_shape_c(&p), p.type_c, 'C', err);
    if (status != GEMMTUNE_OK)
        return status;
    *out = p;
    if (swapped != NULL)
        *swapped = swap;
    return GEMMTUNE_OK;
}

/* ---- sizes ----------------------------------------------------------------- */

double gt_problem_flops(const gemmtune_problem *p) {
    return 2.0 * (double)p->m * (double)p->n * (double)p->k;
}

int64_t gt_problem_elems_a(const gemmtune_problem *p) {
    return elems(gt_problem_shape_a(p), p->lda);
}

int64_t gt_problem_elems_b(const gemmtune_problem *p) {
    return elems(gt_problem_shape_b(p), p->ldb);
}

int64_t gt_problem_elems_c(const gemmtune_problem *p) {
    return elems(gt_problem_shape_c(p), p->ldc);
}

double gt_problem_bytes(const gemmtune_problem *p) {
    return (double)gt_problem_elems_a(p) * (double)gt_type_size(p->type_a) +
           (double)gt_problem_elems_b(p) * (double)gt_type_size(p->type_b) +
           (double)gt_problem_elems_c(p) * (double)gt_type_size(p->type_c);
}

static double log_ratio(int64_t x, int64_t y) {
    return log2((double)(x > 1 ? x : 1)) - log2((double)(y > 1 ? y : 1));
}

bool gt_problem_same_kind(const gemmtune_problem *x, const gemmtune_problem *y) {
    return gt_dtype_of(x) == gt_dtype_of(y) && x->trans_a == y->trans_a &&
           x->trans_b == y->trans_b;
}

double gt_problem_distance2(const gemmtune_problem *x, const gemmtune_problem *y) {
    const double m = log_ratio(x->m, y->m), n = log_ratio(x->n, y->n),
                 k = log_ratio(x->k, y->k);
    return m * m + n * n + k * k;
}

int64_t gt_row_align(int64_t ld, gemmtune_dtype type, int64_t pointer_align) {
    /* The lowest bit set in any of them is the largest power of two that divides them all.
     */
    const int64_t all = ld * (int64_t)gt_type_size(type) | pointer_align | GT_VECTOR_BYTES;
    return all & -all;
}

/* ---- public ---------------------------------------------------------------- */

void gemmtune_problem_init(gemmtune_problem *p, gemmtune_dtype type, int64_t m, int64_t n,
                           int64_t k) {
    const struct gt_input *in = gt_input_of(type, GEMMTUNE_MATH_STRICT);
    *p = (gemmtune_problem){
        .struct_size = sizeof *p,
        .layout = GEMMTUNE_COL_MAJOR,
        .type_a = type,
        .type_b = type,
        .type_c = in != NULL ? in->c : type,
        .type_acc = in != NULL ? in->acc : type,
        .m = m,
        .n = n,
        .k = k,
        .batch = 1,
    };
}
