/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explain_point.h - a point on the command line: reads it, and prints its forecast.
 */
#ifndef GT_TUNER_CMD_EXPLAIN_POINT_H
#define GT_TUNER_CMD_EXPLAIN_POINT_H

#include "tuner/cmd/common.h"
#include "tuner/study/predict.h"

/* Reads "FAMILY NAME=VALUE ...": the family and its point. Missing parameters get defaults.
 * Exit 2 when there is no such family or point. */
int gt_explain_read_point(const struct gt_family **family, struct gt_point *out,
                          const struct gt_families *families, const char *text);
/* Predicts `text`, "FAMILY NAME=VALUE ...". Exit 2 when it is not a point or must not run,
 * 1 when there is no prediction. */
int gt_explain_point(struct gt_predicted *out, const struct gt_families *families,
                     const char *text, const struct gt_device *d,
                     const gemmtune_problem *p);
void gt_explain_point_json(const struct gt_predicted *f);
void gt_explain_point_print(const struct gt_predicted *f, double flops);

#endif
