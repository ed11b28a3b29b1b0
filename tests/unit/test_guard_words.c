/* SPDX-License-Identifier: Apache-2.0 */
/* The words around operands: NaN or a number in every type, and others for each seed. */
#include "tuner/lab/data.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { SEEDS = 1000 };

static const gemmtune_dtype types[] = {GEMMTUNE_F64,  GEMMTUNE_F32,  GEMMTUNE_F16,
                                       GEMMTUNE_BF16, GEMMTUNE_E4M3, GEMMTUNE_E5M2};

/* Whether all elements in two words are NaN, or all are numbers. */
static bool all_are(bool nan, gemmtune_dtype type, uint32_t word) {
    const uint32_t two[2] = {word, word};
    const size_t size = gt_type_size(type);
    for (size_t at = 0; at < sizeof two; at += size) {
        const double x = gt_element_get((const char *)two + at, type);
        if (nan ? !isnan(x) : !isfinite(x))
            return false;
    }
    return true;
}

static void test_words(void **state) {
    (void)state;
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            const uint32_t nan = gt_data_nan_word(types[t], seed);
            const uint32_t number = gt_data_finite_word(seed);
            if (!all_are(true, types[t], nan) || !all_are(false, types[t], number))
                fail_msg("%s, seed %d: %08x, %08x", gt_type_name(types[t]), (int)seed, nan,
                         number);
        }
}

/* Few seeds share a word: 10 bits are left to chance, 4 with 8-bit floats, and 20. */
static void test_seeds(void **state) {
    int same_nan = 0, same_byte = 0, same_number = 0;
    (void)state;
    for (uint64_t seed = 1; seed < SEEDS; seed++) {
        same_nan +=
            gt_data_nan_word(GEMMTUNE_F32, seed) == gt_data_nan_word(GEMMTUNE_F32, 0);
        same_byte +=
            gt_data_nan_word(GEMMTUNE_E4M3, seed) == gt_data_nan_word(GEMMTUNE_E4M3, 0);
        same_number += gt_data_finite_word(seed) == gt_data_finite_word(0);
    }
    assert_true(same_nan < SEEDS / 100);
    assert_true(same_byte < SEEDS / 10);
    assert_true(same_number < SEEDS / 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_words),
                                       cmocka_unit_test(test_seeds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
