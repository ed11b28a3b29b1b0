/* SPDX-License-Identifier: Apache-2.0 */
/* How a process of ours begins: with its parent's end in sight, and deaf to what goes to a
 * whole group. */
#include "tuner/base/child.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static const int to_groups[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
enum { SIGNALS = sizeof to_groups / sizeof *to_groups };

static int said[2]; /* what a child says; at its end when nobody holds it */

static void say(char what) {
    if (write(said[1], &what, 1) != 1)
        _exit(2);
}

static void say_term(int number) {
    (void)number;
    say('t');
    _exit(0);
}

/* The children: each in a process that loses its parent after `ready` was closed. */

static void waits_for_ever(pid_t parent, int ready) {
    gt_child_begin(parent, SIGKILL);
    say('b');
    close(ready);
    for (;;)
        (void)pause();
}

static void saves_first(pid_t parent, int ready) {
    gt_child_begin(parent, SIGTERM);
    (void)signal(SIGTERM, say_term);
    say('b');
    close(ready);
    for (;;)
        (void)pause();
}

static void comes_too_late(pid_t parent, int ready) {
    close(ready);
    while (getppid() == parent)
        (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    gt_child_begin(parent, SIGKILL);
    say('b');
    for (;;)
        (void)pause();
}

/* The words of the child of a parent that dies, until it is gone itself. */
static void assert_said(void (*child)(pid_t parent, int ready), const char *want) {
    char text[8] = "";
    size_t n = 0;
    int ready[2];
    assert_int_equal(pipe(said), 0);
    assert_int_equal(pipe(ready), 0);
    const pid_t parent = fork();
    if (parent == 0) {
        const pid_t self = getpid();
        if (fork() == 0) {
            (void)alarm(60); /* only a failure takes a minute */
            close(ready[0]);
            child(self, ready[1]);
        }
        close(ready[1]);
        _exit((int)read(ready[0], text, 1)); /* the end of file */
    }
    close(ready[0]);
    close(ready[1]);
    close(said[1]);
    while (n + 1 < sizeof text && read(said[0], text + n, 1) == 1)
        n++;
    close(said[0]);
    assert_int_equal(waitpid(parent, NULL, 0), parent);
    assert_string_equal(text, want);
}

static void test_parent_dies(void **state) {
    (void)state;
    assert_said(waits_for_ever, "b");
    assert_said(saves_first, "bt");
    assert_said(comes_too_late, "");
}

/* The exit code of a child after all these signals, which it handles as a compiler may. */
static int end_of_deaf(int last) {
    int state = 0;
    const pid_t self = getpid(), child = fork();
    if (child == 0) {
        gt_child_begin(self, last);
        for (size_t i = 0; i < SIGNALS; i++)
            (void)signal(to_groups[i], _exit);
        for (size_t i = 0; i < SIGNALS; i++)
            (void)raise(to_groups[i]);
        execl("/bin/sh", "sh", "-c",
              "for s in HUP INT QUIT TERM USR1 USR2; do kill -s $s $$; done; exit 99",
              NULL);
        _exit(1);
    }
    assert_true(child > 0 && waitpid(child, &state, 0) == child && WIFEXITED(state));
    return WEXITSTATUS(state);
}

static void test_signals_to_a_group(void **state) {
    (void)state;
    assert_int_equal(end_of_deaf(SIGKILL), 99);
    assert_int_equal(end_of_deaf(SIGTERM), SIGTERM); /* the one that it obeys */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parent_dies),
        cmocka_unit_test(test_signals_to_a_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
