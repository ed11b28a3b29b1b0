/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lab.h - a problem set up on a device: cases to check candidates against and rotating
 * inputs to time them on. What depends on types and layout alone is kept from one problem
 * to the next.
 */
#ifndef GT_TUNER_LAB_LAB_H
#define GT_TUNER_LAB_LAB_H

#include "core/outcome.h"
#include "tuner/lab/check.h"
#include "tuner/lab/race.h"

struct gt_lab;

/* Opens the device. */
gt_status gt_lab_create(struct gt_lab **out, const struct gt_device *d, struct gt_err *err);
void gt_lab_destroy(struct gt_lab *lab);
struct gt_gpu *gt_lab_gpu(struct gt_lab *lab);
const struct gt_device *gt_lab_device(const struct gt_lab *lab);

/* Makes what problems of these types and this layout share, for a C as large as the
 * problem's. */
gt_status gt_lab_setup_types(struct gt_lab *lab, const gemmtune_problem *p, uint64_t seed,
                             struct gt_err *err);
/* Makes data and references for the canonical problem; nothing when it is set up already.
 * ENOMEM says how many bytes it needs and how many the device has, before anything is
 * allocated. */
gt_status gt_lab_setup(struct gt_lab *lab, const gemmtune_problem *p, uint64_t seed,
                       struct gt_err *err);
/* Makes the rotating inputs of the problem that is set up, which only timing needs: up to a
 * thousand sets. Nothing when they are there. After a failure no problem is set up. */
gt_status gt_lab_setup_inputs(struct gt_lab *lab, struct gt_err *err);
/* Device bytes that both take on this device. */
int64_t gt_lab_bytes(const gemmtune_problem *p, const struct gt_device *d);

/* A kernel ready for the cases of the lab: for the problem, and for each small case that it
 * accepts. */
struct gt_suite;

/* Makes the suite of a kernel for the problem that is set up, and makes sure of the
 * workspace that its cases need. The kernel must outlive the suite. EINVAL: the workspace
 * is larger than a caller of the library would give, or than the room beside the problem's
 * data. */
gt_status gt_lab_reserve(struct gt_suite **out, struct gt_lab *lab, const struct gt_exec *e,
                         struct gt_err *err);
void gt_suite_destroy(struct gt_suite *s); /* accepts NULL */

/* The functions below take kernels whose workspace is reserved. */

/* Checks a kernel on the small cases and on the problem itself. */
gt_status gt_lab_check(bool *right, char why[GT_VERDICT_MAX], struct gt_lab *lab,
                       const struct gt_suite *s, struct gt_err *err);
/* The problem's realistic case alone: once more after timing. */
gt_status gt_lab_recheck(bool *right, char why[GT_VERDICT_MAX], struct gt_lab *lab,
                         const struct gt_exec *e, struct gt_err *err);

/* How long kernels are timed: one alone, finalists against each other, winners of several
 * runs. */
struct gt_time_budget {
    double sample_ns; /* device time of a sample, about */
    double load_ns;   /* device time under their load, on a GPU, before any counts */
    struct gt_race_rule rule;
};
extern const struct gt_time_budget gt_screen_budget, gt_final_budget, gt_again_budget;

/* Times kernels made for the problem on its inputs, interleaved sample by sample in
 * rotating order; out[i] is execs[i]'s. Sample j of all is of the same round. */
gt_status gt_lab_time(struct gt_measurement *out, struct gt_lab *lab,
                      const struct gt_exec *const *execs, int count,
                      const struct gt_time_budget *budget, struct gt_err *err);

#endif
