/* SPDX-License-Identifier: Apache-2.0 */
/* check: threads */
/* Threads that copy boxes of rows: every byte of the box arrives, and no other byte is
 * touched, from any number of callers at once. */
#include "runtime/host/copier.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { FENCE = 64, CALLERS = 6, ROUNDS = 4, UNTOUCHED = 0xa5 };

struct box {
    int64_t row_bytes, rows, to_pitch, from_pitch;
};

/* Short rows and long ones; packed on both sides, on one or on neither; longer than a
 * thread's piece of 256 KiB, and no multiple of it. */
static const struct box boxes[] = {
    {1, 1, 1, 1},
    {1, 1000, 1, 3},
    {7, 33, 9, 7},
    {64, 5000, 64, 64},
    {4096, 257, 4096, 8192},
    {100001, 7, 100001, 100001},
    {262144, 4, 262144, 262144},
    {262145, 3, 262147, 262149},
    {1000000, 1, 1000000, 1000000},
    {12, 0, 12, 12},
    {0, 5, 8, 8},
};
enum { BOXES = sizeof boxes / sizeof *boxes };

static unsigned char byte_at(int64_t i, unsigned salt) {
    const uint64_t x = ((uint64_t)i + salt) * UINT64_C(0x9e3779b97f4a7c15);
    return (unsigned char)(x >> 56);
}

static bool is_copied(const unsigned char *to, const unsigned char *from,
                      const struct box *b, size_t bytes) {
    for (size_t i = 0; i < FENCE; i++)
        if (to[i] != UNTOUCHED || to[FENCE + bytes + i] != UNTOUCHED)
            return false;
    for (size_t i = 0; i < bytes; i++) {
        const int64_t row = (int64_t)i / b->to_pitch, col = (int64_t)i % b->to_pitch;
        const unsigned char want = col < b->row_bytes && row < b->rows
                                       ? from[row * b->from_pitch + col]
                                       : UNTOUCHED;
        if (to[FENCE + i] != want)
            return false;
    }
    return true;
}

/* cmocka's assertions belong to the main thread, so this says whether all is well. */
static bool copies(struct gt_copier *c, const struct box *b, unsigned salt) {
    const size_t bytes = (size_t)(b->to_pitch * b->rows);
    const size_t source = (size_t)(b->from_pitch * b->rows);
    unsigned char *to = malloc(bytes + 2 * (size_t)FENCE), *from = malloc(source + 1);
    bool good = to != NULL && from != NULL;
    if (good) {
        memset(to, UNTOUCHED, bytes + 2 * (size_t)FENCE);
        for (size_t i = 0; i < source; i++)
            from[i] = byte_at((int64_t)i, salt);
        gt_copier_copy(c, to + FENCE, b->to_pitch, from, b->from_pitch, b->row_bytes,
                       b->rows);
        good = is_copied(to, from, b, bytes);
    }
    free(to);
    free(from);
    return good;
}

static struct gt_copier *create(int threads) {
    struct gt_copier *c = NULL;
    struct gt_err err;
    assert_int_equal(gt_copier_create(&c, threads, &err), GEMMTUNE_OK);
    assert_non_null(c);
    return c;
}

static void test_boxes(void **state) {
    static const int threads[] = {0, 1, 2, 5, 200};
    (void)state;
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        struct gt_copier *c = create(threads[i]);
        for (unsigned j = 0; j < BOXES; j++)
            if (!copies(c, &boxes[j], j))
                fail_msg("%d threads: box %u", threads[i], j);
        gt_copier_destroy(c);
    }
}

struct caller {
    struct gt_copier *copier;
    unsigned number;
    int failed;
};

static void *call(void *user) {
    struct caller *c = user;
    for (unsigned i = 0; i < ROUNDS; i++)
        c->failed += !copies(c->copier, &boxes[(c->number + i) % BOXES], c->number + i);
    return NULL;
}

static void test_callers_at_once(void **state) {
    (void)state;
    for (int threads = 1; threads <= 4; threads += 3) {
        struct gt_copier *c = create(threads);
        struct caller caller[CALLERS];
        pthread_t thread[CALLERS];
        for (unsigned i = 0; i < CALLERS; i++) {
            caller[i] = (struct caller){c, i, 0};
            assert_int_equal(pthread_create(&thread[i], NULL, call, &caller[i]), 0);
        }
        for (int i = 0; i < CALLERS; i++) {
            assert_int_equal(pthread_join(thread[i], NULL), 0);
            assert_int_equal(caller[i].failed, 0);
        }
        gt_copier_destroy(c);
    }
}

static void test_unused(void **state) {
    (void)state;
    gt_copier_destroy(NULL);
    for (int i = 0; i < 50; i++)
        gt_copier_destroy(create(3));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_boxes),
        cmocka_unit_test(test_callers_at_once),
        cmocka_unit_test(test_unused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
