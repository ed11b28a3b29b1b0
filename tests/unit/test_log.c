/* SPDX-License-Identifier: Apache-2.0 */
/* check: threads */
#include "core/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct seen {
    int count;
    gemmtune_log_level level;
    char line[1024];
};

static void note(void *user, gemmtune_log_level level, const char *line) {
    struct seen *seen = user;
    seen->count++;
    seen->level = level;
    strncpy(seen->line, line, sizeof seen->line - 1);
}

static int silence(void **state) {
    (void)state;
    gemmtune_set_log(NULL, NULL, GEMMTUNE_LOG_ERROR);
    return 0;
}

static void test_reaches_the_function(void **state) {
    struct seen seen = {0};
    (void)state;
    gemmtune_set_log(note, &seen, GEMMTUNE_LOG_INFO);
    gt_log(GEMMTUNE_LOG_WARN, "row %d of %s is skipped\n", 3, "a.db");
    assert_int_equal(seen.count, 1);
    assert_int_equal(seen.level, GEMMTUNE_LOG_WARN);
    assert_string_equal(seen.line, "row 3 of a.db is skipped ");
}

static void test_drops_what_is_too_talkative(void **state) {
    struct seen seen = {0};
    (void)state;
    gemmtune_set_log(note, &seen, GEMMTUNE_LOG_WARN);
    gt_log(GEMMTUNE_LOG_INFO, "no");
    gt_log(GEMMTUNE_LOG_DEBUG, "no");
    assert_int_equal(seen.count, 0);
    gt_log(GEMMTUNE_LOG_ERROR, "yes");
    assert_int_equal(seen.count, 1);
}

static void test_silent_without_a_function(void **state) {
    struct seen seen = {0};
    (void)state;
    gemmtune_set_log(note, &seen, GEMMTUNE_LOG_DEBUG);
    gemmtune_set_log(NULL, &seen, GEMMTUNE_LOG_DEBUG);
    gt_log(GEMMTUNE_LOG_ERROR, "nobody");
    assert_int_equal(seen.count, 0);
}

static void test_line_is_cut_at_512(void **state) {
    struct seen seen = {0};
    (void)state;
    gemmtune_set_log(note, &seen, GEMMTUNE_LOG_DEBUG);
    gt_log(GEMMTUNE_LOG_ERROR, "%0900d", 1);
    assert_int_equal(strlen(seen.line), 511);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_reaches_the_function, silence),
        cmocka_unit_test_teardown(test_drops_what_is_too_talkative, silence),
        cmocka_unit_test_teardown(test_silent_without_a_function, silence),
        cmocka_unit_test_teardown(test_line_is_cut_at_512, silence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
