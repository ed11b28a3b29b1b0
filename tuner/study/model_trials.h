/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_trials.h - stored trials as the performance model sees them: what each was made of
 * and how long it took. For judging the model and for fitting its costs.
 */
#ifndef GT_TUNER_STUDY_MODEL_TRIALS_H
#define GT_TUNER_STUDY_MODEL_TRIALS_H

#include "runtime/model.h"
#include "tuner/base/view.h"

struct gt_model_trial {
    const struct gt_view_row *row; /* the view's */
    struct gt_facts facts;
    double ns;     /* measured */
    bool held_out; /* a third of the problems is not fitted to */
};

struct gt_model_trials {
    const struct gt_device *device; /* the view's; NULL when it has no such device */
    size_t count;
    struct gt_model_trial *trial;                          /* by problem, then family */
    size_t unmeasured, unknown_family, unbound, shapeless; /* passed over */
    size_t filled; /* of those taken: with defaults for parameters that came later */
};

/* The view's correct trials on the device. */
gt_status gt_model_trials_take(struct gt_model_trials *out, const struct gt_view *v,
                               const struct gt_families *families, const char *device_key,
                               struct gt_err *err);
void gt_model_trials_clear(struct gt_model_trials *t);

/* Where the trials of item `i`'s problem end. */
size_t gt_model_trials_end(const struct gt_model_trials *t, size_t i);

#endif
