/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_time.c - see cpu_time.h. */
#include "tuner/lab/cpu_time.h"

#include "core/clock.h"
#include "tuner/base/quantile.h"
#include "tuner/lab/data.h"
#include "tuner/lab/lab_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS_MAX = 2048 }; /* in a sample */

/* A library's threads sleep between samples. To wake them takes some 50 us, which a longer
 * call hides. */
static const double long_call_ns = 2e7;

struct gt_cpu_watch {
    gemmtune_problem problem;
    gt_cpu_product product;
    double beta;
    int sets, next;    /* how many; the set of the next call */
    int64_t stride[3]; /* bytes from one set's operand to the next set's */
    char *operand[3];
    double one_ns; /* time of the last call before the first sample */
    int calls;     /* in a sample */
};

/* ---- matrices ---- */

/* Random data, the same in every set. They are written, since the first write to a page is
 * the system's work and not the product's. */
static gt_status make_operand(struct gt_cpu_watch *w, int o, struct gt_err *err) {
    const size_t bytes = (size_t)w->stride[o];
    const struct gt_stack stored = gt_stack_of(&w->problem, o);
    char *at = w->operand[o] = malloc(bytes * (size_t)w->sets);
    if (at == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no host memory for the product on the CPU");
    memset(at, 0, bytes);
    gt_data_fill(at, &stored, (uint64_t)o + 1, GT_DATA_UNIFORM);
    for (int i = 1; i < w->sets; i++)
        memcpy(at + bytes * (size_t)i, at, bytes);
    return GEMMTUNE_OK;
}

static gt_status make_matrices(struct gt_cpu_watch *w, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    w->sets = gt_set_count(&w->problem, GT_CACHE_USUAL);
    gt_set_strides(w->stride, &w->problem);
    for (int o = 0; status == GEMMTUNE_OK && o < 3; o++)
        status = make_operand(w, o, err);
    return status;
}

/* ---- calls ---- */

static void call_next(struct gt_cpu_watch *w) {
    char *at[3];
    for (int o = 0; o < 3; o++)
        at[o] = w->operand[o] + w->stride[o] * w->next;
    w->product(&w->problem, at[0], at[1], w->beta, at[2]);
    w->next = (w->next + 1) % w->sets;
}

/* The time of one of so many calls in a row. */
static double time_calls(struct gt_cpu_watch *w, int calls) {
    const double start = gt_seconds();
    for (int i = 0; i < calls; i++)
        call_next(w);
    return (gt_seconds() - start) * 1e9 / calls;
}

double gt_cpu_watch_sample(struct gt_cpu_watch *w) {
    if (w->one_ns < long_call_ns)
        call_next(w);
    return time_calls(w, w->calls);
}

int gt_cpu_watch_calls(const struct gt_cpu_watch *w) {
    return w->calls;
}

/* The first call starts threads. A long one is not repeated to find the time
 * of the second. */
static void plan_sample(struct gt_cpu_watch *w, double sample_ns) {
    w->one_ns = time_calls(w, 1);
    if (w->one_ns < long_call_ns)
        w->one_ns = time_calls(w, 1);
    w->calls = 1;
    while (w->calls < CALLS_MAX && w->calls * 1.4 * w->one_ns < sample_ns)
        w->calls *= 2;
}

/* ---- the watch ---- */

gt_status gt_cpu_watch_create(struct gt_cpu_watch **out, char what[GT_CPU_ABOUT_MAX],
                              enum gt_cpu which, const gemmtune_problem *p,
                              double sample_ns, struct gt_err *err) {
    char about[GT_CPU_ABOUT_MAX];
    struct gt_cpu_watch *w = calloc(1, sizeof *w);
    *out = NULL;
    if (w == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory to time a product on the CPU");
    w->problem = *p;
    w->beta = gt_timed_beta(p);
    gt_status status = gt_cpu_find(&w->product, about, which, p, err);
    if (status == GEMMTUNE_OK)
        status = make_matrices(w, err);
    if (status != GEMMTUNE_OK) {
        gt_cpu_watch_destroy(w);
        return status;
    }
    snprintf(what, GT_CPU_ABOUT_MAX, "%.*s, %s",
             GT_CPU_ABOUT_MAX - (int)sizeof GT_CPU_CONDITION - 2, about, GT_CPU_CONDITION);
    plan_sample(w, sample_ns);
    *out = w;
    return GEMMTUNE_OK;
}

void gt_cpu_watch_destroy(struct gt_cpu_watch *w) {
    if (w == NULL)
        return;
    for (int o = 0; o < 3; o++)
        free(w->operand[o]);
    free(w);
}

gt_status gt_cpu_time(double *ns, char what[GT_CPU_ABOUT_MAX], enum gt_cpu which,
                      const gemmtune_problem *p, struct gt_err *err) {
    enum { SAMPLES = 32 };
    const double sample_ns = 1e6, enough_ns = 1e9;
    double sample[SAMPLES], spent = 0;
    struct gt_cpu_watch *w = NULL;
    int count = 0;
    const gt_status status = gt_cpu_watch_create(&w, what, which, p, sample_ns, err);
    if (status != GEMMTUNE_OK)
        return status;
    if (w->one_ns >= enough_ns) /* the first call is the only one */
        spent = sample[count++] = w->one_ns;
    while (count < SAMPLES && spent < enough_ns) {
        sample[count] = gt_cpu_watch_sample(w);
        spent += sample[count++] * w->calls;
    }
    *ns = gt_median(sample, (size_t)count);
    gt_cpu_watch_destroy(w);
    return GEMMTUNE_OK;
}
