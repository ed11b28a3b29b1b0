/* SPDX-License-Identifier: Apache-2.0 */
/* test_quantile.c - medians and quantiles of few numbers. */
#include "tuner/base/quantile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static void assert_equal(double a, double b) {
    assert_true(a >= b && a <= b);
}

static void test_median(void **state) {
    double odd[] = {9, -1, 4}, even[] = {4, 9, -1, 5}, one[] = {3};
    (void)state;
    assert_equal(gt_median(odd, 3), 4);
    assert_equal(gt_median(even, 4), 4.5);
    assert_equal(gt_median(one, 1), 3);
    assert_equal(gt_median(one, 0), 0);
}

static void test_quantile(void **state) {
    double values[] = {40, 10, 30, 20};
    const double share[] = {0, 0.25, 0.26, 0.5, 0.75, 0.9, 1};
    const double expected[] = {10, 10, 20, 20, 30, 40, 40};
    (void)state;
    gt_sort_numbers(values, 4);
    for (size_t i = 0; i < sizeof share / sizeof *share; i++)
        assert_equal(gt_quantile(values, 4, share[i]), expected[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_median),
        cmocka_unit_test(test_quantile),
    };
    return cmocka_run_group_tests_name("quantile", tests, NULL, NULL);
}
