/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search.h - which point to try next. A strategy is asked for picks and told what became of
 * them; it knows no device and no clock, so it can be replayed. One file a strategy, one
 * line in strategies.c. What every search needs stands around it, in struct gt_search:
 * seeds first, no pick twice, when to stop, and the same picks for the same answers however
 * the timing falls.
 */
#ifndef GT_TUNER_SEARCH_SEARCH_H
#define GT_TUNER_SEARCH_SEARCH_H

#include "core/outcome.h"
#include "tuner/search/space.h"

/* One candidate: a point of one of the spaces. */
struct gt_pick {
    int space;
    size_t index;
};

/* A pick with the key that an array of the best is sorted by: see gt_best_place. */
struct gt_keyed_pick {
    double key;
    struct gt_pick pick;
};

struct gt_search_setup {
    const struct gt_space *space; /* borrowed for the search's life */
    int spaces;
    const struct gt_pick *start; /* tried first, those given twice once; borrowed */
    int starts;
    size_t budget; /* picks at most; SIZE_MAX: all of them */
    /* Picks that may be outstanding, that just asked for included; 0 counts as 1. Pick i
     * depends on what was told of picks 0 .. i - ahead, and on nothing else. Seeds depend
     * on nothing: of them `starts_ahead` may be outstanding, if that is more. */
    int ahead, starts_ahead;
    double target_ns; /* ends once a told pick was as fast; 0: never */
    uint64_t seed;
    /* What a pick is thought to take, in ns, <= 0 when unknown; NULL: nobody knows. Only
     * its order and proportions are used, and checked against what is measured. */
    double (*predict)(void *user, const struct gt_pick *pick);
    void *user;
};

enum gt_ask {
    GT_ASK_PICK, /* *out is the next one to try; never one given before */
    GT_ASK_WAIT, /* nothing until more of those given have been told */
    GT_ASK_DONE,
};

struct gt_search;

struct gt_strategy {
    const char *name;
    const char *about;
    /* `search` outlives the strategy, which asks it for setup, randomness and what is
     * taken. */
    gt_status (*create)(void **self, struct gt_search *search, struct gt_err *err);
    void (*destroy)(void *self);
    bool after_starts; /* it is not asked before all seeds have been told */
    /* A seed was given out instead of asking; NULL: no matter. */
    void (*add_start)(void *self, const struct gt_pick *pick);
    /* A pick that is not taken. WAIT needs something outstanding. */
    enum gt_ask (*ask)(void *self, struct gt_pick *out);
    /* In the order of asking, seeds too. median_ns counts only with GT_CORRECT. */
    void (*tell)(void *self, const struct gt_pick *pick, gt_outcome outcome,
                 double median_ns);
};

extern const struct gt_strategy gt_search_model, gt_search_ils, gt_search_anneal,
    gt_search_genetic, gt_search_clblast, gt_search_random, gt_search_full;
extern const struct gt_strategy *const gt_strategies[]; /* NULL-ended; the default first */
const struct gt_strategy *gt_strategy_find(const char *name);
/* "model, ils, ... or full", for messages. */
const char *gt_strategy_names(void);

/* ---- for who tunes ---------------------------------------------------------------------
 */

/* EINVAL: a seed is no point of its space. */
gt_status gt_search_create(struct gt_search **out, const struct gt_strategy *strategy,
                           const struct gt_search_setup *setup, struct gt_err *err);
void gt_search_destroy(struct gt_search *s);
enum gt_ask gt_search_ask(struct gt_search *s, struct gt_pick *out);
/* In the order of asking, each pick once. */
void gt_search_tell(struct gt_search *s, const struct gt_pick *pick, gt_outcome outcome,
                    double median_ns);

/* ---- for strategies --------------------------------------------------------------------
 */

const struct gt_search_setup *gt_search_setup_of(const struct gt_search *s);
bool gt_search_taken(const struct gt_search *s, struct gt_pick p);
/* What the strategy was told of it: HUGE_VAL when it failed, NAN when nothing (yet). */
double gt_search_told(const struct gt_search *s, struct gt_pick p);
size_t gt_search_left(const struct gt_search *s, int space); /* points not taken */
/* 64 random bits, a number below `below`, one in [0, 1), of the search's own generator. */
uint64_t gt_search_bits(struct gt_search *s);
size_t gt_search_below(struct gt_search *s, size_t below);
double gt_search_uniform(struct gt_search *s);
/* A point not taken, each as likely as any; false when there is none. Of all spaces: */
bool gt_search_any(struct gt_pick *out, struct gt_search *s);
bool gt_search_any_of(struct gt_pick *out, struct gt_search *s, int space);

/* The legal points that differ from `p` in one parameter, by one place of its domain or,
 * when `far`, by any; at most `room`. The order is that of parameters and domains. */
int gt_search_neighbours(struct gt_pick *out, int room, const struct gt_space *space,
                         struct gt_pick p, bool far);

/* A seeded generator: splitmix64. */
uint64_t gt_random(uint64_t *state);

#endif
