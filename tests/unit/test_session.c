/* SPDX-License-Identifier: Apache-2.0 */
/* The options of a search: tune, agree and ladder read them with the same function. The
 * signals that stop a command. */
#include "tests/unit/capture.h"
#include "tuner/cmd/cmd.h"
#include "tuner/cmd/session.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* The exit code when a signal came, and how main ends then. */
static void test_exit_codes(void **state) {
    (void)state;
    gt_session_stop = 0;
    gt_session_obey();
    assert_int_equal(gt_session_exit(GT_EXIT_DEVICE), GT_EXIT_DEVICE);
    gt_session_stop = SIGTERM;
    assert_int_equal(gt_session_exit(GT_EXIT_DEVICE), GT_EXIT_STOPPED);
    gt_session_stop = 0;
    for (int resumes = 0; resumes < 2; resumes++) {
        gt_session_catch(resumes);
        assert_int_equal(gt_session_exit(GT_EXIT_OK), GT_EXIT_OK);
        (void)raise(SIGTERM);
        (void)raise(SIGINT); /* the first one counts */
        assert_int_equal(gt_session_exit(GT_EXIT_FAILURE),
                         resumes ? GT_EXIT_STOPPED : 128 + SIGTERM);
        gt_session_stop = 0;
    }
}

/* nohup(1) keeps the end of a terminal from a command. */
static void test_hangup(void **state) {
    (void)state;
    (void)signal(SIGHUP, SIG_IGN);
    gt_session_catch(true);
    (void)raise(SIGHUP);
    assert_int_equal(gt_session_stop, 0);
    (void)signal(SIGHUP, SIG_DFL);
    gt_session_catch(true);
    (void)raise(SIGHUP);
    assert_int_equal(gt_session_stop, SIGHUP);
    gt_session_stop = 0;
    (void)signal(SIGHUP, SIG_DFL);
}

/* In a child: writes a byte when the signal came twice and only stops it. It sends the
 * signal again when that second is over. */
static void receive(int number, int out) {
    (void)signal(number, SIG_DFL); /* whatever started the test may ignore it */
    gt_session_catch(true);
    (void)raise(number);
    (void)raise(number); /* as timeout(1) does */
    if (!gt_session_stop || write(out, "s", 1) != 1)
        _exit(1);
    (void)sleep(2);
    (void)raise(number);
    _exit(1);
}

static void test_signal_again(void **state) {
    const int signals[] = {SIGINT, SIGTERM, SIGUSR1, SIGHUP};
    enum { COUNT = sizeof signals / sizeof *signals };
    pid_t child[COUNT];
    int in[COUNT][2];
    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(pipe(in[i]), 0);
        child[i] = fork();
        assert_true(child[i] >= 0);
        if (child[i] == 0)
            receive(signals[i], in[i][1]);
        close(in[i][1]);
    }
    for (size_t i = 0; i < COUNT; i++) {
        char stopped = 0;
        int end = 0;
        assert_int_equal(read(in[i][0], &stopped, 1), 1);
        close(in[i][0]);
        assert_int_equal(waitpid(child[i], &end, 0), child[i]);
        assert_true(WIFSIGNALED(end));
        assert_int_equal(WTERMSIG(end), signals[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_choice),       cmocka_unit_test(test_unknown_names),
        cmocka_unit_test(test_signal_again), cmocka_unit_test(test_hangup),
        cmocka_unit_test(test_exit_codes), /* its signals have come once, so it is the last
                                            */
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
