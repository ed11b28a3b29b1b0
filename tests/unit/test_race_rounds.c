/* SPDX-License-Identifier: Apache-2.0 */
/* Which samples of two racers are compared: the samples of one round, also when a racer
 * rests while the other one goes on. */
#include "tuner/lab/race.h"
#include "tuner/lab/ratio.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* A race of two kernels, of which the first takes ten times as long. In the first `fast`
 * rounds both take half their time. The first kernel has had its time after three rounds,
 * or after four when all of them were fast.
 * Samples of round `hidden` are too short for the timer; -1: none are. */
static void run_with_rest(struct gt_race *r, int fast, int hidden) {
    const struct gt_race_rule rule = {
        .total_ns = 1e6, .narrow = 0.001, .samples_max = 20, .all_stay = true};
    gt_race_start(r, &rule, 2);
    for (int round = 0; !r->over; round++) {
        const double part = round < fast ? 0.5 : 1;
        const struct gt_sample got[2] = {{1e6 * part, 1, 0, false},
                                         {round == hidden ? 0 : 1e5 * part, 1, 0, false}};
        assert_true(round < 100);
        assert_int_equal(gt_race_round(r, got),
                         round == hidden ? GT_ROUND_TOO_SHORT : GT_ROUND_KEPT);
    }
    assert_false(r->racer[0].beaten);
    gt_race_finish(r);
}

static void assert_ratio(const struct gt_race *r, int samples, double want) {
    struct gt_measurement ratio;
    gt_ratio_of(&ratio, &r->racer[0].time, &r->racer[1].time);
    assert_int_equal(ratio.samples, samples);
    assert_true(fabs(ratio.median_ns - want) <= 1e-6 * want);
    assert_true(fabs(ratio.low_ns - want) <= 1e-6 * want);
}

/* A racer at rest has samples of early rounds, and the others' samples of those rounds may
 * be left out. Samples of one round are compared, and no others. */
static void test_rest_before_settling(void **state) {
    struct gt_race r;
    (void)state;
    run_with_rest(&r, 0, -1);
    assert_int_equal(r.racer[0].time.samples, 3);
    assert_ratio(&r, 3, 10);
    /* rounds 0 and 1 are left out of the second racer, and the first one keeps all three */
    run_with_rest(&r, 2, -1);
    assert_int_equal(r.racer[0].time.samples, 3);
    assert_int_equal(r.racer[0].time.unsettled, 0);
    assert_int_equal(r.racer[1].time.unsettled, 2);
    assert_ratio(&r, 1, 10);
    /* no common round: nothing is proven, and there is no tie */
    run_with_rest(&r, 4, -1);
    assert_int_equal(r.racer[1].time.unsettled, 4);
    assert_ratio(&r, 0, 0);
    assert_false(gt_race_proven(&r.racer[0].time, &r.racer[1].time));
    assert_false(gt_race_proven(&r.racer[1].time, &r.racer[0].time));
    assert_false(gt_race_tied(&r.racer[0].time, &r.racer[1].time));
}

/* Samples that are forgotten, because one was too short, do not shift the later ones beside
 * the samples of a racer at rest. */
static void test_rest_before_a_new_start(void **state) {
    struct gt_race r;
    (void)state;
    run_with_rest(&r, 4, 5);
    assert_int_equal(r.racer[0].time.samples, 4);
    assert_int_equal(r.racer[1].time.unsettled, 5);
    assert_ratio(&r, 0, 0);
    /* a start again before anybody rests is a start like the first one */
    run_with_rest(&r, 0, 1);
    assert_int_equal(r.racer[0].time.unsettled, 0);
    assert_int_equal(r.racer[1].time.unsettled, 0);
    assert_ratio(&r, r.racer[0].time.samples, 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rest_before_settling),
        cmocka_unit_test(test_rest_before_a_new_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
