/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_stopwatch.c - which sets samples take, on a rig that only notes them: the times are made up, so
 * that samples have as many launches as a test wants.
 */
#include "tuner/lab_internal.h"
#include "tuner/search.h"
#include "tuner/stopwatch.h"

#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    FEWEST = 32, /* launches a sample, of a thousand sets */
    MOST = 2048,
    PLAYERS = 5
};

static const double sample_ns = 1e6;

/* ---- the rig ---- */

struct gt_batch {
    gt_enqueue_fn fn;
    void *user;
};

static struct {
    struct gt_rig_head head;
    struct gt_lab lab;
    char inputs[GT_SETS_MAX]; /* set i's operands are at i */
    double ns;                /* of what has been launched */
    long launches;            /* of all products */
    long last[GT_SETS_MAX];   /* launch that used a set; 0: none */
    long soonest;             /* from one use to the next */
} rig;

static gt_status make_batch(struct gt_batch **out, struct gt_rig *r, gt_enqueue_fn fn,
                            void *user, struct gt_err *err) {
    (void)r, (void)err;
    *out = malloc(sizeof **out);
    assert_non_null(*out);
    **out = (struct gt_batch){fn, user};
    return GEMMTUNE_OK;
}

static void destroy_batch(struct gt_batch *b) {
    free(b);
}

static gt_status time_batch(struct gt_batch *b, double *ns, struct gt_err *err) {
    rig.ns = 0;
    const gt_status status = b->fn(b->user, err);
    *ns = rig.ns;
    return status;
}

static const struct gt_rig_ops ops = {
    .batch = make_batch, .batch_destroy = destroy_batch, .time = time_batch};

static void use_sets(int count) {
    memset(&rig, 0, sizeof rig);
    rig.head.ops = &ops;
    rig.soonest = LONG_MAX;
    rig.lab.rig = (struct gt_rig *)&rig;
    rig.lab.problem.type_acc = GEMMTUNE_F32;
    rig.lab.sets.count = count;
    for (int o = 0; o < 3; o++)
        for (int i = 0; i < count; i++)
            rig.lab.sets.view[o][i] = &rig.inputs[i];
}

/* ---- who is timed ---- */

struct player {
    double ns; /* a launch */
    struct gt_stopwatch *watch;
};

static gt_status launch(void *self, const struct gt_operands *x, struct gt_err *err) {
    const struct player *p = self;
    const ptrdiff_t set = (char *)x->a - rig.inputs;
    (void)err;
    assert_true(set >= 0 && set < rig.lab.sets.count && x->b == x->a && x->c == x->a);
    const long ago = ++rig.launches - rig.last[set];
    if (rig.last[set] > 0 && ago < rig.soonest)
        rig.soonest = ago;
    rig.last[set] = rig.launches;
    rig.ns += p->ns;
    return GEMMTUNE_OK;
}

static void enter(struct player *p, int launches) {
    struct gt_err err;
    const struct gt_product product = {.enqueue = launch, .self = p};
    p->ns = sample_ns / launches;
    assert_int_equal(
        gt_stopwatch_create(&p->watch, &rig.lab, &product, sample_ns, 5 * sample_ns, &err),
        GEMMTUNE_OK);
    assert_int_equal(gt_stopwatch_launches(p->watch), launches);
}

static void sample(struct player *p) {
    struct gt_err err;
    double ns;
    assert_int_equal(gt_stopwatch_sample(p->watch, &ns, &err), GEMMTUNE_OK);
    assert_true(fabs(ns - p->ns) < 1e-6 * p->ns);
}

/* Of players with 32 to 2048 launches a sample, and twice as many now and then; who is next goes round
 * or is drawn. */
static long soonest_of_a_race(uint64_t seed, int players, bool drawn) {
    struct player p[PLAYERS];
    use_sets(GT_SETS_MAX);
    for (int i = 0; i < players; i++)
        enter(&p[i], FEWEST << gt_random(&seed) % 7);
    for (int turn = 0; turn < 12 * players || rig.launches < 4 * GT_SETS_MAX; turn++) {
        const int i = drawn ? (int)(gt_random(&seed) % (uint64_t)players)
                            : (turn + turn / players) % players;
        sample(&p[i]);
        if (gt_random(&seed) % 16 == 0)
            gt_stopwatch_lengthen(p[i].watch);
    }
    for (int i = 0; i < players; i++)
        gt_stopwatch_destroy(p[i].watch);
    return rig.soonest;
}

static void test_half_the_ring(void **state) {
    long soonest = LONG_MAX;
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++)
        for (int players = 1; players <= PLAYERS; players++) {
            const long now = soonest_of_a_race(seed, players, seed % 2);
            if (now < GT_SETS_MAX / 2)
                fail_msg("seed %d, %d players: a set again after %ld launches", (int)seed,
                         players, now);
            soonest = now < soonest ? now : soonest;
        }
    assert_true(soonest < GT_SETS_MAX); /* or nobody passed over any */
    print_message("%d sets, 1000 races: one was used again after %ld launches\n",
                  GT_SETS_MAX, soonest);
}

/* However many sets there are, one alone comes to all of them, and to each after all the others. */
static void test_one_alone(void **state) {
    (void)state;
    for (int sets = 1; sets <= GT_SETS_MAX; sets *= 2)
        for (int launches = 1; launches <= MOST; launches *= 2) {
            struct player p;
            const int least = sets / 32, want = launches > least ? launches : least;
            use_sets(sets);
            enter(&p, want);
            rig.soonest = LONG_MAX;
            memset(rig.last, 0, sizeof rig.last);
            for (int i = 0; i < 3 || i * want < 3 * sets; i++)
                sample(&p);
            for (int i = 0; i < sets; i++)
                assert_true(rig.last[i] > 0);
            assert_int_equal(rig.soonest, sets);
            gt_stopwatch_destroy(p.watch);
        }
}

/* A launch that is longer than a sample is warmed up by once, and is a sample. */
static void test_long_launch(void **state) {
    struct player p = {.ns = 6 * sample_ns};
    struct gt_err err;
    const struct gt_product product = {.enqueue = launch, .self = &p};
    (void)state;
    use_sets(4);
    assert_int_equal(
        gt_stopwatch_create(&p.watch, &rig.lab, &product, sample_ns, 5 * sample_ns, &err),
        GEMMTUNE_OK);
    assert_int_equal(rig.launches, 1);
    for (int i = 0; i < 4; i++)
        sample(&p);
    assert_int_equal(rig.launches, 5);
    assert_int_equal(rig.soonest, 4);
    gt_stopwatch_destroy(p.watch);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_half_the_ring),
        cmocka_unit_test(test_one_alone),
        cmocka_unit_test(test_long_launch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
