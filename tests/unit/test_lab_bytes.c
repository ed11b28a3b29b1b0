/* SPDX-License-Identifier: Apache-2.0 */
/* Device bytes of a case and of a problem in the lab. */
#include "tuner/lab/check_internal.h"
#include "tuner/lab/lab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static gemmtune_problem problem_of(const char *name) {
    gemmtune_problem p;
    struct gt_err err = {""};
    if (gt_problem_from_name(&p, name, &err) != GEMMTUNE_OK)
        fail_msg("%s", err.line);
    return p;
}

static void test_small(void **state) {
    const gemmtune_problem p = problem_of("f32-nn-8x8x8");
    const int64_t operand = 8 * 8 * 4 + 2 * GT_GUARD;
    const int64_t reference = 8 * 8 * (int64_t)gt_type_size(gt_type_wide(p.type_acc));
    (void)state;
    assert_int_equal(gt_case_bytes(&p), 2 * operand + 2 * reference);
}

/* The ranges take four times C. Each operand is there twice; those in a single row are not
 * counted. */
static void test_epilogue(void **state) {
    const gemmtune_problem p =
        problem_of("f32-nn-6x5x4,batch=3,epi=s:f32;d=x*s*u[z]+q[i]+b[j]+r[i,j]+v[z,j]");
    const int64_t c = 3 * 6 * 5 * 4, v = 3 * 5 * 4;
    (void)state;
    assert_int_equal(gt_fused_bytes(&p), 4 * c + 2 * c + 2 * v);
}

/* Each has a C of 2^62 bytes. Neither a sum nor a product may pass INT64_MAX. */
static void test_largest(void **state) {
    static const char *const names[] = {"f32-nn-1073741824x1073741824x1",
                                        "f16-nn-1073741824x2147483647x1",
                                        "i32-nn-1073741824x1073741824x8"};
    const struct gt_device device = {.mem_bytes = INT64_C(1) << 34,
                                     .max_alloc = INT64_C(1) << 34};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const gemmtune_problem p = problem_of(names[i]);
        assert_true(gt_case_bytes(&p) > INT64_C(1) << 62);
        assert_int_equal(gt_lab_bytes(&p, &device), INT64_MAX);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_small),
                                       cmocka_unit_test(test_epilogue),
                                       cmocka_unit_test(test_largest)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
