/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_match_work.c - a lookup of a tuned problem takes no more work when more problems are
 * known, but for one or two more comparisons when they double. Work is the number of text
 * comparisons and of blocks of memory: match.c and match_near.c are compiled here with a
 * strcmp and a malloc that count. The answer is that of the search among all.
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
#include "runtime/match.c"
#include "runtime/match_near.c"
#undef strcmp
#undef malloc

#include "tests/unit/match_families.h"

enum { MOST = 4096 };

static struct gt_known known[2 * MOST];

/* Problem i of a snapshot in order, and its runner-up or second record. */
static void fill(struct gt_known *k, int i, bool verified, int rank) {
    char name[64];
    memset(k, 0, sizeof *k);
    (void)snprintf(name, sizeof name, "i32-nn-%dx512x512", 10000 + i);
    assert_int_equal(gt_problem_from_name(&k->problem, name, NULL), GEMMTUNE_OK);
    assert_int_equal(
        gt_point_parse(&k->point,
                       rank == 0 ? "BM=32 BN=32 SPLIT=1" : "BM=128 BN=128 SPLIT=1", NULL),
        GEMMTUNE_OK);
    (void)gt_problem_name(&k->problem, k->problem_name);
    gt_device_key(&card, k->device_key);
    (void)snprintf(k->arch, sizeof k->arch, "%s", card.arch);
    k->family = gt_families_find(families, "deep");
    k->verified = verified;
    k->rank = rank;
    k->median_ns = 5000;
}

static void ask(struct gt_choice *out, size_t count, size_t sorted, const char *name) {
    const struct gt_snapshot snapshot = {families, known, count, sorted};
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
    compared = blocks = 0;
    assert_int_equal(gt_match(out, &query, &err), GEMMTUNE_OK);
}

static void expect_same(const struct gt_choice *a, const struct gt_choice *b) {
    assert_int_equal(a->match, b->match);
    assert_ptr_equal(a->known, b->known);
    assert_string_equal(a->why, b->why);
}

static void test_work_of_a_tuned_problem(void **state) {
    long few = 0;
    (void)state;
    for (int problems = MOST / 64; problems <= MOST; problems *= 64) {
        struct gt_choice at_once, among_all;
        for (int i = 0; i < problems; i++)
            fill(&known[i], i, true, 0);
        const size_t count = (size_t)problems, sorted = gt_known_sorted(known, count);
        assert_int_equal(sorted, count);
        ask(&among_all, count, 0, known[problems / 3].problem_name);
        assert_true(compared > problems);
        ask(&at_once, count, sorted, known[problems / 3].problem_name);
        expect_same(&at_once, &among_all);
        assert_int_equal(at_once.match, GEMMTUNE_MATCH_EXACT);
        assert_int_equal(blocks, 0);
        assert_true(few == 0 || compared <= few + 2 * 6 + 2); /* 64 = 2^6 times as many */
        few = compared;
    }
}

/* Records that were imported answer at once as well, unless there are runners-up, which may
 * have been measured here. */
static void test_imported(void **state) {
    struct gt_choice at_once, among_all;
    (void)state;
    for (int i = 0; i < 8; i++)
        fill(&known[i], i, false, 0);
    ask(&among_all, 8, 0, known[5].problem_name);
    ask(&at_once, 8, 8, known[5].problem_name);
    expect_same(&at_once, &among_all);
    assert_int_equal(at_once.match, GEMMTUNE_MATCH_ARCH);
    assert_int_equal(blocks, 0);
    fill(&known[8], 5, true, 1); /* a runner-up from here */
    ask(&among_all, 9, 0, known[5].problem_name);
    ask(&at_once, 9, 8, known[5].problem_name);
    expect_same(&at_once, &among_all);
    assert_int_equal(at_once.match, GEMMTUNE_MATCH_EXACT);
}

static void test_unknown_problem(void **state) {
    struct gt_choice at_once, among_all;
    (void)state;
    for (int i = 0; i < 8; i++)
        fill(&known[i], i, true, 0);
    ask(&among_all, 8, 0, "i32-nn-10100x512x512");
    ask(&at_once, 8, 8, "i32-nn-10100x512x512");
    expect_same(&at_once, &among_all);
    assert_int_equal(at_once.match, GEMMTUNE_MATCH_SHAPE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_work_of_a_tuned_problem),
        cmocka_unit_test(test_imported),
        cmocka_unit_test(test_unknown_problem),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
