/* SPDX-License-Identifier: Apache-2.0 */
/* JSON as text: what is read, what is refused and on which line, and what is written.
 * test_json_read.c has the values of a document. */
#include "tests/unit/json_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- helpers ---- */

static void assert_bytes_refused(const char *text, size_t size, const char *line) {
    static char anything;
    struct gt_json *doc = (struct gt_json *)(void *)&anything;
    struct gt_err err = {""};
    char *copy =
        malloc(size > 0 ? size : 1); /* no NUL at the end: reading past it is seen */
    assert_non_null(copy);
    memcpy(copy, text, size);
    const gt_status status = gt_json_parse(&doc, "t.json", copy, size, &err);
    free(copy);
    assert_string_equal(err.line, line);
    assert_int_equal(status, GEMMTUNE_EPARSE);
    assert_null(doc);
}

static void assert_refused(const char *text, const char *line) {
    assert_bytes_refused(text, strlen(text), line);
}

/* ---- valid texts ---- */

static void test_kinds(void **state) {
    static const struct {
        const char *text;
        enum gt_json_kind kind;
        size_t count;
    } cases[] = {
        {"null", GT_JSON_NULL, 0},
        {"true", GT_JSON_BOOL, 0},
        {" false\n", GT_JSON_BOOL, 0},
        {"-0.5e+3", GT_JSON_NUMBER, 0},
        {"\"\"", GT_JSON_STRING, 0},
        {"[]", GT_JSON_ARRAY, 0},
        {"[ ]", GT_JSON_ARRAY, 0},
        {"{}", GT_JSON_OBJECT, 0},
        {"[1,[2,3]]", GT_JSON_ARRAY, 2},
        {"{\"a\":{},\"b\":0,\"c\":[1]}", GT_JSON_OBJECT, 3},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gt_json *doc = parsed(cases[i].text);
        assert_int_equal(gt_json_kind(gt_json_root(doc)), cases[i].kind);
        assert_int_equal(gt_json_count(gt_json_root(doc)), cases[i].count);
        gt_json_destroy(doc);
    }
    gt_json_destroy(NULL);
}

static void test_syntax_errors_have_their_line(void **state) {
    (void)state;
    assert_refused("", "t.json:1: expected a value, but the text ends");
    assert_refused("\n\n", "t.json:3: expected a value, but the text ends");
    assert_refused("[1,\n2,\n]", "t.json:3: expected a value, not ']'");
    assert_refused("[1\n2]", "t.json:2: expected ',' or ']', not '2'");
    assert_refused("{\"a\":1\n\n,}", "t.json:3: expected a string, not '}'");
    assert_refused("{\"a\" 1}", "t.json:1: expected ':' after a key, not '1'");
    assert_refused("{\"a\":1 \"b\":2}", "t.json:1: expected ',' or '}', not '\"'");
    assert_refused("{a:1}", "t.json:1: expected a string, not 'a'");
    assert_refused("{1:1}", "t.json:1: expected a string, not '1'");
    assert_refused("[1]\n x", "t.json:2: expected nothing more, not 'x'");
    assert_refused("1 2", "t.json:1: expected nothing more, not '2'");
    assert_refused("[", "t.json:1: expected a value, but the text ends");
    assert_refused("[1", "t.json:1: expected ',' or ']', but the text ends");
    assert_refused("[1}", "t.json:1: expected ',' or ']', not '}'");
    assert_refused("{\"a\"", "t.json:1: expected ':' after a key, but the text ends");
    assert_refused("tru", "t.json:1: expected a value, not 't'");
    assert_refused("True", "t.json:1: expected a value, not 'T'");
    assert_refused("nulll", "t.json:1: expected nothing more, not 'l'");
    assert_refused("NaN", "t.json:1: expected a value, not 'N'");
    assert_refused("// no\n1", "t.json:1: expected a value, not '/'");
    assert_refused("'a'", "t.json:1: expected a value, not '''");
    assert_refused("[1,\x0B 2]", "t.json:1: expected a value, not the byte 0x0B");
    assert_refused("\xC2\xA0 1", "t.json:1: expected a value, not the byte 0xC2");
}

static void test_numbers_by_the_grammar(void **state) {
    (void)state;
    assert_refused("01", "t.json:1: a number begins with 0");
    assert_refused("-012", "t.json:1: a number begins with 0");
    assert_refused("+1", "t.json:1: expected a value, not '+'");
    assert_refused(".5", "t.json:1: expected a value, not '.'");
    assert_refused("-", "t.json:1: expected a digit, but the text ends");
    assert_refused("1.", "t.json:1: expected a digit, but the text ends");
    assert_refused("1.e3", "t.json:1: expected a digit, not 'e'");
    assert_refused("1e", "t.json:1: expected a digit, but the text ends");
    assert_refused("1e+", "t.json:1: expected a digit, but the text ends");
    assert_refused("1e5.5", "t.json:1: expected nothing more, not '.'");
    assert_refused("0x10", "t.json:1: expected nothing more, not 'x'");
    assert_refused("1-2", "t.json:1: expected nothing more, not '-'");
    assert_refused("-Infinity", "t.json:1: expected a digit, not 'I'");
    assert_refused("[\n0.1234567890123456789012345678901234567890123456789012345678901]",
                   "t.json:2: a number of more than 62 characters");
}

static void test_integers_from_two_to_the_53(void **state) {
    static const char *const good[] = {"9007199254740991", "-9007199254740991"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct gt_json *doc = parsed(good[i]);
        int64_t value = 0;
        assert_int_equal(gt_json_int(&value, gt_json_root(doc), INT64_MIN, INT64_MAX, NULL),
                         GEMMTUNE_OK);
        assert_int_equal(value,
                         i == 0 ? INT64_C(9007199254740991) : -INT64_C(9007199254740991));
        gt_json_destroy(doc);
    }
    assert_refused("9007199254740992",
                   "t.json:1: 9007199254740992 reaches 2^53, too large to be read exactly");
    assert_refused("[1,\n9007199254740993]",
                   "t.json:2: 9007199254740993 reaches 2^53, too large to be read exactly");
    assert_refused(
        "-9007199254740993",
        "t.json:1: -9007199254740993 reaches 2^53, too large to be read exactly");
    assert_refused(
        "99999999999999999999",
        "t.json:1: 99999999999999999999 reaches 2^53, too large to be read exactly");
    /* A number of 64 digits and more makes cJSON 1.7.15 misread what follows. */
    assert_refused(
        "{\"a\": true, \"b\": [ null,99999999999999999999999999999999999999999999999"
        "12345678901234567]}",
        "t.json:1: 9999999999999999999999999999999999999999 reaches 2^53, too large "
        "to be read exactly");
}

static void test_strings_by_the_grammar(void **state) {
    (void)state;
    assert_refused("\"a", "t.json:1: a string is not closed on its line");
    assert_refused("[\n\"a\n\"]", "t.json:2: a string is not closed on its line");
    assert_refused("\"a\tb\"", "t.json:1: a string holds the control character 0x09");
    assert_refused(
        "\"\\x\"",
        "t.json:1: expected one of \" \\ / b f n r t u after a backslash, not 'x'");
    assert_refused("\"\\",
                   "t.json:1: expected one of \" \\ / b f n r t u after a backslash, "
                   "but the text ends");
    assert_refused("\"\\u12G4\"",
                   "t.json:1: expected four hexadecimal digits after \\u, not 'G'");
    assert_refused("\"\\u12",
                   "t.json:1: expected four hexadecimal digits after \\u, but the "
                   "text ends");
    assert_refused("\"\\u0000\"", "t.json:1: a string holds a NUL (\\u0000)");
    assert_refused("\"\\uD800\"", "t.json:1: \\uD800 is half of a surrogate pair");
    assert_refused("\"\\uDC00\"", "t.json:1: \\uDC00 is half of a surrogate pair");
    assert_refused("\"\\uD800\\n\"", "t.json:1: \\uD800 is half of a surrogate pair");
    assert_refused("\"\\uD800\\u0041\"", "t.json:1: \\uD800 is half of a surrogate pair");
    assert_refused("\"\xC0\xAF\"", "t.json:1: a string holds 0xC0, which is not UTF-8");
    assert_refused("[\n\"\xED\xA0\x80\"]",
                   "t.json:2: a string holds 0xED, which is not UTF-8");
    assert_refused("\"\xE2\x82\"", "t.json:1: a string holds 0xE2, which is not UTF-8");
    assert_refused("{\"\xFF\":1}", "t.json:1: a string holds 0xFF, which is not UTF-8");
}

static void test_nul_bytes_are_refused(void **state) {
    (void)state;
    assert_bytes_refused("1\0", 2, "t.json:1: expected nothing more, not the byte 0x00");
    assert_bytes_refused("[1,\0 2]", 7, "t.json:1: expected a value, not the byte 0x00");
    assert_bytes_refused("\"a\0b\"", 5,
                         "t.json:1: a string holds the control character 0x00");
    assert_bytes_refused("\"\\\0\"", 4,
                         "t.json:1: expected one of \" \\ / b f n r t u after a "
                         "backslash, not the byte 0x00");
    assert_bytes_refused("\"\\u00\0\0\"", 7,
                         "t.json:1: expected four hexadecimal digits after "
                         "\\u, not the byte 0x00");
}

static void test_strings_are_decoded(void **state) {
    struct gt_json *doc = parsed(
        "[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\", \"\\u00e9\xC3\xA9\\uD83D\\ude00\", \"\x7F\"]");
    static const char *const expected[] = {"\"\\/\b\f\n\r\t",
                                           "\xC3\xA9\xC3\xA9\xF0\x9F\x98\x80", "\x7F"};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        const char *text = NULL;
        assert_int_equal(gt_json_string(&text, gt_json_at(gt_json_root(doc), i), NULL), 0);
        assert_string_equal(text, expected[i]);
    }
    gt_json_destroy(doc);
}

static void test_byte_order_mark_is_skipped(void **state) {
    struct gt_json *doc = parsed("\xEF\xBB\xBF\n[7]");
    (void)state;
    assert_int_equal(gt_json_kind(gt_json_root(doc)), GT_JSON_ARRAY);
    assert_int_equal(gt_json_line(gt_json_root(doc)), 2);
    gt_json_destroy(doc);
    assert_refused("\xEF\xBB\xBF\xEF\xBB\xBF 1",
                   "t.json:1: expected a value, not the byte 0xEF");
}

static void nested(char *text, int depth) {
    memset(text, '[', (size_t)depth);
    memset(text + depth, ']', (size_t)depth);
    text[2 * depth] = '\0';
}

static void test_depth_is_bounded(void **state) {
    static char deep[200001];
    (void)state;
    nested(deep, 64);
    gt_json_destroy(parsed(deep));
    nested(deep, 65);
    assert_refused(deep, "t.json:1: nested more than 64 deep");
    nested(deep, 100000);
    assert_refused(deep, "t.json:1: nested more than 64 deep");
}

static void test_repeated_keys_are_refused(void **state) {
    (void)state;
    assert_refused("{\"m\":1,\n\"n\":2,\n\"m\":3}",
                   "t.json:3: /m: the key stands a second time in its object");
    assert_refused("[0, {\"x\": [{\"a\":1,\n\"\\u0061\":2}]}]", /* the same once decoded */
                   "t.json:2: /1/x/0/a: the key stands a second time in its object");
    assert_refused("{\"\":1,\"\":2}",
                   "t.json:1: /: the key stands a second time in its object");
    assert_refused("{\"z\":1,\n\"z\":2,\n\"a\":3,\n\"a\":4}", /* the first of two */
                   "t.json:2: /z: the key stands a second time in its object");
    gt_json_destroy(parsed("{\"m\":1,\"M\":2,\"o\":{\"m\":3}}"));
}

/* ---- Python's text ---- */

static struct gt_json *parse_python(const char *text) {
    struct gt_json *doc = NULL;
    struct gt_err err = {""};
    if (gt_json_parse_python(&doc, "t.json", text, strlen(text), &err) != GEMMTUNE_OK)
        fail_msg("%s: %s", text, err.line);
    return doc;
}

static void test_python_writes_more_than_json(void **state) {
    struct gt_json *doc =
        parse_python("{\"NaN\": NaN, \"i\": [Infinity, -Infinity],\n"
                     "\"big\": 123456789012345678901, \"s\": \"a\\\"NaN, Infinity\", "
                     "\"d\": 1, \"d\": 2}");
    const struct gt_node root = gt_json_root(doc);
    const char *text = NULL;
    double number = 0;
    int64_t whole = 0;
    (void)state;
    assert_int_equal(gt_json_kind(gt_json_member(root, "NaN")), GT_JSON_NULL);
    for (size_t i = 0; i < 2; i++) {
        const struct gt_node n = gt_json_at(gt_json_member(root, "i"), i);
        assert_int_equal(gt_json_kind(n), GT_JSON_NUMBER);
        assert_int_equal(gt_json_double(&number, n, NULL), GEMMTUNE_EPARSE);
    }
    const struct gt_node big = gt_json_member(root, "big");
    assert_int_equal(gt_json_line(big), 2);
    assert_int_equal(gt_json_double(&number, big, NULL), GEMMTUNE_OK);
    assert_true(number == 123456789012345678901.0);
    assert_int_equal(gt_json_string(&text, gt_json_member(root, "s"), NULL), GEMMTUNE_OK);
    assert_string_equal(text, "a\"NaN, Infinity");
    assert_int_equal(gt_json_int(&whole, gt_json_member(root, "d"), 0, 9, NULL),
                     GEMMTUNE_OK);
    assert_int_equal(whole, 2);
    gt_json_destroy(doc);
}

/* A program that goes through the members sees what Python sees, and a complaint about a
 * member inside names its place. */
static void test_of_one_key_pythons_last_member_is_there(void **state) {
    struct gt_json *doc =
        parse_python("{\"a\": {\"x\": 1}, \"b\": [5, {\"c\": 6, \"c\": 7}],\n"
                     "\"a\": 2, \"d\": [8],\n\"a\": {\"y\": [3, 4]}}");
    const struct gt_node root = gt_json_root(doc);
    static const char *const keys[] = {"b", "d", "a"};
    struct gt_err err = {""};
    (void)state;
    assert_int_equal(gt_json_count(root), 3);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(gt_json_key(gt_json_at(root, i)), keys[i]);
    const struct gt_node c = gt_json_at(gt_json_at(gt_json_at(root, 0), 1), 0);
    const struct gt_node four = gt_json_at(gt_json_at(gt_json_at(root, 2), 0), 1);
    assert_int_equal(gt_json_fail(c, &err, "no"), GEMMTUNE_EPARSE);
    assert_string_equal(err.line, "t.json:1: /b/1/c: no");
    assert_int_equal(gt_json_fail(four, &err, "no"), GEMMTUNE_EPARSE);
    assert_string_equal(err.line, "t.json:3: /a/y/1: no");
    assert_int_equal(gt_json_count(gt_json_at(gt_json_at(root, 0), 1)), 1);
    gt_json_destroy(doc);
}

static void test_python_text_may_be_wrong_too(void **state) {
    static const char *const bad[] = {"",     "NaNs", "[NaN",      "{\"a\": Inf}",     "\"",
                                      "\"\\", "nan",  "+Infinity", "1.2.3.4.5.6.7.8.9"};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct gt_json *doc = NULL;
        assert_int_equal(gt_json_parse_python(&doc, "t", bad[i], strlen(bad[i]), NULL),
                         GEMMTUNE_EPARSE);
        assert_null(doc);
    }
}

/* ---- writing ---- */

static void quote(char *out, size_t size, const char *text) {
    FILE *file = tmpfile();
    assert_non_null(file);
    gt_json_quote(file, text);
    rewind(file);
    const size_t len = fread(out, 1, size - 1, file);
    out[len] = '\0';
    (void)fclose(file);
}

static void test_quote(void **state) {
    static const struct {
        const char *text, *quoted;
    } cases[] = {
        {"", "\"\""},
        {"plain /", "\"plain /\""},
        {"\"\\\b\f\n\r\t", "\"\\\"\\\\\\b\\f\\n\\r\\t\""},
        {"\x01\x1f\x7f", "\"\\u0001\\u001f\x7f\""},
        {"\xC3\xA9\xF0\x9F\x98\x80", "\"\xC3\xA9\xF0\x9F\x98\x80\""},
        {"a\xFFz\xE2\x82", "\"a\\ufffdz\\ufffd\\ufffd\""},
    };
    char out[256];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        quote(out, sizeof out, cases[i].text);
        assert_string_equal(out, cases[i].quoted);
    }
}

static uint64_t next_random(uint64_t *seed) {
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *seed >> 33;
}

static void test_random_strings_come_back(void **state) {
    static const char *const pieces[] = {"\"",
                                         "\\",
                                         "\n",
                                         "\x01",
                                         "a",
                                         "/",
                                         "\xC3\xA9",
                                         "\xE2\x82\xAC",
                                         "\xF0\x9F\x98\x80",
                                         "\x7F",
                                         "u0041"};
    uint64_t seed = 42;
    (void)state;
    for (int round = 0; round < 500; round++) {
        char text[128] = "";
        char quoted[1024];
        const char *back = NULL;
        const uint64_t count = next_random(&seed) % 20;
        for (uint64_t i = 0; i < count; i++)
            (void)strcat(text, pieces[next_random(&seed) % 11]);
        quote(quoted, sizeof quoted, text);
        struct gt_json *doc = parsed(quoted);
        assert_int_equal(gt_json_string(&back, gt_json_root(doc), NULL), GEMMTUNE_OK);
        assert_string_equal(back, text);
        gt_json_destroy(doc);
    }
}

/* Texts made of the grammar's own pieces: read, or refused with file and line. */
static void test_random_documents(void **state) {
    static const char *const pieces[] = {
        "{",     "}",  "[",  "]",    ",",       ":",  "\"a\"", "\"b\"",
        "1",     "-",  "0",  ".5",   "e3",      "\n", "true",  "null",
        "\"\\u", "D8", "\"", "\xC3", "{\"k\":", "1]", "[1,",   "\"}"};
    uint64_t seed = 3;
    int good = 0;
    (void)state;
    for (int round = 0; round < 50000; round++) {
        char text[256] = "";
        struct gt_json *doc = NULL;
        struct gt_err err = {""};
        const uint64_t count = 1 + next_random(&seed) % 6;
        for (uint64_t i = 0; i < count; i++)
            (void)strcat(text, pieces[next_random(&seed) % 24]);
        const gt_status status = gt_json_parse(&doc, "t.json", text, strlen(text), &err);
        assert_true(status == GEMMTUNE_OK || status == GEMMTUNE_EPARSE);
        assert_int_equal(doc != NULL, status == GEMMTUNE_OK);
        if (status == GEMMTUNE_EPARSE)
            assert_memory_equal(err.line, "t.json:", 7);
        good += status == GEMMTUNE_OK;
        gt_json_destroy(doc);
    }
    assert_in_range(good, 1000, 49000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_syntax_errors_have_their_line),
        cmocka_unit_test(test_numbers_by_the_grammar),
        cmocka_unit_test(test_integers_from_two_to_the_53),
        cmocka_unit_test(test_strings_by_the_grammar),
        cmocka_unit_test(test_nul_bytes_are_refused),
        cmocka_unit_test(test_strings_are_decoded),
        cmocka_unit_test(test_byte_order_mark_is_skipped),
        cmocka_unit_test(test_depth_is_bounded),
        cmocka_unit_test(test_repeated_keys_are_refused),
        cmocka_unit_test(test_python_writes_more_than_json),
        cmocka_unit_test(test_of_one_key_pythons_last_member_is_there),
        cmocka_unit_test(test_python_text_may_be_wrong_too),
        cmocka_unit_test(test_quote),
        cmocka_unit_test(test_random_strings_come_back),
        cmocka_unit_test(test_random_documents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
