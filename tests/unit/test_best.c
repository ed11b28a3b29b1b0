/* SPDX-License-Identifier: Apache-2.0 */
/* test_best.c - the best few of many elements: order, equal keys, a full array. */
#include "tuner/base/best.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

enum { MAX = 4 };

struct element {
    double key;
    char name;
};

static struct element array[MAX];
static int count;

static void add(double key, char name) {
    struct element *place = gt_best_place(array, &count, MAX, sizeof *array, key);
    if (place != NULL)
        *place = (struct element){key, name};
}

static void assert_names(const char *names) {
    char text[MAX + 1] = "";
    for (int i = 0; i < count; i++)
        text[i] = array[i].name;
    assert_string_equal(text, names);
}

static int start_empty(void **state) {
    (void)state;
    count = 0;
    return 0;
}

static void test_smallest_first(void **state) {
    (void)state;
    add(3, 'c');
    add(1, 'a');
    add(2, 'b');
    assert_names("abc");
}

static void test_new_after_equal(void **state) {
    (void)state;
    add(1, 'a');
    add(1, 'b');
    add(0, 'c');
    add(1, 'd');
    assert_names("cabd");
}

static void test_full_array_drops_the_last(void **state) {
    (void)state;
    for (int i = 0; i < MAX; i++)
        add(i, (char)('a' + i));
    add(1.5, 'x');
    assert_names("abxc");
    add(2, 'y'); /* equal to the last, so after it */
    add(INFINITY, 'z');
    assert_names("abxc");
    assert_int_equal(count, MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_smallest_first, start_empty),
        cmocka_unit_test_setup(test_new_after_equal, start_empty),
        cmocka_unit_test_setup(test_full_array_drops_the_last, start_empty),
    };
    return cmocka_run_group_tests_name("best", tests, NULL, NULL);
}
