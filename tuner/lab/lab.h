/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lab.h - a problem set up on a device: cases to check kernels on, and rotating inputs to
 * time them on. Parts that depend only on types and layout are kept for the next problem.
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

/* Makes the parts that problems of these types and this layout share, for a C of this
 * problem's size. */
gt_status gt_lab_setup_types(struct gt_lab *lab, const gemmtune_problem *p, uint64_t seed,
                             struct gt_err *err);
/* Makes the data and references of the canonical problem, unless it is already set up.
 * ENOMEM is returned before anything is allocated; it names the bytes needed and the bytes
 * of the device. */
gt_status gt_lab_setup(struct gt_lab *lab, const gemmtune_problem *p, uint64_t seed,
                       struct gt_err *err);
/* The problem that is set up. */
const gemmtune_problem *gt_lab_problem(const struct gt_lab *lab);
/* Sets the numbers of rows that groups and products of the rotating inputs have. Without a
 * call they are AROUND. */
void gt_lab_set_spread(struct gt_lab *lab, enum gt_spread spread);
/* Makes the rotating inputs of the current problem, up to a thousand sets, unless they
 * exist. Only timing needs them. After a failure no problem is set up. */
gt_status gt_lab_setup_inputs(struct gt_lab *lab, struct gt_err *err);
/* Device bytes that problem and inputs take on this device, at most INT64_MAX. */
int64_t gt_lab_bytes(const gemmtune_problem *p, const struct gt_device *d);

/* A kernel made ready for the cases of the lab: for the problem, and for each small case
 * that it accepts. */
struct gt_suite;

/* Makes the suite of a kernel for the current problem and reserves the workspace of its
 * cases. The kernel must outlive the suite. EINVAL: the workspace is larger than a caller
 * of the library would give, or larger than the room beside the problem's data. */
gt_status gt_lab_reserve(struct gt_suite **out, struct gt_lab *lab, const struct gt_exec *e,
                         struct gt_err *err);
void gt_suite_destroy(struct gt_suite *s); /* accepts NULL */

/* The functions below take kernels with a reserved workspace. */

/* Checks a kernel on the small cases and on the problem itself. */
gt_status gt_lab_check(bool *right, char why[GT_VERDICT_MAX], struct gt_lab *lab,
                       const struct gt_suite *s, struct gt_err *err);
/* Says what was wrong in the outputs that the clock saw, if the kernel was timed last;
 * otherwise checks the problem's realistic case alone, once more. */
gt_status gt_lab_recheck(bool *right, char why[GT_VERDICT_MAX], struct gt_lab *lab,
                         const struct gt_exec *e, struct gt_err *err);

/* The error of the product that was rechecked last. *measured is false for integers and for
 * problems with an epilogue. */
gt_status gt_lab_error(struct gt_error *out, bool *measured, struct gt_lab *lab,
                       struct gt_err *err);

/* Limits of a timing: of one kernel, of finalists in turn, or of the winners of several
 * runs. */
struct gt_time_budget {
    double sample_ns; /* approximate device time of a sample */
    /* GPUs: device time under the kernels' load before the first sample */
    double load_ns;
    struct gt_race_rule rule;
};
extern const struct gt_time_budget gt_screen_budget, gt_final_budget, gt_compare_budget;

/* Times kernels made for the problem on its inputs, and looks at what they compute there,
 * sample by sample in rotating order. out[i] belongs to execs[i]. Sample j is of the round
 * out[i].unsettled + j. */
gt_status gt_lab_time(struct gt_measurement *out, struct gt_lab *lab,
                      const struct gt_exec *const *execs, int count,
                      const struct gt_time_budget *budget, struct gt_err *err);

#endif
