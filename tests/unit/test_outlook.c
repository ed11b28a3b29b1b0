/* SPDX-License-Identifier: Apache-2.0 */
/* check: threads */
/*
 * test_outlook.c - the forecasts for whole spaces, compared with asking for single points.
 */
#include "tuner/search/outlook.h"

#include "runtime/lookup/model.h"
#include "tuner/study/predict.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static struct gt_err err;

#define OK(call) assert_int_equal(call, GEMMTUNE_OK)

enum { TILE, BARE, BLOCK, SPACES };
static const char *const names[SPACES] = {"tile", "split", "block"};

static struct gt_device device;
static gemmtune_problem problem;
static struct gt_families *families;
static struct gt_space space[SPACES];
static struct gt_outlook outlook;

static int setup(void **state) {
    (void)state;
    OK(gt_describe_load(&device, "devices/h200/device.json", &err));
    OK(gt_problem_from_name(&problem, "f32-nn-1024x1024x1024", &err));
    OK(gt_families_create(&families, &err));
    OK(gt_families_add_folder(families, "tests/data/families", &err));
    for (int i = 0; i < SPACES; i++) {
        const struct gt_family *f = gt_families_find(families, names[i]);
        assert_int_equal(f->has_shape, i != BARE);
        OK(gt_space_create(&space[i], f, &device, &problem, &err));
        assert_true(space[i].count > 0);
    }
    gt_outlook_make(&outlook, space, SPACES, &device, &problem);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    gt_outlook_clear(&outlook);
    for (int i = 0; i < SPACES; i++)
        gt_space_clear(&space[i]);
    gt_families_destroy(families);
    return 0;
}

static double expected(int i, size_t index) {
    const struct gt_pick pick = {.space = i, .index = index};
    return gt_outlook_ns(&outlook, &pick);
}

static void test_what_the_model_says(void **state) {
    enum { SAMPLES = 500 };
    (void)state;
    for (int i = 0; i < SPACES; i++) {
        const size_t step = 1 + space[i].count / SAMPLES;
        for (size_t j = 0; i != BARE && j < space[i].count; j += step) {
            struct gt_point point;
            struct gt_prediction p;
            gt_space_point(&space[i], j, &point);
            OK(gt_model_explain(&p, space[i].family, &device, &problem, &point, &err));
            assert_true(p.ns > 0);
            assert_true(expected(i, j) == (double)(float)p.ns);
        }
    }
}

static void test_unknown(void **state) {
    (void)state;
    for (size_t j = 0; j < space[BARE].count; j++)
        assert_true(expected(BARE, j) == 0);
    struct gt_device bare = device;
    struct gt_outlook o;
    struct gt_pick pick = {.space = TILE, .index = 0};
    bare.bus_bits = 0; /* no bandwidth, no prediction */
    gt_outlook_make(&o, space, SPACES, &bare, &problem);
    assert_true(gt_outlook_ns(&o, &pick) == 0);
    assert_int_equal(gt_outlook_best(&pick, 1, 1, &o), 0);
    gt_outlook_clear(&o);
}

static int differing(const struct gt_space *s, size_t a, size_t b) {
    struct gt_point x, y;
    int n = 0;
    gt_space_point(s, a, &x);
    gt_space_point(s, b, &y);
    for (int i = 0; i < x.count; i++)
        n += x.entry[i].value != y.entry[i].value;
    return n;
}

/* Whether blocks of two points compute and read the same, as far as the model sees. */
static bool have_one_tile(int i, size_t a, size_t b) {
    static const int keys[] = {GT_SHAPE_TILE_M, GT_SHAPE_TILE_N, GT_SHAPE_TILE_K,
                               GT_SHAPE_SPLIT, GT_SHAPE_SLAB};
    int64_t shape[2][GT_SHAPE_COUNT];
    for (int j = 0; j < 2; j++) {
        struct gt_fit fit;
        struct gt_point point;
        gt_space_point(&space[i], j == 0 ? a : b, &point);
        OK(gt_fit_point(&fit, space[i].family, &device, &problem, &point, &err));
        assert_true(gt_shape_of(shape[j], &fit.binding));
    }
    bool same = true;
    for (size_t j = 0; j < sizeof keys / sizeof *keys; j++)
        same = same && shape[0][keys[j]] == shape[1][keys[j]];
    return same;
}

/* The best forecast among the points that differ in two parameters from all picks before
 * the n-th and have another tile. */
static double least(int i, const struct gt_pick *pick, int n) {
    double ns = 0;
    for (size_t j = 0; j < space[i].count; j++) {
        bool apart = ns == 0 || expected(i, j) < ns;
        for (int k = 0; apart && k < n; k++)
            apart = pick[k].space != i || (differing(&space[i], j, pick[k].index) >= 2 &&
                                           !have_one_tile(i, j, pick[k].index));
        if (apart)
            ns = expected(i, j);
    }
    return ns;
}

static void test_the_best(void **state) {
    enum { ROOM = 16, EACH = 4 };
    struct gt_pick pick[ROOM];
    int of[SPACES] = {0};
    (void)state;
    assert_int_equal(gt_outlook_best(pick, ROOM, EACH, &outlook), 2 * EACH);
    for (int i = 0; i < 2 * EACH; i++) {
        const double ns = gt_outlook_ns(&outlook, &pick[i]);
        assert_true(i == 0 || ns >= gt_outlook_ns(&outlook, &pick[i - 1]));
        assert_true(ns == least(pick[i].space, pick, i));
        for (int j = 0; j < i; j++)
            assert_true(pick[i].space != pick[j].space ||
                        !have_one_tile(pick[i].space, pick[i].index, pick[j].index));
        of[pick[i].space]++;
    }
    assert_int_equal(of[TILE], EACH);
    assert_int_equal(of[BLOCK], EACH);
}

/* When there is room for fewer, the fastest of all spaces are left. */
static void test_little_room(void **state) {
    enum { ROOM = 16, LESS = 3 };
    struct gt_pick all[ROOM], few[LESS + 1] = {[LESS] = {.space = -1}};
    (void)state;
    assert_true(gt_outlook_best(all, ROOM, 8, &outlook) > LESS);
    assert_int_equal(gt_outlook_best(few, LESS, 8, &outlook), LESS);
    for (int i = 0; i < LESS; i++)
        assert_true(gt_outlook_ns(&outlook, &few[i]) == gt_outlook_ns(&outlook, &all[i]));
    assert_int_equal(few[LESS].space, -1);
    assert_int_equal(gt_outlook_best(few, 0, 8, &outlook), 0);
    assert_int_equal(gt_outlook_best(few, LESS, 0, &outlook), 0);
}

static void test_nothing(void **state) {
    struct gt_outlook o = {0};
    struct gt_pick pick = {.space = 0, .index = 0};
    (void)state;
    assert_true(gt_outlook_ns(&o, &pick) == 0);
    assert_int_equal(gt_outlook_best(&pick, 1, 1, &o), 0);
    gt_outlook_clear(&o);
    gt_outlook_make(&o, space, SPACES, &device, &problem);
    assert_true(gt_outlook_ns(&o, &pick) > 0);
    for (int i = 0; i < 2; i++) {
        gt_outlook_clear(&o);
        assert_true(gt_outlook_ns(&o, &pick) == 0);
        assert_int_equal(gt_outlook_best(&pick, 1, 1, &o), 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_the_model_says),
        cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_the_best),
        cmocka_unit_test(test_little_room),
        cmocka_unit_test(test_nothing),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
