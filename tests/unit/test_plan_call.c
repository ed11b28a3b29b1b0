/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of gemmtune_launch: their struct, and what a call waits for. */
#include "tests/unit/plan_driver.h"

/* A call of f32 with alpha 2 and matrices at 0x1000, 0x2000 and 0x3000. */
static gemmtune_args plain_args(const float *beta) {
    gemmtune_args args;
    assert_int_equal(gemmtune_args_init(&args), GEMMTUNE_OK);
    args.alpha = &two;
    args.beta = beta;
    args.a = at(0x1000);
    args.b = at(0x2000);
    args.c = at(0x3000);
    return args;
}

static void expect_refused(const gemmtune_plan *plan, const gemmtune_args *args,
                           const char *said) {
    assert_int_equal(gemmtune_launch(plan, args, NULL), GEMMTUNE_EINVAL);
    assert_string_equal(gemmtune_errmsg(), said);
}

/* ---- the struct ---- */

static void test_args_grow(void **state) {
    const size_t first = offsetof(gemmtune_args, wait_list);
    gemmtune_args args;
    void *event = at(8);
    (void)state;
    assert_int_equal(gemmtune_args_init_sized(NULL, sizeof args), GEMMTUNE_EINVAL);
    assert_string_equal(gemmtune_errmsg(), "args is NULL");
    assert_int_equal(gemmtune_args_init_sized(&args, first - 1), GEMMTUNE_EINVAL);
    assert_non_null(strstr(gemmtune_errmsg(), "call gemmtune_args_init first"));
    memset(&args, 0x55, sizeof args);
    assert_int_equal(gemmtune_args_init_sized(&args, first), GEMMTUNE_OK);
    assert_int_equal(args.struct_size, first);
    assert_null(args.workspace);
    assert_true(args.d2_ld == 0);
    assert_non_null(args.wait_list); /* behind the caller's struct: not touched */
    /* members that the caller's struct lacks count as 0 */
    gemmtune_ctx *ctx = opened(GEMMTUNE_OPENCL);
    gemmtune_plan *plan = planned(ctx, "f32-nn-8x8x8");
    args = plain_args(&one);
    args.struct_size = (uint32_t)first;
    args.event = &event;
    memset(&seen, 0, sizeof seen);
    assert_int_equal(gemmtune_launch(plan, &args, NULL), GEMMTUNE_OK);
    assert_string_equal(seen.orders, "0> ");
    assert_ptr_equal(event, at(8));
    gemmtune_plan_destroy(plan);
    close_all(ctx);
}

/* ---- order ---- */

/* A call without work waits and gives an event as well: a mark, no launch. */
static void test_every_call_gives_an_event(void **state) {
    static const struct {
        const char *problem;
        const float *beta;
        int launches;
    } rows[] = {
        {"f32-nn-8x8x8", &one, 1}, {"f32-nn-8x8x0", &two, 1}, {"f32-nn-8x8x0", &one, 0},
        {"f32-nn-0x8x8", &one, 0}, {"f32-nn-8x0x8", &two, 0},
    };
    void *const list[] = {at(7), at(8)};
    (void)state;
    gemmtune_ctx *ctx = opened(GEMMTUNE_OPENCL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gemmtune_plan *plan = planned(ctx, rows[i].problem);
        gemmtune_args args = plain_args(rows[i].beta);
        void *event = at(8);
        memset(&seen, 0, sizeof seen);
        assert_int_equal(gemmtune_launch(plan, &args, NULL), GEMMTUNE_OK);
        assert_string_equal(seen.orders, rows[i].launches > 0 ? "0> " : "");
        args.wait_list = list;
        args.wait_count = 2;
        args.event = &event;
        memset(&seen, 0, sizeof seen);
        assert_int_equal(gemmtune_launch(plan, &args, NULL), GEMMTUNE_OK);
        assert_string_equal(seen.orders, "7,8>1 ");
        assert_int_equal(seen.count, rows[i].launches);
        assert_ptr_equal(event, at(1));
        assert_int_equal(seen.released, 0);
        gemmtune_plan_destroy(plan);
    }
    close_all(ctx);
}

static void test_orders_that_are_refused(void **state) {
    static const gemmtune_backend backends[] = {GEMMTUNE_OPENCL, GEMMTUNE_CUDA};
    void *const list[] = {NULL};
    (void)state;
    for (int i = 0; i < 2; i++) {
        gemmtune_ctx *ctx = opened(backends[i]);
        gemmtune_plan *plan = planned(ctx, "f32-nn-8x8x8");
        gemmtune_args args = plain_args(&one);
        void *event = at(8);
        memset(&seen, 0, sizeof seen);
        args.event = &event;
        args.wait_count = 3;
        expect_refused(plan, &args, "wait_count is 3, but wait_list is NULL");
        assert_null(event);
        args.wait_count = 0;
        args.wait_list = list;
        expect_refused(plan, &args, "wait_count is 0, but wait_list is given");
        args.wait_count = 1;
        expect_refused(plan, &args, "event 0 of wait_list is NULL");
        args.wait_count = 0;
        args.wait_list = NULL;
        event = at(8);
        args.c = NULL;
        assert_int_equal(gemmtune_launch(plan, &args, NULL), GEMMTUNE_EINVAL);
        assert_null(event);
        assert_int_equal(seen.count, 0);
        gemmtune_plan_destroy(plan);
        close_all(ctx);
    }
}

static void test_streams_take_no_order(void **state) {
    static const char said[] =
        "wait_list and event are for OpenCL queues: a stream orders its own calls";
    void *const list[] = {at(7)};
    void *event = NULL;
    (void)state;
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    const char *const problems[] = {"f32-nn-8x8x8", "f32-nn-0x8x8"};
    for (int i = 0; i < 2; i++) {
        gemmtune_plan *plan = planned(ctx, problems[i]);
        gemmtune_args args = plain_args(&one);
        seen.count = 0;
        args.wait_list = list;
        args.wait_count = 1;
        expect_refused(plan, &args, said);
        args.wait_list = NULL;
        args.wait_count = 0;
        args.event = &event;
        expect_refused(plan, &args, said);
        assert_int_equal(seen.count, 0);
        gemmtune_plan_destroy(plan);
    }
    close_all(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_args_grow),
        cmocka_unit_test(test_every_call_gives_an_event),
        cmocka_unit_test(test_orders_that_are_refused),
        cmocka_unit_test(test_streams_take_no_order),
    };
    return cmocka_run_group_tests_name("plan_call", tests, setup, teardown);
}
