/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that a thread of the context builds: gemmtune_plan_prepare. */
#include "tests/unit/plan_driver.h"

enum { ASKERS = 4, PROBLEMS = 6 };

static void begin(bool keeps, bool closed) {
    atomic_store(&kept_count, 0);
    atomic_store(&keeps_builds, keeps);
    atomic_store(&gate_closed, closed);
    bad_source = cached_source = NULL;
}

static gemmtune_problem problem_of(const char *name) {
    gemmtune_problem p;
    assert_int_equal(gemmtune_problem_parse(&p, name), GEMMTUNE_OK);
    return p;
}

static gemmtune_status prepare(int *ready, gemmtune_ctx *ctx, const char *name) {
    const gemmtune_problem p = problem_of(name);
    return gemmtune_plan_prepare(ready, ctx, &p, GEMMTUNE_MATCH_DEFAULT, 0);
}

/* Asks until the order came to its end. */
static gemmtune_status finish(int *ready, gemmtune_ctx *ctx, const char *name) {
    gemmtune_status status = prepare(ready, ctx, name);
    while (status == GEMMTUNE_OK && *ready == 0) {
        nap();
        status = prepare(ready, ctx, name);
    }
    return status;
}

static void wait_for_builder(void) {
    while (atomic_load(&waiting) == 0)
        nap();
}

/* A cached kernel serves until the better one is there; that one is built only once. */
static void test_a_better_kernel_comes_later(void **state) {
    const gemmtune_problem p = problem_of("f32-nn-1024x1024x1024");
    gemmtune_plan *plan = NULL;
    gemmtune_plan_info info = {.struct_size = sizeof info};
    int ready = 7;
    (void)state;
    begin(true, true);
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    cached_source = "#define GT_VA 2\n";
    assert_int_equal(prepare(&ready, ctx, "f32-nn-1024x1024x1024"), GEMMTUNE_OK);
    assert_int_equal(ready, 0);
    wait_for_builder();
    assert_int_equal(gemmtune_plan_create_cached(&plan, ctx, &p, GEMMTUNE_MATCH_DEFAULT, 0),
                     GEMMTUNE_OK);
    gemmtune_plan_describe(plan, &info);
    assert_true(info.expected_loss > 0);
    gemmtune_plan_destroy(plan);
    assert_int_equal(prepare(&ready, ctx, "f32-nn-1024x1024x1024"), GEMMTUNE_OK);
    assert_int_equal(ready, 0);
    atomic_store(&gate_closed, false);
    assert_int_equal(finish(&ready, ctx, "f32-nn-1024x1024x1024"), GEMMTUNE_OK);
    assert_int_equal(ready, 1);
    const int so_far = atomic_load(&kept_count);
    plan = planned(ctx, "f32-nn-1024x1024x1024");
    gemmtune_plan_describe(plan, &info);
    assert_true(info.expected_loss == 0);
    assert_int_equal(atomic_load(&kept_count), so_far); /* nothing was missing */
    gemmtune_plan_destroy(plan);
    close_all(ctx);
}

static void test_a_cached_kernel_is_ready_at_once(void **state) {
    int ready = 0;
    (void)state;
    begin(true, false);
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    gemmtune_plan_destroy(planned(ctx, "f32-nn-512x512x512"));
    const int before = atomic_load(&builds);
    assert_int_equal(prepare(&ready, ctx, "f32-nn-512x512x512"), GEMMTUNE_OK);
    assert_int_equal(ready, 1);
    assert_int_equal(atomic_load(&builds), before);
    close_all(ctx);
}

/* gemmtune_close ends the compile that is under way, and drops the orders behind it. */
static void test_close_drops_orders(void **state) {
    char name[64];
    int ready = 0;
    (void)state;
    begin(true, true);
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    for (int i = 0; i < PROBLEMS; i++) {
        (void)snprintf(name, sizeof name, "f%s-nn-64x64x64", i % 2 ? "32" : "64");
        assert_int_equal(prepare(&ready, ctx, name), GEMMTUNE_OK);
        assert_int_equal(ready, 0);
    }
    wait_for_builder();
    atomic_store(&gate_closed, false);
    close_all(ctx);
    assert_int_equal(atomic_load(&waiting), 0);
}

static void test_failures(void **state) {
    int ready = 7;
    const gemmtune_problem p = problem_of("f32-nn-64x64x64");
    (void)state;
    begin(true, false);
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    assert_int_equal(gemmtune_plan_prepare(NULL, ctx, &p, GEMMTUNE_MATCH_DEFAULT, 0),
                     GEMMTUNE_EINVAL);
    assert_int_equal(gemmtune_plan_prepare(&ready, NULL, &p, GEMMTUNE_MATCH_DEFAULT, 0),
                     GEMMTUNE_EINVAL);
    assert_int_equal(ready, 0);
    assert_int_equal(gemmtune_plan_prepare(&ready, ctx, &p, (gemmtune_match)9, 0),
                     GEMMTUNE_EINVAL);
    bad_source = "#define";
    assert_int_equal(finish(&ready, ctx, "f32-nn-64x64x64"), GEMMTUNE_EBUILD);
    assert_int_equal(ready, 0);
    assert_non_null(strstr(gemmtune_errmsg(), "line 1: no"));
    close_all(ctx);
    begin(false, false);
    ctx = opened(GEMMTUNE_CUDA);
    assert_int_equal(finish(&ready, ctx, "f32-nn-64x64x64"), GEMMTUNE_EIO);
    assert_non_null(strstr(gemmtune_errmsg(), "image cache"));
    close_all(ctx);
    ctx = opened(GEMMTUNE_OPENCL);
    assert_int_equal(prepare(&ready, ctx, "f32-nn-64x64x64"), GEMMTUNE_EUNSUPPORTED);
    close_all(ctx);
}

/* ---- many threads ---- */

struct asker {
    pthread_t thread;
    gemmtune_ctx *ctx;
    int wrong;
};

static void *ask(void *user) {
    struct asker *a = user;
    for (int i = 0; i < PROBLEMS; i++) {
        char name[64];
        int ready = 0;
        (void)snprintf(name, sizeof name, "f32-%s-%dx64x64", i % 2 ? "nt" : "nn", 64 + i);
        a->wrong += finish(&ready, a->ctx, name) != GEMMTUNE_OK || ready != 1;
    }
    return NULL;
}

static void test_many_threads(void **state) {
    struct asker asker[ASKERS];
    (void)state;
    begin(true, false);
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    for (int i = 0; i < ASKERS; i++) {
        asker[i] = (struct asker){.ctx = ctx};
        assert_int_equal(pthread_create(&asker[i].thread, NULL, ask, &asker[i]), 0);
    }
    for (int i = 0; i < ASKERS; i++) {
        assert_int_equal(pthread_join(asker[i].thread, NULL), 0);
        assert_int_equal(asker[i].wrong, 0);
    }
    assert_true(atomic_load(&builds) <= 2 * PROBLEMS); /* an order for each problem */
    close_all(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_better_kernel_comes_later),
        cmocka_unit_test(test_a_cached_kernel_is_ready_at_once),
        cmocka_unit_test(test_close_drops_orders),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_many_threads),
    };
    return cmocka_run_group_tests_name("plan_prepare", tests, setup, teardown);
}
