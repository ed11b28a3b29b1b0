/* SPDX-License-Identifier: Apache-2.0 */
/* Plans and calls that fail: bad arguments, kernels that do not build, a driver that
 * refuses. */
#include "tests/unit/plan_driver.h"

/* ---- failures ---- */

static void test_missing_pointers(void **state) {
    (void)state;
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    gemmtune_plan *plan = planned(ctx, "f32-nn-8x8x8");
    const struct {
        const void *alpha, *a, *b, *beta;
        void *c;
        const char *said;
    } rows[] = {
        {NULL, at(16), at(16), &one, at(16), "alpha is NULL"},
        {&one, at(16), at(16), NULL, at(16), "beta is NULL"},
        {&one, NULL, at(16), &one, at(16), "A is NULL"},
        {&one, at(16), NULL, &one, at(16), "B is NULL"},
        {&one, at(16), at(16), &one, NULL, "C is NULL"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(gemmtune_execute(plan, rows[i].alpha, rows[i].a, rows[i].b,
                                          rows[i].beta, rows[i].c, NULL, NULL),
                         GEMMTUNE_EINVAL);
        assert_non_null(strstr(gemmtune_errmsg(), rows[i].said));
    }
    assert_int_equal(seen.count, 0);
    assert_int_equal(gemmtune_execute(NULL, &one, at(16), at(16), &one, at(16), NULL, NULL),
                     GEMMTUNE_EINVAL);
    gemmtune_plan_destroy(plan);
    close_all(ctx);
}

/* gemmtune_launch is gemmtune_execute with the operands in a struct. */
static void test_launch(void **state) {
    gemmtune_args args;
    const int64_t ends[] = {4, 8};
    (void)state;
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    gemmtune_plan *plan = planned(ctx, "f32-nn-8x8x8");
    gemmtune_args_init(&args);
    args.alpha = &two;
    args.beta = &one;
    args.a = at(0x1000);
    args.b = at(0x2000);
    args.c = at(0x3000);
    assert_int_equal(gemmtune_launch(plan, &args, NULL), GEMMTUNE_OK);
    assert_int_equal(seen.count, 1);
    assert_true(as_float(seen.arg[ALPHA]) == 2 && as_float(seen.arg[BETA]) == 1);
    assert_int_equal(seen.arg[A], 0x1000);
    assert_int_equal(seen.arg[B], 0x2000);
    assert_int_equal(seen.arg[C], 0x3000);
    args.rows = ends;
    assert_int_equal(gemmtune_launch(plan, &args, NULL), GEMMTUNE_EINVAL);
    assert_string_equal(
        gemmtune_errmsg(),
        "rows is given, but the plan's rows are neither grouped nor masked");
    args.rows = NULL;
    args.d2 = at(0x4000);
    assert_int_equal(gemmtune_launch(plan, &args, NULL), GEMMTUNE_EINVAL);
    assert_string_equal(gemmtune_errmsg(), "d2 is given, but the plan has no epilogue");
    args.d2 = NULL;
    args.operands = 1;
    assert_int_equal(gemmtune_launch(plan, &args, NULL), GEMMTUNE_EINVAL);
    assert_string_equal(gemmtune_errmsg(),
                        "operand is given, but the plan has no epilogue");
    args.struct_size = 8;
    assert_int_equal(gemmtune_launch(plan, &args, NULL), GEMMTUNE_EINVAL);
    assert_non_null(strstr(gemmtune_errmsg(), "call gemmtune_args_init first"));
    assert_int_equal(gemmtune_launch(plan, NULL, NULL), GEMMTUNE_EINVAL);
    assert_string_equal(gemmtune_errmsg(), "args is NULL");
    assert_int_equal(gemmtune_launch(NULL, &args, NULL), GEMMTUNE_EINVAL);
    assert_string_equal(gemmtune_errmsg(), "plan is NULL");
    assert_int_equal(seen.count, 1);
    gemmtune_plan_destroy(plan);
    close_all(ctx);
}

static void expect_refused(const gemmtune_plan *plan, const gemmtune_args *args,
                           const char *said) {
    assert_int_equal(gemmtune_launch(plan, args, NULL), GEMMTUNE_EINVAL);
    assert_string_equal(gemmtune_errmsg(), said);
}

static void test_operands_are_those_of_the_epilogue(void **state) {
    const void *operand[] = {at(0x4000), NULL};
    const int64_t ld[] = {0, 7};
    gemmtune_args args;
    (void)state;
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    gemmtune_plan *plan = planned(ctx, "f32-nn-8x8x8,epi=bias_residual");
    gemmtune_args_init(&args);
    args.alpha = args.beta = &one;
    args.a = args.b = at(0x1000);
    args.c = at(0x2000);
    expect_refused(plan, &args, "the call has 0 operands, the plan's epilogue 2");
    args.operands = 2;
    expect_refused(plan, &args, "operand is NULL");
    args.operand = operand;
    expect_refused(plan, &args, "the pointer to operand res is NULL");
    operand[1] = at(0x5002);
    expect_refused(plan, &args,
                   "the pointer to operand res, 0x5002, is not aligned to 4 bytes");
    operand[1] = at(0x5000);
    args.operand_ld = ld;
    expect_refused(plan, &args,
                   "the leading dimension of operand res is 7, must be 0 (packed) or at "
                   "least 8");
    args.operand_ld = NULL;
    operand[0] = args.c;
    expect_refused(plan, &args, "operand bias and C are the same memory");
    operand[0] = at(0x4000);
    args.c = at(0x1000);
    expect_refused(plan, &args, "A and C are the same memory");
    args.c = at(0x2000);
    args.d2 = at(0x6000);
    expect_refused(plan, &args, "d2 is given, but the plan's epilogue has one output");
    args.d2 = NULL;
    assert_int_equal(gemmtune_launch(plan, &args, NULL), GEMMTUNE_OK);
    gemmtune_plan_destroy(plan);
    close_all(ctx);
}

static void test_describe_refuses_null(void **state) {
    gemmtune_plan_info info;
    (void)state;
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    gemmtune_plan *plan = planned(ctx, "f32-nn-8x8x8");
    assert_int_equal(gemmtune_plan_describe(NULL, &info), GEMMTUNE_EINVAL);
    assert_string_equal(gemmtune_errmsg(), "plan is NULL");
    assert_int_equal(gemmtune_plan_describe(plan, NULL), GEMMTUNE_EINVAL);
    assert_string_equal(gemmtune_errmsg(), "info is NULL");
    assert_int_equal(gemmtune_plan_describe_sized(plan, &info, 3), GEMMTUNE_EINVAL);
    assert_int_equal(gemmtune_plan_describe(plan, &info), GEMMTUNE_OK);
    assert_int_equal(info.struct_size, sizeof info);
    gemmtune_plan_destroy(plan);
    close_all(ctx);
}

/* A problem that has a name but no kernel is refused when a plan is made. */
static void test_what_has_no_kernel_has_no_plan(void **state) {
    static const struct {
        const char *name, *said;
    } cases[] = {
        {"f16@f16-nn-8x8x8", "no kernel for types f16@f16 yet"},
    };
    (void)state;
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gemmtune_problem p;
        gemmtune_plan *plan = (gemmtune_plan *)&p;
        assert_int_equal(gemmtune_problem_parse(&p, cases[i].name), GEMMTUNE_OK);
        assert_int_equal(gemmtune_plan_create(&plan, ctx, &p, GEMMTUNE_MATCH_DEFAULT, 0),
                         GEMMTUNE_EUNSUPPORTED);
        assert_null(plan);
        assert_string_equal(gemmtune_errmsg(), cases[i].said);
        assert_int_equal(gemmtune_gemm(ctx, &p, &one, at(16), at(16), &one, at(16), NULL),
                         GEMMTUNE_EUNSUPPORTED);
        assert_string_equal(gemmtune_errmsg(), cases[i].said);
    }
    close_all(ctx);
}

/* Column-major: the message names the caller's operand, not the exchanged one. */
static void test_messages_name_the_callers_operand(void **state) {
    gemmtune_problem p;
    gemmtune_plan *plan;
    (void)state;
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    assert_int_equal(gemmtune_problem_init(&p, GEMMTUNE_F32, 8, 8, 8), GEMMTUNE_OK);
    assert_int_equal(gemmtune_plan_create(&plan, ctx, &p, GEMMTUNE_MATCH_DEFAULT, 0),
                     GEMMTUNE_OK);
    assert_int_equal(gemmtune_execute(plan, &one, NULL, at(16), &one, at(16), NULL, NULL),
                     GEMMTUNE_EINVAL);
    assert_string_equal(gemmtune_errmsg(), "the pointer to A is NULL");
    assert_int_equal(gemmtune_execute(plan, &one, at(16), at(17), &one, at(16), NULL, NULL),
                     GEMMTUNE_EINVAL);
    assert_string_equal(gemmtune_errmsg(),
                        "the pointer to B, 0x11, is not aligned to 4 bytes");
    assert_int_equal(gemmtune_gemm(ctx, &p, &one, at(16), NULL, &one, at(16), NULL),
                     GEMMTUNE_EINVAL);
    assert_string_equal(gemmtune_errmsg(), "the pointer to B is NULL");
    gemmtune_plan_destroy(plan);
    close_all(ctx);
}

static int warnings;

static void on_log(void *user, gemmtune_log_level level, const char *line) {
    (void)user;
    warnings += level == GEMMTUNE_LOG_WARN && strstr(line, "line 1: no") != NULL;
}

/* The record's kernel does not build: the plan falls back and says so. */
static void test_a_kernel_that_does_not_build(void **state) {
    gemmtune_plan_info info;
    (void)state;
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    gemmtune_set_log(on_log, NULL, GEMMTUNE_LOG_WARN);
    bad_source = "#define GT_VA 4\n";
    gemmtune_plan *plan = planned(ctx, "f32-nn-512x512x512");
    gemmtune_plan_describe(plan, &info);
    assert_int_equal(info.match, GEMMTUNE_MATCH_DEFAULT);
    assert_true(warnings >= 2); /* both records, and starts that load as they do */
    gemmtune_plan_destroy(plan);
    bad_source = "GT_STATIC_ASSERT"; /* nothing builds: the first complaint is reported */
    gemmtune_problem p;
    plan = (gemmtune_plan *)&p;
    assert_int_equal(gemmtune_problem_parse(&p, "f32-nn-512x512x512"), GEMMTUNE_OK);
    assert_int_equal(gemmtune_plan_create(&plan, ctx, &p, GEMMTUNE_MATCH_DEFAULT, 0),
                     GEMMTUNE_EBUILD);
    assert_null(plan);
    assert_string_equal(gemmtune_errmsg(), "family block: line 1: no");
    bad_source = NULL;
    gemmtune_set_log(NULL, NULL, GEMMTUNE_LOG_ERROR);
    close_all(ctx);
}

static void test_refusals(void **state) {
    const gemmtune_target none = {.struct_size = sizeof none, .backend = GEMMTUNE_CUDA};
    const gemmtune_target target = {
        .struct_size = sizeof target, .backend = GEMMTUNE_CUDA, .context = &builds};
    const gemmtune_target old = {.backend = GEMMTUNE_CUDA, .context = &builds};
    const gemmtune_target wrong = {
        .struct_size = sizeof wrong, .backend = (gemmtune_backend)7, .context = &builds};
    gemmtune_ctx *ctx = NULL;
    gemmtune_plan *plan = NULL;
    gemmtune_problem p;
    (void)state;
    assert_int_equal(gemmtune_open(NULL, NULL, &target), GEMMTUNE_EINVAL);
    assert_int_equal(gemmtune_open(&ctx, NULL, NULL), GEMMTUNE_EINVAL);
    assert_int_equal(gemmtune_open(&ctx, NULL, &wrong), GEMMTUNE_EINVAL);
    assert_int_equal(gemmtune_open(&ctx, NULL, &old), GEMMTUNE_EINVAL);
    assert_non_null(strstr(gemmtune_errmsg(), "call gemmtune_target_init first"));
    assert_int_equal(gemmtune_target_init(NULL, GEMMTUNE_CUDA), GEMMTUNE_EINVAL);
    assert_int_equal(gemmtune_open(&ctx, db_path, &none), GEMMTUNE_EDEVICE);
    assert_string_equal(gemmtune_errmsg(), "no context");
    assert_int_equal(gemmtune_open(&ctx, "/nonexistent/gt.db", &target), GEMMTUNE_EIO);
    assert_null(ctx);
    assert_int_equal(gemmtune_open(&ctx, "/proc/self/exe", &target), GEMMTUNE_EDB);
    assert_int_equal(contexts, 0);
    gemmtune_close(NULL);
    gemmtune_plan_destroy(NULL);
    ctx = opened(GEMMTUNE_CUDA);
    gemmtune_problem_init(&p, GEMMTUNE_F32, 8, 8, 8);
    assert_int_equal(gemmtune_plan_create(NULL, ctx, &p, GEMMTUNE_MATCH_DEFAULT, 0),
                     GEMMTUNE_EINVAL);
    assert_int_equal(gemmtune_plan_create(&plan, NULL, &p, GEMMTUNE_MATCH_DEFAULT, 0),
                     GEMMTUNE_EINVAL);
    assert_int_equal(gemmtune_plan_create(&plan, ctx, NULL, GEMMTUNE_MATCH_DEFAULT, 0),
                     GEMMTUNE_EINVAL);
    assert_int_equal(gemmtune_plan_create(&plan, ctx, &p, (gemmtune_match)9, 0),
                     GEMMTUNE_EINVAL);
    assert_int_equal(gemmtune_plan_create(&plan, ctx, &p, GEMMTUNE_MATCH_EXACT, 0),
                     GEMMTUNE_ENOTFOUND);
    p.m = -1;
    assert_int_equal(gemmtune_plan_create(&plan, ctx, &p, GEMMTUNE_MATCH_DEFAULT, 0),
                     GEMMTUNE_EINVAL);
    assert_non_null(strstr(gemmtune_errmsg(), "m is -1"));
    assert_int_equal(gemmtune_gemm(ctx, &p, &one, at(16), at(16), &one, at(16), NULL),
                     GEMMTUNE_EINVAL);
    assert_int_equal(gemmtune_gemm(NULL, &p, &one, at(16), at(16), &one, at(16), NULL),
                     GEMMTUNE_EINVAL);
    gemmtune_problem_init(&p, GEMMTUNE_F16, 8, 8, 8);
    p.type_acc = GEMMTUNE_F16;
    assert_int_equal(gemmtune_plan_create(&plan, ctx, &p, GEMMTUNE_MATCH_DEFAULT, 0),
                     GEMMTUNE_EUNSUPPORTED);
    assert_null(plan);
    close_all(ctx);
}

/* The default database is optional. */
static void test_default_database(void **state) {
    const gemmtune_target target = {
        .struct_size = sizeof target, .backend = GEMMTUNE_CUDA, .context = &builds};
    static const char *const paths[] = {"/nonexistent/gt.db", "/proc/self/exe"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        gemmtune_ctx *ctx = NULL;
        assert_int_equal(setenv("GEMMTUNE_DB", paths[i], 1), 0);
        assert_int_equal(gemmtune_open(&ctx, NULL, &target), GEMMTUNE_OK);
        assert_string_equal(gemmtune_errmsg(), "");
        gemmtune_plan_destroy(planned(ctx, "f32-nn-512x512x512"));
        close_all(ctx);
    }
    assert_int_equal(unsetenv("GEMMTUNE_DB"), 0);
}

/* ---- sharing a loaded kernel ---- */

/* A device of the made-up driver, and a point for it. */
struct made_up {
    struct gt_gpu *gpu;
    struct gt_families *families;
    const struct gt_family *tile;
    struct gt_point point; /* of tile */
};

static struct made_up made_up_device(void) {
    const gemmtune_target target = {
        .struct_size = sizeof target, .backend = GEMMTUNE_CUDA, .context = &builds};
    struct made_up b;
    assert_int_equal(fake_open(&b.gpu, &target, NULL), GEMMTUNE_OK);
    assert_int_equal(gt_families_create(&b.families, NULL), GEMMTUNE_OK);
    b.tile = gt_families_find(b.families, "tile");
    gt_family_default(b.tile, &b.point);
    return b;
}

static void made_up_clear(struct made_up *b) {
    gt_families_destroy(b->families);
    fake_close(b->gpu);
}

static gt_status create(struct gt_exec **out, const struct made_up *b, const char *name,
                        char **log, struct gt_err *err) {
    gemmtune_problem p;
    assert_int_equal(gt_problem_from_name(&p, name, NULL), GEMMTUNE_OK);
    return gt_exec_create(out, b->gpu, b->tile, &b->point, &p, log, err);
}

static gt_status share(struct gt_exec **out, const struct gt_exec *e, const char *name,
                       struct gt_err *err) {
    gemmtune_problem p;
    assert_int_equal(gt_problem_from_name(&p, name, NULL), GEMMTUNE_OK);
    return gt_exec_share(out, e, &p, err);
}

static void test_share(void **state) {
    struct made_up b = made_up_device();
    struct gt_exec *first, *second, *none;
    struct gt_exec_info info;
    struct gt_err err = {""};
    (void)state;
    builds = 0;
    assert_int_equal(create(&first, &b, "f32-nn-64x64x64", NULL, &err), GEMMTUNE_OK);
    assert_int_equal(share(&second, first, "f32-nn-17x130x5", &err), GEMMTUNE_OK);
    assert_int_equal(builds, 1);
    gt_exec_describe(second, &info);
    assert_int_equal(info.fit->passes.item[0].launch.grid[0], 2 * 9);
    assert_int_equal(info.registers, 40);
    assert_string_equal(info.log, "the compiler's words");
    assert_int_equal(share(&none, first, "f32-nt-17x130x5", &err), GEMMTUNE_EINVAL);
    assert_non_null(strstr(err.line, "layout nn"));
    assert_int_equal(share(&none, first, "i32-nn-17x130x5", &err), GEMMTUNE_EINVAL);
    assert_null(none);
    gt_exec_destroy(first);
    assert_int_equal(loaded, 1);
    seen.count = 0;
    assert_int_equal(
        gt_exec_run(second,
                    &(struct gt_call){
                        .alpha = &one, .a = at(16), .b = at(16), .beta = &one, .c = at(32)},
                    &err),
        GEMMTUNE_OK);
    assert_int_equal(seen.arg[N], 130);
    gt_exec_destroy(second);
    gt_exec_destroy(NULL);
    assert_int_equal(loaded, 0);
    made_up_clear(&b);
}

static void test_exec_failures(void **state) {
    struct made_up b = made_up_device();
    struct gt_exec *e;
    struct gt_err err = {""};
    char *log;
    (void)state;
    bad_source = "gemm";
    assert_int_equal(create(&e, &b, "f32-nn-64x64x64", &log, &err), GEMMTUNE_EBUILD);
    bad_source = NULL;
    assert_null(e);
    assert_string_equal(log, "the compiler's words");
    free(log);
    b.gpu->device.smem_max = 100;
    assert_int_equal(create(&e, &b, "f32-nn-64x64x64", &log, &err), GEMMTUNE_EINVAL);
    assert_null(log);
    assert_non_null(strstr(err.line, "family tile: "));
    assert_non_null(strstr(err.line, "(SMEM <= SMEM_MAX)"));
    made_up_clear(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_missing_pointers),
        cmocka_unit_test(test_messages_name_the_callers_operand),
        cmocka_unit_test(test_launch),
        cmocka_unit_test(test_describe_refuses_null),
        cmocka_unit_test(test_operands_are_those_of_the_epilogue),
        cmocka_unit_test(test_what_has_no_kernel_has_no_plan),
        cmocka_unit_test(test_a_kernel_that_does_not_build),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_default_database),
        cmocka_unit_test(test_share),
        cmocka_unit_test(test_exec_failures),
    };
    return cmocka_run_group_tests_name("plan_failures", tests, setup, teardown);
}
