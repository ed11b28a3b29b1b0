/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The public calls with a made-up driver: the launches, their arguments, and the number of
 * builds. gt_driver_of, gt_build and gt_image_clear below replace the library's.
 */
#include "tests/unit/plan_driver.h"

/* ---- plans ---- */

static void test_describe(void **state) {
    gemmtune_plan_info info = {.struct_size = sizeof info};
    (void)state;
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    gemmtune_plan *plan = planned(ctx, "f32-nn-1024x1024x1020");
    gemmtune_plan_describe(plan, &info);
    assert_int_equal(info.match, GEMMTUNE_MATCH_SHAPE);
    assert_string_equal(info.family, "block");
    assert_non_null(strstr(info.params, "VA=4 VB=4"));
    assert_string_equal(info.from, "f32-nn-1024x1024x1024");
    assert_non_null(strstr(info.why, "forecast"));
    assert_int_equal((int)info.tuned_median_ns, 7000);
    assert_int_equal(info.workspace_bytes, 0);
    assert_int_equal(info.workspace_align, 256);
    assert_true(info.expected_loss > 0 &&
                info.expected_loss < 0.05); /* k is as good as 1024 */
    gemmtune_plan_destroy(plan);
    plan = planned(ctx, "f32-nn-1024x1024x1024");
    gemmtune_plan_describe(plan, &info);
    assert_true(info.expected_loss == 0);
    gemmtune_plan_destroy(plan);
    plan = planned(ctx, "f64-tt-9x9x9");
    gemmtune_plan_describe(plan, &info);
    assert_int_equal(info.match, GEMMTUNE_MATCH_DEFAULT);
    assert_string_equal(info.from, "");
    assert_true(info.tuned_median_ns == 0);
    assert_true(info.expected_loss > 0.1);
    gemmtune_plan_destroy(plan);
    close_all(ctx);
}

/* The kernel that was tuned is not cached: the plan has one that is, says what it expects
 * to lose, and compiles nothing else. */
static void test_cached(void **state) {
    gemmtune_plan_info info = {.struct_size = sizeof info};
    gemmtune_problem p;
    gemmtune_plan *plan;
    (void)state;
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    assert_int_equal(gemmtune_problem_parse(&p, "f32-nn-1024x1024x1024"), GEMMTUNE_OK);
    assert_int_equal(gemmtune_plan_create_cached(&plan, ctx, &p, GEMMTUNE_MATCH_DEFAULT, 0),
                     GEMMTUNE_ENOTFOUND);
    assert_null(plan);
    assert_int_equal(builds, 0);
    cached_source = "#define GT_VA 4\n";
    assert_int_equal(gemmtune_plan_create_cached(&plan, ctx, &p, GEMMTUNE_MATCH_EXACT, 0),
                     GEMMTUNE_OK);
    gemmtune_plan_describe(plan, &info);
    assert_true(info.expected_loss == 0);
    gemmtune_plan_destroy(plan);
    cached_source = "#define GT_VA 2\n";
    assert_int_equal(gemmtune_plan_create_cached(&plan, ctx, &p, GEMMTUNE_MATCH_EXACT, 0),
                     GEMMTUNE_ENOTFOUND);
    assert_int_equal(gemmtune_plan_create_cached(&plan, ctx, &p, GEMMTUNE_MATCH_DEFAULT, 0),
                     GEMMTUNE_OK);
    gemmtune_plan_describe(plan, &info);
    assert_non_null(strstr(info.params, "VA=2"));
    assert_true(info.expected_loss > 0);
    gemmtune_plan_destroy(plan);
    assert_int_equal(compiles, 0);
    cached_source = NULL;
    close_all(ctx);
}

static void test_arguments(void **state) {
    (void)state;
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    gemmtune_plan *plan = planned(ctx, "f32-nn-512x256x128,lda=132");
    assert_int_equal(
        gemmtune_execute(plan, &two, at(0x1000), at(0x2000), &one, at(0x3000), NULL, NULL),
        GEMMTUNE_OK);
    const int64_t expected[] = {512, 256,    128, seen.arg[ALPHA], 0x1000,
                                132, 0x2000, 256, seen.arg[BETA],  0x3000,
                                256};
    assert_int_equal(seen.count, 1);
    assert_int_equal(seen.args, 11);
    assert_memory_equal(seen.arg, expected, sizeof expected);
    assert_true(as_float(seen.arg[ALPHA]) == 2 && as_float(seen.arg[BETA]) == 1);
    assert_int_equal(seen.launch.grid[0], 8 * 4);
    gemmtune_plan_destroy(plan);
    close_all(ctx);
}

static void test_column_major_exchanges_operands(void **state) {
    gemmtune_problem p;
    gemmtune_plan *plan;
    (void)state;
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    gemmtune_problem_init(&p, GEMMTUNE_F32, 30, 40, 50);
    p.trans_a = GEMMTUNE_TRANS;
    assert_int_equal(gemmtune_plan_create(&plan, ctx, &p, GEMMTUNE_MATCH_DEFAULT, 0),
                     GEMMTUNE_OK);
    assert_int_equal(
        gemmtune_execute(plan, &one, at(0x1000), at(0x2000), &zero, at(0x3000), NULL, NULL),
        GEMMTUNE_OK);
    assert_int_equal(seen.arg[M], 40);
    assert_int_equal(seen.arg[N], 30);
    assert_int_equal(seen.arg[A], 0x2000);
    assert_int_equal(seen.arg[B], 0x1000);
    assert_int_equal(seen.arg[LDA], 50);
    assert_int_equal(seen.arg[LDB], 50);
    gemmtune_plan_destroy(plan);
    /* the one-call form stores the canonical problem, not the order of the operands */
    assert_int_equal(
        gemmtune_gemm(ctx, &p, &one, at(0x1000), at(0x2000), &zero, at(0x3000), NULL),
        GEMMTUNE_OK);
    assert_int_equal(seen.arg[A], 0x2000);
    builds = 0;
    assert_int_equal(gemmtune_sgemm(ctx, GEMMTUNE_ROW_MAJOR, GEMMTUNE_NOTRANS,
                                    GEMMTUNE_TRANS, 40, 30, 50, 1, at(0x1000), 50,
                                    at(0x2000), 50, 0, at(0x3000), 30, NULL),
                     GEMMTUNE_OK);
    assert_int_equal(builds, 0);
    assert_int_equal(seen.arg[A], 0x1000);
    close_all(ctx);
}

/* A kernel with 16-byte loads, and the same tile with narrower loads for pointers that are
 * only 4-byte aligned. */
static void test_unaligned_pointers(void **state) {
    (void)state;
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    gemmtune_plan *plan = planned(ctx, "f32-nn-512x512x512");
    assert_int_equal(builds, 2);
    assert_int_equal(
        gemmtune_execute(plan, &one, at(0x1000), at(0x2000), &zero, at(0x3004), NULL, NULL),
        GEMMTUNE_OK); /* C is stored element by element */
    assert_true(seen.vectors);
    const struct gt_launch wide = seen.launch;
    assert_int_equal(
        gemmtune_execute(plan, &one, at(0x1004), at(0x2000), &zero, at(0x3000), NULL, NULL),
        GEMMTUNE_OK);
    assert_int_equal(
        gemmtune_execute(plan, &one, at(0x1000), at(0x2008), &zero, at(0x3000), NULL, NULL),
        GEMMTUNE_OK);
    assert_false(seen.vectors);
    assert_memory_equal(seen.launch.grid, wide.grid, sizeof wide.grid);
    assert_memory_equal(seen.launch.block, wide.block, sizeof wide.block);
    assert_int_equal(seen.count, 3);
    assert_int_equal(
        gemmtune_execute(plan, &one, at(0x1002), at(0x2000), &zero, at(0x3000), NULL, NULL),
        GEMMTUNE_EINVAL);
    assert_non_null(strstr(gemmtune_errmsg(), "not aligned to 4 bytes"));
    assert_int_equal(seen.count, 3);
    gemmtune_plan_destroy(plan);
    close_all(ctx);
    ctx = opened(GEMMTUNE_OPENCL); /* handles, not addresses */
    plan = planned(ctx, "f32-nn-512x512x512");
    assert_int_equal(builds, 1);
    assert_int_equal(
        gemmtune_execute(plan, &one, at(0x1001), at(0x2003), &zero, at(0x3005), NULL, NULL),
        GEMMTUNE_OK);
    gemmtune_plan_destroy(plan);
    close_all(ctx);
}

/* As in Reference BLAS: unneeded operands are not read and may be NULL. */
static void test_degenerate_products(void **state) {
    static const struct {
        const char *problem;
        const float *alpha, *beta;
        int launches;
    } rows[] = {
        {"f32-nn-8x8x8", &zero, &two, 1},       {"f32-nn-8x8x8", &minus_zero, &two, 1},
        {"f32-nn-8x8x8", &zero, &zero, 1},      {"f32-nn-8x8x8", &zero, &one, 0},
        {"f32-nn-8x8x0", &two, &two, 1},        {"f32-nn-8x8x0", &two, &one, 0},
        {"f32-nn-0x8x8", &two, &two, 0},        {"f32-nn-8x0x8", &two, &two, 0},
        {"f32-nn-0x0x0", &two, &minus_zero, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
        gemmtune_plan *plan = planned(ctx, rows[i].problem);
        assert_int_equal(gemmtune_execute(plan, rows[i].alpha, NULL, NULL, rows[i].beta,
                                          at(0x3000), NULL, NULL),
                         GEMMTUNE_OK);
        assert_int_equal(seen.count, rows[i].launches);
        if (seen.count > 0) {
            assert_int_equal(seen.arg[K], 0);
            assert_true(as_float(seen.arg[ALPHA]) == 0);
            assert_true(as_float(seen.arg[BETA]) == *rows[i].beta);
        }
        gemmtune_plan_destroy(plan);
        close_all(ctx);
    }
}

static void test_empty_products_build_nothing(void **state) {
    (void)state;
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    gemmtune_plan *plan = planned(ctx, "f32-nn-0x512x512");
    assert_int_equal(builds, 0);
    assert_int_equal(gemmtune_execute(plan, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
                     GEMMTUNE_OK);
    gemmtune_plan_destroy(plan);
    close_all(ctx);
}

/* As BLAS calls with a batch count of 0: nothing is built, read or launched. */
static void test_empty_batches_do_nothing(void **state) {
    const gemmtune_batch_kind kinds[] = {GEMMTUNE_BATCH_STRIDED, GEMMTUNE_BATCH_POINTERS,
                                         GEMMTUNE_GROUPED_ROWS, GEMMTUNE_MASKED_ROWS};
    (void)state;
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        gemmtune_problem p;
        gemmtune_plan *plan = NULL;
        size_t bytes = 1;
        assert_int_equal(gemmtune_problem_init(&p, GEMMTUNE_F32, 64, 64, 64), GEMMTUNE_OK);
        p.layout = GEMMTUNE_ROW_MAJOR;
        p.batch = 0;
        p.batch_kind = kinds[i];
        if (gemmtune_plan_create(&plan, ctx, &p, GEMMTUNE_MATCH_DEFAULT, 0) != GEMMTUNE_OK)
            fail_msg("%s", gemmtune_errmsg());
        assert_int_equal(builds, 0);
        memset(&seen, 0, sizeof seen);
        assert_int_equal(gemmtune_execute(plan, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
                         GEMMTUNE_OK);
        assert_int_equal(seen.count, 0);
        gemmtune_plan_destroy(plan);
        if (kinds[i] == GEMMTUNE_BATCH_POINTERS)
            continue;
        assert_int_equal(gemmtune_packed_bytes(&bytes, &p), GEMMTUNE_OK);
        assert_int_equal(bytes, 0);
        assert_int_equal(gemmtune_pack(ctx, &p, NULL, NULL, NULL), GEMMTUNE_OK);
    }
    assert_int_equal(builds, 0);
    close_all(ctx);
}

static void test_scalars_of_each_type(void **state) {
    const double alpha = 0.5, none = 0;
    const int32_t minus = -3, zero_i = 0;
    (void)state;
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    gemmtune_plan *plan = planned(ctx, "f64-nn-8x8x8");
    assert_int_equal(gemmtune_execute(plan, &alpha, at(0x1000), at(0x2000), &none,
                                      at(0x3000), NULL, NULL),
                     GEMMTUNE_OK);
    assert_memory_equal(&seen.arg[ALPHA], &alpha, sizeof alpha);
    gemmtune_plan_destroy(plan);
    plan = planned(ctx, "i32-nn-8x8x8");
    assert_int_equal(gemmtune_execute(plan, &minus, at(0x1000), at(0x2000), &zero_i,
                                      at(0x3000), NULL, NULL),
                     GEMMTUNE_OK);
    assert_int_equal((int32_t)seen.arg[ALPHA], -3);
    gemmtune_plan_destroy(plan);
    close_all(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_describe),
        cmocka_unit_test(test_cached),
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_column_major_exchanges_operands),
        cmocka_unit_test(test_unaligned_pointers),
        cmocka_unit_test(test_degenerate_products),
        cmocka_unit_test(test_empty_products_build_nothing),
        cmocka_unit_test(test_empty_batches_do_nothing),
        cmocka_unit_test(test_scalars_of_each_type),
    };
    return cmocka_run_group_tests_name("plan", tests, setup, teardown);
}
