/* SPDX-License-Identifier: Apache-2.0 */
/* draw.c - see draw.h. */
#include "tuner/tune/draw.h"

#include "tuner/search/search.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { SIDES = 3 }; /* m, n, k */

/* The ranges of log2 of the sides. */
static const struct kind {
    struct {
        double low, high;
    } log2_of[SIDES];
} kinds[] = {
    {{{0, 12}, {0, 12}, {0, 13}}},    /* any */
    {{{0, 6}, {8, 14}, {8, 13}}},     /* thin: few rows */
    {{{3, 9}, {3, 9}, {12, 16}}},     /* deep */
    {{{3, 9.3}, {3, 9.3}, {3, 9.3}}}, /* small */
    {{{8, 14}, {0, 6}, {8, 13}}},     /* thin: few columns */
    {{{8, 13}, {8, 13}, {1, 6}}},     /* flat */
    {{{9, 13}, {9, 13}, {9, 13}}},    /* large */
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* How the sides of a problem are rounded. */
static const enum grain {
    AS_IS = 1,
    ODD = 2,
    OF_8 = 8,
    OF_64 = 64
} grains[] = {AS_IS, ODD, OF_8, OF_64};
enum { GRAINS = sizeof grains / sizeof *grains };

/* Sides shorter than the grain keep their length. */
static int64_t rounded(double side, enum grain grain) {
    const int64_t whole = (int64_t)fmax(1, floor(side));
    if (grain == ODD)
        return whole - (whole % 2 == 0);
    return whole < grain ? whole : whole / grain * grain;
}

/* Halves the longest side until a product is small enough. */
static void shrink(double side[SIDES], const struct gt_draw *how, double products) {
    while (side[0] * side[1] * side[2] * products > how->volume ||
           (how->elements > 0 &&
            (side[0] * side[2] + side[2] * side[1] + side[0] * side[1]) * products >
                fmax(how->elements, 3 * products))) {
        int longest = 0;
        for (int i = 1; i < SIDES; i++)
            if (side[i] > side[longest])
                longest = i;
        side[longest] /= 2;
    }
}

/* The number of products of a problem: 1 for every other problem, else log-uniform. A
 * product has one multiplication at least. */
static int64_t draw_products(const struct gt_draw *how, uint64_t *state) {
    const double most = fmin(how->batch, how->volume);
    const bool single = gt_random(state) % 2 == 0;
    const double share = gt_random_uniform(state);
    return most < 2 || single ? 1 : (int64_t)exp2(1 + share * log2(most / 2));
}

static void draw_name(char name[GT_PROBLEM_NAME_MAX], const struct gt_draw *how,
                      const struct kind *kind, uint64_t state) {
    const char *types = how->types->text[gt_random(&state) % (uint64_t)how->types->count];
    const char *layout = gt_layout_words[gt_random(&state) % GT_LAYOUTS];
    const enum grain grain = grains[gt_random(&state) % GRAINS];
    double side[SIDES];
    int64_t whole[SIDES];
    for (int i = 0; i < SIDES; i++)
        side[i] =
            exp2(kind->log2_of[i].low + gt_random_uniform(&state) *
                                            (kind->log2_of[i].high - kind->log2_of[i].low));
    const int64_t products = draw_products(how, &state);
    shrink(side, how, (double)products);
    for (int i = 0; i < SIDES; i++)
        whole[i] = rounded(side[i], grain);
    const int end =
        snprintf(name, GT_PROBLEM_NAME_MAX, "%s-%s-%" PRId64 "x%" PRId64 "x%" PRId64, types,
                 layout, whole[0], whole[1], whole[2]);
    if (products > 1)
        (void)snprintf(name + end, GT_PROBLEM_NAME_MAX - (size_t)end, ",batch=%" PRId64,
                       products);
}

/* Each problem has a state of its own, so no draw depends on how many numbers another one
 * took. A problem that was drawn before is drawn anew, within reason. */
gt_status gt_draw_problems(struct gt_sweep *out, const struct gt_draw *how,
                           struct gt_err *err) {
    const size_t draws = 16 * how->count + 64;
    uint64_t state = how->seed;
    gt_status status = GEMMTUNE_OK;
    for (size_t i = 0; i < draws && out->count < how->count && status == GEMMTUNE_OK; i++) {
        char name[GT_PROBLEM_NAME_MAX];
        draw_name(name, how, &kinds[i % KINDS], gt_random(&state));
        status = gt_sweep_add(out, name, err);
    }
    if (status == GEMMTUNE_OK && out->count < how->count)
        status = gt_fail(err, GEMMTUNE_EINVAL,
                         "%zu draws gave only %zu different problems of at most %.0f "
                         "multiplications",
                         draws, out->count, how->volume);
    return status;
}
