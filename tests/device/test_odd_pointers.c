/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matrices that begin at any element of their memory, on every device of this machine with
 * pointers: products of all types, layouts and kinds of batches, with drawn offsets.
 * Every element is compared with a plain loop, and what lies around C stays as it was. The
 * numbers are -1, 0 and 1: every type holds their sums.
 */
#include "core/problem/problem.h"
#include "tests/chance.h"
#include "tests/device/machines.h"

#include <stdio.h>
#include <string.h>

enum { AROUND = 16, PRODUCTS_MAX = 4, WORKSPACE = 1 << 20 };

static int draw(int count) {
    return (int)(any_bits() % (uint64_t)count);
}

/* Matrices of one type in memory: as numbers here, as elements on the device. */
struct matrices {
    gemmtune_dtype type;
    int64_t ld, count;
    int64_t start[PRODUCTS_MAX]; /* the first element of each */
    float *number;
    void *device;
};

static float number(const struct matrices *x, int z, int64_t row, int64_t col) {
    return x->number[x->start[z] + row * x->ld + col];
}

/* The elements of a matrix, and of the rest of its memory, as the type stores them. */
static void *stored_of(const struct matrices *x) {
    void *stored = malloc((size_t)x->count * gt_type_size(x->type));
    assert_non_null(stored);
    assert_int_equal(
        gemmtune_convert(stored, x->type, 0, x->number, GEMMTUNE_F32, 0, 1, x->count),
        GEMMTUNE_OK);
    return stored;
}

/* `products` matrices of `shape`, `stride` elements apart, or anywhere with pointers to
 * them. */
static struct matrices made(struct machine *m, void *queue, gemmtune_dtype type,
                            struct gt_shape shape, int64_t ld, int products, int64_t stride,
                            bool anywhere) {
    struct matrices x = {.type = type, .ld = ld};
    const int64_t elements = gt_shape_elems(shape, ld);
    const int64_t first = draw(AROUND);
    for (int z = 0; z < products; z++)
        x.start[z] = anywhere ? z * (elements + AROUND) + draw(AROUND) : first + z * stride;
    x.count = x.start[products - 1] + elements + AROUND;
    x.number = calloc((size_t)x.count, sizeof *x.number);
    assert_non_null(x.number);
    for (int64_t i = 0; i < x.count; i++)
        x.number[i] = (float)(draw(3) - 1);
    void *const stored = stored_of(&x);
    const size_t bytes = (size_t)x.count * gt_type_size(type);
    x.device = m->ops->alloc(m, bytes);
    m->ops->write(m, queue, x.device, stored, bytes);
    free(stored);
    return x;
}

static void clear(struct machine *m, struct matrices *x) {
    m->ops->release(m, x->device);
    free(x->number);
}

/* A pointer to matrix z. */
static void *at(const struct matrices *x, int z) {
    return (char *)x->device + (size_t)x->start[z] * gt_type_size(x->type);
}

/* ---- one problem ----------------------------------------------------------------- */

struct product {
    const char *name;
    gemmtune_problem p;
    int outputs; /* matrices of A and C */
    int32_t rows[PRODUCTS_MAX];
    struct matrices a, b, c, bias, d2;
};

static void make_matrices(struct product *x, struct machine *m, void *queue) {
    const gemmtune_problem *p = &x->p;
    const bool behind = p->batch_kind == GEMMTUNE_BATCH_POINTERS;
    const struct gt_shape c = gt_problem_shape_c(p);
    const struct gt_shape all = {c.rows * x->outputs, c.cols};
    x->a = made(m, queue, p->type_a, gt_problem_shape_a(p), p->lda, x->outputs, p->stride_a,
                behind);
    x->b = made(m, queue, p->type_b, gt_problem_shape_b(p), p->ldb, (int)p->batch,
                p->stride_b, behind);
    x->c = made(m, queue, p->type_c, c, p->ldc, x->outputs, p->stride_c, behind);
    x->bias = made(m, queue, p->type_c, all, p->n, 1, 0, false);
    x->d2 = made(m, queue, p->type_c, all, p->n, 1, 0, false);
}

static float dot(const struct product *x, int z, int64_t i, int64_t j) {
    const int matrix = x->outputs == 1 ? 0 : z;
    float sum = 0;
    for (int64_t l = 0; l < x->p.k; l++)
        sum += (x->p.trans_a ? number(&x->a, matrix, l, i) : number(&x->a, matrix, i, l)) *
               (x->p.trans_b ? number(&x->b, z, j, l) : number(&x->b, z, l, j));
    return sum;
}

/* Element (i, j) of product z becomes what it must be, in C and d2. */
static void compute_element(struct product *x, int z, int64_t i, int64_t j) {
    const int matrix = x->outputs == 1 ? 0 : z;
    const float sum = dot(x, z, i, j);
    const int64_t row = matrix * x->p.m + i;
    const char *const e = x->p.epilogue != NULL ? x->p.epilogue : "";
    const float bias = number(&x->bias, 0, strstr(e, "[i,j]") != NULL ? row : 0, j);
    x->c.number[x->c.start[matrix] + i * x->c.ld + j] =
        sum + (strstr(e, "bias") != NULL ? bias : 0);
    x->d2.number[x->d2.start[0] + row * x->d2.ld + j] = sum;
}

static void compute(struct product *x) {
    const bool grouped = x->p.batch_kind == GEMMTUNE_GROUPED_ROWS;
    for (int z = 0; z < (int)x->p.batch; z++)
        for (int64_t i = grouped && z > 0 ? x->rows[z - 1] : 0; i < x->rows[z]; i++)
            for (int64_t j = 0; j < x->p.n; j++)
                compute_element(x, z, i, j);
}

/* All groups end after the last row; masks and other products have all rows but one. */
static void make_rows(struct product *x) {
    const bool masked = x->p.batch_kind == GEMMTUNE_MASKED_ROWS;
    for (int z = 0; z < (int)x->p.batch; z++)
        x->rows[z] =
            (int32_t)(x->outputs == 1 ? x->p.m * (z + 1) / x->p.batch : x->p.m - masked);
}

static void compare(struct machine *m, void *queue, const struct product *x,
                    const struct matrices *y, const char *what) {
    const size_t size = gt_type_size(y->type), bytes = (size_t)y->count * size;
    char *const want = stored_of(y), *const got = malloc(bytes);
    assert_non_null(got);
    m->ops->read(m, queue, got, y->device, bytes);
    for (int64_t i = 0; i < y->count; i++)
        if (memcmp(want + (size_t)i * size, got + (size_t)i * size, size) != 0)
            fail_msg("%s on %s: element %d of %s is wrong; A, B and C begin at %d, %d, %d",
                     x->name, m->key, (int)i, what, (int)x->a.start[0], (int)x->b.start[0],
                     (int)x->c.start[0]);
    free(want);
    free(got);
}

/* ---- a call ---------------------------------------------------------------------- */

/* The argument of a call: a pointer to the first matrix, or an array of pointers. */
static void *argument(struct machine *m, void *queue, const struct product *x,
                      const struct matrices *y, void **list) {
    void *pointers[PRODUCTS_MAX];
    *list = NULL;
    if (x->p.batch_kind != GEMMTUNE_BATCH_POINTERS)
        return at(y, 0);
    for (int z = 0; z < (int)x->p.batch; z++)
        pointers[z] = at(y, z);
    *list = m->ops->alloc(m, sizeof pointers);
    m->ops->write(m, queue, *list, pointers, sizeof pointers);
    return *list;
}

static union scalar {
    float f32;
    double f64;
    int32_t i32;
} scalar_of(gemmtune_dtype type, int value) {
    union scalar s = {.f64 = value};
    if (type == GEMMTUNE_F32)
        s.f32 = (float)value;
    if (type == GEMMTUNE_I32)
        s.i32 = value;
    return s;
}

static void launch(struct machine *m, gemmtune_ctx *ctx, void *queue, struct product *x) {
    void *list[3], *const workspace = m->ops->alloc(m, WORKSPACE);
    void *const rows = m->ops->alloc(m, sizeof x->rows);
    const void *operands[] = {at(&x->bias, 0)};
    const union scalar one = scalar_of(x->p.type_acc, 1),
                       zero = scalar_of(x->p.type_acc, 0);
    const char *const e = x->p.epilogue != NULL ? x->p.epilogue : "";
    gemmtune_plan *plan = NULL;
    gemmtune_args args;
    gemmtune_args_init(&args);
    m->ops->write(m, queue, rows, x->rows, sizeof x->rows);
    args.alpha = &one;
    args.beta = &zero;
    args.a = argument(m, queue, x, &x->a, &list[0]);
    args.b = argument(m, queue, x, &x->b, &list[1]);
    args.c = argument(m, queue, x, &x->c, &list[2]);
    args.workspace = workspace;
    args.rows = gt_problem_has_rows(&x->p) ? rows : NULL;
    args.operand = strstr(e, "bias") != NULL ? operands : NULL;
    args.operands = args.operand != NULL;
    args.d2 = strstr(e, "d2") != NULL ? at(&x->d2, 0) : NULL;
    gemmtune_status status =
        gemmtune_plan_create(&plan, ctx, &x->p, GEMMTUNE_MATCH_DEFAULT, WORKSPACE);
    if (status == GEMMTUNE_OK)
        status = gemmtune_launch(plan, &args, queue);
    if (status != GEMMTUNE_OK)
        fail_msg("%s on %s: %s", x->name, m->key, gemmtune_errmsg());
    compute(x);
    compare(m, queue, x, &x->c, "C");
    if (args.d2 != NULL)
        compare(m, queue, x, &x->d2, "d2");
    gemmtune_plan_destroy(plan);
    m->ops->release(m, rows);
    m->ops->release(m, workspace);
    for (int i = 0; i < 3 && list[i] != NULL; i++)
        m->ops->release(m, list[i]);
}

static void multiply(struct machine *m, gemmtune_ctx *ctx, void *queue, const char *name) {
    struct product x = {.name = name};
    assert_int_equal(gemmtune_problem_parse(&x.p, name), GEMMTUNE_OK);
    x.outputs = (int)gt_problem_outputs(&x.p);
    make_rows(&x);
    make_matrices(&x, m, queue);
    launch(m, ctx, queue, &x);
    clear(m, &x.a);
    clear(m, &x.b);
    clear(m, &x.c);
    clear(m, &x.bias);
    clear(m, &x.d2);
}

/* ---- problems -------------------------------------------------------------------- */

/* Sides are multiples of 16, so that the plan's first kernel has wide copies. */
static void draw_name(char *name, size_t size, const char *types) {
    static const char *const layouts[] = {"nn", "nt", "tn", "tt"};
    static const char *const kinds[] = {
        "", "", "", ",batch=3", ",groups=2", ",batch=2,masked", ",batch=3,pointers"};
    static const char *const epilogues[] = {"", ",epi=bias", ",epi=d=x+bias[j];d2=x",
                                            ",epi=d=x+bias[i,j]"};
    gemmtune_problem p;
    do
        (void)snprintf(name, size, "%s-%s-%dx%dx%d%s%s", types, layouts[draw(4)],
                       16 + 16 * draw(3), 16 + 16 * draw(3), 16 + 16 * draw(2),
                       kinds[draw(7)], epilogues[draw(4)]);
    while (gemmtune_problem_parse(&p, name) != GEMMTUNE_OK);
}

static bool had_pointers; /* a device of this machine has them */

/* Every mix with GT_LONG, else the types in which elements of A, B and C have several
 * sizes. */
static void offsets(struct machine *m) {
    static const char *const mixes[] = {"i8",   "f16=f32", "bf16=f32", "e4m3",
                                        "e5m2", "i8=bf16", "i8=i8",    "f16"};
    enum { MIXES = sizeof mixes / sizeof *mixes };
    const bool all = getenv("GT_LONG") != NULL;
    gemmtune_ctx *ctx = NULL;
    char name[128];
    if (m->target.backend != GEMMTUNE_CUDA)
        return; /* a buffer has no pointer past its beginning */
    had_pointers = true;
    assert_int_equal(gemmtune_open(&ctx, NULL, &m->target), GEMMTUNE_OK);
    void *queue = m->ops->queue_create(m);
    for (size_t i = 0; i < (all ? GT_DTYPES : MIXES); i++)
        for (int tries = 0; tries < 2; tries++) {
            draw_name(name, sizeof name, all ? gt_dtype_at(i)->name : mixes[i]);
            multiply(m, ctx, queue, name);
        }
    m->ops->queue_destroy(m, queue);
    gemmtune_close(ctx);
}

static void test_offsets(void **state) {
    (void)state;
    on_every_device(offsets);
    if (!had_pointers)
        skip();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_offsets),
    };
    return cmocka_run_group_tests_name("offsets", tests, list_devices, clear_devices);
}
