/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a point may run a problem, each reason for a refusal, and the numbers of a fit.
 */
#include "tests/unit/match_families.h"

/* A question about the family `choosy` on the card. */
struct question {
    const char *problem, *point;
    int64_t pointer_align;
    const char *said; /* the reason against it */
};

static gt_status ask(struct gt_fit *out, struct question q, const struct gt_device *d,
                     struct gt_err *err) {
    const struct gt_family *f = gt_families_find(families, "choosy");
    int64_t values[GT_POINT_MAX];
    struct gt_point point;
    gemmtune_problem p;
    assert_int_equal(gt_problem_from_name(&p, q.problem, NULL), GEMMTUNE_OK);
    assert_int_equal(gt_point_parse(&point, q.point, NULL), GEMMTUNE_OK);
    if (q.pointer_align == GT_VECTOR_BYTES)
        return gt_fit_point(out, f, d, &p, &point, err);
    assert_int_equal(gt_point_values(values, f, &point, NULL), GEMMTUNE_OK);
    return gt_fit_values(out, f, d, &p, q.pointer_align, values, err);
}

static void test_numbers(void **state) {
    const struct question q = {"f32-nn-20x70x64", "V=2 W=8", 16, NULL};
    struct gt_err err = {""};
    struct gt_fit fit;
    (void)state;
    assert_int_equal(ask(&fit, q, &card, &err), GEMMTUNE_OK);
    assert_int_equal(fit.problem.m, 20);
    assert_int_equal(fit.passes.workspace_bytes, 4096);
    assert_int_equal(fit.align[0], 8);
    assert_int_equal(fit.align[1], 8);
    assert_int_equal(fit.align[2], 4);
    assert_int_equal(fit.passes.count, 1);
    assert_int_equal(fit.passes.item[0].launch.grid[0], 9);
    assert_int_equal(fit.passes.item[0].launch.grid[1], 3);
    assert_string_equal(fit.binding.family->name, "choosy");
}

static void test_refusals(void **state) {
    static const struct question rows[] = {
        {"f64-nn-64x64x64", "V=1 W=8", 16,
         "choosy: the family has no kernel for these data"},
        {"f32-tn-64x64x64", "V=1 W=8", 16,
         "choosy: the family has no kernel for this layout"},
        {"f32-nn-64x64x64", "V=3 W=8", 16, "choosy: V=3 is not one of the family's values"},
        {"f32-nn-64x64x64", "V=1", 16, "needs a value for W"},
        {"f32-nn-64x64x64", "V=1 W=64", 16,
         "choosy: too many threads (W * W <= MAX_THREADS)"},
        {"f32-nn-64x64x3", "V=1 W=8", 16, "choosy: a short sum"},
        {"f32-nn-64x64x66", "V=4 W=8", 16, "choosy: the rows of A are not aligned"},
        {"f32-nn-64x66x64", "V=4 W=8", 16, "choosy: the rows of B are not aligned"},
        {"f32-nn-64x64x64", "V=4 W=8", 8, "choosy: the rows of A are not aligned"},
        {"f32-nn-600000x64x64", "V=1 W=8", 16, "choosy: launch: gemm: grid y is 75000"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gt_err err = {""};
        struct gt_fit fit;
        assert_int_equal(ask(&fit, rows[i], &card, &err),
                         strstr(rows[i].said, "has no kernel") != NULL
                             ? GEMMTUNE_EUNSUPPORTED
                             : GEMMTUNE_EINVAL);
        if (strstr(err.line, rows[i].said) == NULL)
            fail_msg("%zu: \"%s\" lacks \"%s\"", i, err.line, rows[i].said);
    }
}

/* The limits are the device's, and so is the source. */
static void test_devices(void **state) {
    const struct question q = {"f32-nn-64x64x64", "V=1 W=8", 16, NULL};
    struct gt_device small = card, opencl = card;
    struct gt_err err = {""};
    struct gt_fit fit;
    (void)state;
    small.max_threads = 63;
    assert_int_equal(ask(&fit, q, &small, &err), GEMMTUNE_EINVAL);
    assert_non_null(strstr(err.line, "too many threads"));
    opencl.backend = GEMMTUNE_OPENCL;
    assert_int_equal(ask(&fit, q, &opencl, &err), GEMMTUNE_EUNSUPPORTED);
    assert_non_null(strstr(err.line, "no source for OpenCL"));
}

/* A C without elements is fitted as the smallest one. */
static void test_empty(void **state) {
    struct gt_err err = {""};
    struct gt_fit fit;
    (void)state;
    assert_int_equal(
        ask(&fit, (struct question){"f32-nn-0x64x64", "V=1 W=8", 16, NULL}, &card, &err),
        GEMMTUNE_OK);
    assert_int_equal(fit.problem.m, 0);
    assert_int_equal(fit.passes.item[0].launch.grid[0], 8);
    assert_int_equal(fit.passes.item[0].launch.grid[1], 1);
    assert_int_equal(
        ask(&fit, (struct question){"f32-nn-64x64x0", "V=1 W=8", 16, NULL}, &card, &err),
        GEMMTUNE_EINVAL); /* k stays as it is: the family's rule speaks of it */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_devices),
        cmocka_unit_test(test_empty),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
