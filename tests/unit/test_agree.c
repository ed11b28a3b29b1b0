/* SPDX-License-Identifier: Apache-2.0 */
/* test_agree.c - the comparison of several runs on one problem, for made-up runs. */
#include "tuner/study/agree.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct gt_measurement measured(double ns) {
    struct gt_measurement m = {.samples = 9};
    for (int i = 0; i < m.samples; i++)
        m.sample_ns[i] = (float)ns;
    gt_measurement_summarize(&m);
    return m;
}

/* A time that is known to within a fiftieth. */
static struct gt_measurement stored(double ns) {
    struct gt_measurement m = measured(ns);
    m.low_ns *= 0.98;
    m.high_ns *= 1.02;
    return m;
}

static void test_agreement(void **state) {
    const struct gt_measurement again[4] = {
        measured(1000), measured(1010), measured(1500), {.samples = 0}};
    struct gt_agree_run run[6] = {
        {.choice = 1, .tied = 1 << 1, .stored = stored(1025)}, /* its interval holds it */
        {.choice = 0, .tied = 1 << 0 | 1 << 1, .stored = again[0]},
        {.choice = 1, .tied = 1 << 1, .stored = stored(985)}, /* and does not */
        {.choice = 2, .tied = 1 << 2, .stored = again[2]},
        {.choice = -1},
        {.choice = 3, .tied = 1 << 3, .stored = again[2]}, /* did not run again */
    };
    struct gt_agreement a;
    (void)state;
    gt_agree(&a, run, 6, again, 4, -1);
    assert_int_equal(a.runs, 4);
    assert_int_equal(a.winners, 4);
    assert_int_equal(a.same, 2);
    assert_int_equal(a.same_tie, 3);
    assert_int_equal(a.found_again, 3);
    assert_false(run[2].found_again);
    assert_true(fabs(run[0].regret - 0.01) < 1e-6);
    assert_true(run[1].regret == 0);
    assert_true(fabs(a.median_regret - 0.01) < 1e-6);
    assert_true(fabs(a.most_regret - 0.5) < 1e-6);
    assert_true(a.median_over_reference == 0);
}

/* A kernel that one run never saw ties with its choice where they are measured together. */
static void test_ties_of_the_last_measurement(void **state) {
    const struct gt_measurement again[4] = {measured(1000), measured(1008), measured(1015),
                                            measured(990)};
    struct gt_agree_run run[5] = {{.choice = 0, .tied = 1 << 0, .stored = again[0]},
                                  {.choice = 0, .tied = 1 << 0, .stored = again[0]},
                                  {.choice = 1, .tied = 1 << 1, .stored = again[1]},
                                  {.choice = 2, .tied = 1 << 2, .stored = again[2]},
                                  {.choice = 3, .tied = 1 << 3, .stored = again[3]}};
    struct gt_agreement a;
    (void)state;
    gt_agree(&a, run, 5, again, 4, -1);
    assert_int_equal(a.same, 2);
    assert_int_equal(a.same_tie, 3); /* a better one is none either, by 1010 to 1000 */
    const struct gt_measurement lost[2] = {{.samples = 0}, measured(1000)};
    run[2].choice = 1;
    gt_agree(&a, run, 3, lost, 2, -1); /* the favourite could not be measured */
    assert_int_equal(a.runs, 1);
    assert_int_equal(a.same_tie, 0);
}

/* A winner that no run chose: choices after it are slower than the best, choices before it
 * are faster than the reference. */
static void test_best_known(void **state) {
    const struct gt_measurement again[3] = {measured(1000), measured(1020), measured(1010)};
    struct gt_agree_run run[3] = {{.choice = 0, .stored = again[0]},
                                  {.choice = 1, .stored = again[1]},
                                  {.choice = 1, .stored = again[1]}};
    struct gt_agreement a;
    (void)state;
    gt_agree(&a, run, 3, again, 3, 2);
    assert_int_equal(a.winners, 2);
    assert_int_equal(a.same, 2);
    assert_true(fabs(run[0].over_reference - (1000.0 / 1010 - 1)) < 1e-6);
    assert_true(fabs(a.median_over_reference - (1020.0 / 1010 - 1)) < 1e-6);
    assert_true(fabs(a.median_regret - 0.02) < 1e-6);
    run[1].choice = run[2].choice = 0;
    gt_agree(&a, &run[1], 2, &again[1], 2, 1); /* now it is the best */
    assert_int_equal(a.winners, 1);
    assert_true(fabs(a.median_regret - (1020.0 / 1010 - 1)) < 1e-6);
}

static void test_nothing(void **state) {
    struct gt_agree_run run[2] = {{.choice = -1}, {.choice = -1}};
    struct gt_agreement a;
    (void)state;
    gt_agree(&a, run, 2, NULL, 0, -1);
    assert_int_equal(a.runs, 0);
    assert_true(a.most_regret == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agreement),
        cmocka_unit_test(test_ties_of_the_last_measurement),
        cmocka_unit_test(test_best_known),
        cmocka_unit_test(test_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
