/* SPDX-License-Identifier: Apache-2.0 */
/*
 * predict.h - what the performance model (runtime/model.h) says of whole spaces and of
 * stored trials, and descriptions of devices that are not here. Measures nothing.
 */
#ifndef GT_TUNER_STUDY_PREDICT_H
#define GT_TUNER_STUDY_PREDICT_H

#include "runtime/model.h"
#include "core/text.h"
#include "tuner/base/view.h"

/* ---- a device that is not here ---- */

/* Reads a description (configs/devices/, docs/search.md). `what` is a path, or the name of
 * a description that is built in: "gtx-1080". EIO; EPARSE with the line. */
gt_status gt_describe_load(struct gt_device *out, const char *what, struct gt_err *err);
/* The built-in description at `index`, and its name. False behind the last one. */
bool gt_describe_at(struct gt_device *out, char name[GT_NAME_MAX], size_t index);
/* `name` stands for the file in messages. */
gt_status gt_describe_parse(struct gt_device *out, const char *name, const char *text,
                            size_t size, struct gt_err *err);

/* ---- the best of a space ---- */

struct gt_predicted {
    const struct gt_family *family;
    size_t index; /* of the point in the family's space */
    struct gt_point point;
    struct gt_prediction prediction;
};

struct gt_predict_query {
    const struct gt_families *families;
    const struct gt_texts *names; /* of families to ask about; empty: all */
    const struct gt_device *device;
    const gemmtune_problem *problem;
    bool distinct; /* of points of a family with one predicted time, the first alone */
};

/* The `most` points with the shortest predicted times, fastest first. *count is how many
 * there are, *asked how many points were looked at. Families that do not serve the problem
 * or have no prediction are passed over. */
gt_status gt_predict_best(struct gt_predicted *out, size_t most, size_t *count,
                          size_t *asked, const struct gt_predict_query *q,
                          struct gt_err *err);

/* The best of all families, from a few thousand points of each: within a few per cent of
 * gt_predict_best, in a tenth of its time. ENOTFOUND when nothing can be predicted. */
gt_status gt_predict_nearly_best(struct gt_predicted *out,
                                 const struct gt_families *families,
                                 const struct gt_device *d, const gemmtune_problem *p,
                                 struct gt_err *err);

/* A point from text, "NAME=VALUE ...", with the family's defaults for what is left out.
 * EINVAL. */
gt_status gt_predict_point(struct gt_point *out, const struct gt_family *family,
                           const char *text, struct gt_err *err);
/* The prediction for "FAMILY NAME=VALUE ...". ENOTFOUND when there is no such family, or no
 * prediction; EINVAL. */
gt_status gt_predict_text(struct gt_predicted *out, const struct gt_families *families,
                          const char *text, const struct gt_device *d,
                          const gemmtune_problem *p, struct gt_err *err);

/* ---- forecasts beside measurements ---- */

enum { GT_TOPS = 3 }; /* the best of the model's first 1, 10 and 50 */
extern const size_t gt_tops[GT_TOPS];

/* One family on one problem, or with family "" all families of a problem. */
struct gt_check_row {
    char problem[GT_PROBLEM_NAME_MAX];
    char family[GT_NAME_MAX];
    size_t trials;
    double spearman;     /* of predicted and measured times */
    double top[GT_TOPS]; /* measured: best of the model's first over best of all */
    double error;        /* median of predicted over measured */
    bool held_out;       /* not among the problems that costs were fitted to */
};

struct gt_checked {
    size_t count;
    struct gt_check_row *row; /* by problem, then family; only of 20 trials and more */
    size_t used, unmeasured, unknown_family, unbound, unpredicted; /* trials */
    /* of those that were bound: with defaults for parameters that came later */
    size_t filled;
    size_t pruned;         /* whose bound is above the best time of their problem */
    double nearest_pruned; /* the least of their times over that best; 0 when none */
    size_t below_bound;    /* faster than their bound: the bound would be wrong */
};

enum {
    GT_CHECK_LEAST = 20
}; /* trials of a group: a rank correlation of fewer says nothing */

/* Compares with the view's correct trials of the device. */
gt_status gt_predict_check(struct gt_checked *out, const struct gt_view *v,
                           const struct gt_families *families, const char *device_key,
                           struct gt_err *err);
void gt_checked_clear(struct gt_checked *c);

/* ---- costs fitted to measurements ---- */

struct gt_fitted {
    struct gt_costs costs;
    double was[2], is[2]; /* how far off, of problems fitted to [0] and held out [1] */
    size_t trials;
};

/* Costs that agree better with the view's correct trials of the device, after `steps`
 * attempts. ENOTFOUND when there are none. */
gt_status gt_predict_fit(struct gt_fitted *out, const struct gt_view *v,
                         const struct gt_families *families, const char *device_key,
                         int steps, uint64_t seed, struct gt_err *err);

/* Spearman's rank correlation, equal values sharing their mean rank; 0 when all are equal.
 * ENOMEM. */
gt_status gt_spearman(double *out, const double *a, const double *b, size_t count,
                      struct gt_err *err);

#endif
