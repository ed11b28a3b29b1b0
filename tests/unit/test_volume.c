/* SPDX-License-Identifier: Apache-2.0 */
/* Near-cubes and ranges of volumes. */
#include "tuner/base/sweep.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int64_t off(int64_t m, int64_t n, int64_t k, int64_t volume) {
    const int64_t product = m * n * k;
    return product > volume ? product - volume : volume - product;
}

static void test_shapes(void **state) {
    static const struct {
        int64_t volume, m, n, k;
    } rows[] = {
        {1, 1, 1, 1},
        {2, 1, 1, 2},
        {3, 1, 1, 2}, /* 2 and 4 are as near: the smaller */
        {1000, 10, 10, 10},
        {10000, 21, 22, 22},
        {500000000, 793, 794, 794},
        {INT64_C(10000000000), 2154, 2154, 2155},
        {INT64_C(68719476736), 4096, 4096, 4096},
        {INT64_MAX, 2097152, 2097152, 2097152},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t m, n, k;
        gt_volume_shape(rows[i].volume, &m, &n, &k);
        assert_int_equal(m, rows[i].m);
        assert_int_equal(n, rows[i].n);
        assert_int_equal(k, rows[i].k);
    }
}

/* Against every shape of the allowed kind. */
static void test_no_shape_is_nearer(void **state) {
    (void)state;
    for (int64_t volume = 1; volume < 30000; volume += 1 + volume / 97) {
        int64_t m, n, k;
        gt_volume_shape(volume, &m, &n, &k);
        assert_true(m >= 1 && m <= n && n <= k && k <= m + 1);
        for (int64_t r = 1; r < 40; r++) {
            assert_true(off(m, n, k, volume) <= off(r, r, r, volume));
            assert_true(off(m, n, k, volume) <= off(r, r, r + 1, volume));
            assert_true(off(m, n, k, volume) <= off(r, r + 1, r + 1, volume));
        }
    }
}

static void test_ranges(void **state) {
    static const struct {
        const char *text;
        size_t count;
        int64_t first, last;
    } rows[] = {
        {"1e3:1e10", 8, 1000, INT64_C(10000000000)},
        {"5e8", 1, 500000000, 500000000},
        {"7", 1, 7, 7},
        {"20:3000", 3, 20, 2000},
        {"1:9223372036854775807", 19, 1, INT64_C(1000000000000000000)},
    };
    int64_t volume[GT_VOLUMES_MAX];
    size_t count;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(gt_volume_range(volume, &count, rows[i].text, NULL), GEMMTUNE_OK);
        assert_int_equal(count, rows[i].count);
        assert_int_equal(volume[0], rows[i].first);
        assert_int_equal(volume[count - 1], rows[i].last);
    }
}

static void test_bad_ranges(void **state) {
    static const char *const texts[] = {
        "",         ":",          "1e3:", ":1e3",     "0",     "-1",
        "1e-3",     "1e3:1e2",    "1e99", "1e3:1e99", "1.5e3", "1E3",
        " 1",       "1e3:1e4:10", "x",    "1e",       "0x10",  "9223372036854775808",
        "1e3 :1e4", "1ee3",
    };
    int64_t volume[GT_VOLUMES_MAX];
    size_t count;
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct gt_err err = {""};
        assert_int_equal(gt_volume_range(volume, &count, texts[i], &err), GEMMTUNE_EPARSE);
        assert_non_null(strstr(err.line, "is not a volume"));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_no_shape_is_nearer),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_bad_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
