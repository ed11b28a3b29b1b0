/* SPDX-License-Identifier: Apache-2.0 */
/* tune_report.h - the table at the end of `gemmtune tune`. */
#ifndef GT_TUNER_CMD_TUNE_REPORT_H
#define GT_TUNER_CMD_TUNE_REPORT_H

#include "tuner/cmd/common.h"
#include "tuner/tune/tune.h"

extern const struct gt_form gt_tune_form;

/* Prints a row for each problem of the sweep that the run came to. ENOMEM. */
gt_status gt_tune_report(const struct gt_tune_result *result, const struct gt_sweep *sweep,
                         const struct gt_format *format, struct gt_err *err);

#endif
