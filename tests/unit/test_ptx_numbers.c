/* SPDX-License-Identifier: Apache-2.0 */
/* How the software GPU adds up products of 8-bit floats. */
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
        assert_true(sum_in_14_bits(rows[i].x, 3) == rows[i].sum);
    assert_true(isnan(sum_in_14_bits((const double[]){NAN, 1}, 2)));
    assert_true(isinf(sum_in_14_bits((const double[]){INFINITY, 1}, 2)));
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_in_14_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
