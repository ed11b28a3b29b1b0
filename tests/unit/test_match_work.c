/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_match_work.c - a lookup of a tuned problem takes no more work when more problems are
 * known, but for one or two more comparisons when they double. A lookup of another problem
 * takes hardly more. Work is the number of text comparisons and of blocks of memory: the
 * files of the lookup are compiled here with a strcmp and a malloc that count. The answer
 * is the same as of the search among all.
 */
#include <stdlib.h>
#include <string.h>

static long compared, blocks;

static int counted(const char *a, const char *b) {
    compared++;
    return strcmp(a, b);
}

static void *allocated(size_t size) {
    blocks++;
    return malloc(size);
}

#define strcmp counted
#define malloc allocated
#include "runtime/lookup/match.c"
#include "runtime/lookup/match_index.c"
#include "runtime/lookup/match_near.c"
#include "runtime/lookup/match_nearest.c"
#include "runtime/lookup/match_walk.c"
#undef strcmp
#undef malloc

#include "tests/unit/match_families.h"

enum { MOST = 4096 };

static struct gt_known known[2 * MOST];

/* Problem i of a snapshot in order, and its runner-up or second record. */
static void make_known(struct gt_known *k, int i, bool verified, int rank) {
    char name[64];
    memset(k, 0, sizeof *k);
    (void)snprintf(name, sizeof name, "i32-nn-%dx512x512", 10000 + i);
    assert_int_equal(gt_problem_from_name(&k->problem, name, NULL), GEMMTUNE_OK);
    (void)gt_problem_name(&k->problem, k->problem_name);
    gt_device_key(&card, k->device_key);
    (void)snprintf(k->arch, sizeof k->arch, "%s", card.arch);
    k->family = gt_families_find(families, "deep");
    set_known_point(k, rank == 0 ? "BM=32 BN=32 SPLIT=1" : "BM=128 BN=128 SPLIT=1");
    k->verified = verified;
    k->rank = rank;
    k->median_ns = 5000;
}

/* Asks a snapshot of the first `count` kernels, with or without an index. */
static void ask(struct gt_choice *out, size_t count, bool indexed, const char *name) {
    struct gt_snapshot snapshot = {families, known, count, NULL};
    struct gt_index *index = NULL;
    char key[GT_DEVICE_KEY_MAX];
    gemmtune_problem p;
    struct gt_err err = {""};
    gt_device_key(&card, key);
    assert_int_equal(gt_problem_from_name(&p, name, NULL), GEMMTUNE_OK);
    const struct gt_query query = {.snapshot = &snapshot,
                                   .device = &card,
                                   .device_key = key,
                                   .problem = &p,
                                   .worst = GEMMTUNE_MATCH_DEFAULT,
                                   .workspace_max = SIZE_MAX,
                                   .pointer_align = GT_VECTOR_BYTES};
    if (indexed)
        assert_int_equal(gt_index_create(&index, known, count, &err), GEMMTUNE_OK);
    snapshot.index = index;
    compared = blocks = 0;
    assert_int_equal(gt_match(out, &query, &err), GEMMTUNE_OK);
    gt_index_destroy(index);
}

/* Returns the comparisons of the lookup with an index. Its answer must be the same as
 * without one. */
static long ask_both(struct gt_choice *out, size_t count, const char *name) {
    struct gt_choice among_all;
    ask(&among_all, count, false, name);
    assert_true(compared > (long)count);
    ask(out, count, true, name);
    assert_int_equal(out->match, among_all.match);
    assert_ptr_equal(out->known, among_all.known);
    assert_string_equal(out->why, among_all.why);
    return compared;
}

static void test_work_of_a_tuned_problem(void **state) {
    long few = 0;
    (void)state;
    for (int problems = MOST / 64; problems <= MOST; problems *= 64) {
        struct gt_choice choice;
        for (int i = 0; i < problems; i++)
            make_known(&known[i], i, true, 0);
        const long work =
            ask_both(&choice, (size_t)problems, known[problems / 3].problem_name);
        assert_int_equal(choice.match, GEMMTUNE_MATCH_EXACT);
        assert_int_equal(blocks, 1);
        assert_true(few == 0 || work <= few + 2 * 6 + 2); /* 64 = 2^6 times as many */
        few = work;
    }
}

/* The search opens the leaves around the problem, and nodes on the way to them. */
static void test_work_of_another_problem(void **state) {
    long few = 0;
    (void)state;
    for (int problems = MOST / 8; problems <= MOST; problems *= 8) {
        struct gt_choice choice;
        for (int i = 0; i < problems; i++)
            make_known(&known[i], i, true, 0);
        const long work = ask_both(&choice, (size_t)problems, "i32-nn-10100x512x511");
        assert_int_equal(choice.match, GEMMTUNE_MATCH_SHAPE);
        assert_true(few == 0 || work <= few + 2 * LEAF_MAX);
        few = work;
    }
}

/* A runner-up from here goes before a record that was imported. */
static void test_imported(void **state) {
    struct gt_choice choice;
    (void)state;
    for (int i = 0; i < 8; i++)
        make_known(&known[i], i, false, 0);
    (void)ask_both(&choice, 8, known[5].problem_name);
    assert_int_equal(choice.match, GEMMTUNE_MATCH_ARCH);
    make_known(&known[8], 5, true, 1);
    (void)ask_both(&choice, 9, known[5].problem_name);
    assert_int_equal(choice.match, GEMMTUNE_MATCH_EXACT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_work_of_a_tuned_problem),
        cmocka_unit_test(test_work_of_another_problem),
        cmocka_unit_test(test_imported),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
