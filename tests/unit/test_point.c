/* SPDX-License-Identifier: Apache-2.0 */
#include "core/point.h"
#include "tests/unit/points.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct gt_point parsed(const char *text) {
    struct gt_point p;
    struct gt_err err = {""};
    assert_int_equal(gt_point_parse(&p, text, &err), GEMMTUNE_OK);
    assert_string_equal(err.line, "");
    return p;
}

static void test_parse_and_print(void **state) {
    static const struct {
        const char *text, *printed;
    } rows[] = {
        {"", ""},
        {"  ,", ""},
        {"BM=128 BN=128 BK=16", "BM=128 BN=128 BK=16"},
        {"BM=128,BN=64", "BM=128 BN=64"},
        {" B_2=-7,  A=007 ", "B_2=-7 A=7"},
        {"X=9223372036854775807 Y=-9223372036854775808",
         "X=9223372036854775807 Y=-9223372036854775808"},
    };
    char buf[GT_POINT_TEXT_MAX];
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct gt_point p = parsed(rows[i].text);
        assert_int_equal(gt_point_text(&p, buf), strlen(rows[i].printed));
        assert_string_equal(buf, rows[i].printed);
    }
}

static void test_parse_quotes_what_is_wrong(void **state) {
    static const struct {
        const char *text, *said;
    } rows[] = {
        {"BM=1 BN", "\"BN\" in a point is not NAME=integer"},
        {"BM=", "\"BM=\""},
        {"=4", "\"=4\""},
        {"bm=4", "\"bm=4\""},
        {"2B=4", "\"2B=4\""},
        {"BM=4x", "\"BM=4x\""},
        {"BM = 4", "\"BM\""},
        {"BM=1;BN=2", "\"BM=1;BN=2\""},
        {"BM=9223372036854775808", "\"BM=9223372036854775808\""},
        {"ABCDEFGHIJKLMNOPQRSTUVWX=1", "is not NAME=integer"}, /* 24 bytes: one too many */
        {"A=1 B=2 A=1", "\"A=1\" in a point names A a second time"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gt_point p = {.count = 7};
        struct gt_err err = {""};
        assert_int_equal(gt_point_parse(&p, rows[i].text, &err), GEMMTUNE_EPARSE);
        assert_non_null(strstr(err.line, rows[i].said));
        assert_int_equal(p.count, 7); /* untouched */
    }
    struct gt_point p;
    assert_int_equal(gt_point_parse(&p, "x", NULL), GEMMTUNE_EPARSE);
}

/* A text is canonical when it is what its point prints. */
static void test_canonical(void **state) {
    static const char characters[] = "AB_012=- ,x";
    static const char *const texts[] = {"A=1 B=-20 A_1=0", "A=-9223372036854775808",
                                        "A0=10"};
    char text[64], printed[GT_POINT_TEXT_MAX];
    int canonical = 0, other = 0;
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (size_t at = 0; at <= strlen(texts[i]); at++)
            for (size_t c = 0; c < sizeof characters; c++) { /* the NUL as well */
                struct gt_point p;
                (void)snprintf(text, sizeof text, "%s", texts[i]);
                text[at] = characters[c];
                text[at + 1] = at + 1 < strlen(texts[i]) ? text[at + 1] : '\0';
                const bool is = gt_point_parse(&p, text, NULL) == GEMMTUNE_OK &&
                                (gt_point_text(&p, printed), strcmp(printed, text) == 0);
                if (gt_point_is_canonical(text) != is)
                    fail_msg("\"%s\"", text);
                canonical += is;
                other += !is;
            }
    assert_true(canonical > 50 && other > 200);
    assert_true(gt_point_is_canonical(""));
    assert_false(gt_point_is_canonical("A=1 B=2 A=3"));
    assert_false(gt_point_is_canonical("A=9223372036854775808"));
}

static void test_a_point_can_be_full(void **state) {
    struct gt_point p = {0};
    struct gt_err err = {""};
    char text[2000] = "";
    (void)state;
    for (int i = 0; i < GT_POINT_MAX; i++) {
        char name[GT_NAME_MAX];
        (void)snprintf(name, sizeof name, "P%d", i);
        assert_int_equal(gt_point_set(&p, name, i, &err), GEMMTUNE_OK);
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%s=1 ", name);
    }
    assert_int_equal(gt_point_set(&p, "P3", 33, &err), GEMMTUNE_OK); /* there already */
    assert_int_equal(gt_point_set(&p, "MORE", 1, &err), GEMMTUNE_EINVAL);
    assert_string_equal(err.line, "no room for MORE: a point has at most 24 parameters");
    assert_int_equal(p.count, GT_POINT_MAX);
    (void)strcat(text, "MORE=1");
    assert_false(gt_point_is_canonical(text));
    assert_int_equal(gt_point_parse(&p, text, &err), GEMMTUNE_EPARSE);
}

static void test_set_and_get(void **state) {
    struct gt_point p = parsed("A=1 B=2");
    struct gt_err err = {""};
    int64_t value = 0;
    (void)state;
    assert_true(gt_point_get(&p, "B", &value));
    assert_int_equal(value, 2);
    assert_int_equal(gt_point_set(&p, "A", 5, &err), GEMMTUNE_OK);
    assert_int_equal(p.count, 2);
    assert_true(gt_point_get(&p, "A", &value));
    assert_int_equal(value, 5);
    value = 77;
    assert_false(gt_point_get(&p, "C", &value));
    assert_int_equal(value, 77);
    assert_int_equal(gt_point_set(&p, "c", 1, &err), GEMMTUNE_EINVAL);
    assert_non_null(strstr(err.line, "\"c\" is not a parameter name"));
}

static void test_equal_whatever_the_order(void **state) {
    const struct gt_point p = parsed("A=1 B=2");
    const struct gt_point same = parsed("B=2 A=1");
    const struct gt_point other = parsed("A=1 B=3");
    const struct gt_point named = parsed("A=1 C=2");
    const struct gt_point shorter = parsed("A=1");
    (void)state;
    assert_true(points_equal(&p, &same));
    assert_false(points_equal(&p, &other));
    assert_false(points_equal(&p, &named));
    assert_false(points_equal(&p, &shorter));
    assert_false(points_equal(&shorter, &p));
}

static void test_longest_point_fits_its_text(void **state) {
    struct gt_point p = {.count = GT_POINT_MAX};
    char buf[GT_POINT_TEXT_MAX];
    (void)state;
    for (int i = 0; i < GT_POINT_MAX; i++) {
        memcpy(p.entry[i].name, "ABCDEFGHIJKLMNOPQRSTUVW", GT_NAME_MAX);
        p.entry[i].name[GT_NAME_MAX - 2] = (char)('A' + i);
        p.entry[i].value = INT64_MIN;
    }
    assert_int_equal(gt_point_text(&p, buf), GT_POINT_TEXT_MAX - 1);
    const struct gt_point again = parsed(buf);
    assert_true(points_equal(&again, &p));
}

static uint64_t next_random(uint64_t *seed) {
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *seed >> 20;
}

static void test_random_points_round_trip(void **state) {
    uint64_t seed = 42;
    (void)state;
    for (int round = 0; round < 2000; round++) {
        struct gt_point p = {0};
        char text[GT_POINT_TEXT_MAX];
        char again_text[GT_POINT_TEXT_MAX];
        const int count = (int)(next_random(&seed) % (GT_POINT_MAX + 1));
        for (int i = 0; i < count; i++) {
            char name[GT_NAME_MAX];
            (void)snprintf(name, sizeof name, "N%d_%X", i, (unsigned)next_random(&seed));
            const int64_t value = (int64_t)(next_random(&seed) << 21 ^ next_random(&seed));
            assert_int_equal(gt_point_set(&p, name, value, NULL), GEMMTUNE_OK);
        }
        (void)gt_point_text(&p, text);
        const struct gt_point again = parsed(text);
        assert_true(points_equal(&p, &again));
        (void)gt_point_text(&again, again_text);
        assert_string_equal(text, again_text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse_and_print),
        cmocka_unit_test(test_parse_quotes_what_is_wrong),
        cmocka_unit_test(test_canonical),
        cmocka_unit_test(test_a_point_can_be_full),
        cmocka_unit_test(test_set_and_get),
        cmocka_unit_test(test_equal_whatever_the_order),
        cmocka_unit_test(test_longest_point_fits_its_text),
        cmocka_unit_test(test_random_points_round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
