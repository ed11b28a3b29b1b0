/* SPDX-License-Identifier: Apache-2.0 */
/* outcome.c - the words of outcomes, and the median of a measurement with its interval. */
#include "core/outcome.h"

#include <math.h>

static const char *const words[] = {
#define X(name, word) [name] = word,
    GT_OUTCOME_LIST(X)
#undef X
};

enum { WORD_COUNT = sizeof words / sizeof *words };

const char *gt_outcome_word(gt_outcome outcome) {
    return (unsigned)outcome < WORD_COUNT ? words[outcome] : "?";
}

/* Insertion sort: at most GT_SAMPLES_MAX values, and no allocation. */
static void sort(float *x, int n) {
    for (int i = 1; i < n; i++) {
        const float value = x[i];
        int at = i;
        for (; at > 0 && x[at - 1] > value; at--)
            x[at] = x[at - 1];
        x[at] = value;
    }
}

/*
 * How many samples to leave out at each end. The number of samples below the true median is
 * binomial (n, 1/2) for every distribution of times. So the interval from the (r+1)-th
 * smallest to the (r+1)-th largest misses the median with probability 2 P(X <= r). r is the
 * largest with P(X <= r) <= 2.5 %. With n < 6 there is no such r, and the result is 0.
 */
static int trim_of(int n) {
    double term = 1; /* P(X = 0) is 2^-n, exact for n <= GT_SAMPLES_MAX */
    for (int i = 0; i < n; i++)
        term /= 2;
    double below = term;
    int r = -1;
    while (below <= 0.025 && r < n) {
        r++;
        term *= (double)(n - r) / (r + 1);
        below += term;
    }
    return r < 0 ? 0 : r;
}

void gt_measurement_summarize(struct gt_measurement *m) {
    float x[GT_SAMPLES_MAX] = {0};
    const int n = m->samples < GT_SAMPLES_MAX ? m->samples : GT_SAMPLES_MAX;
    m->median_ns = m->low_ns = m->high_ns = 0;
    if (n <= 0)
        return;
    memcpy(x, m->sample_ns, (size_t)n * sizeof *x);
    sort(x, n);
    const int trim = trim_of(n);
    m->median_ns = ((double)x[(n - 1) / 2] + (double)x[n / 2]) / 2;
    m->low_ns = x[trim];
    m->high_ns = x[n - 1 - trim];
}

bool gt_measurement_near(const struct gt_measurement *slower,
                         const struct gt_measurement *faster) {
    if (slower->samples >= GT_SAMPLES_ENOUGH)
        return true;
    return slower->samples > 1
               ? slower->low_ns <= faster->high_ns
               : slower->median_ns <= (1 + GT_TIE_MARGIN) * faster->median_ns;
}

double gt_interval_low(const struct gt_measurement *m) {
    return m->samples > 1 ? m->low_ns : (double)NAN;
}

double gt_interval_high(const struct gt_measurement *m) {
    return m->samples > 1 ? m->high_ns : (double)NAN;
}
