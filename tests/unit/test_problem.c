/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/problems.h"

/* ---- canonical form ---- */

static void test_column_major_is_exchanged(void **state) {
    gemmtune_problem p = rows(3, 5, 7);
    gemmtune_problem out;
    bool swapped = false;
    char name[GT_PROBLEM_NAME_MAX];
    (void)state;
    p.layout = GEMMTUNE_COL_MAJOR;
    p.trans_b = GEMMTUNE_TRANS; /* B is n x k, stored in columns of n */
    p.lda = 11;
    p.ldb = 13;
    p.ldc = 17;
    assert_int_equal(gt_problem_canonical(&out, &swapped, &p, NULL), GEMMTUNE_OK);
    assert_true(swapped);
    (void)gt_problem_name(&out, name);
    assert_string_equal(name, "f32-tn-5x3x7,lda=13,ldb=11,ldc=17");
    assert_int_equal(gt_problem_canonical(&out, &swapped, &out, NULL), GEMMTUNE_OK);
    assert_false(swapped);
}

static double element(const double *x, int64_t row, int64_t col, int64_t ld,
                      int by_columns) {
    return by_columns ? x[col * ld + row] : x[row * ld + col];
}

/* C[i,j] of problem p by its own layout. */
static double product(const gemmtune_problem *p, const double *a, const double *b,
                      int64_t i, int64_t j) {
    const int columns = p->layout == GEMMTUNE_COL_MAJOR;
    double sum = 0;
    for (int64_t l = 0; l < p->k; l++)
        sum += (p->trans_a ? element(a, l, i, p->lda, columns)
                           : element(a, i, l, p->lda, columns)) *
               (p->trans_b ? element(b, j, l, p->ldb, columns)
                           : element(b, l, j, p->ldb, columns));
    return sum;
}

/* The exchange computes the same C in the same memory, for every layout. */
static void test_exchange_computes_the_same(void **state) {
    double x[200];
    double y[200];
    (void)state;
    for (int i = 0; i < 200; i++) {
        x[i] = i * i % 17 - 8;
        y[i] = i * 5 % 23 - 11;
    }
    for (int layout = 0; layout < 4; layout++) {
        gemmtune_problem p;
        gemmtune_problem q;
        gemmtune_problem_init(&p, GEMMTUNE_F32, 3, 4, 5);
        p.trans_a = (gemmtune_trans)(layout / 2);
        p.trans_b = (gemmtune_trans)(layout % 2);
        p.lda = 9;
        p.ldb = 8;
        p.ldc = 6;
        assert_int_equal(gt_problem_canonical(&q, NULL, &p, NULL), GEMMTUNE_OK);
        for (int64_t i = 0; i < 3; i++)
            for (int64_t j = 0; j < 4;
                 j++) /* C[i,j] lies at j * 6 + i: row j, column i of q */
                assert_true(product(&p, x, y, i, j) == product(&q, y, x, j, i));
    }
}

static void test_members_out_of_range_are_named(void **state) {
    static const struct {
        size_t at;
        int64_t value;
        const char *said;
    } cases[] = {
        {offsetof(gemmtune_problem, m), -1, "m is -1, must be from 0 to 2147483647"},
        {offsetof(gemmtune_problem, n), GT_DIM_MAX + 1, "n is 2147483648, must be from 0"},
        {offsetof(gemmtune_problem, k), INT64_MIN, "k is -9223372036854775808"},
        {offsetof(gemmtune_problem, lda), -1, "lda is -1"},
        {offsetof(gemmtune_problem, lda), 6, "lda is 6, must be 0 (packed) or at least 7"},
        {offsetof(gemmtune_problem, ldb), 4, "ldb is 4, must be 0 (packed) or at least 5"},
        {offsetof(gemmtune_problem, ldc), 4, "ldc is 4, must be 0 (packed) or at least 5"},
        {offsetof(gemmtune_problem, ldc), GT_DIM_MAX + 1,
         "ldc is 2147483648, must be at most 2147483647 where there is more than one row"},
        {offsetof(gemmtune_problem, lda), INT64_MAX, "lda is 9223372036854775807, must be"},
        {offsetof(gemmtune_problem, batch), -1, "batch is -1, must be from 0"},
        {offsetof(gemmtune_problem, batch), GT_DIM_MAX + 1, "batch is 2147483648"},
        {offsetof(gemmtune_problem, expected_rows), -1, "expected_rows is -1"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gemmtune_problem p = rows(3, 5, 7);
        memcpy((char *)&p + cases[i].at, &cases[i].value, sizeof cases[i].value);
        assert_refused(&p, GEMMTUNE_EINVAL, cases[i].said);
    }
}

/* BLAS takes any leading dimension of a single row, and none of them has an effect. */
static void test_a_single_row_has_any_leading_dimension(void **state) {
    const int64_t sizes[] = {GT_DIM_MAX + 1, INT64_C(1) << 40, INT64_MAX};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        gemmtune_problem p = rows(1, 5, 7), q;
        char name[GT_PROBLEM_NAME_MAX];
        p.lda = p.ldc = sizes[i];
        assert_int_equal(gt_problem_canonical(&q, NULL, &p, NULL), GEMMTUNE_OK);
        (void)gt_problem_name(&q, name);
        assert_string_equal(name, "f32-nn-1x5x7");
        p.ldb = sizes[i]; /* B has seven rows */
        assert_refused(&p, GEMMTUNE_EINVAL,
                       "where there is more than one row or column of B");
        p = rows(3, 5, 0); /* A and B are empty */
        p.ldb = sizes[i];
        assert_int_equal(gt_problem_canonical(&q, NULL, &p, NULL), GEMMTUNE_OK);
        assert_int_equal(q.ldb, 5);
    }
    /* the rows of a batch are still so far apart */
    gemmtune_problem p = rows(1, 5, 7), q;
    p.batch = 3;
    p.lda = GT_DIM_MAX + 1;
    assert_int_equal(gt_problem_canonical(&q, NULL, &p, NULL), GEMMTUNE_OK);
    assert_int_equal(q.lda, 7);
    assert_int_equal(q.stride_a, GT_DIM_MAX + 1);
    p.lda = INT64_MAX;
    assert_refused(&p, GEMMTUNE_EINVAL, "A has more elements than 64 bits count");
    p = rows(1, 5, 7); /* in columns each of the seven of A follows the other */
    p.layout = GEMMTUNE_COL_MAJOR;
    p.lda = GT_DIM_MAX + 1;
    assert_refused(&p, GEMMTUNE_EINVAL,
                   "lda is 2147483648, must be at most 2147483647 where there is more than "
                   "one row or column of A");
}

/* No products: nothing to do, but the other members are checked as always. */
static void test_an_empty_batch(void **state) {
    const gemmtune_batch_kind kinds[] = {GEMMTUNE_BATCH_STRIDED, GEMMTUNE_BATCH_POINTERS,
                                         GEMMTUNE_GROUPED_ROWS, GEMMTUNE_MASKED_ROWS};
    (void)state;
    for (size_t i = 0; i < 4; i++)
        for (int packed = 0; packed < 2; packed++) {
            gemmtune_problem p = rows(3, 5, 7), q, again;
            p.batch = 0;
            p.batch_kind = kinds[i];
            p.packed_b = packed;
            p.ldc = 9;
            assert_int_equal(gt_problem_canonical(&q, NULL, &p, NULL), GEMMTUNE_OK);
            assert_true(q.m == 0 && q.n == 0 && q.batch == 1);
            assert_int_equal(gt_problem_elems_a(&q), 0);
            assert_int_equal(gt_problem_elems_b(&q), 0);
            assert_int_equal(gt_problem_elems_c(&q), 0);
            assert_int_equal(gt_problem_canonical(&again, NULL, &q, NULL), GEMMTUNE_OK);
            assert_same(&again, &q); /* it is canonical */
            p.ldc = 4;
            assert_refused(&p, GEMMTUNE_EINVAL, "ldc is 4");
        }
}

static void test_enums_out_of_range_are_named(void **state) {
    gemmtune_problem p = rows(3, 5, 7);
    (void)state;
    p.layout = (gemmtune_layout)2;
    assert_refused(&p, GEMMTUNE_EINVAL, "layout is 2, not a value of its enum");
    p = rows(3, 5, 7);
    p.trans_b = (gemmtune_trans)5;
    assert_refused(&p, GEMMTUNE_EINVAL, "trans_b is 5");
    p = rows(3, 5, 7);
    p.type_acc = (gemmtune_dtype)8;
    assert_refused(&p, GEMMTUNE_EINVAL, "type_acc is 8");
    p = rows(3, 5, 7);
    p.math = (gemmtune_math)99;
    assert_refused(&p, GEMMTUNE_EINVAL, "math is 99");
    p = rows(3, 5, 7);
    p.batch_kind = (gemmtune_batch_kind)4;
    assert_refused(&p, GEMMTUNE_EINVAL, "batch_kind is 4");
    p = rows(3, 5, 7);
    p.pointer_align = 16;
    assert_refused(&p, GEMMTUNE_EINVAL,
                   "pointer_align is 16, but the batch has no pointers");
    p.batch_kind = GEMMTUNE_BATCH_POINTERS;
    p.pointer_align = 12;
    assert_refused(&p, GEMMTUNE_EINVAL, "pointer_align is 12, must be 0 or a power of two");
}

static void test_struct_size_is_checked(void **state) {
    gemmtune_problem p = rows(3, 5, 7);
    (void)state;
    p.struct_size = 0;
    assert_refused(&p, GEMMTUNE_EINVAL,
                   "struct_size of the problem is 0, must be 152 or "
                   "more: call gemmtune_problem_init first");
    p.struct_size = 0xAAAAAAAA; /* was never set */
    assert_refused(&p, GEMMTUNE_EINVAL, "struct_size of the problem is 2863311530");
}

/* A program made with a newer header: its extra members are accepted as long as they are
 * unused. */
static void test_a_longer_struct_is_taken(void **state) {
    struct {
        gemmtune_problem p;
        int64_t later;
    } newer = {.p = rows(3, 5, 7)};
    gemmtune_problem out;
    (void)state;
    newer.p.struct_size = sizeof newer;
    assert_int_equal(gt_problem_canonical(&out, NULL, &newer.p, NULL), GEMMTUNE_OK);
    assert_int_equal(out.struct_size, sizeof out);
    newer.later = 1;
    assert_refused(&newer.p, GEMMTUNE_EUNSUPPORTED,
                   "a member of the problem is not known to library version ");
    memset(&newer, 0xAA, sizeof newer);
    assert_int_equal(
        gemmtune_problem_init_sized(&newer.p, sizeof newer, GEMMTUNE_F32, 1, 2, 3),
        GEMMTUNE_OK);
    assert_int_equal(newer.p.struct_size, sizeof newer);
    assert_int_equal(newer.later, 0);
    assert_int_equal(
        gemmtune_problem_init_sized(&newer.p, sizeof newer.p - 8, GEMMTUNE_F32, 1, 2, 3),
        GEMMTUNE_EINVAL);
}

/* Column-major: the message names the caller's member, not the exchanged one. */
static void test_messages_name_the_callers_member(void **state) {
    gemmtune_problem p = rows(3, 5, 7);
    (void)state;
    p.layout = GEMMTUNE_COL_MAJOR;
    p.lda = 2;
    assert_refused(&p, GEMMTUNE_EINVAL, "lda is 2, must be 0 (packed) or at least 3");
    p.lda = 0;
    p.ldb = 6;
    assert_refused(&p, GEMMTUNE_EINVAL, "ldb is 6, must be 0 (packed) or at least 7");
    p.ldb = 0;
    p.m = -1;
    assert_refused(&p, GEMMTUNE_EINVAL, "m is -1");
}

static void test_mixes_without_a_kernel(void **state) {
    gemmtune_problem p = rows(3, 5, 7);
    (void)state;
    p.type_b = GEMMTUNE_F16;
    assert_refused(&p, GEMMTUNE_EUNSUPPORTED, "no kernel for types f32+f16=f32 yet");
    gemmtune_problem_init(&p, GEMMTUNE_F16, 1, 1, 1);
    p.type_acc = GEMMTUNE_F16;
    assert_refused(&p, GEMMTUNE_EUNSUPPORTED, "no kernel for types f16@f16 yet");
}

/* Each refusal is one sentence that names the feature, for a struct and for a name. */
static void test_what_has_no_kernel_yet(void **state) {
    static const struct {
        const char *name, *said;
    } cases[] = {
        {"bf16+i8=bf16-nn-3x5x7", "no kernel for types bf16+i8=bf16 yet"},
        {"f16@f16-nn-3x5x7", "no kernel for types f16@f16 yet"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gemmtune_problem p, out;
        struct gt_err err = {""};
        char whole[600];
        assert_int_equal(gemmtune_problem_parse(&p, cases[i].name), GEMMTUNE_OK);
        assert_refused(&p, GEMMTUNE_EUNSUPPORTED, cases[i].said);
        assert_int_equal(gt_problem_from_name(&out, cases[i].name, &err),
                         GEMMTUNE_EUNSUPPORTED);
        (void)snprintf(whole, sizeof whole, "problem \"%s\": %s", cases[i].name,
                       cases[i].said);
        assert_string_equal(err.line, whole);
    }
}

/* The packed form depends on types, math, n and k, not on the layout in which B was. */
static void test_packed_forms(void **state) {
    static const struct {
        const char *name, *canonical;
        int64_t ldb, stride_b;
    } cases[] = {
        {"f32-nt-3x5x7,ldb=9,packed_b", "f32-nn-3x5x7,packed_b", 32, 7 * 32},
        {"f64-tn-3x33x7,packed_b", "f64-tn-3x33x7,packed_b", 48, 7 * 48},
        {"tf32-nn-3x5x33,packed_b", "tf32-nt-3x5x33,packed_b", 64, 5 * 64},
        {"bf16-nn-3x5x64,packed_b", "bf16-nt-3x5x64,packed_b", 64, 5 * 64},
        {"i8-nt-3x5x129,ldb=200,packed_b", "i8-nt-3x5x129,packed_b", 256, 5 * 256},
        {"f16-nn-3x5x7,batch=2,sb=99,packed_b", "f16-nt-3x5x7,batch=2,packed_b", 64,
         5 * 64},
        {"f16-nn-3x5x7,batch=2,sb=0,packed_b", "f16-nt-3x5x7,batch=2,sb=0,packed_b", 64, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gemmtune_problem p;
        char name[GT_PROBLEM_NAME_MAX];
        assert_int_equal(gt_problem_from_name(&p, cases[i].name, NULL), GEMMTUNE_OK);
        assert_int_equal(p.ldb, cases[i].ldb);
        assert_int_equal(p.stride_b, cases[i].stride_b);
        (void)gt_problem_name(&p, name);
        assert_string_equal(name, cases[i].canonical);
    }
}

static void test_packed_forms_that_do_not_exist(void **state) {
    gemmtune_problem p = rows(3, GT_DIM_MAX, 7);
    (void)state;
    p.packed_b = 1;
    assert_refused(&p, GEMMTUNE_EINVAL,
                   "packed_b: a packed row of B has 2147483648 elements");
    p = rows(3, 5, 7);
    p.packed_b = 1;
    p.ldb = 4;
    assert_refused(&p, GEMMTUNE_EINVAL, "ldb is 4, must be 0 (packed) or at least 5");
    /* The last row counts whole, so the packed form has 2^63 bytes and the
     * plain one less. */
    p = rows(3, (1 << 30) - 1, 1 << 30);
    p.type_a = p.type_b = p.type_c = p.type_acc = GEMMTUNE_F64;
    assert_int_equal(gt_problem_canonical(&p, NULL, &p, NULL), GEMMTUNE_OK);
    p.packed_b = 1;
    assert_refused(&p, GEMMTUNE_EINVAL,
                   "packed_b: the packed B has more bytes than 64 bits count");
}

/* A kernel that did well for the plain matrix serves the packed one, and the other way. */
static void test_packed_lends(void **state) {
    gemmtune_problem plain, packed;
    (void)state;
    assert_int_equal(gt_problem_from_name(&plain, "bf16-nt-3x5x7", NULL), GEMMTUNE_OK);
    assert_int_equal(gt_problem_from_name(&packed, "bf16-nn-3x5x7,packed_b", NULL),
                     GEMMTUNE_OK);
    assert_true(gt_problem_lends(&plain, &packed));
    assert_true(gt_problem_lends(&packed, &plain));
}

static void test_column_major_has_no_rows_to_speak_of(void **state) {
    gemmtune_problem p = rows(64, 5, 7);
    (void)state;
    p.layout = GEMMTUNE_COL_MAJOR;
    p.batch_kind = GEMMTUNE_GROUPED_ROWS;
    assert_refused(&p, GEMMTUNE_EINVAL,
                   "batch_kind speaks of rows, columns or B, so layout must be "
                   "GEMMTUNE_ROW_MAJOR");
    p.batch_kind = GEMMTUNE_BATCH_STRIDED;
    p.packed_b = 1;
    assert_refused(&p, GEMMTUNE_EINVAL, "packed_b speaks of");
    p.packed_b = 0;
    p.row_order = 1;
    assert_refused(&p, GEMMTUNE_EINVAL, "row_order speaks of");
    p.row_order = 0;
    p.epilogue = "relu";
    assert_refused(&p, GEMMTUNE_EINVAL, "epilogue speaks of");
    p.layout = GEMMTUNE_ROW_MAJOR;
    p.epilogue = "rleu";
    assert_refused(&p, GEMMTUNE_EINVAL,
                   "column 1 of the epilogue: \"rleu\" is neither a shorthand");
}

/* ---- sizes ---- */

static void test_sizes(void **state) {
    const gemmtune_problem p = named("i8-nt-3x5x7,lda=10,ldb=8,ldc=6");
    (void)state;
    assert_int_equal(gt_problem_elems_a(&p), 2 * 10 + 7);
    assert_int_equal(gt_problem_elems_b(&p), 4 * 8 + 7);
    assert_int_equal(gt_problem_elems_c(&p), 2 * 6 + 5);
    assert_true(gt_problem_flops(&p) == 2.0 * 3 * 5 * 7);
    assert_true(gt_problem_bytes(&p) == 27 + 39 + 4 * 17);
    assert_string_equal(gt_problem_layout(&p), "nt");
    const gemmtune_problem t = named("f64-tn-3x5x7");
    assert_int_equal(gt_problem_elems_a(&t), 21);
    assert_int_equal(gt_problem_elems_b(&t), 35);
    assert_true(gt_problem_bytes(&t) == 8 * (21 + 35 + 15));
    assert_string_equal(gt_problem_layout(&t), "tn");
}

static void test_sizes_of_nothing(void **state) {
    const gemmtune_problem p = named("f32-nn-3x5x0");
    (void)state;
    assert_int_equal(p.lda, 1);
    assert_int_equal(gt_problem_elems_a(&p), 0);
    assert_int_equal(gt_problem_elems_b(&p), 0);
    assert_int_equal(gt_problem_elems_c(&p), 15);
    assert_true(gt_problem_flops(&p) == 0);
}

static void test_sizes_beyond_32_bits(void **state) {
    const gemmtune_problem p = named("f32-nn-65536x65536x65536");
    (void)state;
    assert_int_equal(gt_problem_elems_c(&p), INT64_C(4294967296));
    assert_int_equal(p.stride_a, INT64_C(4294967296));
    assert_true(gt_problem_flops(&p) == 0x1p49);
    assert_true(gt_problem_bytes(&p) == 3 * 0x1p34);
}

static void test_row_align(void **state) {
    static const struct {
        int64_t ld;
        gemmtune_dtype type;
        int64_t pointer, expected;
    } cases[] = {
        {4, GEMMTUNE_F32, 256, 16},        {6, GEMMTUNE_F32, 256, 8},
        {7, GEMMTUNE_F32, 256, 4},         {4, GEMMTUNE_F32, 8, 8},
        {4, GEMMTUNE_F32, 4, 4},           {1, GEMMTUNE_I8, 256, 1},
        {16, GEMMTUNE_I8, 16, 16},         {24, GEMMTUNE_I8, 16, 8},
        {2, GEMMTUNE_F64, 16, 16},         {3, GEMMTUNE_F64, 16, 8},
        {8, GEMMTUNE_BF16, 16, 16},        {700, GEMMTUNE_F16, 512, 8},
        {2147483647, GEMMTUNE_F64, 16, 8},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(gt_row_align(cases[i].ld, 0, cases[i].type, cases[i].pointer),
                         cases[i].expected);
}

/* ---- public ---- */

static void test_init_chooses_the_types(void **state) {
    static const struct {
        gemmtune_dtype type, c, acc;
    } cases[] = {
        {GEMMTUNE_F32, GEMMTUNE_F32, GEMMTUNE_F32},
        {GEMMTUNE_F64, GEMMTUNE_F64, GEMMTUNE_F64},
        {GEMMTUNE_F16, GEMMTUNE_F16, GEMMTUNE_F32},
        {GEMMTUNE_BF16, GEMMTUNE_BF16, GEMMTUNE_F32},
        {GEMMTUNE_E4M3, GEMMTUNE_BF16, GEMMTUNE_F32},
        {GEMMTUNE_I8, GEMMTUNE_I32, GEMMTUNE_I32},
        {GEMMTUNE_I32, GEMMTUNE_I32, GEMMTUNE_I32},
        {GEMMTUNE_E5M2, GEMMTUNE_BF16, GEMMTUNE_F32},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gemmtune_problem p;
        memset(&p, 0xAA, sizeof p);
        gemmtune_problem_init(&p, cases[i].type, 3, 5, 7);
        assert_int_equal(p.struct_size, sizeof p);
        assert_int_equal(p.layout, GEMMTUNE_COL_MAJOR);
        assert_int_equal(p.type_a, cases[i].type);
        assert_int_equal(p.type_b, cases[i].type);
        assert_int_equal(p.type_c, cases[i].c);
        assert_int_equal(p.type_acc, cases[i].acc);
        assert_int_equal(p.math, GEMMTUNE_MATH_STRICT);
        assert_int_equal(p.n, 5);
        assert_int_equal(p.lda, 0);
        assert_int_equal(p.batch, 1);
    }
}

static void test_format_as_snprintf(void **state) {
    gemmtune_problem p;
    char buf[64] = "";
    (void)state;
    gemmtune_problem_init(&p, GEMMTUNE_BF16, 4096, 512, 1024);
    p.trans_b = GEMMTUNE_TRANS;
    const char *expected = "bf16-tn-512x4096x1024"; /* A and B, m and n exchanged */
    assert_int_equal(gemmtune_problem_format(&p, buf, sizeof buf), strlen(expected));
    assert_string_equal(buf, expected);
    assert_string_equal(gemmtune_errmsg(), "");
    assert_int_equal(gemmtune_problem_format(&p, buf, 5), strlen(expected));
    assert_string_equal(buf, "bf16");
    assert_int_equal(gemmtune_problem_format(&p, NULL, 0), strlen(expected));
}

static void test_public_calls_set_and_clear_the_line(void **state) {
    gemmtune_problem p;
    char buf[64];
    (void)state;
    gemmtune_problem_init(&p, GEMMTUNE_F32, -4, 1, 1);
    assert_int_equal(gemmtune_problem_format(&p, buf, sizeof buf), GEMMTUNE_EINVAL);
    assert_string_equal(gemmtune_errmsg(), "m is -4, must be from 0 to 2147483647");
    assert_int_equal(gemmtune_problem_parse(&p, "f32-nn-1x2x3"), GEMMTUNE_OK);
    assert_string_equal(gemmtune_errmsg(), "");
    assert_int_equal(p.k, 3);
    assert_int_equal(gemmtune_problem_parse(&p, "f32-nn"), GEMMTUNE_EPARSE);
    assert_non_null(strstr(gemmtune_errmsg(), "problem \"f32-nn\""));
    assert_true(gemmtune_problem_format(&p, buf, sizeof buf) > 0);
    assert_string_equal(gemmtune_errmsg(), "");
}

static void test_public_calls_refuse_null(void **state) {
    gemmtune_problem p = rows(1, 1, 1);
    char buf[8];
    (void)state;
    assert_int_equal(gemmtune_problem_init(NULL, GEMMTUNE_F32, 1, 1, 1), GEMMTUNE_EINVAL);
    assert_string_equal(gemmtune_errmsg(), "problem is NULL");
    assert_int_equal(gemmtune_problem_parse(NULL, "f32-nn-1x1x1"), GEMMTUNE_EINVAL);
    assert_string_equal(gemmtune_errmsg(), "problem is NULL");
    assert_int_equal(gemmtune_problem_parse(&p, NULL), GEMMTUNE_EINVAL);
    assert_string_equal(gemmtune_errmsg(), "name is NULL");
    assert_int_equal(gemmtune_problem_format(NULL, buf, sizeof buf), GEMMTUNE_EINVAL);
    assert_string_equal(gemmtune_errmsg(), "problem is NULL");
    assert_int_equal(gemmtune_problem_format(&p, NULL, 8), GEMMTUNE_EINVAL);
    assert_string_equal(gemmtune_errmsg(), "buf is NULL");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_column_major_is_exchanged),
        cmocka_unit_test(test_exchange_computes_the_same),
        cmocka_unit_test(test_members_out_of_range_are_named),
        cmocka_unit_test(test_a_single_row_has_any_leading_dimension),
        cmocka_unit_test(test_an_empty_batch),
        cmocka_unit_test(test_enums_out_of_range_are_named),
        cmocka_unit_test(test_struct_size_is_checked),
        cmocka_unit_test(test_a_longer_struct_is_taken),
        cmocka_unit_test(test_messages_name_the_callers_member),
        cmocka_unit_test(test_mixes_without_a_kernel),
        cmocka_unit_test(test_what_has_no_kernel_yet),
        cmocka_unit_test(test_packed_forms),
        cmocka_unit_test(test_packed_forms_that_do_not_exist),
        cmocka_unit_test(test_packed_lends),
        cmocka_unit_test(test_column_major_has_no_rows_to_speak_of),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_sizes_of_nothing),
        cmocka_unit_test(test_sizes_beyond_32_bits),
        cmocka_unit_test(test_row_align),
        cmocka_unit_test(test_init_chooses_the_types),
        cmocka_unit_test(test_format_as_snprintf),
        cmocka_unit_test(test_public_calls_set_and_clear_the_line),
        cmocka_unit_test(test_public_calls_refuse_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
