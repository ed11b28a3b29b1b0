/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The drawing of a host product: each operation has a bar in its lane, each lane has its
 * name, and a drawing that lacks operations says so.
 */
#include "runtime/host/schedule.h"
#include "tuner/stream/timeline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { DEVICES = 2 };

static struct gt_err err;
static char path[200], drawing[32 * 1024];

static int set_up(void **state) {
    const char *tmp = getenv("TMPDIR");
    (void)state;
    snprintf(path, sizeof path, "%.150s/gemmtune-lanes-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    const int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int tear_down(void **state) {
    (void)state;
    return unlink(path);
}

/* A copy of A, then one event of each other lane, then a copy of B; on each device. */
static struct gt_timeline timeline_of_all_lanes(void) {
    static const char operand[] = "ACxCB";
    struct gt_timeline t = {0};
    for (int device = 0; device < DEVICES; device++)
        for (int i = 0; i <= GT_LANES; i++) {
            const gemmtune_host_event event = {.device = device,
                                               .lane = i % GT_LANES,
                                               .operand = operand[i],
                                               .begin = i,
                                               .end = i + 1};
            gt_timeline_take(&t, &event);
        }
    return t;
}

static void draw(const struct gt_timeline *t) {
    const gemmtune_host_report report = {.devices = DEVICES, .seconds = GT_LANES + 1};
    if (gt_timeline_draw(t, path, "a title", &report, &err) != GEMMTUNE_OK)
        fail_msg("%s", err.line);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    const size_t length = fread(drawing, 1, sizeof drawing - 1, file);
    drawing[length] = '\0';
    assert_int_equal(fclose(file), 0);
}

static int count(const char *words) {
    int found = 0;
    for (const char *at = drawing; (at = strstr(at, words)) != NULL; at++)
        found++;
    return found;
}

static void test_drawing(void **state) {
    struct gt_timeline t = timeline_of_all_lanes();
    (void)state;
    draw(&t);
    assert_int_equal(count("<title>a title<"), 1); /* for who does not see the text */
    assert_int_equal(count(">a title<"), 2);
    for (int device = 0; device < DEVICES; device++)
        for (int i = 0; i < GT_LANES; i++) {
            char name[64];
            snprintf(name, sizeof name, ">%d: %s<", device,
                     gt_host_lane_name((enum gt_lane)i));
            assert_int_equal(count(name), 1);
        }
    assert_int_equal(count("<rect"),
                     1 + DEVICES * (GT_LANES + 1)); /* with the background */
    assert_int_equal(count("operations are missing"), 0);
    gt_timeline_clear(&t);
}

/* The five kinds of operations can be told apart. */
static void test_colours(void **state) {
    struct gt_timeline t = timeline_of_all_lanes();
    char colour[GT_LANES + 1][16];
    (void)state;
    t.count = GT_LANES + 1; /* of the first device */
    draw(&t);
    const char *at = strstr(drawing, "<rect") + 1; /* after the background */
    for (int i = 0; i <= GT_LANES; i++) {
        at = strstr(strstr(at, "<rect"), "fill=\"");
        assert_int_equal(sscanf(at, "fill=\"%15[^\"]", colour[i]), 1);
        for (int j = 0; j < i; j++)
            assert_string_not_equal(colour[i], colour[j]);
    }
    gt_timeline_clear(&t);
}

static void test_incomplete(void **state) {
    struct gt_timeline t = timeline_of_all_lanes();
    (void)state;
    t.incomplete = true;
    draw(&t);
    assert_int_equal(count("; operations are missing, since memory was short<"), 2);
    gt_timeline_clear(&t);
}

int main(void) {
#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {CASE(test_drawing), CASE(test_colours),
                                       CASE(test_incomplete)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
