/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_witness.c - where a witness looks, and what it calls wrong, without a device: the
 * functions that enqueue the checking kernels are replaced (--wrap), and what they would
 * find in memory is written by the tests.
 */
#include "tuner/lab/check_internal.h"
#include "tuner/lab/lab_internal.h"
#include "tuner/lab/witness.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- the device ---- */

/* One place as the device sees it: element `e` of the sets' outputs. */
struct found {
    int64_t e;
    double old, got, sum, size;
    bool changed; /* A or B */
};

static struct {
    struct gt_rig_head head;
    int memories;       /* that were not released */
    int allocs_allowed; /* further ones fail; -1: all succeed */
    struct gt_places spoiled;
    int64_t stained_words;
    int stained_places; /* 0: the workspace stayed as it was */
    int spoils_d2;
    struct found found[2]; /* the first places; the others are as the last of these */
    gt_status look_status;
    double second; /* every element of the second output */
} rig;

static gt_status rig_alloc(void **mem, struct gt_rig *r, int64_t bytes,
                           struct gt_err *err) {
    (void)r;
    *mem = NULL;
    if (rig.allocs_allowed == 0)
        return gt_fail(err, GEMMTUNE_ENOMEM, "the device is full");
    rig.allocs_allowed -= rig.allocs_allowed > 0;
    *mem = calloc(1, (size_t)bytes);
    assert_non_null(*mem);
    rig.memories++;
    return GEMMTUNE_OK;
}

static void rig_release(struct gt_rig *r, void *mem) {
    (void)r;
    rig.memories--;
    free(mem);
}

static gt_status rig_read(struct gt_rig *r, void *mem, int64_t offset, void *to,
                          int64_t bytes, struct gt_err *err) {
    (void)r;
    (void)err;
    memcpy(to, (char *)mem + offset, (size_t)bytes);
    return GEMMTUNE_OK;
}

static const struct gt_rig_ops ops = {
    .alloc = rig_alloc, .release = rig_release, .read = rig_read};

gt_status __wrap_gt_checker_spoil(const struct gt_case *t, const struct gt_ring *ring,
                                  const struct gt_places *at, struct gt_err *err);
gt_status __wrap_gt_checker_witness(const struct gt_case *t, const struct gt_ring *ring,
                                    const struct gt_places *at, struct gt_err *err);
gt_status __wrap_gt_checker_stain(struct gt_checker *c, int64_t words, uint64_t seed,
                                  int places, struct gt_err *err);
gt_status __wrap_gt_fused_spoil(struct gt_case *t, struct gt_err *err);
bool __wrap_gt_fused_allows(const struct gt_case *t, int which,
                            const struct gt_fused_element *x, double got);
gt_status __wrap_gt_fused_second(double *out, const struct gt_case *t, int64_t z, int64_t i,
                                 int64_t j, struct gt_err *err);

gt_status __wrap_gt_checker_spoil(const struct gt_case *t, const struct gt_ring *ring,
                                  const struct gt_places *at, struct gt_err *err) {
    (void)t;
    (void)ring;
    (void)err;
    rig.spoiled = *at;
    return GEMMTUNE_OK;
}

gt_status __wrap_gt_checker_witness(const struct gt_case *t, const struct gt_ring *ring,
                                    const struct gt_places *at, struct gt_err *err) {
    const gemmtune_dtype wide = t->checker->wide, type = ring->memory.type_c;
    if (rig.look_status != GEMMTUNE_OK)
        return gt_fail(err, rig.look_status, "the device is lost");
    for (int i = 0; i < at->count; i++) {
        const struct found *const f = &rig.found[i > 0];
        uint64_t *const word = (uint64_t *)at->words + GT_WITNESS_WORDS * i;
        char *const sum = (char *)at->sums + 2 * (size_t)i * gt_type_size(wide);
        memset(word, 0, GT_WITNESS_WORDS * sizeof *word);
        word[0] = (uint64_t)f->e;
        gt_element_put(&word[1], type, f->old);
        gt_element_put(&word[2], type, f->got);
        word[3] = f->changed;
        gt_element_put(sum, wide, f->sum);
        gt_element_put(sum + gt_type_size(wide), wide, f->size);
    }
    return GEMMTUNE_OK;
}

gt_status __wrap_gt_checker_stain(struct gt_checker *c, int64_t words, uint64_t seed,
                                  int places, struct gt_err *err) {
    (void)c;
    (void)seed;
    (void)err;
    rig.stained_words = words;
    rig.stained_places = places;
    return GEMMTUNE_OK;
}

gt_status __wrap_gt_fused_spoil(struct gt_case *t, struct gt_err *err) {
    (void)err;
    rig.spoils_d2 += t->fused != NULL;
    return GEMMTUNE_OK;
}

/* The made-up epilogue: C is the sum, and d2 twice the sum. */
bool __wrap_gt_fused_allows(const struct gt_case *t, int which,
                            const struct gt_fused_element *x, double got) {
    (void)t;
    return got == x->sum * (1 + which);
}

gt_status __wrap_gt_fused_second(double *out, const struct gt_case *t, int64_t z, int64_t i,
                                 int64_t j, struct gt_err *err) {
    (void)t;
    (void)err;
    assert_true(z == 0 && i >= 0 && i < 8 && j >= 0 && j < 6);
    *out = rig.second;
    return GEMMTUNE_OK;
}

/* ---- the lab ---- */

enum { SETS = 8 };

static struct gt_lab lab;
static struct gt_checker checker;
static struct gt_case timed;

/* A lab with sets of the problem's matrices. */
static void lab_of(const char *name) {
    memset(&rig, 0, sizeof rig);
    memset(&lab, 0, sizeof lab);
    memset(&timed, 0, sizeof timed);
    rig.head.ops = &ops;
    rig.allocs_allowed = -1;
    assert_int_equal(gt_problem_from_name(&lab.problem, name, NULL), GEMMTUNE_OK);
    checker = (struct gt_checker){.rig = (struct gt_rig *)(void *)&rig.head,
                                  .wide = gt_type_wide(lab.problem.type_acc)};
    lab.rig = checker.rig;
    lab.checker = &checker;
    lab.sets.count = SETS;
    (void)snprintf(lab.name, sizeof lab.name, "%s", name);
    timed.checker = &checker;
    timed.asked = lab.problem;
    timed.spec =
        (struct gt_case_spec){.problem = lab.problem, .alpha = 1, .mode = GT_DATA_UNIFORM};
    lab.timed[1] = &timed;
}

static struct gt_witness *witness(void) {
    struct gt_witness *w = NULL;
    struct gt_err err = {""};
    assert_int_equal(gt_witness_create(&w, &lab, &err), GEMMTUNE_OK);
    assert_non_null(w);
    return w;
}

static void destroy(struct gt_witness *w) {
    gt_witness_destroy(w);
    assert_int_equal(rig.memories, 0);
}

static void spoil(struct gt_witness *w, int first, int sets, int64_t workspace_bytes) {
    assert_int_equal(gt_witness_spoil(w, first, sets, workspace_bytes, NULL), GEMMTUNE_OK);
}

/* ---- where it looks ---- */

/* Outputs without elements have no witness, and a full device is said. */
static void test_create(void **state) {
    struct gt_witness *w = (struct gt_witness *)(void *)&lab;
    struct gt_err err = {""};
    (void)state;
    lab_of("f32-nn-0x6x5");
    assert_int_equal(gt_witness_create(&w, &lab, &err), GEMMTUNE_OK);
    assert_null(w);
    gt_witness_destroy(w);
    for (int allowed = 0; allowed < 2; allowed++) {
        lab_of("f32-nn-8x6x5");
        rig.allocs_allowed = allowed;
        assert_int_equal(gt_witness_create(&w, &lab, &err), GEMMTUNE_ENOMEM);
        assert_string_equal(err.line, "the device is full");
        assert_null(w);
        assert_int_equal(rig.memories, 0);
    }
}

/* Up to four sets of the sample, each once; all of them come up in time. */
static void test_sets(void **state) {
    (void)state;
    lab_of("f32-nn-8x6x5");
    struct gt_witness *w = witness();
    for (int sets = 1; sets <= SETS; sets *= 2)
        for (int first = 0; first < SETS; first++) {
            unsigned all = 0;
            for (int again = 0; again < 200; again++) {
                unsigned now = 0;
                spoil(w, first, sets, 0);
                assert_int_equal(rig.spoiled.sets, sets < 4 ? sets : 4);
                for (int i = 0; i < rig.spoiled.sets; i++) {
                    const int set = rig.spoiled.set[i];
                    assert_in_range(set, 0, SETS - 1);
                    assert_in_range((set - first + SETS) % SETS, 0, sets - 1);
                    assert_false(now >> set & 1);
                    now |= 1U << set;
                }
                all |= now;
            }
            for (int i = 0; i < sets; i++)
                assert_true(all >> (first + i) % SETS & 1);
        }
    assert_int_equal(rig.spoils_d2, 0);
    destroy(w);
}

/* With a second output, which all launches write, the last launch's set is the last one. */
static void test_last_set(void **state) {
    struct gt_fused fused = {.d2 = &lab};
    (void)state;
    lab_of("f32-nn-8x6x5");
    timed.fused = &fused;
    struct gt_witness *w = witness();
    for (int sets = 1; sets <= SETS; sets *= 2)
        for (int again = 0; again < 50; again++) {
            spoil(w, again % SETS, sets, 0);
            assert_int_equal(rig.spoiled.set[rig.spoiled.sets - 1],
                             (again + sets - 1) % SETS);
        }
    assert_int_equal(rig.spoils_d2, 4 * 50);
    destroy(w);
}

/* As many places as a look has time for, with two elements at least for each of them. */
static void test_places(void **state) {
    static const struct {
        const char *problem;
        int sets, places;
    } rows[] = {
        {"f32-nn-8x6x5", 1, 24},      {"f32-nn-8x6x5", 8, 96},
        {"f32-nn-1x1x5", 1, 1},       {"f32-nn-1x1x5", 2, 1},
        {"f32-nn-80x60x5", 1, 256},   {"f32-nn-80x60x0", 1, 256},
        {"f32-nn-80x60x4096", 1, 64}, {"f32-nn-80x60x100000", 1, 32},
    };
    uint64_t seed = 0;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        lab_of(rows[i].problem);
        struct gt_witness *w = witness();
        spoil(w, 0, rows[i].sets, 0);
        assert_int_equal(rig.spoiled.count, rows[i].places);
        assert_true(rig.spoiled.seed != seed); /* nobody knows the next ones */
        seed = rig.spoiled.seed;
        destroy(w);
    }
}

static void test_stains(void **state) {
    static const struct {
        int64_t bytes, words;
        int places;
    } rows[] = {{0, 0, 0},
                {3, 0, 0},
                {4, 1, 1},
                {400, 100, 100},
                {4 * 4096, 4096, 4096},
                {INT64_C(1) << 34, INT64_C(1) << 32, 4096}};
    (void)state;
    lab_of("f32-nn-8x6x5");
    struct gt_witness *w = witness();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        rig.stained_words = rig.stained_places = 0;
        spoil(w, 0, 1, rows[i].bytes);
        assert_true(rig.stained_words == rows[i].words);
        assert_int_equal(rig.stained_places, rows[i].places);
    }
    destroy(w);
}

/* ---- what is wrong ---- */

/* Looks at places of which the first is `first` and all others are right. */
static bool look(char why[GT_VERDICT_MAX], struct gt_witness *w, const struct found *first,
                 double alpha, double beta) {
    bool right = true;
    why[0] = '\0';
    rig.found[0] = *first;
    rig.found[1] = (struct found){.e = 1, .old = 2, .sum = 3, .size = 4};
    rig.found[1].got = alpha * rig.found[1].sum + beta * rig.found[1].old;
    assert_int_equal(gt_witness_look(&right, why, w, alpha, beta, NULL), GEMMTUNE_OK);
    assert_int_equal(why[0] == '\0', right);
    return right;
}

static void test_elements(void **state) {
    static const double none = (double)NAN;
    const struct {
        double old, got, sum, size;
        bool changed;
        double alpha, beta;
        bool right;
    } rows[] = {
        {9, 5.5, 5.5, 8, false, 1, 0, true},
        {9, 9, 5.5, 8, false, 1, 0, false},    /* was never written */
        {9, -5.5, 5.5, 8, false, 1, 0, false}, /* the result of the lap before */
        {9, -5.5, 5.5, 8, false, -1, 0, true},
        {9, 10, 5.5, 8, false, 1, 0.5, true},
        {9, 5.5, 5.5, 8, false, 1, 0.5, false}, /* C was left out */
        {none, 5.5, 5.5, 8, false, 1, 0, true}, /* and is not read */
        {9, none, 5.5, 8, false, 1, 0, false},
        {9, 5.5, 5.5, 8, true, 1, 0, false}, /* right, but of other inputs */
        /* off by a unit of f32, and by a thousand */
        {9, 5.5000005, 5.5, 8, false, 1, 0, true},
        {9, 5.5005, 5.5, 8, false, 1, 0, false},
    };
    char why[GT_VERDICT_MAX];
    (void)state;
    lab_of("f32-nn-8x6x5");
    struct gt_witness *w = witness();
    spoil(w, 0, 1, 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct found f = {0,           rows[i].old,  rows[i].got,
                                rows[i].sum, rows[i].size, rows[i].changed};
        if (look(why, w, &f, rows[i].alpha, rows[i].beta) != rows[i].right)
            fail_msg("row %zu: %s", i, why);
    }
    destroy(w);
}

/* The sentence names the set, the product and the element, and counts the wrong ones. */
static void test_sentence(void **state) {
    char why[GT_VERDICT_MAX], says[GT_VERDICT_MAX];
    (void)state;
    lab_of("f32-nn-8x6x5,batch=2");
    struct gt_witness *w = witness();
    spoil(w, 5, 4, 0);
    struct found f = {
        .e = 3 * 96 + 48 + 7 * 6 + 2, .old = 9, .got = 9, .sum = 4, .size = 4};
    assert_false(look(why, w, &f, 1, 0));
    (void)snprintf(says, sizeof says,
                   "f32-nn-8x6x5,batch=2 under the clock: 1 of %d elements wrong; (7, 2) "
                   "of product 1 of set %d is 9, and was 9; its sum is 4",
                   rig.spoiled.count, rig.spoiled.set[3]);
    assert_string_equal(why, says);
    f.changed = true;
    assert_false(look(why, w, &f, 1, 0));
    assert_non_null(strstr(why, "its sum is 4; its inputs were changed"));
    destroy(w);
}

/* Sums of integers are known modulo 2^32. */
static void test_integers(void **state) {
    static const struct {
        double old, got, sum, alpha, beta;
        bool right;
    } rows[] = {
        {5, -7, -7, 1, 0, true},
        {5, 7, -7, -1, 0, true},
        {5, -2147483648.0, -2147483648.0, -1, 0, true},
        {1, -2147483648.0, 2147483647, 1, 1, true},
        {1, 2147483647, 2147483647, 1, 1, false},
        {5, -6, -7, 1, 0, false},
    };
    char why[GT_VERDICT_MAX];
    (void)state;
    lab_of("i32-nn-8x6x5");
    struct gt_witness *w = witness();
    spoil(w, 0, 1, 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct found f = {.old = rows[i].old, .got = rows[i].got, .sum = rows[i].sum};
        if (look(why, w, &f, rows[i].alpha, rows[i].beta) != rows[i].right)
            fail_msg("row %zu: %s", i, why);
    }
    destroy(w);
}

/* Rows that no product computes must stay as they are, bit by bit. */
static void test_rows_left_out(void **state) {
    int32_t used[2] = {8, 3};
    char why[GT_VERDICT_MAX];
    (void)state;
    lab_of("f32-nn-8x6x5,batch=2,masked");
    lab.sets.rows.used = used;
    struct gt_witness *w = witness();
    spoil(w, 0, 1, 0);
    struct found f = {.e = 48 + 3 * 6, .old = 9, .got = 9, .sum = 4, .size = 4};
    assert_true(look(why, w, &f, 1, 0));
    f.got = 4;
    assert_false(look(why, w, &f, 1, 0));
    f.got = f.old = 0;
    assert_true(look(why, w, &f, 1, 0));
    f.got = -0.0;
    assert_false(look(why, w, &f, 1, 0));
    f = (struct found){.e = 48 + 2 * 6, .old = 9, .got = 9, .sum = 4, .size = 4};
    assert_false(look(why, w, &f, 1, 0)); /* this row is computed */
    f.e = 3 * 6;                          /* so are all rows of the first product */
    assert_false(look(why, w, &f, 1, 0));
    destroy(w);
}

/* The second output is looked at where C is right, in the set of the last launch. */
static void test_second_output(void **state) {
    struct gt_fused fused = {.d2 = &lab};
    const struct found right = {.e = 1, .old = 2, .got = 3, .sum = 3, .size = 4};
    const struct found wrong = {.e = 1, .old = 2, .got = 2, .sum = 3, .size = 4};
    char why[GT_VERDICT_MAX];
    (void)state;
    lab_of("f32-nn-8x6x5");
    timed.fused = &fused;
    struct gt_witness *w = witness();
    spoil(w, 0, 1, 0);
    rig.second = 6;
    assert_true(look(why, w, &right, 1, 0));
    rig.second = 3;
    assert_false(look(why, w, &right, 1, 0));
    assert_string_equal(why, "f32-nn-8x6x5 under the clock: d2 (0, 1) of product 0 of set "
                             "0 is 3; its sum is 3");
    assert_false(look(why, w, &wrong, 1, 0));
    assert_non_null(strstr(why, "1 of 24 elements wrong"));
    destroy(w);
}

/* A device that fails says nothing about the kernel. */
static void test_device_fails(void **state) {
    char why[GT_VERDICT_MAX] = "before";
    struct gt_err err = {""};
    bool right = true;
    (void)state;
    lab_of("f32-nn-8x6x5");
    struct gt_witness *w = witness();
    spoil(w, 0, 1, 0);
    rig.look_status = GEMMTUNE_EDEVICE;
    assert_int_equal(gt_witness_look(&right, why, w, 1, 0, &err), GEMMTUNE_EDEVICE);
    assert_string_equal(err.line, "the device is lost");
    assert_true(right);
    assert_string_equal(why, "before");
    destroy(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_create),        cmocka_unit_test(test_sets),
        cmocka_unit_test(test_last_set),      cmocka_unit_test(test_places),
        cmocka_unit_test(test_stains),        cmocka_unit_test(test_elements),
        cmocka_unit_test(test_sentence),      cmocka_unit_test(test_integers),
        cmocka_unit_test(test_rows_left_out), cmocka_unit_test(test_second_output),
        cmocka_unit_test(test_device_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
