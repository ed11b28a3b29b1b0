/* SPDX-License-Identifier: Apache-2.0 */
/* build_general.h - the choice of general kernels for `gemmtune build --general`, and the
 * table of their losses. */
#ifndef GT_TUNER_CMD_BUILD_GENERAL_H
#define GT_TUNER_CMD_BUILD_GENERAL_H

#include "tuner/cmd/common.h"
#include "tuner/tune/general.h"

enum { GT_GENERAL_KERNELS = 24, GT_GENERAL_DRAWS = 192 }; /* unless options say otherwise */

struct gt_build_general_values {
    struct gt_texts types; /* none: the types of the results */
    int64_t kernels, draws, seed;
};

extern const struct gt_form gt_build_general_form;

/* Chooses kernels for all types. Returns -1, or the exit code. */
int gt_build_general_choose(struct gt_general_set *set,
                            const struct gt_build_general_values *v,
                            const struct gt_snapshot *snapshot, const struct gt_device *d,
                            struct gt_progress *progress);
/* Prints the losses of what was chosen. */
int gt_build_general_print(const struct gt_general_set *set,
                           const struct gt_format *format);

#endif
