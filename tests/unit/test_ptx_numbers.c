/* SPDX-License-Identifier: Apache-2.0 */
/* How the software GPU's tensor cores add up. */
#include "tests/ptx/numbers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_sums_in_14_bits(void **state) {
    static const struct {
        double x[3], sum;
    } rows[] = {
        {{8192, 1, 0}, 8193},
        {{8192, 0.5, 0}, 8192},
        {{16384, 1, 0}, 16384},
        {{16384, -3, 0}, 16382},
        {{-16384, -3, 0}, -16386},
        {{0, 0, 0}, 0},
        {{8191, 8191, 1}, 16383},
        {{8191.5, 8191, 1}, 16383},
        {{5, -5, 0}, 0},
        {{0x1p-20, 0x1p-33, 0}, 0x1p-20 + 0x1p-33},
        {{0x1p-20, 0x1p-34, 0}, 0x1p-20},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_true(tensor_sum(rows[i].x, 3, kept_of_8_bit) == rows[i].sum);
    assert_true(isnan(tensor_sum((const double[]){NAN, 1}, 2, kept_of_8_bit)));
    assert_true(isinf(tensor_sum((const double[]){INFINITY, 1}, 2, kept_of_8_bit)));
}

/* Two bits more than an f32 has in the addends, none more in the sum. */
static void test_sums_in_24_bits(void **state) {
    static const struct {
        double x[3], sum;
    } rows[] = {
        {{1, 0x1p-23, 0x1p-23}, 1 + 0x1p-22},
        {{1, 0x1p-24, 0x1p-24}, 1 + 0x1p-23},
        {{1, 0x1.8p-24, 0x1p-25}, 1 + 0x1p-23},
        {{1, 0x1.8p-24, 0x1.fp-26}, 1},
        {{1, 0x1.ffffp-25, 0}, 1},
        {{1, -0x1p-25, 0}, 1 - 0x1p-24},
        {{1, -0x1p-26, 0}, 1},
        {{-1, -0x1.cp-23, 0}, -1 - 0x1p-23},
        {{0x1p-200, 0x1p-223, 0}, 0x1p-200 + 0x1p-223},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_true(tensor_sum(rows[i].x, 3, kept_bits) == rows[i].sum);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_in_14_bits),
        cmocka_unit_test(test_sums_in_24_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
