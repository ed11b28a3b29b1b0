/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reference.h - the same product on the CPU, for comparisons and for the first rung of the
 * ladder: by a plain loop, or by the machine's CBLAS (opened at run time).
 */
#ifndef GT_TUNER_LAB_REFERENCE_H
#define GT_TUNER_LAB_REFERENCE_H

#include "core/problem/problem.h"

/* The ways to compute on the CPU. */
enum gt_cpu { GT_CPU_LOOP, GT_CPU_BLAS };

enum { GT_CPU_ABOUT_MAX = 192 };

/* C = op(A) op(B) + beta C on this machine's CPU. */
typedef void (*gt_cpu_product)(const gemmtune_problem *p, const void *a, const void *b,
                               double beta, void *c);

/* Finds a product for the problem. `what` gets a description: "three loops, one thread",
 * "libopenblas.so.0, OpenBLAS 0.3.21, core Haswell, 2 threads". EUNSUPPORTED when there is
 * no CBLAS, or none for the type. */
gt_status gt_cpu_find(gt_cpu_product *out, char what[GT_CPU_ABOUT_MAX], enum gt_cpu which,
                      const gemmtune_problem *p, struct gt_err *err);

/* The CBLAS that computes such a problem: its file and, where it says so, its version,
 * the core type that it detected and its threads. NULL when there is none. The environment
 * variable GEMMTUNE_LIBCBLAS names another library file. */
const char *gt_cpu_blas_for(const gemmtune_problem *p);
/* A sentence of warning when that library is too slow for a baseline: the reference BLAS,
 * or an OpenBLAS that takes this CPU for one without wide vectors. Else NULL. */
const char *gt_cpu_blas_warning(void);
/* Computes C = alpha op(A) op(B) + beta C with that library. */
void gt_cpu_blas_run(const gemmtune_problem *p, double alpha, const void *a, const void *b,
                     double beta, void *c);

#endif
