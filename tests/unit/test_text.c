/* SPDX-License-Identifier: Apache-2.0 */
#include "core/text.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void line_of(char *line, size_t size, const char *fmt, ...) GT_PRINTF(3, 4);

static void line_of(char *line, size_t size, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    gt_text_line(line, size, fmt, args);
    va_end(args);
}

static void test_int_reads_whole_range(void **state) {
    static const struct {
        const char *text;
        int64_t value;
    } good[] = {
        {"0", 0},
        {"-0", 0},
        {"007", 7},
        {"-12", -12},
        {"9223372036854775807", INT64_MAX},
        {"-9223372036854775808", INT64_MIN},
    };
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        int64_t value = 99;
        assert_true(gt_text_int(&value, good[i].text, strlen(good[i].text)));
        assert_int_equal(value, good[i].value);
    }
}

static void test_int_is_written_over_the_whole_range(void **state) {
    static const int64_t values[] = {0, 7, -1, 10, -120, INT64_MAX, INT64_MIN};
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char text[GT_INT_TEXT_MAX], expected[32];
        const int len = snprintf(expected, sizeof expected, "%" PRId64, values[i]);
        assert_int_equal(gt_text_of_int(text, values[i]), len);
        assert_string_equal(text, expected);
    }
}

static void test_int_refuses(void **state) {
    static const char *const bad[] = {"",    "-",   "+1",  " 1",    "1 ",
                                      "1.0", "0x1", "1e3", "--1",   "9223372036854775808",
                                      "a",   "1a",  "١",   "1,000", "-9223372036854775809"};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int64_t value = 99;
        assert_false(gt_text_int(&value, bad[i], strlen(bad[i])));
        assert_int_equal(value, 99);
    }
}

static void test_int_stops_at_length(void **state) {
    int64_t value = 0;
    (void)state;
    assert_true(gt_text_int(&value, "123x", 2));
    assert_int_equal(value, 12);
}

static void test_utf8_lengths(void **state) {
    static const struct {
        const char *text;
        size_t len;
    } rows[] = {
        {"a", 1},
        {"\xC2\x80", 2},
        {"\xDF\xBF", 2},
        {"\xE0\xA0\x80", 3},
        {"\xED\x9F\xBF", 3},
        {"\xEF\xBF\xBF", 3},
        {"\xF0\x90\x80\x80", 4},
        {"\xF4\x8F\xBF\xBF", 4},
        {"\x80", 0},             /* a continuation alone */
        {"\xC0\xAF", 0},         /* overlong */
        {"\xE0\x9F\xBF", 0},     /* overlong */
        {"\xED\xA0\x80", 0},     /* surrogate */
        {"\xF0\x8F\xBF\xBF", 0}, /* overlong */
        {"\xF4\x90\x80\x80", 0}, /* past U+10FFFF */
        {"\xE2\x82", 0},         /* cut short */
        {"\xE2\x82x", 0},
        {"\xFF", 0},
        {"", 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(gt_text_utf8(rows[i].text, strlen(rows[i].text)), rows[i].len);
}

static void test_line_is_one_clean_line(void **state) {
    char line[64];
    (void)state;
    line_of(line, sizeof line, "a\nb\tc\x1b[31m\x7f %s \xFF", "\xC3\xA9");
    assert_string_equal(line, "a b c [31m  \xC3\xA9 ?");
    /* U+009B begins commands as ESC [ does, U+202E turns the direction,
     * U+2029 ends a line */
    line_of(line, sizeof line, "a%sb%sc%sd", "\xC2\x9B", "\xE2\x80\xAE", "\xE2\x80\xA9");
    assert_string_equal(line, "a b c d");
    line_of(line, sizeof line, "%s", "\xC2\xA0\xE2\x80\xA7\xE2\x80\xAF");
    assert_string_equal(line, "\xC2\xA0\xE2\x80\xA7\xE2\x80\xAF");
}

static void test_line_is_cut_between_characters(void **state) {
    char line[5];
    (void)state;
    line_of(line, sizeof line, "abc\xC3\xA9z"); /* the cut leaves half of the last one */
    assert_string_equal(line, "abc?");
    line_of(line, sizeof line, "%d", 1234567);
    assert_string_equal(line, "1234");
}

static void test_nearest(void **state) {
    static const char *const list[] = {"m", "dtype", "layout", "weight", NULL};
    (void)state;
    assert_string_equal(gt_text_nearest("dtyp", list), "dtype");
    assert_string_equal(gt_text_nearest("layuot", list), "layout");
    assert_string_equal(gt_text_nearest("mm", list), "m");
    assert_string_equal(gt_text_nearest("weights", list), "weight");
    assert_null(gt_text_nearest("x", list));
    assert_null(gt_text_nearest("", list));
    assert_null(gt_text_nearest("completely", list));
    char word[200];
    memset(word, 'm', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    assert_null(gt_text_nearest(word, list));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_int_reads_whole_range),
        cmocka_unit_test(test_int_is_written_over_the_whole_range),
        cmocka_unit_test(test_int_refuses),
        cmocka_unit_test(test_int_stops_at_length),
        cmocka_unit_test(test_utf8_lengths),
        cmocka_unit_test(test_line_is_one_clean_line),
        cmocka_unit_test(test_line_is_cut_between_characters),
        cmocka_unit_test(test_nearest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
