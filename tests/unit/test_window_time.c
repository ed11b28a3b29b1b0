/* SPDX-License-Identifier: Apache-2.0 */
/* test_window_time.c - when the finals of a search have no set-up of their own, and when a
 * search ends for it; how much time is left. */
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
        /* the limit is for the search alone */
        {false, 900, 700, false, 1000},
        {false, 1200, 100, false, 1000},
    };
    (void)state;
    for (size_t i = 0; i < sizeof searches / sizeof *searches; i++)
        expect(&searches[i]);
}

/* A search of 1000 s beside its set-up of 100 s, which was done `ago_s` ago. */
struct under_way {
    double ago_s;
    size_t done, planned;
    int required;    /* without an outcome */
    double finals_s; /* of earlier problems; 0: this is the first */
    bool is_cpu, trials_only;
    double left_s;
};

static void expect_left(const struct under_way *u) {
    const double now = gt_seconds();
    struct gt_tuner t = {.finals_s = u->finals_s,
                         .trials_only = u->trials_only,
                         .device = {.is_cpu = u->is_cpu}};
    struct gt_tune_result result = {.trials = u->done, .fresh = u->done};
    struct gt_finals finals = {0};
    struct gt_window w = {.t = &t,
                          .result = &result,
                          .finals = &finals,
                          .planned = u->planned,
                          .required = u->required,
                          .limit_s = 1000,
                          .prepare_began = now - u->ago_s - 100,
                          .deadline = now - u->ago_s + 1000};
    assert_true(gt_window_left(&w) < 0); /* nothing is known during the set-up */
    w.set_up_s = 100;
    const double left = gt_window_left(&w);
    if (left < u->left_s - 9 || left > u->left_s + 9)
        fail_msg("%g s are left, not about %g: %g s ago, %zu of %zu trials, %d required",
                 left, u->left_s, u->ago_s, u->done, u->planned, u->required);
}

static void test_left(void **state) {
    static const struct under_way searches[] = {
        /* the time ends it, and finals of the same length as before follow */
        {200, 10, 256, 0, 50, false, false, 800 + 50},
        /* the trials do: 20 s each */
        {200, 10, 12, 0, 50, false, false, 40 + 50},
        /* the time is over, and required ones are not */
        {1100, 2, 256, 3, 50, true, false, 3 * 550 + 50},
        {1100, 20, 256, 0, 50, true, false, 50},
        /* the first one has taken so long and goes on */
        {1100, 0, 256, 1, 50, true, false, 1100 + 50},
        /* nothing is known of finals: a set-up; on a CPU a trial */
        {200, 10, 256, 0, 0, false, false, 800 + 100},
        {200, 10, 256, 0, 0, true, false, 800 + 20},
        /* there are none */
        {200, 10, 256, 0, 50, false, true, 800},
    };
    (void)state;
    for (size_t i = 0; i < sizeof searches / sizeof *searches; i++)
        expect_left(&searches[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_finals),
                                       cmocka_unit_test(test_left)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
