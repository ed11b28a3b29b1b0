/* SPDX-License-Identifier: Apache-2.0 */
/* tune_cover.h - `gemmtune tune --cover TIME`: learns a device that nobody has tuned
 * for. */
#ifndef GT_TUNER_CMD_TUNE_COVER_H
#define GT_TUNER_CMD_TUNE_COVER_H

#include "tuner/cmd/tune.h"

extern const struct gt_form gt_tune_cover_form;

/* Refuses options that say which problems are tuned. Returns -1 to go on. */
int gt_tune_cover_check(const struct gt_tune_values *v, int operands);
/* Draws problems, tries kernels on them and learns from the trials, in rounds until the
 * time is over; prints what each round has taught. Returns the exit code. */
int gt_tune_cover(struct gt_tuner *t, const struct gt_session *session,
                  const struct gt_tune_values *v);
/* After other trials: learns again, if there is something learned and the database has
 * much more now. Returns `code`, or the exit code of a failure. */
int gt_tune_learn_again(const struct gt_tuner *t, const struct gt_tune_values *v, int code);

#endif
