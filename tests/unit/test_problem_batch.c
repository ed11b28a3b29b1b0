/* SPDX-License-Identifier: Apache-2.0 */
/* Batches and groups: strides, rows, kinds, sizes. */
#include "tests/unit/problems.h"

#include <math.h>

/* ---- batches ---- */

static gemmtune_problem settled(const char *name) {
    gemmtune_problem p;
    struct gt_err err = {""};
    (void)gt_problem_read_name(&p, name, &err);
    assert_string_equal(err.line, "");
    return p;
}

/* Packed, broadcast and a stride of the caller's are three things. */
static void test_strides(void **state) {
    gemmtune_problem p = rows(3, 5, 7), out;
    (void)state;
    p.batch = 4;
    p.lda = 10;
    p.stride_b = 0;
    p.stride_c = 100;
    assert_int_equal(gt_problem_settle(&out, NULL, &p, NULL), GEMMTUNE_OK);
    assert_int_equal(out.stride_a, 3 * 10);
    assert_int_equal(out.stride_b, 0);
    assert_int_equal(out.stride_c, 100);
    assert_int_equal(gt_problem_elems_a(&out), 3 * 30 + 2 * 10 + 7);
    assert_int_equal(gt_problem_elems_b(&out), 35);
    assert_int_equal(gt_problem_elems_c(&out), 3 * 100 + 15);
    assert_true(gt_problem_flops(&out) == 4 * 2.0 * 3 * 5 * 7);
    p.layout = GEMMTUNE_COL_MAJOR; /* strides go with their operands */
    p.lda = p.ldb = p.ldc = 0;
    p.stride_a = 1;
    assert_int_equal(gt_problem_settle(&out, NULL, &p, NULL), GEMMTUNE_OK);
    assert_int_equal(out.stride_a, 0);
    assert_int_equal(out.stride_b, 1);
    p.stride_b = -3;
    assert_refused(&p, GEMMTUNE_EINVAL,
                   "stride_b is -3, must be GEMMTUNE_PACKED or 0 or more");
}

/* Products may lie one after another or side by side, as heads of attention do. */
static void test_products_of_a_batch_do_not_overlap(void **state) {
    static const struct {
        int64_t ldc, stride, batch;
        bool apart;
    } cases[] = {
        {5, 15, 2, true},  {5, 14, 2, false},  {5, 0, 2, false},  {5, 0, 1, true},
        {20, 5, 4, true},  {19, 5, 4, false},  {20, 5, 5, false}, {20, 4, 4, false},
        {20, 45, 4, true}, {20, 44, 4, false}, {6, 17, 9, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gemmtune_problem p = rows(3, 5, 7), out;
        p.ldc = cases[i].ldc;
        p.stride_c = cases[i].stride;
        p.batch = cases[i].batch;
        assert_int_equal(gt_problem_settle(&out, NULL, &p, NULL) == GEMMTUNE_OK,
                         cases[i].apart);
    }
}

static void test_sizes_of_a_batch_fit_64_bits(void **state) {
    gemmtune_problem p = rows(65536, 65536, 65536);
    (void)state;
    p.batch = GT_DIM_MAX;
    assert_refused(&p, GEMMTUNE_EINVAL, "more bytes than 64 bits count");
    p = rows(1, 1, 1);
    p.batch = 3;
    p.stride_a = INT64_MAX;
    assert_refused(&p, GEMMTUNE_EINVAL, "A has more elements than 64 bits count");
    p.stride_a = INT64_MAX / 2;
    assert_refused(&p, GEMMTUNE_EINVAL, "more bytes than 64 bits count");
    p.batch_kind = GEMMTUNE_BATCH_POINTERS; /* has no strides */
    gemmtune_problem out;
    assert_int_equal(gt_problem_settle(&out, NULL, &p, NULL), GEMMTUNE_OK);
    assert_int_equal(out.stride_a, 1);
    p = rows(65536, 65536, 1);
    p.batch = GT_DIM_MAX;
    p.batch_kind = GEMMTUNE_BATCH_POINTERS;
    assert_refused(&p, GEMMTUNE_EINVAL, "more bytes than 64 bits count");
}

static void test_rows_of_groups(void **state) {
    const gemmtune_problem grouped = settled("f32-nn-100x5x7,groups=8,sb=64");
    const gemmtune_problem masked = settled("f32-nn-100x5x7,batch=8,masked,rows=10");
    (void)state;
    assert_int_equal(grouped.expected_rows, 13);
    assert_int_equal(gt_problem_elems_a(&grouped), 700);
    assert_int_equal(gt_problem_elems_b(&grouped), 7 * 64 + 35);
    assert_int_equal(gt_problem_elems_c(&grouped), 500);
    assert_true(gt_problem_flops(&grouped) == 2.0 * 100 * 5 * 7);
    assert_int_equal(gt_problem_elems_a(&masked), 8 * 700);
    assert_true(gt_problem_flops(&masked) == 2.0 * 8 * 10 * 5 * 7);
    assert_int_equal(settled("f32-nn-100x5x7,masked").expected_rows, 100);
    const gemmtune_problem few = settled("f32-nn-100x5x7,groups=8,rows=4");
    assert_true(gt_problem_flops(&few) == 2.0 * 32 * 5 * 7);
    assert_true(gt_problem_rows(&few) == 32 && gt_problem_rows(&masked) == 80);
    assert_int_equal(gt_problem_outputs(&grouped), 1);
    assert_int_equal(gt_problem_outputs(&masked), 8);
}

/* A matrix once, without rows that are not computed; pointers and numbers of rows. */
static void test_least_bytes(void **state) {
    static const struct {
        const char *name;
        double bytes;
    } cases[] = {
        {"f32-nn-10x5x7", 4 * (10 * 7 + 7 * 5 + 10 * 5)},
        {"f32-nn-10x5x7,lda=9,batch=3", 3 * 4 * (10 * 7 + 7 * 5 + 10 * 5)},
        {"f32-nn-10x5x7,batch=3,sa=0", 4 * (10 * 7 + 3 * (7 * 5 + 10 * 5))},
        {"f32-nn-10x5x7,batch=3,sb=0", 4 * (7 * 5 + 3 * (10 * 7 + 10 * 5))},
        {"f32-nn-10x5x7,batch=3,pointers", 3 * (4 * (10 * 7 + 7 * 5 + 10 * 5) + 3 * 8)},
        {"bf16=f32-nt-10x5x7,batch=3,masked,rows=4",
         3 * (2 * (4 * 7 + 7 * 5) + 4 * 4 * 5 + 4)},
        {"f32-nn-10x5x7,batch=3,masked,rows=4,sa=0",
         4 * (4 * 7 + 3 * (7 * 5 + 4 * 5)) + 3 * 4},
        {"f32-nn-100x5x7,groups=8", 4 * (100 * 7 + 8 * 7 * 5 + 100 * 5) + 8 * 4},
        {"f32-nn-100x5x7,groups=8,rows=4", 4 * (32 * 7 + 8 * 7 * 5 + 32 * 5) + 8 * 4},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const gemmtune_problem p = settled(cases[i].name);
        if (!(fabs(gt_problem_least_bytes(&p) - cases[i].bytes) < 1))
            fail_msg("%s: %g bytes, not %g", cases[i].name, gt_problem_least_bytes(&p),
                     cases[i].bytes);
    }
}

static void test_kinds(void **state) {
    static const char *const names[] = {
        "f32-nn-64x64x64",
        "bf16-nn-64x64x64",
        "f32-nt-64x64x64",
        "f32-nn-64x64x64,batch=2",
        "f32-nn-64x64x64,batch=2,pointers",
        "f32-nn-64x64x64,groups=2",
        "f32-nn-64x64x64,batch=2,masked",
        "f32-nn-64x64x64,row_order",
        "f32-nn-64x64x64,epi=relu",
        "f32-nn-64x64x64,epi=gelu",
    };
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (size_t j = 0; j < sizeof names / sizeof *names; j++) {
            const gemmtune_problem x = settled(names[i]), y = settled(names[j]);
            assert_int_equal(gt_problem_same_kind(&x, &y), i == j);
        }
    const gemmtune_problem x = settled(names[3]);
    const gemmtune_problem y = settled("f32-nn-64x64x64,batch=8");
    assert_true(gt_problem_same_kind(&x, &y));
    assert_true(gt_problem_distance2(&x, &y) == 4);
    /* a problem with row_order may take a free kernel, and gives none */
    const gemmtune_problem free_choice = settled(names[0]), in_order = settled(names[7]);
    assert_true(gt_problem_lends(&free_choice, &in_order));
    assert_false(gt_problem_lends(&in_order, &free_choice));
    const gemmtune_problem short_name = settled(names[8]);
    const gemmtune_problem long_name = settled("f32-nn-64x64x64,epi=d=relu((x))");
    assert_true(gt_problem_same_kind(&short_name, &long_name));
}

static void test_operands_too_large_for_int64_bytes(void **state) {
    gemmtune_problem p = rows(GT_DIM_MAX, 1, GT_DIM_MAX);
    (void)state;
    assert_refused(
        &p, GEMMTUNE_EINVAL,
        "A has 4611686014132420609 elements of f32: more bytes than 64 bits count");
    p = rows(GT_DIM_MAX, GT_DIM_MAX, 1);
    assert_refused(&p, GEMMTUNE_EINVAL, "C has");
    p = rows(1, GT_DIM_MAX, GT_DIM_MAX);
    p.layout = GEMMTUNE_COL_MAJOR;
    assert_refused(&p, GEMMTUNE_EINVAL, "B has");
}

static void test_what_does_not_matter_is_made_equal(void **state) {
    gemmtune_problem p = rows(3, 5, 7);
    gemmtune_problem q = p;
    (void)state;
    q.lda = 7;
    q.stride_a = 1000; /* batch is 1 */
    q.reads_c = p.reads_c = -1;
    gemmtune_problem p_out;
    gemmtune_problem q_out;
    assert_int_equal(gt_problem_canonical(&p_out, NULL, &p, NULL), GEMMTUNE_OK);
    assert_int_equal(gt_problem_canonical(&q_out, NULL, &q, NULL), GEMMTUNE_OK);
    assert_same(&p_out, &q_out);
    assert_int_equal(p_out.reads_c, 1);
    gemmtune_problem_init(&p, GEMMTUNE_F64, 1, 1, 1);
    p.math = GEMMTUNE_MATH_TF32; /* speaks of f32 inputs only */
    assert_int_equal(gt_problem_canonical(&p_out, NULL, &p, NULL), GEMMTUNE_OK);
    assert_int_equal(p_out.math, GEMMTUNE_MATH_STRICT);
}

/* A vector load may begin where every matrix of the batch allows it. */
static void test_strides_align_like_rows(void **state) {
    static const struct {
        int64_t ld, stride, expected;
    } cases[] = {
        {8, 64, 16}, {8, 0, 16}, {8, 66, 8}, {8, 65, 4}, {6, 64, 8}, {8, INT64_MAX / 4, 4},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(gt_row_align(cases[i].ld, cases[i].stride, GEMMTUNE_F32, 256),
                         cases[i].expected);
}

static void test_what_is_a_batch(void **state) {
    static const struct {
        const char *name;
        bool is;
    } cases[] = {
        {"f32-nn-3x5x7", false},         {"f32-nn-3x5x7,batch=1,sa=0", false},
        {"f32-nn-3x5x7,batch=2", true},  {"f32-nn-3x5x7,batch=1,pointers", true},
        {"f32-nn-8x5x7,groups=1", true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const gemmtune_problem p = settled(cases[i].name);
        assert_int_equal(gt_problem_is_batch(&p), cases[i].is);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strides),
        cmocka_unit_test(test_strides_align_like_rows),
        cmocka_unit_test(test_what_is_a_batch),
        cmocka_unit_test(test_products_of_a_batch_do_not_overlap),
        cmocka_unit_test(test_sizes_of_a_batch_fit_64_bits),
        cmocka_unit_test(test_rows_of_groups),
        cmocka_unit_test(test_least_bytes),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_operands_too_large_for_int64_bytes),
        cmocka_unit_test(test_what_does_not_matter_is_made_equal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
