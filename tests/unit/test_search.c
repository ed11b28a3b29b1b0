/* SPDX-License-Identifier: Apache-2.0 */
/* test_search.c - the picks of strategies for made-up times: no device, no clock. */
#include "tuner/search/search.h"
#include "tests/unit/made_up.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct gt_device device =
    MADE_UP(.name = "made up", .arch = "sm_80", .cc = 80, .units = 8,
            .mem_bytes = INT64_C(1) << 33, .max_alloc = INT64_C(1) << 33,
            .smem_max = 100 * 1024, .has_f64 = true);

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

/* A smooth landscape with one best point: the distance of every parameter from the middle
 * of its domain. */
static double slow_ns = 5000; /* the small space is the slow one */

static double landscape(struct gt_pick p) {
    const struct gt_space *s = &space[p.space];
    double ns = p.space == 0 ? slow_ns : 1000;
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
    enum gt_ask end; /* what it answered last */
};

static struct gt_search *search_of(const struct gt_strategy *s,
                                   const struct gt_search_setup *setup) {
    struct gt_search *search = NULL;
    struct gt_err err = {""};
    assert_int_equal(gt_search_create(&search, s, setup, &err), GEMMTUNE_OK);
    return search;
}

/* How a pick ends. */
typedef gt_outcome outcome_fn(struct gt_pick p);

static gt_outcome all_correct(struct gt_pick p) {
    return GT_CORRECT;
}

static int at_most_outstanding(const struct gt_search_setup *setup) {
    const int ahead = setup->ahead > 0 ? setup->ahead : 1;
    return setup->starts_ahead > ahead ? setup->starts_ahead : ahead;
}

/* Runs a search until it is done or has made `most` picks. `timing` decides when the next
 * answer comes; 0: at once. */
static void drive_late(struct log *log, const struct gt_strategy *s,
                       struct gt_search_setup setup, int most, outcome_fn *outcome,
                       uint64_t timing) {
    struct gt_search *search = search_of(s, &setup);
    const int ahead = at_most_outstanding(&setup);
    int told = 0;
    memset(log, 0, sizeof *log);
    for (;;) {
        struct gt_pick p;
        const bool full = log->count - told == ahead || log->count == most;
        const bool hold = timing == 0 || gt_random(&timing) % 3 == 0;
        log->end = full ? GT_ASK_WAIT : gt_search_ask(search, &p);
        if (log->end == GT_ASK_PICK) {
            assert_true(p.space >= 0 && p.space < setup.spaces);
            assert_true(p.index < setup.space[p.space].count);
            log->pick[log->count++] = p;
        } else if (told == log->count) {
            break;
        }
        if (log->end == GT_ASK_PICK && !hold)
            continue;
        if (log->end == GT_ASK_PICK && timing == 0 && ahead > 1 &&
            log->count - told < ahead)
            continue;
        p = log->pick[told++];
        const double ns = landscape(p);
        if (outcome(p) == GT_CORRECT && (log->best == 0 || ns < log->best))
            log->best = ns;
        gt_search_tell(search, &p, outcome(p), ns);
    }
    gt_search_destroy(search);
}

static void drive(struct log *log, const struct gt_strategy *s,
                  struct gt_search_setup setup, int most) {
    drive_late(log, s, setup, most, all_correct, 0);
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

/* The shortest time of a space. */
static double optimum(int at) {
    double best = 0;
    for (size_t i = 0; i < space[at].count; i++) {
        const double ns = landscape((struct gt_pick){at, i});
        best = best == 0 || ns < best ? ns : best;
    }
    return best;
}

#define EACH(s) (const struct gt_strategy *const *s = gt_strategies; *s; s++)

static void test_each_has_its_name(void **state) {
    for
        EACH(s)
    assert_ptr_equal(gt_strategy_find((*s)->name), *s);
    assert_null(gt_strategy_find("local"));
    assert_string_equal(GT_STRATEGY_HELP, "model (default), random or full");
    assert_string_equal(GT_STRATEGY_ALL_NAMES,
                        "model, random, full, ils, anneal, genetic or clblast");
}

/* Methods to compare with are no choice for a user. */
static void test_some_are_offered(void **state) {
    assert_ptr_equal(gt_strategy_find_offered("model"), gt_strategies[0]);
    assert_ptr_equal(gt_strategy_find_offered("full"), &gt_search_full);
    assert_null(gt_strategy_find_offered("ils"));
    assert_null(gt_strategy_find_offered("clblast"));
}

static void test_each_tries_everything_once(void **state) {
    struct gt_search_setup only_tile = setup_of(SIZE_MAX, 1);
    only_tile.spaces = 1;
    for
        EACH(s) {
            print_message("%s\n", (*s)->name);
            drive(&one, *s, only_tile, 4096);
            assert_int_equal(one.count, space[0].count);
            assert_int_equal(one.end, GT_ASK_DONE);
            assert_no_repeats(&one);
        }
}

static void test_full_is_in_order(void **state) {
    drive(&one, &gt_search_full, setup_of(20, 1), 4096);
    for (int i = 0; i < one.count; i++)
        assert_true(same(one.pick[i], (struct gt_pick){0, (size_t)i}));
}

static void test_each_keeps_to_its_budget(void **state) {
    for
        EACH(s) {
            drive(&one, *s, setup_of(96, 1), 4096);
            assert_int_equal(one.count, 96);
            assert_no_repeats(&one);
        }
}

static void test_each_tries_seeds_first(void **state) {
    const struct gt_pick seeds[3] = {{1, 7}, {0, 3}, {1, 7}};
    struct gt_search_setup setup = setup_of(20, 1);
    setup.start = seeds;
    setup.starts = 3;
    for
        EACH(s) {
            drive(&one, *s, setup, 4096);
            assert_int_equal(one.count, 20);
            assert_true(same(one.pick[0], seeds[0]));
            assert_true(same(one.pick[1], seeds[1]));
            assert_no_repeats(&one);
        }
}

static int differences(struct gt_pick a, struct gt_pick b) {
    const struct gt_space *s = &space[a.space];
    const size_t params = (size_t)s->params;
    int n = 0;
    for (size_t i = 0; i < params; i++)
        n += s->idx[a.index * params + i] != s->idx[b.index * params + i];
    return n;
}

/* All starts are picked, though answers come long after more could have been asked for. */
static void test_a_local_search_begins_at_the_best_seed(void **state) {
    static const struct gt_strategy *const local[2] = {&gt_search_ils, &gt_search_anneal};
    struct gt_pick seeds[5];
    struct gt_search_setup setup = setup_of(20, 1);
    int best = 0;
    for (int i = 0; i < 5; i++) {
        seeds[i] = (struct gt_pick){1, (size_t)i * space[1].count / 5};
        best = landscape(seeds[i]) < landscape(seeds[best]) ? i : best;
    }
    setup.ahead = 16;
    setup.start = seeds;
    setup.starts = 5;
    for (int i = 0; i < 2; i++) {
        drive(&one, local[i], setup, 4096);
        assert_int_equal(one.pick[5].space, 1);
        assert_int_equal(differences(one.pick[5], seeds[best]), 1);
    }
}

static void test_a_seed_that_is_no_point(void **state) {
    const struct gt_pick seed = {1, SIZE_MAX};
    struct gt_search_setup setup = setup_of(20, 1);
    struct gt_search *search;
    setup.start = &seed;
    setup.starts = 1;
    assert_int_equal(gt_search_create(&search, &gt_search_random, &setup, NULL),
                     GEMMTUNE_EINVAL);
    assert_null(search);
}

static void test_same_seed_same_picks(void **state) {
    for
        EACH(s) {
            if (*s == &gt_search_full)
                continue;
            drive(&one, *s, setup_of(96, 5), 4096);
            drive(&two, *s, setup_of(96, 5), 4096);
            assert_true(same_picks(&one, &two));
            drive(&two, *s, setup_of(96, 6), 4096);
            assert_false(same_picks(&one, &two));
        }
}

static void assert_timing_changes_nothing(const struct gt_search_setup *setup) {
    for
        EACH(s) {
            drive_late(&one, *s, *setup, 4096, all_correct, 0);
            assert_int_equal(one.count, 120);
            for (uint64_t timing = 1; timing <= 5; timing++) {
                drive_late(&two, *s, *setup, 4096, all_correct, timing);
                assert_true(same_picks(&one, &two));
            }
        }
}

/* Answers may come late and in bursts: the picks are the same. */
static void test_timing_changes_nothing(void **state) {
    struct gt_pick seeds[30];
    struct gt_search_setup setup = setup_of(120, 5);
    setup.ahead = 16;
    assert_timing_changes_nothing(&setup);
    for (int i = 0; i < 30; i++) /* some twice */
        seeds[i] = (struct gt_pick){1, (size_t)(i % 25) * space[1].count / 25};
    setup.start = seeds;
    setup.starts = 30;
    setup.starts_ahead = 20;
    assert_timing_changes_nothing(&setup);
}

/* More starts may be open than other picks, which wait until fewer starts are open. */
static void test_seeds_go_ahead(void **state) {
    enum { SEEDS = 10, AHEAD = 3 };
    struct gt_pick seeds[SEEDS], p;
    struct gt_search_setup setup = setup_of(120, 5);
    for (int i = 0; i < SEEDS; i++)
        seeds[i] = (struct gt_pick){1, (size_t)i};
    setup.ahead = AHEAD;
    setup.starts_ahead = SEEDS - 1;
    setup.start = seeds;
    setup.starts = SEEDS;
    for
        EACH(s) {
            struct gt_search *search = search_of(*s, &setup);
            int told = 0;
            for (int i = 0; i < SEEDS; i++) {
                if (i == SEEDS - 1) {
                    assert_int_equal(gt_search_ask(search, &p), GT_ASK_WAIT);
                    gt_search_tell(search, &seeds[told++], GT_CORRECT, 1000);
                }
                assert_int_equal(gt_search_ask(search, &p), GT_ASK_PICK);
                assert_true(same(p, seeds[i]));
            }
            for (; told < SEEDS - AHEAD + 1; told++) {
                assert_int_equal(gt_search_ask(search, &p), GT_ASK_WAIT);
                gt_search_tell(search, &seeds[told], GT_CORRECT, 1000);
            }
            while (told < SEEDS && gt_search_ask(search, &p) == GT_ASK_WAIT)
                gt_search_tell(search, &seeds[told++], GT_CORRECT, 1000);
            assert_true(told < SEEDS || gt_search_ask(search, &p) == GT_ASK_PICK);
            gt_search_destroy(search);
        }
}

static void test_no_more_than_ahead_are_outstanding(void **state) {
    struct gt_search_setup setup = setup_of(120, 5);
    struct gt_pick p;
    setup.ahead = 7;
    for
        EACH(s) {
            struct gt_search *search = search_of(*s, &setup);
            int given = 0;
            while (given < 100 && gt_search_ask(search, &p) == GT_ASK_PICK)
                given++;
            print_message("%s: %d\n", (*s)->name, given);
            assert_true(given >= 1 && given <= 7);
            assert_int_equal(gt_search_ask(search, &p), GT_ASK_WAIT);
            gt_search_destroy(search);
        }
}

static void test_a_target_ends_it(void **state) {
    struct gt_search_setup setup = setup_of(SIZE_MAX, 1);
    setup.target_ns = 1.1 * optimum(1);
    for
        EACH(s) {
            drive(&one, *s, setup, 4096);
            if (one.count == 4096)
                continue;
            assert_int_equal(one.end, GT_ASK_DONE);
            assert_true(one.best <= setup.target_ns);
            assert_true(landscape(one.pick[one.count - 1]) <= setup.target_ns);
        }
    drive(&one, &gt_search_model, setup, 4096);
    assert_true(one.best <= setup.target_ns);
}

/* The model finds the one best point of thousands. Steps of one parameter come near it:
 * rules tie parameters together. Chance does not. */
static void test_the_optimum_of_a_smooth_landscape(void **state) {
    const double best = optimum(1);
    for (uint64_t seed = 1; seed <= 3; seed++) {
        drive(&one, &gt_search_model, setup_of(150, seed), 4096);
        print_message("model: %g of %g\n", one.best, best);
        assert_true(one.best == best);
        drive(&one, &gt_search_ils, setup_of(1500, seed), 4096);
        print_message("ils: %g of %g\n", one.best, best);
        assert_true(one.best <= 1.2 * best);
    }
    drive(&two, &gt_search_random, setup_of(150, 1), 4096);
    assert_true(two.best > 1.2 * best);
}

/* A family that is five times slower gets a few picks and little more. */
static void test_the_model_leaves_a_slow_family(void **state) {
    int slow = 0;
    drive(&one, &gt_search_model, setup_of(96, 1), 4096);
    for (int i = 0; i < one.count; i++)
        slow += one.pick[i].space == 0;
    print_message("%d of %d picks are of the slow family\n", slow, one.count);
    assert_true(slow >= 2 && slow <= 16);
}

/* Where trials are costly it gets its first pick, and others only by chance. */
static void test_the_model_leaves_it_at_once(void **state) {
    struct gt_search_setup setup = setup_of(96, 1);
    int slow = 0;
    setup.costly = true;
    drive(&one, &gt_search_model, setup, 4096);
    for (int i = 0; i < one.count; i++)
        slow += one.pick[i].space == 0;
    print_message("%d of %d picks are of the slow family\n", slow, one.count);
    assert_true(slow >= 1 && slow <= 1 + 96 / 24);
    setup.budget = 8;
    slow_ns = 1000; /* it is not far slower */
    drive(&two, &gt_search_model, setup, 4096);
    slow_ns = 5000;
    slow = 0;
    for (int i = 0; i < two.count; i++)
        slow += two.pick[i].space == 0;
    assert_true(slow >= 2);
}

/* Half of the space fails to compile: what is asked next is mostly of the other half. */
static gt_outcome half_fails(struct gt_pick p) {
    const struct gt_space *s = &space[p.space];
    return s->idx[p.index * (size_t)s->params] * 2 >= s->family->param[0].count
               ? GT_COMPILE
               : GT_CORRECT;
}

static int failures_of(const struct log *log, int from, int to) {
    int n = 0;
    for (int i = from; i < to; i++)
        n += half_fails(log->pick[i]) != GT_CORRECT;
    return n;
}

static void test_the_model_steers_away_from_failures(void **state) {
    drive_late(&one, &gt_search_model, setup_of(120, 2), 4096, half_fails, 0);
    drive_late(&two, &gt_search_random, setup_of(120, 2), 4096, half_fails, 0);
    print_message("failures among the last 80: %d, by chance %d\n",
                  failures_of(&one, 40, 120), failures_of(&two, 40, 120));
    assert_true(2 * failures_of(&one, 40, 120) < failures_of(&two, 40, 120));
}

static gt_outcome nothing_works(struct gt_pick p) {
    return GT_CRASHED;
}

static void test_all_may_fail(void **state) {
    for
        EACH(s) {
            drive_late(&one, *s, setup_of(300, 2), 4096, nothing_works, 0);
            assert_int_equal(one.count, 300);
            assert_no_repeats(&one);
        }
}

/* ---- predictions ---- */

static double true_time(void *user, const struct gt_pick *p) {
    return 3 * landscape(*p); /* its proportions are what counts */
}

static double upside_down(void *user, const struct gt_pick *p) {
    return 1e9 / landscape(*p);
}

static double nobody_knows(void *user, const struct gt_pick *p) {
    return 0;
}

static void test_who_knows_nothing_changes_nothing(void **state) {
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct gt_search_setup setup = setup_of(96, seed);
        drive(&one, &gt_search_model, setup, 4096);
        setup.predict = nobody_knows;
        drive(&two, &gt_search_model, setup, 4096);
        assert_true(same_picks(&one, &two));
    }
}

static int picks_to(const struct gt_search_setup *setup, double ns) {
    struct gt_search_setup until = *setup;
    until.target_ns = ns;
    drive(&one, &gt_search_model, until, 4096);
    assert_true(one.best <= ns);
    return one.count;
}

static void test_predictions_help_and_do_no_harm(void **state) {
    const double best = optimum(1);
    int with = 0, without = 0, against = 0;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct gt_search_setup setup = setup_of(600, seed);
        without += picks_to(&setup, best);
        setup.predict = true_time;
        with += picks_to(&setup, best);
        setup.predict = upside_down;
        against += picks_to(&setup, best);
    }
    print_message("picks to the best: %d, with predictions %d, with the opposite %d\n",
                  without, with, against);
    assert_true(with < without);
    assert_true(against < 3 * without);
}

static int picks_of_space(const struct log *log, int of) {
    int n = 0;
    for (int i = 0; i < log->count; i++)
        n += log->pick[i].space == of;
    return n;
}

/* A space gets no other first looks, if its first pick and its forecast are far slower. It
 * gets them with forecasts that say the opposite, and when it is there for comparison. */
static void test_a_hopeless_space(void **state) {
    const struct gt_space tile = space[0];
    gemmtune_problem p;
    assert_int_equal(gt_problem_from_name(&p, "f32-nn-512x512x512", NULL), GEMMTUNE_OK);
    assert_int_equal(gt_space_create(&space[0], gt_families_find(families, "coalesced"),
                                     &device, &p, NULL),
                     GEMMTUNE_OK);
    struct gt_search_setup with = setup_of(20, 1), against = with, without = with;
    with.predict = true_time;
    against.predict = upside_down;
    slow_ns = 100000;
    drive(&one, &gt_search_model, with, 4096);
    assert_int_equal(picks_of_space(&one, 0), 1);
    drive(&one, &gt_search_model, without, 4096);
    assert_true(picks_of_space(&one, 0) >= 2);
    drive(&one, &gt_search_model, against, 4096);
    assert_true(picks_of_space(&one, 0) >= 2);
    gt_space_clear(&space[0]);
    space[0] = tile;
    drive(&one, &gt_search_model, with, 4096);
    assert_true(picks_of_space(&one, 0) >= 2);
    slow_ns = 5000;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_has_its_name),
        cmocka_unit_test(test_some_are_offered),
        cmocka_unit_test(test_each_tries_everything_once),
        cmocka_unit_test(test_full_is_in_order),
        cmocka_unit_test(test_each_keeps_to_its_budget),
        cmocka_unit_test(test_each_tries_seeds_first),
        cmocka_unit_test(test_a_local_search_begins_at_the_best_seed),
        cmocka_unit_test(test_a_seed_that_is_no_point),
        cmocka_unit_test(test_same_seed_same_picks),
        cmocka_unit_test(test_timing_changes_nothing),
        cmocka_unit_test(test_seeds_go_ahead),
        cmocka_unit_test(test_no_more_than_ahead_are_outstanding),
        cmocka_unit_test(test_a_target_ends_it),
        cmocka_unit_test(test_the_optimum_of_a_smooth_landscape),
        cmocka_unit_test(test_the_model_leaves_a_slow_family),
        cmocka_unit_test(test_the_model_leaves_it_at_once),
        cmocka_unit_test(test_the_model_steers_away_from_failures),
        cmocka_unit_test(test_all_may_fail),
        cmocka_unit_test(test_who_knows_nothing_changes_nothing),
        cmocka_unit_test(test_predictions_help_and_do_no_harm),
        cmocka_unit_test(test_a_hopeless_space),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
