/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Grouped and masked rows as a program uses them, on every device of this machine: plan,
 * launch, and a comparison of every element with a plain loop. Rows that no group has, or
 * that are masked, must keep their C.
 */
#include "core/problem/problem.h"
#include "tests/device/machines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ELEMENTS = 1 << 14, LISTED = 6, WORKSPACE = 1 << 20 };

struct numbers {
    float a[ELEMENTS], b[ELEMENTS], c[ELEMENTS], got[ELEMENTS];
};

static void fill(float *x, int salt) {
    for (int i = 0; i < ELEMENTS; i++)
        x[i] = (float)((i * 7 + salt) % 11 - 5);
}

static float dot(const struct numbers *x, const gemmtune_problem *p, int64_t a, int64_t b) {
    float sum = 0;
    for (int64_t q = 0; q < p->k; q++)
        sum += x->a[a + q] * x->b[b + (p->trans_b != GEMMTUNE_NOTRANS ? q : q * p->ldb)];
    return sum;
}

/* c = 2 a b - c for one row: row i of matrix z of A and C, times matrix y of B. */
static void compute_row(struct numbers *x, const gemmtune_problem *p, int64_t z, int64_t i,
                        int64_t y) {
    for (int64_t j = 0; j < p->n; j++) {
        const int64_t column = p->trans_b != GEMMTUNE_NOTRANS ? j * p->ldb : j;
        float *c = &x->c[z * p->stride_c + i * p->ldc + j];
        *c = 2 * dot(x, p, z * p->stride_a + i * p->lda, y * p->stride_b + column) - *c;
    }
}

static void compute(struct numbers *x, const gemmtune_problem *p, const int32_t *rows) {
    const bool grouped = p->batch_kind == GEMMTUNE_GROUPED_ROWS;
    for (int64_t z = 0; z < p->batch; z++)
        for (int64_t i = grouped && z > 0 ? rows[z - 1] : 0; i < rows[z]; i++)
            compute_row(x, p, grouped ? 0 : z, i, z);
}

/* Bytes of `count` matrices: none after the last element. */
static size_t extent(int64_t rows, int64_t cols, int64_t ld, int64_t count,
                     int64_t stride) {
    return (size_t)((count - 1) * stride + (rows - 1) * ld + cols) * sizeof(float);
}

static void *put(struct machine *m, void *queue, const void *from, size_t bytes) {
    assert_true(bytes <= ELEMENTS * sizeof(float));
    void *memory = m->ops->alloc(m, bytes);
    m->ops->write(m, queue, memory, from, bytes);
    return memory;
}

/* A buffer that lacks a byte, in place of one of the call's, is refused by its name. */
static void refuse_short(struct machine *m, void *queue, const gemmtune_plan *plan,
                         const gemmtune_args *args, size_t offset, size_t bytes,
                         const char *what) {
    gemmtune_args wrong = *args;
    char said[64];
    void *const memory = m->ops->alloc(m, bytes - 1);
    memcpy((char *)&wrong + offset, &memory, sizeof memory);
    assert_int_equal(gemmtune_launch(plan, &wrong, queue), GEMMTUNE_EINVAL);
    (void)snprintf(said, sizeof said, "the buffer of %s has %zu bytes, must have %zu", what,
                   bytes - 1, bytes);
    if (strncmp(gemmtune_errmsg(), said, strlen(said)) != 0)
        fail_msg("\"%s\", not \"%s...\"", gemmtune_errmsg(), said);
    m->ops->release(m, memory);
}

static void launch(struct machine *m, void *queue, const gemmtune_plan *plan,
                   const gemmtune_problem *p, struct numbers *x, const int32_t *rows) {
    const float alpha = 2, beta = -1;
    const bool grouped = p->batch_kind == GEMMTUNE_GROUPED_ROWS;
    const bool trans_b = p->trans_b != GEMMTUNE_NOTRANS;
    const int64_t matrices = grouped ? 1 : p->batch; /* of A and C */
    const size_t bytes_c = extent(p->m, p->n, p->ldc, matrices, p->stride_c);
    gemmtune_args args;
    gemmtune_args_init(&args);
    const size_t bytes_a = extent(p->m, p->k, p->lda, matrices, p->stride_a);
    const size_t bytes_b =
        extent(trans_b ? p->n : p->k, trans_b ? p->k : p->n, p->ldb, p->batch, p->stride_b);
    const size_t bytes_list = (size_t)p->batch * sizeof *rows;
    void *a = put(m, queue, x->a, bytes_a), *b = put(m, queue, x->b, bytes_b);
    void *list = put(m, queue, rows, bytes_list);
    args.alpha = &alpha;
    args.beta = &beta;
    args.a = a;
    args.b = b;
    args.c = put(m, queue, x->c, bytes_c);
    args.workspace = m->ops->alloc(m, WORKSPACE);
    assert_int_equal(gemmtune_launch(plan, &args, queue), GEMMTUNE_EINVAL);
    assert_string_equal(gemmtune_errmsg(), "the pointer to the rows is NULL");
    args.rows = list;
    if (m->target.backend == GEMMTUNE_OPENCL) { /* addresses have no end */
        refuse_short(m, queue, plan, &args, offsetof(gemmtune_args, a), bytes_a, "A");
        refuse_short(m, queue, plan, &args, offsetof(gemmtune_args, b), bytes_b, "B");
        refuse_short(m, queue, plan, &args, offsetof(gemmtune_args, c), bytes_c, "C");
        refuse_short(m, queue, plan, &args, offsetof(gemmtune_args, rows), bytes_list,
                     "the rows");
    }
    const gemmtune_status status = gemmtune_launch(plan, &args, queue);
    assert_string_equal(gemmtune_errmsg(), "");
    assert_int_equal(status, GEMMTUNE_OK);
    memcpy(x->got, x->c, sizeof x->got);
    m->ops->read(m, queue, x->got, args.c, bytes_c);
    void *const memory[] = {a, b, list, args.c, args.workspace};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        m->ops->release(m, memory[i]);
}

static void run_rows(struct machine *m, const char *name, const int32_t rows[LISTED]) {
    static struct numbers x;
    gemmtune_problem p;
    gemmtune_ctx *ctx;
    gemmtune_plan *plan;
    assert_int_equal(gt_problem_from_name(&p, name, NULL), GEMMTUNE_OK);
    assert_int_equal(gemmtune_open(&ctx, NULL, &m->target), GEMMTUNE_OK);
    assert_int_equal(
        gemmtune_plan_create(&plan, ctx, &p, GEMMTUNE_MATCH_DEFAULT, WORKSPACE),
        GEMMTUNE_OK);
    void *queue = m->ops->queue_create(m);
    fill(x.a, 1);
    fill(x.b, 4);
    fill(x.c, 8);
    launch(m, queue, plan, &p, &x, rows);
    compute(&x, &p, rows);
    for (int i = 0; i < ELEMENTS; i++)
        if (x.got[i] != x.c[i])
            fail_msg("%s on %s: C[%d] is %g, not %g", name, m->key, i, (double)x.got[i],
                     (double)x.c[i]);
    m->ops->queue_destroy(m, queue);
    gemmtune_plan_destroy(plan);
    gemmtune_close(ctx);
}

/* An empty first group, two of the same end, one longer than a tile, rows of no group. */
static void run_groups(struct machine *m) {
    static const int32_t ends[LISTED] = {0, 7, 7, 87, 88, 96};
    run_rows(m, "f32-nn-100x33x17,groups=6", ends);
    run_rows(m, "f32-nt-100x33x17,lda=19,ldb=20,ldc=36,groups=6,sb=700,beta", ends);
}

static void run_masks(struct machine *m) {
    static const int32_t counts[LISTED] = {3, 0, 70, 1, 69, 64};
    run_rows(m, "f32-nn-70x33x17,batch=6,masked,rows=30", counts);
    run_rows(m, "f32-nt-70x33x17,ldc=34,batch=6,masked,sb=0", counts);
    run_rows(m, "f32-nn-16x8x16,batch=1,masked", counts);
    run_rows(m, "f32-nt-6x64x16,batch=1,masked", counts);
}

static void test_groups(void **state) {
    (void)state;
    on_every_device(run_groups);
}

static void test_masks(void **state) {
    (void)state;
    on_every_device(run_masks);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_masks),
    };
    return cmocka_run_group_tests_name("rows", tests, list_devices, clear_devices);
}
