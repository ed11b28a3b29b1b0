/* SPDX-License-Identifier: Apache-2.0 */
/* check: threads */
/* Loaded programs and plans that are shared, and the plans that a context keeps: limited,
 * dropped and counted. */
#include "runtime/plan/context.h"
#include "tests/unit/plan_driver.h"

static gemmtune_status multiply(gemmtune_ctx *ctx, int64_t m, int64_t k, float alpha,
                                float beta) {
    return gemmtune_sgemm(ctx, GEMMTUNE_ROW_MAJOR, GEMMTUNE_NOTRANS, GEMMTUNE_NOTRANS, m,
                          20, k, alpha, at(0x1000), k, at(0x2000), 20, beta, at(0x3000), 20,
                          NULL);
}

static gemmtune_plan_cache_info info_of(gemmtune_ctx *ctx) {
    gemmtune_plan_cache_info info;
    assert_int_equal(gemmtune_plan_cache_describe(ctx, &info), GEMMTUNE_OK);
    assert_int_equal(info.struct_size, sizeof info);
    return info;
}

/* ---- programs -------------------------------------------------------------------- */

/* m, n and k are arguments: the 40 kernels of these shapes, wide and narrow, have a few
 * sources. */
static void test_shapes_share_programs(void **state) {
    (void)state;
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    gemmtune_plan *plan[20];
    for (int i = 0; i < 20; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "f32-nn-%dx512x512", 400 + 16 * i);
        plan[i] = planned(ctx, name);
    }
    const int sources = builds;
    assert_in_range(sources, 2, 6);
    assert_int_equal(loaded, sources);
    assert_int_equal(info_of(ctx).programs, sources);
    for (int i = 0; i < 20; i++) {
        seen.count = 0;
        assert_int_equal(gemmtune_execute(plan[i], &one, at(0x1000), at(0x2000), &zero,
                                          at(0x3000), NULL, NULL),
                         GEMMTUNE_OK);
        assert_int_equal(seen.arg[M], 400 + 16 * i);
        assert_true(seen.vectors);
    }
    for (int i = 0; i < 19; i++)
        gemmtune_plan_destroy(plan[i]);
    assert_in_range(loaded, 1, 2);
    gemmtune_plan_destroy(plan[19]);
    assert_int_equal(loaded, 0);
    assert_int_equal(info_of(ctx).programs, 0);
    close_all(ctx);
}

/* A context has programs of its own: its driver's context may be another one. */
static void test_contexts_share_nothing(void **state) {
    (void)state;
    gemmtune_ctx *x = opened(GEMMTUNE_OPENCL), *y = opened(GEMMTUNE_OPENCL);
    gemmtune_plan *in_x = planned(x, "f32-nn-8x8x8"), *in_y = planned(y, "f32-nn-8x8x8");
    assert_ptr_not_equal(in_x, in_y);
    assert_int_equal(builds, 2);
    gemmtune_plan_destroy(in_x);
    gemmtune_plan_destroy(in_y);
    gemmtune_close(x);
    close_all(y);
}

/* ---- plans ----------------------------------------------------------------------- */

static void test_plans_of_one_question_are_one(void **state) {
    (void)state;
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    gemmtune_problem p;
    gemmtune_plan *other;
    assert_int_equal(multiply(ctx, 64, 64, 1, 0), GEMMTUNE_OK);
    const int before = builds;
    gemmtune_plan *first = planned(ctx, "f32-nn-64x20x64"),
                  *again = planned(ctx, "f32-nn-64x20x64");
    assert_ptr_equal(first, again);
    assert_int_equal(builds, before);
    gemmtune_problem_init(&p, GEMMTUNE_F32, 20, 64, 64); /* the same as column-major */
    assert_int_equal(gemmtune_plan_create(&other, ctx, &p, GEMMTUNE_MATCH_DEFAULT, 0),
                     GEMMTUNE_OK);
    assert_ptr_not_equal(other, first);
    assert_int_equal(builds, before); /* but of the same program */
    assert_int_equal(gemmtune_execute(other, &one, at(0x1000), at(0x2000), &zero,
                                      at(0x3000), NULL, NULL),
                     GEMMTUNE_OK);
    assert_int_equal(seen.arg[A], 0x2000);
    gemmtune_plan_destroy(first);
    gemmtune_plan_destroy(other);
    assert_int_equal(gemmtune_execute(again, &one, at(0x1000), at(0x2000), &zero,
                                      at(0x3000), NULL, NULL),
                     GEMMTUNE_OK);
    assert_int_equal(seen.arg[A], 0x1000);
    gemmtune_close(ctx); /* plans may outlive it */
    gemmtune_plan_destroy(again);
    assert_int_equal(loaded, 0);
}

struct planner {
    pthread_t thread;
    gemmtune_ctx *ctx;
    int wrong;
};

/* Makes and destroys plans of a few shapes. */
static void *make_plans(void *user) {
    struct planner *w = user;
    for (int i = 0; i < 60; i++) {
        gemmtune_problem p;
        gemmtune_plan *plan = NULL;
        gemmtune_problem_init(&p, GEMMTUNE_F32, 8 + i % 4, 16, 24);
        w->wrong += gemmtune_plan_create(&plan, w->ctx, &p, GEMMTUNE_MATCH_DEFAULT, 0) !=
                    GEMMTUNE_OK;
        seen.count = 0;
        w->wrong += gemmtune_execute(plan, &one, at(0x1000), at(0x2000), &zero, at(0x3000),
                                     NULL, NULL) != GEMMTUNE_OK ||
                    seen.arg[N] != 8 + i % 4;
        gemmtune_plan_destroy(plan);
    }
    return NULL;
}

static void test_plans_from_many_threads(void **state) {
    struct planner worker[THREADS];
    (void)state;
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    for (int i = 0; i < THREADS; i++) {
        worker[i] = (struct planner){.ctx = ctx};
        assert_int_equal(pthread_create(&worker[i].thread, NULL, make_plans, &worker[i]),
                         0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(worker[i].thread, NULL), 0);
        assert_int_equal(worker[i].wrong, 0);
    }
    close_all(ctx);
}

/* A build that fails is tried by each thread that waits for it, and leaves nothing. */
static void test_a_failed_build_is_shared_by_nobody(void **state) {
    gemmtune_problem p;
    gemmtune_plan *plan = NULL;
    (void)state;
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    bad_source = "#define GT_";
    gemmtune_problem_init(&p, GEMMTUNE_F32, 8, 8, 8);
    assert_int_equal(gemmtune_plan_create(&plan, ctx, &p, GEMMTUNE_MATCH_DEFAULT, 0),
                     GEMMTUNE_EBUILD);
    bad_source = NULL;
    assert_int_equal(info_of(ctx).programs, 0);
    assert_int_equal(gemmtune_plan_create(&plan, ctx, &p, GEMMTUNE_MATCH_DEFAULT, 0),
                     GEMMTUNE_OK);
    gemmtune_plan_destroy(plan);
    close_all(ctx);
}

/* ---- the plans that a context keeps ---------------------------------------------- */

static void test_count_and_limit(void **state) {
    (void)state;
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    for (int64_t m = 1; m <= 40; m++)
        assert_int_equal(multiply(ctx, m, 30, 1, 0), GEMMTUNE_OK);
    gemmtune_plan_cache_info info = info_of(ctx);
    assert_int_equal(info.plans, 40);
    assert_int_equal(info.plans_max, 0);
    assert_int_equal(info.made, 40);
    assert_int_equal(info.dropped, 0);
    const int64_t programs = info.programs;
    const int before = builds;
    assert_int_equal(multiply(ctx, 3, 30, 1, 0), GEMMTUNE_OK); /* used last */
    assert_int_equal(gemmtune_plan_cache_limit(ctx, 10), GEMMTUNE_OK);
    info = info_of(ctx);
    assert_int_equal(info.plans, 10);
    assert_int_equal(info.dropped, 30);
    assert_int_equal(info.programs, programs);
    assert_int_equal(multiply(ctx, 3, 30, 1, 0), GEMMTUNE_OK);
    assert_int_equal(info_of(ctx).made, 40); /* it was kept */
    for (int64_t m = 1; m <= 40; m++) {
        assert_int_equal(multiply(ctx, m, 30, 1, 0), GEMMTUNE_OK);
        assert_int_equal(seen.arg[M], m);
        assert_in_range(info_of(ctx).plans, 1, 10);
    }
    assert_int_equal(builds, before); /* programs stay, and are not built again */
    info = info_of(ctx);
    assert_int_equal(info.plans, info.made - info.dropped);
    close_all(ctx);
}

static void test_clear(void **state) {
    (void)state;
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    for (int64_t m = 1; m <= 9; m++)
        assert_int_equal(multiply(ctx, m, 30, 1, 0), GEMMTUNE_OK);
    assert_int_equal(gemmtune_plan_cache_limit(ctx, 4), GEMMTUNE_OK);
    assert_true(info_of(ctx).programs > 0);
    assert_int_equal(gemmtune_plan_cache_clear(ctx), GEMMTUNE_OK);
    gemmtune_plan_cache_info info = info_of(ctx);
    assert_int_equal(info.plans, 0);
    assert_int_equal(info.programs, 0);
    assert_int_equal(info.dropped, 9);
    assert_int_equal(loaded, 0);
    assert_int_equal(multiply(ctx, 5, 30, 1, 0), GEMMTUNE_OK);
    assert_int_equal(info_of(ctx).plans, 1);
    close_all(ctx);
}

static void test_limit_of_one(void **state) {
    (void)state;
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    assert_int_equal(gemmtune_plan_cache_limit(ctx, 1), GEMMTUNE_OK);
    for (int64_t m = 1; m <= 5; m++) {
        assert_int_equal(multiply(ctx, m, 30, 1, 0), GEMMTUNE_OK);
        assert_int_equal(info_of(ctx).plans, 1);
    }
    assert_int_equal(gemmtune_plan_cache_limit(ctx, 0), GEMMTUNE_OK);
    assert_int_equal(multiply(ctx, 6, 30, 1, 0), GEMMTUNE_OK);
    assert_int_equal(info_of(ctx).plans, 2);
    close_all(ctx);
}

static void test_bad_arguments(void **state) {
    gemmtune_plan_cache_info info;
    (void)state;
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    assert_int_equal(gemmtune_plan_cache_limit(NULL, 1), GEMMTUNE_EINVAL);
    assert_int_equal(gemmtune_plan_cache_limit(ctx, -1), GEMMTUNE_EINVAL);
    assert_string_equal(gemmtune_errmsg(), "plans is -1, must be 0 or more");
    assert_int_equal(gemmtune_plan_cache_clear(NULL), GEMMTUNE_EINVAL);
    assert_int_equal(gemmtune_plan_cache_describe(NULL, &info), GEMMTUNE_EINVAL);
    assert_int_equal(gemmtune_plan_cache_describe(ctx, NULL), GEMMTUNE_EINVAL);
    assert_int_equal(gemmtune_plan_cache_describe_sized(ctx, &info, 4), GEMMTUNE_EINVAL);
    close_all(ctx);
}

static atomic_bool ends;

/* Calls the one-call form until the end, and looks at each launch. */
static void *call(void *user) {
    struct planner *w = user;
    for (int64_t i = 0; !atomic_load(&ends); i++) {
        seen.count = 0;
        w->wrong += multiply(w->ctx, 1 + i % 50, 30, 1, 0) != GEMMTUNE_OK ||
                    seen.count != 1 || seen.arg[M] != 1 + i % 50;
    }
    return NULL;
}

/* Plans are dropped while other threads run them. */
static void test_drop_while_others_call(void **state) {
    struct planner worker[THREADS];
    (void)state;
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    atomic_store(&ends, false);
    assert_int_equal(gemmtune_plan_cache_limit(ctx, 20), GEMMTUNE_OK);
    for (int i = 0; i < THREADS; i++) {
        worker[i] = (struct planner){.ctx = ctx};
        assert_int_equal(pthread_create(&worker[i].thread, NULL, call, &worker[i]), 0);
    }
    for (int i = 0; i < 40; i++) {
        nap();
        if (i % 4 == 0)
            assert_int_equal(gemmtune_plan_cache_clear(ctx), GEMMTUNE_OK);
        assert_true(info_of(ctx).plans <= 20);
    }
    atomic_store(&ends, true);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(worker[i].thread, NULL), 0);
        assert_int_equal(worker[i].wrong, 0);
    }
    assert_int_equal(gemmtune_plan_cache_clear(ctx), GEMMTUNE_OK);
    const gemmtune_plan_cache_info info = info_of(ctx);
    assert_int_equal(info.made, info.dropped);
    assert_int_equal(loaded, 0); /* nobody was inside any more */
    close_all(ctx);
}

/* ---- nothing to do --------------------------------------------------------------- */

static void test_nothing_to_do_builds_nothing(void **state) {
    const struct {
        int64_t m, k;
        float alpha, beta;
    } rows[] = {{8, 0, 1, 1}, {8, 0, 0, 1}, {8, 8, 0, 1}, {0, 8, 1, 0}, {0, 0, 1, 0}};
    gemmtune_problem p;
    (void)state;
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(multiply(ctx, rows[i].m, rows[i].k, rows[i].alpha, rows[i].beta),
                         GEMMTUNE_OK);
    gemmtune_problem_init(&p, GEMMTUNE_F32, 8, 8, 8);
    p.batch = 0;
    assert_int_equal(gemmtune_gemm(ctx, &p, NULL, NULL, NULL, NULL, NULL, NULL),
                     GEMMTUNE_OK);
    gemmtune_plan_destroy(planned(ctx, "f32-nn-0x8x8"));
    gemmtune_plan *empty = NULL;
    assert_int_equal(gemmtune_plan_create(&empty, ctx, &p, GEMMTUNE_MATCH_DEFAULT, 0),
                     GEMMTUNE_OK);
    gemmtune_plan_destroy(empty);
    assert_int_equal(builds, 0);
    assert_int_equal(info_of(ctx).made, 0);
    assert_int_equal(seen.count, 0);
    assert_int_equal(multiply(ctx, 8, 0, 1, 2), GEMMTUNE_OK); /* C becomes 2 C */
    assert_int_equal(seen.count, 1);
    close_all(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes_share_programs),
        cmocka_unit_test(test_contexts_share_nothing),
        cmocka_unit_test(test_plans_of_one_question_are_one),
        cmocka_unit_test(test_plans_from_many_threads),
        cmocka_unit_test(test_a_failed_build_is_shared_by_nobody),
        cmocka_unit_test(test_count_and_limit),
        cmocka_unit_test(test_clear),
        cmocka_unit_test(test_limit_of_one),
        cmocka_unit_test(test_bad_arguments),
        cmocka_unit_test(test_drop_while_others_call),
        cmocka_unit_test(test_nothing_to_do_builds_nothing),
    };
    return cmocka_run_group_tests_name("programs", tests, setup, teardown);
}
