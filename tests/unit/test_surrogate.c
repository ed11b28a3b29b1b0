/* SPDX-License-Identifier: Apache-2.0 */
/* test_surrogate.c - the surrogate's scores near good, bad and failed points. */
#include "tuner/study/stored.h"
#include "tuner/search/surrogate.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SIDE = 8, POINTS = SIDE * SIDE };

/* X and Y of 8 powers of two each; point 8 x + y. */
static struct gt_stored grid;

static int setup(void **state) {
    struct gt_stored_rows rows = {.params = 2, .param = {"X", "Y"}};
    for (int i = 0; i < POINTS; i++) {
        const struct gt_stored_row row = {.value = {1 << i / SIDE, 1 << i % SIDE}, .ns = 1};
        assert_int_equal(gt_stored_row(&rows, &row, NULL), GEMMTUNE_OK);
    }
    assert_int_equal(gt_stored_add(&grid, &rows, NULL), GEMMTUNE_OK);
    free(rows.row);
    return 0;
}

static int teardown(void **state) {
    gt_stored_clear(&grid);
    return 0;
}

/* A valley at x = 5, y = 2, as the logarithm of a time. */
static double valley(size_t point) {
    const double x = (double)(point / SIDE) - 5, y = (double)(point % SIDE) - 2;
    return 10 + 0.02 * (x * x + y * y);
}

static double smallest; /* the smallest value told; HUGE_VAL when there is none */

static struct gt_surrogate *create(void) {
    struct gt_surrogate *s = NULL;
    smallest = HUGE_VAL;
    assert_int_equal(gt_surrogate_create(&s, grid.space, NULL), GEMMTUNE_OK);
    return s;
}

static void measure(struct gt_surrogate *s, size_t point, double value) {
    gt_surrogate_add(s, point, NAN);
    gt_surrogate_tell(s, value);
    smallest = fmin(smallest, value);
}

static void score_all(double score[POINTS], struct gt_surrogate *s) {
    size_t index[POINTS];
    double guess[POINTS];
    for (size_t i = 0; i < POINTS; i++) {
        index[i] = i;
        guess[i] = NAN;
    }
    (void)gt_surrogate_learn(s);
    gt_surrogate_set(s, 0, POINTS, index, guess);
    gt_surrogate_score(s, 0, POINTS, smallest, score);
}

static size_t best_of(const double *score) {
    size_t best = 0;
    for (size_t i = 1; i < POINTS; i++)
        if (score[i] > score[best])
            best = i;
    return best;
}

static void test_nothing_is_expected_of_nothing(void **state) {
    double score[POINTS];
    struct gt_surrogate *s = create();
    assert_false(gt_surrogate_learn(s));
    gt_surrogate_add(s, 3, NAN);
    score_all(score, s);
    for (int i = 0; i < POINTS; i++)
        assert_true(score[i] == 0);
    gt_surrogate_destroy(s);
}

static void test_it_finds_the_valley(void **state) {
    double score[POINTS];
    struct gt_surrogate *s = create();
    const size_t around[] = {0, 7, 56, 63, 27, 36, 33, 51, 43, 22};
    for (size_t i = 0; i < sizeof around / sizeof *around; i++)
        measure(s, around[i], valley(around[i]));
    score_all(score, s);
    const size_t best = best_of(score);
    print_message("best at %zu: %g above the floor\n", best, valley(best) - 10);
    assert_true(valley(best) <= 10 + 0.02 * 2);
    gt_surrogate_destroy(s);
}

/* A point that was measured can hardly be better than it was; one that is outstanding is
 * less interesting than before. */
static void test_known_points_promise_nothing(void **state) {
    double before[POINTS], after[POINTS];
    struct gt_surrogate *s = create();
    for (size_t i = 0; i < POINTS; i += 5)
        measure(s, i, valley(i));
    score_all(before, s);
    const size_t best = best_of(before);
    for (size_t i = 0; i < POINTS; i += 5)
        assert_true(before[i] < before[best]);
    gt_surrogate_add(s, best, NAN);
    score_all(after, s);
    for (int i = 0; i < POINTS; i++) /* less is open everywhere, most so there */
        assert_true(after[i] <= before[i] * (1 + 1e-6));
    assert_true(after[best] < before[best]);
    gt_surrogate_destroy(s);
}

static void test_failures_cast_a_shadow(void **state) {
    double without[POINTS], with[POINTS];
    struct gt_surrogate *s = create(), *t = create();
    for (size_t i = 0; i < POINTS; i += 5) {
        measure(s, i, valley(i));
        measure(t, i, i / SIDE >= 4 ? NAN : valley(i));
    }
    score_all(without, s);
    score_all(with, t);
    assert_true(best_of(without) / SIDE >= 4);
    assert_true(best_of(with) / SIDE < 4);
    gt_surrogate_destroy(s);
    gt_surrogate_destroy(t);
}

/* Far more points than it keeps: the best is not forgotten,
 * and the answers stay numbers. */
static void test_it_forgets_and_goes_on(void **state) {
    double score[POINTS];
    struct gt_surrogate *s = create();
    uint64_t random = 1;
    for (int i = 0; i < 3 * GT_SURROGATE_ROWS; i++) {
        const size_t at = (size_t)(gt_random(&random) % POINTS);
        measure(s, at, gt_random(&random) % 4 == 0 ? NAN : valley(at));
        (void)gt_surrogate_learn(s);
    }
    score_all(score, s);
    for (int i = 0; i < POINTS; i++)
        assert_true(isfinite(score[i]) && score[i] >= 0);
    gt_surrogate_destroy(s);
}

/* Guesses that are right up to a factor. Of points that nobody has one of, no more is
 * expected for it. */
static void test_an_unknown_guess_says_nothing(void **state) {
    double score[POINTS], guess[POINTS];
    size_t index[POINTS];
    struct gt_surrogate *s = create();
    for (size_t i = 0; i < POINTS; i++) {
        index[i] = i;
        guess[i] = valley(i) + 3;
    }
    for (size_t i = 0; i < POINTS; i += 5) {
        gt_surrogate_add(s, i, guess[i]);
        gt_surrogate_tell(s, valley(i));
        smallest = fmin(smallest, valley(i));
    }
    assert_true(gt_surrogate_learn(s));
    guess[0] = NAN; /* among the slowest, and measured */
    gt_surrogate_set(s, 0, POINTS, index, guess);
    gt_surrogate_score(s, 0, POINTS, smallest, score);
    print_message("of the unknown %g, of the best %g\n", score[0], score[5 * SIDE + 2]);
    assert_true(score[0] < score[5 * SIDE + 2]);
    gt_surrogate_destroy(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_is_expected_of_nothing),
        cmocka_unit_test(test_it_finds_the_valley),
        cmocka_unit_test(test_known_points_promise_nothing),
        cmocka_unit_test(test_failures_cast_a_shadow),
        cmocka_unit_test(test_an_unknown_guess_says_nothing),
        cmocka_unit_test(test_it_forgets_and_goes_on),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
