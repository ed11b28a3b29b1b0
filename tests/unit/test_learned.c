/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trials teach what the model leaves out. These tests walk through trees, compare the
 * shipped trees with their families, and learn from made-up trials.
 */
#include "runtime/lookup/shelf.h"

#include "core/problem/problem.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

#include "tests/unit/capture.h"
#include "tests/unit/h200_families.h"
#include "tests/unit/trial_rows.h"
#include "tuner/cmd/predict.h"

static void assert_near(double a, double b) {
    if (!(fabs(a - b) <= 1e-6))
        fail_msg("%.9g is not %.9g", a, b);
}

/* ---- a walk ---- */

static void test_a_walk(void **state) {
    /* x[1] <= 2 ? (x[0] <= -1 ? 0.5 : 0.25) : -1, then a tree that is one leaf */
    const struct gt_learned_node node[2 * GT_LEARNED_NODES] = {
        {2, 1, 4},      {-1, 0, 2},  {0.5F, -1, 0},
        {0.25F, -1, 0}, {-1, -1, 0}, [GT_LEARNED_NODES] = {8, -1, 0},
    };
    static const struct {
        float x[2];
        double first;
    } rows[] = {{{-1, 2}, 0.5}, {{-0.5F, 2}, 0.25}, {{-1, 2.5F}, -1}, {{NAN, 2}, 0.25}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_near(gt_learned_sum(node, 1, rows[i].x), rows[i].first);
        assert_near(gt_learned_sum(node, 2, rows[i].x), rows[i].first + 8);
    }
    assert_near(gt_learned_sum(node, 0, rows[0].x), 0);
}

/* Several trees are walked at once. Each is a chain of another length with other leaves. */
static void test_a_walk_of_many(void **state) {
    enum { TREES = 19 };
    struct gt_learned_node node[TREES * GT_LEARNED_NODES] = {{0, 0, 0}};
    (void)state;
    for (int i = 0; i < TREES; i++) {
        struct gt_learned_node *n = node + (size_t)i * GT_LEARNED_NODES;
        const int deep = i * 5 % 7;
        for (int j = 0; j < deep; j++) { /* x[0] <= j leads to a leaf */
            n[2 * j] = (struct gt_learned_node){(float)j, 0, 2};
            n[2 * j + 1] = (struct gt_learned_node){(float)(100 * i + j), -1, 0};
        }
        n[2 * deep] = (struct gt_learned_node){(float)(100 * i + 50), -1, 0};
    }
    for (int x = 0; x < 8; x++)
        for (int trees = 0; trees <= TREES; trees++) {
            const float asked[1] = {(float)x};
            double sum = 0;
            for (int i = 0; i < trees; i++)
                sum += x < i * 5 % 7 ? 100 * i + x : 100 * i + 50;
            assert_near(gt_learned_sum(node, trees, asked), sum);
        }
}

/* A correction goes at most half of the way down to the bound. */
static void test_a_factor(void **state) {
    (void)state;
    assert_near(gt_learned_factor(log(0.5), 100, 1), 0.5);
    assert_near(gt_learned_factor(log(0.5), 100, 81), 0.9);
    assert_near(gt_learned_factor(0, 100, 100), 1);
}

/* Binds the family's default point on the problem, and writes what is computed for it and
 * what trees are asked. */
static void ask_default(struct gt_binding *b, struct gt_prediction *plain,
                        float x[GT_LEARNED_MAX], const char *family, const char *problem) {
    const struct gt_family *f = gt_families_find(families, family);
    struct gt_facts facts;
    struct gt_point point;
    gemmtune_problem p;
    assert_int_equal(gt_problem_read_name(&p, problem, NULL), GEMMTUNE_OK);
    gt_family_default(f, &point);
    gt_bind_problem(b, f, &device, &p);
    assert_int_equal(gt_bind_point(b, &point, NULL), GEMMTUNE_OK);
    assert_true(gt_facts_of(&facts, b, &device));
    assert_true(
        gt_model_predict_facts(plain, &facts, &device, &gt_shelf_usual.costs, NULL));
    gt_learned_inputs(x, b, &facts, plain);
}

/* Nothing that a tree is asked about is infinite, also without k. */
static void test_inputs(void **state) {
    const char *const problems[] = {"f32-nn-1x1x1", "f32-tt-1x7x0", "f64-nn-33x1x4000"};
    (void)state;
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        float x[GT_LEARNED_MAX];
        struct gt_binding b;
        struct gt_prediction plain;
        ask_default(&b, &plain, x, "coalesced", problems[i]);
        for (int j = 0; j < gt_learned_input_count(b.family); j++)
            assert_true(isfinite(x[j]));
    }
}

/* ---- the shipped trees ---- */

static struct gt_model model_of(const struct gt_binding *b, const struct gt_device *d) {
    struct gt_model m;
    gt_model_begin(&m, b, d);
    return m;
}

static const struct gt_learned *trees_of(const char *family, const char *problem, int cc,
                                         int units) {
    struct gt_device d = device;
    struct gt_binding b;
    gemmtune_problem p;
    d.cc = cc;
    (void)snprintf(d.arch, sizeof d.arch, "sm_%d", cc);
    d.units = units;
    assert_int_equal(gt_problem_from_name(&p, problem, NULL), GEMMTUNE_OK);
    gt_bind_problem(&b, gt_families_find(families, family), &d, &p);
    return model_of(&b, &d).trees;
}

/* Returns the nodes of the tree, which asks about inputs below `inputs` only. */
static int check_tree(const struct gt_learned_node *n, int inputs) {
    if (n->asks < 0) {
        assert_true(fabs((double)n->value) < 2);
        assert_int_equal(n->right, 0);
        return 1;
    }
    assert_true(n->asks < inputs);
    const int left = 1 + check_tree(n + 1, inputs);
    assert_int_equal(n->right, left);
    return left + check_tree(n + left, inputs);
}

/* A family with changed parameters has no trees any more: they are learned anew. */
static void test_the_shipped_trees(void **state) {
    static const struct {
        const char *family, *problem;
    } known[] = {
        {"block", "f32-nn-9x9x9"},
        {"coalesced", "f32-nn-9x9x9"},
        {"column", "f64-nn-9x9x9"},
        {"dmma", "f64-nn-9x9x9"},
        {"mma", "f16-nn-9x9x9"},
        {"multistage", "f32-nn-9x9x9"},
        {"naive", "f32-nn-9x9x9"},
        {"skinny", "bf16-nn-9x9x9"},
        {"tile", "bf16-nn-9x9x9"},
        {"tma", "f32-nn-9x9x9"},
        {"wgmma", "bf16-nn-9x9x9"},
        {"wgmma", "e4m3@fast-tn-9x9x9"},
        {"tile", "i8-nn-9x9x9,batch=3"},
        {"mma", "tf32-nn-9x9x9"},
        {"bundle", "f32-nn-9x9x9,batch=3"},
        {"pipeline", "f32-nn-9x9x9,batch=3"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const struct gt_learned *trees =
            trees_of(known[i].family, known[i].problem, 90, 132);
        const struct gt_family *f = gt_families_find(families, known[i].family);
        assert_non_null(trees);
        assert_true(trees->trees > 0);
        for (int t = 0; t < trees->trees; t++)
            assert_true(check_tree(trees->node + (size_t)t * GT_LEARNED_NODES,
                                   gt_learned_input_count(f)) <= GT_LEARNED_NODES);
    }
}

static void test_what_is_not_known(void **state) {
    static const struct {
        const char *family, *problem;
        int cc, units;
    } rows[] = {
        {"multistage", "f32-nn-9x9x9", 80, 132},          /* another architecture */
        {"multistage", "f32-nn-9x9x9", 90, 60},           /* a slice of a GPU */
        {"multistage", "i32-nn-9x9x9", 90, 132},          /* other types */
        {"multistage", "f32-nn-3424x3424x3424", 90, 132}, /* too large */
        {"multistage", "f32-nn-1024x1024x1024,batch=64", 90, 132},
        {"multistage", "f32-nn-9x9x9,batch=3,pointers", 90, 132}, /* pointers */
        {"triple", "f32@split-nn-9x9x9", 90, 132},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_null(trees_of(rows[i].family, rows[i].problem, rows[i].cc, rows[i].units));
    assert_non_null(trees_of("multistage", "f32-nn-9x9x9", 90, 100));
    /* Trees that learned from plain products correct those with an epilogue as well. */
    assert_non_null(trees_of("multistage", "f32-nn-9x9x9,epi=bias", 90, 132));
}

/* ---- a rough forecast ---- */

/* The factor of a forecast with these trees of the family's. */
static double factor_of(const struct gt_binding *b, bool rough, double too_long_ns) {
    struct gt_model asked = model_of(b, &device);
    struct gt_prediction p;
    asked.few_trees = rough;
    asked.too_long_ns = too_long_ns;
    assert_true(gt_model_predict(&p, &asked, b, NULL));
    return p.learned;
}

/* The sum of `trees` trees, from the one on that was learned first, or first of the later
 * ones. */
static double sum_of(const struct gt_binding *b, bool later, int trees, const float *x) {
    const struct gt_learned *const l = model_of(b, &device).trees;
    const size_t from = later ? (size_t)l->later : 0;
    return gt_learned_sum(l->node + from * GT_LEARNED_NODES, trees, x);
}

/* A rough forecast takes the first trees of the family, and the first of the trees that
 * were learned later. */
static void test_a_rough_forecast(void **state) {
    float x[GT_LEARNED_MAX];
    struct gt_binding b;
    struct gt_prediction plain;
    (void)state;
    ask_default(&b, &plain, x, "multistage", "f32-nn-500x300x200");
    const struct gt_learned *const l = model_of(&b, &device).trees;
    assert_true(l->later > GT_LEARNED_ROUGH);
    assert_true(l->trees - l->later > GT_LEARNED_ROUGH_LATER);
    const double first = sum_of(&b, false, GT_LEARNED_ROUGH, x);
    const double later = sum_of(&b, true, GT_LEARNED_ROUGH_LATER, x);
    const double all = sum_of(&b, false, l->trees, x);
    const double ns = plain.ns, least = plain.least_ns;
    assert_near(factor_of(&b, true, 0), gt_learned_factor(first + later, ns, least));
    assert_near(factor_of(&b, false, 0), gt_learned_factor(all, ns, least));
    assert_true(fabs(later) > 1e-4);
    assert_true(fabs(first + later - all) > 1e-4);
}

/* One that is seen to be too long takes fewer trees: the trees of a glance, or of a rough
 * forecast, when these find it longer than 0.85 of that. */
static void test_a_glance(void **state) {
    float x[GT_LEARNED_MAX];
    struct gt_binding b;
    struct gt_prediction plain;
    (void)state;
    ask_default(&b, &plain, x, "multistage", "f32-nn-500x300x200");
    const double sum = sum_of(&b, false, GT_LEARNED_GLANCE, x) +
                       sum_of(&b, true, GT_LEARNED_GLANCE_LATER, x);
    const double factor = gt_learned_factor(sum, plain.ns, plain.least_ns);
    const double seen_ns = plain.ns * factor;
    const double rough = factor_of(&b, true, 0), full = factor_of(&b, false, 0);
    const double rough_ns = plain.ns * rough;
    assert_true(fabs(rough - factor) > 1e-4 && fabs(rough - full) > 1e-4);
    assert_near(factor_of(&b, true, 0.999 * seen_ns), factor);
    assert_near(factor_of(&b, true, 1.001 * seen_ns), rough);
    assert_near(factor_of(&b, false, 0.999 * seen_ns), factor);
    assert_true(0.999 * rough_ns / 0.85 > seen_ns);
    assert_near(factor_of(&b, false, 0.999 * rough_ns / 0.85), rough);
    assert_near(factor_of(&b, false, 1.001 * rough_ns / 0.85), full);
}

/* Only later trees know points of `skinny` without slabs, so a rough forecast that left
 * them out would be far from the whole one. */
static void test_later_trees_count_roughly(void **state) {
    struct gt_point point;
    struct gt_binding b;
    gemmtune_problem p;
    (void)state;
    assert_int_equal(gt_problem_read_name(&p, "bf16-nt-1x4096x4096", NULL), GEMMTUNE_OK);
    assert_int_equal(gt_point_parse(&point,
                                    "SIDE=0 S=1 R=2 V=8 VX=8 U=2 STAGES=1 LANES=256 "
                                    "THREADS=256 MINB=1 SPLIT=1",
                                    NULL),
                     GEMMTUNE_OK);
    gt_bind_problem(&b, gt_families_find(families, "skinny"), &device, &p);
    assert_int_equal(gt_bind_point(&b, &point, NULL), GEMMTUNE_OK);
    assert_true(fabs(log(factor_of(&b, true, 0) / factor_of(&b, false, 0))) < 0.1);
}

/* ---- learning ---- */

/* The value of EN in the point with the least computed time. */
static int64_t hopeful(const struct gt_predicted *all, size_t count) {
    size_t least = 0;
    int64_t en = 0;
    for (size_t i = 1; i < count; i++)
        if (gt_computed_ns(&all[i].prediction) < gt_computed_ns(&all[least].prediction))
            least = i;
    assert_true(gt_point_get(&all[least].point, "EN", &en));
    return en;
}

/* Adds trials of a problem in which points with the most hopeful EN take three times as
 * long as was computed. */
static void add_trials(struct gt_view *v, const char *problem) {
    enum { MOST = 40 };
    const struct gt_texts coalesced = {.count = 1, .text = {"coalesced"}};
    static struct gt_predicted best[MOST];
    size_t count, asked;
    gemmtune_problem p;
    assert_int_equal(gt_problem_from_name(&p, problem, NULL), GEMMTUNE_OK);
    const struct gt_predict_query query = {
        .families = families, .names = &coalesced, .device = &device, .problem = &p};
    assert_int_equal(gt_predict_best(best, MOST, &count, &asked, &query, NULL),
                     GEMMTUNE_OK);
    assert_int_equal(count, MOST);
    const int64_t slow = hopeful(best, count);
    for (size_t i = 0; i < count; i++) {
        const double plain = gt_computed_ns(&best[i].prediction);
        int64_t en = 0;
        assert_true(gt_point_get(&best[i].point, "EN", &en));
        add_trial(v, problem, "coalesced", &best[i].point, en == slow ? 3 * plain : plain);
    }
}

static const struct gt_learned_trees *learned_of(const struct gt_learning *l,
                                                 const char *family) {
    for (size_t i = 0; i < l->count; i++)
        if (strcmp(l->family[i].family->name, family) == 0)
            return &l->family[i];
    return NULL;
}

typedef gt_status print_learned(const struct gt_view *v, const char *key,
                                const struct gt_families *all,
                                const struct gt_format *format, struct gt_err *err);

/* With --json, single products and batches of a type have an object each. `without`: what
 * the losses are compared with. */
static void check_json(const struct gt_learning *l, const struct gt_view *v,
                       print_learned *print, const char *without) {
    const struct gt_format json = {.json = true};
    const struct gt_held_out *f32 = l->of[gt_dtype_index(gt_dtype_by_name("f32", 3))];
    FILE *to[2] = {tmpfile(), tmpfile()};
    int kept[2];
    char out[2048], said[2048];
    assert_true(to[0] != NULL && to[1] != NULL);
    for (int i = 0; i < 2; i++)
        kept[i] = capture(1 + i, to[i]);
    const gt_status status = print(v, "card", families, &json, NULL);
    release(1, kept[0], to[0], out, sizeof out);
    release(2, kept[1], to[1], said, sizeof said);
    assert_int_equal(status, GEMMTUNE_OK);
    cJSON *all = cJSON_Parse(out);
    const cJSON *types = cJSON_GetObjectItem(all, "types");
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(all, "without")), without);
    int rows = 0;
    for (int batch = 0; batch < 2; batch++) {
        if (f32[batch].problems == 0)
            continue;
        const cJSON *row = cJSON_GetArrayItem(types, rows++);
        const cJSON *const value[] = {cJSON_GetObjectItem(row, "batches"),
                                      cJSON_GetObjectItem(row, "held_out_problems"),
                                      cJSON_GetObjectItem(row, "held_out_loss"),
                                      cJSON_GetObjectItem(row, "held_out_loss_without")};
        assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(row, "type")), "f32");
        for (int i = 0; i < 4; i++)
            assert_true(cJSON_IsNumber(value[i]));
        assert_int_equal(value[0]->valueint, batch);
        assert_int_equal(value[1]->valueint, f32[batch].problems);
        for (int i = 0; i < 2; i++) /* printed to six digits */
            assert_near(value[2 + i]->valuedouble / 10, f32[batch].loss[1 - i] / 10);
    }
    assert_int_equal(cJSON_GetArraySize(types), rows);
    cJSON_Delete(all);
    assert_true((strstr(said, "f32, batches: on ") != NULL) == (f32[1].problems > 0));
}

/* Forgets trials until so many are left. */
static void drop_rows(struct gt_view *v, size_t left) {
    while (v->row_count > left) {
        struct gt_view_row *last = &v->row[--v->row_count];
        free(last->point);
        free(last->error);
        free(last->provenance);
    }
}

static void test_learning(void **state) {
    struct gt_view v = {0};
    struct gt_learning l, again;
    (void)state;
    make_device(&v, &device);
    for (int k = 300; k < 340; k++) {
        char name[64];
        (void)snprintf(name, sizeof name, "f32-nn-1000x800x%d%s", k,
                       k % 2 == 0 ? ",batch=3" : "");
        add_trials(&v, name);
    }
    assert_int_equal(gt_predict_learn(&l, &v, families, "card", NULL, GT_LEARN_ANEW, NULL),
                     GEMMTUNE_OK);
    assert_int_equal(l.trials, v.row_count);
    assert_true(l.all.problems > 0 && l.all.problems < 40);
    assert_true(l.all.loss[0] > 0.5);
    assert_true(l.all.loss[1] < 0.05);
    const struct gt_held_out *f32 = l.of[gt_dtype_index(gt_dtype_by_name("f32", 3))];
    assert_int_equal(f32[0].problems + f32[1].problems, l.all.problems);
    assert_true(f32[0].problems > 0 && f32[1].problems > 0); /* singles, batches */
    for (int batch = 0; batch < 2; batch++)
        assert_true(f32[batch].loss[0] > 0.5 && f32[batch].loss[1] < 0.05);
    assert_true(l.of[gt_dtype_index(gt_dtype_by_name("f32", 3))][1].problems > 0);
    check_json(&l, &v, gt_predict_learn_print, "trees");
    assert_int_equal(
        gt_predict_learn(&again, &v, families, "card", NULL, GT_LEARN_ANEW, NULL),
        GEMMTUNE_OK);
    const struct gt_learned_trees *one = learned_of(&l, "coalesced"),
                                  *other = learned_of(&again, "coalesced");
    assert_true(one->count > 0 && one->count == other->count);
    for (int i = 0; i < one->count * GT_LEARNED_NODES; i++) {
        assert_int_equal(one->node[i].asks, other->node[i].asks);
        assert_int_equal(one->node[i].right, other->node[i].right);
        assert_near((double)one->node[i].value, (double)other->node[i].value);
    }
    assert_int_equal(learned_of(&l, "block")->count, 0); /* it has no trials */
    gt_learning_clear(&l);
    gt_learning_clear(&again);
    assert_int_equal(gt_predict_learn(&l, &v, families, "other", NULL, GT_LEARN_ANEW, NULL),
                     GEMMTUNE_ENOTFOUND);
    gt_learning_clear(&l);
    drop_rows(&v, 190); /* too few */
    assert_int_equal(gt_predict_learn(&l, &v, families, "card", NULL, GT_LEARN_ANEW, NULL),
                     GEMMTUNE_ENOTFOUND);
    gt_learning_clear(&l);
    gt_view_clear(&v);
}

/* The shipped trees stay, and more after them learn what these leave. */
static void test_learning_more(void **state) {
    struct gt_view v = {0};
    struct gt_learning l;
    (void)state;
    make_device(&v, &device);
    for (int k = 300; k < 420; k++) {
        char name[64];
        (void)snprintf(name, sizeof name, "f32-nn-1000x800x%d", k);
        add_trials(&v, name);
    }
    assert_int_equal(gt_predict_learn(&l, &v, families, "card", NULL, GT_LEARN_MORE, NULL),
                     GEMMTUNE_OK);
    for (size_t i = 0; i < l.count; i++) {
        const struct gt_learned_trees *now = &l.family[i];
        const struct gt_learned *shipped =
            gt_learned_for(&gt_shelf_of(&device)->trees, now->family);
        const int had = shipped != NULL ? shipped->trees : 0;
        const bool tried = strcmp(now->family->name, "coalesced") == 0;
        assert_int_equal(now->shipped, had);
        assert_true(tried ? now->count > had : now->count == had);
        assert_int_equal(now->later, shipped != NULL ? shipped->later : now->count);
        if (had > 0)
            assert_memory_equal(now->node, shipped->node,
                                (size_t)had * GT_LEARNED_NODES * sizeof *now->node);
    }
    assert_true(l.all.loss[0] > 0.5); /* the shipped trees expect something else */
    assert_true(l.all.loss[1] < 0.05);
    check_json(&l, &v, gt_predict_learn_more_print, "new trees");
    gt_learning_clear(&l);
    drop_rows(&v, 2900); /* too few */
    assert_int_equal(gt_predict_learn(&l, &v, families, "card", NULL, GT_LEARN_MORE, NULL),
                     GEMMTUNE_ENOTFOUND);
    gt_learning_clear(&l);
    gt_view_clear(&v);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_walk),
        cmocka_unit_test(test_a_walk_of_many),
        cmocka_unit_test(test_a_factor),
        cmocka_unit_test(test_inputs),
        cmocka_unit_test(test_the_shipped_trees),
        cmocka_unit_test(test_what_is_not_known),
        cmocka_unit_test(test_a_rough_forecast),
        cmocka_unit_test(test_a_glance),
        cmocka_unit_test(test_later_trees_count_roughly),
        cmocka_unit_test(test_learning),
        cmocka_unit_test(test_learning_more),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
