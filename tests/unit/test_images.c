/* SPDX-License-Identifier: Apache-2.0 */
/* test_images.c - the images that a run has asked for: which problems share them, and the
 * set. */
#include "tests/unit/h200_families.h"
#include "tuner/tune/images.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t kind_of(const char *family, const char *problem) {
    gemmtune_problem p;
    assert_int_equal(gt_problem_read_name(&p, problem, NULL), GEMMTUNE_OK);
    return gt_images_kind(gt_families_find(families, family), &device, &p);
}

static void test_problems_that_share_images(void **state) {
    static const struct {
        const char *family, *one, *other;
        bool share;
    } rows[] = {
        {"multistage", "f32-nn-500x300x200", "f32-nn-64x64x64", true},
        {"multistage", "f32-nn-500x300x200", "f32-nt-500x300x200", false},
        {"multistage", "f32-nn-500x300x200", "i32-nn-500x300x200", false},
        {"multistage", "f32-nn-500x300x200", "f32-nn-500x300x200,beta", true},
        {"multistage", "f32-nn-500x300x200", "f32-nn-500x300x200,epi=bias", false},
        {"multistage", "f32-nn-500x300x200", "f32-nn-500x300x200,batch=9", false},
        {"mma", "bf16-nn-100x80x128,batch=3", "bf16-nn-64x72x136,batch=90", true},
        /* variants of the source, and a family with the problem's numbers in it */
        {"wgmma", "bf16-nt-100x80x128", "bf16-nt-100x80x136", true},
        {"pipeline", "f32-nn-8x8x8,batch=30", "f32-nn-8x8x8,batch=70", true},
        {"pipeline", "f32-nn-8x8x8,batch=30", "f32-nn-8x8x9,batch=30", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const uint64_t one = kind_of(rows[i].family, rows[i].one);
        const uint64_t other = kind_of(rows[i].family, rows[i].other);
        if (one == 0 || other == 0 || (one == other) != rows[i].share)
            fail_msg("%s: %s and %s", rows[i].family, rows[i].one, rows[i].other);
    }
}

static void test_the_set(void **state) {
    struct gt_images set = {0};
    struct gt_space space;
    gemmtune_problem p;
    (void)state;
    assert_int_equal(gt_problem_from_name(&p, "f32-nn-512x512x512", NULL), GEMMTUNE_OK);
    assert_int_equal(
        gt_space_create(&space, gt_families_find(families, "block"), &device, &p, NULL),
        GEMMTUNE_OK);
    assert_true(space.count > 3000);
    assert_false(gt_images_has(&set, 7, &space, 0));
    for (size_t i = 0; i < 3000; i += 2) {
        gt_images_add(&set, 7, &space, i);
        gt_images_add(&set, 7, &space, i);
        gt_images_add(&set, 0, &space, i);
    }
    assert_int_equal(set.count, 1500);
    for (size_t i = 0; i < 3000; i++) {
        assert_true(gt_images_has(&set, 7, &space, i) == (i % 2 == 0));
        assert_false(gt_images_has(&set, 8, &space, i));
        assert_false(gt_images_has(&set, 0, &space, i));
    }
    gt_images_clear(&set);
    assert_false(gt_images_has(&set, 7, &space, 0));
    gt_space_clear(&space);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_problems_that_share_images),
        cmocka_unit_test(test_the_set),
    };
    return cmocka_run_group_tests_name("images", tests, setup, teardown);
}
