/* SPDX-License-Identifier: Apache-2.0 */
/* test_budget.c - seconds by weight, on one device and on several. */
#include "core/clock.h"
#include "tuner/tune/budget.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct gt_sweep_item items[] = {{.weight = 1}, {.weight = 2}, {.weight = 7}};
static const struct gt_sweep sweep = {.count = 3, .item = items};

/* A budget of ten seconds; `spent` of them are over; seconds 0: none. */
static struct gt_budget begun(double seconds, size_t devices, double spent) {
    static struct gt_tuner tuner;
    struct gt_budget b;
    struct gt_err err;
    tuner.effort = gt_effort_find("normal");
    assert_int_equal(gt_budget_begin(&b, &tuner, &sweep, seconds, devices, &err),
                     GEMMTUNE_OK);
    b.began -= spent;
    return b;
}

/* The clock goes on while the test runs, so shares are a little less than exact. */
static void about(double got, double want) {
    assert_true(got <= want + 1e-9 && got > want - 0.5);
}

static void test_no_budget(void **state) {
    struct gt_budget b = begun(0, 2, 0);
    (void)state;
    assert_true(gt_budget_promised(&b, 0) == b.usual_s && b.usual_s > 0);
    assert_true(gt_budget_share(&b, 2, 1) == b.usual_s);
    gt_budget_clear(&b);
}

static void test_one_device(void **state) {
    struct gt_budget b = begun(100, 1, 20);
    (void)state;
    assert_true(gt_budget_promised(&b, 0) == 10 && gt_budget_promised(&b, 2) == 70);
    about(gt_budget_share(&b, 1, 0), 16);
    b.given[2] = true; /* tuned before: its share goes to the others */
    about(gt_budget_share(&b, 0, 0), 80 / 3.0);
    b.began -= 50; /* a problem that took longer takes it from the others */
    about(gt_budget_share(&b, 0, 0), 30 / 3.0);
    gt_budget_clear(&b);
}

static void test_two_devices(void **state) {
    struct gt_budget b = begun(100, 2, 0);
    (void)state;
    assert_true(gt_budget_promised(&b, 0) == 20);
    assert_true(gt_budget_promised(&b, 2) == 100); /* no more than the clock gives */
    about(gt_budget_share(&b, 2, 0), 100);
    b.given[2] = true;
    about(gt_budget_share(&b, 1, 100), 200 / 3.0);
    b.given[1] = true;
    about(gt_budget_share(&b, 0, 100 + 200 / 3.0), 100 / 3.0);
    gt_budget_clear(&b);
}

static void test_late(void **state) {
    struct gt_budget b = begun(10, 2, 11);
    (void)state;
    const double share = gt_budget_share(&b, 0, 0);
    assert_true(share > 0 && share <= 0.001); /* what is tried in any case still is */
    gt_budget_clear(&b);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_budget),
        cmocka_unit_test(test_one_device),
        cmocka_unit_test(test_two_devices),
        cmocka_unit_test(test_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
