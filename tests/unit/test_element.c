/* SPDX-License-Identifier: Apache-2.0 */
#include "core/element.h"
#include "tuner/lab/data.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const gemmtune_dtype all[] = {GEMMTUNE_F32,  GEMMTUNE_F64,  GEMMTUNE_F16,
                                     GEMMTUNE_BF16, GEMMTUNE_E4M3, GEMMTUNE_E5M2,
                                     GEMMTUNE_I8,   GEMMTUNE_I32};
enum { TYPES = sizeof all / sizeof *all };

/* The value of a word of a narrow type: little-endian, as everywhere here. */
static double value_of(gemmtune_dtype type, uint16_t word) {
    return gt_element_get(&word, type);
}

static uint16_t word_of(gemmtune_dtype type, double value) {
    uint16_t word = 0;
    gt_element_put(&word, type, value);
    return word;
}

static void test_what_a_type_holds(void **state) {
    static const struct {
        gemmtune_dtype type;
        int bits;
        double exact, least;
    } rows[] = {
        {GEMMTUNE_F32, 24, 0x1p24, 0x1p-126},
        {GEMMTUNE_F64, 53, 0x1p53, 0x1p-1022},
        {GEMMTUNE_F16, 11, 2048, 0x1p-14},
        {GEMMTUNE_BF16, 8, 256, 0x1p-126},
        {GEMMTUNE_E4M3, 4, 16, 0x1p-6},
        {GEMMTUNE_E5M2, 3, 8, 0x1p-14},
        {GEMMTUNE_I8, 0, 127, 0},
        {GEMMTUNE_I32, 0, 2147483647, 0},
    };
    (void)state;
    for (size_t i = 0; i < TYPES; i++) {
        assert_int_equal(gt_type_bits(rows[i].type), rows[i].bits);
        assert_true(gt_type_exact(rows[i].type) == rows[i].exact);
        assert_true(gt_type_least(rows[i].type) == rows[i].least);
    }
}

static void test_known_words(void **state) {
    static const struct {
        gemmtune_dtype type;
        uint16_t word;
        double value;
    } rows[] = {
        {GEMMTUNE_BF16, 0x3f80, 1},        {GEMMTUNE_BF16, 0xc049, -3.140625},
        {GEMMTUNE_BF16, 0x0001, 0x1p-133}, {GEMMTUNE_BF16, 0x7f7f, 0x1.fep127},
        {GEMMTUNE_F16, 0x3c00, 1},         {GEMMTUNE_F16, 0xc248, -3.140625},
        {GEMMTUNE_F16, 0x0001, 0x1p-24},   {GEMMTUNE_F16, 0x7bff, 65504},
        {GEMMTUNE_E4M3, 0x38, 1},          {GEMMTUNE_E4M3, 0x7e, 448},
        {GEMMTUNE_E4M3, 0x01, 0x1p-9},     {GEMMTUNE_E4M3, 0xb8, -1},
        {GEMMTUNE_E5M2, 0x3c, 1},          {GEMMTUNE_E5M2, 0x7b, 57344},
        {GEMMTUNE_E5M2, 0x01, 0x1p-16},    {GEMMTUNE_I8, 0x80, -128},
        {GEMMTUNE_F16, 0x7c00, INFINITY},  {GEMMTUNE_BF16, 0xff80, -INFINITY},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true(value_of(rows[i].type, rows[i].word) == rows[i].value);
        assert_int_equal(word_of(rows[i].type, rows[i].value), rows[i].word);
    }
}

static void test_every_narrow_word_comes_back(void **state) {
    (void)state;
    for (size_t i = 0; i < TYPES; i++) {
        const size_t bits = 8 * gt_type_size(all[i]);
        for (uint32_t w = 0; bits <= 16 && w < UINT32_C(1) << bits; w++) {
            const double value = value_of(all[i], (uint16_t)w);
            if (isnan(value))
                assert_true(isnan(value_of(all[i], word_of(all[i], value))));
            else
                assert_int_equal(word_of(all[i], value), w);
        }
    }
}

/* Between two neighbours: the nearer one; in the middle the one with a last bit of 0. */
static void test_rounds_to_nearest_even(void **state) {
    (void)state;
    for (size_t i = 0; i < TYPES; i++) {
        const bool narrow = gt_type_is_float(all[i]) && gt_type_size(all[i]) <= 2;
        const double largest = gt_type_size(all[i]) == 1 ? 0x70 : 0x7b00;
        for (uint32_t w = 0; narrow && w < (uint32_t)largest; w++) {
            const double low = value_of(all[i], (uint16_t)w);
            const double high = value_of(all[i], (uint16_t)(w + 1));
            const double middle = (low + high) / 2, little = (high - low) / 1024;
            assert_int_equal(word_of(all[i], middle - little), w);
            assert_int_equal(word_of(all[i], middle + little), w + 1);
            assert_int_equal(word_of(all[i], middle), w % 2 == 0 ? w : w + 1);
        }
    }
}

static void test_past_the_largest(void **state) {
    (void)state;
    assert_true(isinf(gt_element_round(GEMMTUNE_F16, 65520)));
    assert_true(gt_element_round(GEMMTUNE_F16, 65519) == 65504);
    assert_true(isinf(gt_element_round(GEMMTUNE_BF16, -1e300)));
    assert_true(isnan(gt_element_round(GEMMTUNE_E4M3, 500)));
    assert_true(isnan(gt_element_round(GEMMTUNE_E4M3, INFINITY)));
    assert_true(isnan(gt_element_round(GEMMTUNE_BF16, NAN)));
}

/* The host's own conversion to f32 is the judge: numbers of every size, and the middle
 * between neighbours. */
static void test_grid_of_f32_is_that_of_the_host(void **state) {
    const struct gt_grid grid = gt_grid_of(GEMMTUNE_F32);
    (void)state;
    for (int exponent = -160; exponent < 130; exponent++)
        for (int i = 0; i < 64; i++) {
            const double value = ldexp(1 + i / 64.0 + i % 3 * 0x1p-24, exponent);
            assert_true(gt_grid_round(&grid, value) == (double)(float)value);
            assert_true(gt_grid_round(&grid, -value) == (double)(float)-value);
        }
    assert_true(isinf(gt_grid_round(&grid, 1e300)));
    assert_true(isnan(gt_grid_round(&grid, NAN)));
    assert_true(signbit(gt_grid_round(&grid, -0.0)));
}

static void test_elements_one_after_another(void **state) {
    static const double value[] = {1, -0.5, 0, 3, -2, 100, 96, 7};
    enum { COUNT = sizeof value / sizeof *value };
    (void)state;
    for (size_t i = 0; i < TYPES; i++) {
        const size_t size = gt_type_size(all[i]);
        char together[COUNT * sizeof(double)];
        double back[COUNT];
        gt_elements_put(together, all[i], value, COUNT);
        gt_elements_get(back, together, all[i], COUNT);
        for (int k = 0; k < COUNT; k++) {
            char single[sizeof(double)];
            gt_element_put(single, all[i], value[k]);
            assert_memory_equal(together + (size_t)k * size, single, size);
            assert_true(back[k] == gt_element_round(all[i], value[k]));
        }
    }
}

/* The generator's values are elements: nothing is rounded when they are stored. */
static void test_data_are_elements(void **state) {
    (void)state;
    for (size_t i = 0; i < TYPES; i++) {
        double least = 0, most = 0;
        for (int row = 0; row < 2000; row++)
            for (int mode = GT_DATA_SMALL; mode <= GT_DATA_UNIT; mode++) {
                const double v =
                    gt_data_value(7, row, row % 5, (enum gt_data_mode)mode, all[i]);
                assert_true(gt_element_round(all[i], v) == v);
                least = v < least ? v : least;
                most = v > most ? v : most;
            }
        assert_true(least < -2 && most > 2);
    }
}

/* A fill writes as many bytes as elements have, and no more. */
static void test_fill_keeps_to_the_elements(void **state) {
    enum { ROWS = 3, COLS = 5, LD = 7 };
    (void)state;
    for (size_t i = 0; i < TYPES; i++) {
        unsigned char x[ROWS * LD * 8 + 8];
        const size_t size = gt_type_size(all[i]);
        memset(x, 0xa5, sizeof x);
        const struct gt_stack stored = {
            .type = all[i], .count = 1, .rows = ROWS, .cols = COLS, .ld = LD};
        gt_data_fill(x, &stored, 3, GT_DATA_SMALL);
        for (size_t at = 0; at < sizeof x; at++) {
            const size_t e = at / size;
            const bool inside = e / LD < ROWS && e % LD < COLS;
            assert_true(inside || x[at] == 0xa5);
        }
        assert_true(gt_element_get(x + (LD + 2) * size, all[i]) ==
                    gt_data_value(3, 1, 2, GT_DATA_SMALL, all[i]));
    }
}

static void test_sums_that_are_exact(void **state) {
    (void)state;
    static const struct {
        const char *types;
        int64_t k;
        enum gt_data_mode mode;
    } rows[] = {
        {"f32", 4096, GT_DATA_SMALL},
        {"f32", 1 << 20, GT_DATA_UNIT},
        {"f64", 1 << 30, GT_DATA_SMALL},
        {"i32", 1 << 30, GT_DATA_SMALL},
        {"f16", 4096, GT_DATA_SMALL},
        {"tf32", 4096, GT_DATA_SMALL},
        {"i8", 1 << 30, GT_DATA_SMALL},
        {"i8=i8", 8, GT_DATA_SMALL},
        {"i8=i8", 9, GT_DATA_UNIT},
        {"e4m3=f32", 4096, GT_DATA_SMALL},
        {"e4m3@fast", 128, GT_DATA_SMALL},
        {"e4m3@fast", 4096, GT_DATA_UNIT},
        {"e4m3@promoted", 128, GT_DATA_SMALL},
        {"e4m3@promoted", 4096, GT_DATA_HIGH},
        {"e5m2=f16@promoted", 4096, GT_DATA_SMALL},
        {"e4m3@promoted", 1 << 20, GT_DATA_UNIT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gemmtune_problem p;
        assert_int_equal(gt_types_from_word(&p, rows[i].types, strlen(rows[i].types), NULL),
                         GEMMTUNE_OK);
        assert_int_equal(gt_data_exact(&p, rows[i].k), rows[i].mode);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_a_type_holds),
        cmocka_unit_test(test_known_words),
        cmocka_unit_test(test_every_narrow_word_comes_back),
        cmocka_unit_test(test_rounds_to_nearest_even),
        cmocka_unit_test(test_past_the_largest),
        cmocka_unit_test(test_grid_of_f32_is_that_of_the_host),
        cmocka_unit_test(test_elements_one_after_another),
        cmocka_unit_test(test_data_are_elements),
        cmocka_unit_test(test_fill_keeps_to_the_elements),
        cmocka_unit_test(test_sums_that_are_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
