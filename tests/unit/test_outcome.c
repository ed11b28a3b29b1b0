/* SPDX-License-Identifier: Apache-2.0 */
#include "core/outcome.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_words(void **state) {
    static const char *const words[] = {"correct", "constraints",   "compile",
                                        "launch",  "wrong_result",  "timeout",
                                        "crashed", "out_of_memory", "implausible"};
    (void)state;
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        assert_string_equal(gt_outcome_word((gt_outcome)i), words[i]);
    assert_string_equal(gt_outcome_word((gt_outcome)GT_OUTCOMES), "?");
}

/* Samples n, n-1, .. 1, so that the i-th smallest is i. */
static struct gt_measurement countdown(int n) {
    struct gt_measurement m = {.samples = n};
    for (int i = 0; i < n; i++)
        m.sample_ns[i] = (float)(n - i);
    gt_measurement_summarize(&m);
    return m;
}

/* Ranks from the published tables of the sign test's interval (95 %, two-sided). */
static void test_interval_ranks(void **state) {
    static const struct {
        int n, low, high;
    } rows[] = {
        {1, 1, 1},   {2, 1, 2},    {5, 1, 5},    {6, 1, 6},    {8, 1, 8},
        {9, 2, 8},   {11, 2, 10},  {12, 3, 10},  {15, 4, 12},  {20, 6, 15},
        {25, 8, 18}, {30, 10, 21}, {40, 14, 27}, {50, 18, 33}, {64, 24, 41},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct gt_measurement m = countdown(rows[i].n);
        assert_true(m.low_ns == rows[i].low);
        assert_true(m.high_ns == rows[i].high);
        assert_true(m.median_ns == (rows[i].n + 1) / 2.0);
    }
}

static void test_samples_keep_their_order(void **state) {
    const struct gt_measurement m = countdown(10);
    (void)state;
    for (int i = 0; i < 10; i++)
        assert_true(m.sample_ns[i] == (float)(10 - i));
}

static void test_no_samples_and_too_many(void **state) {
    struct gt_measurement m = {.median_ns = 5, .low_ns = 5, .high_ns = 5};
    (void)state;
    gt_measurement_summarize(&m);
    assert_true(m.median_ns == 0 && m.low_ns == 0 && m.high_ns == 0);
    for (int i = 0; i < GT_SAMPLES_MAX; i++)
        m.sample_ns[i] = 3;
    m.samples = GT_SAMPLES_MAX + 1000; /* a damaged record must not read past the array */
    gt_measurement_summarize(&m);
    assert_true(m.median_ns == 3 && m.low_ns == 3 && m.high_ns == 3);
}

static void test_one_outlier_moves_nothing(void **state) {
    struct gt_measurement m = countdown(25);
    const double median = m.median_ns;
    (void)state;
    m.sample_ns[0] = 1e9F; /* was the largest */
    gt_measurement_summarize(&m);
    assert_true(m.median_ns == median);
    assert_true(m.high_ns == 18);
}

/* One sample has no interval. */
static void test_one_sample(void **state) {
    struct gt_measurement one = countdown(1), two = countdown(2);
    (void)state;
    assert_true(isnan(gt_interval_low(&one)) && isnan(gt_interval_high(&one)));
    assert_true(gt_interval_low(&two) == 1 && gt_interval_high(&two) == 2);
}

/* A kernel may have been as good: with few samples the times themselves must say so. */
static void test_near(void **state) {
    const struct gt_measurement best = {100, 99, 101, .samples = 20};
    static const struct {
        struct gt_measurement m;
        bool near;
    } rows[] = {
        {{100.9, 99, 103, .samples = 1}, true},    {{102, 99, 105, .samples = 1}, false},
        {{5400, 5300, 5500, .samples = 1}, false}, {{103, 100.5, 106, .samples = 2}, true},
        {{103, 101.5, 106, .samples = 5}, false},  {{103, 101.5, 106, .samples = 6}, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(gt_measurement_near(&rows[i].m, &best), rows[i].near);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_interval_ranks),
        cmocka_unit_test(test_samples_keep_their_order),
        cmocka_unit_test(test_no_samples_and_too_many),
        cmocka_unit_test(test_one_outlier_moves_nothing),
        cmocka_unit_test(test_one_sample),
        cmocka_unit_test(test_near),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
