/* SPDX-License-Identifier: Apache-2.0 */
/* check: threads */
/* Things that several owners use: made once, destroyed by the last one. */
#include "core/shared.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pthread.h>
#include <time.h>

#include <cmocka.h>

enum { THREADS = 8, ROUNDS = 300, KEYS = 5 };

static atomic_int alive, made, refused;

struct thing {
    int number;
    struct gt_shared shared;
};

static struct thing *thing_of(struct gt_shared *shared) {
    return (struct thing *)((char *)shared - offsetof(struct thing, shared));
}

static struct thing *fresh_thing(int number) {
    struct thing *t = calloc(1, sizeof *t);
    assert_non_null(t);
    gt_shared_init(&t->shared);
    t->number = number;
    t->shared.key = malloc(32);
    assert_non_null(t->shared.key);
    t->shared.key_size = (size_t)snprintf(t->shared.key, 32, "thing number %d", number);
    atomic_fetch_add(&alive, 1);
    return t;
}

static void destroy(struct gt_shared *shared) {
    atomic_fetch_sub(&alive, 1);
    free(thing_of(shared));
}

static void drop(struct thing *t) {
    if (gt_shared_drop(&t->shared))
        destroy(&t->shared);
}

/* The thing of a number; NULL when it could not be made. */
static struct thing *take(struct gt_sharing *s, int number, bool can_be_made) {
    struct thing *fresh = fresh_thing(number);
    struct thing *found = thing_of(gt_sharing_take(s, &fresh->shared));
    if (found != fresh) {
        drop(fresh);
        return found;
    }
    const struct timespec while_making = {.tv_nsec = 20000};
    (void)nanosleep(&while_making, NULL);
    atomic_fetch_add(can_be_made ? &made : &refused, 1);
    gt_shared_settle(&fresh->shared, can_be_made);
    if (can_be_made)
        return fresh;
    drop(fresh);
    return NULL;
}

static struct gt_sharing *created(void) {
    struct gt_sharing *s = NULL;
    struct gt_err err = {""};
    assert_int_equal(gt_sharing_create(&s, &err), GEMMTUNE_OK);
    atomic_store(&alive, 0);
    atomic_store(&made, 0);
    atomic_store(&refused, 0);
    return s;
}

static void test_one_of_each(void **state) {
    (void)state;
    struct gt_sharing *s = created();
    struct thing *x = take(s, 1, true), *again = take(s, 1, true), *y = take(s, 2, true);
    assert_ptr_equal(x, again);
    assert_ptr_not_equal(x, y);
    assert_int_equal(y->number, 2);
    assert_int_equal(made, 2);
    assert_int_equal(alive, 2);
    assert_int_equal(gt_sharing_count(s), 2);
    gt_shared_hold(&x->shared);
    drop(x);
    drop(x);
    assert_int_equal(alive, 2);
    drop(x);
    assert_int_equal(alive, 1);
    assert_int_equal(gt_sharing_count(s), 1);
    x = take(s, 1, true); /* made anew */
    assert_int_equal(made, 3);
    gt_sharing_release(s); /* things may outlive their collection's creator */
    drop(x);
    drop(y);
    assert_int_equal(alive, 0);
    gt_sharing_release(NULL);
}

static void test_no_thing_is_found_that_could_not_be_made(void **state) {
    (void)state;
    struct gt_sharing *s = created();
    assert_null(take(s, 1, false));
    assert_int_equal(gt_sharing_count(s), 0);
    struct thing *x = take(s, 1, true);
    assert_non_null(x);
    assert_int_equal(refused, 1);
    drop(x);
    assert_int_equal(alive, 0);
    gt_sharing_release(s);
}

static void test_retained_things_stay(void **state) {
    (void)state;
    struct gt_sharing *s = created();
    struct thing *x = take(s, 1, true), *y = take(s, 2, true);
    gt_shared_retain(&x->shared);
    gt_shared_retain(&x->shared); /* one use, however often */
    drop(x);
    drop(y);
    assert_int_equal(gt_sharing_count(s), 1);
    assert_ptr_equal(take(s, 1, true), x);
    assert_int_equal(made, 2);
    gt_sharing_relinquish(s, destroy);
    assert_int_equal(gt_sharing_count(s), 1); /* its user keeps it */
    gt_shared_retain(&x->shared);
    drop(x);
    assert_int_equal(alive, 1);
    gt_sharing_relinquish(s, destroy);
    assert_int_equal(alive, 0);
    gt_sharing_release(s);
}

struct worker {
    pthread_t thread;
    struct gt_sharing *s;
    int wrong;
};

/* Takes things, retains and relinquishes some, and drops them. Every seventh thing cannot
 * be made. */
static void *work(void *user) {
    struct worker *w = user;
    for (int i = 0; i < ROUNDS; i++) {
        struct thing *t = take(w->s, i % KEYS, i % 7 != 0);
        if (t == NULL)
            continue;
        w->wrong += t->number != i % KEYS;
        if (i % 11 == 0)
            gt_shared_retain(&t->shared);
        if (i % 31 == 0)
            gt_sharing_relinquish(w->s, destroy);
        gt_shared_hold(&t->shared);
        drop(t);
        drop(t);
    }
    return NULL;
}

static void test_from_many_threads(void **state) {
    struct worker worker[THREADS];
    (void)state;
    struct gt_sharing *s = created();
    for (int i = 0; i < THREADS; i++) {
        worker[i] = (struct worker){.s = s};
        assert_int_equal(pthread_create(&worker[i].thread, NULL, work, &worker[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(worker[i].thread, NULL), 0);
        assert_int_equal(worker[i].wrong, 0);
    }
    gt_sharing_relinquish(s, destroy);
    assert_int_equal(gt_sharing_count(s), 0);
    assert_int_equal(alive, 0);
    gt_sharing_release(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_of_each),
        cmocka_unit_test(test_no_thing_is_found_that_could_not_be_made),
        cmocka_unit_test(test_retained_things_stay),
        cmocka_unit_test(test_from_many_threads),
    };
    return cmocka_run_group_tests_name("shared", tests, NULL, NULL);
}
