/* SPDX-License-Identifier: Apache-2.0 */
/* The best of many candidates stand in front, in the order of a full sort. */
#include "runtime/lookup/match_inside.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MANY = 3000 };

static struct gt_known known[MANY];
static struct gt_near near[MANY], sorted[MANY];

/* Few distances and ranks, so that many candidates tie. `order` 0 is random, 1 ascending, 2
 * descending, 3 all alike. */
static void fill(size_t count, int order) {
    uint32_t state = 12345;
    for (size_t i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        const size_t at = order == 2 ? count - 1 - i : i;
        const double distance = order == 3   ? 1
                                : order == 0 ? (double)(state >> 16 & 31)
                                             : (double)at / 10;
        known[i].rank = order == 0 ? (int)(state >> 24 & 3) : 0;
        near[i] = (struct gt_near){
            .known = &known[i],
            .preference = order == 0 ? (enum gt_preference)(state >> 28 & 3) : GT_OTHER_KEY,
            .distance = distance};
        sorted[i] = near[i];
    }
    gt_near_select(sorted, count, count);
}

static bool in_order(const struct gt_near *a, const struct gt_near *b) {
    if (a->preference != b->preference)
        return a->preference < b->preference;
    if (a->distance != b->distance)
        return a->distance < b->distance;
    if (a->known->rank != b->known->rank)
        return a->known->rank < b->known->rank;
    return a->known < b->known;
}

static void test_select(void **state) {
    static const size_t counts[] = {1, 2, 3, 143, 144, 145, MANY};
    (void)state;
    for (int order = 0; order < 4; order++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            const size_t count = counts[c];
            fill(count, order);
            for (size_t i = 1; i < count; i++)
                assert_true(in_order(&sorted[i - 1], &sorted[i]));
            for (size_t begin = 0; begin < count; begin += GT_NEAR_MAX) {
                const size_t left = count - begin;
                gt_near_select(near + begin, left, left < GT_NEAR_MAX ? left : GT_NEAR_MAX);
            }
            for (size_t i = 0; i < count; i++)
                assert_ptr_equal(near[i].known, sorted[i].known);
        }
}

static void test_nothing(void **state) {
    (void)state;
    gt_near_select(near, 0, 0);
    fill(5, 0);
    const struct gt_known *first = near[0].known;
    gt_near_select(near, 1, 1);
    assert_ptr_equal(near[0].known, first);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_select),
        cmocka_unit_test(test_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
