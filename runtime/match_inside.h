/* SPDX-License-Identifier: Apache-2.0 */
/*
 * match_inside.h - what the files of gt_match share: the question, what is known near it,
 * whether a kernel may run, and the kernels that are offered with what they should take.
 */
#ifndef GT_RUNTIME_MATCH_INSIDE_H
#define GT_RUNTIME_MATCH_INSIDE_H

#include "runtime/match.h"

/* A query, and what is worked out once for it. */
struct gt_lookup {
    struct gt_query query;
    struct gt_device model_device; /* the model is asked about this one */
    char name[GT_PROBLEM_NAME_MAX];
};

/* Where a record comes from, the most preferred first; see match.c. */
enum gt_preference {
    GT_SAME_HERE,      /* this problem, verified on this device */
    GT_SAME_UNCHECKED, /* this problem with this device's key, measured elsewhere */
    GT_OTHER_HERE,     /* another problem, verified on this device */
    GT_SAME_ARCH,      /* this problem on another device of the architecture */
    GT_OTHER_ARCH      /* another problem there, or measured elsewhere */
};

/* A record, as the question sees it. */
struct gt_near {
    const struct gt_known *known;
    enum gt_preference preference;
    gemmtune_match match;
    double distance; /* in log2 of the sizes, and something for operands stored otherwise */
};

/* For qsort: the least first. */
static inline int gt_order(double x, double y) {
    return (x > y) - (x < y);
}

/* ---- may it run (match_fits.c) ------------------------------------------------------- */

/* Whether the family's point of these values may run the problem of the query. `why` (may
 * be NULL) gets the reason when it may not; *out is whole when it may. */
bool gt_lookup_fits(struct gt_fit *out, const struct gt_lookup *l,
                    const struct gt_family *f, const int64_t *values, struct gt_err *why);

/* ---- forecasts (match_forecast.c) ---------------------------------------------------- */

enum {
    GT_FORECASTS_MAX = 1024,
    GT_NEAR_MAX = 144, /* records that a forecast is made for: a dozen problems' at least */
};

/* A kernel that may be the answer: a near record's, perhaps with k split otherwise, or a
 * start. */
struct gt_forecast {
    const struct gt_near *from; /* NULL: a start */
    const struct gt_family *family;
    int64_t split; /* 0: as it is */
    int start;     /* of the family; start_count: its default point */
    double ns;     /* what it should take */
    double cost;   /* the logarithm of ns, and more the less sure ns is */
};

/* The model's error for a record's kernel on the record's own problem. */
struct gt_lesson {
    const struct gt_near *near;
    int64_t values[GT_POINT_MAX];
    double error; /* measured over predicted; 0: no prediction */
};

struct gt_forecasts {
    const struct gt_lookup *lookup;
    int count, lessons;
    struct gt_forecast item[GT_FORECASTS_MAX];
    struct gt_lesson lesson[GT_NEAR_MAX];
    struct gt_err last; /* while there is no item: why the last point may not run */
};

/* Fills in what may run of at most GT_NEAR_MAX records, nearest first, of one group of
 * equals; then of the families' starts, if there is any or `starts` says so. Best first. */
void gt_forecasts_make(struct gt_forecasts *all, const struct gt_near *near, size_t count,
                       bool starts);
void gt_forecast_point(struct gt_point *out, const struct gt_forecast *o);
/* The parameter that says how often k is split; the option has a value of its own for it.
 */
const char *gt_forecast_split_name(const struct gt_forecast *o);

#endif
