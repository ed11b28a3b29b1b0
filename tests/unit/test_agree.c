/* SPDX-License-Identifier: Apache-2.0 */
/* test_agree.c - what several runs say of one problem, for runs that are made up. */
#include "tuner/agree.h"

#include "tuner/search.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t seed = 1;

/* Samples around `ns`, skewed as times are: the median is `ns` all the same. */
static struct gt_measurement measured(double ns, double noise, int samples) {
    struct gt_measurement m = {.samples = samples};
    for (int i = 0; i < samples; i++) {
        const double u = (double)(gt_random(&seed) >> 11) / 9007199254740992.0;
        m.sample_ns[i] = (float)(ns * (1 + noise * (u < 0.5 ? u - 0.5 : 4 * (u - 0.5))));
    }
    gt_measurement_summarize(&m);
    return m;
}

static void test_agreement(void **state) {
    const struct gt_measurement again[4] = {
        measured(1000, 0, 9), measured(1010, 0, 9), measured(1500, 0, 9), {.samples = 0}};
    struct gt_agree_run run[6] = {
        {.choice = 1, .tied = 1 << 1, .stored = again[1]},
        {.choice = 0, .tied = 1 << 0 | 1 << 1, .stored = again[0]},
        {.choice = 1, .tied = 1 << 1, .stored = again[0]}, /* another time than it has */
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
    assert_true(a.median_over_known == 0);
}

/* One that nobody chose is among the winners: what is behind it is behind the best, what is ahead of it
 * is so. */
static void test_best_known(void **state) {
    const struct gt_measurement again[3] = {measured(1000, 0, 9), measured(1020, 0, 9),
                                            measured(1010, 0, 9)};
    struct gt_agree_run run[3] = {{.choice = 0, .stored = again[0]},
                                  {.choice = 1, .stored = again[1]},
                                  {.choice = 1, .stored = again[1]}};
    struct gt_agreement a;
    (void)state;
    gt_agree(&a, run, 3, again, 3, 2);
    assert_int_equal(a.winners, 2);
    assert_int_equal(a.same, 2);
    assert_true(fabs(run[0].over_known - (1000.0 / 1010 - 1)) < 1e-6);
    assert_true(fabs(a.median_over_known - (1020.0 / 1010 - 1)) < 1e-6);
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

/* All orders of both are alike, so it is counting: of 20 samples at most 3 are below the median of 21
 * others 1.3 times of 100, at most 4 are 3.3 times. */
static void test_interval(void **state) {
    double low, high;
    struct gt_measurement m = {.samples = 20};
    (void)state;
    for (int i = 0; i < 20; i++)
        m.sample_ns[i] = (float)(20 - i);
    gt_prediction_interval(&low, &high, &m, 21);
    assert_true(low == 4 && high == 17);
    gt_prediction_interval(&low, &high, &m,
                           1); /* a single one may lie anywhere among them */
    assert_true(low == 1 && high == 20);
    m.samples = 0;
    gt_prediction_interval(&low, &high, &m, 21);
    assert_true(low == 0 && high == 0);
}

/* The next median lies there as often as is said, and a confidence interval holds it less often. */
static void test_prediction(void **state) {
    static const int counts[][2] = {{11, 11}, {30, 30}, {64, 12}, {20, 64}};
    enum { TIMES = 4000 };
    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        int held = 0, in_confidence = 0;
        for (int t = 0; t < TIMES; t++) {
            const struct gt_measurement a = measured(1000, 0.02, counts[i][0]);
            const struct gt_measurement b = measured(1000, 0.02, counts[i][1]);
            double low, high;
            gt_prediction_interval(&low, &high, &a, b.samples);
            held += low <= b.median_ns && b.median_ns <= high;
            in_confidence += a.low_ns <= b.median_ns && b.median_ns <= a.high_ns;
        }
        print_message("median of %d others in the interval of %d: %.1f %%; in the "
                      "confidence interval: %.1f %%\n",
                      counts[i][1], counts[i][0], 100.0 * held / TIMES,
                      100.0 * in_confidence / TIMES);
        assert_true(held >= 0.94 * TIMES);
        assert_true(held <= 0.995 * TIMES);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agreement),  cmocka_unit_test(test_best_known),
        cmocka_unit_test(test_nothing),    cmocka_unit_test(test_interval),
        cmocka_unit_test(test_prediction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
