/* SPDX-License-Identifier: Apache-2.0 */
/* test_shard.c - every problem is in one shard, whatever the order of the sweep. */
#include "tuner/base/shard.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct gt_err err;

#define OK(call)                                                                           \
    do {                                                                                   \
        if ((call) != GEMMTUNE_OK)                                                         \
            fail_msg("%s: %s", #call, err.line);                                           \
    } while (0)

/* Problems of all sizes; `reversed`: the other way round. */
static struct gt_sweep sweep(bool reversed) {
    static const int sizes[] = {8, 16, 512, 4096, 8192, 1, 24, 1024, 2048, 6144, 100};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    struct gt_sweep s = {0};
    for (int i = 0; i < SIZES * 2; i++) {
        char name[64];
        const int at = reversed ? SIZES * 2 - 1 - i : i;
        (void)snprintf(name, sizeof name, "%s-nn-%dx%dx%d", at % 2 ? "f64" : "f32",
                       sizes[at / 2], sizes[at / 2], sizes[at / 2]);
        OK(gt_sweep_add(&s, name, &err));
        s.item[i].weight = 1 + at % 5;
    }
    return s;
}

static int64_t cost_of(const struct gt_sweep *s, bool by_weight) {
    int64_t sum = 0;
    for (size_t i = 0; i < s->count; i++)
        sum += gt_sweep_cost(&s->item[i], by_weight);
    return sum;
}

static bool has(const struct gt_sweep *s, const char *name) {
    bool found = false;
    for (size_t i = 0; i < s->count; i++)
        found = found || strcmp(s->item[i].name, name) == 0;
    return found;
}

static void test_text(void **state) {
    static const char *const wrong[] = {
        "",     "1",     "0/2", "3/2",  "1/0",
        "-1/2", "1/2/3", "a/b", "1 /2", "1/10001",
        "+1/2", "1/",    "/2",  "1/2 ", "99999999999/99999999999"};
    struct gt_shard s;
    (void)state;
    assert_true(gt_shard_parse(&s, "1/1") && s.index == 1 && s.count == 1);
    assert_true(gt_shard_parse(&s, "07/10000") && s.index == 7 && s.count == 10000);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (gt_shard_parse(&s, wrong[i]))
            fail_msg("\"%s\" was taken for a shard", wrong[i]);
}

static void test_order(void **state) {
    struct gt_sweep s = sweep(false);
    size_t *order;
    (void)state;
    OK(gt_sweep_order(&order, &s, false, &err));
    assert_string_equal(s.item[order[0]].name, "f32-nn-8192x8192x8192");
    assert_string_equal(s.item[order[1]].name, "f64-nn-8192x8192x8192");
    assert_string_equal(s.item[order[s.count - 1]].name, "f64-nn-8x8x8");
    free(order);
    OK(gt_sweep_order(&order, &s, true, &err));
    assert_true(s.item[order[0]].weight == 5);
    assert_true(s.item[order[s.count - 1]].weight == 1);
    free(order);
    gt_sweep_clear(&s);
}

/* Problems that two shards have, or none; each shard has the same problems from a sweep in
 * another order, and costs at most the mean and the dearest problem together. */
static void check_division(int shards, bool by_weight) {
    struct gt_sweep whole = sweep(false);
    size_t problems = 0;
    double shares = 0;
    int64_t dearest = 0;
    for (size_t i = 0; i < whole.count; i++)
        if (gt_sweep_cost(&whole.item[i], by_weight) > dearest)
            dearest = gt_sweep_cost(&whole.item[i], by_weight);
    const int64_t most = cost_of(&whole, by_weight) / shards + dearest;
    for (int i = 1; i <= shards; i++) {
        const struct gt_shard shard = {i, shards};
        struct gt_sweep one = sweep(false), other = sweep(true);
        double share = 0, again = 0;
        OK(gt_sweep_keep_shard(&share, &one, &shard, by_weight, &err));
        OK(gt_sweep_keep_shard(&again, &other, &shard, by_weight, &err));
        if (!by_weight) { /* there the weights go with the place in the list */
            assert_int_equal(one.count, other.count);
            assert_true(share == again);
            for (size_t j = 0; j < one.count; j++)
                assert_true(has(&other, one.item[j].name));
        }
        for (size_t j = 0; j < one.count; j++)
            assert_true(has(&whole, one.item[j].name));
        assert_true(cost_of(&one, by_weight) <= most);
        problems += one.count;
        shares += share;
        gt_sweep_clear(&one);
        gt_sweep_clear(&other);
    }
    assert_int_equal(problems, whole.count);
    assert_true(fabs(shares - 1) < 1e-9);
    gt_sweep_clear(&whole);
}

static void test_division(void **state) {
    (void)state;
    for (int shards = 1; shards <= 30; shards++) {
        check_division(shards, false);
        check_division(shards, true);
    }
}

static void test_large_costs(void **state) {
    struct gt_sweep s = {0};
    double share = 0;
    (void)state;
    OK(gt_sweep_add(&s, "f32-nn-1000000000x1000000000x1000000000", &err));
    assert_true(gt_sweep_cost(&s.item[0], false) <= (int64_t)1e12);
    OK(gt_sweep_keep_shard(&share, &s, &(struct gt_shard){2, 2}, false, &err));
    assert_int_equal(s.count, 0);
    assert_true(share == 0);
    gt_sweep_clear(&s);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_division),
        cmocka_unit_test(test_large_costs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
