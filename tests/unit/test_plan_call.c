/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of gemmtune_launch: their struct, what a call waits for, offsets. */
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
    assert_non_null(args.wait_list); /* past the caller's struct: not touched */
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

/* ---- offsets ---- */

/* After the arguments of a plain product: the offsets of a, b and c. */
enum { AT_A = LDC + 1, AT_B, AT_C, PLAIN_ARGS };

/* On CUDA an offset is added to the pointer. A buffer stays as it is, and its kernel is
 * told the elements. */
static void test_offsets_of_both_kinds_of_pointers(void **state) {
    static const gemmtune_layout layouts[] = {GEMMTUNE_ROW_MAJOR, GEMMTUNE_COL_MAJOR};
    (void)state;
    for (int i = 0; i < 4; i++) {
        const bool cuda = i % 2 == 0, swapped = layouts[i / 2] == GEMMTUNE_COL_MAJOR;
        gemmtune_ctx *ctx = opened(cuda ? GEMMTUNE_CUDA : GEMMTUNE_OPENCL);
        gemmtune_problem p;
        gemmtune_plan *plan = NULL;
        gemmtune_problem_init(&p, GEMMTUNE_F32, 8, 8, 8);
        p.layout = layouts[i / 2];
        assert_int_equal(gemmtune_plan_create(&plan, ctx, &p, GEMMTUNE_MATCH_DEFAULT, 0),
                         GEMMTUNE_OK);
        gemmtune_args args = plain_args(&one);
        args.a = args.b = args.c = at(0x1000); /* one buffer for all three */
        args.a_offset = 1;
        args.b_offset = 70;
        args.c_offset = 203;
        assert_int_equal(gemmtune_launch(plan, &args, NULL), GEMMTUNE_OK);
        const int64_t a = swapped ? 70 : 1, b = swapped ? 1 : 70;
        assert_int_equal(seen.args, cuda ? AT_A : PLAIN_ARGS);
        assert_int_equal(seen.arg[A], 0x1000 + (cuda ? 4 * a : 0));
        assert_int_equal(seen.arg[B], 0x1000 + (cuda ? 4 * b : 0));
        assert_int_equal(seen.arg[C], 0x1000 + (cuda ? 4 * 203 : 0));
        if (!cuda) {
            assert_int_equal(seen.arg[AT_A], a);
            assert_int_equal(seen.arg[AT_B], b);
            assert_int_equal(seen.arg[AT_C], 203);
        }
        gemmtune_plan_destroy(plan);
        close_all(ctx);
    }
}

static void test_offsets_that_are_refused(void **state) {
    static const gemmtune_backend backends[] = {GEMMTUNE_OPENCL, GEMMTUNE_CUDA};
    (void)state;
    for (int i = 0; i < 2; i++) {
        gemmtune_ctx *ctx = opened(backends[i]);
        gemmtune_plan *plan = planned(ctx, "f32-nn-8x8x8");
        gemmtune_args args = plain_args(&one);
        args.b_offset = -1;
        expect_refused(plan, &args, "b_offset is -1, must be 0 or more");
        args.b_offset = 0;
        args.workspace_offset = INT64_MIN;
        expect_refused(plan, &args,
                       "workspace_offset is -9223372036854775808, must be 0 or more");
        args.workspace_offset = 0;
        args.a = args.c;
        args.a_offset = args.c_offset = 64;
        expect_refused(plan, &args, "A and C are the same memory");
        args.a_offset = 0;
        args.b = NULL;
        args.b_offset = 8;
        expect_refused(plan, &args, "the pointer to B is NULL");
        assert_int_equal(seen.count, 0);
        gemmtune_plan_destroy(plan);
        close_all(ctx);
    }
}

/* A and B of 256 bytes fit after element 1, and not after element 2. */
static void test_buffers_end(void **state) {
    (void)state;
    gemmtune_ctx *ctx = opened(GEMMTUNE_OPENCL);
    gemmtune_plan *plan = planned(ctx, "f32-nn-8x8x8");
    gemmtune_args args = plain_args(&one);
    buffer_bytes = 260;
    args.a_offset = 1;
    assert_int_equal(gemmtune_launch(plan, &args, NULL), GEMMTUNE_OK);
    args.a_offset = 2;
    expect_refused(plan, &args, "the buffer of A has 260 bytes, must have 264 at least");
    args.a_offset = INT64_MAX / 4;
    expect_refused(plan, &args,
                   "the buffer of A has 260 bytes, must have 9223372036854775807 at least");
    buffer_bytes = 0;
    gemmtune_plan_destroy(plan);
    close_all(ctx);
}

/* The record for 512 has vector loads of A and B. Where pointers are buffers, another
 * kernel is built for the first offset that is no multiple of 16 bytes, and for no call
 * before it. */
static void test_unaligned_offsets_have_a_late_kernel(void **state) {
    (void)state;
    gemmtune_ctx *ctx = opened(GEMMTUNE_OPENCL);
    gemmtune_plan *plan = planned(ctx, "f32-nn-512x512x512");
    gemmtune_args args = plain_args(&one);
    assert_int_equal(builds, 1);
    args.a_offset = 4;
    args.c_offset = 1; /* C has no vectors */
    assert_int_equal(gemmtune_launch(plan, &args, NULL), GEMMTUNE_OK);
    assert_true(seen.vectors);
    assert_int_equal(builds, 1);
    args.b_offset = 3;
    const int before = builds;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(gemmtune_launch(plan, &args, NULL), GEMMTUNE_OK);
        assert_false(seen.vectors);
    }
    assert_int_equal(builds, before + 1);
    args.b_offset = 8;
    assert_int_equal(gemmtune_launch(plan, &args, NULL), GEMMTUNE_OK);
    assert_true(seen.vectors);
    assert_int_equal(builds, before + 1);
    gemmtune_plan_destroy(plan);
    close_all(ctx);
}

/* A compiler that has refused the narrow kernels is asked once for a plan. */
static void test_late_kernel_fails_once(void **state) {
    (void)state;
    gemmtune_ctx *ctx = opened(GEMMTUNE_OPENCL);
    gemmtune_plan *plan = planned(ctx, "f32-nn-512x512x512");
    gemmtune_plan *other = planned(ctx, "f32-nn-512x512x256"); /* no shared plan */
    gemmtune_args args = plain_args(&one);
    char first[512];
    args.b_offset = 3;
    bad_source = "#define"; /* all of them */
    assert_int_equal(gemmtune_launch(plan, &args, NULL), GEMMTUNE_EBUILD);
    bad_source = NULL;
    (void)snprintf(first, sizeof first, "%s", gemmtune_errmsg());
    assert_non_null(strstr(first, "for unaligned offsets: "));
    assert_non_null(strstr(first, "line 1: no"));
    const int before = builds;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(gemmtune_launch(plan, &args, NULL), GEMMTUNE_EBUILD);
        assert_string_equal(gemmtune_errmsg(), first);
    }
    assert_int_equal(builds, before);
    assert_int_equal(seen.count, 0);
    assert_int_equal(gemmtune_launch(other, &args, NULL), GEMMTUNE_OK); /* its own build */
    assert_int_equal(builds, before + 1);
    args.b_offset = 0; /* the plan's wide kernel still runs */
    assert_int_equal(gemmtune_launch(plan, &args, NULL), GEMMTUNE_OK);
    gemmtune_plan_destroy(other);
    gemmtune_plan_destroy(plan);
    close_all(ctx);
}

/* An unaligned call that ends like this, builds nothing and launches nothing. */
static void launch_unaligned(gemmtune_plan *plan, const float *alpha, const float *beta,
                             gemmtune_status status) {
    gemmtune_args args = plain_args(beta);
    const int before = builds;
    args.alpha = alpha;
    args.a_offset = args.b_offset = args.c_offset = 3;
    seen.count = 0;
    assert_int_equal(gemmtune_launch(plan, &args, NULL), status);
    assert_int_equal(builds, before);
    assert_int_equal(seen.count, 0);
}

/* Nothing is built for an unaligned call that launches nothing. */
static void test_no_late_kernel_for_nothing(void **state) {
    static const struct {
        const char *problem;
        const float *alpha, *beta;
        gemmtune_status status;
    } rows[] = {
        {"f32-nn-512x512x512", &zero, &one, GEMMTUNE_OK},
        {"f32-nn-512x512x0", &two, &one, GEMMTUNE_OK},
        {"f32-nn-0x512x512", &one, &zero, GEMMTUNE_OK},
        {"f32-nn-512x0x512", &one, &zero, GEMMTUNE_OK},
        {"f32-nn-512x512x512", NULL, &one, GEMMTUNE_EINVAL},
        {"f32-nn-512x512x512", &one, NULL, GEMMTUNE_EINVAL},
    };
    (void)state;
    gemmtune_ctx *ctx = opened(GEMMTUNE_OPENCL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gemmtune_plan *plan = planned(ctx, rows[i].problem);
        launch_unaligned(plan, rows[i].alpha, rows[i].beta, rows[i].status);
        gemmtune_plan_destroy(plan);
    }
    gemmtune_problem none;
    gemmtune_plan *plan;
    gemmtune_problem_init(&none, GEMMTUNE_F32, 512, 512, 512);
    none.batch = 0;
    assert_int_equal(gemmtune_plan_create(&plan, ctx, &none, GEMMTUNE_MATCH_DEFAULT, 0),
                     GEMMTUNE_OK);
    launch_unaligned(plan, &one, &zero, GEMMTUNE_OK);
    gemmtune_plan_destroy(plan);
    close_all(ctx);
}

/* On CUDA an address is what counts: an offset may make it aligned, or unaligned. */
static void test_offsets_move_addresses(void **state) {
    (void)state;
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    gemmtune_plan *plan = planned(ctx, "f32-nn-512x512x512");
    gemmtune_args args = plain_args(&one);
    args.a_offset = 1;
    assert_int_equal(gemmtune_launch(plan, &args, NULL), GEMMTUNE_OK);
    assert_false(seen.vectors);
    args.a = at(0x100c);
    assert_int_equal(gemmtune_launch(plan, &args, NULL), GEMMTUNE_OK);
    assert_true(seen.vectors);
    assert_int_equal(seen.arg[A], 0x1010);
    gemmtune_plan_destroy(plan);
    close_all(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_args_grow),
        cmocka_unit_test(test_every_call_gives_an_event),
        cmocka_unit_test(test_orders_that_are_refused),
        cmocka_unit_test(test_streams_take_no_order),
        cmocka_unit_test(test_offsets_of_both_kinds_of_pointers),
        cmocka_unit_test(test_offsets_that_are_refused),
        cmocka_unit_test(test_buffers_end),
        cmocka_unit_test(test_unaligned_offsets_have_a_late_kernel),
        cmocka_unit_test(test_late_kernel_fails_once),
        cmocka_unit_test(test_no_late_kernel_for_nothing),
        cmocka_unit_test(test_offsets_move_addresses),
    };
    return cmocka_run_group_tests_name("plan_call", tests, setup, teardown);
}
