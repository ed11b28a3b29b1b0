/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trials of a database teach what a lookup knows of a device: whether the lessons come true
 * on problems held out, whether they are kept and read again, and that they are left out
 * where they are no better.
 */
#include "tuner/study/learn.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/problem/problem.h"
#include "db/db.h"
#include "runtime/lookup/known.h"
#include "runtime/lookup/match_inside.h"
#include "tests/unit/h200_families.h"
#include "tests/unit/trial_rows.h"
#include "tuner/study/predict.h"

/* A device that reports no peaks. */
static struct gt_device unknown_device(bool is_cpu, const char *name) {
    struct gt_device d = {.backend = GEMMTUNE_OPENCL,
                          .units = 8,
                          .warp = 1,
                          .max_threads = 1024,
                          .mem_bytes = INT64_C(1) << 34,
                          .max_alloc = INT64_C(1) << 32,
                          .smem_max = is_cpu ? 1 << 20 : 65536,
                          .has_f64 = true,
                          .is_cpu = is_cpu};
    (void)snprintf(d.name, sizeof d.name, "%s", name);
    (void)snprintf(d.arch, sizeof d.arch, "%s", is_cpu ? "cpu" : "gpu");
    return d;
}

/* The time of a point of "block" or "vector" on the made-up device: wide patches are slow
 * there, and all takes longer than the model computes for a usual device. */
static double true_ns(const struct gt_point *point, const gemmtune_problem *p) {
    int64_t tm = 1, tn = 1;
    if (!gt_point_get(point, "TM", &tm)) {
        assert_true(gt_point_get(point, "MR", &tm) && gt_point_get(point, "NV", &tn));
        tn *= 4;
    }
    return 2e5 +
           gt_problem_flops(p) / 50 * (tm * tn >= 64 ? 3 : 1 + 0.01 * (double)(tm + tn));
}

enum { POINTS = 40 }; /* of a problem */

/* Adds trials of points that the model likes on an H200, or on the CPU. */
static void add_trials(struct gt_view *v, const struct gt_device *cpu, const char *problem,
                       double (*ns)(const struct gt_point *, const gemmtune_problem *)) {
    const char *const family = cpu != NULL ? "vector" : "block";
    const struct gt_texts names = {.count = 1, .text = {family}};
    static struct gt_predicted best[POINTS];
    size_t count, asked;
    gemmtune_problem p;
    assert_int_equal(gt_problem_from_name(&p, problem, NULL), GEMMTUNE_OK);
    const struct gt_predict_query query = {.families = families,
                                           .names = &names,
                                           .device = cpu != NULL ? cpu : &device,
                                           .problem = &p};
    assert_int_equal(gt_predict_best(best, POINTS, &count, &asked, &query, NULL),
                     GEMMTUNE_OK);
    for (size_t i = 0; i < count; i++)
        add_trial(v, problem, family, &best[i].point, ns(&best[i].point, &p));
}

static void add_problems(struct gt_view *v, const struct gt_device *cpu, int count,
                         double (*ns)(const struct gt_point *, const gemmtune_problem *)) {
    for (int i = 0; i < count; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "f32-nn-%dx%dx%d", 300 + 8 * i, 900 - 8 * i,
                       200 + 16 * i);
        add_trials(v, cpu, name, ns);
    }
}

static void assert_same_trees(const struct gt_trees *a, const struct gt_trees *b) {
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        assert_string_equal(a->of[i].family, b->of[i].family);
        assert_int_equal(a->of[i].trees, b->of[i].trees);
        assert_memory_equal(a->of[i].node, b->of[i].node,
                            (size_t)a->of[i].trees * GT_LEARNED_NODES *
                                sizeof *a->of[i].node);
    }
}

/* A lookup of an unknown problem goes by forecast. */
static void check_lookup(const struct gt_device *d) {
    gemmtune_problem p;
    struct gt_choice choice;
    char key[GT_DEVICE_KEY_MAX];
    const struct gt_snapshot nothing = {.families = families};
    gt_device_key(d, key);
    assert_int_equal(gt_problem_from_name(&p, "f32-nn-500x600x700", NULL), GEMMTUNE_OK);
    const struct gt_query query = {.snapshot = &nothing,
                                   .device = d,
                                   .device_key = key,
                                   .problem = &p,
                                   .worst = GEMMTUNE_MATCH_DEFAULT,
                                   .workspace_max = SIZE_MAX,
                                   .pointer_align = 16};
    assert_int_equal(gt_match(&choice, &query, NULL), GEMMTUNE_OK);
    if (!(choice.forecast_ns > 0))
        fail_msg("%s: %s", d->name, choice.why);
}

static void test_lessons_come_true(void **state) {
    (void)state;
    for (int is_cpu = 0; is_cpu < 2; is_cpu++) {
        const struct gt_device d = unknown_device(is_cpu, is_cpu ? "Made CPU" : "Made GPU");
        struct gt_view v = {0};
        struct gt_lessons l, again;
        char path[512];
        make_device(&v, &d);
        add_problems(&v, is_cpu ? &d : NULL, 36, true_ns);
        assert_int_equal(gt_learn(&l, &v, families, "card", NULL), GEMMTUNE_OK);
        assert_int_equal(l.problems, 36);
        assert_true(l.held_out >= 8 && l.held_out < 30);
        assert_int_equal(l.trials, v.row_count);
        assert_true(l.is_better);
        assert_true(l.after.mean < 0.05 && l.after.mean <= l.before.mean);
        assert_true(l.after.of_95 >= l.after.mean);
        assert_int_equal(gt_learn(&again, &v, families, "card", NULL), GEMMTUNE_OK);
        assert_same_trees(&l.shelf.trees, &again.shelf.trees);
        assert_memory_equal(&l.shelf.costs, &again.shelf.costs, sizeof l.shelf.costs);

        const char *const temp = getenv("TMPDIR");
        (void)snprintf(path, sizeof path, "%s/learn%d.db", temp ? temp : "/tmp", is_cpu);
        struct gt_db *db = NULL;
        assert_int_equal(gt_db_open(&db, path, GT_DB_WRITE, NULL), GEMMTUNE_OK);
        gt_db_close(db);
        gt_shelf_beside(path);
        check_lookup(&d);
        assert_int_equal(gt_learn_kept(path, &d), 0);
        assert_int_equal(gt_learn_keep(&l, path, &d, NULL), GEMMTUNE_OK);
        assert_int_equal(gt_learn_kept(path, &d), l.trials);
        gt_shelf_renew(&d);
        assert_same_trees(&gt_shelf_of(&d)->trees, &l.shelf.trees);
        assert_memory_equal(&gt_shelf_of(&d)->costs, &l.shelf.costs, sizeof l.shelf.costs);
        check_lookup(&d);
        /* a damaged card: something was learned, and is to be learned again */
        char folder[PATH_MAX], key[GT_DEVICE_KEY_MAX];
        gt_device_key(&d, key);
        assert_true(gt_shelf_learned_folder(folder, path, key));
        (void)strcat(folder, "/shelf.json");
        FILE *const card = fopen(folder, "w");
        assert_non_null(card);
        (void)fputs("{\"format\": 1}", card);
        (void)fclose(card);
        assert_int_equal(gt_learn_kept(path, &d), 1);
        gt_lessons_clear(&l);
        gt_lessons_clear(&again);
        gt_view_clear(&v);
    }
}

static double noise_ns(const struct gt_point *point, const gemmtune_problem *p) {
    uint64_t hash = (uint64_t)p->m * 2654435761U;
    for (int i = 0; i < point->count; i++)
        hash = (hash ^ (uint64_t)point->entry[i].value) * 1099511628211U;
    return 1000 + (double)(hash % 9973);
}

/* Few problems teach nothing, and times without reason do no harm: what is kept is never
 * worse on the problems held out. */
static void test_no_lessons(void **state) {
    const struct gt_device d = unknown_device(false, "Dull");
    struct gt_view v = {0};
    struct gt_lessons l;
    (void)state;
    make_device(&v, &d);
    assert_int_equal(gt_learn(&l, &v, families, "card", NULL), GEMMTUNE_OK);
    assert_false(l.is_better);
    gt_lessons_clear(&l);
    add_problems(&v, NULL, 4, true_ns);
    assert_int_equal(gt_learn(&l, &v, families, "card", NULL), GEMMTUNE_OK);
    assert_false(l.is_better);
    assert_int_equal(l.shelf.trees.count, 0);
    gt_lessons_clear(&l);
    gt_view_clear(&v);
    make_device(&v, &d);
    add_problems(&v, NULL, 36, noise_ns);
    assert_int_equal(gt_learn(&l, &v, families, "card", NULL), GEMMTUNE_OK);
    assert_true(l.after.mean <= l.before.mean);
    assert_true(l.is_better || l.shelf.trees.count == 0);
    gt_lessons_clear(&l);
    assert_int_equal(gt_learn(&l, &v, families, "another", NULL), GEMMTUNE_OK);
    assert_false(l.is_better);
    gt_lessons_clear(&l);
    gt_view_clear(&v);
}

int main(void) {
    /* The model's points are good enough without what is known of an H200: its thousands
     * of trees would be asked about every point. */
    (void)unsetenv("GEMMTUNE_DEVICES");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lessons_come_true),
        cmocka_unit_test(test_no_lessons),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
