/* SPDX-License-Identifier: Apache-2.0 */
/* check: threads */
#include "core/status.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_strerror_knows_every_code(void **state) {
    (void)state;
#define X(name, value, text)                                                               \
    assert_int_equal(name, value);                                                         \
    assert_string_equal(gemmtune_strerror(name), text);
    GEMMTUNE_STATUS_LIST(X)
#undef X
    assert_string_equal(gemmtune_strerror((gemmtune_status)1), "unknown status");
    assert_string_equal(gemmtune_strerror((gemmtune_status)-1000), "unknown status");
}

static void test_version(void **state) {
    (void)state;
    assert_int_equal(gemmtune_version(), 10000 * GEMMTUNE_VERSION_MAJOR +
                                             100 * GEMMTUNE_VERSION_MINOR +
                                             GEMMTUNE_VERSION_PATCH);
}

static void test_fail_writes_and_returns(void **state) {
    struct gt_err err = {""};
    (void)state;
    assert_int_equal(gt_fail(&err, GEMMTUNE_EIO, "%s: %d", "file", 3), GEMMTUNE_EIO);
    assert_string_equal(err.line, "file: 3");
    assert_int_equal(gt_fail(NULL, GEMMTUNE_EDB, "nobody reads"), GEMMTUNE_EDB);
}

static void test_fail_keeps_one_line(void **state) {
    struct gt_err err = {""};
    char text[2000];
    (void)state;
    (void)gt_fail(&err, GEMMTUNE_EIO, "a\r\nb");
    assert_string_equal(err.line, "a  b");
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    (void)gt_fail(&err, GEMMTUNE_EIO, "%s", text);
    assert_int_equal(strlen(err.line), sizeof err.line - 1);
}

static void test_fail_within_prepends(void **state) {
    struct gt_err err = {""};
    (void)state;
    assert_int_equal(gt_fail_within(&err, GEMMTUNE_EDB, "row %d", 7), GEMMTUNE_EDB);
    assert_string_equal(err.line, "row 7");
    (void)gt_fail_within(&err, GEMMTUNE_EDB, "a.db");
    assert_string_equal(err.line, "a.db: row 7");
    assert_int_equal(gt_fail_within(NULL, GEMMTUNE_EDB, "nobody"), GEMMTUNE_EDB);
}

/* An argument may be the present line itself. */
static void test_the_line_may_be_quoted(void **state) {
    struct gt_err err = {""};
    (void)state;
    (void)gt_fail(&err, GEMMTUNE_EDB, "inner");
    (void)gt_fail(&err, GEMMTUNE_EDB, "a %s", err.line);
    assert_string_equal(err.line, "a inner");
    (void)gt_fail_within(&err, GEMMTUNE_EDB, "(%s)", err.line);
    assert_string_equal(err.line, "(a inner): a inner");
}

static void *fail_elsewhere(void *seen) {
    *(size_t *)seen = strlen(gemmtune_errmsg());
    (void)gt_fail(gt_thread_err(), GEMMTUNE_EIO, "elsewhere");
    return NULL;
}

static void test_errmsg_is_per_thread(void **state) {
    pthread_t thread;
    size_t seen = 99;
    (void)state;
    (void)gt_fail(gt_thread_err(), GEMMTUNE_EIO, "here");
    assert_int_equal(pthread_create(&thread, NULL, fail_elsewhere, &seen), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(seen, 0);
    assert_string_equal(gemmtune_errmsg(), "here");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strerror_knows_every_code),
        cmocka_unit_test(test_version),
        cmocka_unit_test(test_fail_writes_and_returns),
        cmocka_unit_test(test_fail_keeps_one_line),
        cmocka_unit_test(test_fail_within_prepends),
        cmocka_unit_test(test_the_line_may_be_quoted),
        cmocka_unit_test(test_errmsg_is_per_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
