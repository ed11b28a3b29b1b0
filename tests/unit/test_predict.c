/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Descriptions of devices, the best points of a space, and the model compared with trials.
 */
#include "tuner/study/predict.h"

#include "runtime/lookup/shelf.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/points.h"
#include "tests/unit/trial_rows.h"

static void assert_near(double a, double b) {
    if (!(fabs(a - b) <= 1e-9))
        fail_msg("%.9g is not %.9g", a, b);
}

/* ---- a device by description ---- */

#define GOOD                                                                               \
    "\"format\": 1, \"name\": \"Card\", \"arch\": \"sm_61\", \"units\": 20, "              \
    "\"mem_clock_mhz\": 5005, \"bus_bits\": 256, \"memory_bytes\": 8589934592, "           \
    "\"l2_bytes\": 2097152, \"smem_bytes\": 49152"

static gt_status describe(struct gt_device *d, const char *text, struct gt_err *err) {
    return gt_describe_parse(d, "card.json", text, strlen(text), err);
}

static void test_a_description(void **state) {
    struct gt_device d;
    struct gt_err err = {""};
    (void)state;
    assert_int_equal(describe(&d, "{" GOOD ", \"clock_mhz\": 1733}", &err), GEMMTUNE_OK);
    assert_string_equal(d.name, "Card");
    assert_int_equal(d.cc, 61);
    assert_int_equal(d.backend, GEMMTUNE_CUDA);
    assert_int_equal(d.max_threads, 1024);
    assert_int_equal(d.regs_per_block, 65536);
    assert_true(d.has_f64);
    assert_near(gt_device_peak(&d, gt_dtype_at(0)), 2.0 * 128 * 20 * 1733e6);
    assert_near(gt_device_bandwidth(&d), 320.32e9);
    /* what `devices --json` prints besides is allowed */
    assert_int_equal(describe(&d,
                              "{" GOOD ", \"clock_mhz\": 1733, \"index\": 0, \"backend\": "
                              "\"cuda\", \"key\": \"k\", \"uuid\": null, \"pci\": \"\", "
                              "\"driver\": \"580\", \"compiler\": null, \"trouble\": null, "
                              "\"max_threads\": 512, \"registers\": 32768}",
                              &err),
                     GEMMTUNE_OK);
    assert_int_equal(d.max_threads, 512);
    assert_int_equal(d.regs_per_block, 32768);
}

static void test_bad_descriptions(void **state) {
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"", "card.json"},
        {"[]", "one device"},
        {"{" GOOD "}", "clock_mhz"},
        {"{" GOOD ", \"clock_mhz\": 0}", "/clock_mhz"},
        {"{" GOOD ", \"clock_mhz\": 1733.5}", "/clock_mhz"},
        {"{" GOOD ", \"clock_mhz\": \"1733\"}", "/clock_mhz"},
        {"{" GOOD ", \"clock_mhz\": 1733, \"clokc\": 1}", "clokc"},
        {"{" GOOD ", \"clock_mhz\": 1733, \"backend\": \"opencl\"}", "only CUDA"},
        {"{" GOOD ", \"clock_mhz\": 1733, \"units\": 3}", "units"},
        {"{\"format\": 2, \"name\": \"a\"}", "/format"},
        {"{\"format\": 1, \"name\": \"\"}", "/name"},
        {"{\"format\": 1, \"name\": \"a\", \"arch\": \"pascal\"}", "architecture"},
        {"{\"format\": 1, \"name\": \"a\", \"arch\": \"sm_061\"}", "architecture"},
        {"{\"format\": 1, \"name\": \"a\", \"arch\": \"sm_13\"}", "architecture"},
        {"{\"format\": 1, \"name\": \"a\", \"arch\": \"sm_99999999999999\"}",
         "architecture"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gt_device d;
        struct gt_err err = {""};
        assert_int_equal(describe(&d, rows[i].text, &err), GEMMTUNE_EPARSE);
        if (strstr(err.line, rows[i].says) == NULL)
            fail_msg("row %zu says '%s'", i, err.line);
    }
}

/* ---- rank correlation ---- */

static double spearman(const double *a, const double *b, size_t count) {
    double out;
    assert_int_equal(gt_spearman(&out, a, b, count, NULL), GEMMTUNE_OK);
    return out;
}

static void test_spearman(void **state) {
    const double up[] = {1, 2, 3, 4, 5}, down[] = {9, 7, 5, 3, 1},
                 curve[] = {1, 10, 11, 90, 91};
    const double flat[] = {2, 2, 2, 2, 2};
    /* ranks 2 1 4 3 5: 1 - 6 (1 + 1 + 1 + 1 + 0) / (5 (25 - 1)) */
    const double near[] = {20, 10, 40, 30, 50};
    /* ranks 1.5 1.5 3 4 5 against 1 2 3 4 5 */
    const double tied[] = {7, 7, 8, 9, 10};
    (void)state;
    assert_near(spearman(up, curve, 5), 1);
    assert_near(spearman(up, down, 5), -1);
    assert_near(spearman(up, near, 5), 0.8);
    assert_near(spearman(up, tied, 5), 9.5 / sqrt(10 * 9.5));
    assert_near(spearman(up, flat, 5), 0);
    assert_near(spearman(up, up, 0), 0);
}

/* ---- spaces and trials ---- */

static struct gt_families *families;
static struct gt_device card;

static int setup(void **state) {
    (void)state;
    return gt_families_create(&families, NULL) != GEMMTUNE_OK ||
           describe(&card, "{" GOOD ", \"clock_mhz\": 1733}", NULL) != GEMMTUNE_OK;
}

static int teardown(void **state) {
    (void)state;
    gt_families_destroy(families);
    return 0;
}

/* The first of all points, in order, none missing. */
static void test_the_best_of_a_space(void **state) {
    enum { MOST = 40 };
    const struct gt_texts tile = {.count = 1, .text = {"tile"}};
    struct gt_predicted all[MOST], one[1];
    size_t count, asked;
    gemmtune_problem p;
    (void)state;
    assert_int_equal(gt_problem_from_name(&p, "f32-nn-500x400x300", NULL), GEMMTUNE_OK);
    struct gt_predict_query query = {
        .families = families, .names = &tile, .device = &card, .problem = &p};
    assert_int_equal(gt_predict_best(all, MOST, &count, &asked, &query, NULL), GEMMTUNE_OK);
    assert_int_equal(count, asked);
    assert_int_equal(asked, 32); /* 8 widths, padded or not, double or not */
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(all[i].family->name, "tile");
        assert_true(i == 0 || all[i].prediction.ns >= all[i - 1].prediction.ns);
        for (size_t j = 0; j < i; j++)
            assert_false(points_equal(&all[i].point, &all[j].point));
    }
    query.distinct = true;
    assert_int_equal(gt_predict_best(all, MOST, &count, &asked, &query, NULL), GEMMTUNE_OK);
    assert_true(count > 1 && count < asked);
    for (size_t i = 1; i < count; i++)
        assert_true(all[i].prediction.ns > all[i - 1].prediction.ns);
    assert_int_equal(gt_predict_best(one, 1, &count, &asked, &query, NULL), GEMMTUNE_OK);
    assert_int_equal(count, 1);
    assert_true(one[0].prediction.ns <= all[0].prediction.ns);
    assert_true(one[0].prediction.ns >= all[0].prediction.ns);
}

/* `count` trials of the points of tile. Their measured time is `of` their prediction. */
static void make_trials(struct gt_view *v, const char *problem, size_t count,
                        double (*of)(double predicted)) {
    const struct gt_texts tile = {.count = 1, .text = {"tile"}};
    struct gt_predicted best[32];
    size_t found, asked;
    gemmtune_problem p;
    assert_int_equal(gt_problem_from_name(&p, problem, NULL), GEMMTUNE_OK);
    const struct gt_predict_query query = {
        .families = families, .names = &tile, .device = &card, .problem = &p};
    assert_int_equal(gt_predict_best(best, 32, &found, &asked, &query, NULL), GEMMTUNE_OK);
    for (size_t i = 0; i < count; i++)
        add_trial(v, problem, "tile", &best[i].point, of(best[i].prediction.ns));
}

static double twice(double ns) {
    return 2 * ns;
}

static double upside_down(double ns) {
    return 1e18 / ns;
}

static double point_ns(const char *problem, const char *text) {
    gemmtune_problem p;
    struct gt_point point;
    struct gt_prediction out;
    assert_int_equal(gt_problem_from_name(&p, problem, NULL), GEMMTUNE_OK);
    assert_int_equal(gt_point_parse(&point, text, NULL), GEMMTUNE_OK);
    assert_int_equal(
        gt_model_explain(&out, gt_families_find(families, "tile"), &card, &p, &point, NULL),
        GEMMTUNE_OK);
    return out.ns;
}

static void test_a_check(void **state) {
    struct gt_view v = {0};
    struct gt_checked c;
    struct gt_err err = {""};
    (void)state;
    make_device(&v, &card);
    make_trials(&v, "f32-nn-500x400x300", 30, twice);
    make_trials(&v, "f32-nn-500x400x301", 30, upside_down);
    make_trials(&v, "f32-nn-500x400x302", 19, twice); /* too few for a row */
    make_trials(&v, "f32-nn-500x400x303", 4, twice);
    v.row[v.row_count - 1].outcome = GT_WRONG_RESULT;
    (void)snprintf(v.row[v.row_count - 2].family, sizeof v.row[0].family, "elsewhere");
    free(v.row[v.row_count - 3].point);
    v.row[v.row_count - 3].point = strdup("TILE_WIDTH=5 PAD=0 DOUBLE=0");
    free(v.row[0].point); /* the fastest, from before there was PAD */
    v.row[0].point = strdup("TILE_WIDTH=16 DOUBLE=0");
    v.row[0].median_ns = 2 * point_ns("f32-nn-500x400x300", "TILE_WIDTH=16 PAD=0 DOUBLE=0");
    assert_int_equal(gt_predict_check(&c, &v, families, "card", &err), GEMMTUNE_OK);
    assert_int_equal(c.filled, 1);
    assert_int_equal(c.used, 30 + 30 + 19 + 1);
    assert_int_equal(c.unmeasured, 1);
    assert_int_equal(c.unknown_family, 1);
    assert_int_equal(c.unbound, 1);
    assert_int_equal(c.unpredicted, 0);
    assert_int_equal(c.count, 4); /* tile, and all families, of two problems */
    assert_int_equal(c.below_bound, 0);
    for (size_t i = 0; i < c.count; i++) {
        const bool good = strcmp(c.row[i].problem, "f32-nn-500x400x300") == 0;
        assert_string_equal(c.row[i].family, i % 2 == 0 ? "tile" : "");
        assert_int_equal(c.row[i].trials, 30);
        assert_near(c.row[i].spearman, good ? 1 : -1);
        assert_near(c.row[i].top[2], 1); /* all are among the first 50 */
        if (good) {
            assert_near(c.row[i].top[0], 1);
            assert_near(c.row[i].error, 0.5);
        } else {
            assert_true(c.row[i].top[0] > c.row[i].top[1]);
            assert_true(c.row[i].top[1] > 1);
        }
    }
    gt_checked_clear(&c);
    /* another device's trials are not its own */
    assert_int_equal(gt_predict_check(&c, &v, families, "other", &err), GEMMTUNE_OK);
    assert_int_equal(c.used + c.count, 0);
    gt_checked_clear(&c);
    gt_view_clear(&v);
}

static double tenth(double ns) {
    return ns / 10000;
}

/* Faster than the device allows: the bound must be seen to fail. */
static void test_a_broken_bound(void **state) {
    struct gt_view v = {0};
    struct gt_checked c;
    (void)state;
    make_device(&v, &card);
    make_trials(&v, "f32-nn-500x400x300", 20, tenth);
    assert_int_equal(gt_predict_check(&c, &v, families, "card", NULL), GEMMTUNE_OK);
    assert_int_equal(c.below_bound, 20);
    assert_int_equal(c.pruned, 20);
    assert_near(c.nearest_pruned, 1);
    gt_checked_clear(&c);
    gt_view_clear(&v);
}

/* Trials of a device with launches that take ten times as long:
 * the fit has to find that out. */
static double slow_to_start(double ns) {
    return ns + 9 * gt_shelf_usual.costs.launch_ns;
}

static void test_a_fit(void **state) {
    struct gt_view v = {0};
    struct gt_fitted f, again;
    struct gt_err err = {""};
    (void)state;
    make_device(&v, &card);
    for (int k = 300; k < 306; k++) {
        char name[64];
        (void)snprintf(name, sizeof name, "f32-nn-50x40x%d", k);
        make_trials(&v, name, 20, slow_to_start);
    }
    assert_int_equal(gt_predict_fit(&f, &v, families, "card", NULL, 500, 1, &err),
                     GEMMTUNE_OK);
    assert_int_equal(f.trials, v.row_count);
    assert_true(f.was[0] > 0.5 && f.was[1] > 0.5);
    assert_true(f.is[0] < 0.1 * f.was[0] && f.is[1] < 0.1 * f.was[1]);
    assert_near(f.costs.load, gt_shelf_usual.costs.load); /* not fitted */
    assert_int_equal(gt_predict_fit(&again, &v, families, "card", NULL, 500, 1, &err),
                     GEMMTUNE_OK);
    assert_memory_equal(&f.costs, &again.costs, sizeof f.costs);
    assert_int_equal(gt_predict_fit(&f, &v, families, "other", NULL, 500, 1, &err),
                     GEMMTUNE_ENOTFOUND);
    gt_view_clear(&v);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_description),  cmocka_unit_test(test_bad_descriptions),
        cmocka_unit_test(test_spearman),       cmocka_unit_test(test_the_best_of_a_space),
        cmocka_unit_test(test_a_check),        cmocka_unit_test(test_a_fit),
        cmocka_unit_test(test_a_broken_bound),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
