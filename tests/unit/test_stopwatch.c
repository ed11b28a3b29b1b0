/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_stopwatch.c - which sets the samples use, on a rig that only records them. The times
 * are made up, so that samples have as many launches as a test wants.
 */
#include "tuner/lab/lab_internal.h"
#include "tuner/search/search.h"
#include "tuner/lab/stopwatch.h"

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

enum { MOST = 2048, /* launches a sample */ PLAYERS = 5 };

static const double sample_ns = 1e6, most_ns = 5e6;

/* ---- the rig ---- */

/* Launches as a CUDA graph has them: they were enqueued when it was made. */
struct fake_batch {
    struct gt_batch head;
    double ns;
    int launches, set[MOST];
};

static struct {
    struct gt_rig_head head;
    struct gt_lab lab;
    char inputs[GT_SETS_MAX]; /* set i's operands are at i */
    struct fake_batch *recording;
    int batches;
    long launches;          /* of all batches that ran */
    long last[GT_SETS_MAX]; /* launch that used a set; 0: none */
    long soonest;           /* from one use to the next */
} rig;

static gt_status make_batch(struct gt_batch **out, struct gt_rig *r, gt_enqueue_fn fn,
                            void *user, struct gt_err *err) {
    (void)r;
    rig.recording = calloc(1, sizeof *rig.recording);
    assert_non_null(rig.recording);
    *out = &rig.recording->head;
    rig.batches++;
    return fn(user, err);
}

static void destroy_batch(struct gt_batch *b) {
    rig.batches--;
    free(b);
}

static gt_status time_batch(struct gt_batch *batch, double *ns, struct gt_err *err) {
    const struct fake_batch *b = (const struct fake_batch *)batch;
    (void)err;
    for (int i = 0; i < b->launches; i++) {
        const int set = b->set[i];
        const long ago = ++rig.launches - rig.last[set];
        if (rig.last[set] > 0 && ago < rig.soonest)
            rig.soonest = ago;
        rig.last[set] = rig.launches;
    }
    *ns = b->ns;
    return GEMMTUNE_OK;
}

static const struct gt_rig_ops ops = {
    .batch = make_batch, .batch_destroy = destroy_batch, .time = time_batch};

static void forget_uses(void) {
    memset(rig.last, 0, sizeof rig.last);
    rig.soonest = LONG_MAX;
}

static void use_sets(int count) {
    memset(&rig, 0, sizeof rig);
    forget_uses();
    rig.head.ops = &ops;
    rig.lab.rig = (struct gt_rig *)&rig;
    rig.lab.problem.type_acc = GEMMTUNE_F32;
    rig.lab.sets.count = count;
    for (int o = 0; o < 3; o++)
        for (int i = 0; i < count; i++)
            rig.lab.sets.view[o][i] = &rig.inputs[i];
}

/* ---- the timed products ---- */

struct player {
    double ns; /* a launch */
    struct gt_stopwatch *watch;
};

static gt_status launch(void *self, const struct gt_call *x, struct gt_err *err) {
    const struct player *p = self;
    const ptrdiff_t set = (char *)x->a - rig.inputs;
    struct fake_batch *b = rig.recording;
    (void)err;
    assert_true(set >= 0 && set < rig.lab.sets.count && x->b == x->a && x->c == x->a);
    assert_true(b->launches < MOST);
    b->set[b->launches++] = (int)set;
    b->ns += p->ns;
    return GEMMTUNE_OK;
}

/* A player with a launch that takes so long. */
static void enter(struct player *p, double ns) {
    struct gt_err err;
    const struct gt_product product = {.enqueue = launch, .self = p};
    p->ns = ns;
    assert_int_equal(
        gt_stopwatch_create(&p->watch, &rig.lab, &product, sample_ns, most_ns, &err),
        GEMMTUNE_OK);
}

static void leave(struct player *p) {
    gt_stopwatch_destroy(p->watch);
    p->watch = NULL;
}

static void sample(struct player *p) {
    const long before = rig.launches;
    struct gt_err err;
    double ns;
    assert_int_equal(gt_stopwatch_sample(p->watch, &ns, &err), GEMMTUNE_OK);
    assert_true(fabs(ns - p->ns) < 1e-6 * p->ns);
    assert_int_equal(rig.launches - before, gt_stopwatch_launches(p->watch));
}

static void lengthen(struct player *p) {
    const int before = gt_stopwatch_launches(p->watch);
    gt_stopwatch_lengthen(p->watch);
    assert_int_equal(gt_stopwatch_launches(p->watch), before < MOST ? 2 * before : MOST);
}

/* One launch fills a sample, or the most do, or any power of two between. */
static double drawn_ns(uint64_t *seed) {
    return sample_ns / (double)(MOST >> gt_random(seed) % 12);
}

/* The next product is the next in turn or drawn at random; now and then one gets longer
 * samples, or one leaves and another comes. */
static void race(uint64_t seed, int players, bool drawn) {
    struct player p[PLAYERS];
    for (int i = 0; i < players; i++)
        enter(&p[i], drawn_ns(&seed));
    for (int turn = 0; turn < 12 * players; turn++) {
        struct player *now = &p[drawn ? gt_random(&seed) % (uint64_t)players
                                      : (uint64_t)((turn + turn / players) % players)];
        const uint64_t dice = gt_random(&seed) % 32;
        sample(now);
        if (dice < 2)
            lengthen(now);
        if (dice == 2) {
            leave(now);
            enter(now, drawn_ns(&seed));
        }
    }
    for (int i = 0; i < players; i++)
        leave(&p[i]);
    assert_int_equal(rig.batches, 0);
}

static void test_half_the_ring(void **state) {
    (void)state;
    for (int sets = 1; sets <= GT_SETS_MAX; sets *= 2) {
        long soonest = LONG_MAX;
        for (uint64_t seed = 1; seed <= 300; seed++) {
            const int players = 1 + (int)(seed % PLAYERS);
            use_sets(sets);
            race(seed, players, seed % 2);
            if (rig.soonest < sets - sets / 2)
                fail_msg("%d sets, seed %d, %d players: one again after %ld launches", sets,
                         (int)seed, players, rig.soonest);
            soonest = rig.soonest < soonest ? rig.soonest : soonest;
        }
        assert_true(soonest < sets || sets <= 4); /* or nobody passed over any */
        print_message("%d sets: one was used again after %ld launches\n", sets, soonest);
    }
}

/* However many sets there are, one alone comes to all of them, and to each after all the
 * others. */
static void test_one_alone(void **state) {
    (void)state;
    for (int sets = 1; sets <= GT_SETS_MAX; sets *= 2)
        for (int launches = 1; launches <= MOST; launches *= 2) {
            struct player p;
            const int least = sets / 32, want = launches > least ? launches : least;
            use_sets(sets);
            enter(&p, sample_ns / launches);
            assert_int_equal(gt_stopwatch_launches(p.watch), want);
            forget_uses();
            for (int i = 0; i < 3 || i * want < 3 * sets; i++)
                sample(&p);
            for (int i = 0; i < sets; i++)
                assert_true(rig.last[i] > 0);
            assert_int_equal(rig.soonest, sets);
            leave(&p);
        }
}

/* Products that come and go without a sample do not skip a set. */
static void test_warm_ups(void **state) {
    struct player p;
    (void)state;
    use_sets(GT_SETS_MAX);
    for (int i = 0; i < 2 * GT_SETS_MAX; i++) {
        enter(&p, sample_ns * (i % 3 == 0 ? 1e-3 : 1));
        leave(&p);
    }
    assert_int_equal(rig.soonest, GT_SETS_MAX);
    assert_int_equal(rig.batches, 0);
}

/* The power of two that is nearest; where a sample's time asks for more than may be, the
 * most. */
static void test_launches(void **state) {
    static const struct {
        double wanted;
        int launches;
    } rows[] = {{0.2, 1}, {1, 1},     {1.39, 1}, {1.41, 2},   {2.7, 2},
                {2.9, 4}, {100, 128}, {89, 64},  {1e4, MOST}, {INFINITY, MOST}};
    struct player p;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        use_sets(8);
        enter(&p, sample_ns / rows[i].wanted);
        assert_int_equal(gt_stopwatch_launches(p.watch), rows[i].launches);
        leave(&p);
    }
}

/* A launch that takes longer than a warm-up may is launched once for that,
 * and is a sample. */
static void test_long_launch(void **state) {
    struct player p;
    (void)state;
    use_sets(4);
    enter(&p, 1.2 * most_ns);
    assert_int_equal(rig.launches, 1);
    for (int i = 0; i < 4; i++)
        sample(&p);
    assert_int_equal(rig.launches, 5);
    assert_int_equal(rig.soonest, 4);
    leave(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_half_the_ring), cmocka_unit_test(test_one_alone),
        cmocka_unit_test(test_warm_ups),      cmocka_unit_test(test_launches),
        cmocka_unit_test(test_long_launch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
