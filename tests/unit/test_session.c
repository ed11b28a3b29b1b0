/* SPDX-License-Identifier: Apache-2.0 */
/* The options of a search: tune, agree and ladder read them with the same function. */
#include "tests/unit/capture.h"
#include "tuner/cmd/cmd.h"
#include "tuner/cmd/session.h"

#include <string.h>

static void test_choice(void **state) {
    static const struct {
        struct gt_session_search how;
        const char *effort, *strategy;
    } rows[] = {
        {{NULL, NULL, 0}, "normal", "model"},    {{"quick", NULL, 0}, "quick", "model"},
        {{"full", NULL, 0}, "full", "full"},     {{"full", "random", 0}, "full", "random"},
        {{"quick", "full", 0}, "quick", "full"},
    };
    static struct gt_tuner t;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        memset(&t, 0, sizeof t);
        assert_int_equal(gt_session_choose(&t, &rows[i].how), -1);
        assert_string_equal(t.effort->name, rows[i].effort);
        assert_string_equal(t.strategy->name, rows[i].strategy);
    }
}

static void test_unknown_names(void **state) {
    static struct gt_tuner t;
    (void)state;
    assert_int_equal(gt_session_choose(&t, &(struct gt_session_search){"fast", NULL, 0}),
                     GT_EXIT_USAGE);
    assert_int_equal(gt_session_choose(&t, &(struct gt_session_search){NULL, "best", 0}),
                     GT_EXIT_USAGE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_choice),
        cmocka_unit_test(test_unknown_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
