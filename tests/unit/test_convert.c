/* SPDX-License-Identifier: Apache-2.0 */
/* test_convert.c - gemmtune_convert: each value of each type, its rounding,
 * and refusals. */
#include "include/gemmtune.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void convert(void *dst, gemmtune_dtype dst_type, const void *src,
                    gemmtune_dtype src_type, int64_t count) {
    assert_int_equal(gemmtune_convert(dst, dst_type, 0, src, src_type, 0, 1, count),
                     GEMMTUNE_OK);
}

/* ---- floats of 16 and 8 bits, from their definitions ---- */

static const struct format {
    gemmtune_dtype type;
    int bits, fraction, bias; /* exponents count from the bias */
    bool has_infinity;
} formats[] = {
    {GEMMTUNE_F16, 16, 10, 15, true},
    {GEMMTUNE_BF16, 16, 7, 127, true},
    {GEMMTUNE_E5M2, 8, 2, 15, true},
    {GEMMTUNE_E4M3, 8, 3, 7, false},
};
enum { FORMATS = sizeof formats / sizeof *formats };

static double value_of(const struct format *f, unsigned bits) {
    const unsigned all = (1u << (f->bits - 1)) - 1, low = bits & all;
    const int stored = (int)(low >> f->fraction);
    const int top = (int)(all >> f->fraction);
    const double part = (double)(low & ((1u << f->fraction) - 1)) / (1 << f->fraction);
    const double sign = bits >> (f->bits - 1) ? -1 : 1;
    if (f->has_infinity && stored == top)
        return part > 0 ? NAN : sign * INFINITY;
    if (!f->has_infinity && low == all)
        return NAN;
    return sign *
           (stored == 0 ? ldexp(part, 1 - f->bias) : ldexp(1 + part, stored - f->bias));
}

/* The element with these bits in memory. */
static void put_bits(void *element, const struct format *f, unsigned bits) {
    const uint16_t two = (uint16_t)bits;
    const uint8_t one = (uint8_t)bits;
    memcpy(element, f->bits == 8 ? (const void *)&one : &two, (size_t)f->bits / 8);
}

static unsigned get_bits(const void *element, const struct format *f) {
    uint16_t two = 0;
    uint8_t one = 0;
    memcpy(f->bits == 8 ? (void *)&one : &two, element, (size_t)f->bits / 8);
    return f->bits == 8 ? one : two;
}

static unsigned rounded(const struct format *f, double value) {
    char element[2];
    convert(element, f->type, &value, GEMMTUNE_F64, 1);
    return get_bits(element, f);
}

static void test_every_value(void **state) {
    (void)state;
    for (const struct format *f = formats; f < formats + FORMATS; f++)
        for (unsigned bits = 0; bits < 1u << f->bits; bits++) {
            const double want = value_of(f, bits);
            char element[2];
            double got;
            float narrow;
            put_bits(element, f, bits);
            convert(&got, GEMMTUNE_F64, element, f->type, 1);
            convert(&narrow, GEMMTUNE_F32, element, f->type, 1);
            assert_true(isnan(want) ? isnan(got) && isnan(narrow)
                                    : got == want && (double)narrow == want);
            if (isnan(want)) {
                assert_true(isnan(value_of(f, rounded(f, want))));
            } else {
                assert_int_equal(signbit(got) != 0, signbit(want) != 0);
                assert_int_equal(rounded(f, want), bits);
            }
        }
}

/* Between two neighbours: the nearer one; in the middle the one with a last bit of 0. */
static void test_rounding(void **state) {
    (void)state;
    for (const struct format *f = formats; f < formats + FORMATS; f++)
        for (unsigned bits = 0; isfinite(value_of(f, bits + 1)); bits++) {
            const double x = value_of(f, bits), next = value_of(f, bits + 1);
            const double middle = (x + next) / 2;
            const unsigned sign = 1u << (f->bits - 1), even = bits + (bits & 1);
            assert_int_equal(rounded(f, middle), even);
            assert_int_equal(rounded(f, -middle), even | sign);
            assert_int_equal(rounded(f, nextafter(middle, x)), bits);
            assert_int_equal(rounded(f, -nextafter(middle, next)), (bits + 1) | sign);
        }
}

static void test_overflow(void **state) {
    (void)state;
    assert_int_equal(rounded(&formats[0], 65519), 0x7bff);
    assert_int_equal(rounded(&formats[0], 65520), 0x7c00);
    assert_int_equal(rounded(&formats[0], -INFINITY), 0xfc00);
    assert_int_equal(rounded(&formats[2], 61440), 0x7c);
    assert_int_equal(rounded(&formats[3], 448), 0x7e);
    assert_int_equal(rounded(&formats[3], 464), 0x7e);
    assert_int_equal(rounded(&formats[3], 465), 0x7f); /* NaN */
    assert_int_equal(rounded(&formats[3], -1e9), 0xff);
}

/* ---- integers ---- */

static void test_integers(void **state) {
    static const double from[] = {0.5, 1.5,  -2.5, 127.4, 1e9,
                                  NAN, -1e9, -128, 3e9,   -INFINITY};
    static const int8_t bytes[] = {0, 2, -2, 127, 127, 0, -128, -128, 127, -128};
    static const int32_t words[] = {0, 2,           -2,   127,       1000000000,
                                    0, -1000000000, -128, INT32_MAX, INT32_MIN};
    enum { COUNT = sizeof bytes };
    int8_t i8[COUNT];
    int32_t i32[COUNT];
    float f32[COUNT];
    (void)state;
    convert(i8, GEMMTUNE_I8, from, GEMMTUNE_F64, COUNT);
    convert(i32, GEMMTUNE_I32, from, GEMMTUNE_F64, COUNT);
    assert_memory_equal(i8, bytes, sizeof bytes);
    assert_memory_equal(i32, words, sizeof words);
    convert(i8, GEMMTUNE_I8, words, GEMMTUNE_I32, COUNT);
    assert_memory_equal(i8, bytes, sizeof bytes);
    convert(f32, GEMMTUNE_F32, bytes, GEMMTUNE_I8, COUNT);
    for (int i = 0; i < COUNT; i++)
        assert_true(f32[i] == (float)bytes[i]);
}

/* ---- matrices ---- */

/* Rows of 3 in rows of 4 become rows of 3 in rows of 5; the gaps stay. */
static void test_leading_dimensions(void **state) {
    const float from[] = {1, 2, 3, 9, 4, 5, 6, 9};
    uint16_t to[10];
    static const uint16_t want[] = {0x3c00, 0x4000, 0x4200, 0xffff, 0xffff,
                                    0x4400, 0x4500, 0x4600, 0xffff, 0xffff};
    (void)state;
    memset(to, 0xff, sizeof to);
    assert_int_equal(gemmtune_convert(to, GEMMTUNE_F16, 5, from, GEMMTUNE_F32, 4, 2, 3),
                     GEMMTUNE_OK);
    assert_memory_equal(to, want, sizeof to);
    assert_int_equal(gemmtune_convert(to, GEMMTUNE_F16, 5, from, GEMMTUNE_F32, 4, 0, 3),
                     GEMMTUNE_OK);
    assert_memory_equal(to, want, sizeof to);
}

static void test_refusals(void **state) {
    const gemmtune_dtype strange = (gemmtune_dtype)77, f32 = GEMMTUNE_F32;
    float x[4] = {0};
    double y[4] = {0};
    const struct {
        void *dst;
        gemmtune_dtype dst_type;
        int64_t dst_ld;
        const void *src;
        gemmtune_dtype src_type;
        int64_t src_ld, rows, cols;
        const char *said;
    } rows[] = {
        {NULL, f32, 0, y, GEMMTUNE_F64, 0, 1, 1, "dst is NULL"},
        {x, f32, 0, NULL, GEMMTUNE_F64, 0, 1, 1, "src is NULL"},
        {x, strange, 0, y, GEMMTUNE_F64, 0, 1, 1, "dst_type is 77"},
        {x, f32, 0, y, strange, 0, 1, 1, "src_type is 77"},
        {x, f32, 1, y, GEMMTUNE_F64, 0, 1, 2,
         "dst_ld is 1, must be 0 (packed) or at least"},
        {x, f32, 0, y, GEMMTUNE_F64, -1, 1, 2, "src_ld is -1"},
        {x, f32, 0, y, GEMMTUNE_F64, 0, -1, 2, "-1 x 2 elements"},
        {x, f32, 0, y, GEMMTUNE_F64, 0, 1, INT64_MAX, "elements: each must be from 0"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(gemmtune_convert(rows[i].dst, rows[i].dst_type, rows[i].dst_ld,
                                          rows[i].src, rows[i].src_type, rows[i].src_ld,
                                          rows[i].rows, rows[i].cols),
                         GEMMTUNE_EINVAL);
        assert_non_null(strstr(gemmtune_errmsg(), rows[i].said));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_value),        cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_overflow),           cmocka_unit_test(test_integers),
        cmocka_unit_test(test_leading_dimensions), cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
