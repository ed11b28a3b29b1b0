/* SPDX-License-Identifier: Apache-2.0 */
/* Finding devices in a view, ranking its records, and comparing two devices. */
#include "tuner/study/versus.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A view's rows own their texts. */
static char *copy(const char *text) {
    char *out = strdup(text);
    assert_non_null(out);
    return out;
}

static struct gt_view_row *add(struct gt_view *v, const char *device, const char *problem,
                               const char *family, const char *point, double ns) {
    struct gt_view_row *grown = realloc(v->row, (v->row_count + 1) * sizeof *grown);
    assert_non_null(grown);
    v->row = grown;
    struct gt_view_row *r = &v->row[v->row_count++];
    *r = (struct gt_view_row){
        .state = GT_TRIAL_DONE, .outcome = GT_CORRECT, .median_ns = ns};
    (void)snprintf(r->device, sizeof r->device, "%s", device);
    (void)snprintf(r->problem, sizeof r->problem, "%s", problem);
    (void)snprintf(r->family, sizeof r->family, "%s", family);
    (void)snprintf(r->hash, sizeof r->hash, "h");
    r->point = copy(point);
    r->error = copy("");
    r->provenance = copy("local");
    return r;
}

static void win(struct gt_view *v, const char *device, const char *problem,
                const char *family, const char *point, double ns) {
    struct gt_view_row *r = add(v, device, problem, family, point, ns);
    r->record = true;
    r->verified = true;
}

static struct gt_versus compared(struct gt_view *v) {
    struct gt_versus out;
    assert_int_equal(gt_versus_create(&out, v, "a", "b", NULL), GEMMTUNE_OK);
    return out;
}

static void test_winners(void **state) {
    struct gt_view v = {0};
    (void)state;
    win(&v, "b", "p2", "block", "BM=64 BK=8", 10);
    win(&v, "a", "p1", "tile", "W=16", 30);
    win(&v, "a", "p2", "block", "BM=128 BK=8", 40);
    win(&v, "b", "p1", "block", "BM=64", 10);
    win(&v, "c", "p1", "block", "BM=64", 1);
    win(&v, "a", "p0", "tile", "W=8", 5);
    win(&v, "b", "p3", "tile", "W=8", 5);
    struct gt_versus x = compared(&v);
    assert_int_equal(x.count, 4);
    assert_int_equal(x.common, 2);
    assert_true(fabs(x.geomean - sqrt(12.0)) < 1e-12);
    assert_string_equal(x.row[0].problem, "p0");
    assert_true(x.row[0].a != NULL && x.row[0].b == NULL && x.row[0].ratio == 0);
    assert_string_equal(x.row[1].differs, "tile->block");
    assert_true(x.row[1].ratio == 3);
    assert_null(x.row[1].shared);
    assert_true(x.row[1].shared_slowdown == 0);
    assert_string_equal(x.row[2].differs, "BM 128->64");
    assert_true(x.row[2].ratio == 4);
    assert_true(x.row[3].a == NULL && x.row[3].b != NULL);
    gt_versus_clear(&x);
    gt_view_clear(&v);
}

static void test_differences(void **state) {
    static const struct {
        const char *a, *b, *differs;
    } rows[] = {
        {"A=1 B=2", "A=1 B=2", ""},
        {"A=1 B=2", "B=2 A=1", ""},
        {"A=1 B=2", "A=3 B=-4", "A 1->3 B 2->-4"},
        {"A=1 B=2", "A=1", "B 2->-"},
        {"A=1", "A=2 B=2", "A 1->2 B -->2"},
        {"", "", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gt_view v = {0};
        win(&v, "a", "p", "tile", rows[i].a, 1);
        win(&v, "b", "p", "tile", rows[i].b, 1);
        struct gt_versus x = compared(&v);
        assert_string_equal(x.row[0].differs, rows[i].differs);
        gt_versus_clear(&x);
        gt_view_clear(&v);
    }
}

/* The point with the least worse slowdown: neither winner,
 * when each is bad on the other. */
static void test_shared_point(void **state) {
    struct gt_view v = {0};
    (void)state;
    win(&v, "a", "p", "tile", "W=8", 10);
    win(&v, "b", "p", "tile", "W=32", 20);
    (void)add(&v, "a", "p", "tile", "W=32", 30); /* 3.0 on a */
    (void)add(&v, "b", "p", "tile", "W=8", 50);  /* 2.5 on b */
    (void)add(&v, "a", "p", "tile", "W=16", 12); /* 1.2 */
    (void)add(&v, "b", "p", "tile", "W=16", 26); /* 1.3 */
    (void)add(&v, "a", "p", "tile", "W=24", 10); /* on one only */
    add(&v, "a", "p", "tile", "W=12", 11)->outcome = GT_WRONG_RESULT;
    (void)add(&v, "b", "p", "tile", "W=12", 21);
    add(&v, "a", "p", "tile", "W=4", 11)->hash[0] = 'i'; /* of another source */
    (void)add(&v, "b", "p", "tile", "W=4", 21);
    (void)add(&v, "a", "p", "tile", "W=2", 0); /* never timed */
    (void)add(&v, "b", "p", "tile", "W=2", 20);
    struct gt_versus x = compared(&v);
    assert_int_equal(x.count, 1);
    assert_non_null(x.row[0].shared);
    assert_string_equal(x.row[0].shared->point, "W=16");
    assert_true(x.row[0].shared_a_ns == 12 && x.row[0].shared_b_ns == 26);
    assert_true(fabs(x.row[0].shared_slowdown - 1.3) < 1e-12);
    assert_true(x.row[0].ratio == 0.5);
    gt_versus_clear(&x);
    gt_view_clear(&v);
}

/* Several databases may each bring a winner: a verified one goes before a faster guess, and
 * one that can be served before both. */
static void test_several_winners(void **state) {
    struct gt_view v = {0};
    (void)state;
    win(&v, "a", "p", "tile", "W=8", 10);
    win(&v, "a", "p", "tile", "W=16", 5);
    v.row[1].verified = false;
    win(&v, "a", "p", "tile", "W=32", 8);
    win(&v, "b", "p", "tile", "W=8", 4);
    win(&v, "b", "p", "tile", "W=16", 3);
    v.row[4].rank = 1;
    struct gt_versus x = compared(&v);
    assert_string_equal(x.row[0].a->point, "W=32");
    assert_string_equal(x.row[0].b->point, "W=8");
    assert_true(x.row[0].ratio == 2);
    gt_versus_clear(&x);
    for (size_t i = 0; i < v.row_count; i++)
        v.row[i].current = strcmp(v.row[i].device, "a") == 0 && !v.row[i].verified;
    x = compared(&v);
    assert_string_equal(x.row[0].a->point, "W=16");
    gt_versus_clear(&x);
    gt_view_clear(&v);
}

static void test_nothing(void **state) {
    struct gt_view v = {0};
    (void)state;
    struct gt_versus x = compared(&v);
    assert_int_equal(x.count, 0);
    assert_true(x.geomean == 0);
    gt_versus_clear(&x);
    (void)add(&v, "a", "p", "tile", "W=8", 0);
    add(&v, "a", "p", "tile", "W=8", 5)->state = GT_TRIAL_RUNNING;
    x = compared(&v);
    assert_int_equal(x.count, 0);
    gt_versus_clear(&x);
    gt_view_clear(&v);
}

static void test_picking(void **state) {
    static const struct {
        const char *what;
        gt_status status;
        size_t index;
    } rows[] = {
        {"gtx-1050-aa", GEMMTUNE_OK, 0}, {"GTX-1050-AA", GEMMTUNE_OK, 0},
        {"-bb", GEMMTUNE_OK, 1},         {"H200", GEMMTUNE_OK, 2},
        {"h2", GEMMTUNE_OK, 2},          {"gtx 1050", GEMMTUNE_EINVAL, 0},
        {"1050", GEMMTUNE_EINVAL, 0},    {"amd", GEMMTUNE_ENOTFOUND, 0},
        {"NVIDIA H200", GEMMTUNE_OK, 2}, {"", GEMMTUNE_EINVAL, 0},
    };
    struct gt_view_device device[4] = {
        {.key = "gtx-1050-aa", .device = {.name = "NVIDIA GeForce GTX 1050"}},
        {.key = "gtx-1050-bb", .device = {.name = "NVIDIA GeForce GTX 1050"}},
        {.key = "nvidia-h200-cc", .device = {.name = "NVIDIA H200"}},
        {.key = "other-dd", .device = {.name = "Other"}},
    };
    const struct gt_view v = {.device_count = 4, .device = device};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gt_err err = {""};
        size_t index = 99;
        assert_int_equal(gt_view_pick(&index, &v, rows[i].what, &err), rows[i].status);
        if (rows[i].status == GEMMTUNE_OK)
            assert_int_equal(index, rows[i].index);
        else
            assert_true(err.line[0] != '\0');
    }
}

/* A stale row comes after the current ones of its problem, and is the winner where there
 * are none. */
static void test_ranking(void **state) {
    static const struct {
        const char *device, *problem;
        bool current;
        int rank;
    } rows[] = {
        {"a", "p1", false, 2}, {"a", "p1", true, 0},  {"a", "p1", false, 3},
        {"a", "p1", true, 1},  {"a", "p2", true, 0},  {"a", "p2", false, 1},
        {"b", "p2", false, 0}, {"b", "p2", false, 1},
    };
    enum { ROWS = sizeof rows / sizeof *rows };
    struct gt_families *families = NULL;
    struct gt_view v = {0};
    (void)state;
    assert_int_equal(gt_families_create(&families, NULL), GEMMTUNE_OK);
    const struct gt_family *f = gt_families_find(families, "tile");
    for (int i = 0; i < ROWS; i++) {
        win(&v, rows[i].device, rows[i].problem, i == 5 ? "gone" : "tile", "W=8", 10 + i);
        v.row[i].rank = i;
        if (rows[i].current)
            (void)snprintf(v.row[i].hash, sizeof v.row[i].hash, "%s", f->hash);
    }
    gt_view_rank(&v, 0, families);
    for (int i = 0; i < ROWS; i++) {
        assert_true(gt_view_current(&v.row[i], families) == rows[i].current);
        assert_true(v.row[i].current == rows[i].current);
        assert_int_equal(v.row[i].rank, rows[i].rank);
    }
    for (int i = 0; i < ROWS; i++)
        v.row[i].rank = 10 + i;
    gt_view_rank(&v, 5,
                 families); /* another database's, of a problem that row 4 is of too */
    for (int i = 0; i < 5; i++)
        assert_int_equal(v.row[i].rank, 10 + i);
    assert_int_equal(v.row[5].rank, 0);
    assert_int_equal(v.row[6].rank, 0);
    assert_int_equal(v.row[7].rank, 1);
    gt_view_clear(&v);
    gt_families_destroy(families);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranking),         cmocka_unit_test(test_winners),
        cmocka_unit_test(test_differences),     cmocka_unit_test(test_shared_point),
        cmocka_unit_test(test_several_winners), cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_picking),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
