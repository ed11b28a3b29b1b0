/* SPDX-License-Identifier: Apache-2.0 */
/* test_deal.c - every problem is dealt once, the costliest first, and prepared for. */
#include "tuner/tune/deal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct gt_sweep sweep;
static struct gt_tuner tuner;
static struct gt_budget budget;
static struct gt_deal deal;
static struct gt_err err;

/* Five problems, from cheap (0) to costly (4), between two devices. */
static int setup(void **state) {
    static const char *const names[] = {"f32-nn-8x8x8", "f32-nn-1024x1024x1024",
                                        "f32-nn-2048x2048x2048", "f32-nn-4096x4096x4096",
                                        "f32-nn-8192x8192x8192"};
    (void)state;
    tuner.effort = gt_effort_find("normal");
    for (int i = 0; i < 5; i++)
        assert_int_equal(gt_sweep_add(&sweep, names[i], &err), GEMMTUNE_OK);
    assert_int_equal(gt_budget_begin(&budget, &tuner, &sweep, 0, 2, &err), GEMMTUNE_OK);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    gt_deal_clear(&deal);
    gt_budget_clear(&budget);
    gt_sweep_clear(&sweep);
    return 0;
}

static void begin(void) {
    assert_int_equal(gt_deal_begin(&deal, &budget, 2, &err), GEMMTUNE_OK);
}

/* The device gets `problem` and prepares for `next`. */
static void gets(size_t device, size_t problem, size_t next) {
    assert_int_equal(gt_deal_next(&deal, device), problem);
    assert_int_equal(deal.next[device], next);
}

static void test_turns(void **state) {
    (void)state;
    begin();
    gets(0, 4, 3);
    gets(1, 2, 1); /* 3 is prepared for by the other */
    gets(1, 1, 0);
    gets(1, 0, 3); /* nothing else is left to prepare for */
    gets(1, 3, GT_DEAL_NONE);
    gets(0, GT_DEAL_NONE, 3);
    gets(1, GT_DEAL_NONE, GT_DEAL_NONE);
}

/* As listed, whatever they cost. */
static void test_listed(void **state) {
    (void)state;
    sweep.in_order = true;
    begin();
    sweep.in_order = false;
    gets(0, 0, 1);
    gets(1, 2, 3);
    gets(0, 1, 4);
    gets(1, 3, 4);
}

static void test_given_are_left_out(void **state) {
    (void)state;
    budget.given[4] = budget.given[2] = true;
    begin();
    gets(0, 3, 1);
    gets(1, 0, 1);
    gets(0, 1, GT_DEAL_NONE);
    gets(1, GT_DEAL_NONE, 1);
}

static void test_lost(void **state) {
    (void)state;
    begin();
    gets(0, 4, 3);
    gets(1, 2, 1);
    assert_true(gt_deal_lose(&deal, 4));
    gt_deal_leave(&deal, 0);
    gets(1, 1, 4); /* what it has prepared for comes first */
    gets(1, 4, 3);
    assert_false(gt_deal_lose(&deal, 4));
    gets(1, 3, 0);
}

static void test_what_is_left(void **state) {
    (void)state;
    begin();
    const double all = deal.left;
    for (size_t i = 0; i < 5; i++)
        gt_deal_end(&deal, i);
    assert_true(all > 0 && deal.left == 0 && deal.done == all);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    static const struct CMUnitTest tests[] = {
        TEST(test_turns), TEST(test_listed),       TEST(test_given_are_left_out),
        TEST(test_lost),  TEST(test_what_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
