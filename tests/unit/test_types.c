/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_types.c - how kernels convert elements of 16 and 8 bits. templates/common/types.h is
 * also OpenCL C and is compiled here.
 */
#include "core/element.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Words that the compiler of a device knows. */
#define __OPENCL_VERSION__ 120
#define GT_F16             0
#define GT_PTX             0
#define __global
#define __local
#define uint          unsigned
#define GT_TYPE_A     bf16
#define GT_TYPE_B     bf16
#define GT_TYPE_C     bf16
#define GT_TYPE_ACC   f32
#define GT_SIZEOF_ACC 4
#define GT_EPILOGUE   0
#define GT_FLOAT      1
static float as_float(unsigned bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
static unsigned as_uint(float x) {
    unsigned bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wfloat-equal"
#define fma fmaf
#include "templates/common/dialect.h"
#include "templates/common/types.h"
#undef fma
#pragma GCC diagnostic pop

static bool is_nan(unsigned bits) {
    return (bits & 0x7fff) > 0x7f80;
}

/* Each bf16 is an f32, and the way back ends where it began. */
static void test_there_and_back(void **state) {
    (void)state;
    for (unsigned bits = 0; bits < 65536; bits++) {
        const float x = gt_from_a((gt_bf16)bits);
        const unsigned back = gt_to_c(x);
        if (is_nan(bits))
            assert_true(is_nan(back));
        else
            assert_int_equal(back, bits);
    }
}

/* Between two neighbours: the nearer one; in the middle the one with a last bit of 0. */
static void test_rounding(void **state) {
    (void)state;
    for (unsigned low = 0; low < 0x7f80; low++)
        for (unsigned sign = 0; sign < 2; sign++) {
            const unsigned here = low | sign << 15, bits = here << 16;
            const unsigned even = here + (here & 1);
            assert_int_equal(gt_to_c(as_float(bits + 1)), here);
            assert_int_equal(gt_to_c(as_float(bits + 0x7fff)), here);
            assert_int_equal(gt_to_c(as_float(bits + 0x8000)), even);
            assert_int_equal(gt_to_c(as_float(bits + 0x8001)), here + 1);
            assert_int_equal(gt_to_c(as_float(bits + 0xffff)), here + 1);
        }
}

/* A NaN with an upper half that alone would be an infinity. */
static void test_nan(void **state) {
    (void)state;
    assert_true(is_nan(gt_to_c(as_float(0x7f800001))));
    assert_true(is_nan(gt_to_c(as_float(0xffffffff))));
    assert_int_equal(gt_to_c(INFINITY), 0x7f80);
    assert_int_equal(gt_to_c(-INFINITY), 0xff80);
}

/* alpha, beta and the sum are f32: the product is rounded once, to bf16. */
static void test_store(void **state) {
    gt_bf16 c = 0x7fc0; /* NaN */
    (void)state;
    gt_store_c(&c, 2, 1.501953125f, 0); /* 3.00390625, nearer to 3 than to 3.015625 */
    assert_int_equal(c, 0x4040);
    gt_store_c(&c, 1, 0.0078125f, 1); /* 3.0078125, in the middle */
    assert_int_equal(c, 0x4040);
    gt_store_c(&c, 1, 0.0079f, 1);
    assert_int_equal(c, 0x4041);
    assert_true(gt_multiply_add(0x3fc0, 0x4000, 0.25f) == 3.25f); /* 1.5 times 2 */
}

/* ---- f16 ---- */

static float f32_of(gemmtune_dtype type, unsigned bits) {
    const uint16_t two = (uint16_t)bits;
    const uint8_t one = (uint8_t)bits;
    return (float)gt_element_get(gt_type_size(type) == 1 ? (const void *)&one : &two, type);
}

/* The same number, sign of zero included, or both NaN. */
static void assert_same(float x, float y) {
    if (x != x || y != y)
        assert_true(x != x && y != y);
    else
        assert_int_equal(as_uint(x), as_uint(y));
}

static void test_f16_there_and_back(void **state) {
    (void)state;
    for (unsigned bits = 0; bits < 65536; bits++) {
        const float x = gt_from_f16((gt_f16)bits);
        assert_same(x, f32_of(GEMMTUNE_F16, bits));
        assert_same(f32_of(GEMMTUNE_F16, gt_to_f16(x)), x);
    }
}

/* Between two neighbours, in steps of half of their distance and a little beside. */
static void test_f16_rounding(void **state) {
    (void)state;
    for (unsigned low = 0; low < 0x7c00; low++)
        for (unsigned sign = 0; sign < 2; sign++) {
            const unsigned here = low | sign << 15, even = here + (here & 1);
            const float x = f32_of(GEMMTUNE_F16, here);
            const float next = low == 0x7bff ? (sign ? -65536.0f : 65536.0f)
                                             : f32_of(GEMMTUNE_F16, here + 1);
            const float middle = (x + next) / 2;
            assert_int_equal(gt_to_f16(nextafterf(middle, 0)), here);
            assert_int_equal(gt_to_f16(middle), even);
            assert_int_equal(gt_to_f16(nextafterf(middle, next)), here + 1);
            assert_int_equal(gt_to_f16(nextafterf(next, 0)), here + 1);
        }
}

static void test_f16_extremes(void **state) {
    (void)state;
    assert_int_equal(gt_to_f16(INFINITY), 0x7c00);
    assert_int_equal(gt_to_f16(-INFINITY), 0xfc00);
    assert_int_equal(gt_to_f16(-1e30f), 0xfc00);
    assert_int_equal(gt_to_f16(0x1p-149f), 0);
    assert_int_equal(gt_to_f16(-0.0f), 0x8000);
    assert_true((gt_to_f16(as_float(0x7f800001)) & 0x7fff) > 0x7c00);
}

/* ---- 8 bits ---- */

static void test_8_bits(void **state) {
    (void)state;
    for (unsigned bits = 0; bits < 256; bits++) {
        assert_same(gt_from_e4m3((gt_e4m3)bits), f32_of(GEMMTUNE_E4M3, bits));
        assert_same(gt_from_e5m2((gt_e5m2)bits), f32_of(GEMMTUNE_E5M2, bits));
    }
    for (int i = -128; i < 128; i++)
        assert_int_equal((int)gt_from_i8((gt_i8)i), i);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_f16_there_and_back),
        cmocka_unit_test(test_f16_rounding),
        cmocka_unit_test(test_f16_extremes),
        cmocka_unit_test(test_8_bits),
        cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_nan),
        cmocka_unit_test(test_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
