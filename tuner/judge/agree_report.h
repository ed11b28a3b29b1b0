/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agree_report.h - the results of `gemmtune agree` for a problem, and how they are printed.
 */
#ifndef GT_TUNER_JUDGE_AGREE_REPORT_H
#define GT_TUNER_JUDGE_AGREE_REPORT_H

#include "tuner/base/table.h"
#include "tuner/study/agree.h"
#include "tuner/tune/tune.h"

/* One problem: the results of its runs, and their winners measured again. */
struct gt_agree_study {
    const char *problem;
    int runs;
    struct gt_tune_result *result; /* of each run */
    struct gt_agree_run run[GT_AGREE_RUNS_MAX];
    /* without duplicates, the stored one included */
    struct gt_candidate winner[GT_AGREE_RUNS_MAX + 1];
    struct gt_measurement again[GT_AGREE_RUNS_MAX + 1];
    int winners;
    /* number of the database's winner; -1: no database was given */
    int stored;
    struct gt_candidate best; /* the database's winner; "" without one */
    struct gt_agreement agreement;
};
_Static_assert((int)GT_AGREE_RUNS_MAX < (int)GT_JOB_POINTS_MAX, "all fit one job");

/* a line for each problem; a line for each run */
extern const struct gt_form gt_agree_form, gt_agree_run_form;

/* Adds the problem's line to a table of gt_agree_form. ENOMEM. */
gt_status gt_agree_add(struct gt_table *t, const struct gt_agree_study *s,
                       struct gt_err *err);
/* Adds a line for each run to a table of gt_agree_run_form. ENOMEM. */
gt_status gt_agree_add_runs(struct gt_table *t, const struct gt_agree_study *s,
                            struct gt_err *err);

#endif
