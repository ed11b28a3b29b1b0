/* SPDX-License-Identifier: Apache-2.0 */
/* test_doubtful.c - problems in the order of what lookups expect to lose on them. With the
 * built-in families and an H200. */
#include "tuner/tune/doubtful.h"

#include "tests/unit/shipped_families.h"
#include "tuner/base/choose.h"

#include <math.h>

/* The loss that a lookup without records expects; -1: it finds no kernel. */
static double loss_of(const gemmtune_problem *p, const struct gt_device *d) {
    const struct gt_snapshot snapshot = {.families = families};
    struct gt_choice c;
    return gt_choose_from(&c, &snapshot, d, p, SIZE_MAX, NULL) == GEMMTUNE_OK
               ? c.expected_loss
               : -1;
}

static void add(struct gt_sweep *s, const char *name) {
    assert_int_equal(gt_sweep_add(s, name, NULL), GEMMTUNE_OK);
}

/* The largest loss first, and f64 last on a device without it. Equal losses keep their
 * order. */
static void test_order(void **state) {
    static const char *const names[] = {
        "f64-nn-64x64x64",   "f32-nn-64x64x64", "f32-nn-37x41x9000", "bf16-tt-5x4001x33",
        "f32-tn-501x77x900", "f32-nn-96x96x96", "i8-nn-3x999x70",    "bf16-nt-7x77x777"};
    enum { COUNT = sizeof names / sizeof *names };
    struct gt_device d = h200;
    struct gt_sweep s = {0}, before = {0};
    struct gt_doubts sum;
    (void)state;
    d.has_f64 = false;
    for (int i = 0; i < COUNT; i++) {
        add(&s, names[i]);
        add(&before, names[i]);
    }
    assert_int_equal(gt_doubtful_sort(&sum, &s, NULL, families, &d, NULL), GEMMTUNE_OK);
    assert_int_equal(s.count, COUNT);
    assert_int_equal(sum.served, COUNT - 1);
    assert_string_equal(s.item[COUNT - 1].name, names[0]);
    assert_true(sum.most > sum.least);
    assert_true(loss_of(&s.item[0].problem, &d) == sum.most);
    assert_true(loss_of(&s.item[COUNT - 2].problem, &d) == sum.least);
    for (size_t i = 1; i < COUNT; i++) {
        const double more = loss_of(&s.item[i - 1].problem, &d),
                     less = loss_of(&s.item[i].problem, &d);
        assert_true(more >= less);
        for (size_t j = 0; more == less && j < COUNT; j++) {
            if (strcmp(before.item[j].name, s.item[i - 1].name) == 0)
                break;
            assert_string_not_equal(before.item[j].name, s.item[i].name);
        }
    }
    gt_sweep_clear(&s);
    gt_sweep_clear(&before);
}

/* Without problems, and without one that has a kernel. */
static void test_nothing(void **state) {
    struct gt_device d = h200;
    struct gt_sweep s = {0};
    (void)state;
    d.has_f64 = false;
    for (size_t count = 0; count < 2; count++) {
        struct gt_doubts sum = {9, 9, -1, -1};
        assert_int_equal(gt_doubtful_sort(&sum, &s, NULL, families, &d, NULL), GEMMTUNE_OK);
        assert_int_equal(s.count, count);
        assert_true(sum.served == 0 && sum.unknown == 0 && sum.least == 0 && sum.most == 0);
        add(&s, "f64-nn-64x64x64");
    }
    gt_sweep_clear(&s);
}

/* Without records nothing is known of a GPU's kernels on a CPU: no loss is named. */
static void test_unknown(void **state) {
    struct gt_device d = /* with too little shared memory for the kernels of CPUs */
        MADE_UP(.is_cpu = true, .units = 2, .has_f64 = true, .smem_max = 4096);
    d.backend = GEMMTUNE_OPENCL;
    d.max_threads = 4096;
    struct gt_sweep s = {0};
    struct gt_doubts sum;
    struct gt_choice c;
    char text[GT_CELL_MAX];
    const struct gt_snapshot snapshot = {.families = families};
    (void)state;
    add(&s, "f32-nn-64x64x64");
    assert_int_equal(gt_doubtful_sort(&sum, &s, NULL, families, &d, NULL), GEMMTUNE_OK);
    assert_true(sum.served == 1 && sum.unknown == 1 && sum.least == 0 && sum.most == 0);
    assert_int_equal(gt_choose_from(&c, &snapshot, &d, &s.item[0].problem, SIZE_MAX, NULL),
                     GEMMTUNE_OK);
    assert_string_equal(gt_expected_loss(text, &c), "unknown");
    assert_true(isnan(gt_expected_percent(&c)));
    c.expected_loss = 0.25;
    assert_string_equal(gt_expected_loss(text, &c), "25 % expected");
    assert_true(gt_expected_percent(&c) == 25);
    gt_sweep_clear(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_order),
                                       cmocka_unit_test(test_nothing),
                                       cmocka_unit_test(test_unknown)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
