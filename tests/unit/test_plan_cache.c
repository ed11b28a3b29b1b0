/* SPDX-License-Identifier: Apache-2.0 */
/* check: threads */
/* The cache of the one-call form, from many threads, and the typed calls. */
#include "tests/unit/plan_driver.h"

/* ---- the cache of the one-call form ---- */

struct worker {
    pthread_t thread;
    gemmtune_ctx *ctx;
    int wrong;
};

/* Asks for all shapes, several times. */
static void *work(void *user) {
    struct worker *w = user;
    seen.count = 0;
    for (int round = 0; round < ROUNDS; round++)
        for (int64_t i = 1; i <= SHAPES; i++) {
            const gemmtune_status status = gemmtune_sgemm(
                w->ctx, GEMMTUNE_ROW_MAJOR, GEMMTUNE_NOTRANS, GEMMTUNE_NOTRANS, i, 20, 30,
                1, at(0x1000), 30, at(0x2000), 20, 0, at(0x3000), 20, NULL);
            w->wrong += status != GEMMTUNE_OK || seen.arg[M] != i || seen.arg[K] != 30;
        }
    w->wrong += seen.count != ROUNDS * SHAPES;
    return NULL;
}

/* How many kernels are built when one thread asks alone: two for some shapes. */
static int builds_of_one_thread(void) {
    struct worker alone = {.ctx = opened(GEMMTUNE_CUDA)};
    (void)work(&alone);
    assert_int_equal(alone.wrong, 0);
    close_all(alone.ctx);
    return builds;
}

/* Every thread asks for the same shapes at once, cold at first. Each is planned once. */
static void test_one_call_from_many_threads(void **state) {
    struct worker worker[THREADS];
    (void)state;
    const int alone = builds_of_one_thread();
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    for (int i = 0; i < THREADS; i++) {
        worker[i] = (struct worker){.ctx = ctx};
        assert_int_equal(pthread_create(&worker[i].thread, NULL, work, &worker[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(worker[i].thread, NULL), 0);
        assert_int_equal(worker[i].wrong, 0);
    }
    assert_int_equal(builds, alone);
    close_all(ctx);
}

/* A call that leaves C as it is needs no plan: nothing is looked up and built for it. */
static void test_no_plan_for_nothing(void **state) {
    static const struct {
        int64_t m, n, k;
        const float *alpha, *beta;
        gemmtune_status status;
        int builds;
    } rows[] = {
        {40, 50, 0, &two, &one, GEMMTUNE_OK, 0},
        {40, 50, 60, &zero, &one, GEMMTUNE_OK, 0},
        {0, 50, 60, &two, &zero, GEMMTUNE_OK, 0},
        {40, 0, 60, NULL, NULL, GEMMTUNE_OK, 0},
        {40, 50, 60, NULL, &one, GEMMTUNE_EINVAL, 0},
        {40, 50, 60, &one, NULL, GEMMTUNE_EINVAL, 0},
        {40, 50, 0, &two, &two, GEMMTUNE_OK, 1}, /* C is scaled */
    };
    (void)state;
    gemmtune_ctx *ctx = opened(GEMMTUNE_OPENCL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gemmtune_problem p;
        gemmtune_problem_init(&p, GEMMTUNE_F32, rows[i].m, rows[i].n, rows[i].k);
        assert_int_equal(gemmtune_gemm(ctx, &p, rows[i].alpha, at(0x1000), at(0x2000),
                                       rows[i].beta, at(0x3000), NULL),
                         rows[i].status);
        assert_int_equal(builds, rows[i].builds);
        assert_int_equal(seen.count, rows[i].builds);
    }
    close_all(ctx);
}

static void test_typed_calls(void **state) {
    (void)state;
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    assert_int_equal(gemmtune_dgemm(ctx, GEMMTUNE_ROW_MAJOR, GEMMTUNE_TRANS, GEMMTUNE_TRANS,
                                    3, 4, 5, 0.25, at(0x1000), 6, at(0x2000), 7, 0.5,
                                    at(0x3000), 8, NULL),
                     GEMMTUNE_OK);
    const double alpha = 0.25, beta = 0.5;
    assert_memory_equal(&seen.arg[ALPHA], &alpha, sizeof alpha);
    assert_memory_equal(&seen.arg[BETA], &beta, sizeof beta);
    assert_int_equal(seen.arg[LDA], 6);
    assert_int_equal(seen.arg[LDB], 7);
    assert_int_equal(seen.arg[LDC], 8);
    assert_int_equal(gemmtune_igemm(ctx, GEMMTUNE_COL_MAJOR, GEMMTUNE_NOTRANS,
                                    GEMMTUNE_NOTRANS, 3, 4, 5, -2, at(0x1000), 3,
                                    at(0x2000), 5, 7, at(0x3000), 3, NULL),
                     GEMMTUNE_OK);
    assert_int_equal((int32_t)seen.arg[ALPHA], -2);
    assert_int_equal((int32_t)seen.arg[BETA], 7);
    assert_int_equal(seen.arg[M], 4);
    assert_int_equal(gemmtune_igemm(ctx, GEMMTUNE_COL_MAJOR, GEMMTUNE_NOTRANS,
                                    GEMMTUNE_NOTRANS, 3, 4, 5, -2, at(0x1000), 2,
                                    at(0x2000), 5, 7, at(0x3000), 3, NULL),
                     GEMMTUNE_EINVAL); /* lda below m */
    close_all(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_call_from_many_threads),
        cmocka_unit_test(test_no_plan_for_nothing),
        cmocka_unit_test(test_typed_calls),
    };
    return cmocka_run_group_tests_name("plan_cache", tests, setup, teardown);
}
