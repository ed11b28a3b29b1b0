/* SPDX-License-Identifier: Apache-2.0 */
/*
 * problem.c - problems in their one canonical form: checked, row-major, everything filled
 * in. Also: which problems have no kernel yet. It knows nothing about kernels.
 */
#include "core/problem/problem.h"

#include "core/epilogue/epilogue_keep.h"
#include "core/growth.h"
#include "core/limits.h"
#include "core/problem/packed.h"

#include <inttypes.h>
#include <string.h>

/* ---- checks ---------------------------------------------------------------- */

/* The enums of a caller's struct may hold anything. */
static gt_status check_words(const gemmtune_problem *p, struct gt_err *err) {
    const struct {
        const char *member;
        unsigned value, most;
        gemmtune_argument argument;
    } words[] = {
        {"layout", (unsigned)p->layout, GEMMTUNE_ROW_MAJOR, GEMMTUNE_ARG_LAYOUT},
        {"trans_a", (unsigned)p->trans_a, GEMMTUNE_TRANS, GEMMTUNE_ARG_TRANS_A},
        {"trans_b", (unsigned)p->trans_b, GEMMTUNE_TRANS, GEMMTUNE_ARG_TRANS_B},
        {"type_a", (unsigned)p->type_a, GEMMTUNE_I32, GEMMTUNE_ARG_TYPES},
        {"type_b", (unsigned)p->type_b, GEMMTUNE_I32, GEMMTUNE_ARG_TYPES},
        {"type_c", (unsigned)p->type_c, GEMMTUNE_I32, GEMMTUNE_ARG_TYPES},
        {"type_acc", (unsigned)p->type_acc, GEMMTUNE_I32, GEMMTUNE_ARG_TYPES},
        {"math", (unsigned)p->math, GEMMTUNE_MATH_BF16X3, GEMMTUNE_ARG_TYPES},
        {"batch_kind", (unsigned)p->batch_kind, GEMMTUNE_MASKED_ROWS, GEMMTUNE_ARG_BATCH},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i].value > words[i].most)
            return gt_blame(err,
                            gt_fail(err, GEMMTUNE_EINVAL,
                                    "%s is %u, not a value of its enum", words[i].member,
                                    words[i].value),
                            words[i].argument);
    return GEMMTUNE_OK;
}

static gt_status check_numbers(const gemmtune_problem *p, struct gt_err *err) {
    const struct {
        struct gt_limit limit;
        gemmtune_argument argument;
    } numbers[] = {
        {{"m", p->m, 0, GT_DIM_MAX}, GEMMTUNE_ARG_M},
        {{"n", p->n, 0, GT_DIM_MAX}, GEMMTUNE_ARG_N},
        {{"k", p->k, 0, GT_DIM_MAX}, GEMMTUNE_ARG_K},
        {{"lda", p->lda, 0, INT64_MAX}, GEMMTUNE_ARG_LDA},
        {{"ldb", p->ldb, 0, INT64_MAX}, GEMMTUNE_ARG_LDB},
        {{"ldc", p->ldc, 0, INT64_MAX}, GEMMTUNE_ARG_LDC},
        {{"batch", p->batch, 0, GT_DIM_MAX}, GEMMTUNE_ARG_BATCH},
        {{"expected_rows", p->expected_rows, 0, GT_DIM_MAX}, GEMMTUNE_ARG_ROWS},
    };
    gt_status status = GEMMTUNE_OK;
    for (size_t i = 0; status == GEMMTUNE_OK && i < sizeof numbers / sizeof *numbers; i++)
        status =
            gt_blame(err, gt_limits_check(&numbers[i].limit, 1, err), numbers[i].argument);
    return status;
}

/* Members that refer to rows, columns or B would change their meaning when A and B are
 * exchanged. */
static gt_status check_layout(const gemmtune_problem *p, struct gt_err *err) {
    const char *what = gt_problem_has_rows(p) ? "batch_kind"
                       : p->packed_b != 0     ? "packed_b"
                       : p->row_order != 0    ? "row_order"
                       : p->epilogue != NULL  ? "epilogue"
                                              : NULL;
    if (what == NULL || p->layout == GEMMTUNE_ROW_MAJOR)
        return GEMMTUNE_OK;
    (void)gt_fail(err, GEMMTUNE_EINVAL,
                  "%s speaks of rows, columns or B, so layout must be GEMMTUNE_ROW_MAJOR",
                  what);
    return gt_blame(err, GEMMTUNE_EINVAL, GEMMTUNE_ARG_LAYOUT);
}

/* ---- canonical form -------------------------------------------------------- */

/* Column-major memory read as row-major is the transpose: C' = B' A'. A matrix that was
 * stored transposed stays so. */
static gemmtune_problem row_major(const gemmtune_problem *p) {
    gemmtune_problem r = *p;
    r.layout = GEMMTUNE_ROW_MAJOR;
    if (p->layout == GEMMTUNE_COL_MAJOR) {
        r.trans_a = p->trans_b, r.trans_b = p->trans_a;
        r.type_a = p->type_b, r.type_b = p->type_a;
        r.m = p->n, r.n = p->m;
        r.lda = p->ldb, r.ldb = p->lda;
        r.stride_a = p->stride_b, r.stride_b = p->stride_a;
    }
    return r;
}

/* One operand while its numbers are filled in. */
struct operand {
    char letter; /* the caller's name for it */
    struct gt_shape shape;
    gemmtune_dtype type;
    int64_t *ld, *stride;
    int64_t count; /* matrices at this stride; 1: the stride has no effect */
};

static gt_status settle_ld(const struct operand *x, struct gt_err *err) {
    const int64_t least = gt_shape_least_ld(x->shape);
    if (*x->ld == 0)
        *x->ld = least;
    if (*x->ld < least)
        return gt_fail(err, GEMMTUNE_EINVAL,
                       "ld%c is %" PRId64 ", must be 0 (packed) or at least %" PRId64,
                       x->letter - 'A' + 'a', *x->ld, least);
    if (*x->ld > GT_DIM_MAX && x->shape.rows > 1)
        return gt_fail(err, GEMMTUNE_EINVAL,
                       "ld%c is %" PRId64 ", must be at most %" PRId64
                       " where there is more than one row or column of %c",
                       x->letter - 'A' + 'a', *x->ld, GT_DIM_MAX, x->letter);
    return GEMMTUNE_OK;
}

/* A matrix of a single row has no second row for its leading dimension to lead to. One that
 * is too large for kernels is then as good as the least one; others stay, since rows may be
 * aligned at them. */
static void drop_ld(const struct operand *x) {
    if (*x->ld <= GT_DIM_MAX)
        return;
    *x->ld = gt_shape_least_ld(x->shape);
    if (x->count == 1)
        *x->stride = x->shape.rows * *x->ld;
}

/* Whether the matrices of a batch follow one another, or lie side by side in wider rows. */
static bool lie_apart(const struct operand *x) {
    const int64_t stride = *x->stride, cols = x->shape.cols;
    return x->count == 1 || stride >= gt_shape_elems(x->shape, *x->ld) ||
           (stride >= cols && stride <= (*x->ld - cols) / (x->count - 1));
}

static gt_status settle_stride(const struct operand *x, struct gt_err *err) {
    /* Below 2^62 where there are several rows, because dimensions are below 2^31. */
    const int64_t packed = x->shape.rows * *x->ld;
    const char letter = (char)(x->letter - 'A' + 'a');
    if (x->count == 1 || *x->stride == GEMMTUNE_PACKED)
        *x->stride = packed;
    if (*x->stride < 0)
        return gt_fail(err, GEMMTUNE_EINVAL,
                       "stride_%c is %" PRId64 ", must be GEMMTUNE_PACKED or 0 or more",
                       letter, *x->stride);
    if (x->letter == 'C' && !lie_apart(x))
        return gt_fail(err, GEMMTUNE_EINVAL,
                       "stride_c is %" PRId64 ": the products of the batch overlap in C",
                       *x->stride);
    return GEMMTUNE_OK;
}

static gt_status check_bytes(const struct operand *x, struct gt_err *err) {
    int64_t count = 0, bytes;
    if (!gt_shape_count_elems(&count, x->shape, *x->ld, *x->stride, x->count))
        return gt_fail(err, GEMMTUNE_EINVAL, "%c has more elements than 64 bits count",
                       x->letter);
    if (__builtin_mul_overflow(count, (int64_t)gt_type_size(x->type), &bytes))
        return gt_fail(err, GEMMTUNE_EINVAL,
                       "%c has %" PRId64 " elements of %s: more bytes than 64 bits count",
                       x->letter, count, gt_type_name(x->type));
    return GEMMTUNE_OK;
}

/* The arguments about a matrix. */
static const struct {
    gemmtune_argument matrix, ld, stride;
} arguments_of[] = {
    {GEMMTUNE_ARG_A, GEMMTUNE_ARG_LDA, GEMMTUNE_ARG_STRIDE_A},
    {GEMMTUNE_ARG_B, GEMMTUNE_ARG_LDB, GEMMTUNE_ARG_STRIDE_B},
    {GEMMTUNE_ARG_C, GEMMTUNE_ARG_LDC, GEMMTUNE_ARG_STRIDE_C},
};

static gt_status settle_operand(const struct operand *x, struct gt_err *err) {
    const int i = x->letter - 'A';
    gt_status status = gt_blame(err, settle_ld(x, err), arguments_of[i].ld);
    if (status == GEMMTUNE_OK)
        status = gt_blame(err, settle_stride(x, err), arguments_of[i].stride);
    if (status != GEMMTUNE_OK)
        return status;
    drop_ld(x);
    return gt_blame(err, check_bytes(x, err), arguments_of[i].matrix);
}

/* Of a packed B the packing has chosen the layout. The caller's leading dimension must be a
 * possible one all the same. */
static gt_status settle_packed(gemmtune_problem *p, struct gt_err *err) {
    const struct operand given = {'B',     gt_problem_shape_b(p), p->type_b,
                                  &p->ldb, &p->stride_b,          p->batch};
    if (!p->packed_b)
        return GEMMTUNE_OK;
    const gt_status status = gt_blame(err, settle_ld(&given, err), GEMMTUNE_ARG_LDB);
    return status == GEMMTUNE_OK ? gt_packed_settle(p, err) : status;
}

/* Matrices in arrays of pointers count as if there were no gap between them. */
static gt_status settle_operands(gemmtune_problem *p, bool swap, struct gt_err *err) {
    const struct operand operands[] = {
        {swap ? 'B' : 'A', gt_problem_shape_a(p), p->type_a, &p->lda, &p->stride_a,
         gt_problem_outputs(p)},
        {swap ? 'A' : 'B', gt_problem_shape_b(p), p->type_b, &p->ldb, &p->stride_b,
         p->batch},
        {'C', gt_problem_shape_c(p), p->type_c, &p->ldc, &p->stride_c,
         gt_problem_outputs(p)},
    };
    gt_status status = GEMMTUNE_OK;
    if (p->batch_kind == GEMMTUNE_BATCH_POINTERS)
        p->stride_a = p->stride_b = p->stride_c = GEMMTUNE_PACKED;
    for (size_t i = 0; i < 3 && status == GEMMTUNE_OK; i++)
        status = settle_operand(&operands[i], err);
    return status;
}

static gt_status settle_rows(gemmtune_problem *p, struct gt_err *err) {
    if (!gt_problem_has_rows(p) && p->expected_rows != 0)
        return gt_fail(err, GEMMTUNE_EINVAL,
                       "expected_rows is %" PRId64 ", but no rows are grouped or masked",
                       p->expected_rows);
    if (gt_problem_has_rows(p) && p->expected_rows > p->m)
        return gt_fail(err, GEMMTUNE_EINVAL,
                       "expected_rows is %" PRId64 ", more than the %" PRId64 " of m",
                       p->expected_rows, p->m);
    if (p->expected_rows == 0)
        p->expected_rows = gt_problem_rows_by_default(p);
    return GEMMTUNE_OK;
}

static size_t least_element(const gemmtune_problem *p) {
    const size_t a = gt_type_size(p->type_a), b = gt_type_size(p->type_b),
                 c = gt_type_size(p->type_c), ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* A promise that every element keeps is 0. */
static gt_status settle_pointers(gemmtune_problem *p, struct gt_err *err) {
    const uint32_t bytes = p->pointer_align;
    if (bytes != 0 && !gt_problem_has_pointers(p))
        return gt_fail(err, GEMMTUNE_EINVAL,
                       "pointer_align is %" PRIu32 ", but the batch has no pointers",
                       bytes);
    if ((bytes & (bytes - 1)) != 0)
        return gt_fail(err, GEMMTUNE_EINVAL,
                       "pointer_align is %" PRIu32 ", must be 0 or a power of two", bytes);
    if (bytes > GT_VECTOR_BYTES)
        p->pointer_align = GT_VECTOR_BYTES;
    if (bytes <= least_element(p))
        p->pointer_align = 0;
    return GEMMTUNE_OK;
}

/* Sums of i8 become elements of another type in an epilogue: where none is given, by a
 * conversion. */
static gt_status settle_epilogue(gemmtune_problem *p, struct gt_err *err) {
    if (p->epilogue == NULL && gt_dtype_of(p) != NULL &&
        p->type_c != gt_type_without_epilogue(p->type_c, p->type_acc))
        p->epilogue = "d=x";
    if (p->epilogue == NULL)
        return GEMMTUNE_OK;
    char canonical[GT_EPILOGUE_MAX];
    return gt_epilogue_settle(canonical, p->epilogue, p->type_c, p->type_acc, err) ==
                   GEMMTUNE_OK
               ? GEMMTUNE_OK
               : GEMMTUNE_EINVAL;
}

/* A batch of no products is a product of no rows and no columns. */
static void make_empty(gemmtune_problem *p) {
    p->m = p->n = p->expected_rows = 0;
    p->lda = gt_shape_least_ld(gt_problem_shape_a(p));
    p->ldb = gt_packed_ld(p);
    p->ldc = gt_shape_least_ld(gt_problem_shape_c(p));
    p->stride_a = gt_problem_shape_a(p).rows * p->lda;
    p->stride_b = gt_problem_shape_b(p).rows * p->ldb;
    p->stride_c = 0;
}

/* The struct of the first release of this ABI is the present one. */
static const struct gt_growth growth = {sizeof(gemmtune_problem), sizeof(gemmtune_problem),
                                        "problem", "gemmtune_problem_init"};

gt_status gt_problem_settle(gemmtune_problem *out, bool *swapped,
                            const gemmtune_problem *in, struct gt_err *err) {
    gemmtune_problem given;
    gt_status status =
        gt_blame(err, gt_growth_read(&given, in, &growth, err), GEMMTUNE_ARG_PROBLEM);
    if (status == GEMMTUNE_OK)
        status = check_words(&given, err);
    if (status == GEMMTUNE_OK)
        status = check_numbers(&given, err);
    if (status == GEMMTUNE_OK)
        status = check_layout(&given, err);
    if (status != GEMMTUNE_OK)
        return status;
    const bool swap = given.layout == GEMMTUNE_COL_MAJOR, is_empty = given.batch == 0;
    gemmtune_problem p = row_major(&given);
    /* the other numbers of an empty batch are checked as the numbers of one product */
    p.batch = is_empty ? 1 : p.batch;
    p.struct_size = sizeof p;
    p.reads_c = p.reads_c != 0;
    p.packed_b = p.packed_b != 0;
    p.row_order = p.row_order != 0;
    p.math = gt_type_math(p.math, p.type_a, p.type_b, p.type_acc);
    status = settle_packed(&p, err);
    if (status == GEMMTUNE_OK)
        status = settle_operands(&p, swap, err);
    if (status == GEMMTUNE_OK)
        status = gt_blame(err, settle_rows(&p, err), GEMMTUNE_ARG_ROWS);
    if (status == GEMMTUNE_OK)
        status = gt_blame(err, settle_pointers(&p, err), GEMMTUNE_ARG_BATCH);
    if (status == GEMMTUNE_OK)
        status = gt_blame(err, settle_epilogue(&p, err), GEMMTUNE_ARG_EPILOGUE);
    if (status != GEMMTUNE_OK)
        return status;
    if (is_empty)
        make_empty(&p);
    *out = p;
    if (swapped != NULL)
        *swapped = swap;
    return GEMMTUNE_OK;
}

/* ---- problems without a kernel yet ---------------------------------------- */

static gt_status check_types(const gemmtune_problem *p, struct gt_err *err) {
    char types[GT_TYPES_WORD_MAX];
    if (gt_dtype_of(p) != NULL)
        return GEMMTUNE_OK;
    (void)gt_types_word(p, types);
    return gt_fail(err, GEMMTUNE_EUNSUPPORTED, "no kernel for types %s yet", types);
}

gt_status gt_problem_supported(const gemmtune_problem *p, struct gt_err *err) {
    return gt_blame(err, check_types(p, err), GEMMTUNE_ARG_TYPES);
}

gt_status gt_problem_keep(gemmtune_problem *p, struct gt_err *err) {
    return p->epilogue == NULL
               ? GEMMTUNE_OK
               : gt_epilogue_keep(&p->epilogue, p->type_c, p->type_acc, err);
}

gt_status gt_problem_canonical(gemmtune_problem *out, bool *swapped,
                               const gemmtune_problem *in, struct gt_err *err) {
    gemmtune_problem p;
    bool swap;
    gt_status status = gt_problem_settle(&p, &swap, in, err);
    if (status == GEMMTUNE_OK)
        status = gt_problem_supported(&p, err);
    if (status == GEMMTUNE_OK)
        status = gt_problem_keep(&p, err);
    if (status != GEMMTUNE_OK)
        return status;
    *out = p;
    if (swapped != NULL)
        *swapped = swap;
    return GEMMTUNE_OK;
}

/* ---- public ---------------------------------------------------------------- */

gt_status gt_problem_copy_out(gemmtune_problem *out, size_t size,
                              const gemmtune_problem *in, struct gt_err *err) {
    return gt_growth_write(out, size, in, &growth, err);
}

gt_status gt_problem_init(gemmtune_problem *p, size_t size, gemmtune_dtype type, int64_t m,
                          int64_t n, int64_t k, struct gt_err *err) {
    const struct gt_input *in = gt_input_of(type, GEMMTUNE_MATH_STRICT);
    const gemmtune_problem fresh = {
        .layout = GEMMTUNE_COL_MAJOR,
        .type_a = type,
        .type_b = type,
        .type_c = in != NULL ? in->c : type,
        .type_acc = in != NULL ? in->acc : type,
        .m = m,
        .n = n,
        .k = k,
        .batch = 1,
        .stride_a = GEMMTUNE_PACKED,
        .stride_b = GEMMTUNE_PACKED,
        .stride_c = GEMMTUNE_PACKED,
    };
    return gt_problem_copy_out(p, size, &fresh, err);
}

gemmtune_status gemmtune_problem_init_sized(gemmtune_problem *p, size_t size,
                                            gemmtune_dtype type, int64_t m, int64_t n,
                                            int64_t k) {
    struct gt_err *err = gt_public_entry();
    if (p == NULL)
        return gt_fail_null(err, "problem", GEMMTUNE_ARG_PROBLEM);
    return gt_problem_init(p, size, type, m, n, k, err);
}
