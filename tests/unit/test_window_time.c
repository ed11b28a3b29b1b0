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

/* A search of a share of 1000 s that has just been set up. */
struct search {
    bool strict;
    double ago_s, set_up_s; /* since it began; of that the set-up */
    bool hurried;           /* its finals */
    double left_s;          /* until its deadline */
};

/* Seconds count in hundreds, so that no busy machine matters. */
static void expect(const struct search *s) {
    const double now = gt_seconds();
    struct gt_tuner t = {.strict = s->strict};
    struct gt_window w = {.t = &t, .limit_s = 1000, .began = now - s->ago_s};
    w.prepare_began = now - s->set_up_s;
    gt_window_start_clock(&w);
    const double left = w.deadline - now;
    assert_int_equal(gt_window_hurries_finals(&w), s->hurried);
    if (left < s->left_s - 9 || left > s->left_s + 9)
        fail_msg("%g s are left after %g with a set-up of %g, not about %g", left, s->ago_s,
                 s->set_up_s, s->left_s);
}

static void test_finals(void **state) {
    static const struct search searches[] = {
        /* as long for the finals; the search has what is left between them */
        {true, 100, 100, false, 800},
        {true, 300, 100, false, 600},
        {true, 240, 240, false, 520},
        /* more than a quarter: one set-up serves both */
        {true, 260, 260, true, 740},
        {true, 900, 700, true, 100},
        /* no time is left, though the set-up was short */
        {true, 1200, 100, true, 0},
        /* the limit is that of the search alone */
        {false, 900, 700, false, 1000},
        {false, 1200, 100, false, 1000},
    };
    (void)state;
    for (size_t i = 0; i < sizeof searches / sizeof *searches; i++)
        expect(&searches[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_finals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
