/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reference.h - the same product on the CPU, for comparison and for the ladder's first
 * rung: a plain loop, and whatever CBLAS the machine has (opened at run time).
 */
#ifndef GT_TUNER_LAB_REFERENCE_H
#define GT_TUNER_LAB_REFERENCE_H

#include "core/problem.h"

/* Which CPU contestant. */
enum gt_cpu { GT_CPU_LOOP, GT_CPU_BLAS };

/* Times one product of random data on this machine's CPU, nanoseconds: the best of a few
 * runs when one is short. EUNSUPPORTED when there is none (no CBLAS here, or none for the
 * type). `what` (64 bytes) gets its name: "three loops, 1 thread", "libopenblas.so.0". */
gt_status gt_cpu_time(double *ns, char what[64], enum gt_cpu which,
                      const gemmtune_problem *p, struct gt_err *err);

/* The CBLAS that computes such a problem, by the name of its library; NULL when there is
 * none. */
const char *gt_cpu_blas_for(const gemmtune_problem *p);
/* C = alpha op(A) op(B) + beta C by it. */
void gt_cpu_blas_run(const gemmtune_problem *p, double alpha, const void *a, const void *b,
                     double beta, void *c);

#endif
