/* SPDX-License-Identifier: Apache-2.0 */
#include "core/problem.h"

#include "core/epilogue.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* A row-major f32 problem, not yet canonical. */
static gemmtune_problem rows(int64_t m, int64_t n, int64_t k) {
    gemmtune_problem p;
    gemmtune_problem_init(&p, GEMMTUNE_F32, m, n, k);
    p.layout = GEMMTUNE_ROW_MAJOR;
    return p;
}

static gemmtune_problem named(const char *name) {
    gemmtune_problem p;
    struct gt_err err = {""};
    const gt_status status = gt_problem_read_name(&p, name, &err);
    assert_string_equal(err.line, "");
    assert_int_equal(status, GEMMTUNE_OK);
    return p;
}

static void assert_same(const gemmtune_problem *a, const gemmtune_problem *b) {
    assert_int_equal(a->struct_size, b->struct_size);
    assert_int_equal(a->layout, b->layout);
    assert_int_equal(a->trans_a, b->trans_a);
    assert_int_equal(a->trans_b, b->trans_b);
    assert_int_equal(a->type_a, b->type_a);
    assert_int_equal(a->type_b, b->type_b);
    assert_int_equal(a->type_c, b->type_c);
    assert_int_equal(a->type_acc, b->type_acc);
    assert_int_equal(a->math, b->math);
    assert_int_equal(a->m, b->m);
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->k, b->k);
    assert_int_equal(a->lda, b->lda);
    assert_int_equal(a->ldb, b->ldb);
    assert_int_equal(a->ldc, b->ldc);
    assert_int_equal(a->batch, b->batch);
    assert_int_equal(a->stride_a, b->stride_a);
    assert_int_equal(a->stride_b, b->stride_b);
    assert_int_equal(a->stride_c, b->stride_c);
    assert_int_equal(a->reads_c, b->reads_c);
    assert_int_equal(a->batch_kind, b->batch_kind);
    assert_int_equal(a->expected_rows, b->expected_rows);
    assert_int_equal(a->packed_b, b->packed_b);
    assert_int_equal(a->row_order, b->row_order);
    assert_int_equal(a->epilogue == NULL, b->epilogue == NULL);
    if (a->epilogue != NULL)
        assert_string_equal(a->epilogue, b->epilogue);
}

/* ---- names ---- */

static void test_canonical_names_round_trip(void **state) {
    static const char *const names[] = {
        "f32-nn-1500x12x90000",
        "bf16-nt-24x5120x13824",
        "i8-tn-1x1x1",
        "e4m3-tt-0x0x0",
        "tf32-nn-2147483647x1x1",
        "f64-nn-3x5x7,lda=8,ldb=6,ldc=9",
        "i32-tn-3x5x7,ldc=6",
        "f16-nn-3x5x7,ldb=16,beta",
        "f32-nn-3x5x7,beta",
        "bf16=f32-nn-64x64x64",
        "f16=f32-tn-64x64x64,beta",
        "e4m3+e5m2=bf16-nt-64x64x64",
        "f32-nn-3x5x7,batch=16",
        "f32-nn-3x5x7,batch=16,sa=0,sb=100,sc=15000,beta",
        "f64-tn-3x5x7,lda=8,batch=1000,pointers",
        "f64-tn-3x5x7,batch=1,pointers",
        "bf16-nt-4096x4096x7168,groups=128",
        "bf16-nt-4096x4096x7168,groups=128,rows=512,sb=33554432",
        "bf16-nt-4096x4096x7168,batch=6,masked,rows=128",
        "f16-nn-3x5x7,packed_b,row_order",
        "f16-nn-3x5x7,beta,packed_b,row_order,epi=bias_gelu",
        "f16-nn-3x5x7,epi=sa[i]:f32;up[i,j]:bf16;d=silu(x*sa[i])*up[i,j]",
    };
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const gemmtune_problem p = named(names[i]);
        char buf[GT_PROBLEM_NAME_MAX];
        assert_int_equal(gt_problem_name(&p, buf), strlen(names[i]));
        assert_string_equal(buf, names[i]);
    }
}

static void test_other_spellings_become_canonical(void **state) {
    static const struct {
        const char *given, *name;
    } cases[] = {
        {"f32-nn-3x5x7,lda=7,ldb=5,ldc=5,batch=1", "f32-nn-3x5x7"}, /* packed is not said */
        {"f32-tt-3x5x7,lda=3,ldb=7", "f32-tt-3x5x7"},
        {"f32-nn-003x5x7", "f32-nn-3x5x7"},
        {"f32-nn-3x5x7,beta,ldc=9,lda=8", "f32-nn-3x5x7,lda=8,ldc=9,beta"},
        {"f32-nn-0x5x7,ldc=5", "f32-nn-0x5x7"},
        {"f32-nn-3x5x7,batch=1,sa=0", "f32-nn-3x5x7"}, /* a stride to nowhere */
        {"f32-nn-3x5x7,pointers", "f32-nn-3x5x7,batch=1,pointers"},
        {"f32-nn-3x5x7,sc=15,sb=35,sa=21,batch=2", "f32-nn-3x5x7,batch=2"},
        {"f32-nn-100x5x7,rows=13,groups=8", "f32-nn-100x5x7,groups=8"},
        {"f32-nn-100x5x7,rows=100,masked", "f32-nn-100x5x7,batch=1,masked"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const gemmtune_problem p = named(cases[i].given);
        char buf[GT_PROBLEM_NAME_MAX];
        (void)gt_problem_name(&p, buf);
        assert_string_equal(buf, cases[i].name);
    }
}

static void test_name_fills_the_struct(void **state) {
    const gemmtune_problem p = named("i8-tn-3x5x7,lda=4,beta");
    (void)state;
    assert_int_equal(p.layout, GEMMTUNE_ROW_MAJOR);
    assert_int_equal(p.trans_a, GEMMTUNE_TRANS);
    assert_int_equal(p.trans_b, GEMMTUNE_NOTRANS);
    assert_int_equal(p.type_a, GEMMTUNE_I8);
    assert_int_equal(p.type_c, GEMMTUNE_I32);
    assert_int_equal(p.type_acc, GEMMTUNE_I32);
    assert_int_equal(p.m, 3);
    assert_int_equal(p.n, 5);
    assert_int_equal(p.k, 7);
    assert_int_equal(p.lda, 4);
    assert_int_equal(p.ldb, 5);
    assert_int_equal(p.ldc, 5);
    assert_int_equal(p.stride_a, 7 * 4);
    assert_int_equal(p.stride_b, 7 * 5);
    assert_int_equal(p.stride_c, 3 * 5);
    assert_int_equal(p.batch, 1);
    assert_int_equal(p.reads_c, 1);
    assert_int_equal(named("tf32-nn-1x1x1").math, GEMMTUNE_MATH_TF32);
}

/* Words of types with their meanings. The first word of each group is canonical. */
static void test_words_of_types(void **state) {
    static const struct {
        const char *word, *canonical;
        struct gt_dtype means;
    } cases[] = {
#define MIX(word, canonical, a, b, c, acc, math)                                           \
    {                                                                                      \
        word, canonical, {                                                                 \
            "", GEMMTUNE_##a, GEMMTUNE_##b, GEMMTUNE_##c, GEMMTUNE_##acc,                  \
                GEMMTUNE_MATH_##math                                                       \
        }                                                                                  \
    }
        MIX("f32", "f32", F32, F32, F32, F32, STRICT),
        MIX("bf16", "bf16", BF16, BF16, BF16, F32, STRICT),
        MIX("bf16=bf16@f32", "bf16", BF16, BF16, BF16, F32, STRICT),
        MIX("bf16=f32", "bf16=f32", BF16, BF16, F32, F32, STRICT),
        MIX("f16@f16", "f16@f16", F16, F16, F16, F16, STRICT),
        MIX("f32@f64", "f32@f64", F32, F32, F32, F64, STRICT),
        MIX("i8", "i8", I8, I8, I32, I32, STRICT),
        MIX("i8=i32", "i8", I8, I8, I32, I32, STRICT),
        MIX("i8=f32@f32", "i8=f32@f32", I8, I8, F32, F32, STRICT),
        MIX("tf32", "tf32", F32, F32, F32, F32, TF32),
        MIX("tf32=bf16", "tf32=bf16", F32, F32, BF16, F32, TF32),
        MIX("e5m2", "e5m2", E5M2, E5M2, BF16, F32, STRICT),
        MIX("e4m3@fast", "e4m3@fast", E4M3, E4M3, BF16, F32, FAST),
        MIX("e4m3=e4m3@fast", "e4m3=e4m3@fast", E4M3, E4M3, E4M3, F32, FAST),
        MIX("e4m3+e5m2=bf16", "e4m3+e5m2=bf16", E4M3, E5M2, BF16, F32, STRICT),
        MIX("e4m3+e4m3=bf16", "e4m3", E4M3, E4M3, BF16, F32, STRICT),
        MIX("bf16+i8=bf16", "bf16+i8=bf16", BF16, I8, BF16, F32, STRICT),
        MIX("f32@fast", "f32", F32, F32, F32, F32, STRICT), /* speaks of 8-bit floats */
        MIX("tf32+bf16=f32", "f32+bf16=f32", F32, BF16, F32, F32, STRICT),
#undef MIX
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct gt_dtype *means = &cases[i].means;
        gemmtune_problem p = rows(1, 1, 1);
        struct gt_err err = {""};
        char word[GT_TYPES_WORD_MAX];
        (void)gt_types_from_word(&p, cases[i].word, strlen(cases[i].word), &err);
        assert_string_equal(err.line, "");
        assert_int_equal(p.type_a, means->a);
        assert_int_equal(p.type_b, means->b);
        assert_int_equal(p.type_c, means->c);
        assert_int_equal(p.type_acc, means->acc);
        assert_int_equal(p.math, means->math);
        assert_int_equal(gt_types_word(&p, word), strlen(cases[i].canonical));
        assert_string_equal(word, cases[i].canonical);
    }
}

/* Every mix of types has one word, and the word is that mix. */
static void test_every_mix_has_its_word(void **state) {
    enum { TYPES = GEMMTUNE_I32 + 1, MATHS = GEMMTUNE_MATH_FAST + 1 };
    (void)state;
    for (int i = 0; i < TYPES * TYPES * TYPES * TYPES * MATHS; i++) {
        gemmtune_problem p = rows(1, 1, 1), again = p;
        char word[GT_TYPES_WORD_MAX];
        p.type_a = (gemmtune_dtype)(i % TYPES);
        p.type_b = (gemmtune_dtype)(i / TYPES % TYPES);
        p.type_c = (gemmtune_dtype)(i / TYPES / TYPES % TYPES);
        p.type_acc = (gemmtune_dtype)(i / TYPES / TYPES / TYPES % TYPES);
        p.math = gt_type_math((gemmtune_math)(i / TYPES / TYPES / TYPES / TYPES), p.type_a,
                              p.type_b, p.type_acc);
        assert_true(gt_types_word(&p, word) < GT_TYPES_WORD_MAX);
        assert_int_equal(gt_types_from_word(&again, word, strlen(word), NULL), GEMMTUNE_OK);
        assert_same(&again, &p);
        const struct gt_dtype *row = gt_dtype_of(&p);
        assert_true(row == gt_dtype_by_name(word, strlen(word)));
    }
}

static void test_bad_names_are_quoted(void **state) {
    static const struct {
        const char *name, *said;
    } cases[] = {
        {"", "problem \"\": \"\" is not a data type"},
        {"f32", "layout \"\" is not nn, nt, tn or tt"},
        {"f33-nn-1x2x3", "\"f33\" is not a data type"},
        {"F32-nn-1x2x3", "\"F32\" is not a data type"},
        {"f32+bf16-nn-1x2x3", "two input types need the type of C, as in e4m3+e5m2=bf16"},
        {"f32+tf32=f32-nn-1x2x3", "\"tf32\" is not a data type"},
        {"f32=-nn-1x2x3", "\"\" is not a data type"},
        {"f32=f33-nn-1x2x3", "\"f33\" is not a data type"},
        {"f32=f32=f32-nn-1x2x3", "\"f32=f32=f32\" is not <type>[+<type of B>]"},
        {"f32@f32@f32-nn-1x2x3", "\"f32@f32@f32\" is not <type>"},
        {"f32@f32=f32-nn-1x2x3", "\"f32@f32=f32\" is not <type>"},
        {"f16@slow-nn-1x2x3", "\"slow\" behind @ is neither a data type nor \"fast\""},
        {"f32-nq-1x2x3", "layout \"nq\" is not nn, nt, tn or tt"},
        {"f32-nn", "m \"\" is not a number from 0 to 2147483647"},
        {"f32-nn-", "m \"\" is not a number"},
        {"f32-nn-1x2", "\"2\" is followed by nothing"},
        {"f32-nn-1x2x", "k \"\" is not a number"},
        {"f32-nn-1x2x3x4", "\"3\" is followed by the wrong separator"},
        {"f32-nn-1,2,3", "\"1\" is followed by the wrong separator"},
        {"f32-nn-1x-2x3", "n \"-2\" is not a number"},
        {"f32-nn-1x2.5x3", "n \"2.5\" is not a number"},
        {"f32-nn-1x2x2147483648", "k \"2147483648\" is not a number"},
        {"f32-nn-1x2x99999999999999999999", "k \"99999999999999999999\" is not a number"},
        {"f32-nn-1x2x3,", "\"\" is none of lda= ldb= ldc= batch= groups= pointers masked "
                          "rows= sa= sb= sc= beta packed_b row_order epi="},
        {"f32-nn-1x2x3,beta,", "\"\" is none of lda="},
        {"f32-nn-1x2x3,ldd=4", "\"ldd\" is none of lda="},
        {"f32-nn-1x2x3,lda", "\"lda\" is none of lda="},
        {"f32-nn-1x2x3,beta=1", "\"beta\" is none of lda="},
        {"f32-nn-1x2x3,lda=0", "lda \"0\" is not a number from 1 to 2147483647"},
        {"f32-nn-1x2x3,lda=", "lda \"\" is not a number"},
        {"f32-nn-1x2x3,lda=x", "lda \"x\" is not a number"},
        {"f32-nn-1x2x3,lda=4,lda=4", "lda is given a second time"},
        {"f32-nn-1x2x3,beta,beta", "beta is given a second time"},
        {"f32-nn-1x2x3,batch=0", "batch \"0\" is not a number from 1 to 2147483647"},
        {"f32-nn-1x2x3,batch=4,groups=4", "batch and groups exclude each other"},
        {"f32-nn-1x2x3,pointers,masked", "pointers and masked exclude each other"},
        {"f32-nn-1x2x3,groups=4,masked", "groups and masked exclude each other"},
        {"f32-nn-1x2x3,batch=4,sa=-1", "sa \"-1\" is not a number from 0 to"},
        {"f32-nn-1x2x3,batch=4,sc=0", "stride_c is 0: the products of the batch overlap"},
        {"f32-nn-8x2x3,batch=4,rows=8", "expected_rows is 8, but no rows are grouped or"},
        {"f32-nn-8x2x3,groups=4,rows=9", "expected_rows is 9, more than the 8 of m"},
        {"f32-nn-1x2x3,epi=", "\"\" in an epilogue does not begin with a name"},
        {"f32-nn-1x2x3,epi=bais,beta", "\"bais,beta\" in an epilogue is neither"},
        {"f32-nn-1x2x3,lda=2", "lda is 2, must be 0 (packed) or at least 3"},
        {"f32-nn-1x2x3 ", "k \"3 \" is not a number"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gt_err err = {""};
        gemmtune_problem p = {.m = 77};
        assert_int_equal(gt_problem_from_name(&p, cases[i].name, &err), GEMMTUNE_EPARSE);
        if (strstr(err.line, cases[i].said) == NULL)
            fail_msg("said: %s", err.line);
        assert_int_equal(p.m, 77); /* untouched */
    }
}

static void test_a_very_long_name_is_refused(void **state) {
    struct gt_err err = {""};
    gemmtune_problem p;
    char name[5000];
    (void)state;
    memset(name, '0', sizeof name - 1);
    memcpy(name, "f32-nn-", 7);
    name[sizeof name - 1] = '\0';
    assert_int_equal(gt_problem_from_name(&p, name, &err), GEMMTUNE_EPARSE);
    assert_non_null(strstr(err.line, "longer than 511 bytes"));
}

static void test_batch_parses_and_is_unsupported(void **state) {
    struct gt_err err = {""};
    gemmtune_problem p;
    (void)state;
    assert_int_equal(gt_problem_from_name(&p, "f32-nn-1x2x3,batch=4", &err),
                     GEMMTUNE_EUNSUPPORTED);
    assert_string_equal(
        err.line, "problem \"f32-nn-1x2x3,batch=4\": no kernel for strided batches yet: "
                  "batch=4");
}

static uint64_t next_random(uint64_t *seed) {
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *seed >> 33;
}

/* A dimension of any magnitude, small ones as often as large ones. */
static int64_t random_dim(uint64_t *seed) {
    return (int64_t)(next_random(seed) >> (next_random(seed) % 32)) & 0xFFFFFF;
}

static gemmtune_problem random_problem(uint64_t *seed) {
    const struct gt_dtype *row = gt_dtype_at(next_random(seed) % 10);
    gemmtune_problem p = rows(random_dim(seed), random_dim(seed), random_dim(seed));
    p.layout = (gemmtune_layout)(next_random(seed) % 2);
    p.trans_a = (gemmtune_trans)(next_random(seed) % 2);
    p.trans_b = (gemmtune_trans)(next_random(seed) % 2);
    p.type_a = row->a;
    p.type_b = row->b;
    p.type_c = row->c;
    p.type_acc = row->acc;
    p.math = row->math;
    p.lda = next_random(seed) % 2 ? 0 : 0xFFFFFF + random_dim(seed) + 1;
    p.ldb = next_random(seed) % 2 ? 0 : 0xFFFFFF + random_dim(seed) + 1;
    p.ldc = next_random(seed) % 2 ? 0 : 0xFFFFFF + random_dim(seed) + 1;
    p.reads_c = (int32_t)(next_random(seed) % 3);
    return p;
}

static int64_t random_stride(uint64_t *seed) {
    return next_random(seed) % 2 ? GEMMTUNE_PACKED : random_dim(seed);
}

/* Every option, in every combination that settles. */
static gemmtune_problem random_batch(uint64_t *seed) {
    static const char *const epilogues[] = {NULL, "relu", "b[j]:f32;d=x+b[j]"};
    enum { TYPES = GEMMTUNE_I32 + 1, MATHS = GEMMTUNE_MATH_FAST + 1 };
    gemmtune_problem p = random_problem(seed);
    if (next_random(seed) % 2)
        p.type_b = (gemmtune_dtype)(next_random(seed) % TYPES);
    if (next_random(seed) % 2)
        p.type_c = (gemmtune_dtype)(next_random(seed) % TYPES);
    p.math = (gemmtune_math)(next_random(seed) % MATHS);
    p.batch_kind = (gemmtune_batch_kind)(next_random(seed) % 4);
    p.batch = 1 + random_dim(seed) % 5000;
    p.stride_a = random_stride(seed);
    p.stride_b = random_stride(seed);
    p.stride_c = next_random(seed) % 2 ? GEMMTUNE_PACKED : INT64_C(1) << 49;
    if (p.batch_kind >= GEMMTUNE_GROUPED_ROWS)
        p.expected_rows = random_dim(seed) % (p.m + 1);
    p.packed_b = (int32_t)(next_random(seed) % 2);
    p.row_order = (int32_t)(next_random(seed) % 2);
    p.epilogue = epilogues[next_random(seed) % 3];
    return p;
}

static void test_random_batches_round_trip(void **state) {
    uint64_t seed = 7;
    int settled_count = 0;
    (void)state;
    for (int round = 0; round < 20000; round++) {
        const gemmtune_problem p = random_batch(&seed);
        gemmtune_problem canonical, twice;
        char name[GT_PROBLEM_NAME_MAX];
        if (gt_problem_settle(&canonical, NULL, &p, NULL) != GEMMTUNE_OK)
            continue; /* column-major where rows matter, or too large */
        settled_count++;
        assert_int_equal(gt_problem_settle(&twice, NULL, &canonical, NULL), GEMMTUNE_OK);
        assert_same(&twice, &canonical);
        assert_true(gt_problem_name(&canonical, name) < GT_PROBLEM_NAME_MAX);
        const gemmtune_problem again = named(name);
        assert_same(&again, &canonical);
    }
    assert_true(settled_count > 5000);
}

/* The longest of everything fits the name's room. */
static void test_the_longest_name(void **state) {
    char text[GT_EPILOGUE_MAX] = "d=", name[GT_PROBLEM_NAME_MAX];
    gemmtune_problem p = rows(GT_DIM_MAX - 1, GT_DIM_MAX, GT_DIM_MAX);
    (void)state;
    memset(text + 2, '1', sizeof text - 3);
    p.type_a = p.type_c = p.type_acc = GEMMTUNE_BF16;
    p.type_b = GEMMTUNE_E4M3;
    p.lda = p.ldb = p.ldc = GT_DIM_MAX;
    p.batch_kind = GEMMTUNE_MASKED_ROWS;
    p.batch = p.expected_rows = GT_DIM_MAX - 1;
    p.stride_a = p.stride_b = p.stride_c = INT64_MAX;
    p.reads_c = p.packed_b = p.row_order = 1;
    p.epilogue = text;
    assert_in_range(gt_problem_name(&p, name), 420, GT_PROBLEM_NAME_MAX - 1);
}

static void test_random_problems_round_trip(void **state) {
    uint64_t seed = 42;
    (void)state;
    for (int round = 0; round < 5000; round++) {
        const gemmtune_problem p = random_problem(&seed);
        gemmtune_problem canonical;
        gemmtune_problem twice;
        char name[GT_PROBLEM_NAME_MAX];
        assert_int_equal(gt_problem_canonical(&canonical, NULL, &p, NULL), GEMMTUNE_OK);
        assert_int_equal(gt_problem_canonical(&twice, NULL, &canonical, NULL), GEMMTUNE_OK);
        assert_same(&twice, &canonical);
        (void)gt_problem_name(&canonical, name);
        const gemmtune_problem again = named(name);
        assert_same(&again, &canonical);
    }
}

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

static void assert_refused(const gemmtune_problem *p, gt_status status, const char *said) {
    struct gt_err err = {""};
    gemmtune_problem out = {.m = 77};
    bool swapped = true;
    assert_int_equal(gt_problem_canonical(&out, &swapped, p, &err), status);
    if (strstr(err.line, said) == NULL)
        fail_msg("said: %s", err.line);
    assert_int_equal(out.m, 77);
    assert_true(swapped);
    assert_int_equal(gt_problem_canonical(&out, NULL, p, NULL), status);
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
        {offsetof(gemmtune_problem, ldc), GT_DIM_MAX + 1, "ldc is 2147483648"},
        {offsetof(gemmtune_problem, batch), 0, "batch is 0, must be from 1"},
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
    p.math = (gemmtune_math)3;
    assert_refused(&p, GEMMTUNE_EINVAL, "math is 3");
    p = rows(3, 5, 7);
    p.batch_kind = (gemmtune_batch_kind)4;
    assert_refused(&p, GEMMTUNE_EINVAL, "batch_kind is 4");
    p = rows(3, 5, 7);
    p.reserved = 1;
    assert_refused(&p, GEMMTUNE_EINVAL, "reserved is 1");
}

static void test_struct_size_is_checked(void **state) {
    gemmtune_problem p = rows(3, 5, 7);
    (void)state;
    p.struct_size = 0;
    assert_refused(&p, GEMMTUNE_EINVAL,
                   "the problem's struct_size is 0, must be 152 or "
                   "more: call gemmtune_problem_init first");
    p.struct_size = 0xAAAAAAAA; /* was never set */
    assert_refused(&p, GEMMTUNE_EINVAL, "struct_size is 2863311530");
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
                   "the problem has a member that library version 0.2.0 does not know");
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
    gemmtune_problem_init(&p, GEMMTUNE_E5M2, 1, 1, 1);
    assert_refused(&p, GEMMTUNE_EUNSUPPORTED, "no kernel for types e5m2 yet");
}

/* Each refusal is one sentence that names the feature, for a struct and for a name. */
static void test_what_has_no_kernel_yet(void **state) {
    static const struct {
        const char *name, *said;
    } cases[] = {
        {"f32-nn-3x5x7,batch=16", "no kernel for strided batches yet: batch=16"},
        {"f32-nn-3x5x7,batch=16,pointers",
         "no kernel for batches of pointers yet: batch=16"},
        {"f32-nn-3x5x7,batch=1,pointers", "no kernel for batches of pointers yet: batch=1"},
        {"f32-nn-64x5x7,groups=8", "no kernel for grouped rows yet: groups=8"},
        {"f32-nn-64x5x7,batch=8,masked", "no kernel for masked rows yet: batch=8"},
        {"f32-nn-3x5x7,packed_b", "no kernel for packed weights yet: packed_b"},
        {"f32-nn-3x5x7,row_order", "no kernel for a fixed order of sums yet: row_order"},
        {"f32-nn-3x5x7,epi=relu", "no kernel for epilogues yet: epi=relu"},
        {"e4m3+e5m2=bf16-nn-3x5x7", "no kernel for types e4m3+e5m2=bf16 yet"},
        {"e4m3@fast-nn-3x5x7", "no kernel for types e4m3@fast yet"},
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
    assert_refused(&p, GEMMTUNE_EINVAL, "\"rleu\" in an epilogue is neither a shorthand");
}

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

/* Products may lie one behind another or side by side, as heads of attention do. */
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
    assert_refused(&p, GEMMTUNE_EUNSUPPORTED, "batches of pointers");
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
        "f32-nn-64x64x64,packed_b",
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
        assert_int_equal(gt_row_align(cases[i].ld, cases[i].type, cases[i].pointer),
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
        cmocka_unit_test(test_canonical_names_round_trip),
        cmocka_unit_test(test_other_spellings_become_canonical),
        cmocka_unit_test(test_name_fills_the_struct),
        cmocka_unit_test(test_words_of_types),
        cmocka_unit_test(test_every_mix_has_its_word),
        cmocka_unit_test(test_bad_names_are_quoted),
        cmocka_unit_test(test_a_very_long_name_is_refused),
        cmocka_unit_test(test_batch_parses_and_is_unsupported),
        cmocka_unit_test(test_random_problems_round_trip),
        cmocka_unit_test(test_random_batches_round_trip),
        cmocka_unit_test(test_the_longest_name),
        cmocka_unit_test(test_column_major_is_exchanged),
        cmocka_unit_test(test_exchange_computes_the_same),
        cmocka_unit_test(test_members_out_of_range_are_named),
        cmocka_unit_test(test_enums_out_of_range_are_named),
        cmocka_unit_test(test_struct_size_is_checked),
        cmocka_unit_test(test_a_longer_struct_is_taken),
        cmocka_unit_test(test_messages_name_the_callers_member),
        cmocka_unit_test(test_mixes_without_a_kernel),
        cmocka_unit_test(test_what_has_no_kernel_yet),
        cmocka_unit_test(test_column_major_has_no_rows_to_speak_of),
        cmocka_unit_test(test_strides),
        cmocka_unit_test(test_products_of_a_batch_do_not_overlap),
        cmocka_unit_test(test_sizes_of_a_batch_fit_64_bits),
        cmocka_unit_test(test_rows_of_groups),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_operands_too_large_for_int64_bytes),
        cmocka_unit_test(test_what_does_not_matter_is_made_equal),
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
