/* SPDX-License-Identifier: Apache-2.0 */
/* Documents of JSON: loaded from files, looked into, read by type. Without --wrap=malloc
 * the tests of running out of memory are skipped. */
#include "tests/unit/json_text.h"
#include "tests/unit/short_of_memory.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- looking ---- */

static void test_every_value_knows_its_line(void **state) {
    struct gt_json *doc =
        parsed("{\n\"a\": [1,\n2, {\"x\":\n\"y\"}\n],\r\n\"b\"\n:\nnull }");
    const struct gt_node root = gt_json_root(doc);
    const struct gt_node a = gt_json_at(root, 0);
    (void)state;
    assert_int_equal(gt_json_line(root), 1);
    assert_int_equal(gt_json_line(a), 2);
    assert_int_equal(gt_json_line(gt_json_at(a, 0)), 2);
    assert_int_equal(gt_json_line(gt_json_at(a, 1)), 3);
    assert_int_equal(gt_json_line(gt_json_at(a, 2)), 3);
    assert_int_equal(gt_json_line(gt_json_member(gt_json_at(a, 2), "x")), 4);
    assert_int_equal(gt_json_line(member(doc, "b")), 8);
    assert_int_equal(gt_json_line(member(doc, "c")), 0);
    gt_json_destroy(doc);
}

static void test_members_and_elements(void **state) {
    struct gt_json *doc = parsed("{\"b\":[10,20],\"a\":true,\"A\":null}");
    const struct gt_node root = gt_json_root(doc);
    (void)state;
    assert_string_equal(gt_json_key(root), "");
    assert_string_equal(gt_json_key(gt_json_at(root, 0)), "b"); /* file order */
    assert_string_equal(gt_json_key(gt_json_at(root, 1)), "a");
    assert_string_equal(gt_json_key(gt_json_at(root, 2)), "A");
    assert_int_equal(gt_json_kind(gt_json_at(root, 3)), GT_JSON_ABSENT);
    assert_int_equal(gt_json_kind(member(doc, "a")), GT_JSON_BOOL);
    assert_int_equal(gt_json_kind(member(doc, "A")), GT_JSON_NULL);
    assert_int_equal(gt_json_kind(member(doc, "c")), GT_JSON_ABSENT);
    const struct gt_node array = member(doc, "b");
    assert_string_equal(gt_json_key(gt_json_at(array, 0)), "");
    assert_int_equal(gt_json_kind(gt_json_at(array, 2)), GT_JSON_ABSENT);
    assert_int_equal(gt_json_kind(gt_json_at(array, SIZE_MAX)), GT_JSON_ABSENT);
    assert_int_equal(gt_json_kind(gt_json_member(array, "b")), GT_JSON_ABSENT);
    const struct gt_node absent = member(doc, "c");
    assert_int_equal(gt_json_count(absent), 0);
    assert_string_equal(gt_json_key(absent), "");
    assert_int_equal(gt_json_kind(gt_json_member(absent, "x")), GT_JSON_ABSENT);
    assert_int_equal(gt_json_kind(gt_json_at(absent, 0)), GT_JSON_ABSENT);
    gt_json_destroy(doc);
}

static void test_equal(void **state) {
    static const char text[] = "[null, 1, 1.0, \"1\", [1, null], [1, null], [1, 2], [1],"
                               "{\"a\": 1}, {\"a\": 1}, {\"b\": 1}, true, false]";
    static const struct { size_t a, b; } pairs[] = {{1, 2}, {4, 5}, {8, 9}};
    struct gt_json *doc = parsed(text);
    const struct gt_node root = gt_json_root(doc);
    (void)state;
    for (size_t a = 0; a < gt_json_count(root); a++)
        for (size_t b = a; b < gt_json_count(root); b++) {
            bool same = a == b;
            for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
                same = same || (pairs[i].a == a && pairs[i].b == b);
            if (gt_json_equal(gt_json_at(root, a), gt_json_at(root, b)) != same)
                fail_msg("%zu and %zu", a, b);
        }
    gt_json_destroy(doc);
}

/* ---- typed reads ---- */

static void test_int(void **state) {
    static const struct {
        const char *text, *line; /* NULL: accepted as 8 */
    } cases[] = {
        {"8", NULL},
        {"8.0", NULL},
        {"0.8e1", NULL},
        {"0", "t.json:4: /sizes/0/m: must be from 1 to 100, not 0"},
        {"-8", "t.json:4: /sizes/0/m: must be from 1 to 100, not -8"},
        {"101", "t.json:4: /sizes/0/m: must be from 1 to 100, not 101"},
        {"1e99", "t.json:4: /sizes/0/m: must be from 1 to 100"},
        {"-1e999", "t.json:4: /sizes/0/m: must be from 1 to 100"},
        {"1.5", "t.json:4: /sizes/0/m: must be an integer, not a fraction"},
        {"\"8\"", "t.json:4: /sizes/0/m: must be an integer, not a string"},
        {"null", "t.json:4: /sizes/0/m: must be an integer, not null"},
        {"true", "t.json:4: /sizes/0/m: must be an integer, not a boolean"},
        {"[8]", "t.json:4: /sizes/0/m: must be an integer, not an array"},
        {"{}", "t.json:4: /sizes/0/m: must be an integer, not an object"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[128];
        struct gt_err err = {""};
        int64_t value = 77;
        (void)snprintf(text, sizeof text, "{\n\"sizes\":\n[{\n\"m\": %s}]}", cases[i].text);
        struct gt_json *doc = parsed(text);
        const struct gt_node m = gt_json_member(gt_json_at(member(doc, "sizes"), 0), "m");
        const gt_status status = gt_json_int(&value, m, 1, 100, &err);
        assert_string_equal(err.line, cases[i].line != NULL ? cases[i].line : "");
        assert_int_equal(status, cases[i].line != NULL ? GEMMTUNE_EPARSE : GEMMTUNE_OK);
        assert_int_equal(value, cases[i].line != NULL ? 77 : 8);
        gt_json_destroy(doc);
    }
}

static void test_double_bool_string(void **state) {
    struct gt_json *doc =
        parsed("{\"d\":-2.5e-1,\"t\":true,\"f\":false,\"s\":\"x\",\"h\":1e999}");
    struct gt_err err = {""};
    double d = 77;
    bool b = false;
    const char *s = NULL;
    (void)state;
    assert_int_equal(gt_json_double(&d, member(doc, "d"), &err), GEMMTUNE_OK);
    assert_true(d == -0.25);
    assert_int_equal(gt_json_bool(&b, member(doc, "t"), &err), GEMMTUNE_OK);
    assert_true(b);
    assert_int_equal(gt_json_bool(&b, member(doc, "f"), &err), GEMMTUNE_OK);
    assert_false(b);
    assert_int_equal(gt_json_string(&s, member(doc, "s"), &err), GEMMTUNE_OK);
    assert_string_equal(s, "x");
    assert_string_equal(err.line, "");
    assert_int_equal(gt_json_double(&d, member(doc, "h"), &err), GEMMTUNE_EPARSE);
    assert_string_equal(err.line, "t.json:1: /h: is larger than any double");
    assert_int_equal(gt_json_double(&d, member(doc, "s"), &err), GEMMTUNE_EPARSE);
    assert_string_equal(err.line, "t.json:1: /s: must be a number, not a string");
    assert_int_equal(gt_json_bool(&b, member(doc, "d"), &err), GEMMTUNE_EPARSE);
    assert_string_equal(err.line, "t.json:1: /d: must be true or false, not a number");
    assert_int_equal(gt_json_string(&s, member(doc, "t"), &err), GEMMTUNE_EPARSE);
    assert_string_equal(err.line, "t.json:1: /t: must be a string, not a boolean");
    assert_int_equal(gt_json_string(&s, member(doc, "none"), &err), GEMMTUNE_EPARSE);
    assert_string_equal(err.line, "t.json: a string is missing");
    assert_string_equal(s, "x");
    assert_true(d == -0.25);
    gt_json_destroy(doc);
}

/* Skipped in effect where the machine has no locale with a decimal comma. */
static void test_decimal_comma_changes_nothing(void **state) {
    double d = 0;
    (void)state;
    (void)(setlocale(LC_ALL, "de_DE.UTF-8") != NULL ||
           setlocale(LC_ALL, "fr_FR.UTF-8") != NULL);
    struct gt_json *doc = parsed("1.5");
    assert_int_equal(gt_json_double(&d, gt_json_root(doc), NULL), GEMMTUNE_OK);
    assert_true(d == 1.5);
    gt_json_destroy(doc);
    (void)setlocale(LC_ALL, "C");
}

static void test_need(void **state) {
    struct gt_json *doc = parsed("{\"a\":\n{\"b\":1}}");
    struct gt_node found = {0};
    struct gt_err err = {""};
    (void)state;
    assert_int_equal(gt_json_need(&found, member(doc, "a"), "b", &err), GEMMTUNE_OK);
    assert_int_equal(gt_json_kind(found), GT_JSON_NUMBER);
    assert_int_equal(gt_json_need(&found, member(doc, "a"), "c", &err), GEMMTUNE_EPARSE);
    assert_string_equal(err.line, "t.json:2: /a: \"c\" is missing");
    assert_int_equal(gt_json_need(&found, gt_json_root(doc), "c", &err), GEMMTUNE_EPARSE);
    assert_string_equal(err.line, "t.json:1: /: \"c\" is missing");
    assert_int_equal(gt_json_need(&found, found, "c", &err), GEMMTUNE_EPARSE);
    assert_string_equal(err.line, "t.json:2: /a/b: must be an object, not a number");
    gt_json_destroy(doc);
}

/* A member and its value at once. A refused value leaves *out as it was. */
static void test_need_of_a_type(void **state) {
    struct gt_json *doc =
        parsed("{\"i\": 7, \"d\": 2.5, \"s\": \"four\", \"e\": \"\",\n\"n\": null}");
    const struct gt_node root = gt_json_root(doc);
    const char *text = "before";
    char copy[5] = "as";
    int64_t whole = 1;
    double number = 1;
    struct gt_err err;
    (void)state;
#define REFUSED(call, line_)                                                               \
    do {                                                                                   \
        assert_int_equal(call, GEMMTUNE_EPARSE);                                           \
        assert_string_equal(err.line, "t.json:" line_);                                    \
    } while (0)
    REFUSED(gt_json_need_int(&whole, root, "x", 0, 9, &err), "1: /: \"x\" is missing");
    REFUSED(gt_json_need_int(&whole, root, "i", 8, 9, &err),
            "1: /i: must be from 8 to 9, not 7");
    REFUSED(gt_json_need_int(&whole, root, "n", 0, 9, &err),
            "2: /n: must be an integer, not null");
    REFUSED(gt_json_need_double(&number, root, "d", 3, 4, &err),
            "1: /d: must be from 3 to 4, not 2.5");
    REFUSED(gt_json_need_double(&number, root, "d", -1, 2.4, &err),
            "1: /d: must be from -1 to 2.4, not 2.5");
    REFUSED(gt_json_need_string(&text, root, "i", &err),
            "1: /i: must be a string, not a number");
    REFUSED(gt_json_need_text(copy, 4, root, "s", &err), "1: /s: must have 1 to 3 bytes");
    REFUSED(gt_json_need_text(copy, 5, root, "e", &err), "1: /e: must have 1 to 4 bytes");
#undef REFUSED
    assert_true(whole == 1 && number == 1);
    assert_string_equal(text, "before");
    assert_string_equal(copy, "as");
    assert_int_equal(gt_json_need_int(&whole, root, "i", 7, 7, &err), GEMMTUNE_OK);
    assert_int_equal(gt_json_need_double(&number, root, "d", 2.5, 2.5, &err), GEMMTUNE_OK);
    assert_int_equal(gt_json_need_string(&text, root, "e", &err), GEMMTUNE_OK);
    assert_int_equal(gt_json_need_text(copy, 5, root, "s", &err), GEMMTUNE_OK);
    assert_true(whole == 7 && number == 2.5);
    assert_string_equal(text, "");
    assert_string_equal(copy, "four");
    gt_json_destroy(doc);
}

static void test_only(void **state) {
    static const char *const keys[] = {"dtype", "layout", "m", NULL};
    struct gt_json *doc = parsed("[{\"m\":1,\"dtype\":2},\n{\"m\":1,\n\"layuot\":2},\n"
                                 "{\"frobnicate\":1}, {}, 7]");
    const struct gt_node root = gt_json_root(doc);
    struct gt_err err = {""};
    (void)state;
    assert_int_equal(gt_json_only(gt_json_at(root, 0), keys, &err), GEMMTUNE_OK);
    assert_int_equal(gt_json_only(gt_json_at(root, 3), keys, &err), GEMMTUNE_OK);
    assert_int_equal(gt_json_only(gt_json_at(root, 1), keys, &err), GEMMTUNE_EPARSE);
    assert_string_equal(err.line,
                        "t.json:3: /1/layuot: unknown key, did you mean \"layout\"?");
    assert_int_equal(gt_json_only(gt_json_at(root, 2), keys, &err), GEMMTUNE_EPARSE);
    assert_string_equal(err.line, "t.json:4: /2/frobnicate: unknown key");
    assert_int_equal(gt_json_only(gt_json_at(root, 4), keys, &err), GEMMTUNE_EPARSE);
    assert_string_equal(err.line, "t.json:4: /4: must be an object, not a number");
    gt_json_destroy(doc);
}

static void test_fail(void **state) {
    struct gt_json *doc = parsed("{\"a\\nb\": [1]}");
    struct gt_err err = {""};
    const struct gt_node element = gt_json_at(member(doc, "a\nb"), 0);
    (void)state;
    assert_int_equal(gt_json_fail(element, &err, "%d %s", 3, "x"), GEMMTUNE_EPARSE);
    assert_string_equal(err.line, "t.json:1: /a b/0: 3 x"); /* a newline stays out of it */
    assert_int_equal(gt_json_fail(member(doc, "z"), &err, "odd"), GEMMTUNE_EPARSE);
    assert_string_equal(err.line, "t.json: odd");
    assert_int_equal(gt_json_fail(element, NULL, "nobody reads"), GEMMTUNE_EPARSE);
    gt_json_destroy(doc);
}

static void test_long_paths_are_cut(void **state) {
    char text[4096];
    char key[1000];
    struct gt_err err = {""};
    (void)state;
    memset(key, 'k', sizeof key - 1);
    key[sizeof key - 1] = '\0';
    (void)snprintf(text, sizeof text, "{\"%s\":{\"%s\":[1]}}", key, key);
    struct gt_json *doc = parsed(text);
    const struct gt_node inner = gt_json_member(member(doc, key), key);
    (void)gt_json_fail(gt_json_at(inner, 0), &err, "the fact survives");
    assert_non_null(strstr(err.line, ": the fact survives"));
    assert_memory_equal(err.line, "t.json:1: /kkkk", 15);
    gt_json_destroy(doc);
}

/* ---- files ---- */

static void test_load(void **state) {
    char path[] = "/tmp/gemmtune_test_json_XXXXXX";
    struct gt_json *doc = NULL;
    struct gt_err err = {""};
    (void)state;
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *file = fdopen(fd, "w");
    assert_non_null(file);
    (void)fputc('[', file);
    for (int i = 0; i < 50000; i++) /* more than one buffer */
        (void)fprintf(file, "%d,\n", i);
    (void)fputs("\"end\"]", file);
    assert_int_equal(fclose(file), 0);
    const gt_status status = gt_json_load(&doc, path, &err);
    (void)unlink(path);
    assert_string_equal(err.line, "");
    assert_int_equal(status, GEMMTUNE_OK);
    const struct gt_node root = gt_json_root(doc);
    assert_int_equal(gt_json_count(root), 50001);
    for (int i = 0; i < 50000; i++) {
        int64_t value = -1;
        assert_int_equal(gt_json_int(&value, gt_json_at(root, (size_t)i), i, i, &err), 0);
    }
    assert_int_equal(gt_json_line(gt_json_at(root, 50000)), 50001);
    gt_json_destroy(doc);
}

static void test_load_says_why_not(void **state) {
    static char anything;
    struct gt_json *doc = (struct gt_json *)(void *)&anything;
    struct gt_err err = {""};
    (void)state;
    assert_int_equal(gt_json_load(&doc, "/nonexistent/x.json", &err), GEMMTUNE_EIO);
    assert_string_equal(err.line, "/nonexistent/x.json: No such file or directory");
    assert_null(doc);
    assert_int_equal(gt_json_load(&doc, "/tmp", &err), GEMMTUNE_EIO);
    assert_string_equal(err.line, "/tmp: Is a directory");
    assert_int_equal(gt_json_load(&doc, "/dev/zero", &err), GEMMTUNE_EIO);
    assert_string_equal(err.line, "/dev/zero: not a regular file");
    assert_null(doc);
}

/* Makes a file of `size` zeros. */
static void make_file(char path[512], off_t size) {
    const char *tmp = getenv("TMPDIR");
    (void)snprintf(path, 512, "%s/gt-json-XXXXXX", tmp != NULL ? tmp : "/tmp");
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, size), 0);
    assert_int_equal(close(fd), 0);
}

static void test_load_bounds_what_it_reads(void **state) {
    char path[512], says[600];
    struct gt_json *doc = NULL;
    struct gt_err err = {""};
    (void)state;
    make_file(path, 0);
    (void)snprintf(says, sizeof says, "%s:1: expected a value, but the text ends", path);
    assert_int_equal(gt_json_load(&doc, path, &err), GEMMTUNE_EPARSE);
    assert_string_equal(err.line, says);
    assert_int_equal(truncate(path, 65 << 20), 0);
    (void)snprintf(says, sizeof says, "%s: larger than 64 MiB", path);
    assert_int_equal(gt_json_load(&doc, path, &err), GEMMTUNE_EPARSE);
    assert_string_equal(err.line, says);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    (void)snprintf(says, sizeof says, "%s: is a pipe: give a file", path);
    assert_int_equal(gt_json_load(&doc, path, &err), GEMMTUNE_EIO); /* and does not wait */
    assert_string_equal(err.line, says);
    assert_int_equal(unlink(path), 0);
}

/* ---- out of memory ---- */

/* Makes the n-th allocation fail, ours or cJSON's, for every n until none is reached. */
static void test_out_of_memory_everywhere(void **state) {
    static const char text[] = "{\"a\":[1,\"two\",{\"b\":null}],\"c\":true}";
    cJSON_Hooks failing = {.malloc_fn = __wrap_malloc, .free_fn = free};
    gt_status status = GEMMTUNE_ENOMEM;
    int n = 0;
    (void)state;
    if (__real_malloc == NULL)
        skip();
    cJSON_InitHooks(&failing);
    for (; status == GEMMTUNE_ENOMEM && n < 1000; n++) {
        struct gt_json *doc = NULL;
        struct gt_err err = {""};
        allocations_left = n;
        status = gt_json_parse(&doc, "t.json", text, sizeof text - 1, &err);
        allocations_left = -1;
        assert_string_equal(err.line, status == GEMMTUNE_OK ? "" : "t.json: out of memory");
        assert_int_equal(doc != NULL, status == GEMMTUNE_OK);
        gt_json_destroy(doc);
    }
    cJSON_InitHooks(NULL);
    assert_int_equal(status, GEMMTUNE_OK);
    assert_in_range(n, 10, 100);
}

static void test_out_of_memory_while_loading(void **state) {
    char path[512], says[600];
    struct gt_json *doc = NULL;
    struct gt_err err = {""};
    (void)state;
    if (__real_malloc == NULL)
        skip();
    make_file(path, 9);
    allocations_left = 0;
    const gt_status status = gt_json_load(&doc, path, &err);
    allocations_left = -1;
    assert_int_equal(unlink(path), 0);
    assert_int_equal(status, GEMMTUNE_ENOMEM);
    (void)snprintf(says, sizeof says, "%s: out of memory", path);
    assert_string_equal(err.line, says);
    assert_null(doc);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_value_knows_its_line),
        cmocka_unit_test(test_members_and_elements),
        cmocka_unit_test(test_int),
        cmocka_unit_test(test_double_bool_string),
        cmocka_unit_test(test_decimal_comma_changes_nothing),
        cmocka_unit_test(test_need),
        cmocka_unit_test(test_only),
        cmocka_unit_test(test_fail),
        cmocka_unit_test(test_long_paths_are_cut),
        cmocka_unit_test(test_load),
        cmocka_unit_test(test_load_says_why_not),
        cmocka_unit_test(test_load_bounds_what_it_reads),
        cmocka_unit_test(test_equal),
        cmocka_unit_test(test_out_of_memory_everywhere),
        cmocka_unit_test(test_out_of_memory_while_loading),
        cmocka_unit_test(test_need_of_a_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
