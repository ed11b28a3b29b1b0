/* SPDX-License-Identifier: Apache-2.0 */
/* report_live.h - the page of `tune --report`, which follows a run. */
#ifndef GT_TUNER_CMD_REPORT_LIVE_H
#define GT_TUNER_CMD_REPORT_LIVE_H

#include "tuner/base/progress.h"
#include "tuner/cmd/common.h"

struct gt_report_live {
    const char *path; /* of the page; NULL: there is none, or it could not be written */
    const char *db;   /* the database as given, or NULL */
    const struct gt_texts *templates;
    double next; /* gt_seconds, before which the page is not written again */
    bool begun;  /* the run has begun */
};

/* Has the progress rewrite the page every few seconds, and less often when that takes long.
 * Does nothing where `path` is NULL. */
void gt_report_live_watch(struct gt_report_live *l, struct gt_progress *p);
/* Writes the page of a run that has begun; `progress` NULL: the run has ended, and no
 * browser asks again. Trouble is said once. */
void gt_report_live_write(struct gt_report_live *l, const char *progress);

#endif
