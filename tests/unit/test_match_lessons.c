/* SPDX-License-Identifier: Apache-2.0 */
/* Lookups of problems whose own kind was never tuned: the records of like types and of
 * single products serve, lessons of like kernels count most, and points beside the tuned
 * ones are offered. With the built-in families and an H200. */
#include "runtime/match_inside.h"
#include "tests/unit/made_up.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HERE "h200"

static const struct gt_device h200 =
    MADE_UP(.name = "NVIDIA H200", .arch = "sm_90", .cc = 90, .units = 132,
            .clock_mhz = 1980, .mem_clock_mhz = 3201, .bus_bits = 6016,
            .l2_bytes = 62914560, .smem_max = 232448, .has_f64 = true);

static struct gt_families *families;

static int setup(void **state) {
    (void)state;
    return gt_families_create(&families, NULL) == GEMMTUNE_OK ? 0 : 1;
}

static int teardown(void **state) {
    (void)state;
    gt_families_destroy(families);
    return 0;
}

static gemmtune_problem problem_of(const char *name) {
    gemmtune_problem p;
    assert_int_equal(gt_problem_from_name(&p, name, NULL), GEMMTUNE_OK);
    return p;
}

static struct gt_known known_of(const char *problem, const char *family, const char *point,
                                double median_ns) {
    struct gt_known k = {.verified = true,
                         .problem = problem_of(problem),
                         .family = gt_families_find(families, family),
                         .median_ns = median_ns};
    assert_non_null(k.family);
    assert_int_equal(gt_point_parse(&k.point, point, NULL), GEMMTUNE_OK);
    (void)gt_problem_name(&k.problem, k.problem_name);
    (void)snprintf(k.device_key, sizeof k.device_key, HERE);
    (void)snprintf(k.arch, sizeof k.arch, "sm_90");
    return k;
}

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

#define WGMMA                                                                              \
    "BM=128 BN=256 WGM=2 WGN=1 STAGES=4 CM=2 CN=1 GROUP=8 PERSIST=1 PINGPONG=0 MINB=1 "    \
    "SPLIT=1 REDUCE=0 TAIL=0 REPACK=0 SWAP=0 STORE=1 RS=0"

/* An f16 product takes as long as a bf16 product. Other sizes of types do not. */
static void test_like_types(void **state) {
    const struct gt_known known =
        known_of("bf16-nt-4096x4096x4096", "wgmma", WGMMA, 170000);
    struct gt_choice c;
    (void)state;
    assert_int_equal(ask(&c, "f16-nt-4096x4096x4096", &known), GEMMTUNE_OK);
    assert_ptr_equal(c.known, &known);
    assert_true(gt_point_equal(&c.point, &known.point));
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

/* The model's error for the record's point on the problem. */
static double error_on(const char *problem, const struct gt_known *known, size_t count) {
    static struct gt_forecasts all;
    struct gt_near near[GT_NEAR_MAX];
    const struct gt_snapshot s = {.families = families, .known = known, .count = count};
    const gemmtune_problem p = problem_of(problem);
    struct gt_lookup l = {.query = query_of(&s, &p), .model_device = h200};
    struct gt_prediction prediction;
    (void)gt_problem_name(&p, l.name);
    for (size_t i = 0; i < count; i++)
        assert_true(gt_near_classify(&near[i], &l, &known[i]));
    all.lookup = &l;
    gt_forecasts_learn(&all, near, count);
    assert_int_equal(
        gt_model_explain(&prediction, known->family, &h200, &p, &known->point, NULL),
        GEMMTUNE_OK);
    const struct gt_forecast o = {.family = known->family, .kind = -1};
    return gt_forecast_error(&all, &o, &prediction);
}

static double predicted_ns(const char *problem, const char *family, const char *point) {
    const struct gt_known k = known_of(problem, family, point, 1);
    struct gt_prediction prediction;
    assert_int_equal(
        gt_model_explain(&prediction, k.family, &h200, &k.problem, &k.point, NULL),
        GEMMTUNE_OK);
    return prediction.ns;
}

#define TILE                                                                               \
    "BM=64 BN=64 BK=32 TM=8 TN=8 STAGES=3 SLICES=2 SPLIT=1 CLUSTER=0 STREAM=0 VA=4 VB=4 "  \
    "ORDER=0 REPACK=0 MINB=1 GROUP=8"

/* Two lessons of one kernel, equally far away: one launch of a few blocks takes twice the
 * predicted time, and a device full of multiply-adds half of it. The lesson counts where
 * the same resource binds. */
static void test_like_parts(void **state) {
    static const char *const few = "f32-nn-64x64x256", *const many = "f32-nn-4096x4096x256";
    const struct gt_known known[] = {
        known_of(few, "multistage", TILE, 2 * predicted_ns(few, "multistage", TILE)),
        known_of(many, "multistage", TILE, predicted_ns(many, "multistage", TILE) / 2)};
    (void)state;
    assert_true(error_on("f32-nn-128x128x256", known, 2) > 1.7);
    assert_true(error_on("f32-nn-2048x2048x256", known, 2) < 0.6);
}

/* ---- beside -------------------------------------------------------------------------- */

/* A tile of 64 rows was right for a square problem. A thin one has no use for most of
 * them. */
static void test_smaller_tile(void **state) {
    static const char square[] = "f64-nn-1024x1024x1024";
    static const char tile[] =
        "BM=64 BN=32 BK=32 WM=32 WN=32 SLICES=2 MMA_K=8 KSTEP=8 STAGES=4 VA=2 VB=2 ODD=0 "
        "AHEAD=1 MINB=1 GROUP=1 TAIL=0 SPLIT=1 REDUCE=0";
    const struct gt_known known =
        known_of(square, "dmma", tile, predicted_ns(square, "dmma", tile));
    struct gt_choice c;
    (void)state;
    assert_int_equal(ask(&c, "f64-nn-16x1024x1024", &known), GEMMTUNE_OK);
    assert_ptr_equal(c.known, &known);
    assert_true(value_of(&c, "BM") <= 32);
    assert_non_null(strstr(c.why, " with BM="));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_like_types),
        cmocka_unit_test(test_single_for_batch),
        cmocka_unit_test(test_like_parts),
        cmocka_unit_test(test_smaller_tile),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
