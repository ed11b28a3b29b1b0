/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trial.h - takes one candidate from its text to its outcome: build, check, time, judge. It
 * runs in the run worker.
 */
#ifndef GT_TUNER_WORK_TRIAL_H
#define GT_TUNER_WORK_TRIAL_H

#include "runtime/family/family.h"
#include "tuner/lab/lab.h"
#include "tuner/work/proto.h"

/* Called before each stage, so that each stage has its own deadline. */
typedef void (*gt_stage_fn)(void *user, enum gt_stage stage);

/* Tries candidate[0..count) of the job on the lab, which must be set up for the job's
 * problem, and fills report->result. Several correct candidates are timed in turn. A
 * failure is the outcome of a candidate. */
void gt_trial_run(struct gt_report *report, struct gt_lab *lab,
                  const struct gt_families *families, const struct gt_job *job,
                  gt_stage_fn stage, void *user);

/* Builds candidate[0] into the image cache. result[0] gets the compiler's verdict. `gpu` is
 * needed only where a context compiles; NULL where the driver compiles apart. */
gt_status gt_trial_compile(struct gt_report *report, struct gt_gpu *gpu,
                           const struct gt_families *families, const struct gt_job *job,
                           struct gt_err *err);

#endif
