/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search.h - chooses the point to try next. A strategy is asked for picks and told their
 * outcomes. It knows no device and no clock, so a search can be replayed. Each strategy is
 * one file and one word in the table of strategies. struct gt_search surrounds it with the
 * parts that all searches need: starting points first, no pick twice, the end of the
 * search, and the same picks for the same answers whenever they arrive.
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
    const struct gt_space *space; /* borrowed; must outlive the search */
    int spaces;
    /* starting points, tried first; duplicates are skipped; borrowed */
    const struct gt_pick *start;
    int starts;
    size_t budget; /* largest number of picks; SIZE_MAX: all points */
    /* The number of picks that may be open, the one asked for included; 0 counts as 1. Pick
     * i depends only on the answers of picks 0 .. i - ahead. Starts depend on nothing, so
     * `starts_ahead` of them may be open, if that is more. */
    int ahead, starts_ahead;
    /* Trials of other families are costly, as on a CPU: a family that is far slower than
     * the best after its first trial gets no more but by chance. */
    bool costly;
    double target_ns; /* the search ends when a pick is this fast; 0: never */
    uint64_t seed;
    /* The forecast for a pick in ns; <= 0 when unknown; may be NULL. Only the order and the
     * proportions of forecasts are used, and they are compared with the measured times. */
    double (*predict)(void *user, const struct gt_pick *pick);
    void *user;
};

enum gt_ask {
    GT_ASK_PICK, /* *out is the next pick; no pick comes twice */
    GT_ASK_WAIT, /* no pick until more results of open picks are told */
    GT_ASK_DONE,
};

struct gt_search;

struct gt_strategy {
    const char *name;
    /* `search` outlives the strategy; it gives the set-up, random numbers and the taken
     * points. */
    gt_status (*create)(void **self, struct gt_search *search, struct gt_err *err);
    void (*destroy)(void *self);
    bool after_starts; /* the strategy is first asked when all starts have been told */
    /* Called when a start is given out, which the strategy was not asked for;
     * may be NULL. */
    void (*add_start)(void *self, const struct gt_pick *pick);
    /* Chooses a pick that is not taken. May answer WAIT only while picks are open. */
    enum gt_ask (*ask)(void *self, struct gt_pick *out);
    /* Called in the order of the picks, starts included. median_ns is set only with
     * GT_CORRECT. */
    void (*tell)(void *self, const struct gt_pick *pick, gt_outcome outcome,
                 double median_ns);
};

/* ---- the table of strategies ---- */

/* NAME stands for gt_search_NAME. Users choose among the offered strategies, and the first
 * one is the default. The other strategies are methods to compare with: only `replay` runs
 * them. --help, messages and gt_strategies are made of these two lines. */
#define GT_STRATEGIES_OFFERED(first, next, last) first(model) next(random) last(full)
#define GT_STRATEGIES_COMPARED(next, last)                                                 \
    next(ils) next(anneal) next(genetic) last(clblast)

/* The names in a sentence: "model, random or full". */
#define GT_STRATEGY_WORD(name)         #name
#define GT_STRATEGY_DEFAULT_WORD(name) #name " (default)"
#define GT_STRATEGY_NEXT_WORD(name)    ", " #name
#define GT_STRATEGY_LAST_WORD(name)    " or " #name
#define GT_STRATEGY_HELP                                                                   \
    GT_STRATEGIES_OFFERED(GT_STRATEGY_DEFAULT_WORD, GT_STRATEGY_NEXT_WORD,                 \
                          GT_STRATEGY_LAST_WORD)
#define GT_STRATEGY_NAMES                                                                  \
    GT_STRATEGIES_OFFERED(GT_STRATEGY_WORD, GT_STRATEGY_NEXT_WORD, GT_STRATEGY_LAST_WORD)
#define GT_STRATEGY_ALL_NAMES                                                              \
    GT_STRATEGIES_OFFERED(GT_STRATEGY_WORD, GT_STRATEGY_NEXT_WORD, GT_STRATEGY_NEXT_WORD)  \
    GT_STRATEGIES_COMPARED(GT_STRATEGY_NEXT_WORD, GT_STRATEGY_LAST_WORD)

#define GT_STRATEGY_DECLARE(name) extern const struct gt_strategy gt_search_##name;
GT_STRATEGIES_OFFERED(GT_STRATEGY_DECLARE, GT_STRATEGY_DECLARE, GT_STRATEGY_DECLARE)
GT_STRATEGIES_COMPARED(GT_STRATEGY_DECLARE, GT_STRATEGY_DECLARE)
/* all, the default first; ends with NULL */
extern const struct gt_strategy *const gt_strategies[];
/* NULL: no strategy has this name. */
const struct gt_strategy *gt_strategy_find(const char *name);
/* The same among the offered strategies. */
const struct gt_strategy *gt_strategy_find_offered(const char *name);

/* ---- for the tuner ---- */

/* EINVAL: a start is not a point of its space. */
gt_status gt_search_create(struct gt_search **out, const struct gt_strategy *strategy,
                           const struct gt_search_setup *setup, struct gt_err *err);
void gt_search_destroy(struct gt_search *s);
enum gt_ask gt_search_ask(struct gt_search *s, struct gt_pick *out);
/* Call it once for each pick, in the order of asking. */
void gt_search_tell(struct gt_search *s, const struct gt_pick *pick, gt_outcome outcome,
                    double median_ns);

/* ---- for strategies ---- */

const struct gt_search_setup *gt_search_setup_of(const struct gt_search *s);
bool gt_search_taken(const struct gt_search *s, struct gt_pick p);
/* The result that the strategy was told: HUGE_VAL for a failure, NAN when there is none
 * yet. */
double gt_search_told(const struct gt_search *s, struct gt_pick p);
/* number of points not taken */
size_t gt_search_left(const struct gt_search *s, int space);
/* Random numbers of the search's own generator: below `below`, or in [0, 1). */
size_t gt_search_below(struct gt_search *s, size_t below);
double gt_search_uniform(struct gt_search *s);
/* A random point that is not taken, of all spaces or of one; all are equally likely. False
 * when there is none. */
bool gt_search_any(struct gt_pick *out, struct gt_search *s);
bool gt_search_any_of(struct gt_pick *out, struct gt_search *s, int space);

/* The legal points that differ from `p` in one parameter: by one place in its domain, or by
 * any number when `far`. At most `room`, in the order of parameters and domains. */
int gt_search_neighbours(struct gt_pick *out, int room, const struct gt_space *space,
                         struct gt_pick p, bool far);

/* The seeded generator splitmix64. */
uint64_t gt_random(uint64_t *state);
/* A number of it in [0, 1). */
double gt_random_uniform(uint64_t *state);

#endif
