/* SPDX-License-Identifier: Apache-2.0 */
/* Problems drawn at random: the same ones from the same seed, and of all kinds. */
#include "tuner/tune/draw.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct gt_texts two_types = {2, {"f32", "bf16=f32"}};

static struct gt_sweep drawn(size_t count, uint64_t seed, double volume) {
    const struct gt_draw how = {
        .count = count, .seed = seed, .types = &two_types, .volume = volume};
    struct gt_sweep s = {0};
    assert_int_equal(gt_draw_problems(&s, &how, NULL), GEMMTUNE_OK);
    assert_int_equal(s.count, count);
    return s;
}

static void test_a_seed_says_which(void **state) {
    struct gt_sweep few = drawn(20, 7, 1e10), many = drawn(300, 7, 1e10);
    struct gt_sweep others = drawn(20, 8, 1e10);
    size_t same = 0;
    (void)state;
    for (size_t i = 0; i < few.count; i++) {
        assert_string_equal(few.item[i].name, many.item[i].name);
        same += strcmp(few.item[i].name, others.item[i].name) == 0;
    }
    assert_true(same < few.count / 2);
    gt_sweep_clear(&few);
    gt_sweep_clear(&many);
    gt_sweep_clear(&others);
}

static double volume_of(const gemmtune_problem *p) {
    return (double)p->m * (double)p->n * (double)p->k;
}

/* Each property that the lookup may depend on belongs to a fair part of the problems. */
static void test_all_kinds_come(void **state) {
    struct gt_sweep s = drawn(700, 1, 1e10);
    size_t thin = 0, deep = 0, flat = 0, odd = 0, round = 0, bf16 = 0, layouts[4] = {0};
    (void)state;
    for (size_t i = 0; i < s.count; i++) {
        const gemmtune_problem *p = &s.item[i].problem;
        thin += (p->m <= 64) != (p->n <= 64);
        deep += p->k >= 8 * p->m && p->k >= 8 * p->n;
        flat += p->k <= 64 && p->m >= 256 && p->n >= 256;
        odd += p->m % 2 == 1 && p->n % 2 == 1 && p->k % 2 == 1;
        round += p->m % 8 == 0 && p->n % 8 == 0 && p->k % 8 == 0;
        bf16 += p->type_a == GEMMTUNE_BF16;
        layouts[2 * (p->trans_a != 0) + (p->trans_b != 0)]++;
        assert_true(volume_of(p) <= 1e10);
    }
    assert_in_range(thin, 150, 400);
    assert_in_range(deep, 80, 300);
    assert_in_range(flat, 50, 200);
    assert_in_range(odd, 150, 350);
    assert_in_range(round, 100, 350);
    assert_in_range(bf16, 280, 420);
    for (int i = 0; i < 4; i++)
        assert_in_range(layouts[i], 120, 230);
    gt_sweep_clear(&s);
}

static void test_all_are_different(void **state) {
    struct gt_sweep s = drawn(200, 3, 4096);
    (void)state;
    for (size_t i = 0; i < s.count; i++)
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(s.item[i].name, s.item[j].name);
    gt_sweep_clear(&s);
}

/* Half of the problems are batches, of few products and of many. */
static void test_batches_come(void **state) {
    const struct gt_draw how = {
        .count = 400, .seed = 1, .types = &two_types, .volume = 1e8, .batch = 64};
    struct gt_sweep s = {0};
    size_t batches = 0, few = 0, many = 0;
    (void)state;
    assert_int_equal(gt_draw_problems(&s, &how, NULL), GEMMTUNE_OK);
    for (size_t i = 0; i < s.count; i++) {
        const gemmtune_problem *p = &s.item[i].problem;
        batches += p->batch > 1;
        few += p->batch > 1 && p->batch <= 8;
        many += p->batch > 16;
        assert_in_range(p->batch, 1, 64);
        assert_true(volume_of(p) * (double)p->batch <= 1e8);
    }
    assert_in_range(batches, 150, 250);
    assert_in_range(few, 40, 150);
    assert_in_range(many, 40, 150);
    gt_sweep_clear(&s);
}

/* Problems with few multiplications may still be large in memory, unless a limit is set. */
static void test_elements_have_a_limit(void **state) {
    struct gt_draw how = {
        .count = 200, .seed = 4, .types = &two_types, .volume = 1e8, .batch = 64};
    (void)state;
    for (int limited = 0; limited < 2; limited++) {
        struct gt_sweep s = {0};
        double most = 0;
        how.elements = limited ? 1e6 : 0;
        assert_int_equal(gt_draw_problems(&s, &how, NULL), GEMMTUNE_OK);
        for (size_t i = 0; i < s.count; i++) {
            const gemmtune_problem *const p = &s.item[i].problem;
            const double one = (double)(p->m * p->k + p->k * p->n + p->m * p->n);
            most = fmax(most, one * (double)p->batch);
        }
        assert_true(limited ? most <= 1e6 : most > 1e7);
        gt_sweep_clear(&s);
    }
}

/* Two types and four layouts of 1x1x1 are all that there is. */
static void test_too_few_to_draw(void **state) {
    const struct gt_draw how = {
        .count = 9, .seed = 1, .types = &two_types, .volume = 1, .batch = 0};
    struct gt_sweep s = {0};
    struct gt_err err = {""};
    (void)state;
    assert_int_equal(gt_draw_problems(&s, &how, &err), GEMMTUNE_EINVAL);
    assert_non_null(strstr(err.line, "only 8 different problems"));
    gt_sweep_clear(&s);
}

static void test_a_wrong_type(void **state) {
    const struct gt_texts types = {1, {"f33"}};
    const struct gt_draw how = {
        .count = 1, .seed = 1, .types = &types, .volume = 1e6, .batch = 0};
    struct gt_sweep s = {0};
    struct gt_err err = {""};
    (void)state;
    assert_int_equal(gt_draw_problems(&s, &how, &err), GEMMTUNE_EPARSE);
    assert_non_null(strstr(err.line, "f33"));
    gt_sweep_clear(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_seed_says_which),
        cmocka_unit_test(test_all_kinds_come),
        cmocka_unit_test(test_batches_come),
        cmocka_unit_test(test_all_are_different),
        cmocka_unit_test(test_elements_have_a_limit),
        cmocka_unit_test(test_too_few_to_draw),
        cmocka_unit_test(test_a_wrong_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
