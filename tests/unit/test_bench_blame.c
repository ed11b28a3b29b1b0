/* SPDX-License-Identifier: Apache-2.0 */
/* The rivals that a failure of `bench` is blamed on: who is left out, and for how long. */
#include "tuner/bench/bench_blame.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { NOBODY = -1 };

static const struct gt_bench_line nothing = {.best = -1};

/* The line fails while `active` runs. */
static void blame(struct gt_bench_blame *x, int active) {
    gt_bench_blame_rivals(x, active, &nothing, GT_CRASHED, "ended by signal 11");
}

static void test_the_active_rival_is_left_out(void **state) {
    struct gt_bench_blame x = {.requested = 7};
    struct gt_bench_line line = nothing;
    (void)state;
    assert_int_equal(gt_bench_blame_present(&x), 7);
    assert_false(gt_bench_blame_any_skips(&x));
    blame(&x, 1);
    assert_int_equal(gt_bench_blame_present(&x), 5);
    assert_true(gt_bench_blame_any_skips(&x));
    gt_bench_blame_settle(&line, &x, false);
    assert_int_equal(line.rival[1].outcome, GT_CRASHED);
    assert_string_equal(line.rival[1].error, "ended by signal 11");
    assert_string_equal(line.rival[0].error, "");
    assert_int_equal(gt_bench_blame_present(&x), 7); /* of the next line */
}

static void test_all_are_left_out_when_ours_was_active(void **state) {
    struct gt_bench_blame x = {.requested = 6};
    struct gt_bench_line failed = nothing, line = nothing;
    (void)state;
    failed.rival[2] = (struct gt_bench_side){
        .outcome = GT_WRONG_RESULT, .error = "it is wrong", .wrong = 3};
    gt_bench_blame_rivals(&x, NOBODY, &failed, GT_LAUNCH, "error 700");
    assert_int_equal(gt_bench_blame_present(&x), 0);
    gt_bench_blame_settle(&line, &x, false);
    assert_string_equal(line.rival[0].error, ""); /* it was not requested */
    assert_string_equal(line.rival[1].error, "ours failed beside it (error 700)");
    assert_int_equal(line.rival[1].outcome, GT_LAUNCH);
    assert_string_equal(line.rival[2].error, "it is wrong"); /* its own reason */
    assert_int_equal(line.rival[2].outcome, GT_WRONG_RESULT);
    assert_int_equal(line.rival[2].wrong, 3);
    assert_int_equal(line.rival[1].wrong, 0);
}

static void test_a_rival_that_loses_line_after_line_is_dropped(void **state) {
    struct gt_bench_blame x = {.requested = 3};
    struct gt_bench_line line;
    (void)state;
    for (int i = 0; i < GT_BENCH_FAILURES_MAX; i++) {
        assert_int_equal(gt_bench_blame_present(&x), 3);
        blame(&x, 0);
        x.rival[0].reason.wrong = 2;
        line = nothing;
        gt_bench_blame_settle(&line, &x, false);
    }
    assert_int_equal(line.rival[0].wrong, 2);
    assert_non_null(strstr(line.rival[0].error, "it takes no part any more"));
    assert_int_equal(gt_bench_blame_present(&x), 2);
    line = nothing;
    gt_bench_blame_settle(&line, &x, false);
    assert_non_null(strstr(line.rival[0].error, "ended by signal 11"));
    assert_int_equal(line.rival[0].wrong, 0);
}

/* A line that fails without the rival too is ours, so the rival has not lost it. */
static void test_our_own_failures_do_not_count(void **state) {
    struct gt_bench_blame x = {.requested = 1};
    (void)state;
    for (int i = 0; i < 2 * GT_BENCH_FAILURES_MAX; i++) {
        struct gt_bench_line line = nothing;
        blame(&x, 0);
        gt_bench_blame_settle(&line, &x, i % GT_BENCH_FAILURES_MAX == 0);
    }
    assert_int_equal(gt_bench_blame_present(&x), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_active_rival_is_left_out),
        cmocka_unit_test(test_all_are_left_out_when_ours_was_active),
        cmocka_unit_test(test_a_rival_that_loses_line_after_line_is_dropped),
        cmocka_unit_test(test_our_own_failures_do_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
