/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of sums: what families state, which of them a lookup of a problem with
 * row_order takes, and that neither m nor batch, strides or alignment change it.
 */
#include "tests/unit/shipped_families.h"

#include "runtime/lookup/lock.h"
#include "runtime/lookup/match_inside.h"
#include "tests/unit/points.h"

/* ---- what a point states ---- */

/* The order of a point for a problem on an H200; "" where it states none. */
static const char *order_of(char out[GT_ORDER_MAX], const char *family, const char *problem,
                            const char *text) {
    const gemmtune_problem p = problem_of(problem);
    const struct gt_family *f = gt_families_find(families, family);
    struct gt_point point, given;
    struct gt_binding b;
    assert_non_null(f);
    gt_family_default(f, &point);
    assert_int_equal(gt_point_parse(&given, text, NULL), GEMMTUNE_OK);
    for (int i = 0; i < given.count; i++)
        assert_int_equal(
            gt_point_set(&point, given.entry[i].name, given.entry[i].value, NULL),
            GEMMTUNE_OK);
    gt_bind_problem(&b, f, &h200, &p);
    assert_int_equal(gt_bind_point(&b, &point, NULL), GEMMTUNE_OK);
    (void)gt_order_of(out, &b, NULL);
    return out;
}

static void test_orders_of_points(void **state) {
    static const struct {
        const char *family, *problem, *point, *order;
    } cases[] = {
        {"naive", "f32-nn-5x64x65", "", "fma"},
        {"column", "f32-nn-5x64x65", "", "fma"},
        {"block", "f32-nn-5x64x64", "", "fma"},
        {"block", "f32-nn-5x64x65", "", "fma padded=1"},
        {"block", "f32-nn-5x64x64", "BM=128 BN=128 TM=8 VA=4 VB=4", "fma"},
        {"multistage", "f32-nn-5x64x64", "", "fma"},
        {"multistage", "f32-nn-5x64x64", "SPLIT=4", "fma parts=4 of=16"},
        {"multistage", "f32-nn-5x64x64", "SPLIT=4 CLUSTER=1", "fma parts=4 of=16"},
        {"multistage", "f32-nn-5x64x64", "FOLD=4", "fma parts=4 of=16"},
        {"multistage", "f32-nn-5x64x63", "FOLD=2", "fma parts=2 of=32 padded=1"},
        {"multistage", "f32-nn-5x64x63", "SPLIT=2", "fma parts=2 of=32 padded=1"},
        {"multistage", "f32-nn-5x64x64", "SLICES=2", "fma slices=2 slab=16"},
        {"multistage", "f32-nn-5x64x64", "STREAM=1", ""},
        {"tma", "f32-nn-64x64x64", "", "fma"},
        {"tma", "f32-nn-64x64x64", "SPLIT=4", "fma parts=4 of=16 ways=2"},
        {"tma", "f32-nn-64x64x64", "TAIL=2", ""},
        {"skinny", "f32-nn-1x64x64", "", "spread lanes=8"},
        {"skinny", "f32-nn-1x64x64", "SPLIT=2", "spread lanes=8 parts=2 padded=32"},
        {"skinny", "f32-nn-1x64x66", "STAGES=1", "spread lanes=8 padded=4"},
        {"mma", "bf16-nt-64x64x64", "", "mma"},
        {"mma", "bf16-nt-64x64x64", "BM=128 BN=128 WM=64 WN=64 KBYTES=128 VA=16", "mma"},
        {"mma", "bf16-nt-64x64x96", "SPLIT=2", "mma parts=2 of=64 uneven=32"},
        {"wgmma", "bf16-nt-64x64x64", "SWAP=1", "wgmma"},
        {"wgmma", "bf16-nt-64x64x64", "BN=256 STAGES=3 REPACK=0", "wgmma"},
        {"wgmma", "bf16-nt-64x64x64", "TAIL=1 PERSIST=1", ""},
        {"wgmma", "bf16-nt-64x64x640", "SPLIT=2", "wgmma parts=2 of=320"},
        {"dmma", "f64-nn-64x64x64", "", "dmma depth=8"},
        {"dmma", "f64-nn-64x64x64", "TAIL=1", "dmma depth=8"},
        {"triple", "f32@split-nn-64x64x64", "", "triple slab=16"},
        {"remainder", "f64@residues-nn-64x64x64", "", ""},
        /* sums of integers are the same in every order */
        {"multistage", "i32-nn-64x64x64", "STREAM=1", "exact"},
        {"limbs", "i32-nn-64x64x64", "", "exact"},
        {"wgmma", "i8-nt-64x64x64", "TAIL=1 PERSIST=1", "exact"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[GT_ORDER_MAX];
        order_of(text, cases[i].family, cases[i].problem, cases[i].point);
        if (strcmp(text, cases[i].order) != 0)
            fail_msg("%s %s \"%s\": \"%s\", not \"%s\"", cases[i].family, cases[i].problem,
                     cases[i].point, text, cases[i].order);
    }
}

/* Neither m, nor batch, strides or alignment, nor another device of the architecture. */
static void test_what_an_order_does_not_follow(void **state) {
    static const char *const like[] = {
        "bf16-nt-1x512x640",
        "bf16-nt-4096x512x640",
        "bf16-nt-7x512x640,lda=641,ldb=643,ldc=513",
        "bf16-nt-7x512x640,batch=9",
        "bf16-nt-7x512x640,batch=9,pointers,align=2",
        "bf16-nt-700x512x640,groups=9",
        "bf16-nt-70x512x640,batch=3,masked",
        "bf16-nt-7x512x640,beta",
    };
    const char *const points[] = {"SPLIT=4 KBYTES=128", "SLICES=2 BM=32 BN=32 WM=16 WN=16",
                                  ""};
    (void)state;
    for (size_t j = 0; j < sizeof points / sizeof *points; j++)
        for (size_t i = 0; i < sizeof like / sizeof *like; i++) {
            char first[GT_ORDER_MAX], text[GT_ORDER_MAX];
            order_of(first, "mma", like[0], points[j]);
            assert_string_not_equal(first, "");
            assert_string_equal(order_of(text, "mma", like[i], points[j]), first);
        }
}

/* ---- the order that a lookup takes ---- */

enum { KNOWN_MAX = 8 };
static struct gt_known known[KNOWN_MAX];
static size_t known_count;

static void remember(const char *problem, const char *family, const char *point) {
    assert_true(known_count < KNOWN_MAX);
    known[known_count++] = known_of(problem, family, point, 1000);
}

static struct gt_snapshot snapshot(void) {
    return (struct gt_snapshot){families, known, known_count, NULL};
}

static int forget(void **state) {
    (void)state;
    known_count = 0;
    return 0;
}

static const char *chosen(char out[GT_ORDER_MAX], const char *problem) {
    const gemmtune_problem p = problem_of(problem);
    const struct gt_snapshot s = snapshot();
    struct gt_row_order order;
    gt_match_order(&order, &s, &h200, &p);
    memcpy(out, order.text, GT_ORDER_MAX);
    return out;
}

static gt_status ask(struct gt_choice *out, const char *problem, struct gt_err *err) {
    const gemmtune_problem p = problem_of(problem);
    const struct gt_snapshot s = snapshot();
    const struct gt_query query = {.snapshot = &s,
                                   .device = &h200,
                                   .device_key = HERE,
                                   .problem = &p,
                                   .worst = GEMMTUNE_MATCH_DEFAULT,
                                   .workspace_max = SIZE_MAX,
                                   .pointer_align = 16};
    return gt_match(out, &query, err);
}

#define BIG_WGMMA                                                                          \
    "BM=128 BN=128 WGM=2 WGN=1 STAGES=4 CM=1 CN=1 GROUP=8 PERSIST=0 PINGPONG=0 MINB=1 "    \
    "SPLIT=1 REDUCE=0 TAIL=0 REPACK=0 SWAP=0 STORE=0 RS=0 PRODUCERS=0"
#define SPLIT_WGMMA                                                                        \
    "BM=64 BN=16 WGM=1 WGN=1 STAGES=4 CM=1 CN=1 GROUP=1 PERSIST=0 PINGPONG=0 MINB=1 "      \
    "SPLIT=2 REDUCE=0 TAIL=0 REPACK=0 SWAP=1 STORE=0 RS=0 PRODUCERS=0"

/* Free records and records of other n, k, layouts or types say nothing. */
static void test_default_until_a_record(void **state) {
    char text[GT_ORDER_MAX];
    (void)state;
    assert_string_equal(chosen(text, "bf16-nt-64x4096x4096,row_order"), "mma");
    assert_string_equal(chosen(text, "bf16-nt-64x4096x4096"), "");
    assert_string_equal(chosen(text, "f32-nt-64x4096x4096,row_order"), "fma");
    assert_string_equal(chosen(text, "f64-nt-64x4096x4096,row_order"), "dmma depth=8");
    assert_string_equal(chosen(text, "i8-nt-64x4096x4096,row_order"), "exact");
    remember("bf16-nt-64x4096x4096", "wgmma", BIG_WGMMA);
    remember("bf16-nt-64x4096x2048,row_order", "wgmma", BIG_WGMMA);
    remember("bf16-nn-64x4096x4096,row_order", "wgmma", BIG_WGMMA);
    remember("f16-nt-64x4096x4096,row_order", "wgmma", BIG_WGMMA);
    remember("bf16-nt-64x4096x4096,row_order,epi=relu", "wgmma", BIG_WGMMA);
    assert_string_equal(chosen(text, "bf16-nt-64x4096x4096,row_order"), "mma");
    remember("bf16-nt-64x4096x4096,row_order", "wgmma", BIG_WGMMA);
    assert_string_equal(chosen(text, "bf16-nt-64x4096x4096,row_order"), "wgmma");
    assert_string_equal(chosen(text, "bf16-nt-1x4096x4096,row_order"), "wgmma");
    assert_string_equal(chosen(text, "bf16-nt-9x4096x4096,batch=4,row_order"), "wgmma");
    assert_string_equal(chosen(text, "bf16-nt-9x4096x4096,lda=4099,row_order"), "wgmma");
}

/* Records of several orders can come from merged databases: the order of more problems
 * wins, then the first in text, whatever the order of the rows. */
static void test_most_problems_win(void **state) {
    char text[GT_ORDER_MAX];
    (void)state;
    remember("bf16-nt-64x4096x4096,row_order", "wgmma", BIG_WGMMA);
    remember("bf16-nt-1x4096x4096,row_order", "wgmma", SPLIT_WGMMA);
    assert_string_equal(chosen(text, "bf16-nt-8x4096x4096,row_order"), "wgmma");
    remember("bf16-nt-2x4096x4096,row_order", "wgmma", SPLIT_WGMMA);
    assert_string_equal(chosen(text, "bf16-nt-8x4096x4096,row_order"),
                        "wgmma parts=2 of=2048");
}

/* Whatever answers has the one order; a free question gets what it got before. */
static void test_answers_have_the_order(void **state) {
    static const char *const asked[] = {
        "bf16-nt-1x4096x4096,row_order",
        "bf16-nt-2x4096x4096,row_order",
        "bf16-nt-64x4096x4096,row_order",
        "bf16-nt-1000x4096x4096,row_order",
        "bf16-nt-4096x4096x4096,row_order",
        "bf16-nt-64x4096x4096,batch=8,row_order",
        "bf16-nt-640x4096x4096,groups=8,row_order",
        "bf16-nt-64x4096x4096,lda=4097,row_order",
        "f32-nn-1x4096x4096,row_order",
        "f32-nn-70x4096x4096,row_order",
        "f32-nn-4096x4096x4096,row_order",
        "f64-nn-1x4096x4096,row_order",
        "f64-nn-4096x4096x4096,row_order",
        "f16-nn-33x4096x4096,row_order,epi=bias_gelu",
        "f32@split-nn-33x4096x4096,row_order",
        "tf32-nn-33x4096x4096,row_order",
        "i32-nn-33x4096x4096,row_order",
    };
    (void)state;
    for (int tuned = 0; tuned < 2; tuned++) {
        for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
            char want[GT_ORDER_MAX], got[GT_ORDER_MAX];
            struct gt_err err = {""};
            struct gt_choice choice;
            if (ask(&choice, asked[i], &err) != GEMMTUNE_OK)
                fail_msg("%s: %s", asked[i], err.line);
            assert_true(gt_order_of(got, &choice.fit.binding, NULL));
            assert_string_equal(got, chosen(want, asked[i]));
            assert_non_null(strstr(choice.why, "; adds in the order "));
        }
        if (tuned == 0)
            remember("bf16-nt-64x4096x4096,row_order", "wgmma", BIG_WGMMA);
    }
}

/* Nothing that adds in another order stands in for a kernel that may not run. */
static void test_refusal_instead_of_other_bits(void **state) {
    struct gt_choice choice;
    struct gt_err err = {""};
    (void)state;
    remember("bf16-nt-64x4096x4096,row_order", "wgmma", BIG_WGMMA);
    assert_int_equal(ask(&choice, "bf16-nt-64x4096x4096,batch=8,lda=4097,row_order", &err),
                     GEMMTUNE_ENOTFOUND);
    assert_non_null(strstr(err.line, "that adds in the order wgmma"));
    assert_int_equal(ask(&choice, "bf16-nt-64x4096x4096,batch=8,lda=4097", &err),
                     GEMMTUNE_OK);
}

/* A split that pays for few rows must still run many: rules about speed do not count. */
static void test_rules_about_speed(void **state) {
    const struct gt_family *f = gt_families_find(families, "wgmma");
    static const char *const names[] = {"bf16-nt-8192x4096x4096",
                                        "bf16-nt-8192x4096x4096,row_order"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        const gemmtune_problem p = problem_of(names[i]);
        struct gt_point point, given;
        struct gt_fit fit;
        gt_family_default(f, &point);
        assert_int_equal(gt_point_parse(&given, "BM=64 WGM=1 SPLIT=2 REPACK=0", NULL), 0);
        for (int j = 0; j < given.count; j++)
            assert_int_equal(
                gt_point_set(&point, given.entry[j].name, given.entry[j].value, NULL), 0);
        assert_int_equal(gt_fit_point(&fit, f, &h200, &p, &point, NULL),
                         i == 0 ? GEMMTUNE_EINVAL : GEMMTUNE_OK);
    }
}

#define FOLDED_MULTISTAGE                                                                  \
    "BM=128 BN=128 BK=16 TM=8 TN=8 STAGES=3 SLICES=1 SPLIT=1 CLUSTER=0 STREAM=0 FOLD=2 "   \
    "VA=4 VB=4 ORDER=0 REPACK=0 MINB=1 GROUP=8"

/* A record that folds parts of k serves every m of its n and k, beside points that split.
 * Without row_order it serves nothing, its own size neither. */
static void test_folded_parts(void **state) {
    static const char *const asked[] = {"f32-nn-1x1024x4096", "f32-nn-64x1024x4096",
                                        "f32-nn-4096x1024x4096",
                                        "f32-nn-64x1024x4096,batch=5"};
    char text[GT_ORDER_MAX];
    (void)state;
    remember("f32-nn-4096x1024x4096,row_order", "multistage", FOLDED_MULTISTAGE);
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        for (int ordered = 0; ordered < 2; ordered++) {
            char name[GT_PROBLEM_NAME_MAX];
            struct gt_err err = {""};
            struct gt_choice choice;
            int64_t fold = 1;
            (void)snprintf(name, sizeof name, "%s%s", asked[i],
                           ordered ? ",row_order" : "");
            assert_int_equal(ask(&choice, name, &err), GEMMTUNE_OK);
            (void)gt_point_get(&choice.point, "FOLD", &fold);
            if (!ordered) {
                assert_int_equal(fold, 1);
                continue;
            }
            assert_true(gt_order_of(text, &choice.fit.binding, NULL));
            assert_string_equal(text, "fma parts=2 of=2048");
        }
    struct gt_choice choice;
    assert_int_equal(ask(&choice, "f32-nn-4096x1024x4096,row_order", NULL), GEMMTUNE_OK);
    int64_t fold = 1;
    assert_true(gt_point_get(&choice.point, "FOLD", &fold));
    assert_int_equal(fold, 2);
}

/* A fold needs whole parts, and has no order of its own for integers. */
static void test_what_is_not_folded(void **state) {
    static const struct {
        const char *problem, *point;
        bool may;
    } rows[] = {
        {"f32-nn-64x64x64,row_order", "FOLD=2", true},
        {"f32-nn-64x64x64", "FOLD=2", false},
        {"f32-nn-64x64x64,row_order", "FOLD=3", false},
        {"f32-nn-64x64x48,row_order", "FOLD=2", false},
        {"f32-nn-64x64x61,row_order", "FOLD=2", true},
        {"f32-nn-64x64x64,row_order", "FOLD=2 SPLIT=2", false},
        {"f32-nn-64x64x64,row_order", "FOLD=2 SLICES=2", false},
        {"f32-nn-64x64x64,row_order", "FOLD=2 STREAM=1", false},
        {"i32-nn-64x64x64,row_order", "FOLD=2", false},
        {"f64-nn-64x64x64,row_order", "FOLD=2", true},
        {"f32-nn-256x256x64,row_order", "FOLD=1 BM=256 BN=128 TM=16 TN=8", true},
        /* two sets of such sums do not fit the registers */
        {"f32-nn-256x256x64,row_order", "FOLD=2 BM=256 BN=128 TM=16 TN=8", false},
    };
    const struct gt_family *f = gt_families_find(families, "multistage");
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const gemmtune_problem p = problem_of(rows[i].problem);
        struct gt_point point, given;
        struct gt_fit fit;
        gt_family_default(f, &point);
        assert_int_equal(gt_point_parse(&given, rows[i].point, NULL), GEMMTUNE_OK);
        for (int j = 0; j < given.count; j++)
            assert_int_equal(
                gt_point_set(&point, given.entry[j].name, given.entry[j].value, NULL),
                GEMMTUNE_OK);
        if ((gt_fit_point(&fit, f, &h200, &p, &point, NULL) == GEMMTUNE_OK) != rows[i].may)
            fail_msg("%s %s", rows[i].problem, rows[i].point);
    }
}

static void test_pinned_order(void **state) {
    static const struct {
        const char *problem, *order; /* NULL: no pin decides */
    } rows[] = {
        {"bf16-nt-1x4096x1024,row_order", "wgmma"},
        {"bf16-nt-700x4096x1024,batch=3,row_order", "wgmma"},
        {"bf16-nt-700x4096x1024", NULL},
        {"bf16-nt-700x4096x1032,row_order", NULL},
        {"bf16-nn-700x4096x1024,row_order", NULL},
        {"f32-nt-7x64x64,row_order", NULL}, /* its pin says none */
    };
    struct gt_pin pins[] = {
        {.problem = "bf16-nt-16x4096x1024,row_order", .signature = "wgmma"},
        {.problem = "f32-nt-16x64x64,row_order", .signature = ""}};
    const struct gt_lock lock = {.pin = pins, .count = 2};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const gemmtune_problem p = problem_of(rows[i].problem);
        struct gt_row_order order = {.text = ""};
        assert_int_equal(gt_match_pinned_order(&order, &lock, &p), rows[i].order != NULL);
        assert_string_equal(order.text, rows[i].order != NULL ? rows[i].order : "");
        assert_false(gt_match_pinned_order(&order, NULL, &p));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orders_of_points),
        cmocka_unit_test(test_what_an_order_does_not_follow),
        cmocka_unit_test(test_rules_about_speed),
        cmocka_unit_test(test_pinned_order),
        cmocka_unit_test(test_what_is_not_folded),
        cmocka_unit_test_setup(test_default_until_a_record, forget),
        cmocka_unit_test_setup(test_most_problems_win, forget),
        cmocka_unit_test_setup(test_answers_have_the_order, forget),
        cmocka_unit_test_setup(test_folded_parts, forget),
        cmocka_unit_test_setup(test_refusal_instead_of_other_bits, forget),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
