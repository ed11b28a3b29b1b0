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

static const char *const layouts[2][2] = {{"nn", "nt"},
                                          {"tn", "tt"}}; /* [trans_a][trans_b] */

/* A stored operand: rows of `cols` elements, `ld` apart. */
struct shape {
    int64_t rows, cols;
};

static struct shape shape_a(const gemmtune_problem *p) {
    return p->trans_a ? (struct shape){p->k, p->m} : (struct shape){p->m, p->k};
}

static struct shape shape_b(const gemmtune_problem *p) {
    return p->trans_b ? (struct shape){p->n, p->k} : (struct shape){p->k, p->n};
}

static struct shape shape_c(const gemmtune_problem *p) {
    return (struct shape){p->m, p->n};
}

static int64_t packed(struct shape s) {
    return s.cols > 1 ? s.cols : 1;
}

static int64_t elems(struct shape s, int64_t ld) {
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
        {"math", (unsigned)p->math, GEMMTUNE_MATH_TF32},
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
    if (gt_dtype_of(p) == NULL)
        return gt_fail(err, GEMMTUNE_EUNSUPPORTED,
                       "no kernel computes A %s, B %s, C %s accumulated in %s%s",
                       gt_type_name(p->type_a), gt_type_name(p->type_b),
                       gt_type_name(p->type_c), gt_type_name(p->type_acc),
                       p->math == GEMMTUNE_MATH_TF32 ? " with tf32 products" : "");
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
static gt_status settle(int64_t *ld, int64_t *stride, struct shape s, gemmtune_dtype type,
                        char letter, struct gt_err *err) {
    int64_t bytes;
    if (*ld == 0)
        *ld = packed(s);
    if (*ld < packed(s))
        return gt_fail(err, GEMMTUNE_EINVAL,
                       "ld%c is %" PRId64 ", must be 0 (packed) or at least %" PRId64,
                       letter - 'A' + 'a', *ld, packed(s));
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
    /* TF32 is a licence to round f32 inputs: without any it says nothing. */
    if (p.type_a != GEMMTUNE_F32 && p.math == GEMMTUNE_MATH_TF32)
        p.math = GEMMTUNE_MATH_STRICT;
    gt_status status = check_words(in, err);
    if (status == GEMMTUNE_OK)
        status = check_numbers(in, err);
    if (status == GEMMTUNE_OK)
        status = check_support(&p, err);
    if (status == GEMMTUNE_OK)
        status = settle(&p.lda, &p.stride_a, shape_a(&p), p.type_a, swap ? 'B' : 'A', err);
    if (status == GEMMTUNE_OK)
        status = settle(&p.ldb, &p.stride_b, shape_b(&p), p.type_b, swap ? 'A' : 'B', err);
    if (status == GEMMTUNE_OK)
        status = settle(&p.ldc, &p.stride_c, shape_c(&p), p.type_c, 'C', err);
    if (status != GEMMTUNE_OK)
        return status;
    *out = p;
    if (swapped != NULL)
        *swapped = swap;
    return GEMMTUNE_OK;
}

/* ---- from a name ----------------------------------------------------------- */

/* Part of a name: the text up to a separator or the end. */
struct piece {
    const char *text;
    int len;
    char stop; /* the separator, '\0' at the end of the name */
};

/* Takes the text up to the first of `stops`, and that one too. */
static struct piece take(const char **at, const char *stops) {
    const size_t len = strcspn(*at, stops);
    const struct piece piece = {*at, (int)len, (*at)[len]};
    *at += len + (piece.stop != '\0');
    return piece;
}

static bool is_word(struct piece piece, const char *word) {
    return strlen(word) == (size_t)piece.len && memcmp(piece.text, word, strlen(word)) == 0;
}

static gt_status take_types(gemmtune_problem *p, const char **at, struct gt_err *err) {
    const struct piece piece = take(at, "-");
    const struct gt_dtype *row = gt_dtype_by_name(piece.text, (size_t)piece.len);
    if (row == NULL)
        return gt_fail(err, GEMMTUNE_EPARSE, "\"%.*s\" is not a data type", piece.len,
                       piece.text);
    p->type_a = row->a;
    p->type_b = row->b;
    p->type_c = row->c;
    p->type_acc = row->acc;
    p->math = row->math;
    return GEMMTUNE_OK;
}

static gt_status take_layout(gemmtune_problem *p, const char **at, struct gt_err *err) {
    const struct piece piece = take(at, "-");
    for (int i = 0; i < 4; i++) {
        if (is_word(piece, layouts[i / 2][i % 2])) {
            p->trans_a = i / 2 ? GEMMTUNE_TRANS : GEMMTUNE_NOTRANS;
            p->trans_b = i % 2 ? GEMMTUNE_TRANS : GEMMTUNE_NOTRANS;
            return GEMMTUNE_OK;
        }
    }
    return gt_fail(err, GEMMTUNE_EPARSE, "layout \"%.*s\" is not nn, nt, tn or tt",
                   piece.len, piece.text);
}

static gt_status read_number(int64_t *out, const char *what, struct piece piece,
                             int64_t least, struct gt_err *err) {
    int64_t value;
    if (!gt_text_int(&value, piece.text, (size_t)piece.len) || value < least ||
        value > GT_DIM_MAX)
        return gt_fail(err, GEMMTUNE_EPARSE,
                       "%s \"%.*s\" is not a number from %" PRId64 " to %" PRId64, what,
                       piece.len, piece.text, least, GT_DIM_MAX);
    *out = value;
    return GEMMTUNE_OK;
}

static gt_status take_sizes(gemmtune_problem *p, const char **at, struct gt_err *err) {
    const struct {
        const char *what;
        int64_t *value;
        char stop; /* what must follow; ',' stands for the end as well */
    } sizes[] = {{"m", &p->m, 'x'}, {"n", &p->n, 'x'}, {"k", &p->k, ','}};
    for (size_t i = 0; i < 3; i++) {
        const struct piece piece = take(at, "x,");
        gt_status status = read_number(sizes[i].value, sizes[i].what, piece, 0, err);
        if (status == GEMMTUNE_OK && piece.stop != sizes[i].stop &&
            (piece.stop != '\0' || sizes[i].stop != ','))
            status =
                gt_fail(err, GEMMTUNE_EPARSE,
                        "\"%.*s\" is followed by %s: the sizes are <m>x<n>x<k>", piece.len,
                        piece.text, piece.stop == '\0' ? "nothing" : "the wrong separator");
        if (status != GEMMTUNE_OK)
            return status;
    }
    return GEMMTUNE_OK;
}

/* One of "lda=8" .. "beta"; `seen` has a bit for each that came before. */
static gt_status take_option(gemmtune_problem *p, unsigned *seen, const char **at,
                             struct gt_err *err) {
    static const char *const names[] = {"lda", "ldb", "ldc", "batch", "beta"};
    int64_t *const values[] = {&p->lda, &p->ldb, &p->ldc, &p->batch}; /* beta has none */
    const struct piece piece = take(at, "=,");
    unsigned i = 0;
    while (i < 5 && !is_word(piece, names[i]))
        i++;
    if (i == 5 || (i < 4) != (piece.stop == '='))
        return gt_fail(err, GEMMTUNE_EPARSE,
                       "\"%.*s\" is not lda=, ldb=, ldc=, batch= or beta", piece.len,
                       piece.text);
    if (*seen & 1U << i)
        return gt_fail(err, GEMMTUNE_EPARSE, "%s is given a second time", names[i]);
    *seen |= 1U << i;
    if (i < 4)
        return read_number(values[i], names[i], take(at, ","), 1, err);
    p->reads_c = 1;
    return GEMMTUNE_OK;
}

static gt_status parse_name(gemmtune_problem *p, const char *name, struct gt_err *err) {
    const char *at = name;
    unsigned seen = 0;
    if (strlen(name) >= GT_PROBLEM_NAME_MAX)
        return gt_fail(err, GEMMTUNE_EPARSE, "longer than %d bytes",
                       GT_PROBLEM_NAME_MAX - 1);
    gt_status status = take_types(p, &at, err);
    if (status == GEMMTUNE_OK)
        status = take_layout(p, &at, err);
    if (status == GEMMTUNE_OK)
        status = take_sizes(p, &at, err);
    while (status == GEMMTUNE_OK && at[-1] == ',')
        status = take_option(p, &seen, &at, err);
    return status;
}

gt_status gt_problem_from_name(gemmtune_problem *out, const char *name,
                               struct gt_err *err) {
    gemmtune_problem p;
    gemmtune_problem_init(&p, GEMMTUNE_F32, 0, 0, 0);
    p.layout = GEMMTUNE_ROW_MAJOR;
    gt_status status = parse_name(&p, name, err);
    if (status == GEMMTUNE_OK)
        status = gt_problem_canonical(out, NULL, &p, err);
    if (status == GEMMTUNE_EINVAL)
        status = GEMMTUNE_EPARSE; /* the text is wrong, not an argument of the call */
    if (status != GEMMTUNE_OK)
        return gt_fail_within(err, status, "problem \"%.200s\"", name);
    return GEMMTUNE_OK;
}

/* ---- to a name ------------------------------------------------------------- */

const char *gt_problem_layout(const gemmtune_problem *p) {
    return layouts[p->trans_a != GEMMTUNE_NOTRANS][p->trans_b != GEMMTUNE_NOTRANS];
}

/* Writes ",lda=8" unless the value is the default; returns the new length. */
static int put_option(char *buf, int len, const char *what, int64_t value,
                      int64_t by_default) {
    if (value == by_default)
        return len;
    return len + snprintf(buf + len, GT_PROBLEM_NAME_MAX - (size_t)len, ",%s=%" PRId64,
                          what, value);
}

int gt_problem_name(const gemmtune_problem *p, char buf[GT_PROBLEM_NAME_MAX]) {
    const struct gt_dtype *row = gt_dtype_of(p);
    int len =
        snprintf(buf, GT_PROBLEM_NAME_MAX, "%s-%s-%" PRId64 "x%" PRId64 "x%" PRId64,
                 row != NULL ? row->name : "?", gt_problem_layout(p), p->m, p->n, p->k);
    len = put_option(buf, len, "lda", p->lda, packed(shape_a(p)));
    len = put_option(buf, len, "ldb", p->ldb, packed(shape_b(p)));
    len = put_option(buf, len, "ldc", p->ldc, packed(shape_c(p)));
    len = put_option(buf, len, "batch", p->batch, 1);
    if (p->reads_c)
        len += snprintf(buf + len, GT_PROBLEM_NAME_MAX - (size_t)len, ",beta");
    return len;
}

/* ---- sizes ----------------------------------------------------------------- */

double gt_problem_flops(const gemmtune_problem *p) {
    return 2.0 * (double)p->m * (double)p->n * (double)p->k;
}

int64_t gt_problem_elems_a(const gemmtune_problem *p) {
    return elems(shape_a(p), p->lda);
}

int64_t gt_problem_elems_b(const gemmtune_problem *p) {
    return elems(shape_b(p), p->ldb);
}

int64_t gt_problem_elems_c(const gemmtune_problem *p) {
    return elems(shape_c(p), p->ldc);
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
    *p = (gemmtune_problem){
        .struct_size = sizeof *p,
        .layout = GEMMTUNE_COL_MAJOR,
        .type_a = type,
        .type_b = type,
        .type_c = type,
        .type_acc = GEMMTUNE_F32,
        .m = m,
        .n = n,
        .k = k,
        .batch = 1,
    };
    for (size_t i = 0; gt_dtype_at(i) != NULL; i++) {
        const struct gt_dtype *row = gt_dtype_at(i);
        if (row->a == type && row->math == GEMMTUNE_MATH_STRICT) {
            p->type_c = row->c;
            p->type_acc = row->acc;
        }
    }
}

int gemmtune_problem_format(const gemmtune_problem *p, char *buf, size_t size) {
    struct gt_err *err = gt_thread_err();
    err->line[0] = '\0';
    if (p == NULL || (buf == NULL && size > 0))
        return gt_fail(err, GEMMTUNE_EINVAL, "%s is NULL", p == NULL ? "problem" : "buf");
    gemmtune_problem canonical;
    const gt_status status = gt_problem_canonical(&canonical, NULL, p, err);
    if (status != GEMMTUNE_OK)
        return status;
    char name[GT_PROBLEM_NAME_MAX];
    (void)gt_problem_name(&canonical, name);
    return snprintf(buf, size, "%s", name);
}

gemmtune_status gemmtune_problem_parse(gemmtune_problem *p, const char *name) {
    struct gt_err *err = gt_thread_err();
    err->line[0] = '\0';
    if (p == NULL || name == NULL)
        return gt_fail(err, GEMMTUNE_EINVAL, "%s is NULL", p == NULL ? "problem" : "name");
    return gt_problem_from_name(p, name, err);
}
