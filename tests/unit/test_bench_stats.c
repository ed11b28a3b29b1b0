/* SPDX-License-Identifier: Apache-2.0 */
/* Verdicts, ratios and means for times with known answers. */
#include "tuner/bench/bench_stats.h"
#include "tuner/lab/ratio.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void assert_near(double got, double want) {
    if (fabs(got - want) > 1e-6 * fabs(want))
        fail_msg("%.9g, not %.9g", got, want);
}

/* samples first, first + step, ... */
static struct gt_measurement times(int count, double first, double step) {
    struct gt_measurement m = {.samples = count};
    for (int i = 0; i < count; i++)
        m.sample_ns[i] = (float)(first + i * step);
    gt_measurement_summarize(&m);
    return m;
}

static void test_classes(void **state) {
    static const struct {
        int64_t m, n, k;
        const char *class;
    } rows[] = {
        {512, 512, 512, "small"},     {7, 5, 3, "small"},
        {513, 1, 1, "skinny"},        {32, 32, 60000, "deep"},
        {256, 256, 2048, "deep"},     {256, 256, 2047, "odd"},
        {256, 256, 2044, "wide"},     {2560, 64, 2560, "skinny"},
        {2560, 65, 2560, "odd"},      {2560, 68, 2560, "wide"},
        {35, 700, 2048, "skinny"},    {4096, 4096, 32, "flat"},
        {4096, 4096, 64, "flat"},     {4096, 4095, 68, "odd"},
        {1021, 1031, 1033, "odd"},    {1021, 1021, 1021, "odd"},
        {1024, 1024, 1024, "square"}, {1024, 1024, 1028, "wide"},
        {5124, 700, 2048, "wide"},    {64, 1, 1216, "deep"},
        {1, 2147483647, 1, "skinny"}, {1, 1, 2147483647, "deep"},
        {65, 65, 2147483647, "deep"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gemmtune_problem p;
        gemmtune_problem_init(&p, GEMMTUNE_F32, rows[i].m, rows[i].n, rows[i].k);
        assert_string_equal(gt_shape_class(&p), rows[i].class);
    }
}

static void test_class_names(void **state) {
    const char *name, *about = NULL, *last = "";
    size_t count = 0;
    (void)state;
    for (; (name = gt_shape_class_at(count, &about)) != NULL; count++) {
        assert_true(name[0] != '\0' && about[0] != '\0');
        last = name;
    }
    assert_int_equal(count, 7);
    assert_string_equal(last, "wide"); /* the class that fits every shape is the last one */
}

static void test_ratio(void **state) {
    const struct gt_measurement ours = times(9, 100, 10), twice = times(9, 200, 20);
    struct gt_measurement r;
    (void)state;
    /* sample by sample: a drift that both have does not widen it */
    gt_ratio_of(&r, &twice, &ours);
    assert_int_equal(r.samples, 9);
    assert_near(r.median_ns, 2);
    assert_near(r.low_ns, 2);
    assert_near(r.high_ns, 2);
    assert_near(gt_ratio_floor(&r), 1);
    gt_ratio_of(&r, &ours, &ours);
    assert_true(gt_ratio_floor(&r) == 0);
    /* the shorter of the two counts */
    const struct gt_measurement three = times(3, 50, 0);
    gt_ratio_of(&r, &three, &ours);
    assert_int_equal(r.samples, 3);
    assert_near(r.median_ns, 50.0 / 110);
    assert_near(r.high_ns, 0.5);
}

/* Rounds that one side missed at its start are left out of the other side, too. */
static void test_ratio_of_common_rounds(void **state) {
    struct gt_measurement theirs = times(5, 200, 20), ours = times(5, 100, 10), r;
    (void)state;
    theirs.unsettled = 2; /* its samples are of the rounds 2 to 6, ours of 0 to 4 */
    gt_ratio_of(&r, &theirs, &ours);
    assert_int_equal(r.samples, 3);
    assert_near(r.sample_ns[0], 200.0 / 120);
    assert_near(r.sample_ns[2], 240.0 / 140);
    gt_ratio_of(&r, &ours, &theirs);
    assert_int_equal(r.samples, 3);
    assert_near(r.sample_ns[0], 120.0 / 200);
    assert_near(gt_ratio_median(&theirs, &ours), 220.0 / 130);
    for (int missed = 5; missed < 8; missed++) {
        theirs.unsettled = missed;
        gt_ratio_of(&r, &theirs, &ours);
        assert_int_equal(r.samples, 0);
        assert_true(r.median_ns == 0 && r.low_ns == 0 && r.high_ns == 0);
        assert_near(gt_ratio_median(&theirs, &ours), 240.0 / 120);
    }
}

/* Eleven ratios, 1 +- i/100 for i up to 5: the interval of 95 % leaves out the outermost
 * one on each side. */
static void test_floor(void **state) {
    const struct gt_measurement one = times(11, 1, 0), spread = times(11, 0.95, 0.01);
    struct gt_measurement r;
    (void)state;
    gt_ratio_of(&r, &spread, &one);
    assert_true(fabs(r.median_ns - 1) < 1e-6);
    assert_true(fabs(gt_ratio_floor(&r) - 0.04) < 1e-6);
    const struct gt_measurement lopsided = times(11, 0.99, 0.01);
    gt_ratio_of(&r, &lopsided, &one);
    assert_true(fabs(gt_ratio_floor(&r) - 0.08) < 1e-6);
}

static void test_verdicts(void **state) {
    static const struct {
        double low, ratio, high, floor;
        enum gt_verdict verdict;
    } rows[] = {
        {1.01, 1.10, 1.20, 0, GT_WIN},     {1.00, 1.10, 1.20, 0, GT_TIE},
        {0.80, 0.90, 0.99, 0, GT_LOSS},    {0.80, 0.90, 1.00, 0, GT_TIE},
        {0.90, 1.05, 1.20, 0, GT_TIE},     {0.97, 0.98, 0.99, 0, GT_LOSS},
        {1.05, 1.10, 1.20, 0.04, GT_WIN},  {1.05, 1.10, 1.20, 0.06, GT_TIE},
        {0.80, 0.90, 0.95, 0.04, GT_LOSS}, {0.80, 0.90, 0.95, 0.06, GT_TIE},
        {2.00, 5.00, 6.00, 0, GT_NOISY},   {0.20, 0.30, 0.40, 0, GT_NOISY},
        {0.50, 1.00, 2.00, 0, GT_NOISY},   {4.10, 5.00, 6.00, 0, GT_WIN},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct gt_measurement ratio = {
            .median_ns = rows[i].ratio, .low_ns = rows[i].low, .high_ns = rows[i].high};
        assert_int_equal(gt_verdict_of(&ratio, rows[i].floor), rows[i].verdict);
    }
    assert_string_equal(gt_verdict_word(GT_WIN), "win");
    assert_string_equal(gt_verdict_word(GT_TIE), "tie");
    assert_string_equal(gt_verdict_word(GT_LOSS), "loss");
    assert_string_equal(gt_verdict_word(GT_NOISY), "noisy");
    assert_string_equal(gt_verdict_word(GT_NO_VERDICT), "");
}

static void test_tally(void **state) {
    struct gt_tally t = {0};
    (void)state;
    assert_true(gt_tally_geomean(&t) == 0);
    gt_tally_add(&t, GT_NO_VERDICT, 0); /* a line without a baseline */
    assert_int_equal(gt_tally_count(&t), 0);
    gt_tally_add(&t, GT_WIN, 8);
    gt_tally_add(&t, GT_LOSS, 0.5);
    gt_tally_add(&t, GT_TIE, 2);
    assert_int_equal(t.wins, 1);
    assert_int_equal(t.ties, 1);
    assert_int_equal(t.losses, 1);
    assert_int_equal(gt_tally_count(&t), 3);
    assert_near(gt_tally_geomean(&t), 2);
}

/* Bound by arithmetic, bound by memory, and not known. */
static void test_roofline(void **state) {
    struct gt_device d = {.backend = GEMMTUNE_CUDA,
                          .cc = 61,
                          .units = 1,
                          .clock_mhz = 1000,
                          .mem_clock_mhz = 1000,
                          .bus_bits = 64};
    const double peak = gt_device_peak(&d, gt_dtype_at(0)), bytes = gt_device_bandwidth(&d);
    gemmtune_problem p;
    (void)state;
    assert_true(peak > 0 && bytes > 0);
    gemmtune_problem_init(&p, GEMMTUNE_F32, 2048, 2048, 2048);
    assert_near(gt_roofline_ns(&p, &d), 2e9 * 2048.0 * 2048 * 2048 / peak);
    gemmtune_problem_init(&p, GEMMTUNE_F32, 1, 1000, 1000);
    assert_near(gt_roofline_ns(&p, &d), 1e9 * 4 * (1000 + 1000 * 1000 + 1000) / bytes);
    d.mem_clock_mhz = 0;
    assert_true(gt_roofline_ns(&p, &d) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_classes), cmocka_unit_test(test_class_names),
        cmocka_unit_test(test_ratio),   cmocka_unit_test(test_ratio_of_common_rounds),
        cmocka_unit_test(test_floor),   cmocka_unit_test(test_verdicts),
        cmocka_unit_test(test_tally),   cmocka_unit_test(test_roofline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
