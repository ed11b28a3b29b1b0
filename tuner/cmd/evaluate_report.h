/* SPDX-License-Identifier: Apache-2.0 */
/* evaluate_report.h - how `gemmtune evaluate` prints what its rules lose. */
#ifndef GT_TUNER_CMD_EVALUATE_REPORT_H
#define GT_TUNER_CMD_EVALUATE_REPORT_H

#include "tuner/cmd/common.h"
#include "tuner/study/evaluate.h"

struct gt_evaluate_report {
    const char *device_key;
    const struct gt_hidden *hidden;
    size_t hidden_count, done; /* problems hidden; of them answered and timed */
    size_t tuned;              /* problems in all */
    unsigned rules;            /* bit i: rule i was asked */
    bool stored;               /* times are the database's */
    int64_t seed;
};

extern const struct gt_form gt_evaluate_form, gt_evaluate_rule_form;

/* A line a problem and rule, then a line a rule. ENOMEM. */
gt_status gt_evaluate_print(const struct gt_evaluate_report *report,
                            const struct gt_format *format, struct gt_err *err);

#endif
