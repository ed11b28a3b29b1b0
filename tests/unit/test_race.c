/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_race.c - the rules of timing on a made-up device, whose true times and disturbances
 * are known. The figures it prints are those of docs/search.md.
 */
#include "tuner/lab/race.h"

#include "tuner/search/search.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* ---- the made-up device ---- */

struct device {
    uint64_t seed;
    double noise;         /* standard deviation, a part of the time */
    double outliers, far; /* share of samples that are `far` times as long */
    int boost;            /* rounds at the beginning, at a higher clock */
    double boosted;       /* time of such a round, a part of the settled time */
    int boost_mhz, mhz;   /* clocks; 0: the device does not tell them */
    double drift;         /* part by which each round is longer than the last */
    int throttled,
        zero; /* throttled rounds, rounds of 0 ns; from the fourth on; < 0: all */
    double least_visible_ns; /* samples that are shorter come out as 0 */
};

static double uniform(struct device *d) {
    return ((double)(gt_random(&d->seed) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(struct device *d) {
    const double radius = sqrt(-2 * log(uniform(d)));
    return radius * cos(6.283185307179586 * uniform(d));
}

static bool among(int rounds, int round) {
    return round >= 3 && (rounds < 0 || round < 3 + rounds);
}

static struct gt_sample sample(struct device *d, double true_ns, int round, int launches) {
    struct gt_sample s = {.launches = launches, .clock_mhz = d->mhz};
    s.ns = true_ns * (1 + d->noise * normal(d)) * (1 + d->drift * round);
    if (round < d->boost) {
        s.ns *= d->boosted;
        s.clock_mhz = d->boost_mhz;
    }
    if (uniform(d) < d->outliers)
        s.ns *= d->far;
    if (s.ns * launches < d->least_visible_ns || among(d->zero, round))
        s.ns = 0;
    s.throttled = among(d->throttled, round);
    if (s.throttled)
        s.ns *= 2;
    return s;
}

/* Runs a race of kernels with these true times to its end. Returns the number of rounds. */
static int run(struct gt_race *r, const struct gt_race_rule *rule, struct device *d,
               const double *true_ns, int count) {
    struct gt_sample got[GT_RACERS_MAX];
    int round = 0, launches[GT_RACERS_MAX];
    gt_race_start(r, rule, count);
    for (int i = 0; i < count; i++)
        launches[i] = 4;
    for (; !r->over; round++) {
        assert_true(round < 10000);
        for (int i = 0; i < count; i++)
            if (!r->racer[i].left)
                got[i] = sample(d, true_ns[i], round, launches[i]);
        if (gt_race_round(r, got) == GT_ROUND_TOO_SHORT)
            for (int i = 0; i < count; i++)
                if (!r->racer[i].left && gt_sample_is_short(&got[i]))
                    launches[i] *= 2;
    }
    gt_race_finish(r);
    return round;
}

static const struct gt_race_rule screen = {
    .total_ns = 3e7, .narrow = 0.01, .samples_max = 20};
static const struct gt_race_rule finals = {
    .total_ns = 6e7, .narrow = 0.005, .samples_max = GT_SAMPLES_MAX};

static struct gt_measurement screened(struct device *d, double true_ns, double rival_ns) {
    struct gt_race r;
    struct gt_race_rule rule = screen;
    rule.rival_ns = rival_ns;
    run(&r, &rule, d, &true_ns, 1);
    return r.racer[0].time;
}

static struct gt_measurement of(int count, const double *ns) {
    struct gt_measurement m = {.samples = count};
    for (int i = 0; i < count; i++)
        m.sample_ns[i] = (float)ns[i];
    gt_measurement_summarize(&m);
    return m;
}

static void assert_near(double got, double want, double part) {
    if (!(fabs(got - want) <= part * want))
        fail_msg("%.9g, not %.9g", got, want);
}

/* ---- one rule at a time ---- */

static void test_limits(void **state) {
    static const double spread[7] = {100, 104, 101, 103, 102, 105, 99};
    static const double alike[2] = {100, 100};
    static const double apart[2] = {100, 300};
    static const struct {
        int samples;
        double limit;
    } rows[] = {
        {0, 0},
        {1, 0}, /* one sample proves nothing */
        {2, 102 - 6.353 * 4},
        {3, 305.0 / 3 - 1.304 * 4},
        {4, 102 - 0.717 * 4},
        {5, 102 - 0.507 * 4},
        {6, 100}, /* the least of six */
        {7, 99},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct gt_measurement m = of(rows[i].samples, spread);
        assert_near(gt_lower_limit(&m), rows[i].limit, 1e-6);
    }
    const struct gt_measurement a = of(2, alike), b = of(2, apart);
    assert_near(gt_lower_limit(&a), 100 - 6.353, 1e-6);
    assert_true(gt_lower_limit(&b) == 0);
}

/* Few samples that scatter widely leave a tie open, but not to one that takes many times as
 * long. */
static void test_few_ratios(void **state) {
    static const double one[2] = {1.0, 1.1}, twice[2] = {2.0, 2.9}, far[2] = {12.0, 17.6};
    static const double some[4] = {1.02, 1.05, 1.04, 1.03}, off[4] = {1.1, 1.3, 1.2, 1.4};
    const struct gt_measurement a = of(2, one), b = of(2, twice), c = of(2, far);
    const double ones[4] = {1, 1, 1, 1};
    const struct gt_measurement d = of(4, ones), e = of(4, some), f = of(4, off);
    (void)state;
    assert_true(gt_race_tied(&a, &a));
    assert_false(gt_race_proven(&b, &a)); /* 2.0 and 2.6 times */
    assert_false(gt_race_tied(&b, &a));
    assert_true(gt_race_proven(&c, &a)); /* 12 and 16 */
    assert_true(gt_race_tied(&a, &c));
    assert_true(gt_race_proven(&e, &d)); /* at least 1.0133 */
    assert_true(gt_race_tied(&d, &e));
    assert_true(gt_race_proven(&f, &d)); /* at least 1.04 */
}

/* One common round has no interval: it proves nothing, and a tie is only what was as fast
 * in it. */
static void test_one_ratio(void **state) {
    static const double one[1] = {1}, same[1] = {1.005}, slow[1] = {1.2}, far[1] = {54};
    const struct gt_measurement a = of(1, one), b = of(1, same), c = of(1, slow),
                                d = of(1, far);
    (void)state;
    assert_true(gt_race_tied(&b, &a));
    assert_false(gt_race_tied(&c, &a));
    assert_false(gt_race_tied(&d, &a));
    assert_false(gt_race_proven(&d, &a));
    assert_true(gt_race_tied(&a, &d));
}

static void test_loser_leaves(void **state) {
    struct device quiet = {.seed = 1, .noise = 0.003};
    (void)state;
    const struct gt_measurement twice = screened(&quiet, 20000, 10000);
    assert_int_equal(twice.samples, 2);
    const struct gt_measurement near = screened(&quiet, 10500, 10000);
    assert_in_range(near.samples, 3, 6);
    assert_true(gt_lower_limit(&near) > 10000);
    const struct gt_measurement better = screened(&quiet, 9000, 10000);
    assert_true(better.samples >= 6);
    assert_near(better.median_ns, 9000, 0.01);
}

static void test_narrow_is_enough(void **state) {
    struct device still = {.seed = 1}, loud = {.seed = 1, .noise = 0.1};
    (void)state;
    const struct gt_measurement few = screened(&still, 10000, 0);
    assert_int_equal(few.samples, 6);
    assert_near(few.median_ns, 10000, 1e-6);
    const struct gt_measurement many = screened(&loud, 10000, 0);
    assert_int_equal(many.samples, screen.samples_max);
}

static void test_time_is_up(void **state) {
    struct device d = {.seed = 1, .noise = 0.1};
    (void)state;
    /* 4 launches a sample: of about 24, 80 and 200 ms; there are 30 */
    const struct gt_measurement some = screened(&d, 6e6, 0);
    assert_int_equal(some.samples, 3);
    const struct gt_measurement two = screened(&d, 2e7, 0);
    assert_int_equal(two.samples, 2);
    const struct gt_measurement one = screened(&d, 5e7, 0);
    assert_int_equal(one.samples, 1);
}

/* The first rounds run at another clock, which readings or the times alone give away. */
static void test_boost(void **state) {
    static const struct device rows[] = {
        {.boost = 3, .boosted = 0.8, .noise = 0.002},
        {.boost = 3, .boosted = 1.3, .noise = 0.002},
        {.boost = 1, .boosted = 0.85, .noise = 0.002},
        {.boost = 3, .boosted = 0.997, .boost_mhz = 1980, .mhz = 1620, .noise = 0.002},
        {.boost = 2, .boosted = 1.01, .boost_mhz = 139, .mhz = 1620, .noise = 0.01},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct device d = rows[i];
        d.seed = i;
        const struct gt_measurement m = screened(&d, 10000, 0);
        assert_int_equal(m.unsettled, rows[i].boost);
        assert_near(m.median_ns, 10000, 0.01);
    }
    /* steps of one notch are no other clock */
    struct device steady = {
        .boost = 3, .boosted = 1, .boost_mhz = 1965, .mhz = 1980, .noise = 0.002};
    const struct gt_measurement m = screened(&steady, 10000, 0);
    assert_int_equal(m.unsettled, 0);
}

static void test_throttled(void **state) {
    struct device d = {.seed = 1, .noise = 0.002, .throttled = 4};
    struct device hot = {.seed = 1, .noise = 0.002, .throttled = -1};
    (void)state;
    const struct gt_measurement m = screened(&d, 10000, 0);
    assert_int_equal(m.dropped, 4);
    assert_near(m.median_ns, 10000, 0.01);
    /* one that stays so is measured as it is, and the number says so */
    const struct gt_measurement slow = screened(&hot, 10000, 0);
    assert_int_equal(slow.dropped, 20);
    assert_near(slow.median_ns, 20000, 0.01);
}

static void test_outliers(void **state) {
    struct device d = {.seed = 3, .noise = 0.01, .outliers = 0.1, .far = 100};
    int lost = 0;
    (void)state;
    for (int i = 0; i < 100; i++) {
        const struct gt_measurement m = screened(&d, 10000, 0);
        assert_near(m.median_ns, 10000, 0.03);
    }
    /* nor do they make a loser of the best */
    for (int i = 0; i < 1000; i++) {
        const struct gt_measurement m = screened(&d, 9800, 10000);
        lost += m.samples < 6 || m.median_ns > 10000;
    }
    print_message("lost to outliers: %d of 1000\n", lost);
    assert_true(lost <= 20);
}

static void test_zero(void **state) {
    static const double no_times[] = {-1, (double)NAN, (double)INFINITY};
    struct device glitch = {.seed = 1, .noise = 0.002, .zero = 1};
    struct device coarse = {.seed = 1, .noise = 0.002, .least_visible_ns = 1e6};
    struct device blind = {.seed = 1, .zero = -1};
    (void)state;
    const struct gt_measurement once = screened(&glitch, 10000, 0);
    assert_int_equal(once.launches, 8);
    assert_near(once.median_ns, 10000, 0.01);
    /* doubled until the timer sees it */
    const struct gt_measurement longer = screened(&coarse, 10000, 0);
    assert_int_equal(longer.launches, 128);
    assert_near(longer.median_ns, 10000, 0.01);
    const struct gt_measurement never = screened(&blind, 10000, 0);
    assert_int_equal(never.samples, 0);
    assert_true(never.median_ns == 0);
    for (size_t i = 0; i < sizeof no_times / sizeof *no_times; i++)
        assert_true(gt_sample_is_short(&(struct gt_sample){.ns = no_times[i]}));
}

/* ---- several ---- */

static void test_finals(void **state) {
    static const double true_ns[6] = {10000, 10010, 11000, 10030, 13000, 10400};
    struct device d = {.seed = 5, .noise = 0.005};
    struct gt_race r;
    (void)state;
    const int rounds = run(&r, &finals, &d, true_ns, 6);
    const struct gt_racer *racer = r.racer;
    for (int i = 0; i < 6; i++)
        print_message("%.0f: %.0f (%.0f to %.0f), %d of %d rounds\n", true_ns[i],
                      racer[i].time.median_ns, racer[i].time.low_ns, racer[i].time.high_ns,
                      racer[i].time.samples, rounds);
    assert_true(racer[4].time.samples <= 3);
    assert_true(racer[2].time.samples <= 6);
    assert_true(racer[5].left);
    assert_true(racer[0].time.samples > racer[5].time.samples);
    assert_int_equal(racer[1].time.samples, racer[0].time.samples);
    assert_int_equal(racer[3].time.samples, racer[0].time.samples);
    assert_true(gt_race_tied(&racer[1].time, &racer[0].time));
    assert_false(gt_race_tied(&racer[2].time, &racer[0].time));
}

static void test_all_stay(void **state) {
    static const double true_ns[3] = {10000, 20000, 30000};
    struct device d = {.seed = 5, .noise = 0.02};
    struct gt_race_rule rule = finals;
    struct gt_race r;
    (void)state;
    rule.all_stay = true;
    run(&r, &rule, &d, true_ns, 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(r.racer[i].time.samples, r.racer[0].time.samples);
        assert_near(r.racer[i].time.median_ns, true_ns[i], 0.01);
    }
}

/* A device that gets slower all the time. Kernels that differ by 2 % are distinguished
 * round by round, although the intervals of their medians overlap. */
static void test_drift(void **state) {
    static const double true_ns[2] = {10000, 10200};
    struct device d = {.seed = 7, .noise = 0.001, .drift = 0.005};
    struct gt_race_rule rule = finals;
    struct gt_race r;
    (void)state;
    rule.all_stay = true;
    run(&r, &rule, &d, true_ns, 2);
    const struct gt_measurement *a = &r.racer[0].time, *b = &r.racer[1].time;
    assert_true(b->low_ns < a->high_ns);
    assert_false(gt_race_tied(b, a));
    assert_true(gt_race_tied(a, b));
}

/* Kernels whose one sample takes longer than all the time there is: the others still get
 * theirs, and the slow ones are no ties. */
static void test_slow_company(void **state) {
    static const double true_ns[3] = {350e3, 37e6, 100e6}; /* four launches a sample */
    struct device d = {.seed = 9, .noise = 0.03};
    struct gt_race r;
    (void)state;
    run(&r, &finals, &d, true_ns, 3);
    const struct gt_measurement *best = &r.racer[0].time;
    assert_true(best->samples >= 30);
    assert_near(best->median_ns, 350e3, 0.02);
    for (int i = 1; i < 3; i++) {
        assert_true(r.racer[i].time.samples <= 2);
        assert_false(gt_race_tied(&r.racer[i].time, best));
    }
}

/* Kernels that are about as fast get an interval, however long a launch takes; slower ones
 * do not. */
static void test_long_launches(void **state) {
    static const double true_ns[3] = {1e9, 1.1e9, 3e9};
    struct device d = {.seed = 9, .noise = 0.01};
    struct gt_race_rule rule = finals;
    struct gt_race r;
    (void)state;
    rule.samples_least = 2;
    run(&r, &rule, &d, true_ns, 3);
    assert_int_equal(r.racer[0].time.samples, 2);
    assert_int_equal(r.racer[1].time.samples, 2);
    assert_int_equal(r.racer[2].time.samples, 1);
}

static int winner_of(const struct gt_race *r) {
    const struct gt_measurement *time[GT_RACERS_MAX];
    for (int i = 0; i < r->count; i++)
        time[i] = &r->racer[i].time;
    return gt_race_winner(time, r->count);
}

/* A kernel that leaves while the clock is still high has samples of those rounds only, of
 * which the winner has none: their times do not compare. */
static void test_beaten_in_the_boost(void **state) {
    static const double true_ns[2] = {10000, 10300};
    int early = 0;
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct device d = {.seed = seed, .noise = 0.0005, .boost = 4, .boosted = 0.94};
        struct gt_race r;
        run(&r, &finals, &d, true_ns, 2);
        const struct gt_measurement *winner = &r.racer[0].time, *loser = &r.racer[1].time;
        early += loser->median_ns < winner->median_ns;
        assert_true(loser->beaten);
        assert_false(winner->beaten);
        assert_int_equal(winner_of(&r), 0);
        assert_false(gt_race_tied(loser, winner));
    }
    print_message("the slower one looks faster: %d of 100\n", early);
    assert_true(early > 0);
}

/* When all that stayed turn out wrong, somebody is first. */
static void test_all_beaten(void **state) {
    static const double ns[2] = {100, 101};
    struct gt_measurement m = of(2, ns);
    const struct gt_measurement *time[2] = {&m, &m};
    (void)state;
    m.beaten = true;
    assert_int_equal(gt_race_winner(time, 2), 0);
}

/* ---- at another clock ---- */

static void test_clock_share(void **state) {
    static const struct {
        int launches, mhz, top_mhz;
        double share;
    } rows[] = {
        {1, 1980, 1980, 1}, {1, 1485, 1980, 0.75}, {1, 1970, 1980, 1970.0 / 1980},
        {1, 2100, 1980, 1},                  /* more than it says it has */
        {2, 1485, 1980, 1},                  /* nobody looked */
        {1, 0, 1980, 1},    {1, 1485, 0, 1}, /* nobody knows */
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct gt_measurement m = {.launches = rows[i].launches,
                                         .clock_mhz = rows[i].mhz};
        assert_near(gt_clock_share(&m, rows[i].top_mhz), rows[i].share, 1e-12);
    }
}

static struct gt_measurement screened_at(int mhz, double true_ns, double rival_ns) {
    struct device d = {.seed = 5, .noise = 0.003, .mhz = mhz};
    struct gt_sample s;
    struct gt_race r;
    struct gt_race_rule rule = screen;
    rule.rival_ns = rival_ns;
    rule.top_mhz = 1980;
    gt_race_start(&r, &rule, 1);
    for (int round = 0; !r.over; round++) {
        s = sample(&d, true_ns * 1980 / mhz, round, 1);
        assert_int_equal(gt_race_round(&r, &s), GT_ROUND_KEPT);
    }
    gt_race_finish(&r);
    return r.racer[0].time;
}

/* A kernel as fast as the best, but at a lower clock, stays and is found as fast. A kernel
 * slower than the best at the highest clock leaves at any clock. */
static void test_rival_at_another_clock(void **state) {
    (void)state;
    for (int mhz = 1280; mhz <= 1980; mhz += 100) {
        const struct gt_measurement same = screened_at(mhz, 10000, 10200);
        assert_false(same.beaten);
        assert_in_range(same.samples, 6, 20);
        assert_int_equal(same.clock_mhz, mhz);
        assert_near(same.median_ns * gt_clock_share(&same, 1980), 10000, 0.01);
        assert_true(screened_at(mhz, 13000, 10200).beaten);
    }
}

/* A clock that moves: that of the samples that count, on average. */
static void test_mean_clock(void **state) {
    static const int mhz[8] = {1980, 1980, 1980, 1500, 1510, 1490, 1505, 1495};
    struct gt_race r;
    const struct gt_race_rule rule = {.total_ns = 1e9, .samples_max = 8, .all_stay = true};
    (void)state;
    gt_race_start(&r, &rule, 1);
    for (int i = 0; i < 8; i++) {
        const struct gt_sample s = {1e6 * 1980 / mhz[i], 1, mhz[i], false};
        assert_int_equal(gt_race_round(&r, &s), GT_ROUND_KEPT);
    }
    gt_race_finish(&r);
    assert_int_equal(r.racer[0].time.unsettled, 3);
    assert_int_equal(r.racer[0].time.clock_mhz, 1500);
}

/* ---- in another process ---- */

/* An interval without width is widened by a part that depends on its samples' clock. */
static void test_widen(void **state) {
    static const struct {
        int mhz, top_mhz;
        double part;
    } rows[] = {
        {1980, 1980, 0.015}, {1965, 1980, 0.015},
        {1941, 1980, 0.015}, {1940, 1980, 0.05}, /* more than 2 % below */
        {1785, 1980, 0.05},  {210, 1980, 0.05},
        {2715, 2520, 0.015}, {0, 1980, 0.015}, /* nothing was noted */
        {1785, 0, 0.015},                      /* nobody knows below what */
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gt_measurement m = {
            .median_ns = 100, .low_ns = 100, .high_ns = 100, .clock_mhz = rows[i].mhz};
        gt_race_widen(&m, rows[i].top_mhz);
        assert_near(m.low_ns, 100 * (1 - rows[i].part), 1e-12);
        assert_near(m.high_ns, 100 * (1 + rows[i].part), 1e-12);
        assert_true(m.median_ns == 100);
    }
}

static struct gt_measurement final_of(struct device *d, double true_ns) {
    struct gt_race r;
    run(&r, &finals, d, &true_ns, 1);
    gt_race_widen(&r.racer[0].time, 1980);
    return r.racer[0].time;
}

/* Finals in two processes that are 4 % apart: found again where the clock has given way,
 * and not at one that has not. */
static void test_found_again(void **state) {
    static const struct {
        int mhz;
        bool found;
    } rows[] = {{1800, true}, {1980, false}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct device first = {.seed = 3, .noise = 0.001, .mhz = rows[i].mhz};
        struct device other = {.seed = 4, .noise = 0.001, .mhz = rows[i].mhz};
        first.boost = 4; /* the clock comes down meanwhile: the last one is noted */
        first.boosted = 0.9;
        first.boost_mhz = 1980;
        const struct gt_measurement stored = final_of(&first, 10400);
        const struct gt_measurement again = final_of(&other, 10000);
        assert_int_equal(stored.clock_mhz, rows[i].mhz);
        assert_int_equal(stored.low_ns <= again.median_ns, rows[i].found);
    }
}

/* ---- how often ---- */

enum { TIMES = 2000 };

/* Alone: samples, how often the interval holds the true time, how often the median is far
 * off. */
static void test_coverage(void **state) {
    static const double noise[] = {0.002, 0.005, 0.01, 0.03};
    (void)state;
    print_message("noise   samples  interval holds  median is off\n");
    for (size_t i = 0; i < sizeof noise / sizeof *noise; i++) {
        struct device d = {.seed = 11 + i, .noise = noise[i]};
        const double most = 3 * noise[i] / sqrt(6);
        int held = 0, samples = 0, far = 0;
        for (int t = 0; t < TIMES; t++) {
            const struct gt_measurement m = screened(&d, 10000, 0);
            held += m.low_ns <= 10000 && 10000 <= m.high_ns;
            samples += m.samples;
            far += fabs(m.median_ns / 10000 - 1) > most;
        }
        print_message("%4.1f %%  %7.1f  %12.1f %%  by over %.2f %%: %.2f %%\n",
                      100 * noise[i], (double)samples / TIMES, 100.0 * held / TIMES,
                      100 * most, 100.0 * far / TIMES);
        assert_true(held >= 0.9 * TIMES);
        assert_true(far <= 0.02 * TIMES);
    }
}

/* With an earlier best: how soon a slower kernel leaves, and how often one that is as fast
 * does, which GT_SCREEN_MARGIN should prevent. */
static void test_leaving(void **state) {
    static const double noise[] = {0.002, 0.005, 0.01, 0.03, 0.1};
    static const double slower[] = {1, 1.05, 1.1, 1.3, 2};
    enum { SLOWER = sizeof slower / sizeof *slower };
    const double rival_ns = 10000 * (1 + GT_SCREEN_MARGIN);
    (void)state;
    print_message("samples on average, and how many left before the end\nnoise ");
    for (int j = 0; j < SLOWER; j++)
        print_message("  %5.2f times  ", slower[j]);
    print_message("\n");
    for (size_t i = 0; i < sizeof noise / sizeof *noise; i++) {
        print_message("%4.1f %%", 100 * noise[i]);
        for (int j = 0; j < SLOWER; j++) {
            struct device d = {.seed = 100 * i + (uint64_t)j, .noise = noise[i]};
            int samples = 0, left = 0;
            for (int t = 0; t < TIMES; t++) {
                const struct gt_measurement m = screened(&d, slower[j] * 10000, rival_ns);
                samples += m.samples;
                left += gt_lower_limit(&m) > rival_ns;
            }
            print_message("  %4.1f (%5.1f %%)", (double)samples / TIMES,
                          100.0 * left / TIMES);
            assert_true(j > 0 || left <= 0.05 * TIMES);
            assert_true(j < SLOWER - 1 || noise[i] > 0.03 || samples <= 4 * TIMES);
        }
        print_message("\n");
    }
}

/* Six finalists of which one is a little faster: how often it wins or ties with the winner,
 * how much slower the choice is, and how many tie. */
static void test_choosing(void **state) {
    static const double noise[] = {0.002, 0.005, 0.01, 0.03};
    static const double true_ns[6] = {10000, 10050, 10100, 10200, 10500, 11000};
    (void)state;
    print_message("noise   rounds  best wins  or ties  regret  ties\n");
    for (size_t i = 0; i < sizeof noise / sizeof *noise; i++) {
        struct device d = {.seed = 77 + i, .noise = noise[i], .drift = 0.001};
        int rounds = 0, wins = 0, or_ties = 0, ties = 0;
        double regret = 0;
        for (int t = 0; t < TIMES; t++) {
            struct gt_race r;
            rounds += run(&r, &finals, &d, true_ns, 6);
            const int won = winner_of(&r);
            const struct gt_measurement *best = &r.racer[won].time;
            wins += won == 0;
            regret += true_ns[won] / true_ns[0] - 1;
            or_ties += gt_race_tied(&r.racer[0].time, best);
            for (int j = 0; j < 6; j++)
                ties += gt_race_tied(&r.racer[j].time, best);
        }
        print_message("%4.1f %%  %6.1f  %7.1f %%  %5.1f %%  %.2f %%  %4.1f\n",
                      100 * noise[i], (double)rounds / TIMES, 100.0 * wins / TIMES,
                      100.0 * or_ties / TIMES, 100 * regret / TIMES, (double)ties / TIMES);
        assert_true(or_ties >= 0.95 * TIMES);
        assert_true(regret / TIMES <= 0.01);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_few_ratios),
        cmocka_unit_test(test_loser_leaves),
        cmocka_unit_test(test_narrow_is_enough),
        cmocka_unit_test(test_time_is_up),
        cmocka_unit_test(test_boost),
        cmocka_unit_test(test_throttled),
        cmocka_unit_test(test_outliers),
        cmocka_unit_test(test_zero),
        cmocka_unit_test(test_finals),
        cmocka_unit_test(test_all_stay),
        cmocka_unit_test(test_drift),
        cmocka_unit_test(test_one_ratio),
        cmocka_unit_test(test_slow_company),
        cmocka_unit_test(test_long_launches),
        cmocka_unit_test(test_beaten_in_the_boost),
        cmocka_unit_test(test_all_beaten),
        cmocka_unit_test(test_clock_share),
        cmocka_unit_test(test_rival_at_another_clock),
        cmocka_unit_test(test_mean_clock),
        cmocka_unit_test(test_widen),
        cmocka_unit_test(test_found_again),
        cmocka_unit_test(test_coverage),
        cmocka_unit_test(test_leaving),
        cmocka_unit_test(test_choosing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
