/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outcome.h - how a candidate ended, and how long it took. An outcome is a stored word from
 * a closed list, never an error.
 */
#ifndef GT_CORE_OUTCOME_H
#define GT_CORE_OUTCOME_H

#include "core/status.h"

#include <stdbool.h>

#define GT_OUTCOME_LIST(X)                                                                 \
    X(GT_CORRECT, "correct")         /* verified and measured */                           \
    X(GT_CONSTRAINTS, "constraints") /* a rule or limit refuses it */                      \
    X(GT_COMPILE, "compile")         /* the compiler refused it */                         \
    X(GT_LAUNCH, "launch")           /* the driver refused it */                           \
    X(GT_WRONG_RESULT, "wrong_result")                                                     \
    X(GT_TIMEOUT, "timeout")                                                               \
    X(GT_CRASHED, "crashed") /* the worker died or the context was lost */                 \
    X(GT_OUT_OF_MEMORY, "out_of_memory")                                                   \
    X(GT_IMPLAUSIBLE, "implausible") /* faster than the device can be */

typedef enum gt_outcome {
#define X(name, word) name,
    GT_OUTCOME_LIST(X)
#undef X
} gt_outcome;

enum {
#define X(name, word) GT_COUNT_##name,
    GT_OUTCOME_LIST(X)
#undef X
        GT_OUTCOMES /* the number of outcomes */
};

const char *gt_outcome_word(gt_outcome outcome);

/* How our kernel did beside a library, both timed in turns: a stored word, too. The rule is
 * gt_verdict_of (tuner/bench/). */
#define GT_VERDICT_LIST(X)                                                                 \
    X(GT_NO_VERDICT, "") /* never stored */                                                \
    X(GT_WIN, "win")     /* ours is faster */                                              \
    X(GT_TIE, "tie")                                                                       \
    X(GT_LOSS, "loss")                                                                     \
    X(GT_NOISY, "noisy") /* the ratio is too uncertain to be any of these */

enum gt_verdict {
#define X(name, word) name,
    GT_VERDICT_LIST(X)
#undef X
};

enum {
    GT_SAMPLES_MAX = 64,
    GT_SAMPLES_ENOUGH = 6 /* from so many on, an interval needs no distribution */
};

/* Two measurements of one kernel in two processes differ by no more than this part in 19 of
 * 20 cases. Kernels this close tie, because another process may order them the other way.
 */
#define GT_TIE_MARGIN 0.01

/* Times are nanoseconds for one launch. */
struct gt_measurement {
    double median_ns, low_ns, high_ns; /* median and a 95 % interval for it */
    int samples;                       /* entries of sample_ns */
    int launches;                      /* launches averaged in one sample */
    int dropped; /* samples left out because the clock was throttled */
    /* rounds of its race before its first sample: left out before the device settled, or
     * missed; not stored. Samples of two racers are paired by it */
    int unsettled;
    int clock_mhz; /* mean clock during the samples; 0 unknown */
    bool beaten;   /* left its race because it was proven slower; not stored */
    float sample_ns[GT_SAMPLES_MAX];
};

/* Fills median and interval from sample_ns. The interval comes from order statistics of the
 * binomial distribution, so it assumes no distribution of times. With fewer than 6 samples
 * it is the whole range. */
void gt_measurement_summarize(struct gt_measurement *m);
/* Whether a time may be as good as a better one that was measured beside it. With enough
 * samples nothing speaks against it. With fewer the intervals must meet, and a single
 * sample must be within GT_TIE_MARGIN. */
bool gt_measurement_near(const struct gt_measurement *slower,
                         const struct gt_measurement *faster);
/* The ends of the interval; NAN after a single sample, which has none. */
double gt_interval_low(const struct gt_measurement *m);
double gt_interval_high(const struct gt_measurement *m);

#endif
