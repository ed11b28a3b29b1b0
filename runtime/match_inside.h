/* SPDX-License-Identifier: Apache-2.0 */
/*
 * match_inside.h - what the files of gt_match share: the question, what is known near it,
 * whether a kernel may run, and the kernels that are offered with what they should take.
 */
#ifndef GT_RUNTIME_MATCH_INSIDE_H
#define GT_RUNTIME_MATCH_INSIDE_H

#include "runtime/launch.h"
#include "runtime/match.h"

struct gt_query {
    const struct gt_snapshot *snapshot;
    const struct gt_device *device;
    struct gt_device reckoned; /* what the model is asked about */
    const char *device_key;
    const gemmtune_problem *problem; /* as asked */
    /* m and n at least 1: what rules and launches are asked about */
    gemmtune_problem shape;
    char name[GT_PROBLEM_NAME_MAX];
    gemmtune_match worst;
    size_t workspace_max;
    int64_t pointer_align;
    bool (*skip)(void *user, const struct gt_choice *c);
    void *user;
};

/* Where a record comes from, the most preferred first; see match.c. */
enum gt_preference {
    GT_SAME_HERE,      /* the very problem, verified on this device */
    GT_SAME_UNCHECKED, /* the very problem on this device key, measured elsewhere */
    GT_OTHER_HERE,     /* another problem, verified on this device */
    GT_SAME_ARCH,      /* the very problem on another device of the architecture */
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

struct gt_reason {
    char line[192]; /* "" when nothing stands against it */
};

struct gt_reason gt_because(const char *why);

/* A point bound to the problem asked about, and its launches. */
struct gt_fit {
    struct gt_binding binding;
    struct gt_passes passes;
    int64_t workspace_bytes;
};

/* Why the family's point of these values may not run what is asked; *out is whole when it
 * may. */
struct gt_reason gt_why_not(struct gt_fit *out, const struct gt_query *q,
                            const struct gt_family *f, const int64_t *values);

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
    double cost;   /* its logarithm, and what is not sure about it */
};

/* What the model has wrong of a record's kernel on its own problem. */
struct gt_lesson {
    const struct gt_near *near;
    int64_t values[GT_POINT_MAX];
    double error; /* measured over predicted; 0: no prediction */
};

struct gt_forecasts {
    const struct gt_query *query;
    int count, lessons;
    struct gt_forecast item[GT_FORECASTS_MAX];
    struct gt_lesson lesson[GT_NEAR_MAX];
    struct gt_reason last; /* why the last that may not run may not */
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
