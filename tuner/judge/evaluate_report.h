/* SPDX-License-Identifier: Apache-2.0 */
/* evaluate_report.h - prints the losses of `gemmtune evaluate`. */
#ifndef GT_TUNER_JUDGE_EVALUATE_REPORT_H
#define GT_TUNER_JUDGE_EVALUATE_REPORT_H

#include "tuner/cmd/common.h"
#include "tuner/study/evaluate.h"

struct gt_evaluate_report {
    const char *device_key;
    const struct gt_hidden *hidden;
    /* problems that were hidden, named or drawn, and how many of them were timed */
    size_t hidden_count, done;
    size_t tuned;      /* number of tuned problems */
    size_t known;      /* stored kernels that lookups choose from */
    unsigned rules;    /* bit i: rule i was used */
    bool stored;       /* times are from the database */
    const char *fresh; /* "drawn" or "named": these were tuned. NULL: they were hidden */
    int64_t seed;
};

extern const struct gt_form gt_evaluate_form, gt_evaluate_rule_form;

/* Prints a line for each problem and rule, then a line for each rule. ENOMEM. */
gt_status gt_evaluate_print(const struct gt_evaluate_report *report,
                            const struct gt_format *format, struct gt_err *err);

#endif
