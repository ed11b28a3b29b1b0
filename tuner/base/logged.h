/* SPDX-License-Identifier: Apache-2.0 */
/*
 * logged.h - one line of another program's log or list, as a problem.
 *
 *   GemmTunableOp_BFloat16_TN,tn_6144_8_2560_ld_2560_2560_6144     PyTorch's TunableOp
 *   rocblas-bench -f gemm_ex --transposeA N ... -m 64 ...          rocBLAS, bench logging
 *   - { rocblas_function: "rocblas_gemm_ex", M: 64, ... }          rocBLAS, profile logging
 *   hipblaslt-bench --api_method c -m 64 ...                       hipBLASLt, bench logging
 *   - { function: matmul, M: 64, ... }                             hipBLASLt, TunableOp
 *   std::make_tuple(1760, 16, 1760, false, false)                  DeepBench
 *
 * All of them are column-major. The problem is row-major: A and B, m and n are exchanged.
 */
#ifndef GT_TUNER_BASE_LOGGED_H
#define GT_TUNER_BASE_LOGGED_H

#include "core/problem/problem.h"

/* The end of a line. Only the first is a problem; the last is a line of something else. */
enum gt_logged_fate {
    GT_LOGGED_PROBLEM,
    GT_LOGGED_COMPLEX,
    GT_LOGGED_TYPES,    /* types or arithmetic without a kernel */
    GT_LOGGED_EPILOGUE, /* an epilogue that epilogue.h cannot say, or a gradient */
    GT_LOGGED_GROUPED,  /* products of several shapes in one call */
    GT_LOGGED_APART,    /* the old C and the new one are two matrices */
    GT_LOGGED_EMPTY,    /* m, n or k is 0 */
    GT_LOGGED_OTHER,    /* another function than a matrix product */
    GT_LOGGED_DAMAGED,  /* err has the reason */
    GT_LOGGED_NONE,
    GT_LOGGED_FATES
};

/* Bits: a line left something open, or asked for it in another way. */
enum {
    GT_LOGGED_UNTYPED = 1,   /* the list names no types: f32 is taken */
    GT_LOGGED_HALF_SUMS = 2, /* sums in f16: sums in f32 are taken */
};

struct gt_logged {
    enum gt_logged_fate fate;
    gemmtune_problem problem; /* canonical */
    int64_t calls;
    unsigned notes;
};

/* Reads a line of `len` bytes. `err` has a text when the fate is DAMAGED. ENOMEM. */
gt_status gt_logged_read(struct gt_logged *out, const char *line, size_t len,
                         struct gt_err *err);

#endif
