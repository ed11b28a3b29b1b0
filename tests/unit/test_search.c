/* SPDX-License-Identifier: Apache-2.0 */
/* test_search.c - what strategies pick, told made-up times: no device, no clock. */
#include "tuner/search.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct gt_device device = {
    .backend = GEMMTUNE_CUDA,
    .name = "made up",
    .arch = "sm_80",
    .cc = 80,
    .units = 8,
    .warp = 32,
    .max_threads = 1024,
    .regs_per_block = 65536,
    .mem_bytes = INT64_C(1) << 33,
    .max_alloc = INT64_C(1) << 33,
    .smem_max = 100 * 1024,
    .has_f64 = true,
};

static struct gt_families *families;
static struct gt_space space[2]; /* tile, block */

static int setup(void **state) {
    static const char *const names[2] = {"tile", "block"};
    gemmtune_problem p;
    (void)state;
    assert_int_equal(gt_problem_from_name(&p, "f32-nn-512x512x512", NULL), GEMMTUNE_OK);
    assert_int_equal(gt_families_create(&families, NULL), GEMMTUNE_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(gt_space_create(&space[i], gt_families_find(families, names[i]),
                                         &device, &p, NULL),
                         GEMMTUNE_OK);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    gt_space_clear(&space[0]);
    gt_space_clear(&space[1]);
    gt_families_destroy(families);
    return 0;
}

/* A smooth landscape with one best point: how far every parameter is from the middle of its domain. */
static double landscape(struct gt_pick p) {
    const struct gt_space *s = &space[p.space];
    double ns = p.space == 0 ? 5000 : 1000; /* the small space is the slow one */
    for (int i = 0; i < s->params; i++) {
        const int at = s->idx[p.index * (size_t)s->params + (size_t)i];
        ns += 100 * abs(at - s->family->param[i].count / 2);
    }
    return ns;
}

struct log {
    struct gt_pick pick[4096];
    int count;
    double best;
};

/* Runs a strategy until it is done or `most` picks were made, telling each at once. */
static void drive(struct log *log, const struct gt_strategy *s,
                  struct gt_search_setup setup, int most) {
    void *self = NULL;
    struct gt_pick p;
    memset(log, 0, sizeof *log);
    assert_int_equal(s->create(&self, &setup, NULL), GEMMTUNE_OK);
    while (log->count < most && s->ask(self, &p) == GT_ASK_PICK) {
        const double ns = landscape(p);
        log->pick[log->count++] = p;
        log->best = log->best == 0 || ns < log->best ? ns : log->best;
        s->tell(self, &p, GT_CORRECT, ns);
    }
    s->destroy(self);
}

static bool same(struct gt_pick a, struct gt_pick b) {
    return a.space == b.space && a.index == b.index;
}

static void assert_no_repeats(const struct log *log) {
    for (int i = 0; i < log->count; i++)
        for (int j = 0; j < i; j++)
            assert_false(same(log->pick[i], log->pick[j]));
}

static bool same_picks(const struct log *a, const struct log *b) {
    for (int i = 0; i < a->count && i < b->count; i++)
        if (!same(a->pick[i], b->pick[i]))
            return false;
    return a->count == b->count;
}

static struct gt_search_setup setup_of(size_t budget, uint64_t seed) {
    return (struct gt_search_setup){
        .space = space, .spaces = 2, .budget = budget, .seed = seed};
}

static struct log one, two;

static void test_full_tries_everything_once(void **state) {
    struct gt_search_setup only_tile = setup_of(SIZE_MAX, 1);
    (void)state;
    only_tile.spaces = 1;
    drive(&one, &gt_search_full, only_tile, 4096);
    assert_int_equal(one.count, space[0].count);
    assert_no_repeats(&one);
}

static void test_local_tries_everything_when_it_may(void **state) {
    struct gt_search_setup only_tile = setup_of(1000, 1);
    (void)state;
    only_tile.spaces = 1;
    drive(&one, &gt_search_local, only_tile, 4096);
    assert_int_equal(one.count, space[0].count);
    assert_no_repeats(&one);
}

static void test_budget(void **state) {
    (void)state;
    drive(&one, &gt_search_local, setup_of(96, 1), 4096);
    assert_int_equal(one.count, 96);
    assert_no_repeats(&one);
}

static void test_seeds_first(void **state) {
    const struct gt_pick seeds[2] = {{1, 7}, {0, 3}};
    struct gt_search_setup s = setup_of(20, 1);
    (void)state;
    s.seed_pick = seeds;
    s.seed_picks = 2;
    drive(&one, &gt_search_local, s, 4096);
    assert_true(same(one.pick[0], seeds[0]));
    assert_true(same(one.pick[1], seeds[1]));
    assert_no_repeats(&one);
}

static void test_same_seed_same_picks(void **state) {
    (void)state;
    drive(&one, &gt_search_local, setup_of(96, 5), 4096);
    drive(&two, &gt_search_local, setup_of(96, 5), 4096);
    assert_true(same_picks(&one, &two));
    drive(&two, &gt_search_local, setup_of(96, 6), 4096);
    assert_false(same_picks(&one, &two));
}

/* Steps from `a` to `b`, each one parameter by one place of its domain. */
static int steps(struct gt_pick a, struct gt_pick b) {
    const struct gt_space *s = &space[a.space];
    int n = 0;
    for (int i = 0; i < s->params; i++)
        n += abs(s->idx[a.index * (size_t)s->params + (size_t)i] -
                 s->idx[b.index * (size_t)s->params + (size_t)i]);
    return n;
}

/* Without a limit in picks it must climb as well: after the sample come neighbours of the best, until
 * there are none. */
static void test_it_climbs_without_a_budget(void **state) {
    enum { SAMPLE = 48, CLIMB = 60 };
    int neighbours = 0;
    (void)state;
    drive(&one, &gt_search_local, setup_of(SIZE_MAX, 3), SAMPLE + CLIMB);
    assert_int_equal(one.count, SAMPLE + CLIMB);
    for (int i = SAMPLE; i < one.count; i++) {
        bool near = false;
        for (int j = 0; j < i && !near; j++)
            near = one.pick[j].space == one.pick[i].space &&
                   steps(one.pick[j], one.pick[i]) == 1;
        neighbours += near;
    }
    print_message("%d of %d picks after the sample are neighbours\n", neighbours, CLIMB);
    assert_true(neighbours > CLIMB / 2);
    drive(&two, &gt_search_local, setup_of(SIZE_MAX, 3), SAMPLE);
    assert_true(one.best < two.best);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_full_tries_everything_once),
        cmocka_unit_test(test_local_tries_everything_when_it_may),
        cmocka_unit_test(test_budget),
        cmocka_unit_test(test_seeds_first),
        cmocka_unit_test(test_same_seed_same_picks),
        cmocka_unit_test(test_it_climbs_without_a_budget),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
