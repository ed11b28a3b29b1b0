/* SPDX-License-Identifier: Apache-2.0 */
/* check: threads */
/* Kernels that a thread of the context builds: gemmtune_plan_prepare. */
#include "runtime/plan/context.h"
#include "tests/unit/plan_driver.h"

enum { ASKERS = 4, PROBLEMS = 6 };

static void begin(bool keeps, bool closed) {
    atomic_store(&kept_count, 0);
    atomic_store(&keeps_builds, keeps);
    atomic_store(&gate_closed, closed);
    atomic_store(&has_no_folder, false);
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
static gemmtune_status finish_with(int *ready, gemmtune_ctx *ctx, const char *name,
                                   gemmtune_match worst) {
    const gemmtune_problem p = problem_of(name);
    gemmtune_status status;
    do {
        nap();
        status = gemmtune_plan_prepare(ready, ctx, &p, worst, 0);
    } while (status == GEMMTUNE_OK && *ready == 0);
    return status;
}

static gemmtune_status finish(int *ready, gemmtune_ctx *ctx, const char *name) {
    return finish_with(ready, ctx, name, GEMMTUNE_MATCH_DEFAULT);
}

/* Whether the context keeps an order, also one that came to an end. */
static bool has_orders(gemmtune_ctx *ctx) {
    (void)pthread_mutex_lock(&ctx->preparer.lock);
    const bool has = ctx->preparer.orders != NULL;
    (void)pthread_mutex_unlock(&ctx->preparer.lock);
    return has;
}

static void wait_for_builder(void) {
    while (atomic_load(&waiting) == 0)
        nap();
}

static atomic_int sources; /* that were made */

gt_status __real_gt_source_of(char **out, const struct gt_binding *b,
                              const struct gt_device *device, struct gt_err *err);
gt_status __wrap_gt_source_of(char **out, const struct gt_binding *b,
                              const struct gt_device *device, struct gt_err *err);
gt_status __wrap_gt_source_of(char **out, const struct gt_binding *b,
                              const struct gt_device *device, struct gt_err *err) {
    atomic_fetch_add(&sources, 1);
    return __real_gt_source_of(out, b, device, err);
}

/* Compiling and asking the cache for the image take one source. */
static void test_one_source_a_kernel(void **state) {
    const gemmtune_problem p = problem_of("f32-nn-1024x1024x1024");
    struct gt_choice choice;
    struct gt_err err = {""};
    (void)state;
    begin(true, false);
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    const struct gt_query query = gt_ctx_query(ctx, &p, GEMMTUNE_MATCH_DEFAULT, 0);
    assert_int_equal(gt_match(&choice, &query, &err), GEMMTUNE_OK);
    sources = 0;
    assert_int_equal(gt_exec_compile(ctx->gpu, &choice.fit, &err), GEMMTUNE_OK);
    assert_int_equal(sources, 1);
    assert_true(gt_exec_is_cached(ctx->gpu, &choice.fit));
    assert_int_equal(sources, 2);
    begin(false, false); /* a cache that keeps nothing */
    assert_int_equal(gt_exec_compile(ctx->gpu, &choice.fit, &err), GEMMTUNE_EIO);
    assert_string_equal(err.line, "the image cache does not keep the kernel");
    assert_int_equal(sources, 3);
    close_all(ctx);
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

static void *plan_it(void *ctx) {
    return planned(ctx, "f32-nn-1024x1024x1024");
}

/* Two compilers work at once for a plan with two kernels, and each kernel is built once. */
static void test_both_kernels_at_once(void **state) {
    pthread_t planner;
    void *plan = NULL;
    (void)state;
    begin(true, true);
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    assert_int_equal(pthread_create(&planner, NULL, plan_it, ctx), 0);
    while (atomic_load(&waiting) < 2)
        nap();
    atomic_store(&gate_closed, false);
    assert_int_equal(pthread_join(planner, &plan), 0);
    assert_int_equal(atomic_load(&compiles), 2);
    assert_int_equal(loaded, 2);
    gemmtune_plan_destroy(plan);
    close_all(ctx);
}

/* A narrow kernel that does not build beside the wide one is no failure of the plan. */
static void test_the_narrow_one_does_not_build(void **state) {
    (void)state;
    begin(true, false);
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    bad_source = "#define GT_VA 1\n";
    gemmtune_plan *plan = planned(ctx, "f32-nn-1024x1024x1024");
    seen.count = 0;
    assert_int_equal(
        gemmtune_execute(plan, &one, at(0x1000), at(0x2000), &zero, at(0x3000), NULL, NULL),
        GEMMTUNE_OK);
    assert_int_equal(seen.count, 1);
    assert_true(seen.vectors);
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

static void *close_it(void *ctx) {
    gemmtune_close(ctx);
    return NULL;
}

/* Closes the context while it compiles, and lets that compile end once close waits. */
static void close_while_building(gemmtune_ctx *ctx) {
    pthread_t closer;
    wait_for_builder();
    assert_int_equal(pthread_create(&closer, NULL, close_it, ctx), 0);
    while (!atomic_load(&ctx->preparer.ends))
        nap();
    atomic_store(&gate_closed, false);
    assert_int_equal(pthread_join(closer, NULL), 0);
    close_all(NULL);
}

/* gemmtune_close waits for one compile. It drops the narrow kernel of the first order, and
 * all later orders. */
static void test_close_drops_orders(void **state) {
    static const char *const names[PROBLEMS] = {"f32-nn-512x512x512", "f64-nn-64x64x64",
                                                "i32-nn-64x64x64",    "f32-nt-64x64x64",
                                                "f32-tn-64x64x64",    "f64-nt-64x64x64"};
    int ready = 0;
    (void)state;
    begin(true, true);
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    for (int i = 0; i < PROBLEMS; i++) {
        assert_int_equal(prepare(&ready, ctx, names[i]), GEMMTUNE_OK);
        assert_int_equal(ready, 0);
    }
    close_while_building(ctx);
    assert_int_equal(atomic_load(&compiles), 1);
}

/* A kernel that does not build is the last one as well, when the context is closed. */
static void test_close_tries_no_other_kernel(void **state) {
    int ready = 0;
    (void)state;
    begin(true, true);
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    bad_source = "#define";
    assert_int_equal(prepare(&ready, ctx, "f32-nn-512x512x512"), GEMMTUNE_OK);
    close_while_building(ctx);
    assert_int_equal(atomic_load(&compiles), 1);
}

static void test_bad_arguments(void **state) {
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
    assert_int_equal(gemmtune_plan_prepare(&ready, ctx, &p, GEMMTUNE_MATCH_EXACT, 0),
                     GEMMTUNE_ENOTFOUND);
    close_all(ctx);
    ctx = opened(GEMMTUNE_OPENCL);
    assert_int_equal(prepare(&ready, ctx, "f32-nn-64x64x64"), GEMMTUNE_EUNSUPPORTED);
    close_all(ctx);
}

/* A problem without a kernel that builds stays one: it is not tried again. */
static void test_nothing_builds(void **state) {
    int ready = 7;
    (void)state;
    begin(true, false);
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    bad_source = "#define";
    assert_int_equal(finish(&ready, ctx, "f32-nn-64x64x64"), GEMMTUNE_EBUILD);
    assert_int_equal(ready, 0);
    assert_non_null(strstr(gemmtune_errmsg(), "line 1: no"));
    const int so_far = atomic_load(&compiles);
    assert_int_equal(prepare(&ready, ctx, "f32-nn-64x64x64"), GEMMTUNE_EBUILD);
    assert_int_equal(atomic_load(&compiles), so_far);
    close_all(ctx);
}

/* Where the best kernel does not build, another one is there. No third one is tried. */
static void test_the_best_does_not_build(void **state) {
    int ready = 7;
    (void)state;
    begin(true, false);
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    bad_source = "#define GT_VA 4\n";
    assert_int_equal(finish(&ready, ctx, "f32-nn-512x512x512"), GEMMTUNE_OK);
    assert_int_equal(ready, 1);
    const int so_far = atomic_load(&compiles);
    assert_true(so_far > 1);
    assert_int_equal(prepare(&ready, ctx, "f32-nn-512x512x512"), GEMMTUNE_OK);
    assert_int_equal(ready, 1);
    assert_int_equal(atomic_load(&compiles), so_far);
    close_all(ctx);
}

/* The driver is asked about a kernel's tensor maps before the kernel is compiled. */
static void test_maps_are_refused(void **state) {
    int ready = 7;
    (void)state;
    begin(true, false);
    smem_max = 232448;
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    refuses_maps = true;
    assert_int_equal(finish(&ready, ctx, "bf16-nt-512x512x512"), GEMMTUNE_OK);
    assert_int_equal(ready, 1);
    const int so_far = atomic_load(&compiles);
    gemmtune_plan_destroy(planned(ctx, "bf16-nt-512x512x512"));
    assert_int_equal(atomic_load(&compiles), so_far); /* nothing was missing */
    close_all(ctx);
    refuses_maps = false;
    smem_max = 49152;
}

/* A full image cache is no fault of the kernel, so no other one is compiled. It may have
 * room later. */
static void test_the_cache_is_full(void **state) {
    int ready = 7;
    (void)state;
    begin(false, false);
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    assert_int_equal(finish(&ready, ctx, "f32-nn-512x512x512"), GEMMTUNE_EIO);
    assert_non_null(strstr(gemmtune_errmsg(), "image cache"));
    assert_int_equal(atomic_load(&compiles), 1);
    assert_false(has_orders(ctx));
    atomic_store(&keeps_builds, true);
    assert_int_equal(finish(&ready, ctx, "f32-nn-512x512x512"), GEMMTUNE_OK);
    assert_int_equal(ready, 1);
    close_all(ctx);
}

static void test_there_is_no_cache(void **state) {
    int ready = 7;
    (void)state;
    begin(false, false);
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    atomic_store(&has_no_folder, true);
    assert_int_equal(prepare(&ready, ctx, "f32-nn-64x64x64"), GEMMTUNE_EIO);
    assert_int_equal(atomic_load(&compiles), 0);
    close_all(ctx);
}

/* The cache answers for what was built: no order stays, and a lost image is built again. */
static void test_orders_are_dropped(void **state) {
    int ready = 7;
    (void)state;
    begin(true, false);
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    assert_int_equal(finish(&ready, ctx, "f32-nn-64x64x64"), GEMMTUNE_OK);
    assert_false(has_orders(ctx));
    const int so_far = atomic_load(&compiles);
    atomic_store(&kept_count, 0);
    assert_int_equal(prepare(&ready, ctx, "f32-nn-64x64x64"), GEMMTUNE_OK);
    assert_int_equal(ready, 0);
    assert_int_equal(finish(&ready, ctx, "f32-nn-64x64x64"), GEMMTUNE_OK);
    assert_int_equal(atomic_load(&compiles), 2 * so_far);
    close_all(ctx);
}

/* Problems without a kernel are forgotten after 64 others. */
static void test_old_failures_are_forgotten(void **state) {
    char name[64];
    int ready = 7;
    (void)state;
    begin(true, false);
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    bad_source = "#define";
    for (int m = 1; m <= 66; m++) {
        (void)snprintf(name, sizeof name, "f32-nn-%dx64x64", m);
        assert_int_equal(finish_with(&ready, ctx, name, GEMMTUNE_MATCH_SHAPE),
                         GEMMTUNE_EBUILD);
    }
    assert_int_equal(ctx->preparer.ended, 64);
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
    assert_true(atomic_load(&compiles) <= 2 * PROBLEMS); /* each kernel once */
    close_all(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_source_a_kernel),
        cmocka_unit_test(test_a_better_kernel_comes_later),
        cmocka_unit_test(test_both_kernels_at_once),
        cmocka_unit_test(test_the_narrow_one_does_not_build),
        cmocka_unit_test(test_a_cached_kernel_is_ready_at_once),
        cmocka_unit_test(test_close_drops_orders),
        cmocka_unit_test(test_close_tries_no_other_kernel),
        cmocka_unit_test(test_bad_arguments),
        cmocka_unit_test(test_nothing_builds),
        cmocka_unit_test(test_the_best_does_not_build),
        cmocka_unit_test(test_maps_are_refused),
        cmocka_unit_test(test_the_cache_is_full),
        cmocka_unit_test(test_there_is_no_cache),
        cmocka_unit_test(test_orders_are_dropped),
        cmocka_unit_test(test_old_failures_are_forgotten),
        cmocka_unit_test(test_many_threads),
    };
    return cmocka_run_group_tests_name("plan_prepare", tests, setup, teardown);
}
