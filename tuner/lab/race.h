/* SPDX-License-Identifier: Apache-2.0 */
/*
 * race.h - decides how long kernels are timed, and which are slower. Losers leave after the
 * few launches that prove it. The others go on until their medians are known narrowly or
 * the time is up. Samples go in and a verdict comes out: there is no clock and no device
 * here, so that tests can use scripted times.
 */
#ifndef GT_TUNER_LAB_RACE_H
#define GT_TUNER_LAB_RACE_H

#include "core/outcome.h"

enum {
    GT_RACERS_MAX = 24,
    GT_THROTTLED_MAX = 20 /* throttled rounds that are dropped; later ones count */
};

struct gt_sample {
    double ns; /* time of one launch */
    int launches;
    int clock_mhz; /* 0: unknown */
    bool throttled;
};

struct gt_race_rule {
    double rival_ns; /* upper end of the interval of the earlier best; 0: there is none */
    /* device time for each racer; time that some do not use goes to the others */
    double total_ns;
    /* the device's highest clock, for which rival_ns holds; 0: clocks do not count */
    int top_mhz;
    /* width of an interval, as a part of the median, that is narrow enough */
    double narrow;
    int samples_max; /* at most GT_SAMPLES_MAX */
    /* samples that a racer gets which is about as fast as the leader, however long they
     * take: an interval needs 2 */
    int samples_least;
    bool all_stay; /* no racer leaves for being slow */
};

struct gt_racer {
    struct gt_measurement time; /* sample i is of the kept round `first_round` + i */
    int clock_mhz[GT_SAMPLES_MAX];
    int first_round; /* not 0 when samples were forgotten that a racer at rest has kept */
    double spent_ns; /* in kept rounds */
    /* is no longer timed: it is beaten, the timer cannot see it, or it has had its time */
    bool left;
    bool beaten;
};

struct gt_race {
    struct gt_race_rule rule;
    int count;
    struct gt_racer racer[GT_RACERS_MAX];
    double spent_ns; /* by all racers */
    int kept_rounds, short_rounds, throttled_rounds;
    bool over;
};

/* The result of a round. Only a kept round counts. After GT_ROUND_TOO_SHORT all earlier
 * samples are forgotten: a timer that cannot see one sample did not see the others well. */
enum gt_round { GT_ROUND_KEPT, GT_ROUND_THROTTLED, GT_ROUND_TOO_SHORT };

void gt_race_start(struct gt_race *r, const struct gt_race_rule *rule, int count);
/* sample[i] belongs to racer i. Samples of racers that have left are ignored. */
enum gt_round gt_race_round(struct gt_race *r, const struct gt_sample *sample);
/* Whether the timer measured no time. The next sample of this racer must then be longer. */
bool gt_sample_is_short(const struct gt_sample *s);
/* Drops the samples from before the device had settled, and summarizes. A racer that left
 * before that keeps all its samples. `unsettled` says in which round each begins. */
void gt_race_finish(struct gt_race *r);

/* The lower end of an interval for the median of a summarized measurement: 97.5 % to one
 * side, without a distribution from 6 samples on, else from the range. 0: nothing is known.
 */
double gt_lower_limit(const struct gt_measurement *m);

/* The clock of a kernel that was timed alone, as a part of the device's highest clock. Its
 * time multiplied by that share can be compared with kernels timed at other clocks. It is 1
 * when the clock was not measured, as for kernels with several launches in a sample: a
 * power limit hardly affects them. */
double gt_clock_share(const struct gt_measurement *m, int top_mhz);

/* By what part two measurements of one kernel may differ; see GT_TIE_MARGIN, too. */

/* In two processes under the same load: no more than this in 186 of 189 cases. */
#define GT_PROCESS_DRIFT 0.015
/* The same when the load lowers the clock. */
#define GT_PROCESS_DRIFT_SLOWED 0.05
/* In two screenings, which are made at different times. */
#define GT_SCREEN_MARGIN 0.02
/* The same when a time was corrected for a lowered clock (gt_clock_share). */
#define GT_SCREEN_MARGIN_SLOWED 0.05

/* Widens the interval of a summarized measurement until it covers the times to be expected
 * in another process under the same load. top_mhz is the device's highest clock. */
void gt_race_widen(struct gt_measurement *m, int top_mhz);
/* Whether `slower` is shown, round by round, to be more than GT_TIE_MARGIN slower than
 * `faster`. Less than two common rounds show nothing. Both must be summarized and of one
 * race. */
bool gt_race_proven(const struct gt_measurement *slower,
                    const struct gt_measurement *faster);
/* Whether the two are as fast: `slower` is not proven slower. Too few common rounds for an
 * interval prove little, so in one of them it must have been as fast, too. */
bool gt_race_tied(const struct gt_measurement *slower, const struct gt_measurement *faster);
/* The index of the measurement that no other is proven faster than. Among the kernels that
 * stayed to the end it is the least median, unless one that was measured alone is proven
 * faster. A beaten one wins only when all are beaten. */
int gt_race_winner(const struct gt_measurement *const time[], int n);

#endif
