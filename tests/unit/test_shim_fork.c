/* SPDX-License-Identifier: Apache-2.0 */
/* test_shim_fork.c - a child after a fork has none of its parent's threads, and waits for
 * none of the locks that they held. */
#include "shim/decide.h"
#include "shim/handle.h"
#include "shim/life.h"
#include "shim/trouble.h"

#include <printf.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static sem_t inside, leave;

/* A thread stays here with a lock. */
static void stay(void) {
    (void)sem_post(&inside);
    (void)sem_wait(&leave);
}

/* Whether `act` ends in a child, and says true, while a thread of the parent is in
 * `hold`. */
static bool ends_in_a_child(void *(*hold)(void *), bool (*act)(void)) {
    enum { SECONDS = 60 };
    pthread_t thread;
    int status = 1;
    assert_int_equal(pthread_create(&thread, NULL, hold, NULL), 0);
    (void)sem_wait(&inside);
    const pid_t child = fork();
    if (child == 0) {
        (void)alarm(SECONDS);
        _exit(act() ? 0 : 1);
    }
    (void)waitpid(child, &status, 0);
    (void)sem_post(&leave);
    (void)pthread_join(thread, NULL);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static int set_up(void **state) {
    (void)state;
    gt_shim_watch_forks();
    return sem_init(&inside, 0, 0) != 0 || sem_init(&leave, 0, 0) != 0;
}

/* ---- the lock of a handle ---- */

static int handle;

static void *hold_handle(void *user) {
    struct gt_shim_handle *held;
    (void)gt_shim_workspace_hold(&held, &handle);
    stay();
    gt_shim_workspace_release(held);
    return user;
}

static bool use_handle(void) {
    struct gt_shim_handle *held;
    (void)gt_shim_workspace_hold(&held, &handle);
    gt_shim_workspace_release(held);
    return held != NULL;
}

static void test_a_handle(void **state) {
    (void)state;
    assert_true(ends_in_a_child(hold_handle, use_handle));
}

/* ---- the lock of decisions ---- */

static atomic_bool blocks = true;

static unsigned exchange_mode(unsigned *mode) {
    *mode = 0;
    if (atomic_exchange(&blocks, false))
        stay();
    return 0;
}

static const struct gt_shim_driver driver = {.exchange_mode = exchange_mode};
static struct gt_shim_entry first, second;
static const struct gt_shim_call call;

static void *hold_decision(void *user) {
    gt_shim_decide(&first, &call, &driver);
    return user;
}

/* A lock that is held leaves the entry as it was. */
static bool decide(void) {
    gt_shim_decide(&second, &call, &driver);
    return atomic_load(&second.verdict) != GT_SHIM_FRESH;
}

static void test_a_decision(void **state) {
    (void)state;
    assert_true(ends_in_a_child(hold_decision, decide));
}

/* ---- the lock of the first trouble ---- */

static atomic_bool stays = true;

static int print_stay(FILE *to, const struct printf_info *info, const void *const *args) {
    (void)to;
    (void)info;
    (void)args;
    if (atomic_exchange(&stays, false))
        stay();
    return 0;
}

static int no_arguments(const struct printf_info *info, size_t n, int *types, int *size) {
    (void)info;
    (void)n;
    (void)types;
    (void)size;
    return 0;
}

/* The text is printed with the lock held. %Y is a conversion of this test's. */
static void *hold_trouble(void *user) {
    void (*const say)(const char *fmt, ...) = gt_shim_trouble;
    say("%Y");
    return user;
}

static bool say_trouble(void) {
    gt_shim_trouble("said in a child");
    return strcmp(gt_shim_first_trouble(), "said in a child") == 0;
}

static void test_a_trouble(void **state) {
    (void)state;
    assert_int_equal(register_printf_specifier('Y', print_stay, no_arguments), 0);
    assert_true(ends_in_a_child(hold_trouble, say_trouble));
}

int main(void) {
    /* The first trouble is kept, so its test comes before others that may have some. */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_trouble),
        cmocka_unit_test(test_a_handle),
        cmocka_unit_test(test_a_decision),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
