/* SPDX-License-Identifier: Apache-2.0 */
/* Lookups of problems of a kind that was never tuned: the records of like types and of
 * single products serve, lessons of like kernels count most, and points beside the tuned
 * ones are offered. With the built-in families and an H200. */
#include "runtime/lookup/match_inside.h"
#include "tests/unit/shipped_families.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct gt_query query_of(const struct gt_snapshot *s, const gemmtune_problem *p) {
    return (struct gt_query){.snapshot = s,
                             .device = &h200,
                             .device_key = HERE,
                             .problem = p,
                             .worst = GEMMTUNE_MATCH_DEFAULT,
                             .workspace_max = SIZE_MAX,
                             .pointer_align = GT_VECTOR_BYTES};
}

/* Asks for the answer of one record, no start. */
static gt_status ask(struct gt_choice *out, const char *problem,
                     const struct gt_known *known) {
    const struct gt_snapshot snapshot = {.families = families, .known = known, .count = 1};
    const gemmtune_problem p = problem_of(problem);
    struct gt_query query = query_of(&snapshot, &p);
    query.worst = GEMMTUNE_MATCH_SHAPE;
    return gt_match(out, &query, NULL);
}

static int64_t value_of(const struct gt_choice *c, const char *name) {
    int64_t value = -1;
    assert_true(gt_point_get(&c->point, name, &value));
    return value;
}

/* ---- other kinds of problems --------------------------------------------------------- */

/* The answer among the families' starts and these records, on an H200. */
static struct gt_choice answer(const char *problem, const struct gt_known *known,
                               size_t count) {
    const struct gt_snapshot snapshot = {
        .families = families, .known = known, .count = count};
    const gemmtune_problem p = problem_of(problem);
    const struct gt_query query = query_of(&snapshot, &p);
    struct gt_choice c;
    assert_int_equal(gt_match(&c, &query, NULL), GEMMTUNE_OK);
    return c;
}

#define WGMMA                                                                              \
    "BM=128 BN=256 WGM=2 WGN=1 STAGES=4 CM=2 CN=1 GROUP=8 PERSIST=1 PINGPONG=0 MINB=1 "    \
    "SPLIT=1 REDUCE=0 TAIL=0 REPACK=0 SWAP=0 STORE=1 RS=0 PRODUCERS=0"

#define DMMA                                                                               \
    "BM=128 BN=128 BK=16 WM=64 WN=32 SLICES=1 MMA_K=8 KSTEP=8 STAGES=3 VA=2 VB=2 ODD=0 "   \
    "AHEAD=1 MINB=1 GROUP=8 TAIL=8 SPLIT=1 REDUCE=0"

/* Exact products of bytes take 1010 us for the first problem on an H200 and 4160 us for the
 * second one, strict kernels 766 and 2310. For the third one it is 14.9 and 21.5 ms. */
static void test_strict_records_serve_residues(void **state) {
    static const struct {
        const char *problem, *family;
    } rows[] = {
        {"f64@residues-nn-1760x7000x1760", "dmma"},
        {"f64@residues-nn-8192x8192x1024", "dmma"},
        {"f64@residues-nn-8192x8192x8192", "remainder"},
    };
    const struct gt_known known = known_of("f64-nn-1760x7000x1760", "dmma", DMMA, 766000);
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct gt_choice c = answer(rows[i].problem, &known, 1);
        if (strcmp(c.family->name, rows[i].family) != 0)
            fail_msg("%s: %s, %s", rows[i].problem, c.family->name, c.why);
    }
}

/* `wgmma` has no strict kernels for 8-bit floats. A record that says so serves nobody. */
static void test_a_record_that_its_family_denies(void **state) {
    const struct gt_known strict =
        known_of("e4m3-nt-4096x4096x4096", "wgmma", WGMMA, 130000);
    struct gt_choice c;
    (void)state;
    assert_int_equal(ask(&c, "e4m3-nt-4096x4096x2048", &strict), GEMMTUNE_ENOTFOUND);
    assert_int_equal(ask(&c, "e4m3@fast-nt-4096x4096x2048", &strict), GEMMTUNE_ENOTFOUND);
}

/* A problem that was tuned takes the strict kernel of the same product, if that took less
 * time. */
static void test_the_strict_twin_competes(void **state) {
    struct gt_known known[] = {
        known_of("f32@split-nn-256x256x256", "triple",
                 "ENGINE=0 BM=16 BN=32 KBYTES=256 WM=16 WN=16 SLICES=4 STAGES=4 VA=16 "
                 "VB=16 REPACK=0 MINB=1 GROUP=1 SPLIT=1",
                 3800),
        known_of("f32-nn-256x256x256", "multistage",
                 "BM=16 BN=32 BK=64 TM=4 TN=4 STAGES=6 SLICES=4 SPLIT=1 CLUSTER=0 STREAM=0 "
                 "FOLD=1 VA=4 VB=1 ORDER=0 REPACK=0 MINB=1 GROUP=1",
                 3350),
    };
    (void)state;
    for (int i = 0; i < 2; i++) {
        known[1].median_ns = i == 0 ? 3350 : 3900;
        const struct gt_choice c = answer("f32@split-nn-256x256x256", known, 2);
        assert_ptr_equal(c.known, &known[1 - i]);
        assert_int_equal(c.match, GEMMTUNE_MATCH_EXACT);
        assert_true((strstr(c.why, "in strict arithmetic") != NULL) == (i == 0));
    }
}

/* An f16 product takes as long as a bf16 product. Other sizes of types do not. */
static void test_like_types(void **state) {
    const struct gt_known known =
        known_of("bf16-nt-4096x4096x4096", "wgmma", WGMMA, 170000);
    struct gt_choice c;
    (void)state;
    assert_int_equal(ask(&c, "f16-nt-4096x4096x4096", &known), GEMMTUNE_OK);
    assert_ptr_equal(c.known, &known);
    assert_true(has_known_point(&c, &known));
    assert_int_equal(ask(&c, "i8-nt-4096x4096x4096", &known), GEMMTUNE_ENOTFOUND);
    assert_int_equal(ask(&c, "f16=f32-nt-4096x4096x4096", &known), GEMMTUNE_ENOTFOUND);
}

/* A kernel of a single product serves a batch. One of a batch does not serve a single
 * product. */
static void test_single_for_batch(void **state) {
    static const char point[] =
        "BM=64 BN=32 BK=32 WM=32 WN=32 SLICES=2 MMA_K=8 KSTEP=8 STAGES=4 VA=2 VB=2 ODD=0 "
        "AHEAD=1 MINB=1 GROUP=1 TAIL=0 SPLIT=1 REDUCE=0";
    const struct gt_known single = known_of("f64-nn-512x512x512", "dmma", point, 16000);
    const struct gt_known batch =
        known_of("f64-nn-512x512x512,batch=8", "dmma", point, 99000);
    struct gt_choice c;
    (void)state;
    assert_int_equal(ask(&c, "f64-nn-512x512x512,batch=8", &single), GEMMTUNE_OK);
    assert_ptr_equal(c.known, &single);
    assert_int_equal(ask(&c, "f64-nn-512x512x512", &batch), GEMMTUNE_ENOTFOUND);
}

/* ---- lessons ------------------------------------------------------------------------- */

static struct gt_forecasts all;

/* The model's error for the record's point on the problem. */
static double error_on(const char *problem, const struct gt_known *known, size_t count) {
    struct gt_near near[GT_NEAR_MAX];
    const struct gt_snapshot s = {.families = families, .known = known, .count = count};
    const gemmtune_problem p = problem_of(problem);
    struct gt_lookup l = {.query = query_of(&s, &p), .model_device = h200};
    struct gt_prediction prediction;
    (void)gt_problem_name(&p, l.name);
    for (size_t i = 0; i < count; i++)
        assert_true(gt_near_classify(&near[i], &l, &known[i]));
    all.lookup = &l;
    all.shelf = gt_shelf_of(&h200);
    all.bases = 0;
    gt_forecasts_learn(&all, near, count);
    const struct gt_point point = known_point(known);
    assert_int_equal(gt_model_explain(&prediction, known->family, &h200, &p, &point, NULL),
                     GEMMTUNE_OK);
    struct gt_forecast o = {.family = known->family, .kind = -1};
    memcpy(o.values, known->values, sizeof o.values);
    assert_true(gt_forecasts_fit(&all, &o, NULL));
    return gt_forecast_error(&all, &o, &prediction);
}

/* The computed time, without what was learned. */
static double predicted_ns(const char *problem, const char *family, const char *point) {
    const struct gt_known k = known_of(problem, family, point, 1);
    struct gt_prediction prediction;
    const struct gt_point pairs = known_point(&k);
    assert_int_equal(
        gt_model_explain(&prediction, k.family, &h200, &k.problem, &pairs, NULL),
        GEMMTUNE_OK);
    return gt_computed_ns(&prediction);
}

#define TILE                                                                               \
    "BM=64 BN=64 BK=32 TM=8 TN=8 STAGES=3 SLICES=2 SPLIT=1 CLUSTER=0 STREAM=0 FOLD=1 "     \
    "VA=4 VB=4 ORDER=0 REPACK=0 MINB=1 GROUP=8"

/* Two lessons of one kernel, equally far away: one launch of a few blocks takes twice the
 * predicted time, and a device full of multiply-adds half of it. The lesson counts where
 * the same resource binds. */
static void test_like_parts(void **state) {
    static const char *const few = "i32-nn-64x64x256", *const many = "i32-nn-4096x4096x256";
    const struct gt_known known[] = {
        known_of(few, "multistage", TILE, 2 * predicted_ns(few, "multistage", TILE)),
        known_of(many, "multistage", TILE, predicted_ns(many, "multistage", TILE) / 2)};
    (void)state;
    assert_true(error_on("i32-nn-128x128x256", known, 2) > 1.7);
    assert_true(error_on("i32-nn-2048x2048x256", known, 2) < 0.6);
}

/* A record of a problem that trees know lends masked products, which they do not know, the
 * whole error of the computation. To a problem that they know it lends nothing. */
static void test_lessons_and_trees(void **state) {
    static const char *const single = "f32-nn-512x512x512";
    const struct gt_known known =
        known_of(single, "multistage", TILE, 3 * predicted_ns(single, "multistage", TILE));
    (void)state;
    const double lent = error_on("f32-nn-512x512x512,batch=2,masked", &known, 1);
    assert_true(lent > 2.9 && lent < 3.1);
    assert_true(error_on("f32-nn-512x512x512,epi=bias", &known, 1) == 1);
    assert_true(error_on("f32-nn-512x512x500", &known, 1) == 1);
}

/* The time of one near kernel says nothing beside trees, and everything without them. */
static void test_a_time_beside_trees(void **state) {
    static const struct {
        const char *tuned, *asked;
        bool same;
    } rows[] = {{"f32-nn-512x512x500", "f32-nn-512x512x512", true},
                {"i32-nn-512x512x500", "i32-nn-512x512x512", false}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct gt_known quick = known_of(rows[i].tuned, "multistage", TILE, 10000),
                              slow = known_of(rows[i].tuned, "multistage", TILE, 500000);
        const struct gt_choice a = answer(rows[i].asked, &quick, 1),
                               b = answer(rows[i].asked, &slow, 1);
        assert_non_null(strstr(a.why, "forecast"));
        assert_int_equal(strcmp(a.why, b.why) == 0, rows[i].same);
    }
}

/* The forecast of the option by few trees or all. */
static double forecast_by(const struct gt_forecast *o, bool few, double too_long_ns) {
    struct gt_prediction p;
    assert_true(gt_forecasts_fit(&all, o, NULL));
    all.model.few_trees = few;
    all.model.too_long_ns = too_long_ns;
    assert_true(gt_model_predict_fit(&p, &all.model, &all.fit));
    return p.ns;
}

/* Whether a settled option before option `i` has its point. */
static bool is_twin_of_another(int i) {
    const struct gt_forecast *o = &all.item[i];
    for (int j = 0; j < i; j++)
        if (all.item[j].is_settled && all.item[j].family == o->family &&
            memcmp(all.item[j].values, o->values, sizeof o->values) == 0)
            return true;
    return false;
}

/* All options are forecast by a few trees, options that are far slower by fewer. Then the
 * best ones and points beside them are forecast by all, and stand first. */
static void test_forecasts_in_full(void **state) {
    enum { SETTLED = 12 };
    const gemmtune_problem p = problem_of("f32-nn-1000x800x600");
    const struct gt_known known = known_of("f32-nn-1024x768x512", "multistage", TILE, 1e5);
    const struct gt_snapshot s = {.families = families, .known = &known, .count = 1};
    const struct gt_lookup l = {.query = query_of(&s, &p), .model_device = h200};
    struct gt_near near;
    int differ = 0, glances = 0, settled = 0;
    (void)state;
    assert_true(gt_near_classify(&near, &l, &known));
    all.lookup = &l;
    gt_forecasts_make(&all, &near, 1, true);
    assert_true(all.count > SETTLED);
    assert_true(all.least_ns > 0);
    for (int i = 0; i < all.count; i++) {
        const struct gt_forecast *o = &all.item[i];
        const double full = forecast_by(o, false, 0), rough = forecast_by(o, true, 0),
                     glance = forecast_by(o, true, 1);
        if (o->is_settled) {
            assert_int_equal(settled++, i);
            assert_true(o->ns >= all.least_ns);
            assert_false(is_twin_of_another(i));
            assert_true(fabs(o->ns / full - 1) < 1e-9 || o->ns > 1.3 * 0.85 * all.least_ns);
        } else if (fabs(o->ns / rough - 1) >= 1e-9) {
            assert_true(fabs(o->ns / glance - 1) < 1e-9);
            assert_true(o->ns > 2 * all.least_ns);
            glances++;
        }
        differ += fabs(full / rough - 1) > 1e-3;
        if (i > 0 && o->is_settled)
            assert_true(all.item[i - 1].cost <= o->cost);
    }
    assert_true(settled > SETTLED);
    assert_true(all.item[0].ns < 1.1 * all.least_ns);
    assert_true(differ > all.count / 2);
    assert_true(glances > all.count / 4);
}

/* A point beside an option may be too large in other parameters, which are lowered then,
 * past values that other rules forbid. */
static void test_beside_is_lowered(void **state) {
    static const struct {
        const char *problem, *point, *lowered;
    } rows[] = {
        {"f16-nn-28x3015x283,batch=429",
         "ENGINE=1 BM=64 BN=64 BK=16 TM=32 TN=32 STAGES=3 ORDER=0",
         "ENGINE=1 BM=32 BN=64 BK=16 TM=32 TN=32 STAGES=3 ORDER=0"},
        {"f16-nn-12x512x256,batch=400",
         "ENGINE=1 BM=32 BN=64 BK=16 TM=32 TN=32 STAGES=2 ORDER=0",
         "ENGINE=1 BM=32 BN=64 BK=16 TM=16 TN=32 STAGES=2 ORDER=0"},
        {"f16-nn-64x64x16,batch=400",
         "ENGINE=1 BM=64 BN=64 BK=64 TM=32 TN=32 STAGES=2 ORDER=0",
         "ENGINE=1 BM=64 BN=64 BK=16 TM=32 TN=32 STAGES=2 ORDER=0"},
    };
    const struct gt_snapshot s = {.families = families};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const gemmtune_problem p = problem_of(rows[i].problem);
        const struct gt_lookup l = {.query = query_of(&s, &p), .model_device = h200};
        struct gt_forecast o = {.family = gt_families_find(families, "tailored"),
                                .kind = -1,
                                .asks_model = true};
        char text[GT_POINT_TEXT_MAX];
        struct gt_point point;
        all.lookup = &l;
        gt_forecasts_make(&all, NULL, 0, true);
        all.count = 0;
        assert_int_equal(gt_point_parse(&point, rows[i].point, NULL), GEMMTUNE_OK);
        assert_int_equal(gt_point_values(o.values, o.family, &point, NULL), GEMMTUNE_OK);
        assert_false(gt_forecasts_fit(&all, &o, NULL));
        gt_forecasts_offer_best(&all, &o, 0);
        assert_int_equal(all.count, 1);
        gt_forecast_point(&point, &all.item[0]);
        (void)gt_point_text(&point, text);
        assert_string_equal(text, rows[i].lowered);
        assert_true(all.item[0].doubt > o.doubt);
    }
}

/* ---- beside -------------------------------------------------------------------------- */

/* A tile of 64 rows was right for a square problem. A thin one has no use for most of
 * them. Both are too large for what was learned from trials, so the computation decides. */
static void test_smaller_tile(void **state) {
    static const char square[] = "f64-nn-4096x4096x4096";
    static const char tile[] =
        "BM=64 BN=32 BK=32 WM=32 WN=32 SLICES=2 MMA_K=8 KSTEP=8 STAGES=4 VA=2 VB=2 ODD=0 "
        "AHEAD=1 MINB=1 GROUP=1 TAIL=0 SPLIT=1 REDUCE=0";
    const struct gt_known known =
        known_of(square, "dmma", tile, predicted_ns(square, "dmma", tile));
    struct gt_choice c;
    (void)state;
    assert_int_equal(ask(&c, "f64-nn-16x65536x65536", &known), GEMMTUNE_OK);
    assert_ptr_equal(c.known, &known);
    assert_true(value_of(&c, "BM") <= 32);
    assert_non_null(strstr(c.why, " with BM="));
}

/* The rows of the record allow wide copies. Odd rows do so after a pass that pads them,
 * which the record did not need. Trees know nothing of a product so large. */
static void test_a_pass_for_odd_rows(void **state) {
    static const char even[] = "i8-nn-4096x8192x4096";
    static const char wide[] = "BM=128 BN=128 KBYTES=64 WM=64 WN=64 SLICES=1 STAGES=4 "
                               "VA=16 VB=16 REPACK=0 AHEAD=0 MINB=1 GROUP=8 TAIL=0 SPLIT=1";
    const gemmtune_problem p = problem_of("i8-nn-4095x8191x4095");
    const struct gt_known known =
        known_of(even, "mma", wide, predicted_ns(even, "mma", wide));
    const struct gt_snapshot s = {.families = families, .known = &known, .count = 1};
    const struct gt_lookup l = {.query = query_of(&s, &p), .model_device = h200};
    struct gt_choice best = {.family = known.family};
    struct gt_near near;
    int first = 0;
    (void)state;
    assert_true(gt_near_classify(&near, &l, &known));
    all.lookup = &l;
    gt_forecasts_make(&all, &near, 1, false);
    while (first < all.count && all.item[first].family != best.family)
        first++;
    assert_true(first < all.count);
    gt_point_of_values(&best.point, best.family, all.item[first].values);
    assert_int_equal(value_of(&best, "REPACK"), 3);
    assert_true(value_of(&best, "VA") > 1 && value_of(&best, "VB") > 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_like_types),
        cmocka_unit_test(test_strict_records_serve_residues),
        cmocka_unit_test(test_a_record_that_its_family_denies),
        cmocka_unit_test(test_the_strict_twin_competes),
        cmocka_unit_test(test_single_for_batch),
        cmocka_unit_test(test_like_parts),
        cmocka_unit_test(test_lessons_and_trees),
        cmocka_unit_test(test_a_time_beside_trees),
        cmocka_unit_test(test_forecasts_in_full),
        cmocka_unit_test(test_beside_is_lowered),
        cmocka_unit_test(test_smaller_tile),
        cmocka_unit_test(test_a_pass_for_odd_rows),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
