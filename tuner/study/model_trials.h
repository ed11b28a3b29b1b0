/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_trials.h - stored trials as the performance model needs them: the facts about each
 * kernel, and its time. They serve for judging the model and for fitting its costs.
 */
#ifndef GT_TUNER_STUDY_MODEL_TRIALS_H
#define GT_TUNER_STUDY_MODEL_TRIALS_H

#include "runtime/lookup/shelf.h"
#include "tuner/base/view.h"

struct gt_model_trial {
    const struct gt_view_row *row; /* borrowed from the view */
    const struct gt_family *family;
    struct gt_facts facts;
    double ns;       /* measured */
    double plain_ns; /* predicted, without what was learned; 0: there is no prediction */
    double least_ns; /* the prediction's lower bound */
    double learned;  /* the factor that was learned */
    bool held_out;   /* not used for fitting, as a third of the problems */
    bool can_teach;  /* x is filled in */
    float x[GT_LEARNED_MAX]; /* what trees ask about */
};

struct gt_model_trials {
    /* borrowed from the view; NULL when the view has no such device */
    const struct gt_device *device;
    struct gt_device model_device; /* the device that the model is given */
    const struct gt_shelf *shelf;  /* the forecasts are by this one */
    size_t count;
    /* sorted by problem, then by family */
    struct gt_model_trial *trial;
    size_t unmeasured, unknown_family, unbound, shapeless; /* trials that were skipped */
    size_t filled; /* trials taken that needed defaults for newer parameters */
};

/* Takes the view's correct trials on the device; with `records` also the records of
 * problems without trials, which were imported. `shelf` is what the forecasts know of the
 * device, which must live as long; NULL: what a lookup knows. */
gt_status gt_model_trials_take(struct gt_model_trials *out, const struct gt_view *v,
                               const struct gt_families *families, const char *device_key,
                               const struct gt_shelf *shelf, bool records,
                               struct gt_err *err);
void gt_model_trials_clear(struct gt_model_trials *t);

/* The index after the last trial of the problem that trial `i` belongs to. */
size_t gt_model_trials_end(const struct gt_model_trials *t, size_t i);

#endif
