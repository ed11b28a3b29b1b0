/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hidden problems: the choice of each rule, and its loss by the times of a small database.
 */
#include "tuner/study/evaluate.h"
#include "tests/unit/known_point.h"
#include "tests/unit/made_up.h"
#include "tests/unit/points.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HERE "card-a"

static const struct gt_device card =
    MADE_UP(.name = "Card A", .arch = "sm_90", .cc = 90, .units = 132, .clock_mhz = 1980,
            .mem_clock_mhz = 3201, .bus_bits = 6016, .l2_bytes = 62914560,
            .smem_max = 232448, .has_f64 = true);

/* Four kernels of the tile family, tried on four problems. 0: never tried. */
static const char *const points[] = {
    "TILE_WIDTH=8 PAD=0 DOUBLE=0", "TILE_WIDTH=16 PAD=0 DOUBLE=0",
    "TILE_WIDTH=32 PAD=0 DOUBLE=0", "TILE_WIDTH=32 PAD=1 DOUBLE=0"};
enum { POINTS = 4, PROBLEMS = 4 };
static const struct {
    const char *name;
    int winner;
    double ns[POINTS];
} tried[PROBLEMS] = {
    {"f32-nn-256x256x256", 0, {1000, 1100, 0, 2000}},
    {"f32-nn-512x512x512", 1, {6000, 5000, 5500, 7500}},
    {"f32-nn-2048x128x512", 2, {9000, 7000, 5000, 10000}},
    {"f32-nn-4096x4096x4096", 2, {8e6, 5e6, 4e6, 5e6}},
};

static struct gt_families *families;
static struct gt_known known[PROBLEMS];
static struct gt_view_row rows[PROBLEMS * (POINTS + 1)];
static struct gt_view view;

static struct gt_known known_of(int i) {
    struct gt_known k = {.verified = true,
                         .family = gt_families_find(families, "tile"),
                         .median_ns = tried[i].ns[tried[i].winner]};
    assert_int_equal(gt_problem_from_name(&k.problem, tried[i].name, NULL), GEMMTUNE_OK);
    set_known_point(&k, points[tried[i].winner]);
    (void)gt_problem_name(&k.problem, k.problem_name);
    (void)snprintf(k.device_key, sizeof k.device_key, HERE);
    (void)snprintf(k.arch, sizeof k.arch, "sm_90");
    return k;
}

static void add_row(const char *problem, const char *point, bool record, double ns) {
    struct gt_view_row *row = &rows[view.row_count++];
    *row = (struct gt_view_row){.record = record,
                                .verified = record,
                                .run_id = record ? 0 : 1,
                                .state = GT_TRIAL_DONE,
                                .outcome = GT_CORRECT,
                                .median_ns = ns};
    (void)snprintf(row->problem, sizeof row->problem, "%s", problem);
    (void)snprintf(row->family, sizeof row->family, "tile");
    (void)snprintf(row->hash, sizeof row->hash, "%s",
                   gt_families_find(families, "tile")->hash);
    row->point = (char *)(uintptr_t)point;
}

static int setup(void **state) {
    struct gt_err err = {""};
    (void)state;
    if (gt_families_create(&families, &err) != GEMMTUNE_OK)
        return 1;
    view = (struct gt_view){.row = rows};
    for (int i = 0; i < PROBLEMS; i++) {
        known[i] = known_of(i);
        /* the finals found the winner 10 % faster than its trial did */
        add_row(tried[i].name, points[tried[i].winner], true, 0.9 * known[i].median_ns);
        for (int p = 0; p < POINTS; p++)
            if (tried[i].ns[p] > 0)
                add_row(tried[i].name, points[p], false, tried[i].ns[p]);
    }
    return 0;
}

static int teardown(void **state) {
    (void)state;
    gt_families_destroy(families);
    return 0;
}

static struct gt_evaluation *evaluation(uint64_t seed) {
    const struct gt_evaluation_setup how = {.device = &card,
                                            .device_key = HERE,
                                            .families = families,
                                            .known = known,
                                            .known_count = PROBLEMS,
                                            .view = &view,
                                            .seed = seed,
                                            .workspace_max = SIZE_MAX};
    struct gt_evaluation *e;
    assert_int_equal(gt_evaluation_create(&e, &how, NULL), GEMMTUNE_OK);
    assert_int_equal(gt_evaluation_count(e), PROBLEMS);
    return e;
}

/* Hides every problem alone; out is in the order of `tried`. */
static void hide_each(struct gt_hidden out[PROBLEMS], unsigned rules) {
    struct gt_evaluation *e = evaluation(7);
    for (size_t i = 0; i < PROBLEMS; i++) {
        struct gt_hidden h;
        gt_evaluation_hide(&h, e, i, i + 1, rules, NULL);
        out[h.winner - known] = h;
    }
    gt_evaluation_destroy(e);
}

static void expect_answer(const struct gt_hidden *h, enum gt_rule_kind rule,
                          const char *point, double ns, double best_ns) {
    const struct gt_answer *a = &h->answer[rule];
    char text[GT_POINT_TEXT_MAX];
    assert_true(a->found);
    (void)gt_point_text(&a->choice.point, text);
    if (strcmp(text, point) != 0 || a->ns != ns || a->best_ns != best_ns)
        fail_msg("%s by %s: \"%s\" %g of %g, wanted \"%s\" %g of %g",
                 h->winner->problem_name, gt_rule_name(rule), text, a->ns, a->best_ns,
                 point, ns, best_ns);
}

/* With a limit the winner is the first record that needs no more, and so are answers. */
static void test_workspace(void **state) {
    static const char *const split[] = {"SPLIT=11", "SPLIT=1"};
    struct gt_known two[3];
    struct gt_hidden h[2];
    struct gt_evaluation *e;
    (void)state;
    for (int i = 0; i < 2; i++) {
        char point[160];
        snprintf(point, sizeof point,
                 "BM=64 BN=64 BK=16 TM=4 TN=8 STAGES=2 SLICES=1 %s CLUSTER=0 STREAM=0 "
                 "FOLD=1 VA=1 VB=1 ORDER=0 REPACK=0 MINB=1 GROUP=1",
                 split[i]);
        two[i] = known[0];
        two[i].family = gt_families_find(families, "multistage");
        two[i].rank = i;
        assert_int_equal(
            gt_problem_from_name(&two[i].problem, "f32-nn-1024x1024x1024", NULL),
            GEMMTUNE_OK);
        (void)gt_problem_name(&two[i].problem, two[i].problem_name);
        set_known_point(&two[i], point);
    }
    two[2] = known[1];
    struct gt_evaluation_setup how = {.device = &card,
                                      .device_key = HERE,
                                      .families = families,
                                      .known = two,
                                      .known_count = 3,
                                      .view = &view,
                                      .workspace_max = SIZE_MAX};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(gt_evaluation_create(&e, &how, NULL), GEMMTUNE_OK);
        assert_int_equal(gt_evaluation_count(e), 2);
        gt_evaluation_hide(h, e, 0, 2, 1U << GT_RULE_UNTUNED, NULL);
        for (int j = 0; j < 2; j++) {
            const struct gt_answer *a = &h[j].answer[GT_RULE_UNTUNED];
            assert_true(h[j].winner == &two[i] || h[j].winner == &two[2]);
            assert_true(a->found && ((uint64_t)a->choice.fit.passes.workspace_bytes <=
                                     how.workspace_max));
        }
        gt_evaluation_destroy(e);
        how.workspace_max = 0;
    }
}

static void test_nearest(void **state) {
    struct gt_hidden h[PROBLEMS];
    (void)state;
    hide_each(h, 1U << GT_RULE_NEAREST);
    expect_answer(&h[0], GT_RULE_NEAREST, points[1], 1100, 1000);
    expect_answer(&h[1], GT_RULE_NEAREST, points[0], 6000, 5000);
    expect_answer(&h[2], GT_RULE_NEAREST, points[1], 7000, 5000);
    /* both finalists: by the finals */
    expect_answer(&h[3], GT_RULE_NEAREST, points[1], 5e6, 4e6);
    assert_non_null(strstr(h[0].answer[GT_RULE_NEAREST].choice.why, "512x512x512"));
    assert_false(h[0].answer[GT_RULE_LOOKUP].found);
}

/* 2048 x 128 x 512 has exactly the volume of 512 x 512 x 512; the first of the records wins
 * a tie. */
static void test_volume(void **state) {
    struct gt_hidden h[PROBLEMS];
    (void)state;
    hide_each(h, 1U << GT_RULE_VOLUME);
    expect_answer(&h[1], GT_RULE_VOLUME, points[2], 5500, 5000);
    expect_answer(&h[0], GT_RULE_VOLUME, points[1], 1100, 1000);
}

/* Without the first problem TILE_WIDTH=16 costs 1, 1.4 and 1.25 times the best, 32
 * costs 1.1, 1 and 1. On the first it was never tried: not known. The winner itself has
 * been in the finals. */
static void test_single(void **state) {
    struct gt_hidden h[PROBLEMS];
    (void)state;
    hide_each(h, 1U << GT_RULE_SINGLE);
    expect_answer(&h[0], GT_RULE_SINGLE, points[2], 0, 0);
    expect_answer(&h[3], GT_RULE_SINGLE, points[2], 0.9 * 4e6, 0.9 * 4e6);
}

static void test_default(void **state) {
    struct gt_hidden h[PROBLEMS];
    (void)state;
    hide_each(h, 1U << GT_RULE_DEFAULT | 1U << GT_RULE_UNTUNED);
    for (int i = 0; i < PROBLEMS; i++) {
        const struct gt_answer *a = &h[i].answer[GT_RULE_DEFAULT];
        struct gt_point preset;
        gt_family_default(a->choice.family, &preset);
        assert_true(a->found && points_equal(&preset, &a->choice.point));
        assert_true(h[i].answer[GT_RULE_UNTUNED].found);
        assert_int_equal(h[i].answer[GT_RULE_UNTUNED].choice.match, GEMMTUNE_MATCH_DEFAULT);
    }
}

/* Problems hidden at the same time do not help each other:
 * the lookup has one record left. */
static void test_hidden_together(void **state) {
    struct gt_evaluation *e = evaluation(3);
    struct gt_hidden h[PROBLEMS - 1];
    (void)state;
    gt_evaluation_hide(h, e, 0, PROBLEMS - 1, 1U << GT_RULE_NEAREST, NULL);
    const struct gt_known *left = &known[0];
    for (int i = 0; i < PROBLEMS; i++)
        if (&known[i] != h[0].winner && &known[i] != h[1].winner &&
            &known[i] != h[2].winner)
            left = &known[i];
    for (int i = 0; i < PROBLEMS - 1; i++)
        assert_non_null(
            strstr(h[i].answer[GT_RULE_NEAREST].choice.why, left->problem_name));
    gt_evaluation_destroy(e);
}

/* The seed decides the order, and the same seed the same. */
static void test_seed(void **state) {
    const struct gt_known *first[32];
    bool differs = false;
    (void)state;
    for (uint64_t seed = 0; seed < 32; seed++) {
        for (int again = 0; again < 2; again++) {
            struct gt_evaluation *e = evaluation(seed);
            struct gt_hidden h;
            gt_evaluation_hide(&h, e, 0, 1, 0, NULL);
            if (again)
                assert_ptr_equal(h.winner, first[seed]);
            first[seed] = h.winner;
            gt_evaluation_destroy(e);
        }
        differs = differs || first[seed] != first[0];
    }
    assert_true(differs);
}

static void test_loss(void **state) {
    struct gt_hidden h[3];
    struct gt_loss loss;
    (void)state;
    memset(h, 0, sizeof h);
    assert_int_equal(gt_loss_of(&loss, h, 3, GT_RULE_LOOKUP, NULL), GEMMTUNE_OK);
    assert_int_equal(loss.asked, 0);
    assert_null(loss.worst_of);
    h[0].answer[GT_RULE_LOOKUP] =
        (struct gt_answer){.found = true, .ns = 200, .best_ns = 100};
    h[1].answer[GT_RULE_LOOKUP] = (struct gt_answer){.found = true};
    h[2].answer[GT_RULE_LOOKUP] =
        (struct gt_answer){.found = true, .ns = 50, .best_ns = 100};
    assert_int_equal(gt_loss_of(&loss, h, 3, GT_RULE_LOOKUP, NULL), GEMMTUNE_OK);
    assert_int_equal(loss.asked, 3);
    assert_int_equal(loss.known, 2);
    assert_true(fabs(loss.mean) < 1e-12); /* twice and half */
    assert_true(fabs(loss.worst - 1) < 1e-12);
    assert_ptr_equal(loss.worst_of, &h[0]);
}

/* Of losses of 1 % to 100 % the 95th percentile is 95 %. */
static void test_percentile(void **state) {
    struct gt_hidden h[100];
    struct gt_loss loss;
    (void)state;
    memset(h, 0, sizeof h);
    for (int i = 0; i < 100; i++)
        h[i].answer[GT_RULE_UNTUNED] =
            (struct gt_answer){.found = true, .ns = 101 + (i * 37) % 100, .best_ns = 100};
    assert_int_equal(gt_loss_of(&loss, h, 100, GT_RULE_UNTUNED, NULL), GEMMTUNE_OK);
    assert_true(fabs(loss.most - 0.95) < 1e-12);
    assert_true(fabs(loss.worst - 1) < 1e-12);
}

/* A problem that is not among the tuned ones is looked up among all of them; one that is
 * does not answer itself. */
static void test_ask(void **state) {
    struct gt_evaluation *e = evaluation(1);
    struct gt_known other = known_of(1);
    struct gt_hidden h;
    (void)state;
    assert_int_equal(gt_problem_from_name(&other.problem, "f32-nn-500x520x512", NULL),
                     GEMMTUNE_OK);
    (void)gt_problem_name(&other.problem, other.problem_name);
    gt_evaluation_ask(&h, e, &other, 1u << GT_RULE_NEAREST);
    assert_non_null(strstr(h.answer[GT_RULE_NEAREST].choice.why, tried[1].name));
    assert_false(h.answer[GT_RULE_LOOKUP].found);
    gt_evaluation_ask(&h, e, &known[1], 1u << GT_RULE_NEAREST);
    assert_true(h.answer[GT_RULE_NEAREST].found);
    assert_null(strstr(h.answer[GT_RULE_NEAREST].choice.why, tried[1].name));
    gt_evaluation_destroy(e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_percentile), cmocka_unit_test(test_ask),
        cmocka_unit_test(test_workspace),  cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_volume),     cmocka_unit_test(test_single),
        cmocka_unit_test(test_default),    cmocka_unit_test(test_hidden_together),
        cmocka_unit_test(test_seed),       cmocka_unit_test(test_loss),
    };
    return cmocka_run_group_tests_name("evaluate", tests, setup, teardown);
}
