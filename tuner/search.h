/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search.h - which point to try next. A strategy is asked for picks and told what became of
 * them; it knows no device and no clock, so it can be replayed. One file a strategy, one line in
 * search.c. The same setup gives the same picks as long as it is told the same.
 */
#ifndef GT_TUNER_SEARCH_H
#define GT_TUNER_SEARCH_H

#include "core/outcome.h"
#include "tuner/space.h"

/* One candidate: a point of one of the spaces. */
struct gt_pick {
    int space;
    size_t index;
};

struct gt_search_setup {
    const struct gt_space *space; /* borrowed for the strategy's life */
    int spaces;
    const struct gt_pick *seed_pick; /* tried first: defaults, winners of neighbours */
    int seed_picks;
    size_t budget; /* picks at most; SIZE_MAX: all of them */
    uint64_t seed;
};

enum gt_ask {
    GT_ASK_PICK, /* *out is the next one to try; never one given before */
    GT_ASK_WAIT, /* nothing until everything given so far has been told */
    GT_ASK_DONE,
};

struct gt_strategy {
    const char *name;
    const char *about;
    gt_status (*create)(void **self, const struct gt_search_setup *setup,
                        struct gt_err *err);
    void (*destroy)(void *self);
    enum gt_ask (*ask)(void *self, struct gt_pick *out);
    /* In the order of asking. median_ns counts only with GT_CORRECT. */
    void (*tell)(void *self, const struct gt_pick *pick, gt_outcome outcome,
                 double median_ns);
};

extern const struct gt_strategy gt_search_full, gt_search_local;
extern const struct gt_strategy *const gt_strategies[]; /* NULL-ended; the default first */
const struct gt_strategy *gt_strategy_find(const char *name);

/* A seeded generator for strategies: splitmix64. */
uint64_t gt_random(uint64_t *state);

#endif
