/* SPDX-License-Identifier: Apache-2.0 */
/*
 * predict.h - applies the performance model (runtime/lookup/model.h) to whole spaces and to
 * stored trials, also for devices that are only described. It measures nothing.
 */
#ifndef GT_TUNER_STUDY_PREDICT_H
#define GT_TUNER_STUDY_PREDICT_H

#include "runtime/lookup/model.h"
#include "runtime/lookup/shelf.h"
#include "core/text.h"
#include "tuner/base/view.h"

/* ---- a device that is not here ---- */

/* Reads a description (devices/, docs/search.md). `what` is a path, or the name of
 * a built-in description: "gtx-1080". EIO; EPARSE with the line. */
gt_status gt_describe_load(struct gt_device *out, const char *what, struct gt_err *err);
/* The built-in description at `index`, and its name. False after the last one. */
bool gt_describe_at(struct gt_device *out, char name[GT_NAME_MAX], size_t index);
/* `name` is the file's name in messages. */
gt_status gt_describe_parse(struct gt_device *out, const char *name, const char *text,
                            size_t size, struct gt_err *err);

/* ---- the best of a space ---- */

struct gt_predicted {
    const struct gt_family *family;
    size_t index; /* index of the point in the family's space */
    struct gt_point point;
    struct gt_prediction prediction;
};

struct gt_predict_query {
    const struct gt_families *families;
    const struct gt_texts *names; /* families to ask for; empty: all */
    const struct gt_device *device;
    const gemmtune_problem *problem;
    /* of several points of a family with the same time, only the first one */
    bool distinct;
};

/* Finds the `most` points with the shortest predicted times, fastest first. *count is their
 * number, *asked the number of points that were asked for. Families that do not serve the
 * problem or have no prediction are skipped. */
gt_status gt_predict_best(struct gt_predicted *out, size_t most, size_t *count,
                          size_t *asked, const struct gt_predict_query *q,
                          struct gt_err *err);

/* Finds the best point of all families, from a few thousand points of each: within a few
 * per cent of gt_predict_best, in a tenth of its time. ENOTFOUND when there is no
 * prediction. */
gt_status gt_predict_nearly_best(struct gt_predicted *out,
                                 const struct gt_families *families,
                                 const struct gt_device *d, const gemmtune_problem *p,
                                 struct gt_err *err);

/* Reads a point, "NAME=VALUE ...". Missing parameters get the family's defaults. EINVAL. */
gt_status gt_predict_point(struct gt_point *out, const struct gt_family *family,
                           const char *text, struct gt_err *err);
/* The prediction for "FAMILY NAME=VALUE ...". ENOTFOUND when there is no such family or no
 * prediction; EINVAL. */
gt_status gt_predict_text(struct gt_predicted *out, const struct gt_families *families,
                          const char *text, const struct gt_device *d,
                          const gemmtune_problem *p, struct gt_err *err);

/* ---- forecasts beside measurements ---- */

enum { GT_TOPS = 3 }; /* the best among the model's first 1, 10 and 50 */
extern const size_t gt_tops[GT_TOPS];

/* One family on one problem, or with family "" all families of a problem. */
struct gt_check_row {
    char problem[GT_PROBLEM_NAME_MAX];
    char family[GT_NAME_MAX];
    size_t trials;
    double spearman; /* correlation of predicted and measured times */
    /* measured: the best among the model's first, over the best of all */
    double top[GT_TOPS];
    double error;  /* median of predicted over measured time */
    bool held_out; /* not among the problems used for fitting */
};

struct gt_checked {
    size_t count;
    struct gt_check_row *row; /* by problem, then family; groups of at least 20 trials */
    size_t used, unmeasured, unknown_family, unbound, unpredicted; /* number of trials */
    /* bound trials that needed defaults for newer parameters */
    size_t filled;
    size_t pruned; /* trials with a bound above the best time of their problem */
    /* the least time of pruned trials, over that best time; 0 when none was pruned */
    double nearest_pruned;
    /* trials faster than their bound, for which the bound is wrong */
    size_t below_bound;
};

enum {
    GT_CHECK_LEAST = 20
}; /* trials of a group; a rank correlation of fewer says nothing */

/* Compares predictions with the view's correct trials of the device. */
gt_status gt_predict_check(struct gt_checked *out, const struct gt_view *v,
                           const struct gt_families *families, const char *device_key,
                           struct gt_err *err);
void gt_checked_clear(struct gt_checked *c);

/* ---- costs fitted to measurements ---- */

struct gt_fitted {
    struct gt_costs costs;
    /* error before and after: of fitted problems [0], and of those held out [1] */
    double was[2], is[2];
    size_t trials;
};

/* Finds costs that agree better with the view's correct trials of the device, in `steps`
 * attempts that begin with the costs of the shelf. ENOTFOUND when there are no trials. */
gt_status gt_predict_fit(struct gt_fitted *out, const struct gt_view *v,
                         const struct gt_families *families, const char *device_key,
                         const struct gt_shelf *shelf, int steps, uint64_t seed,
                         struct gt_err *err);

/* ---- trees learned from measurements ---- */

struct gt_learned_trees {
    const struct gt_family *family; /* of the families given */
    int shipped;                    /* trees that were not learned here, the first */
    int count;                      /* trees; 0: there were too few trials */
    int later;                      /* as in struct gt_learned */
    struct gt_learned_node *node;
};

/* GT_LEARN_MORE: after the shipped trees, on the errors that these leave. */
enum gt_learning_way { GT_LEARN_ANEW, GT_LEARN_MORE };

/* The loss on problems held out when the trial with the least forecast is taken, in the
 * geometric mean: without what is learned [0], and with it [1]. Learning did
 * not see these problems. Shipped trees may have, so with GT_LEARN_MORE only the gain
 * is fair. */
struct gt_held_out {
    size_t problems;
    double loss[2];
    double loss_95[2]; /* the 95th percentile; of `all` only */
};

struct gt_learning {
    size_t count; /* families */
    struct gt_learned_trees *family;
    size_t trials; /* and records */
    struct gt_held_out all;
    /* Of each mix of types (gt_dtype_index): single products [0], batches [1]. */
    struct gt_held_out of[GT_DTYPES][2];
};

/* Learns the trees of learned.h from the view's correct trials of the device, and from the
 * records of problems without trials, with the costs of the shelf. With GT_LEARN_MORE they
 * come after the trees of the shelf, and the trials that taught those are not needed.
 * ENOTFOUND when there are no trials, or too few. Call gt_learning_clear in any case. */
gt_status gt_predict_learn(struct gt_learning *out, const struct gt_view *v,
                           const struct gt_families *families, const char *device_key,
                           const struct gt_shelf *shelf, enum gt_learning_way way,
                           struct gt_err *err);
/* Copies what was learned, as the trees of a shelf. ENOMEM. */
gt_status gt_learning_trees(struct gt_trees *out, const struct gt_learning *l,
                            struct gt_err *err);
void gt_learning_clear(struct gt_learning *l);

/* Spearman's rank correlation. Equal values share their mean rank; 0 when all are equal.
 * ENOMEM. */
gt_status gt_spearman(double *out, const double *a, const double *b, size_t count,
                      struct gt_err *err);

#endif
