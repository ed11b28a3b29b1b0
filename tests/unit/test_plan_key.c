/* SPDX-License-Identifier: Apache-2.0 */
/* test_plan_key.c - two problems have one key when they have one name. */
#include "runtime/plan/plan_key.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* All of these differ, each in one thing. */
static const char *const names[] = {
    "f32-nn-64x64x64",
    "tf32-nn-64x64x64",
    "f64-nn-64x64x64",
    "f32=f64-nn-64x64x64",
    "f32@f64-nn-64x64x64",
    "f32-nt-64x64x64",
    "f32-tn-64x64x64",
    "f32-nn-65x64x64",
    "f32-nn-64x65x64",
    "f32-nn-64x64x65",
    "f32-nn-64x64x64,lda=65",
    "f32-nn-64x64x64,ldb=65",
    "f32-nn-64x64x64,ldc=65",
    "f32-nn-64x64x64,beta",
    "f32-nn-64x64x64,packed_b",
    "f32-nn-64x64x64,row_order",
    "f32-nn-64x64x64,epi=relu",
    "f32-nn-64x64x64,epi=gelu",
    "f32-nn-64x64x64,batch=2",
    "f32-nn-64x64x64,batch=3",
    "f32-nn-64x64x64,batch=2,sa=0",
    "f32-nn-64x64x64,batch=2,sb=0",
    "f32-nn-64x64x64,batch=2,sc=9999",
    "f32-nn-64x64x64,batch=2,pointers",
    "f32-nn-64x64x64,batch=2,pointers,align=8",
    "f32-nn-64x64x64,batch=2,masked",
    "f32-nn-64x64x64,batch=2,masked,rows=5",
    "f32-nn-64x64x64,groups=2",
    "f32-nn-64x64x64,groups=2,rows=5",
};

enum { COUNT = sizeof names / sizeof *names };

static struct gt_plan_key key_of(const char *name) {
    gemmtune_problem p;
    assert_int_equal(gt_problem_read_name(&p, name, NULL), GEMMTUNE_OK);
    return gt_plan_key_of(&p, 0);
}

static void test_workspace_is_part_of_the_key(void **state) {
    gemmtune_problem p;
    (void)state;
    assert_int_equal(gt_problem_read_name(&p, names[0], NULL), GEMMTUNE_OK);
    const struct gt_plan_key none = gt_plan_key_of(&p, 0), some = gt_plan_key_of(&p, 4096),
                             again = gt_plan_key_of(&p, 4096);
    assert_false(gt_plan_key_same(&none, &some));
    assert_true(gt_plan_key_same(&some, &again));
}

static void test_one_name_one_key(void **state) {
    (void)state;
    for (int i = 0; i < COUNT; i++)
        for (int j = 0; j < COUNT; j++) {
            char copy[GT_PROBLEM_NAME_MAX]; /* an epilogue is compared, not its address */
            memcpy(copy, names[j], strlen(names[j]) + 1);
            const struct gt_plan_key x = key_of(names[i]), y = key_of(copy);
            assert_int_equal(gt_plan_key_same(&x, &y), i == j);
            if (i == j)
                assert_true(gt_plan_key_hash(&x) == gt_plan_key_hash(&y));
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_one_name_one_key),
                                       cmocka_unit_test(test_workspace_is_part_of_the_key)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
