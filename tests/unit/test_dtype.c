/* SPDX-License-Identifier: Apache-2.0 */
#include "core/dtype.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_rows_mean_what_the_names_say(void **state) {
    static const struct gt_dtype expected[] = {
        {"f32", GEMMTUNE_F32, GEMMTUNE_F32, GEMMTUNE_F32, GEMMTUNE_F32,
         GEMMTUNE_MATH_STRICT},
        {"f64", GEMMTUNE_F64, GEMMTUNE_F64, GEMMTUNE_F64, GEMMTUNE_F64,
         GEMMTUNE_MATH_STRICT},
        {"i32", GEMMTUNE_I32, GEMMTUNE_I32, GEMMTUNE_I32, GEMMTUNE_I32,
         GEMMTUNE_MATH_STRICT},
        {"f16", GEMMTUNE_F16, GEMMTUNE_F16, GEMMTUNE_F16, GEMMTUNE_F32,
         GEMMTUNE_MATH_STRICT},
        {"bf16", GEMMTUNE_BF16, GEMMTUNE_BF16, GEMMTUNE_BF16, GEMMTUNE_F32,
         GEMMTUNE_MATH_STRICT},
        {"tf32", GEMMTUNE_F32, GEMMTUNE_F32, GEMMTUNE_F32, GEMMTUNE_F32,
         GEMMTUNE_MATH_TF32},
        {"f32@split", GEMMTUNE_F32, GEMMTUNE_F32, GEMMTUNE_F32, GEMMTUNE_F32,
         GEMMTUNE_MATH_SPLIT},
        {"f64@residues", GEMMTUNE_F64, GEMMTUNE_F64, GEMMTUNE_F64, GEMMTUNE_F64,
         GEMMTUNE_MATH_RESIDUES},
        {"f32@bf16x3", GEMMTUNE_F32, GEMMTUNE_F32, GEMMTUNE_F32, GEMMTUNE_F32,
         GEMMTUNE_MATH_BF16X3},
        {"i8", GEMMTUNE_I8, GEMMTUNE_I8, GEMMTUNE_I32, GEMMTUNE_I32, GEMMTUNE_MATH_STRICT},
        {"i8=bf16", GEMMTUNE_I8, GEMMTUNE_I8, GEMMTUNE_BF16, GEMMTUNE_I32,
         GEMMTUNE_MATH_STRICT},
        {"i8=i8", GEMMTUNE_I8, GEMMTUNE_I8, GEMMTUNE_I8, GEMMTUNE_I32,
         GEMMTUNE_MATH_STRICT},
        {"e4m3", GEMMTUNE_E4M3, GEMMTUNE_E4M3, GEMMTUNE_BF16, GEMMTUNE_F32,
         GEMMTUNE_MATH_STRICT},
        {"f16=f32", GEMMTUNE_F16, GEMMTUNE_F16, GEMMTUNE_F32, GEMMTUNE_F32,
         GEMMTUNE_MATH_STRICT},
        {"bf16=f32", GEMMTUNE_BF16, GEMMTUNE_BF16, GEMMTUNE_F32, GEMMTUNE_F32,
         GEMMTUNE_MATH_STRICT},
    };
    enum { NAMED = sizeof expected / sizeof *expected, COUNT = GT_DTYPES };
    (void)state;
    for (size_t i = 0; i < NAMED; i++) {
        const struct gt_dtype *e = &expected[i];
        const struct gt_dtype *row = gt_dtype_by_name(e->name, strlen(e->name));
        assert_non_null(row);
        assert_int_equal(row->a, e->a);
        assert_int_equal(row->b, e->b);
        assert_int_equal(row->c, e->c);
        assert_int_equal(row->acc, e->acc);
        assert_int_equal(row->math, e->math);
    }
    assert_non_null(gt_dtype_at(COUNT - 1));
    assert_null(gt_dtype_at(COUNT));
    assert_null(gt_dtype_at(SIZE_MAX));
}

static void test_by_name_wants_the_whole_name(void **state) {
    (void)state;
    assert_null(gt_dtype_by_name("f3", 2));
    assert_null(gt_dtype_by_name("f321", 4));
    assert_null(gt_dtype_by_name("F32", 3));
    assert_null(gt_dtype_by_name("", 0));
    assert_ptr_equal(gt_dtype_by_name("f32-nn", 3), gt_dtype_at(0));
}

static void test_of_finds_every_row_and_no_mix(void **state) {
    (void)state;
    for (size_t i = 0; gt_dtype_at(i) != NULL; i++) {
        const struct gt_dtype *row = gt_dtype_at(i);
        gemmtune_problem p = {.type_a = row->a,
                              .type_b = row->b,
                              .type_c = row->c,
                              .type_acc = row->acc,
                              .math = row->math};
        assert_ptr_equal(gt_dtype_of(&p), row);
        p.type_b = GEMMTUNE_F64;
        assert_true((gt_dtype_of(&p) == NULL) == (row->a != GEMMTUNE_F64));
    }
}

/* A row's name is the word that the name of a problem has for its types. */
static void test_names_are_canonical(void **state) {
    (void)state;
    for (size_t i = 0; gt_dtype_at(i) != NULL; i++) {
        const struct gt_dtype *row = gt_dtype_at(i);
        gemmtune_problem p = {.layout = GEMMTUNE_ROW_MAJOR};
        char word[GT_TYPES_WORD_MAX];
        assert_int_equal(gt_types_from_word(&p, row->name, strlen(row->name), NULL),
                         GEMMTUNE_OK);
        assert_ptr_equal(gt_dtype_of(&p), row);
        (void)gt_types_word(&p, word);
        assert_string_equal(word, row->name);
        assert_int_equal(gt_dtype_index(row), i);
    }
}

/* A and B are both 8-bit floats: 4 inputs, 3 outputs, 3 kinds of sums. */
static void test_floats_of_8_bits(void **state) {
    static const gemmtune_dtype outputs[] = {GEMMTUNE_BF16, GEMMTUNE_F16, GEMMTUNE_F32};
    static const gemmtune_math sums[] = {GEMMTUNE_MATH_STRICT, GEMMTUNE_MATH_FAST,
                                         GEMMTUNE_MATH_PROMOTED};
    int count = 0;
    (void)state;
    for (size_t i = 0; gt_dtype_at(i) != NULL; i++)
        count += gt_dtype_is_float_8(gt_dtype_at(i));
    assert_int_equal(count, 36);
    for (int i = 0; i < 36; i++) {
        const gemmtune_problem p = {
            .type_a = i & 1 ? GEMMTUNE_E5M2 : GEMMTUNE_E4M3,
            .type_b = i & 2 ? GEMMTUNE_E5M2 : GEMMTUNE_E4M3,
            .type_c = outputs[i / 12],
            .type_acc = GEMMTUNE_F32,
            .math = sums[i / 4 % 3],
        };
        assert_non_null(gt_dtype_of(&p));
        assert_true(gt_dtype_is_float_8(gt_dtype_of(&p)));
    }
}

static const struct gt_dtype *mix(const char *name) {
    return gt_dtype_by_name(name, strlen(name));
}

static void test_strict_mixes(void **state) {
    (void)state;
    assert_ptr_equal(gt_dtype_strict(mix("tf32")), mix("f32"));
    assert_ptr_equal(gt_dtype_strict(mix("f32@split")), mix("f32"));
    assert_ptr_equal(gt_dtype_strict(mix("f64@residues")), mix("f64"));
    assert_ptr_equal(gt_dtype_strict(mix("f32@bf16x3")), mix("f32"));
    assert_ptr_equal(gt_dtype_strict(mix("e4m3+e5m2=f16@fast")), mix("e4m3+e5m2=f16"));
    assert_ptr_equal(gt_dtype_strict(mix("e5m2@promoted")), mix("e5m2"));
    assert_ptr_equal(gt_dtype_strict(mix("i8")), mix("i8"));
    assert_null(gt_dtype_strict(NULL));
}

/* The units of sums and inputs, apart from the types' own. */
static void test_units_of_math(void **state) {
    static const struct {
        const char *types;
        double sum, input;
    } rows[] = {
        {"f32", 0x1p-24, 0},
        {"f32@split", 0x1p-24, 0},
        {"tf32", 0x1p-24, 0x1p-10},
        {"f64", 0x1p-53, 0},
        {"bf16", 0x1p-24, 0},
        {"e4m3=f32@fast", 0x1p-14, 0},
        {"e4m3=f32@promoted", 0x1p-14, 0},
        {"i8", 0, 0},
        {"e5m2", 0x1p-24, 0},
        {"e5m2+e4m3=f16", 0x1p-24, 0},
        {"f64@residues", 0x1p-53, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gemmtune_problem p;
        assert_int_equal(gt_types_from_word(&p, rows[i].types, strlen(rows[i].types), NULL),
                         GEMMTUNE_OK);
        assert_true(gt_sum_unit(&p) == rows[i].sum);
        assert_true(gt_input_unit(&p) == rows[i].input);
    }
}

/* Only PROMOTED ends a partial sum before the end of k. */
static void test_depth_of_sums(void **state) {
    static const struct {
        const char *types;
        int64_t k, depth;
        double spread;
    } rows[] = {{"e4m3@promoted", 8192, 128, 0.125}, {"e4m3@promoted", 127, 127, 1},
                {"e5m2@promoted", 128, 128, 1},      {"e4m3@promoted", 0, 0, 1},
                {"e4m3@fast", 4096, 4096, 1},        {"bf16", 4096, 4096, 1}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gemmtune_problem p = {.k = rows[i].k};
        assert_int_equal(gt_types_from_word(&p, rows[i].types, strlen(rows[i].types), NULL),
                         GEMMTUNE_OK);
        assert_int_equal(gt_sum_depth(&p), rows[i].depth);
        assert_true(gt_sum_spread(&p) == rows[i].spread);
    }
}

static void test_inputs(void **state) {
    (void)state;
    for (gemmtune_dtype type = GEMMTUNE_F32; type <= GEMMTUNE_I32; type++) {
        const char *name = gt_type_name(type);
        const struct gt_input *in = gt_input_by_name(name, strlen(name));
        gemmtune_dtype again;
        assert_non_null(in);
        assert_ptr_equal(in, gt_input_of(type, GEMMTUNE_MATH_STRICT));
        assert_int_equal(in->type, type);
        assert_int_equal(in->acc, gt_type_accumulator(type, type));
        assert_true(gt_type_by_name(&again, name, strlen(name)));
        assert_int_equal(again, type);
    }
    assert_ptr_equal(gt_input_by_name("tf32", 4),
                     gt_input_of(GEMMTUNE_F32, GEMMTUNE_MATH_TF32));
    assert_null(gt_input_by_name("tf3", 3));
    assert_null(gt_input_of(GEMMTUNE_BF16, GEMMTUNE_MATH_TF32));
    gemmtune_dtype none;
    assert_false(gt_type_by_name(&none, "tf32", 4));
}

static void test_accumulators(void **state) {
    (void)state;
    assert_int_equal(gt_type_accumulator(GEMMTUNE_E4M3, GEMMTUNE_E5M2), GEMMTUNE_F32);
    assert_int_equal(gt_type_accumulator(GEMMTUNE_I8, GEMMTUNE_BF16), GEMMTUNE_F32);
    assert_int_equal(gt_type_accumulator(GEMMTUNE_I8, GEMMTUNE_I32), GEMMTUNE_I32);
    assert_int_equal(gt_type_accumulator(GEMMTUNE_F32, GEMMTUNE_F64), GEMMTUNE_F64);
}

/* A licence that says nothing about the types is none. */
static void test_math_of_types(void **state) {
    static const struct {
        gemmtune_math given;
        gemmtune_dtype a, b, acc;
        gemmtune_math means;
    } cases[] = {
        {GEMMTUNE_MATH_TF32, GEMMTUNE_F32, GEMMTUNE_F32, GEMMTUNE_F32, GEMMTUNE_MATH_TF32},
        {GEMMTUNE_MATH_TF32, GEMMTUNE_F32, GEMMTUNE_BF16, GEMMTUNE_F32,
         GEMMTUNE_MATH_STRICT},
        {GEMMTUNE_MATH_TF32, GEMMTUNE_F64, GEMMTUNE_F64, GEMMTUNE_F64,
         GEMMTUNE_MATH_STRICT},
        {GEMMTUNE_MATH_SPLIT, GEMMTUNE_F32, GEMMTUNE_F32, GEMMTUNE_F32,
         GEMMTUNE_MATH_SPLIT},
        {GEMMTUNE_MATH_BF16X3, GEMMTUNE_F32, GEMMTUNE_F32, GEMMTUNE_F32,
         GEMMTUNE_MATH_BF16X3},
        {GEMMTUNE_MATH_BF16X3, GEMMTUNE_BF16, GEMMTUNE_BF16, GEMMTUNE_F32,
         GEMMTUNE_MATH_STRICT},
        {GEMMTUNE_MATH_SPLIT, GEMMTUNE_F32, GEMMTUNE_F32, GEMMTUNE_F64,
         GEMMTUNE_MATH_STRICT},
        {GEMMTUNE_MATH_SPLIT, GEMMTUNE_F64, GEMMTUNE_F64, GEMMTUNE_F64,
         GEMMTUNE_MATH_STRICT},
        {GEMMTUNE_MATH_RESIDUES, GEMMTUNE_F64, GEMMTUNE_F64, GEMMTUNE_F64,
         GEMMTUNE_MATH_RESIDUES},
        {GEMMTUNE_MATH_RESIDUES, GEMMTUNE_F32, GEMMTUNE_F32, GEMMTUNE_F64,
         GEMMTUNE_MATH_STRICT},
        {GEMMTUNE_MATH_FAST, GEMMTUNE_E4M3, GEMMTUNE_E5M2, GEMMTUNE_F32,
         GEMMTUNE_MATH_FAST},
        {GEMMTUNE_MATH_PROMOTED, GEMMTUNE_E5M2, GEMMTUNE_E5M2, GEMMTUNE_F32,
         GEMMTUNE_MATH_PROMOTED},
        {GEMMTUNE_MATH_PROMOTED, GEMMTUNE_BF16, GEMMTUNE_BF16, GEMMTUNE_F32,
         GEMMTUNE_MATH_STRICT},
        {GEMMTUNE_MATH_FAST, GEMMTUNE_E4M3, GEMMTUNE_E4M3, GEMMTUNE_F16,
         GEMMTUNE_MATH_STRICT},
        {GEMMTUNE_MATH_FAST, GEMMTUNE_I8, GEMMTUNE_I8, GEMMTUNE_I32, GEMMTUNE_MATH_STRICT},
        {GEMMTUNE_MATH_FAST, GEMMTUNE_F32, GEMMTUNE_F32, GEMMTUNE_F32,
         GEMMTUNE_MATH_STRICT},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(gt_type_math(cases[i].given, cases[i].a, cases[i].b, cases[i].acc),
                         cases[i].means);
}

static void test_types(void **state) {
    static const struct {
        gemmtune_dtype type;
        const char *name;
        size_t size;
        int bits; /* of the significand, 0 for integers */
    } rows[] = {
        {GEMMTUNE_F32, "f32", 4, 24},  {GEMMTUNE_F64, "f64", 8, 53},
        {GEMMTUNE_F16, "f16", 2, 11},  {GEMMTUNE_BF16, "bf16", 2, 8},
        {GEMMTUNE_E4M3, "e4m3", 1, 4}, {GEMMTUNE_E5M2, "e5m2", 1, 3},
        {GEMMTUNE_I8, "i8", 1, 0},     {GEMMTUNE_I32, "i32", 4, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double unit = rows[i].bits > 0 ? 1 : 0;
        for (int bit = 0; bit < rows[i].bits; bit++)
            unit /= 2;
        assert_string_equal(gt_type_name(rows[i].type), rows[i].name);
        assert_int_equal(gt_type_size(rows[i].type), rows[i].size);
        assert_int_equal(gt_type_is_float(rows[i].type), rows[i].bits > 0);
        assert_true(gt_type_unit(rows[i].type) == unit);
    }
}

static void test_type_outside_the_enum(void **state) {
    const gemmtune_dtype strange = (gemmtune_dtype)77;
    (void)state;
    assert_int_equal(gt_type_size(strange), 0);
    assert_string_equal(gt_type_name(strange), "?");
    assert_false(gt_type_is_float(strange));
    assert_true(gt_type_unit(strange) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_mean_what_the_names_say),
        cmocka_unit_test(test_by_name_wants_the_whole_name),
        cmocka_unit_test(test_of_finds_every_row_and_no_mix),
        cmocka_unit_test(test_names_are_canonical),
        cmocka_unit_test(test_floats_of_8_bits),
        cmocka_unit_test(test_strict_mixes),
        cmocka_unit_test(test_units_of_math),
        cmocka_unit_test(test_depth_of_sums),
        cmocka_unit_test(test_inputs),
        cmocka_unit_test(test_accumulators),
        cmocka_unit_test(test_math_of_types),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_type_outside_the_enum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
