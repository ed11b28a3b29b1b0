/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search_clblast.c - the rule of CLBlast's tuner for its GEMM kernel, for comparison: all
 * points of a small subset, the same for every device, then a random part of the rest.
 * CLBlast does not say which part of the subset to try when time is short; here the order
 * is random. A space without CLBlast's parameters has no subset, so all its picks are
 * random.
 */
#include "tuner/search/search.h"

#include <stdlib.h>
#include <string.h>

/* The limits of CLBlast's first stage (src/tuning/kernels/xgemm.hpp, first variation). */
static const struct {
    const char *name;
    int64_t most;
} limits[] = {{"MWG", 64}, {"NWG", 64}, {"VWM", 4}, {"VWN", 4}, {"STRM", 0}, {"STRN", 0}};
static const char *const equal[][2] = {
    {"MDIMA", "MDIMC"}, {"NDIMB", "NDIMC"}, {"SA", "SB"}};

struct clblast {
    struct gt_search *search;
    struct gt_pick *subset; /* in random order */
    size_t count, next;
};

static void clblast_destroy(void *self) {
    struct clblast *c = self;
    if (c)
        free(c->subset);
    free(c);
}

static bool has_subset(const struct gt_space *s) {
    int names = 0;
    for (int i = 0; i < s->params; i++)
        for (int j = 0; j < 2; j++)
            names += strcmp(s->family->param[i].name, equal[j][0]) == 0;
    return names == 2;
}

static bool in_subset(const struct gt_point *p) {
    int64_t a, b;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (gt_point_get(p, limits[i].name, &a) && a > limits[i].most)
            return false;
    for (size_t i = 0; i < sizeof equal / sizeof *equal; i++)
        if (gt_point_get(p, equal[i][0], &a) && gt_point_get(p, equal[i][1], &b) && a != b)
            return false;
    return true;
}

static void collect(struct clblast *c, int space) {
    const struct gt_space *s = &gt_search_setup_of(c->search)->space[space];
    struct gt_point point;
    for (size_t i = 0; has_subset(s) && i < s->count; i++) {
        gt_space_point(s, i, &point);
        if (in_subset(&point))
            c->subset[c->count++] = (struct gt_pick){space, i};
    }
}

static void shuffle(struct clblast *c) {
    for (size_t i = c->count; i > 1; i--) {
        const size_t j = gt_search_below(c->search, i);
        const struct gt_pick p = c->subset[j];
        c->subset[j] = c->subset[i - 1];
        c->subset[i - 1] = p;
    }
}

static gt_status clblast_create(void **self, struct gt_search *search, struct gt_err *err) {
    const struct gt_search_setup *setup = gt_search_setup_of(search);
    size_t total = 0;
    for (int i = 0; i < setup->spaces; i++)
        total += has_subset(&setup->space[i]) ? setup->space[i].count : 0;
    struct clblast *c = calloc(1, sizeof *c);
    *self = c;
    if (c)
        c->subset = malloc((total + 1) * sizeof *c->subset);
    if (!c || !c->subset)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for the search");
    c->search = search;
    for (int i = 0; i < setup->spaces; i++)
        collect(c, i);
    shuffle(c);
    return GEMMTUNE_OK;
}

static enum gt_ask clblast_ask(void *self, struct gt_pick *out) {
    struct clblast *c = self;
    while (c->next < c->count) {
        *out = c->subset[c->next++];
        if (!gt_search_taken(c->search, *out))
            return GT_ASK_PICK;
    }
    return gt_search_any(out, c->search) ? GT_ASK_PICK : GT_ASK_DONE;
}

static void clblast_tell(void *self, const struct gt_pick *pick, gt_outcome outcome,
                         double ns) {
    (void)self;
    (void)pick;
    (void)outcome;
    (void)ns;
}

const struct gt_strategy gt_search_clblast = {
    .name = "clblast",
    .create = clblast_create,
    .destroy = clblast_destroy,
    .ask = clblast_ask,
    .tell = clblast_tell,
};
