/* SPDX-License-Identifier: Apache-2.0 */
/*
 * predict.h - shared by the parts of `predict`.
 */
#ifndef GT_TUNER_CMD_PREDICT_H
#define GT_TUNER_CMD_PREDICT_H

#include "tuner/cmd/common.h"
#include "tuner/study/predict.h"

/* The uses that `predict` makes of stored trials. */
enum gt_predict_work {
    GT_PREDICT_CHECK,
    GT_PREDICT_FIT,
    GT_PREDICT_LEARN,
    GT_PREDICT_LEARN_MORE
};

/* `predict --check`, `--fit`, `--learn` or `--learn-more`. `device` NULL means the
 * database's only one. */
int gt_predict_check_command(const struct gt_families *families, const char *db,
                             const char *device, enum gt_predict_work work,
                             const struct gt_format *format);

/* Learns trees from the view's trials, and prints them as trees.bin
 * (runtime/lookup/shelf.h): all anew, or more after the trees of the device's shelf. */
gt_status gt_predict_learn_print(const struct gt_view *view, const char *key,
                                 const struct gt_families *families,
                                 const struct gt_format *format, struct gt_err *err);
gt_status gt_predict_learn_more_print(const struct gt_view *view, const char *key,
                                      const struct gt_families *families,
                                      const struct gt_format *format, struct gt_err *err);

extern const struct gt_form gt_predict_check_form; /* the table of --check */

#endif
