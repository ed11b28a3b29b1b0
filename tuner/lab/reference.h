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

enum { GT_CPU_ABOUT_MAX = 128 };

/* Times one product of random data on this machine's CPU, nanoseconds: the median run of a
 * second, or of 32 runs, on inputs that are not in a cache. EUNSUPPORTED when there is none
 * (no CBLAS here, or none for the type). `what` gets its name: "three loops, one thread",
 * "libopenblas.so.0, OpenBLAS 0.3.21, core Haswell". */
gt_status gt_cpu_time(double *ns, char what[GT_CPU_ABOUT_MAX], enum gt_cpu which,
                      const gemmtune_problem *p, struct gt_err *err);

/* The CBLAS that computes such a problem: its file and, when it tells, its version and the
 * core that it takes the processor for. NULL when there is none. The environment's
 * GEMMTUNE_LIBCBLAS names another library file. */
const char *gt_cpu_blas_for(const gemmtune_problem *p);
/* A sentence when that library is the reference BLAS, which says little as a baseline;
 * else NULL. */
const char *gt_cpu_blas_warning(void);
/* C = alpha op(A) op(B) + beta C by it. */
void gt_cpu_blas_run(const gemmtune_problem *p, double alpha, const void *a, const void *b,
                     double beta, void *c);

#endif
