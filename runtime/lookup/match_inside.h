/* SPDX-License-Identifier: Apache-2.0 */
/*
 * match_inside.h - declarations that the files of gt_match share: the query, the records
 * near it, whether a kernel may run, and the options with their forecasts.
 */
#ifndef GT_RUNTIME_LOOKUP_MATCH_INSIDE_H
#define GT_RUNTIME_LOOKUP_MATCH_INSIDE_H

#include "runtime/lookup/match.h"
#include "runtime/lookup/model.h"
#include "runtime/lookup/shelf.h"

/* A query, and values that are computed once for it. */
struct gt_lookup {
    struct gt_query query;
    struct gt_device model_device; /* the device that the model is given */
    struct gt_row_order order;     /* of sums, where the problem has row_order */
    char name[GT_PROBLEM_NAME_MAX];
};

/* The source of a record, the most preferred first; see match.c. */
enum gt_preference {
    GT_SAME_HERE,      /* this problem, verified on this device */
    GT_SAME_UNCHECKED, /* this problem with this device's key, measured elsewhere */
    GT_OTHER_KEY, /* another problem with this device's key, measured here or elsewhere */
    GT_SAME_ARCH, /* this problem on another device of the architecture */
    GT_OTHER_ARCH /* another problem there */
};

/* A record and its distance from the query. */
struct gt_near {
    const struct gt_known *known;
    enum gt_preference preference;
    gemmtune_match match;
    double distance; /* in log2 of the sizes; other differences add to it */
};

/* For qsort: the smallest first. */
static inline int gt_compare(double x, double y) {
    return (x > y) - (x < y);
}

/* ---- near records (match_near.c) ----------------------------------------------------- */

enum { GT_NEAR_MAX = 96 }; /* records that get a forecast: of 50 to 96 problems */

/* Whether the record is a candidate. Fills in how preferable it would be. */
bool gt_near_classify(struct gt_near *out, const struct gt_lookup *l,
                      const struct gt_known *known);
/* Whether the record was measured on the query's device, or on one with its key. */
bool gt_near_is_mine(const struct gt_lookup *l, const struct gt_known *known);
/* Whether records with such types, layout and kind of batch may serve the problem: the
 * types are alike, a single product may serve a batch, and strict arithmetic any other. */
bool gt_near_may_serve(const gemmtune_problem *known, const gemmtune_problem *p);
/* Whether the record's kernel, which may serve the problem, would run it in the arithmetic
 * in which it was measured. */
bool gt_near_computes_alike(const struct gt_known *known, const gemmtune_problem *p);
/* The distance between the record and the problem that is not one of sizes: layouts, types
 * and kinds of batch differ, or the record was measured elsewhere. */
double gt_near_apart(const struct gt_known *known, const gemmtune_problem *p);
/* How good a match the record is for a problem of another name. */
gemmtune_match gt_near_match(const struct gt_lookup *l, const struct gt_known *known);
/* All candidates of the snapshot, in no order. The caller frees *out. ENOMEM. */
gt_status gt_near_gather(struct gt_near **out, size_t *count, const struct gt_lookup *l,
                         struct gt_err *err);
/* Brings the `most` best of the candidates to the front, the most preferred and nearest
 * first. Takes time in proportion to `count`. */
void gt_near_select(struct gt_near *near, size_t count, size_t most);

/* ---- epilogues (match_epilogue.c) ---------------------------------------------------- */

/* The winners among the records (at most GT_NEAR_MAX) for problems that differ from `p` in
 * their epilogue only: winners that were measured here first, then the most alike epilogue,
 * then the order of `near`. Returns how many. */
size_t gt_near_same_product(struct gt_near *out, const struct gt_near *near, size_t count,
                            const gemmtune_problem *p);

/* ---- the walk (match_walk.c) --------------------------------------------------------- */

/* Goes through the candidates of a query, the most preferred and nearest first. */
struct gt_match_walk {
    const struct gt_lookup *lookup;
    size_t seen; /* candidates that were given so far */
    /* Gathered candidates: of this problem when there is an index, else all. */
    struct gt_near *all;
    size_t count, at;
    /* Other problems, from the index. */
    struct gt_nearest *nearest;        /* NULL: not begun */
    enum gt_preference preference;     /* the next one to be given */
    struct gt_near found[GT_NEAR_MAX]; /* by `nearest` */
};

/* Call gt_match_walk_end in any case. ENOMEM. */
gt_status gt_match_walk_begin(struct gt_match_walk *w, const struct gt_lookup *l,
                              struct gt_err *err);
/* The next candidates: at most GT_NEAR_MAX of one preference, until the next call. *count
 * is 0 at the end. ENOMEM. */
gt_status gt_match_walk_next(struct gt_near **group, size_t *count, struct gt_match_walk *w,
                             struct gt_err *err);
/* At the beginning: the records of this very problem that are preferred; *group is theirs.
 * 0: there are none. */
size_t gt_match_walk_same(struct gt_near **group, struct gt_match_walk *w);
void gt_match_walk_end(struct gt_match_walk *w);

/* ---- may it run (match_fits.c) ------------------------------------------------------- */

/* Whether the family's point of these values may run the problem of the query. `why` (may
 * be NULL) gets the reason when not; *out is complete when it may. */
bool gt_lookup_fits(struct gt_fit *out, const struct gt_lookup *l,
                    const struct gt_family *f, const int64_t *values, struct gt_err *why);

/* Whether the record's kernel may run the problem, but needs more workspace than there
 * is. */
bool gt_lookup_lacks_room(const struct gt_lookup *l, const struct gt_known *known);

struct gt_forecasts;
struct gt_forecast;
/* The same for an option. all->fit is the fit; its family is NULL when the option's does
 * not serve the problem. */
bool gt_forecasts_fit(struct gt_forecasts *all, const struct gt_forecast *o,
                      struct gt_err *why);
/* Whether trees (learned.h) correct forecasts of the family for the query's problem. */
bool gt_forecasts_have_trees(struct gt_forecasts *all, const struct gt_family *f);

/* ---- forecasts (match_forecast.c) ---------------------------------------------------- */

enum { GT_FORECASTS_MAX = 1024, GT_BASES_MAX = 32, GT_SEEN_MAX = 8192 };

/* A kernel that may be chosen: a near record's or a start, perhaps with other values of
 * some parameters. All are forecast roughly (gt_model.few_trees), and then the best ones
 * by all trees. Points beside these are forecast by all trees from the start. */
struct gt_forecast {
    const struct gt_near *from; /* NULL: a start */
    const struct gt_family *family;
    int64_t values[GT_POINT_MAX];
    int start;       /* index in the family; start_count: its default point */
    int kind;        /* of the lessons about its point before it was changed; -1: none */
    bool asks_model; /* the model forecasts it; else the record's rate of operations does */
    bool has_trees;  /* trees correct that forecast (learned.h) */
    bool is_settled; /* not rough: all trees, if there are any, made the forecast, unless
                      * fewer saw that it is too long */
    double doubt;    /* how uncertain the forecast is, in natural logarithms */
    double ns;       /* the forecast */
    double cost;     /* log(ns) and the part of the doubt that counts */
};

/* The model's error for a record's kernel on the record's own problem. */
struct gt_lesson {
    const struct gt_near *near;
    int64_t values[GT_POINT_MAX];
    int kind;      /* index of the first lesson about the same point */
    bool by_model; /* the model is asked about its kernel */
    /* Filled in for a family that is in gt_forecasts.taught. */
    double log_error;           /* natural logarithm of measured over predicted time */
    double part[GT_TERM_COUNT]; /* terms of the prediction over the predicted time */
};

struct gt_forecasts {
    const struct gt_lookup *lookup;
    const struct gt_shelf *shelf; /* what is known of the query's device */
    int count, lessons;
    bool is_rough;   /* few trees correct new forecasts; else all do */
    double least_ns; /* the least forecast of that kind with trees; 0: there is none yet */
    struct gt_forecast item[GT_FORECASTS_MAX];
    struct gt_lesson lesson[GT_NEAR_MAX];
    const struct gt_family
        *taught[GT_NEAR_MAX];              /* family of a lesson; NULL: none to learn */
    struct gt_fit_base base[GT_BASES_MAX]; /* of the families that were asked about */
    struct gt_model base_model[GT_BASES_MAX];
    int bases;
    uint64_t seen[GT_SEEN_MAX]; /* of match_beside.c: hashes of points; 0: a free place */
    struct gt_fit fit;          /* of the point that was asked about last */
    struct gt_model model;      /* of its family */
    struct gt_err last; /* why the last point may not run; used when there is no item */
};

/* Fills in the options that may run, best first: at most GT_NEAR_MAX records of one
 * preference, nearest first, then the families' starts, if there are records or `starts` is
 * set. */
void gt_forecasts_make(struct gt_forecasts *all, const struct gt_near *near, size_t count,
                       bool starts);

/* ---- lessons (match_lessons.c) ------------------------------------------------------- */

/* Makes a lesson of each record. Records of a family with trees teach nothing, so the error
 * on their own problem is not looked up. */
void gt_forecasts_learn(struct gt_forecasts *all, const struct gt_near *near, size_t count);
/* The geometric mean of the lessons about the option's family: the model's error for the
 * option. `p` is the model's prediction for it, of all->fit. The fewer lessons are near,
 * the nearer to 1. It is 1 where trees have learned the model's errors (learned.h): they
 * have seen more problems than those near by, and mixing both was worse. */
double gt_forecast_error(const struct gt_forecasts *all, const struct gt_forecast *o,
                         const struct gt_prediction *p);

/* ---- options (match_options.c) ------------------------------------------------------- */

/* Adds the kernels of the lessons that may run. */
void gt_forecasts_offer_records(struct gt_forecasts *all);
/* Adds the starts and default points that may run. */
void gt_forecasts_offer_starts(struct gt_forecasts *all);
/* Adds the cheapest options, which stand first, with other splits of k. */
void gt_forecasts_offer_splits(struct gt_forecasts *all);
/* Replaces the rough forecasts of the first `count` options by forecasts of all trees,
 * where there are trees. After that they are no longer in order, and options that are added
 * get forecasts by all trees. */
void gt_forecasts_settle(struct gt_forecasts *all, int count);
/* Adds the option as item `best`, if it may run, if need be with smaller values. When there
 * is such an item already, the cheaper one of the two stays. */
void gt_forecasts_offer_best(struct gt_forecasts *all, const struct gt_forecast *o,
                             int best);

/* ---- beside (match_beside.c) --------------------------------------------------------- */

/* Adds points that differ in a few parameters from the cheapest options of a few families.
 * Options must be in order. */
void gt_forecasts_offer_beside(struct gt_forecasts *all);
/* Adds such points beside each of the first `settled` options that has trees. */
void gt_forecasts_offer_beside_settled(struct gt_forecasts *all, int settled);

/* ---- in words (match_words.c) -------------------------------------------------------- */

/* Each writes out->why: for a record of the problem, or of its strict twin; for one of the
 * same product with another epilogue or none; for an option out of a record, and for one
 * out of a start, the best of `count`. `tuned`: records that were considered. */
void gt_explain_exact(struct gt_choice *out, const struct gt_lookup *l,
                      const struct gt_near *c);
void gt_explain_same_product(struct gt_choice *out, const struct gt_lookup *l,
                             const struct gt_near *c);
void gt_explain_record(struct gt_choice *out, const struct gt_lookup *l,
                       const struct gt_forecast *o, int count);
/* Why no tuned kernel answers: too little was tuned; `otherwise` where enough was. */
const char *gt_explain_lack(const struct gt_lookup *l, size_t tuned, const char *otherwise);
void gt_explain_start(struct gt_choice *out, const struct gt_lookup *l,
                      const struct gt_forecast *o, int count, size_t tuned);

void gt_forecast_point(struct gt_point *out, const struct gt_forecast *o);
/* The values that differ from the record's or start's: " with SPLIT=4 VA=1", or "". */
void gt_forecast_changes(char *buf, size_t size, const struct gt_forecast *o);

/* The order of sums of the first pin that has rows of this kind: rows that are not pinned
 * add as the pinned ones beside them. False: there is none, or no lock. */
bool gt_match_pinned_order(struct gt_row_order *out, const struct gt_lock *lock,
                           const gemmtune_problem *problem);

#endif
