/* SPDX-License-Identifier: Apache-2.0 */
/* The points of one order of sums: the walk that keeps to it finds the ones of the whole
 * space that have it. */
#include "tuner/search/space.h"

#include "tuner/study/predict.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define OK(call) assert_int_equal(call, GEMMTUNE_OK)

static struct gt_families *families;
static struct gt_device device;
static struct gt_err err;

/* Less shared memory and fewer threads than an H200 has leave spaces that are looked at
 * point by point in little time. */
static int setup(void **state) {
    (void)state;
    OK(gt_families_create(&families, &err));
    OK(gt_describe_load(&device, "devices/h200/device.json", &err));
    device.smem_max = 40000;
    device.max_threads = 256;
    return 0;
}

static int teardown(void **state) {
    (void)state;
    gt_families_destroy(families);
    return 0;
}

static gemmtune_problem named(const char *name) {
    gemmtune_problem p;
    OK(gt_problem_from_name(&p, name, &err));
    return p;
}

/* ---- the whole space, point by point ---- */

/* A space, a binding of its problem, and the order of sums of one point. */
struct whole {
    struct gt_space space;
    struct gt_binding binding;
    char order[GT_ORDER_MAX]; /* "": the point has none */
};

static void list_whole(struct whole *w, const struct gt_family *f,
                       const gemmtune_problem *p) {
    OK(gt_space_create(&w->space, f, &device, p, &err));
    gt_bind_problem(&w->binding, f, &device, p);
}

static void look_at(struct whole *w, size_t i, int64_t values[GT_POINT_MAX]) {
    gt_space_values(&w->space, i, values);
    OK(gt_bind_checked(&w->binding, values, &err));
    (void)gt_order_of(w->order, &w->binding, NULL);
}

static bool is_in(const char *own, const char *order) {
    return order[0] == '\0' ? own[0] != '\0' : strcmp(own, order) == 0;
}

/* Some points of the order, for a filter that asks. */
static bool first_is_preset(const void *user, const int64_t values[GT_POINT_MAX]) {
    const struct gt_family *f = user;
    return values[0] == f->param[0].preset;
}

/* The walk that keeps to the order (and to the filter) lists and counts the points of the
 * whole space that do, in the same order. Returns how many. */
static size_t compare(struct whole *w, const gemmtune_problem *p, const char *order,
                      bool asks) {
    const struct gt_family *f = w->space.family;
    const size_t size = (size_t)w->space.params;
    const struct gt_space_filter filter = {order, asks ? first_is_preset : NULL, f};
    struct gt_space kept;
    size_t n = 0, counted = 0;
    OK(gt_space_create_wanted(&kept, f, &device, p, &filter, &err));
    assert_true(kept.raw == w->space.raw);
    for (size_t i = 0; i < w->space.count; i++) {
        int64_t values[GT_POINT_MAX];
        look_at(w, i, values);
        if (!is_in(w->order, order) || (asks && !first_is_preset(f, values)))
            continue;
        if (n >= kept.count ||
            memcmp(kept.idx + n * size, w->space.idx + i * size, size) != 0)
            fail_msg("%s, \"%s\": point %zu is not point %zu of all", f->name, order, n, i);
        n++;
    }
    assert_int_equal(n, kept.count);
    OK(gt_space_count(&counted, SIZE_MAX, f, &device, p, &filter, &err));
    assert_int_equal(counted, n);
    if (n > 1) {
        OK(gt_space_count(&counted, n - 1, f, &device, p, &filter, &err));
        assert_int_equal(counted, n - 1);
    }
    gt_space_clear(&kept);
    return n;
}

/* ---- tests ---- */

/* Families of each kind of "sums": the order of a point somewhere in the space, which is
 * rarely the default one. */
static void test_one_order(void **state) {
    static const struct {
        const char *problem, *family;
    } rows[] = {
        {"bf16-nt-1000x6144x4096,row_order", "wgmma"},
        {"bf16-nt-7x6144x4000,row_order", "wgmma"},
        {"bf16-nt-64x512x1024,batch=16,row_order", "wgmma"},
        {"f32-nt-2x6144x4100,row_order", "multistage"},
        {"bf16-nt-2x1024x1000,row_order", "mma"},
        {"f32-nn-33x1000x1001,row_order", "block"},
        {"bf16-nt-1x6144x4096,row_order", "skinny"},
        {"f64-nn-200x300x1024,row_order", "dmma"},
        {"f64-nn-100x100x100,batch=400,row_order", "dmma"},
        {"f32-nt-64x512x1024,batch=8,masked,row_order", "multistage"},
        {"bf16-nt-1024x512x1024,groups=16,row_order", "wgmma"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct gt_family *f = gt_families_find(families, rows[i].family);
        const gemmtune_problem p = named(rows[i].problem);
        struct whole w;
        int64_t values[GT_POINT_MAX];
        int orders = 0;
        list_whole(&w, f, &p);
        assert_true(w.space.count > 0);
        for (size_t part = 1; part <= 7; part += 3) {
            look_at(&w, w.space.count * part / 8, values);
            if (w.order[0] == '\0')
                continue;
            char order[GT_ORDER_MAX];
            memcpy(order, w.order, sizeof order);
            orders++;
            assert_true(compare(&w, &p, order, false) > 0);
        }
        if (orders == 0)
            fail_msg("row %zu: no point that was looked at has an order", i);
        gt_space_clear(&w.space);
    }
}

/* With every order, and with a filter besides. */
static void test_any_order(void **state) {
    const struct gt_family *f = gt_families_find(families, "dmma");
    const gemmtune_problem p = named("f64-nn-200x300x1024,row_order");
    struct whole w;
    (void)state;
    list_whole(&w, f, &p);
    const size_t any = compare(&w, &p, "", false);
    assert_in_range(any, 1, w.space.count - 1); /* Stream-K has none */
    assert_in_range(compare(&w, &p, "", true), 1, any - 1);
    const size_t one = compare(&w, &p, "dmma depth=8", false);
    assert_in_range(one, 1, any - 1);
    assert_in_range(compare(&w, &p, "dmma depth=8", true), 1, one - 1);
    gt_space_clear(&w.space);
}

/* Without row_order, or where the filter has none, an order says nothing. */
static void test_no_order(void **state) {
    const struct gt_family *f = gt_families_find(families, "dmma");
    static const struct {
        const char *problem, *order;
    } rows[] = {
        {"f64-nn-200x300x1024", "dmma depth=8"},
        {"f64-nn-200x300x1024", "no such order"},
        {"f64-nn-200x300x1024,row_order", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const gemmtune_problem p = named(rows[i].problem);
        const struct gt_space_filter filter = {.order = rows[i].order};
        struct gt_space all, kept;
        OK(gt_space_create(&all, f, &device, &p, &err));
        OK(gt_space_create_wanted(&kept, f, &device, &p, &filter, &err));
        assert_int_equal(kept.count, all.count);
        gt_space_clear(&all);
        gt_space_clear(&kept);
    }
}

/* Texts that no point has, and one that the points have. */
static void test_other_orders(void **state) {
    static const struct {
        const char *problem, *family, *order;
        bool some;
    } rows[] = {
        {"bf16-nt-64x512x1024,row_order", "mma", "mma", true},
        {"bf16-nt-64x512x1024,row_order", "mma", "mma parts=2 of=512", true},
        /* parts that cover another k */
        {"bf16-nt-64x512x1024,row_order", "mma", "mma parts=2 of=2048", false},
        {"bf16-nt-64x512x1024,row_order", "mma", "mma parts=1", false},
        /* a number that the family has not */
        {"bf16-nt-64x512x1024,row_order", "mma", "mma lanes=32", false},
        {"bf16-nt-64x512x1024,row_order", "mma", "mma parts=2 of=512 cluster=1", false},
        /* no text of a point */
        {"bf16-nt-64x512x1024,row_order", "mma", "mma of=512 parts=2", false},
        {"bf16-nt-64x512x1024,row_order", "mma", "mma slab=0", false},
        {"bf16-nt-64x512x1024,row_order", "mma", "mma ", false},
        {"bf16-nt-64x512x1024,row_order", "mma", "mma parts=02 of=512", false},
        {"bf16-nt-64x512x1024,row_order", "mma", "mma parts=2x of=512", false},
        {"bf16-nt-64x512x1024,row_order", "mma", "mm", false},
        /* another family's */
        {"bf16-nt-64x512x1024,row_order", "mma", "wgmma", false},
        {"bf16-nt-64x512x1024,row_order", "mma", "exact", false},
        {"f32-nn-64x512x1024,row_order", "block", "fma", true},
        {"f32-nn-64x512x1024,row_order", "block", "spread lanes=32", false},
        /* integers have one order in every family; this one states none */
        {"i32-nn-64x512x1024,row_order", "block", "exact", true},
        {"i32-nn-64x512x1024,row_order", "block", "", true},
        {"i32-nn-64x512x1024,row_order", "block", "fma", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct gt_family *f = gt_families_find(families, rows[i].family);
        const gemmtune_problem p = named(rows[i].problem);
        struct whole w;
        list_whole(&w, f, &p);
        if ((compare(&w, &p, rows[i].order, false) > 0) != rows[i].some)
            fail_msg("row %zu: %s, \"%s\"", i, rows[i].family, rows[i].order);
        gt_space_clear(&w.space);
    }
}

/* The numbers of a text. */
static void test_numbers(void **state) {
    const struct gt_family *f = gt_families_find(families, "wgmma");
    const struct gt_family *none = gt_families_find(families, "remainder");
    int64_t number[GT_SUMS_MAX];
    (void)state;
    assert_true(gt_order_numbers(number, f, true, "wgmma parts=2 of=2048 cluster=1"));
    for (int i = 0; i < f->sums.count; i++) {
        const char *name = f->sums.number[i].name;
        const int64_t wanted = strcmp(name, "parts") == 0     ? 2
                               : strcmp(name, "of") == 0      ? 2048
                               : strcmp(name, "cluster") == 0 ? 1
                                                              : 0;
        assert_int_equal(number[i], wanted);
    }
    assert_true(gt_order_numbers(number, f, true, ""));
    assert_int_equal(number[0], 0);
    assert_non_null(none);
    assert_false(gt_order_numbers(number, none, true, ""));
    assert_true(gt_order_numbers(number, none, false, ""));
    assert_true(gt_order_numbers(number, none, false, "exact"));
}

/* A family of our own: its numbers may fail, and its texts may be too long. */
static void test_texts_that_fail(void **state) {
    static const char json[] =
        "{\"format\": 1, \"family\": \"toy\", \"about\": \"x\","
        "\"source\": {\"cuda\": \"toy.cl\", \"opencl\": \"toy.cl\"},"
        "\"entry\": \"gemm\", \"dtypes\": [\"f32\"], \"layouts\": [\"nn\"],"
        "\"params\": {\"A\": [0, 1, 2], \"B\": [0, 1, 2], \"C\": [0, 1]},"
        "\"default\": {\"A\": 1, \"B\": 1, \"C\": 0},"
        "\"sums\": {\"by\": \"toy\", \"when\": \"4 / A > 2\", \"numbers\": {"
        "\"b\": \"2 / B\","
        "\"a_number_of_a_long_name\": \"C * 1000000000000000\","
        "\"another_of_a_long_name\": \"C * 1000000000000000\","
        "\"third_of_a_long_name\": \"C * 1000000000000000\"}},"
        "\"launch\": {\"block\": [\"1\", \"1\", \"1\"], \"grid\": [\"1\", \"1\", \"1\"]},"
        "\"args\": [\"m\", \"n\", \"k\", \"alpha\", \"a\", \"lda\", \"b\", \"ldb\", "
        "\"beta\","
        "\"c\", \"ldc\"]}";
    static const char *const source[2] = {"text", "text"};
    const gemmtune_problem p = named("f32-nn-8x8x8,row_order");
    struct gt_family *f = NULL;
    struct whole w;
    (void)state;
    (void)gt_family_parse(&f, "toy", "toy/space.json", json, source, &err);
    assert_string_equal(err.line, "");
    list_whole(&w, f, &p);
    assert_int_equal(w.space.count, 18);
    assert_int_equal(compare(&w, &p, "", false), 2); /* A and B are not 0, A 1, C 0 */
    assert_int_equal(compare(&w, &p, "toy b=1", false), 1);
    assert_int_equal(compare(&w, &p, "toy b=2", false), 1);
    assert_int_equal(compare(&w, &p, "toy", false), 0);
    gt_space_clear(&w.space);
    gt_family_destroy(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_order), cmocka_unit_test(test_any_order),
        cmocka_unit_test(test_no_order),  cmocka_unit_test(test_other_orders),
        cmocka_unit_test(test_numbers),   cmocka_unit_test(test_texts_that_fail),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
