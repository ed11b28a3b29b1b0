/* SPDX-License-Identifier: Apache-2.0 */
/* Names of problems: canonical names, other spellings, refusals. */
#include "tests/unit/problems.h"

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
        "f16-tn-3x5x7,batch=9,pointers,align=4",
        "bf16-nt-4096x4096x7168,groups=128",
        "bf16-nt-4096x4096x7168,groups=128,rows=512,sb=33554432",
        "bf16-nt-4096x4096x7168,batch=6,masked,rows=128",
        "f16-nt-3x5x7,packed_b,row_order",
        "f16-nt-3x5x7,beta,packed_b,row_order,epi=bias_gelu",
        "f16-nn-3x5x7,epi=s[i]:f32;up[i,j]:bf16;d=silu(x*s[i])*up[i,j]",
        "f16-nn-3x5x7,epi=sa[i]:f32;up[i,j]:bf16;scale_rows_swiglu",
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
        {"f32-nn-3x5x7,align=4,pointers", "f32-nn-3x5x7,batch=1,pointers"},
        {"f32-nn-3x5x7,align=256,pointers", "f32-nn-3x5x7,batch=1,pointers,align=16"},
        {"f32-nn-3x5x7,sc=15,sb=35,sa=21,batch=2", "f32-nn-3x5x7,batch=2"},
        {"f32-nn-100x5x7,rows=13,groups=8", "f32-nn-100x5x7,groups=8"},
        {"f32-nn-100x5x7,rows=100,masked", "f32-nn-100x5x7,batch=1,masked"},
        {"f32-nn-3x5x7,epi=bias[j]:f32;d=relu((x+bias[j]))", "f32-nn-3x5x7,epi=bias_relu"},
        {"f32-nn-3x5x7,epi=d=(x*2.0)", "f32-nn-3x5x7,epi=d=x*2"},
        {"i8=bf16-nn-3x5x7", "i8=bf16-nn-3x5x7,epi=d=x"},
        {"i8=i8-nn-3x5x7", "i8=i8-nn-3x5x7,epi=d=x"},
        {"i8=f32-nn-3x5x7,epi=dequantise", "i8=f32-nn-3x5x7,epi=dequantise"},
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
        MIX("f32@split", "f32@split", F32, F32, F32, F32, SPLIT),
        MIX("f32=bf16@split", "f32=bf16@split", F32, F32, BF16, F32, SPLIT),
        MIX("f32@bf16x3", "f32@bf16x3", F32, F32, F32, F32, BF16X3),
        MIX("f64@residues", "f64@residues", F64, F64, F64, F64, RESIDUES),
        MIX("f32@residues", "f32", F32, F32, F32, F32, STRICT),   /* speaks of f64 */
        MIX("bf16@split", "bf16", BF16, BF16, BF16, F32, STRICT), /* speaks of f32 */
        MIX("e5m2", "e5m2", E5M2, E5M2, BF16, F32, STRICT),
        MIX("e4m3@fast", "e4m3@fast", E4M3, E4M3, BF16, F32, FAST),
        MIX("e5m2=f32@promoted", "e5m2=f32@promoted", E5M2, E5M2, F32, F32, PROMOTED),
        MIX("bf16@promoted", "bf16", BF16, BF16, BF16, F32, STRICT),
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
    enum { TYPES = GEMMTUNE_I32 + 1, MATHS = GEMMTUNE_MATH_BF16X3 + 1 };
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
        {"f16@slow-nn-1x2x3", "\"slow\" behind @ is neither a data type nor \"fast\" or "
                              "\"promoted\" or \"split\" or \"bf16x3\" or \"residues\""},
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
        {"f32-nn-1x2x3,", "\"\" is none of lda= ldb= ldc= batch= groups= pointers align= "
                          "masked rows= sa= sb= sc= beta packed_b row_order epi="},
        {"f32-nn-1x2x3,beta,", "\"\" is none of lda="},
        {"f32-nn-1x2x3,ldd=4", "\"ldd\" is none of lda="},
        {"f32-nn-1x2x3,lda", "lda needs a value, as in \"lda=16\""},
        {"f32-nn-1x2x3,epi", "epi needs a value, as in \"epi=relu\""},
        {"f32-nn-1x2x3,beta=1", "beta takes no value"},
        {"f32-nn-1x2x3,masked=2", "masked takes no value"},
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
        {"f32-nn-1x2x3,epi=", "column 1 of the epilogue: expected a name, not its end"},
        {"f32-nn-1x2x3,epi=bais,beta",
         "column 5 of the epilogue: \",\" cannot stand here; a problem's name has"},
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

static void test_batch_parses_and_may_be_unsupported(void **state) {
    struct gt_err err = {""};
    gemmtune_problem p;
    (void)state;
    assert_int_equal(gt_problem_from_name(&p, "f32-nn-1x2x3,batch=4", &err), GEMMTUNE_OK);
    assert_int_equal(gt_problem_from_name(&p, "f32-nn-8x2x3,groups=4", &err), GEMMTUNE_OK);
    assert_int_equal(gt_problem_from_name(&p, "f32-nn-8x2x3,groups=4,row_order", &err),
                     GEMMTUNE_OK);
    assert_int_equal(gt_problem_from_name(&p, "f16@f16-nn-8x2x3,batch=4", &err),
                     GEMMTUNE_EUNSUPPORTED);
    assert_string_equal(err.line, "problem \"f16@f16-nn-8x2x3,batch=4\": no kernel for "
                                  "types f16@f16 yet");
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
    const struct gt_dtype *row = gt_dtype_at(next_random(seed) % GT_DTYPES);
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
    enum { TYPES = GEMMTUNE_I32 + 1, MATHS = GEMMTUNE_MATH_BF16X3 + 1 };
    gemmtune_problem p = random_problem(seed);
    if (next_random(seed) % 2)
        p.type_b = (gemmtune_dtype)(next_random(seed) % TYPES);
    if (next_random(seed) % 2)
        p.type_c = (gemmtune_dtype)(next_random(seed) % TYPES);
    p.math = (gemmtune_math)(next_random(seed) % MATHS);
    p.batch_kind = (gemmtune_batch_kind)(next_random(seed) % 4);
    p.batch = 1 + random_dim(seed) % 5000;
    if (p.batch_kind == GEMMTUNE_BATCH_POINTERS)
        p.pointer_align = next_random(seed) % 2 ? 0 : 1U << next_random(seed) % 6;
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
    char text[GT_EPILOGUE_MAX] = "d=x", name[GT_PROBLEM_NAME_MAX];
    gemmtune_problem p = rows(GT_DIM_MAX - 1, GT_DIM_MAX, GT_DIM_MAX);
    (void)state;
    while (strlen(text) + 3 <= sizeof text)
        (void)strcat(text, "+x");
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_canonical_names_round_trip),
        cmocka_unit_test(test_other_spellings_become_canonical),
        cmocka_unit_test(test_name_fills_the_struct),
        cmocka_unit_test(test_words_of_types),
        cmocka_unit_test(test_every_mix_has_its_word),
        cmocka_unit_test(test_bad_names_are_quoted),
        cmocka_unit_test(test_a_very_long_name_is_refused),
        cmocka_unit_test(test_batch_parses_and_may_be_unsupported),
        cmocka_unit_test(test_random_problems_round_trip),
        cmocka_unit_test(test_random_batches_round_trip),
        cmocka_unit_test(test_the_longest_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
