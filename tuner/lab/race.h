/* SPDX-License-Identifier: Apache-2.0 */
/*
 * race.h - how long to go on timing kernels, and what their samples say: losers leave after
 * the few launches that prove it, the others go on until their medians are known narrowly
 * or the time is up. Samples in, verdict out: knows no clock and no device, so it is tested
 * with scripted times.
 */
#ifndef GT_TUNER_LAB_RACE_H
#define GT_TUNER_LAB_RACE_H

#include "core/outcome.h"

enum { GT_RACERS_MAX = 24 };

struct gt_sample {
    double ns; /* of one launch */
    int launches;
    int clock_mhz; /* 0: unknown */
    bool throttled;
};

struct gt_race_rule {
    double rival_ns; /* upper end of what was measured before; 0: nothing was */
    double total_ns; /* device time a racer; what the others do not use is for those that
                        stay */
    int top_mhz;     /* the device's highest clock, at which the rival was; 0: never mind */
    double narrow;   /* interval over median from which on samples say little more */
    int samples_max; /* at most GT_SAMPLES_MAX */
    bool all_stay;   /* nobody leaves for being slow */
};

struct gt_racer {
    struct gt_measurement time; /* sample i of all racers is of the same round */
    int clock_mhz[GT_SAMPLES_MAX];
    bool left;
};

struct gt_race {
    struct gt_race_rule rule;
    int count;
    struct gt_racer racer[GT_RACERS_MAX];
    double spent_ns; /* of all */
    int short_rounds, throttled_rounds;
    bool over;
};

/* What became of a round. Only the first kind counts; the racers' earlier samples are
 * forgotten with the last, since a timer that cannot see one sample did not see the others
 * well. */
enum gt_round { GT_ROUND_KEPT, GT_ROUND_THROTTLED, GT_ROUND_TOO_SHORT };

void gt_race_start(struct gt_race *r, const struct gt_race_rule *rule, int count);
/* sample[i] is racer i's; those of racers that left are not looked at. */
enum gt_round gt_race_round(struct gt_race *r, const struct gt_sample *sample);
/* Not a time: no timer that works says so. The next sample of this racer must be longer. */
bool gt_sample_is_short(const struct gt_sample *s);
/* Drops what was measured before the device had settled and summarizes. Who left too early
 * to have samples after that keeps all: they are of other rounds than those of who stayed.
 */
void gt_race_finish(struct gt_race *r);

/* The lower end of an interval for the median of a summarized measurement: 97.5 % to one
 * side, distribution-free from 6 samples on, by the range of fewer. 0: nothing is known. */
double gt_lower_limit(const struct gt_measurement *m);

/* What part of the device's highest clock a kernel that was timed alone had: its time by
 * that is what others, timed before or after it at other clocks, are compared with. 1 when
 * nobody looked, which is so of kernels that are launched more than once a sample: a power
 * limit hardly comes to matter to them. */
double gt_clock_share(const struct gt_measurement *m, int top_mhz);

/* What two measurements of one kernel may differ by: nineteen times of twenty as far as
 * another process decides it, so that kernels as close may come out the other way there;
 * nearly always (186 of 189), in another process under the same load; there if the load
 * brings the clock down; at different times; and then if the clock gave way and was
 * reckoned with. */
#define GT_SAME                 0.01
#define GT_OTHER_PROCESS        0.015
#define GT_OTHER_PROCESS_SLOWED 0.05
#define GT_SCREEN_DOUBT         0.02
#define GT_SCREEN_DOUBT_SLOWED  0.05
/* Widens the interval of a summarized measurement to where the time is to be expected in
 * another process under the same load, on a device whose clock is top_mhz at most. */
void gt_race_widen(struct gt_measurement *m, int top_mhz);
/* Whether the first, round by round, is no more than GT_SAME slower than the second as far
 * as is known. Both summarized, of one race. */
bool gt_race_tied(const struct gt_measurement *slower, const struct gt_measurement *faster);
/* The one that none is faster than: of those that stayed to the end the least median,
 * unless another, that was measured alone, is proven faster. Nobody beaten, unless all are.
 */
int gt_race_winner(const struct gt_measurement *const time[], int n);

#endif
