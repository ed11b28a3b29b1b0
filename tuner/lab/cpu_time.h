/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_time.h - times products on this machine's own cores. Every command that shows such a
 * time takes it here, in the way that a program sees: calls in a row, on memory of the
 * host, each on the next of as many sets of matrices as kernels rotate through.
 */
#ifndef GT_TUNER_LAB_CPU_TIME_H
#define GT_TUNER_LAB_CPU_TIME_H

#include "tuner/lab/reference.h"

/* The condition, for those who read such a time. */
#define GT_CPU_CONDITION "calls in a row, inputs not in a cache"

struct gt_cpu_watch;

/* Makes the matrices and finds how many calls make a sample of `sample_ns`. `what` gets a
 * description of the product and the condition. Errors as of gt_cpu_find. */
gt_status gt_cpu_watch_create(struct gt_cpu_watch **out, char what[GT_CPU_ABOUT_MAX],
                              enum gt_cpu which, const gemmtune_problem *p,
                              double sample_ns, struct gt_err *err);
void gt_cpu_watch_destroy(struct gt_cpu_watch *w); /* accepts NULL */
/* Takes the next sample: the time of one call. */
double gt_cpu_watch_sample(struct gt_cpu_watch *w);
int gt_cpu_watch_calls(const struct gt_cpu_watch *w); /* in a sample */

/* Times one product: the median of the samples of a second, at most 32. */
gt_status gt_cpu_time(double *ns, char what[GT_CPU_ABOUT_MAX], enum gt_cpu which,
                      const gemmtune_problem *p, struct gt_err *err);

#endif
