/* SPDX-License-Identifier: Apache-2.0 */
/* test_alike.c - which devices "0,2" and "all" are. */
#include "tuner/rig/alike.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* A machine: 0 cannot be used, 1 2 and 4 are equal, 3 is not; 4 cannot be used either. */
static struct gt_device machine[] = {
    {.name = "broken", .units = 1, .trouble = "no compiler"},
    {.name = "Chip A", .uuid = "GPU-1", .pci = "0000:01:00.0", .units = 10},
    {.name = "Chip A", .uuid = "GPU-2", .pci = "0000:02:00.0", .units = 10},
    {.name = "Chip B", .uuid = "GPU-3", .pci = "0000:03:00.0", .units = 20},
    {.name = "Chip A", .uuid = "GPU-4", .units = 10, .trouble = "no compiler"},
};
static const struct gt_device_list list = {5, machine, {""}};
static struct gt_err err;

/* The numbers of what is picked, or the error. */
static const char *picked(const char *what) {
    static char text[1024];
    struct gt_alike devices;
    size_t n = 0;
    const gt_status status = gt_alike_pick(&devices, &list, what, &err);
    if (status != GEMMTUNE_OK) {
        (void)snprintf(text, sizeof text, "%d %s", status == GEMMTUNE_EINVAL, err.line);
        return text;
    }
    for (size_t i = 0; i < devices.count; i++) {
        n += (size_t)snprintf(text + n, sizeof text - n, "%zu ", devices.number[i]);
        assert_string_equal(devices.device[i].name, machine[devices.number[i]].name);
    }
    (void)snprintf(text + n, sizeof text - n, "%s", devices.others);
    return text;
}

static void test_picks(void **state) {
    (void)state;
    assert_string_equal(picked("all"),
                        "1 2 not equal or not usable, and left out: 0, 3, 4");
    assert_string_equal(picked("1"), "1 ");
    assert_string_equal(picked("2,1"), "2 1 ");
    assert_string_equal(picked("GPU-2,0000:01:00.0"), "2 1 ");
    assert_string_equal(picked("Chip B"), "3 ");
    assert_string_equal(picked(NULL), "0 device 0, broken: no compiler");
}

static void test_refused(void **state) {
    (void)state;
    assert_string_equal(picked("1,3"), "1 device 1, Chip A, and device 3, Chip B, are not "
                                       "equal: tune each kind by a command of its own");
    assert_string_equal(picked("1,2,1"), "1 device 1, Chip A, is named twice");
    assert_string_equal(picked("1,4"), "0 device 4, Chip A: no compiler");
    assert_non_null(strstr(picked("1,"), "0 device '' is not one of"));
    assert_non_null(strstr(picked("1,7"), "0 device '7' does not exist"));
    assert_non_null(strstr(picked("Chip A,3"), "0 device 'Chip A' fits several"));
}

static void test_none(void **state) {
    const struct gt_device_list empty = {0};
    struct gt_alike devices;
    (void)state;
    assert_int_equal(gt_alike_pick(&devices, &empty, "all", &err), GEMMTUNE_ENODRIVER);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_picks),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
