/* SPDX-License-Identifier: Apache-2.0 */
/* test_estimate.c - how long tuning will take: by effort, by budget, by points, on busy
 * cores. */
#include "tuner/tune/estimate.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { PROBLEMS = 3 };
static struct gt_sweep_item items[PROBLEMS] = {{.weight = 1}, {.weight = 2}, {.weight = 7}};
static const struct gt_sweep sweep = {.count = PROBLEMS, .item = items};
static struct gt_tuner tuner;
static struct gt_budget budget;

static void begin(const char *effort, double seconds, size_t devices, bool is_cpu) {
    struct gt_err err;
    gt_budget_clear(&budget);
    tuner.effort = gt_effort_choose(effort, seconds);
    tuner.device.is_cpu = is_cpu;
    assert_int_equal(gt_budget_begin(&budget, &tuner, &sweep, seconds, devices, &err),
                     GEMMTUNE_OK);
}

static void assert_near(double got, double want) {
    assert_true(fabs(got - want) < 1e-9);
}

static double one(size_t i, size_t points, double slowdown) {
    return gt_estimate_problem(&budget, &tuner, i, points, slowdown);
}

/* The search keeps its time on busy cores, the work beside it takes longer. */
static void test_effort(void **state) {
    (void)state;
    begin("normal", 0, 1, true);
    const double search_s = gt_effort_find("normal")->cpu_s;
    const double beside_s = one(0, SIZE_MAX, 1) - search_s;
    assert_true(beside_s > 0);
    assert_near(one(0, SIZE_MAX, 2), search_s + 2 * beside_s);
    /* until the required trials alone take longer */
    assert_true(one(0, SIZE_MAX, 10) > 2 * search_s + 10 * beside_s);
    assert_true(one(0, 1, 1) < one(0, 2, 1));
    assert_true(one(0, 2, 1) < one(0, 1000, 1));
    assert_near(one(0, 1000, 1), one(0, SIZE_MAX, 1));
}

static void test_no_limit(void **state) {
    (void)state;
    begin("full", 0, 1, true);
    assert_true(isinf(one(0, SIZE_MAX, 1)));
    assert_true(one(0, 100, 1) > 0.1 && one(0, 100, 1) < 1000);
}

/* A budget is what it says, unless that is too little for the least that is done. */
static void test_budget(void **state) {
    (void)state;
    begin(NULL, 1000, 1, true);
    assert_near(one(0, SIZE_MAX, 1), 100);
    assert_near(one(2, SIZE_MAX, 3), 700);
    assert_near(gt_estimate_all(&budget, &tuner, 1), 1000);
    assert_true(one(0, 1, 1) < 100); /* there is little to try */
    begin(NULL, 0.001, 1, true);
    const double least_s = one(0, SIZE_MAX, 1);
    assert_true(least_s > 0.001);
    assert_near(one(0, SIZE_MAX, 2), 2 * least_s);
    assert_near(gt_estimate_all(&budget, &tuner, 1), PROBLEMS * least_s);
}

static size_t trials(size_t i, size_t points, double slowdown) {
    return gt_estimate_trials(&budget, &tuner, i, points, slowdown);
}

/* As many as fit the time, never fewer than the required ones or more than there are. */
static void test_trials(void **state) {
    (void)state;
    begin("normal", 0, 1, true); /* 3.5 s on a CPU device */
    assert_in_range(trials(0, SIZE_MAX, 1), 4, 20);
    assert_int_equal(trials(0, SIZE_MAX, 100), 3);
    assert_int_equal(trials(0, 2, 1), 2);
    begin("normal", 0, 1, false);
    assert_in_range(trials(0, SIZE_MAX, 1), 21, 255);
    begin("quick", 0, 1, false);
    assert_int_equal(trials(0, SIZE_MAX, 1), 16);
    begin("full", 0, 1, true);
    assert_int_equal(trials(0, SIZE_MAX, 1), SIZE_MAX);
    assert_int_equal(trials(0, 12345, 1), 12345);
    begin(NULL, 1000, 1, true);
    assert_true(trials(2, SIZE_MAX, 1) > 6 * trials(0, SIZE_MAX, 1));
    assert_true((double)trials(2, SIZE_MAX, 1) < 700 / 0.1);
    begin(NULL, 0.001, 1, true);
    assert_int_equal(trials(0, SIZE_MAX, 1), 3);
}

static void test_all(void **state) {
    (void)state;
    begin("normal", 0, 2, false);
    const double each_s = one(0, SIZE_MAX, 1);
    assert_near(gt_estimate_all(&budget, &tuner, 1), PROBLEMS * each_s / 2);
    budget.given[1] = true; /* it was tuned before */
    assert_near(gt_estimate_all(&budget, &tuner, 1), each_s);
}

static int teardown(void **state) {
    (void)state;
    gt_budget_clear(&budget);
    return 0;
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_effort), cmocka_unit_test(test_no_limit),
        cmocka_unit_test(test_budget), cmocka_unit_test(test_trials),
        cmocka_unit_test(test_all),
    };
    return cmocka_run_group_tests(tests, NULL, teardown);
}
