/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of groups and of masked products that are timed; the orders of pointers. */
#include "tuner/lab/lists.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { PRODUCTS = 8, EXPECTED = 20 };

static void fill(int32_t rows[PRODUCTS], const char *name, enum gt_spread spread) {
    gemmtune_problem p;
    struct gt_err err = {""};
    if (gt_problem_from_name(&p, name, &err) != GEMMTUNE_OK)
        fail_msg("%s", err.line);
    assert_int_equal(p.batch, PRODUCTS);
    gt_rows_fill(rows, &p, spread, 1);
}

static const char masked[] = "f32-nn-100x8x8,batch=8,masked,rows=20";
static const char grouped[] = "f32-nn-160x8x8,groups=8";

/* Product z has a share of the 160 rows in proportion to 1 / (z + 1). */
static void test_zipf(void **state) {
    static const int32_t shares[PRODUCTS] = {58, 29, 19, 14, 11, 9, 8, 7};
    int32_t rows[PRODUCTS], ends[PRODUCTS], end = 0;
    (void)state;
    fill(rows, masked, GT_SPREAD_ZIPF);
    fill(ends, grouped, GT_SPREAD_ZIPF);
    for (int z = 0; z < PRODUCTS; z++) {
        assert_int_equal(rows[z], shares[z]);
        assert_in_range(ends[z] - end, shares[z], shares[z] + 1);
        end = ends[z];
    }
    assert_int_equal(end, PRODUCTS * EXPECTED);
}

static void test_exact(void **state) {
    int32_t rows[PRODUCTS], ends[PRODUCTS];
    (void)state;
    fill(rows, masked, GT_SPREAD_EXACT);
    fill(ends, grouped, GT_SPREAD_EXACT);
    for (int z = 0; z < PRODUCTS; z++) {
        assert_int_equal(rows[z], EXPECTED);
        assert_int_equal(ends[z], EXPECTED * (z + 1));
    }
}

static void test_words(void **state) {
    enum gt_spread spread;
    struct gt_err err = {""};
    (void)state;
    assert_int_equal(gt_spread_parse(&spread, NULL, &err), GEMMTUNE_OK);
    assert_int_equal(spread, GT_SPREAD_AROUND);
    assert_int_equal(gt_spread_parse(&spread, "zipf", &err), GEMMTUNE_OK);
    assert_int_equal(spread, GT_SPREAD_ZIPF);
    assert_int_equal(gt_spread_parse(&spread, "zip", &err), GEMMTUNE_EINVAL);
    assert_non_null(strstr(err.line, "\"zip\""));
}

/* The order back from a place is the order's inverse: for pointers of every count. */
static void test_order_back(void **state) {
    gemmtune_problem p;
    struct gt_err err = {""};
    (void)state;
    if (gt_problem_from_name(&p, "f32-nn-4x4x4,batch=2,pointers", &err) != GEMMTUNE_OK)
        fail_msg("%s", err.line);
    for (p.batch = 1; p.batch <= 1000; p.batch++) {
        const struct gt_order place = gt_orders_of(&p).place,
                              back = gt_order_back(place, p.batch);
        for (int64_t z = 0; z < p.batch; z++)
            assert_int_equal(gt_order_at(back, gt_order_at(place, z, p.batch), p.batch), z);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zipf),
        cmocka_unit_test(test_exact),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_order_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
