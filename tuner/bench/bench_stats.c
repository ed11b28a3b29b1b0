/* SPDX-License-Identifier: Apache-2.0 */
/* bench_stats.c - see bench_stats.h. */
#include "tuner/bench/bench_stats.h"

#include <math.h>
#include <string.h>

/* ---- classes of shapes ---- */

static int64_t most(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static bool is_small(const gemmtune_problem *p) {
    return most(most(p->m, p->n), p->k) <= 512;
}

static bool is_deep(const gemmtune_problem *p) {
    return p->k / 8 >= most(p->m, p->n);
}

static bool is_skinny(const gemmtune_problem *p) {
    return least(p->m, p->n) <= 64;
}

static bool is_flat(const gemmtune_problem *p) {
    return p->k <= 64;
}

static bool is_odd(const gemmtune_problem *p) {
    return p->m % 4 != 0 || p->n % 4 != 0 || p->k % 4 != 0;
}

static bool is_square(const gemmtune_problem *p) {
    return p->m == p->n && p->n == p->k;
}

static bool is_any(const gemmtune_problem *p) {
    (void)p;
    return true;
}

/* The first class that fits is taken, so narrower classes come first. */
static const struct {
    const char *name, *about;
    bool (*fits)(const gemmtune_problem *p);
} classes[GT_SHAPE_CLASSES] = {
    {"small", "m, n and k at most 512", is_small},
    {"deep", "k at least 8 times m and n", is_deep},
    {"skinny", "m or n at most 64", is_skinny},
    {"flat", "k at most 64", is_flat},
    {"odd", "a dimension that is not a multiple of 4", is_odd},
    {"square", "m = n = k", is_square},
    {"wide", "everything else", is_any},
};

size_t gt_shape_class_index(const gemmtune_problem *p) {
    size_t i = 0;
    while (!classes[i].fits(p))
        i++;
    return i;
}

const char *gt_shape_class(const gemmtune_problem *p) {
    return classes[gt_shape_class_index(p)].name;
}

const char *gt_shape_class_at(size_t i, const char **about) {
    if (i >= GT_SHAPE_CLASSES)
        return NULL;
    *about = classes[i].about;
    return classes[i].name;
}

/* ---- verdicts ---- */

const char *gt_verdict_word(enum gt_verdict v) {
    static const char *const words[] = {
#define X(name, word) [name] = word,
        GT_VERDICT_LIST(X)
#undef X
    };
    return words[v];
}

enum gt_verdict gt_verdict_of(const struct gt_measurement *ratio, double floor) {
    if (ratio->high_ns > GT_RATIO_SPAN_MAX * ratio->low_ns)
        return GT_NOISY;
    if (ratio->low_ns > 1 + floor)
        return GT_WIN;
    return ratio->high_ns < 1 - floor ? GT_LOSS : GT_TIE;
}

/* ---- tallies ---- */

void gt_tally_add(struct gt_tally *t, enum gt_verdict v, double ratio) {
    t->wins += v == GT_WIN;
    t->ties += v == GT_TIE;
    t->losses += v == GT_LOSS;
    t->noisy += v == GT_NOISY;
    t->logs += v == GT_NO_VERDICT || v == GT_NOISY ? 0 : log(ratio);
}

int gt_tally_count(const struct gt_tally *t) {
    return t->wins + t->ties + t->losses;
}

double gt_tally_geomean(const struct gt_tally *t) {
    const int count = gt_tally_count(t);
    return count > 0 ? exp(t->logs / count) : 0;
}

/* ---- the roofline ---- */

double gt_roofline_ns(const gemmtune_problem *p, const struct gt_device *d) {
    const double peak = gt_device_peak(d, gt_dtype_of(p));
    const double bandwidth = gt_device_bandwidth(d);
    if (peak <= 0 || bandwidth <= 0)
        return 0;
    return 1e9 * fmax(gt_problem_flops(p) / peak, gt_problem_least_bytes(p) / bandwidth);
}
