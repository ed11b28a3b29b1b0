/* SPDX-License-Identifier: Apache-2.0 */
/* check: threads */
/* test_cores.c - the choice of the run worker's core. */
#include "tuner/base/cores.h"
#include "tuner/base/parallel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct gt_core_set set(const char *list) {
    struct gt_core_set s;
    if (!gt_core_set_parse(&s, list))
        fail_msg("\"%s\" is no list", list);
    return s;
}

static void assert_set(const struct gt_core_set *got, const char *want) {
    const struct gt_core_set other = set(want);
    assert_memory_equal(got, &other, sizeof other);
}

static void test_crowding(void **state) {
    (void)state;
    assert_true(gt_crowding(0.5, 2) == 1);
    assert_true(gt_crowding(2, 2) == 1);
    assert_true(gt_crowding(9, 2) == 4.5);
    assert_true(gt_crowding(1000, 2) == GT_CROWDING_MAX);
    assert_true(gt_crowding(9, 0) == 1); /* the system does not say */
    assert_in_range((long)gt_cores_crowding(), 1, GT_CROWDING_MAX);
    assert_in_range((long)gt_cores_slowdown(), 1, GT_CROWDING_MAX);
}

static void test_lists(void **state) {
    static const char *const wrong[] = {"",   "-",    "a",    "3-", "3-1",
                                        "1,", "1,,2", "1024", "0 1"};
    struct gt_core_set s;
    (void)state;
    s = set("0-3,8,10-11\n");
    assert_int_equal(gt_core_set_count(&s), 7);
    assert_true(s.has[0] && s.has[3] && s.has[8] && s.has[10] && s.has[11]);
    s = set("1023");
    assert_true(s.has[1023]);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (gt_core_set_parse(&s, wrong[i]))
            fail_msg("\"%s\" was taken for a list", wrong[i]);
}

/* Machines: threads of a core are neighbours, or half of all apart, or alone, or all of
 * them. */
static void pairs(struct gt_core_set *out, int core) {
    memset(out, 0, sizeof *out);
    out->has[core / 2 * 2] = out->has[core / 2 * 2 + 1] = true;
}
static void halves(struct gt_core_set *out, int core) {
    memset(out, 0, sizeof *out);
    out->has[core % 8] = out->has[core % 8 + 8] = true;
}
static void alone(struct gt_core_set *out, int core) {
    memset(out, 0, sizeof *out);
    out->has[core] = true;
}
static void together(struct gt_core_set *out, int core) {
    (void)core;
    *out = set("0-7");
}

static void test_split(void **state) {
    static const struct {
        const char *allowed;
        void (*beside)(struct gt_core_set *out, int core);
        const char *own, *rest; /* NULL: it is not divided */
    } rows[] = {
        {"0-15", halves, "7,15", "0-6,8-14"}, {"0-3", pairs, "2-3", "0-1"},
        {"0-6", pairs, "6", "0-5"}, /* 7 is not ours */
        {"4,9,17,30", alone, "30", "4,9,17"}, {"0-2", alone, NULL, NULL},
        {"0-7", together, NULL, NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct gt_core_set allowed = set(rows[i].allowed);
        struct gt_core_set own, rest;
        const bool split = gt_cores_split(&own, &rest, &allowed, rows[i].beside);
        assert_int_equal(split, rows[i].own != NULL);
        if (split) {
            assert_set(&own, rows[i].own);
            assert_set(&rest, rows[i].rest);
        } else {
            assert_int_equal(gt_core_set_count(&own) + gt_core_set_count(&rest), 0);
        }
    }
}

static void test_parts(void **state) {
    static const struct {
        const char *allowed;
        void (*beside)(struct gt_core_set *out, int core);
        const char *part[3]; /* NULL: so many parts are there */
    } rows[] = {
        {"0-15", halves, {"0-3,8-11", "4-7,12-15", NULL}},
        {"0-15", pairs, {"0-5", "6-11", "12-15"}},
        {"0-6", pairs, {"0-3", "4-6", NULL}}, /* 7 is not ours */
        {"4,9,17,30", alone, {"4,9", "17", "30"}},
        {"0-1", alone, {"0-1", "0-1", "0-1"}}, /* shared */
        {"0-7", together, {"0-7", "0-7", NULL}},
        {"5", alone, {"5", NULL, NULL}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct gt_core_set allowed = set(rows[i].allowed);
        struct gt_core_set part;
        size_t parts = 0;
        while (parts < 3 && rows[i].part[parts] != NULL)
            parts++;
        for (size_t j = 0; j < parts; j++) {
            gt_cores_part(&part, &allowed, j, parts, rows[i].beside);
            assert_set(&part, rows[i].part[j]);
        }
    }
}

static void test_this_machine(void **state) {
    struct gt_core_set allowed, one, now, beside;
    int core = 0;
    (void)state;
    gt_cores_allowed(&allowed);
    assert_true(gt_core_set_count(&allowed) > 0);
    while (!allowed.has[core])
        core++;
    gt_cores_beside(&beside, core);
    assert_true(beside.has[core]);
    memset(&one, 0, sizeof one);
    one.has[core] = true;
    gt_cores_keep(&one);
    gt_cores_allowed(&now);
    assert_memory_equal(&now, &one, sizeof now);
    memset(&one, 0, sizeof one);
    gt_cores_keep(&one); /* none: nothing changes */
    gt_cores_keep(&allowed);
    gt_cores_allowed(&now);
    assert_memory_equal(&now, &allowed, sizeof now);
}

static void note_cores(void *user, int thread, int64_t first, int64_t end) {
    struct gt_core_set *seen = user;
    (void)first;
    (void)end;
    gt_cores_allowed(&seen[thread]);
}

/* A process that may use one core borrows all: its own thread stays where it was. */
static void test_borrowed(void **state) {
    struct gt_core_set allowed, one, none;
    int core = 0;
    (void)state;
    memset(&one, 0, sizeof one);
    memset(&none, 0, sizeof none);
    gt_cores_allowed(&allowed);
    while (!allowed.has[core])
        core++;
    one.has[core] = true;
    gt_cores_keep(&one);
    assert_int_equal(gt_parallel_threads(), 1);
    gt_parallel_borrow(&allowed);
    const int threads = gt_parallel_threads();
    struct gt_core_set *seen = calloc((size_t)threads, sizeof *seen);
    assert_non_null(seen);
    gt_parallel(note_cores, seen, 100000);
    assert_int_equal(threads, gt_core_set_count(&allowed));
    for (int i = 0; i < threads; i++) /* a thread may have come too late for any work */
        assert_true(memcmp(&seen[i], i == 0 ? &one : &allowed, sizeof one) == 0 ||
                    memcmp(&seen[i], &none, sizeof none) == 0);
    gt_cores_allowed(&seen[0]);
    assert_memory_equal(&seen[0], &one, sizeof one);
    free(seen);
    gt_parallel_borrow(&none);
    gt_cores_keep(&allowed);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_crowding),     cmocka_unit_test(test_lists),
        cmocka_unit_test(test_split),        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_this_machine), cmocka_unit_test(test_borrowed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
