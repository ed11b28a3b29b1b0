/* SPDX-License-Identifier: Apache-2.0 */
/* race.c - see race.h. docs/search.md explains the rules and their sources. */
#include "tuner/lab/race.h"

#include "tuner/lab/ratio.h"

#include <math.h>
#include <string.h>

enum {
    SHORT_MAX = 12, /* doublings of a sample before a racer is given up */
    ENOUGH = GT_SAMPLES_ENOUGH,
    LEAST = 3, /* samples of a racer that takes all the time there is */
    FAR = 4    /* shares of the time after which a racer need not have so many */
};

/* A racer that takes this much longer than the leader is not about as fast. */
static const double near_leader = 1.5;

/* ---- limits ---- */

/* The range of two to five values gives a one-sided 97.5 % limit: mean - factor * range
 * (Lord 1947; for two values it equals Student's). Equal values count as `least` apart. */
static double limit_by_range(const double v[], int n, double least) {
    static const double factor[ENOUGH] = {0, 0, 6.353, 1.304, 0.717, 0.507};
    double sum = 0, low = v[0], high = v[0];
    for (int i = 0; i < n; i++) {
        sum += v[i];
        low = fmin(low, v[i]);
        high = fmax(high, v[i]);
    }
    return sum / n - factor[n] * fmax(high - low, least);
}

double gt_lower_limit(const struct gt_measurement *m) {
    double ns[ENOUGH], sum = 0;
    if (m->samples < 2)
        return 0;
    if (m->samples >= ENOUGH)
        return m->low_ns;
    for (int i = 0; i < m->samples; i++)
        sum += ns[i] = (double)m->sample_ns[i];
    return fmax(limit_by_range(ns, m->samples, 0.01 * sum / m->samples), 0);
}

/* Limit of a ratio. A disturbance multiplies one of its times, so its logarithms scatter
 * evenly. With the ratios themselves, samples of 12 and 16 could be taken for a tie. */
static double lower_limit_of_ratio(const struct gt_measurement *ratio) {
    double logs[ENOUGH];
    if (ratio->samples < 2 || ratio->samples >= ENOUGH)
        return gt_lower_limit(ratio);
    for (int i = 0; i < ratio->samples; i++)
        logs[i] = log((double)ratio->sample_ns[i]);
    return exp(limit_by_range(logs, ratio->samples, 0.01));
}

static bool is_narrow(const struct gt_measurement *m, double narrow) {
    return m->samples >= ENOUGH && m->high_ns - m->low_ns <= narrow * m->median_ns;
}

bool gt_race_proven(const struct gt_measurement *slower,
                    const struct gt_measurement *faster) {
    struct gt_measurement ratio;
    gt_ratio_of(&ratio, slower, faster);
    return slower->beaten || lower_limit_of_ratio(&ratio) > 1 + GT_TIE_MARGIN;
}

/* Whether it was as fast in one of the common rounds. */
static bool was_as_fast(const struct gt_measurement *ratio) {
    bool was = false;
    for (int i = 0; !was && i < ratio->samples; i++)
        was = (double)ratio->sample_ns[i] <= 1 + GT_TIE_MARGIN;
    return was;
}

bool gt_race_tied(const struct gt_measurement *slower,
                  const struct gt_measurement *faster) {
    struct gt_measurement ratio;
    gt_ratio_of(&ratio, slower, faster);
    return !gt_race_proven(slower, faster) &&
           (ratio.samples >= ENOUGH || was_as_fast(&ratio));
}

int gt_race_winner(const struct gt_measurement *const time[], int n) {
    int best = 0;
    for (int i = 1; i < n; i++)
        if (!time[i]->beaten &&
            (time[best]->beaten || time[i]->samples > time[best]->samples ||
             (time[i]->samples == time[best]->samples &&
              time[i]->median_ns < time[best]->median_ns)))
            best = i;
    for (int i = 0; i < n; i++)
        if (!time[i]->beaten && gt_race_proven(time[best], time[i]))
            best = i;
    return best;
}

/* ---- clocks ---- */

/* A steady clock moves by a few tenths of a percent. A larger step is another clock. */
static int slack(int mhz) {
    enum { STEPS = 50 };
    return mhz / STEPS;
}

double gt_clock_share(const struct gt_measurement *m, int top_mhz) {
    const bool known = m->launches == 1 && m->clock_mhz > 0;
    return known && m->clock_mhz < top_mhz ? (double)m->clock_mhz / top_mhz : 1;
}

/* A kernel's own samples do not show how processes differ, so that difference is added. A
 * lowered clock also wanders: under the power limit of an H200 (f64, 1785 to 1830 of 1980
 * MHz), 20 finals were 0.1 to 4.9 % longer than in another process, and up to 2.8 % apart
 * for one kernel (docs/search.md). */
void gt_race_widen(struct gt_measurement *m, int top_mhz) {
    const bool slowed = m->clock_mhz > 0 && m->clock_mhz < top_mhz - slack(top_mhz);
    const double part = slowed ? GT_PROCESS_DRIFT_SLOWED : GT_PROCESS_DRIFT;
    m->low_ns *= 1 - part;
    m->high_ns *= 1 + part;
}

/* ---- settling ---- */

/* A leading sample stands apart when its clock was another one, or when its distance from
 * the later half exceeds the width of that half. */
struct later_half {
    double low_ns, high_ns;
    int low_mhz, high_mhz;
};

static struct later_half later_half_of(const struct gt_racer *r) {
    const int n = r->time.samples;
    struct later_half h = {INFINITY, 0, r->clock_mhz[n - 1], 0};
    for (int i = n / 2; i < n; i++) {
        h.low_ns = fmin(h.low_ns, (double)r->time.sample_ns[i]);
        h.high_ns = fmax(h.high_ns, (double)r->time.sample_ns[i]);
        h.low_mhz = r->clock_mhz[i] < h.low_mhz ? r->clock_mhz[i] : h.low_mhz;
        h.high_mhz = r->clock_mhz[i] > h.high_mhz ? r->clock_mhz[i] : h.high_mhz;
    }
    const double wide = fmax(h.high_ns - h.low_ns, 0.005 * h.low_ns);
    h.low_ns -= wide;
    h.high_ns += wide;
    return h;
}

static bool stands_apart(const struct gt_racer *r, int i, const struct later_half *h) {
    const int some = slack(h->high_mhz);
    const double ns = (double)r->time.sample_ns[i];
    return ns < h->low_ns || ns > h->high_ns || r->clock_mhz[i] < h->low_mhz - some ||
           r->clock_mhz[i] > h->high_mhz + some;
}

static int unsettled(const struct gt_racer *r) {
    int i = 0;
    if (r->time.samples < ENOUGH)
        return 0;
    const struct later_half h = later_half_of(r);
    while (i < r->time.samples / 2 && stands_apart(r, i, &h))
        i++;
    return i;
}

/* Number of rounds until the device had settled for all racers. All racers drop the same
 * rounds, so that their samples stay paired. */
static int unsettled_rounds(const struct gt_race *r) {
    int most = 0;
    for (int i = 0; i < r->count; i++) {
        const int own = r->racer[i].beaten ? 0 : unsettled(&r->racer[i]);
        const int rounds = own > 0 ? r->racer[i].first_round + own : 0;
        most = rounds > most ? rounds : most;
    }
    return most;
}

/* The mean of the samples with a known clock; 0 when there are none. */
static int mean_clock(const int *mhz, int count) {
    int sum = 0, known = 0;
    for (int i = 0; i < count; i++) {
        sum += mhz[i];
        known += mhz[i] > 0;
    }
    return known > 0 ? sum / known : 0;
}

/* How many samples a racer has of the first `rounds` rounds of the race. */
static int samples_of_first(const struct gt_racer *r, int rounds) {
    const int own = rounds > r->first_round ? rounds - r->first_round : 0;
    return own < r->time.samples ? own : r->time.samples;
}

/* The measurement without its first `count` samples, summarized. */
static struct gt_measurement without(const struct gt_racer *r, int count) {
    const struct gt_measurement *m = &r->time;
    struct gt_measurement out = *m;
    out.samples = m->samples - count;
    out.unsettled = r->first_round + count;
    out.clock_mhz = mean_clock(r->clock_mhz + count, out.samples);
    memset(out.sample_ns, 0, sizeof out.sample_ns);
    memcpy(out.sample_ns, m->sample_ns + count,
           (size_t)out.samples * sizeof *out.sample_ns);
    gt_measurement_summarize(&out);
    return out;
}

/* ---- the race ---- */

void gt_race_start(struct gt_race *r, const struct gt_race_rule *rule, int count) {
    memset(r, 0, sizeof *r);
    r->rule = *rule;
    r->count = count;
    r->over = count == 0;
}

bool gt_sample_is_short(const struct gt_sample *s) {
    return !(isfinite(s->ns) && s->ns > 0);
}

static bool rests_with_samples(const struct gt_race *r) {
    for (int i = 0; i < r->count; i++)
        if (r->racer[i].left && r->racer[i].time.samples > 0)
            return true;
    return false;
}

/* Forgets the samples of all that are timed. Rounds are counted on while a racer at rest
 * has samples of earlier ones. A racer that no length of sample makes visible leaves
 * without a time. */
static void start_again(struct gt_race *r, const struct gt_sample *sample) {
    bool anyone = false;
    r->short_rounds++;
    r->kept_rounds = rests_with_samples(r) ? r->kept_rounds : 0;
    for (int i = 0; i < r->count; i++) {
        struct gt_racer *racer = &r->racer[i];
        if (racer->left)
            continue;
        racer->time.samples = 0;
        racer->first_round = r->kept_rounds;
        racer->left = racer->beaten =
            r->short_rounds > SHORT_MAX && gt_sample_is_short(&sample[i]);
        anyone = anyone || !racer->left;
    }
    r->over = !anyone;
}

static void keep(struct gt_racer *racer, const struct gt_sample *s) {
    struct gt_measurement *m = &racer->time;
    m->launches = s->launches;
    racer->spent_ns += s->ns * s->launches;
    racer->clock_mhz[m->samples] = s->clock_mhz;
    m->sample_ns[m->samples++] = (float)s->ns;
}

static int leader_of(const struct gt_race *r, const struct gt_measurement *now) {
    int best = -1;
    for (int i = 0; i < r->count; i++)
        if (!r->racer[i].beaten && now[i].samples > 0 &&
            (best < 0 || now[i].median_ns < now[best].median_ns))
            best = i;
    return best;
}

/* Whether a racer is proven slower: than the leader, round by round, or than the earlier
 * best. */
static bool is_beaten(const struct gt_race *r, const struct gt_measurement *own,
                      const struct gt_measurement *leader) {
    if (r->rule.all_stay)
        return false;
    return gt_race_proven(own, leader) ||
           (r->rule.rival_ns > 0 &&
            gt_lower_limit(own) * gt_clock_share(own, r->rule.top_mhz) > r->rule.rival_ns);
}

/* Whether more rounds would say nothing new about a racer. */
static bool is_decided(const struct gt_race *r, const struct gt_measurement *own,
                       const struct gt_measurement *leader) {
    struct gt_measurement ratio;
    gt_ratio_of(&ratio, own, leader);
    return is_narrow(own, r->rule.narrow) && is_narrow(&ratio, r->rule.narrow);
}

/* Whether a racer has had its time. One that takes all of it with a few samples gets LEAST
 * of them, or fewer when even these are far too long. */
static bool has_had_its_time(const struct gt_race *r, const struct gt_racer *racer,
                             bool is_near) {
    const double share = r->rule.total_ns;
    const int samples = racer->time.samples, least = is_near ? r->rule.samples_least : 1;
    return racer->spent_ns > share &&
           (samples >= LEAST || (samples >= least && racer->spent_ns > FAR * share));
}

/* Lets racers leave that need no more samples. Nobody stays when all that would stay are
 * decided. The time that some do not use goes to the racers that stay; when it is over,
 * each may still have its own share, however long the others' samples were. */
static void dismiss(struct gt_race *r, const struct gt_measurement *now, int first) {
    const bool none_left = r->spent_ns > r->rule.total_ns * r->count;
    const double reach = near_leader * now[first].median_ns;
    for (int i = 0; i < r->count; i++) {
        struct gt_racer *racer = &r->racer[i];
        const int samples = racer->time.samples;
        racer->left = racer->left || samples >= r->rule.samples_max ||
                      samples >= GT_SAMPLES_MAX ||
                      (none_left && has_had_its_time(r, racer, now[i].median_ns <= reach));
    }
}

static bool is_over(const struct gt_race *r, const struct gt_measurement *now, int first) {
    bool decided = true;
    for (int i = 0; decided && i < r->count; i++)
        decided = r->racer[i].left || is_decided(r, &now[i], &now[first]);
    return decided;
}

static void judge(struct gt_race *r) {
    struct gt_measurement now[GT_RACERS_MAX];
    const int rounds = unsettled_rounds(r);
    for (int i = 0; i < r->count; i++)
        now[i] = without(&r->racer[i], samples_of_first(&r->racer[i], rounds));
    const int first = leader_of(r, now);
    for (int i = 0; i < r->count; i++) {
        struct gt_racer *racer = &r->racer[i];
        racer->beaten =
            racer->beaten || (!racer->left && is_beaten(r, &now[i], &now[first]));
        racer->left = racer->left || racer->beaten;
    }
    dismiss(r, now, first);
    r->over = is_over(r, now, first);
}

static bool any(const struct gt_race *r, const struct gt_sample *sample,
                bool (*is)(const struct gt_sample *s)) {
    for (int i = 0; i < r->count; i++)
        if (!r->racer[i].left && is(&sample[i]))
            return true;
    return false;
}

static bool is_throttled(const struct gt_sample *s) {
    return s->throttled;
}

enum gt_round gt_race_round(struct gt_race *r, const struct gt_sample *sample) {
    for (int i = 0; i < r->count; i++)
        if (!r->racer[i].left && !gt_sample_is_short(&sample[i]))
            r->spent_ns += sample[i].ns * sample[i].launches;
    if (any(r, sample, gt_sample_is_short)) {
        start_again(r, sample);
        return GT_ROUND_TOO_SHORT;
    }
    if (any(r, sample, is_throttled) && r->throttled_rounds < GT_THROTTLED_MAX) {
        r->throttled_rounds++;
        return GT_ROUND_THROTTLED;
    }
    for (int i = 0; i < r->count; i++)
        if (!r->racer[i].left)
            keep(&r->racer[i], &sample[i]);
    r->kept_rounds++;
    judge(r);
    return GT_ROUND_KEPT;
}

void gt_race_finish(struct gt_race *r) {
    const int rounds = unsettled_rounds(r);
    for (int i = 0; i < r->count; i++) {
        struct gt_measurement *m = &r->racer[i].time;
        const int own = samples_of_first(&r->racer[i], rounds);
        /* a racer that left early keeps its samples: it needs some to be judged by */
        *m = without(&r->racer[i], m->samples < own + 2 ? 0 : own);
        m->dropped = r->throttled_rounds;
        m->beaten = r->racer[i].beaten;
    }
}
