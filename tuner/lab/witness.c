/* SPDX-License-Identifier: Apache-2.0 */
/* witness.c - see witness.h. The device computes the sums (kernels/witness.cl), the host
 * compares: there are few. */
#define _DEFAULT_SOURCE /* for getrandom's declaration */
#include "tuner/lab/witness.h"

#include "core/clock.h"
#include "core/mix.h"
#include "tuner/lab/check_internal.h"
#include "tuner/lab/lab_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum {
    PLACES_MOST = 256,
    PLACES_LEAST = 32,
    MACS = 1 << 18,    /* multiply-adds of a look, about */
    STAINS_MOST = 4096 /* words of the workspace */
};

struct gt_witness {
    struct gt_lab *lab;
    struct gt_ring ring;
    struct gt_places at;
    uint64_t words[GT_WITNESS_WORDS * PLACES_MOST];
    char sums[2 * 8 * PLACES_MOST];
};

uint64_t gt_witness_chance(void) {
    uint64_t x = 0;
    if (getrandom(&x, sizeof x, GRND_NONBLOCK) != (ssize_t)sizeof x)
        x = gt_mix((uint64_t)(gt_seconds() * 1e9));
    return x;
}

gt_status gt_witness_create(struct gt_witness **out, struct gt_lab *lab,
                            struct gt_err *err) {
    const struct gt_rig_ops *ops = gt_rig_head(lab->rig)->ops;
    *out = NULL;
    if (gt_case_elements(&lab->problem) == 0)
        return GEMMTUNE_OK;
    struct gt_witness *w = calloc(1, sizeof *w);
    if (!w)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory to look at timed products");
    w->lab = lab;
    w->ring = gt_sets_ring(lab);
    gt_status status = ops->alloc(&w->at.words, lab->rig, sizeof w->words, err);
    if (status == GEMMTUNE_OK)
        status = ops->alloc(&w->at.sums, lab->rig, sizeof w->sums, err);
    if (status != GEMMTUNE_OK) {
        gt_witness_destroy(w);
        return status;
    }
    *out = w;
    return GEMMTUNE_OK;
}

void gt_witness_destroy(struct gt_witness *w) {
    if (!w)
        return;
    gt_checker_release(w->lab->checker, w->at.words);
    gt_checker_release(w->lab->checker, w->at.sums);
    free(w);
}

/* Two elements of C at least for each place, so that they can change places. */
static int places_for(const gemmtune_problem *p, int sets) {
    const int64_t half = sets * gt_case_elements(p) / 2, depth = p->k > 0 ? p->k : 1;
    int64_t places = MACS / depth;
    places = places > PLACES_MOST ? PLACES_MOST : places;
    places = places < PLACES_LEAST ? PLACES_LEAST : places;
    return (int)(places < half ? places : half > 0 ? half : 1);
}

static bool has_d2(const struct gt_witness *w) {
    const struct gt_fused *fused = w->lab->timed[1]->fused;
    return fused != NULL && fused->d2 != NULL;
}

/* A few of the sets, none of them twice: they are a power of two, and the step is odd. The
 * last one is the set of the last launch where there is a second output, which all launches
 * write to. */
static void choose_sets(struct gt_witness *w, int first, int sets) {
    const uint64_t chance = gt_witness_chance();
    const int step = (int)(chance >> 20 & 0xfffff) | 1;
    w->at.sets = sets < GT_WITNESS_SETS ? sets : GT_WITNESS_SETS;
    const int from =
        has_d2(w) ? sets - 1 + (sets - w->at.sets + 1) * step : (int)(chance >> 40);
    for (int i = 0; i < w->at.sets; i++)
        w->at.set[i] = (first + (from + i * step) % sets) % w->lab->sets.count;
}

gt_status gt_witness_spoil(struct gt_witness *w, int first, int sets,
                           int64_t workspace_bytes, struct gt_err *err) {
    struct gt_lab *lab = w->lab;
    const int64_t words = workspace_bytes / 4;
    w->at.seed = gt_witness_chance();
    choose_sets(w, first, sets);
    w->at.count = places_for(&lab->problem, w->at.sets);
    gt_status status = gt_checker_spoil(lab->timed[1], &w->ring, &w->at, err);
    if (status == GEMMTUNE_OK)
        status = gt_fused_spoil(lab->timed[1], err);
    if (status == GEMMTUNE_OK && words > 0)
        status = gt_checker_stain(lab->checker, words, gt_witness_chance(),
                                  words < STAINS_MOST ? (int)words : STAINS_MOST, err);
    return status;
}

/* ---- comparing ---- */

/* One place: element (i, j) of matrix z of a set's C. */
struct seen {
    int set;
    int64_t z, i, j;
    double old, got; /* C before the product and after it */
    double sum, size;
    bool moved;   /* C has other bits than before the product */
    bool changed; /* A or B has other numbers than it was given */
};

static struct seen seen_at(const struct gt_witness *w, int t) {
    const struct gt_lab *lab = w->lab;
    const gemmtune_problem *p = &lab->problem;
    const gemmtune_dtype wide = lab->checker->wide;
    const uint64_t *word = &w->words[GT_WITNESS_WORDS * t];
    const char *sum = w->sums + 2 * (size_t)t * gt_type_size(wide);
    const int64_t e = (int64_t)word[0], one = p->m * p->n;
    return (struct seen){.set = w->at.set[e / gt_case_elements(p)],
                         .z = e / one % gt_problem_outputs(p),
                         .i = e / p->n % p->m,
                         .j = e % p->n,
                         .old = gt_element_get(&word[1], p->type_c),
                         .got = gt_element_get(&word[2], p->type_c),
                         .sum = gt_element_get(sum, wide),
                         .size = gt_element_get(sum + gt_type_size(wide), wide),
                         .moved = word[1] != word[2],
                         .changed = word[3] != 0};
}

/* The product or the group that the element belongs to. */
static int64_t product_of(const struct gt_lab *lab, const struct seen *x) {
    return gt_problem_outputs(&lab->problem) > 1
               ? x->z
               : gt_rows_group(&lab->sets.rows, &lab->problem, x->i);
}

/* Rows that no product computes stay as they are. */
static bool is_left_out(const struct gt_lab *lab, const struct seen *x) {
    return lab->sets.rows.used != NULL && x->i >= lab->sets.rows.used[x->z];
}

/* The scalars that a product was asked for. */
struct scale {
    double alpha, beta;
};

/* alpha sum + beta old, of integers modulo 2^32. */
static double result_of(const struct gt_witness *w, const struct seen *x,
                        const struct scale *by) {
    const double old = by->beta != 0 ? by->beta * x->old : 0;
    return gt_type_is_float(w->lab->checker->wide)
               ? by->alpha * x->sum + old
               : (int32_t)((uint32_t)(int32_t)by->alpha * (uint32_t)(int32_t)x->sum +
                           (uint32_t)(int32_t)old);
}

static struct gt_fused_element fused_element(const struct gt_witness *w,
                                             const struct seen *x, const struct scale *by) {
    return (struct gt_fused_element){.product = product_of(w->lab, x),
                                     .row = x->z * w->lab->problem.m + x->i,
                                     .column = x->j,
                                     .sum = x->sum,
                                     .size = x->size,
                                     .old = x->old,
                                     .alpha = by->alpha,
                                     .beta = by->beta};
}

static bool is_right(const struct gt_witness *w, const struct seen *x,
                     const struct scale *by) {
    const struct gt_case *t = w->lab->timed[1];
    if (x->changed || is_left_out(w->lab, x))
        return !x->changed && !x->moved;
    const struct gt_fused_element element = fused_element(w, x, by);
    if (t->fused != NULL)
        return gt_fused_allows(t, 0, &element, x->got);
    const double old = by->beta != 0 ? fabs(by->beta * x->old) : 0;
    return gt_case_is_right(t, x->got, result_of(w, x, by), x->size + old);
}

static void describe(char *why, const struct gt_witness *w, const struct seen *x,
                     int wrong) {
    snprintf(
        why, GT_VERDICT_MAX,
        "%.200s under the clock: %d of %d elements wrong; (%lld, %lld) of product %lld "
        "of set %d is %.9g, and was %.9g; its sum is %.9g%s",
        w->lab->name, wrong, w->at.count, (long long)x->i, (long long)x->j, (long long)x->z,
        x->set, x->got, x->old, x->sum, x->changed ? "; its inputs were changed" : "");
}

static void compare(bool *right, char *why, const struct gt_witness *w,
                    const struct scale *by) {
    struct seen first = {0};
    int wrong = 0;
    for (int t = 0; t < w->at.count; t++) {
        const struct seen x = seen_at(w, t);
        if (!is_right(w, &x, by) && wrong++ == 0)
            first = x;
    }
    if (wrong == 0)
        return;
    *right = false;
    describe(why, w, &first, wrong);
}

/* Compares a few elements of the second output, which the last launch has made. */
static gt_status compare_second(bool *right, char *why, const struct gt_witness *w,
                                const struct scale *by, struct gt_err *err) {
    enum { FEW = 16 };
    const struct gt_case *t = w->lab->timed[1];
    const int each = w->at.count / w->at.sets, few = each < FEW ? each : FEW;
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; status == GEMMTUNE_OK && i < few; i++) {
        const struct seen x = seen_at(w, w->at.count - 1 - i);
        const struct gt_fused_element element = fused_element(w, &x, by);
        double got = 0;
        if (x.set != w->at.set[w->at.sets - 1] || is_left_out(w->lab, &x))
            continue;
        status = gt_fused_second(&got, t, x.z, x.i, x.j, err);
        if (status != GEMMTUNE_OK || gt_fused_allows(t, 1, &element, got))
            continue;
        *right = false;
        snprintf(
            why, GT_VERDICT_MAX,
            "%.200s under the clock: d2 (%lld, %lld) of product %lld of set %d is %.9g; "
            "its sum is %.9g",
            w->lab->name, (long long)x.i, (long long)x.j, (long long)x.z, x.set, got,
            x.sum);
    }
    return status;
}

gt_status gt_witness_look(bool *right, char *why, struct gt_witness *w, double alpha,
                          double beta, struct gt_err *err) {
    struct gt_lab *lab = w->lab;
    const struct gt_rig_ops *ops = gt_rig_head(lab->rig)->ops;
    const struct scale by = {alpha, beta};
    const int64_t places = w->at.count;
    gt_status status = gt_checker_witness(lab->timed[1], &w->ring, &w->at, err);
    if (status == GEMMTUNE_OK)
        status = ops->read(lab->rig, w->at.words, 0, w->words,
                           places * GT_WITNESS_WORDS * (int64_t)sizeof *w->words, err);
    if (status == GEMMTUNE_OK)
        status = ops->read(lab->rig, w->at.sums, 0, w->sums,
                           places * 2 * (int64_t)gt_type_size(lab->checker->wide), err);
    if (status != GEMMTUNE_OK)
        return status;
    compare(right, why, w, &by);
    return *right && has_d2(w) ? compare_second(right, why, w, &by, err) : GEMMTUNE_OK;
}
