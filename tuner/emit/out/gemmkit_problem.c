/* SPDX-License-Identifier: Apache-2.0 */
/* gemmkit_problem.c - the one form of a problem, and the launches of general kernels. */
#include "gemmkit_inside.h"

#include <string.h>

#define DIM_MAX INT64_C(2147483647)
enum { VECTOR_BYTES = 16, TYPES = 8, MATHS = 7 };

void gemmkit_problem_init(gemmkit_problem *p, gemmkit_dtype type, int64_t m, int64_t n,
                          int64_t k) {
    const bool bytes = type == GEMMKIT_E4M3 || type == GEMMKIT_E5M2;
    const bool integer = type == GEMMKIT_I8 || type == GEMMKIT_I32;
    memset(p, 0, sizeof *p);
    p->type_a = p->type_b = type;
    p->type_c = bytes ? GEMMKIT_BF16 : integer ? GEMMKIT_I32 : type;
    p->type_acc = integer ? GEMMKIT_I32 : type == GEMMKIT_F64 ? type : GEMMKIT_F32;
    p->m = m;
    p->n = n;
    p->k = k;
    p->batch = 1;
    p->stride_a = p->stride_b = p->stride_c = GEMMKIT_PACKED;
}

size_t gk_type_size(int type) {
    static const uint8_t size[TYPES] = {4, 8, 2, 2, 1, 1, 1, 4};
    return size[type];
}

/* Arithmetic that means something for other types is strict arithmetic. */
static uint8_t math_of(const gemmkit_problem *p) {
    const bool f32 = p->type_a == GEMMKIT_F32, f64 = p->type_a == GEMMKIT_F64;
    const bool bytes = p->type_a == GEMMKIT_E4M3 || p->type_a == GEMMKIT_E5M2;
    const bool of[MATHS] = {[GEMMKIT_MATH_TF32] = f32,       [GEMMKIT_MATH_FAST] = bytes,
                            [GEMMKIT_MATH_SPLIT] = f32,      [GEMMKIT_MATH_RESIDUES] = f64,
                            [GEMMKIT_MATH_PROMOTED] = bytes, [GEMMKIT_MATH_BF16X3] = f32};
    return of[p->math] ? (uint8_t)p->math : GEMMKIT_MATH_STRICT;
}

static gemmkit_status check_words(const gemmkit_problem *p) {
    const unsigned type[4] = {p->type_a, p->type_b, p->type_c, p->type_acc};
    for (int i = 0; i < 4; i++)
        if (type[i] >= TYPES)
            return gk_fail(GEMMKIT_EINVAL, "there is no type %u", type[i]);
    if ((unsigned)p->math >= MATHS || (unsigned)p->layout > 1 || (unsigned)p->trans_a > 1 ||
        (unsigned)p->trans_b > 1 || (unsigned)p->batch_kind > 1)
        return gk_fail(GEMMKIT_EINVAL,
                       "math, layout, trans_a, trans_b or batch_kind has no such value");
    if ((p->pointer_align & (p->pointer_align - 1)) != 0)
        return gk_fail(GEMMKIT_EINVAL, "pointer_align is %u, no power of two",
                       p->pointer_align);
    return GEMMKIT_OK;
}

static gemmkit_status check_size(const char *name, int64_t value) {
    return value >= 0 && value <= DIM_MAX
               ? GEMMKIT_OK
               : gk_fail(GEMMKIT_EINVAL, "%s is %lld, must be from 0 to 2147483647", name,
                         (long long)value);
}

/* Fills in a leading dimension. */
static gemmkit_status settle_ld(int64_t *ld, const char *name, int64_t rows, int64_t cols) {
    const int64_t least = cols > 0 ? cols : 1;
    if (*ld == 0 || (*ld > DIM_MAX && rows <= 1)) /* a single row's leads nowhere */
        *ld = least;
    return *ld >= least && *ld <= DIM_MAX
               ? GEMMKIT_OK
               : gk_fail(GEMMKIT_EINVAL, "%s is %lld, must be 0 or from %lld to 2147483647",
                         name, (long long)*ld, (long long)least);
}

static gemmkit_status settle_stride(int64_t *stride, const char *name, int64_t batch,
                                    int64_t rows, int64_t ld) {
    if (batch <= 1)
        *stride = 0;
    else if (*stride == GEMMKIT_PACKED)
        *stride = rows * ld;
    return *stride >= 0 && *stride <= INT64_MAX / 16 / batch
               ? GEMMKIT_OK
               : gk_fail(GEMMKIT_EINVAL,
                         "%s is %lld, must be GEMMKIT_PACKED, 0 or more, and few enough "
                         "for 64 bits",
                         name, (long long)*stride);
}

/* A promise that every element keeps is 0, and more than 16 bytes have no use. */
static int32_t promise_of(const gemmkit_problem *p) {
    size_t least = gk_type_size((int)p->type_a);
    if (gk_type_size((int)p->type_b) < least)
        least = gk_type_size((int)p->type_b);
    if (gk_type_size((int)p->type_c) < least)
        least = gk_type_size((int)p->type_c);
    return p->pointer_align <= least         ? 0
           : p->pointer_align > VECTOR_BYTES ? VECTOR_BYTES
                                             : (int32_t)p->pointer_align;
}

/* Sums of integers become elements of another type in an epilogue. */
static const char *text_of(const gemmkit_problem *p) {
    const bool converts = p->type_acc == GEMMKIT_I32 && p->type_c != GEMMKIT_I32;
    return p->epilogue == NULL && converts ? "d=x" : p->epilogue;
}

static gemmkit_status settle_epilogue(uint8_t *out, const gemmkit_problem *p) {
    const char *const text = text_of(p);
    *out = 0;
    if (text == NULL)
        return GEMMKIT_OK;
    if (p->epilogue != NULL && p->layout != GEMMKIT_ROW_MAJOR)
        return gk_fail(GEMMKIT_EINVAL, "an epilogue speaks of rows and columns, so layout "
                                       "must be GEMMKIT_ROW_MAJOR");
    for (int i = 0; i < gk_epilogue_count; i++)
        if (strcmp(gk_epilogues[i].text, text) == 0 &&
            gk_epilogues[i].type_c == (int)p->type_c &&
            gk_epilogues[i].type_acc == (int)p->type_acc) {
            *out = (uint8_t)(i + 1);
            return GEMMKIT_OK;
        }
    return gk_fail(GEMMKIT_EUNSUPPORTED, "there is no kernel for the epilogue %.200s",
                   text);
}

const char *gemmkit_epilogue(int i) {
    return i >= 0 && i < gk_epilogue_count ? gk_epilogues[i].text : NULL;
}

/* Exchanges A and B, m and n: a column-major product is such a row-major one. */
static struct gk_problem rows_of(const gemmkit_problem *in, bool swapped) {
    const bool pointers = in->batch_kind == GEMMKIT_BATCH_POINTERS;
    struct gk_problem p = {.m = in->m, .n = in->n, .k = in->k, .batch = in->batch};
    p.kind = (struct gk_kind){.type_a = (uint8_t)in->type_a,
                              .type_b = (uint8_t)in->type_b,
                              .type_c = (uint8_t)in->type_c,
                              .type_acc = (uint8_t)in->type_acc,
                              .math = math_of(in),
                              .trans_a = (uint8_t)in->trans_a,
                              .trans_b = (uint8_t)in->trans_b,
                              .batch = pointers ? 2 : in->batch > 1};
    p.lda = in->lda;
    p.ldb = in->ldb;
    p.ldc = in->ldc;
    p.stride[0] = in->stride_a;
    p.stride[1] = in->stride_b;
    p.stride[2] = in->stride_c;
    p.pointer_align = pointers ? promise_of(in) : 0;
    if (!swapped)
        return p;
    p.m = in->n;
    p.n = in->m;
    p.lda = in->ldb;
    p.ldb = in->lda;
    p.stride[0] = in->stride_b;
    p.stride[1] = in->stride_a;
    p.kind.type_a = (uint8_t)in->type_b;
    p.kind.type_b = (uint8_t)in->type_a;
    p.kind.trans_a = (uint8_t)in->trans_b;
    p.kind.trans_b = (uint8_t)in->trans_a;
    return p;
}

gemmkit_status gk_settle(struct gk_problem *out, bool *swapped, const gemmkit_problem *in) {
    gemmkit_status status = check_words(in);
    if (status == GEMMKIT_OK)
        status = check_size("m", in->m);
    if (status == GEMMKIT_OK)
        status = check_size("n", in->n);
    if (status == GEMMKIT_OK)
        status = check_size("k", in->k);
    if (status == GEMMKIT_OK)
        status = check_size("batch", in->batch);
    if (status != GEMMKIT_OK)
        return status;
    *swapped = in->layout == GEMMKIT_COL_MAJOR;
    struct gk_problem p = rows_of(in, *swapped);
    status = settle_epilogue(&p.kind.epilogue, in);
    const struct {
        int64_t *ld, *stride, rows, cols;
        const char *name, *stride_name;
    } sides[3] = {
        {&p.lda, &p.stride[0], p.kind.trans_a ? p.k : p.m, p.kind.trans_a ? p.m : p.k,
         *swapped ? "ldb" : "lda", *swapped ? "stride_b" : "stride_a"},
        {&p.ldb, &p.stride[1], p.kind.trans_b ? p.n : p.k, p.kind.trans_b ? p.k : p.n,
         *swapped ? "lda" : "ldb", *swapped ? "stride_a" : "stride_b"},
        {&p.ldc, &p.stride[2], p.m, p.n, "ldc", "stride_c"},
    };
    for (int i = 0; i < 3 && status == GEMMKIT_OK; i++) {
        status = settle_ld(sides[i].ld, sides[i].name, sides[i].rows, sides[i].cols);
        if (status == GEMMKIT_OK)
            status =
                settle_stride(sides[i].stride, sides[i].stride_name,
                              p.kind.batch == 1 ? p.batch : 1, sides[i].rows, *sides[i].ld);
    }
    *out = p;
    return status;
}

bool gk_same(const struct gk_problem *a, const struct gk_problem *b) {
    return memcmp(&a->kind, &b->kind, sizeof a->kind) == 0 && a->m == b->m &&
           a->n == b->n && a->k == b->k && a->lda == b->lda && a->ldb == b->ldb &&
           a->ldc == b->ldc && a->batch == b->batch && a->stride[0] == b->stride[0] &&
           a->stride[1] == b->stride[1] && a->stride[2] == b->stride[2] &&
           a->pointer_align == b->pointer_align;
}

uint32_t gk_hash(const struct gk_problem *p) {
    const int64_t word[] = {
        p->m,     p->n,
        p->k,     p->lda,
        p->ldb,   p->ldc,
        p->batch, p->kind.type_a + 16 * p->kind.trans_a + 32 * p->kind.trans_b};
    uint64_t h = 0;
    for (size_t i = 0; i < sizeof word / sizeof *word; i++)
        h = (h ^ (uint64_t)word[i]) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(h >> 32);
}

/* ---- general kernels ---- */

/* The largest power of two, at most 16, that divides all the starts of rows. */
static int64_t row_align(int64_t ld, int64_t stride, int type, int64_t pointer_align) {
    const int64_t size = (int64_t)gk_type_size(type);
    uint64_t all = (uint64_t)(ld * size) | (uint64_t)(stride * size) |
                   (uint64_t)(pointer_align > size ? pointer_align : size) | VECTOR_BYTES;
    return (int64_t)(all & (~all + 1));
}

/* CUDA allows 65535 blocks along y and along z: products are numbered by both. */
static bool spread(struct gk_launch *l, int64_t products) {
    const int64_t side = 65535;
    l->grid[2] = (products + side - 1) / side;
    l->grid[1] = (products + l->grid[2] - 1) / l->grid[2];
    return l->grid[2] <= side;
}

bool gk_fit_general(struct gk_fit *out, const struct gk_kernel *k,
                    const struct gk_problem *p, int pointer_align) {
    const int known = p->kind.batch == 2 ? p->pointer_align : pointer_align;
    const struct gk_shape s = {
        .m = p->m,
        .n = p->n,
        .k = p->k,
        .lda = p->lda,
        .ldb = p->ldb,
        .ldc = p->ldc,
        .batch = p->batch,
        .align = {row_align(p->lda, p->stride[0], p->kind.type_a, known),
                  row_align(p->ldb, p->stride[1], p->kind.type_b, known),
                  row_align(p->ldc, p->stride[2], p->kind.type_c, known)}};
    memset(out, 0, sizeof *out);
    if (!k->fit_any(out, &s))
        return false;
    for (int i = 0; i < 3; i++)
        if (s.align[i] % out->align[i] != 0)
            return false;
    for (int i = 0; i < out->passes; i++) {
        struct gk_launch *l = &out->launch[i];
        if (out->numbers && !spread(l, p->batch))
            return false;
        if (l->grid[0] < 1 || l->grid[0] > DIM_MAX)
            return false;
    }
    return true;
}
