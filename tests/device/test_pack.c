/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemmtune_pack on every device of this machine: every byte of the packed B, and products
 * with it. The numbers of the products are small integers, with exact sums.
 */
#include "core/dtype.h"
#include "tests/device/machines.h"

#include <stdio.h>
#include <string.h>

static gemmtune_problem problem_of(const char *name) {
    gemmtune_problem p;
    assert_int_equal(gemmtune_problem_parse(&p, name), GEMMTUNE_OK);
    return p;
}

static gemmtune_ctx *opened(struct machine *m) {
    gemmtune_ctx *ctx;
    const gemmtune_status status = gemmtune_open(&ctx, NULL, &m->target);
    assert_string_equal(gemmtune_errmsg(), "");
    assert_int_equal(status, GEMMTUNE_OK);
    return ctx;
}

static gemmtune_problem packed_of(const gemmtune_problem *p) {
    gemmtune_problem q = *p;
    char name[512];
    q.packed_b = 1;
    assert_true(gemmtune_problem_format(&q, name, sizeof name) > 0);
    return problem_of(name);
}

static size_t bytes_of(const gemmtune_problem *p) {
    size_t bytes;
    assert_int_equal(gemmtune_packed_bytes(&bytes, p), GEMMTUNE_OK);
    return bytes;
}

/* Where element (l, j) of op(B) is in matrix z, in elements. */
static size_t place_in_b(const gemmtune_problem *p, int64_t z, int64_t l, int64_t j) {
    return (size_t)(z * p->stride_b + (p->trans_b ? j * p->ldb + l : l * p->ldb + j));
}

static int64_t matrices_of_b(const gemmtune_problem *p) {
    return p->stride_b == 0 ? 1 : p->batch;
}

/* Elements up to the end of the last matrix. */
static size_t elements_of_b(const gemmtune_problem *p) {
    return place_in_b(p, matrices_of_b(p) - 1, p->k - 1, p->n - 1) + 1;
}

enum { GUARD = 64, FILL = 0xa5 }; /* bytes after a packed B, and the value before */

/* Packs a B on the device; the caller releases the result. The memory, and a guard after
 * it, has another value before. */
static void *packed_on(struct machine *m, gemmtune_ctx *ctx, void *queue,
                       const gemmtune_problem *p, void *device_b) {
    const size_t bytes = bytes_of(p) + GUARD;
    char *device = m->ops->alloc(m, bytes);
    char *fill = malloc(bytes);
    assert_non_null(fill);
    memset(fill, FILL, bytes);
    m->ops->write(m, queue, device, fill, bytes);
    free(fill);
    const gemmtune_status status = gemmtune_pack(ctx, p, device_b, device, queue);
    assert_string_equal(gemmtune_errmsg(), "");
    assert_int_equal(status, GEMMTUNE_OK);
    return device;
}

/* ---- every byte ---- */

static void compare_bytes(const gemmtune_problem *p, const unsigned char *stored,
                          const unsigned char *packed) {
    const gemmtune_problem q = packed_of(p);
    const size_t size = gt_type_size(p->type_b);
    const int64_t rows = q.trans_b ? q.n : q.k, cols = q.trans_b ? q.k : q.n;
    static const unsigned char zeros[8];
    for (int64_t z = 0; z < matrices_of_b(p); z++)
        for (int64_t r = 0; r < rows; r++)
            for (int64_t c = 0; c < q.ldb; c++) {
                const int64_t l = q.trans_b ? c : r, j = q.trans_b ? r : c;
                const unsigned char *is =
                    packed + (size_t)((z * rows + r) * q.ldb + c) * size;
                assert_memory_equal(
                    is, c < cols ? stored + place_in_b(p, z, l, j) * size : zeros, size);
            }
    for (size_t i = 0; i < GUARD; i++)
        assert_int_equal(packed[bytes_of(p) + i], FILL);
}

static void pack_bytes(struct machine *m, gemmtune_ctx *ctx, void *queue,
                       const char *name) {
    const gemmtune_problem p = problem_of(name);
    const size_t bytes = elements_of_b(&p) * gt_type_size(p.type_b);
    unsigned char *stored = malloc(bytes), *packed = malloc(bytes_of(&p) + GUARD);
    assert_non_null(stored);
    assert_non_null(packed);
    for (size_t i = 0; i < bytes; i++)
        stored[i] = (unsigned char)(i * 37 + i / 251 + 1);
    void *b = m->ops->alloc(m, bytes);
    m->ops->write(m, queue, b, stored, bytes);
    void *device = packed_on(m, ctx, queue, &p, b);
    m->ops->read(m, queue, packed, device, bytes_of(&p) + GUARD);
    compare_bytes(&p, stored, packed);
    m->ops->release(m, device);
    m->ops->release(m, b);
    free(packed);
    free(stored);
}

static void every_byte(struct machine *m) {
    static const char *const names[] = {
        "f32-nn-5x37x19",
        "f32-nt-5x37x19,ldb=23",
        "f64-nn-5x9x70,ldb=11",
        "f64-nt-2x9x70",
        "i32-nt-5x130x3",
        "tf32-nn-4x67x45",
        "tf32-tt-4x67x45",
        "f16-nn-8x131x67,ldb=140",
        "bf16-nt-8x131x67,ldb=70",
        "i8-nn-3x130x67",
        "i8-nt-3x130x257",
        "e4m3@fast-nn-3x17x129",
        "bf16-nn-4x9x11,batch=3",
        "i8-nn-4x9x11,batch=3,sb=0",
        "i8-nt-4x9x11,batch=3,sb=131",
        "bf16-nn-8x9x11,groups=4",
        "f32-nn-1x1x1",
    };
    gemmtune_ctx *ctx = opened(m);
    void *queue = m->ops->queue_create(m);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        pack_bytes(m, ctx, queue, names[i]);
    m->ops->queue_destroy(m, queue);
    gemmtune_close(ctx);
}

static void test_every_byte(void **state) {
    (void)state;
    on_every_device(every_byte);
}

/* ---- products ---- */

static float number(int64_t i, int64_t j, int seed) {
    return (float)((i * 5 + j * 3 + seed) % 7 - 3);
}

/* A matrix on the device. Its element (i, j) as stored is number(i, j), or with `turn`
 * number(j, i). */
static void *matrix_on(struct machine *m, void *queue, gemmtune_dtype type, int64_t rows,
                       int64_t cols, int seed, bool turn) {
    const size_t count = (size_t)(rows * cols), bytes = count * gt_type_size(type);
    float *numbers = calloc(count, sizeof *numbers);
    void *stored = calloc(1, bytes), *device = m->ops->alloc(m, bytes);
    assert_non_null(numbers);
    assert_non_null(stored);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            numbers[i * cols + j] = turn ? number(j, i, seed) : number(i, j, seed);
    assert_int_equal(
        gemmtune_convert(stored, type, 0, numbers, GEMMTUNE_F32, 0, rows, cols),
        GEMMTUNE_OK);
    m->ops->write(m, queue, device, stored, bytes);
    free(stored);
    free(numbers);
    return device;
}

static void compare_product(struct machine *m, void *queue, const gemmtune_problem *p,
                            void *c, const char *name) {
    const size_t count = (size_t)(p->m * p->n), bytes = count * gt_type_size(p->type_c);
    float *got = calloc(count, sizeof *got);
    void *stored = calloc(1, bytes);
    assert_non_null(got);
    assert_non_null(stored);
    m->ops->read(m, queue, stored, c, bytes);
    assert_int_equal(
        gemmtune_convert(got, GEMMTUNE_F32, 0, stored, p->type_c, 0, p->m, p->n),
        GEMMTUNE_OK);
    for (int64_t i = 0; i < p->m; i++)
        for (int64_t j = 0; j < p->n; j++) {
            float sum = 0;
            for (int64_t l = 0; l < p->k; l++)
                sum += number(i, l, 1) * number(l, j, 2);
            if (got[i * p->n + j] != sum)
                fail_msg("%s on %s: C[%d][%d] is %g, not %g", name, m->key, (int)i, (int)j,
                         (double)got[i * p->n + j], (double)sum);
        }
    free(stored);
    free(got);
}

union scalar {
    float f32;
    int32_t i32;
};

static union scalar scalar_of(gemmtune_dtype type, int number) {
    union scalar r = {0};
    if (type == GEMMTUNE_I32)
        r.i32 = number;
    else
        r.f32 = (float)number;
    return r;
}

/* Runs the plan of the problem with packed_b. The layout of A is "n". */
static void multiply(struct machine *m, gemmtune_ctx *ctx, void *queue, const char *name) {
    const gemmtune_problem p = problem_of(name);
    gemmtune_problem q = p;
    gemmtune_plan *plan;
    void *a = matrix_on(m, queue, p.type_a, p.m, p.k, 1, false);
    void *b = matrix_on(m, queue, p.type_b, p.trans_b ? p.n : p.k, p.trans_b ? p.k : p.n, 2,
                        p.trans_b == GEMMTUNE_TRANS);
    void *c = m->ops->alloc(m, (size_t)(p.m * p.n) * gt_type_size(p.type_c));
    void *packed = packed_on(m, ctx, queue, &p, b);
    const union scalar one = scalar_of(p.type_acc, 1), zero = scalar_of(p.type_acc, 0);
    q.packed_b = 1;
    assert_int_equal(gemmtune_plan_create(&plan, ctx, &q, GEMMTUNE_MATCH_DEFAULT, 0),
                     GEMMTUNE_OK);
    assert_int_equal(gemmtune_execute(plan, &one, a, packed, &zero, c, NULL, queue),
                     GEMMTUNE_OK);
    compare_product(m, queue, &p, c, name);
    gemmtune_plan_destroy(plan);
    m->ops->release(m, packed);
    m->ops->release(m, c);
    m->ops->release(m, b);
    m->ops->release(m, a);
}

static void products(struct machine *m) {
    gemmtune_ctx *ctx = opened(m);
    void *queue = m->ops->queue_create(m);
    multiply(m, ctx, queue, "f32-nt-21x35x19");
    multiply(m, ctx, queue, "i8-nn-17x37x21");
    multiply(m, ctx, queue, "bf16-nn-18x33x23");
    m->ops->queue_destroy(m, queue);
    gemmtune_close(ctx);
}

static void test_products(void **state) {
    (void)state;
    on_every_device(products);
}

/* ---- refusals ---- */

static void refuse(gemmtune_ctx *ctx, const gemmtune_problem *p, const void *b,
                   void *packed, gemmtune_status status, const char *said) {
    assert_int_equal(gemmtune_pack(ctx, p, b, packed, NULL), status);
    if (strncmp(gemmtune_errmsg(), said, strlen(said)) != 0)
        fail_msg("\"%s\", not \"%s...\"", gemmtune_errmsg(), said);
}

/* Both functions refuse the problem; gemmtune_packed_bytes gives 0 bytes. */
static void refuse_problem(gemmtune_ctx *ctx, const gemmtune_problem *p,
                           gemmtune_status status, const char *said) {
    char memory[64] = {0};
    size_t bytes = 7;
    refuse(ctx, p, memory, memory, status, said);
    assert_int_equal(gemmtune_packed_bytes(&bytes, p), status);
    assert_int_equal(bytes, 0);
}

static void refuse_pointers(struct machine *m, gemmtune_ctx *ctx,
                            const gemmtune_problem *p) {
    char *buffer = m->ops->alloc(m, bytes_of(p) + 16), *small = m->ops->alloc(m, 16);
    refuse(ctx, p, NULL, buffer, GEMMTUNE_EINVAL, "the pointer to B is NULL");
    refuse(ctx, p, buffer, NULL, GEMMTUNE_EINVAL, "the pointer to the packed B is NULL");
    if (m->target.backend == GEMMTUNE_CUDA) { /* pointers are addresses, without an end */
        refuse(ctx, p, buffer + 1, buffer, GEMMTUNE_EINVAL, "the pointer to B, 0x");
        refuse(ctx, p, buffer, buffer + 8, GEMMTUNE_EINVAL,
               "the pointer to the packed B, 0x");
    } else {
        refuse(ctx, p, small, buffer, GEMMTUNE_EINVAL, "the buffer of B has 16 bytes");
        refuse(ctx, p, buffer, small, GEMMTUNE_EINVAL,
               "the buffer of the packed B has 16 bytes");
    }
    m->ops->release(m, small);
    m->ops->release(m, buffer);
}

static void refusals(struct machine *m) {
    gemmtune_ctx *ctx = opened(m);
    char memory[64] = {0};
    gemmtune_problem p = problem_of("bf16-nn-4x5x6");
    refuse(NULL, &p, memory, memory, GEMMTUNE_EINVAL, "ctx is NULL");
    refuse_problem(ctx, NULL, GEMMTUNE_EINVAL, "problem is NULL");
    refuse_pointers(m, ctx, &p);
    p.packed_b = 1;
    refuse_problem(ctx, &p, GEMMTUNE_EINVAL, "packed_b is 1, must be 0");
    p.packed_b = 0;
    p.layout = GEMMTUNE_COL_MAJOR;
    p.lda = p.ldb = p.ldc = 0;
    refuse_problem(ctx, &p, GEMMTUNE_EINVAL, "only B of a row-major problem is packed");
    p = problem_of("bf16-nn-4x5x6,batch=2,pointers");
    refuse_problem(ctx, &p, GEMMTUNE_EUNSUPPORTED, "pointers lead to the matrices of B");
    p = problem_of("bf16-nn-4x5x0");
    assert_int_equal(bytes_of(&p), 0);
    assert_int_equal(gemmtune_pack(ctx, &p, NULL, NULL, NULL), GEMMTUNE_OK);
    assert_int_equal(gemmtune_packed_bytes(NULL, &p), GEMMTUNE_EINVAL);
    gemmtune_close(ctx);
}

static void test_refusals(void **state) {
    (void)state;
    on_every_device(refusals);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_byte),
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests_name("pack", tests, list_devices, clear_devices);
}
