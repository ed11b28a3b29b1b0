/* SPDX-License-Identifier: Apache-2.0 */
/* test_window_time.c - when the finals of a search have no set-up of their own, and when a
 * search ends for it. */
#include "core/clock.h"
#include "tuner/tune/window_inside.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* A search that began `ago` seconds ago, of whose limit the set-up takes what it took. The
 * problem was being set up from the beginning. */
static struct gt_window started(struct gt_tuner *t, double limit_s, double ago) {
    const double now = gt_seconds();
    struct gt_window w = {.t = t, .limit_s = limit_s, .began = now - ago};
    w.prepare_began = w.began;
    w.deadline = now + 1e9;
    gt_window_start_clock(&w);
    return w;
}

/* Whether the finals are hurried; and how much of the time until the end of the share is
 * left to the search, in seconds. */
static void expect(bool strict, double limit_s, double ago, bool hurried, double left_s) {
    struct gt_tuner t = {.strict = strict};
    const struct gt_window w = started(&t, limit_s, ago);
    const double left = w.deadline - gt_seconds();
    assert_int_equal(gt_window_hurries_finals(&w), hurried);
    if (left < left_s - 30 || left > left_s + 30)
        fail_msg("%g s are left of %g after %g, not about %g", left, limit_s, ago, left_s);
}

/* A thousand seconds each, so that no busy machine matters. */
static void test_finals(void **state) {
    (void)state;
    /* as long for the finals as for the search, which has what is left between them */
    expect(true, 1000, 100, false, 800);
    expect(true, 1000, 200, false, 600);
    /* more than a quarter: one set-up serves both */
    expect(true, 1000, 300, true, 700);
    expect(true, 1000, 900, true, 100);
    /* no time for anything */
    expect(true, 1000, 1200, true, 0);
    /* the limit is that of the search alone */
    expect(false, 1000, 900, false, 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_finals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
