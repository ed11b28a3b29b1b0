/* SPDX-License-Identifier: Apache-2.0 */
/* check: threads */
/* test_tune_spaces.c - the spaces of all families, which are made side by side. */
#include "tuner/tune/tune.h"

#include "tuner/study/predict.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define OK(call) assert_int_equal(call, GEMMTUNE_OK)

static struct gt_err err;
static struct gt_tuner tuner;
static struct gt_families *families;

/* `multistage`, which has nearly all points of an H200, asks for a later device than the
 * other one. ThreadSanitizer, which makes each point take long, sees as many threads
 * without it. */
#ifdef __SANITIZE_THREAD__
static const char device_file[] = "devices/gtx-1080/device.json";
#else
static const char device_file[] = "devices/h200/device.json";
#endif

static int setup(void **state) {
    (void)state;
    OK(gt_families_create(&families, &err));
    tuner.families = families;
    return gt_describe_load(&tuner.device, device_file, &err) != GEMMTUNE_OK;
}

static int teardown(void **state) {
    (void)state;
    gt_families_destroy(families);
    return 0;
}

/* They are the same as when made one by one, in the order of the families. */
static void test_order_and_points(void **state) {
    gemmtune_problem p;
    struct gt_space *space;
    struct gt_err untried;
    int spaces, n = 0;
    (void)state;
    OK(gt_problem_from_name(&p, "f32-nn-1000x1000x1000", &err));
    OK(gt_tune_spaces(&space, &spaces, &untried, &tuner, &p, "", &err));
    assert_string_equal(untried.line, "");
    for (size_t i = 0; i < gt_families_count(families); i++) {
        const struct gt_family *f = gt_families_at(families, i);
        struct gt_space alone;
        if (!gt_family_serves(f, &tuner.device, &p, NULL))
            continue;
        OK(gt_space_create(&alone, f, &tuner.device, &p, &err));
        if (alone.count == 0) {
            gt_space_clear(&alone);
            continue;
        }
        assert_true(n < spaces);
        assert_ptr_equal(space[n].family, f);
        assert_int_equal(space[n].count, alone.count);
        assert_memory_equal(space[n].idx, alone.idx, alone.count * (size_t)alone.params);
        gt_space_clear(&alone);
        n++;
    }
    assert_int_equal(n, spaces);
    assert_true(spaces > 1);
    size_t points = 0, counted = 0;
    for (int i = 0; i < spaces; i++)
        points += space[i].count;
    OK(gt_tune_count(&counted, SIZE_MAX, &tuner, &p, &err));
    assert_int_equal(counted, points);
    OK(gt_tune_count(&counted, points - 1, &tuner, &p, &err));
    assert_int_equal(counted, points - 1);
    OK(gt_tune_count(&counted, 7, &tuner, &p, &err));
    assert_int_equal(counted, 7);
    gt_tune_spaces_free(space, spaces);
}

/* A limit of workspace: the points of the lists are counted, and no more than are asked
 * for. */
static void test_limited(void **state) {
    gemmtune_problem p;
    struct gt_space *space;
    struct gt_err untried;
    size_t all = 0, listed = 0, counted = 0;
    int spaces;
    (void)state;
    OK(gt_problem_from_name(&p, "f32-nn-16x16x4096", &err));
    OK(gt_tune_count(&all, SIZE_MAX, &tuner, &p, &err));
    tuner.limits_workspace = true;
    tuner.workspace_max = 0;
    OK(gt_tune_spaces(&space, &spaces, &untried, &tuner, &p, "", &err));
    for (int i = 0; i < spaces; i++)
        listed += space[i].count;
    gt_tune_spaces_free(space, spaces);
    OK(gt_tune_count(&counted, SIZE_MAX, &tuner, &p, &err));
    assert_int_equal(counted, listed);
    assert_true(listed < all);
    OK(gt_tune_count(&counted, 7, &tuner, &p, &err));
    assert_int_equal(counted, 7);
    tuner.limits_workspace = false;
}

/* One order of sums, with a limit of workspace and without: every point has the order, and
 * fits. */
static void test_one_order(void **state) {
    static const char order[] = "fma";
    gemmtune_problem p;
    struct gt_space *space;
    struct gt_err untried;
    size_t listed[2] = {0}, counted = 0;
    int spaces;
    (void)state;
    OK(gt_problem_from_name(&p, "f32-nn-16x16x4096,row_order", &err));
    for (int limited = 0; limited < 2; limited++) {
        tuner.limits_workspace = limited;
        tuner.workspace_max = 0;
        OK(gt_tune_spaces(&space, &spaces, &untried, &tuner, &p, order, &err));
        for (int i = 0; i < spaces; i++) {
            const struct gt_family *f = space[i].family;
            int64_t values[GT_POINT_MAX];
            char own[GT_ORDER_MAX];
            struct gt_fit fit;
            for (size_t n = 0; n < space[i].count; n += 37) {
                gt_space_values(&space[i], n, values);
                OK(gt_fit_values(&fit, f, &tuner.device, &p, GT_VECTOR_BYTES, values,
                                 &err));
                assert_true(gt_order_of(own, &fit.binding, NULL));
                assert_string_equal(own, order);
                assert_true(!limited || fit.passes.workspace_bytes == 0);
            }
            listed[limited] += space[i].count;
        }
        gt_tune_spaces_free(space, spaces);
        const size_t more = listed[limited] + 1; /* it counts points of every order */
        OK(gt_tune_count(&counted, more, &tuner, &p, &err));
        assert_int_equal(counted, more);
    }
    assert_in_range(listed[1], 1, listed[0]);
    const gt_status status =
        gt_tune_spaces(&space, &spaces, &untried, &tuner, &p, "no such order", &err);
    assert_int_equal(status, GEMMTUNE_EUNSUPPORTED);
    assert_non_null(strstr(err.line, "in the order of sums no such order"));
    err.line[0] = '\0';
    tuner.limits_workspace = false;
}

/* Only the families that were asked for. */
static void test_some_families(void **state) {
    const struct gt_texts only = {2, {"tile", "naive"}}, f64_only = {1, {"dmma"}};
    gemmtune_problem p;
    struct gt_space *space;
    struct gt_err untried;
    int spaces;
    (void)state;
    tuner.only = &only;
    OK(gt_problem_from_name(&p, "f32-nn-16x16x16", &err));
    OK(gt_tune_spaces(&space, &spaces, &untried, &tuner, &p, "", &err));
    assert_int_equal(spaces, 2);
    gt_tune_spaces_free(space, spaces);
    tuner.only = &f64_only;
    const gt_status status =
        gt_tune_spaces(&space, &spaces, &untried, &tuner, &p, "", &err);
    assert_int_equal(status, GEMMTUNE_EUNSUPPORTED);
    assert_non_null(strstr(err.line, "no family"));
    err.line[0] = '\0';
    size_t points = 1;
    assert_int_equal(gt_tune_count(&points, 7, &tuner, &p, &err), GEMMTUNE_EUNSUPPORTED);
    assert_int_equal(points, 0);
    assert_non_null(strstr(err.line, "no family"));
    tuner.only = NULL;
}

/* A family without a legal point is left out, and alone it has no kernel. */
static void test_no_legal_point(void **state) {
    const struct gt_texts both = {2, {"tailored", "naive"}}, one = {1, {"tailored"}};
    gemmtune_problem p;
    struct gt_space *space;
    struct gt_err untried;
    int spaces;
    (void)state;
    OK(gt_problem_from_name(&p, "f32-nn-20000x20000x8,batch=2", &err));
    tuner.only = &both;
    OK(gt_tune_spaces(&space, &spaces, &untried, &tuner, &p, "", &err));
    assert_int_equal(spaces, 1);
    assert_string_equal(space->family->name, "naive");
    gt_tune_spaces_free(space, spaces);
    tuner.only = &one;
    const gt_status status =
        gt_tune_spaces(&space, &spaces, &untried, &tuner, &p, "", &err);
    assert_int_equal(status, GEMMTUNE_EUNSUPPORTED);
    assert_non_null(strstr(err.line, "no family that was asked for"));
    tuner.only = NULL;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_and_points), cmocka_unit_test(test_limited),
        cmocka_unit_test(test_one_order),        cmocka_unit_test(test_some_families),
        cmocka_unit_test(test_no_legal_point),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
