/* SPDX-License-Identifier: Apache-2.0 */
/* Which argument a failed call names, and which pointers may be NULL in each form of a
 * call. */
#include "tests/unit/plan_driver.h"

/* ---- a call in the manner of BLAS ------------------------------------------------- */

/* The arguments of gemmtune_sgemm, and the number of the wrong one. */
struct blas {
    int layout, trans_a, trans_b;
    int64_t m, n, k, lda, ldb, ldc;
    uintptr_t a, b, c;
    gemmtune_argument wrong;
};

static gemmtune_status sgemm(gemmtune_ctx *ctx, const struct blas *x) {
    return gemmtune_sgemm(ctx, (gemmtune_layout)x->layout, (gemmtune_trans)x->trans_a,
                          (gemmtune_trans)x->trans_b, x->m, x->n, x->k, 1, at(x->a), x->lda,
                          at(x->b), x->ldb, 0, at(x->c), x->ldc, NULL);
}

/* An argument of BLAS's own has the number that XERBLA is called with. */
static void test_numbers_of_blas(void **state) {
    const uintptr_t a = 0x1000, b = 0x2000, c = 0x3000;
    const struct blas rows[] = {
        {0, 7, 0, 3, 4, 5, 3, 5, 3, a, b, c, 1},
        {0, 0, 7, 3, 4, 5, 3, 5, 3, a, b, c, 2},
        {0, 0, 0, -1, 4, 5, 3, 5, 3, a, b, c, 3},
        {0, 0, 0, 3, -1, 5, 3, 5, 3, a, b, c, 4},
        {0, 0, 0, 3, 4, -1, 3, 5, 3, a, b, c, 5},
        {0, 0, 0, 3, 4, 5, 3, 5, 3, 0, b, c, 7},
        {0, 0, 0, 3, 4, 5, 2, 5, 3, a, b, c, 8},
        {0, 0, 0, 3, 4, 5, 3, 5, 3, a, 0, c, 9},
        {0, 0, 0, 3, 4, 5, 3, 4, 3, a, b, c, 10},
        {0, 0, 0, 3, 4, 5, 3, 5, 3, a, b, 0, 12},
        {0, 0, 0, 3, 4, 5, 3, 5, 2, a, b, c, 13},
        {1, 0, 0, 3, 4, 5, 4, 4, 4, a, b, c, 8},
        {1, 0, 0, 3, 4, 5, 5, 3, 4, a, b, c, 10},
        {1, 0, 0, 3, 4, 5, 5, 4, 3, a, b, c, 13},
        {1, 0, 0, 3, 4, 5, 5, 4, 4, 0, b, c, 7},
        {1, 0, 0, 3, 4, 5, 5, 4, 4, a, 0, c, 9},
        {9, 0, 0, 3, 4, 5, 5, 4, 4, a, b, c, GEMMTUNE_ARG_LAYOUT},
        {0, 0, 0, 3, 4, 5, 3, 5, 3, c, b, c, 7},
        {0, 0, 0, 3, 4, 5, 3, 5, 3, a, c, c, 9},
    };
    (void)state;
    assert_int_equal(GEMMTUNE_ARG_ALPHA, 6);
    assert_int_equal(GEMMTUNE_ARG_BETA, 11);
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(sgemm(ctx, &rows[i]), GEMMTUNE_EINVAL);
        if (gemmtune_errarg() != rows[i].wrong)
            fail_msg("row %d: argument %d, not %d: %s", (int)i, (int)gemmtune_errarg(),
                     (int)rows[i].wrong, gemmtune_errmsg());
    }
    const struct blas right = {0, 0, 0, 3, 4, 5, 3, 5, 3, a, b, c, 0};
    assert_int_equal(sgemm(ctx, &right), GEMMTUNE_OK);
    assert_int_equal(gemmtune_errarg(), GEMMTUNE_ARG_NONE);
    assert_int_equal(sgemm(NULL, &right), GEMMTUNE_EINVAL);
    assert_int_equal(gemmtune_errarg(), GEMMTUNE_ARG_CTX);
    (void)gemmtune_packed_bytes(NULL, NULL);
    assert_int_equal(gemmtune_errarg(), GEMMTUNE_ARG_OUT);
    close_all(ctx);
}

/* ---- members of structs ---------------------------------------------------------- */

static gemmtune_argument refused_by_plan(gemmtune_ctx *ctx, const gemmtune_problem *p) {
    gemmtune_plan *plan;
    assert_int_not_equal(gemmtune_plan_create(&plan, ctx, p, GEMMTUNE_MATCH_DEFAULT, 0),
                         GEMMTUNE_OK);
    return gemmtune_errarg();
}

static void test_members_of_problems(void **state) {
    (void)state;
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    gemmtune_problem p, good;
    gemmtune_problem_init(&good, GEMMTUNE_F32, 8, 8, 8);
    good.layout = GEMMTUNE_ROW_MAJOR;
#define WITH(member, value, argument)                                                      \
    do {                                                                                   \
        p = good;                                                                          \
        p.member = value;                                                                  \
        assert_int_equal(refused_by_plan(ctx, &p), argument);                              \
    } while (0)
    WITH(struct_size, 3, GEMMTUNE_ARG_PROBLEM);
    WITH(type_c, GEMMTUNE_E4M3, GEMMTUNE_ARG_TYPES);
    WITH(math, (gemmtune_math)99, GEMMTUNE_ARG_TYPES);
    WITH(batch, -1, GEMMTUNE_ARG_BATCH);
    WITH(pointer_align, 16, GEMMTUNE_ARG_BATCH);
    WITH(expected_rows, 4, GEMMTUNE_ARG_ROWS);
    WITH(epilogue, "d=nonsense(", GEMMTUNE_ARG_EPILOGUE);
    good.batch = 2;
    WITH(stride_a, -5, GEMMTUNE_ARG_STRIDE_A);
    WITH(stride_b, -5, GEMMTUNE_ARG_STRIDE_B);
    WITH(stride_c, 1, GEMMTUNE_ARG_STRIDE_C);
#undef WITH
    assert_int_equal(refused_by_plan(ctx, NULL), GEMMTUNE_ARG_PROBLEM);
    assert_int_equal(refused_by_plan(NULL, &good), GEMMTUNE_ARG_CTX);
    close_all(ctx);
}

static void test_members_of_args(void **state) {
    (void)state;
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    gemmtune_plan *plan = planned(ctx, "f32-nn-8x8x8");
    gemmtune_args args, good;
    gemmtune_args_init(&good);
    good.alpha = good.beta = &one;
    good.a = at(0x1000);
    good.b = at(0x2000);
    good.c = at(0x3000);
#define WITH(member, value, argument)                                                      \
    do {                                                                                   \
        args = good;                                                                       \
        args.member = value;                                                               \
        assert_int_not_equal(gemmtune_launch(plan, &args, NULL), GEMMTUNE_OK);             \
        assert_int_equal(gemmtune_errarg(), argument);                                     \
    } while (0)
    WITH(alpha, NULL, GEMMTUNE_ARG_ALPHA);
    WITH(beta, NULL, GEMMTUNE_ARG_BETA);
    WITH(a, at(0x1002), GEMMTUNE_ARG_A);
    WITH(a_offset, -1, GEMMTUNE_ARG_A);
    WITH(c_offset, -1, GEMMTUNE_ARG_C);
    WITH(rows, at(0x4000), GEMMTUNE_ARG_ROWS);
    WITH(operands, 1, GEMMTUNE_ARG_OPERANDS);
    WITH(d2, at(0x4000), GEMMTUNE_ARG_D2);
    WITH(wait_count, 1, GEMMTUNE_ARG_EVENTS);
    WITH(struct_size, 3, GEMMTUNE_ARG_ARGS);
    WITH(workspace_offset, -1, GEMMTUNE_ARG_WORKSPACE);
#undef WITH
    assert_int_equal(gemmtune_launch(plan, NULL, NULL), GEMMTUNE_EINVAL);
    assert_int_equal(gemmtune_errarg(), GEMMTUNE_ARG_ARGS);
    assert_int_equal(gemmtune_launch(NULL, &good, NULL), GEMMTUNE_EINVAL);
    assert_int_equal(gemmtune_errarg(), GEMMTUNE_ARG_CTX);
    gemmtune_plan_destroy(plan);
    close_all(ctx);
}

/* Another thread's failure is its own. */
static void *fail_elsewhere(void *unused) {
    (void)unused;
    (void)gemmtune_plan_cache_limit(NULL, 0);
    return (void *)(uintptr_t)gemmtune_errarg();
}

static void test_each_thread_has_its_own(void **state) {
    pthread_t thread;
    void *seen_there;
    (void)state;
    assert_int_equal(gemmtune_convert(NULL, GEMMTUNE_F32, 0, NULL, GEMMTUNE_F32, 0, 1, 1),
                     GEMMTUNE_EINVAL);
    const gemmtune_argument before = gemmtune_errarg();
    assert_int_equal(pthread_create(&thread, NULL, fail_elsewhere, NULL), 0);
    assert_int_equal(pthread_join(thread, &seen_there), 0);
    assert_int_equal((uintptr_t)seen_there, GEMMTUNE_ARG_CTX);
    assert_int_equal(gemmtune_errarg(), before);
}

/* ---- pointers that are not read -------------------------------------------------- */

/* A product of ones, with each pointer given or NULL, and the argument that a call
 * refuses. */
struct unread {
    const char *name;
    float alpha, beta;
    bool scalars, ab, c;
    gemmtune_argument refused;
};

static void expect(gemmtune_status status, const struct unread *x, const char *form) {
    if (gemmtune_errarg() != x->refused || (status == GEMMTUNE_OK) != (x->refused == 0))
        fail_msg("%s of %s, alpha %g, beta %g: status %d, argument %d, not %d: %s", form,
                 x->name, (double)x->alpha, (double)x->beta, (int)status,
                 (int)gemmtune_errarg(), (int)x->refused, gemmtune_errmsg());
}

/* All forms of a call that this product has. */
static void try_forms(gemmtune_ctx *ctx, const struct unread *x) {
    const float *alpha = x->scalars ? &x->alpha : NULL;
    const float *beta = x->scalars ? &x->beta : NULL;
    const void *a = x->ab ? at(0x1000) : NULL, *b = x->ab ? at(0x2000) : NULL;
    void *c = x->c ? at(0x3000) : NULL;
    gemmtune_problem p;
    gemmtune_args args;
    gemmtune_args_init(&args);
    args.alpha = alpha;
    args.beta = beta;
    args.a = a;
    args.b = b;
    args.c = c;
    assert_int_equal(gemmtune_problem_parse(&p, x->name), GEMMTUNE_OK);
    gemmtune_plan *plan = planned(ctx, x->name);
    expect(gemmtune_execute(plan, alpha, a, b, beta, c, NULL, NULL), x, "execute");
    expect(gemmtune_launch(plan, &args, NULL), x, "launch");
    expect(gemmtune_gemm(ctx, &p, alpha, a, b, beta, c, NULL), x, "gemm");
    gemmtune_plan_destroy(plan);
}

static void test_pointers_that_are_not_read(void **state) {
    static const char full[] = "f32-nn-8x8x8", no_k[] = "f32-nn-8x8x0",
                      empty[] = "f32-nn-0x8x8";
    const struct unread rows[] = {
        {full, 1, 0, true, true, true, GEMMTUNE_ARG_NONE},
        {full, 1, 0, true, false, true, GEMMTUNE_ARG_A},
        {full, 0, 2, true, false, true, GEMMTUNE_ARG_NONE},
        {full, 0, 2, true, false, false, GEMMTUNE_ARG_C},
        {full, 0, 1, true, false, false, GEMMTUNE_ARG_NONE},
        {full, 1, 1, true, true, false, GEMMTUNE_ARG_C},
        {full, 0, 0, false, true, true, GEMMTUNE_ARG_ALPHA},
        {no_k, 1, 0, true, false, true, GEMMTUNE_ARG_NONE},
        {no_k, 1, 0, true, false, false, GEMMTUNE_ARG_C},
        {no_k, 1, 1, true, false, false, GEMMTUNE_ARG_NONE},
        {no_k, 1, 1, false, false, false, GEMMTUNE_ARG_ALPHA},
        {empty, 1, 0, false, false, false, GEMMTUNE_ARG_NONE},
        {empty, 1, 1, true, true, true, GEMMTUNE_ARG_NONE},
    };
    (void)state;
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        try_forms(ctx, &rows[i]);
    close_all(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_of_blas),
        cmocka_unit_test(test_members_of_problems),
        cmocka_unit_test(test_members_of_args),
        cmocka_unit_test(test_each_thread_has_its_own),
        cmocka_unit_test(test_pointers_that_are_not_read),
    };
    return cmocka_run_group_tests_name("arguments", tests, setup, teardown);
}
