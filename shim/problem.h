/* SPDX-License-Identifier: Apache-2.0 */
/* problem.h - a problem of gemmtune's that a call asks for, and what both sides call types
 * and epilogues. */
#ifndef GT_SHIM_PROBLEM_H
#define GT_SHIM_PROBLEM_H

#include "include/gemmtune.h"

#include <stdbool.h>

/* A problem as gemmtune knows it: row-major, so A and B, m and n of cuBLAS's are exchanged.
 * Words are compared, so there is no padding. */
struct gt_shim_key {
    uint64_t context; /* gt_shim_context; 0 while only recording */
    int64_t stride_a, stride_b, stride_c;
    uint64_t workspace; /* bytes that a plan may use */
    int32_t m, n, k, lda, ldb, ldc, batch;
    uint8_t type_a, type_b, type_c, type_acc;
    uint8_t math, kind, trans, reads_c, epilogue, bias_type, is_lt, library;
};

/* The problem of a key, with the text of its epilogue. */
void gt_shim_problem(gemmtune_problem *p, const struct gt_shim_key *key);

/* Epilogues of cublasLt that have the same meaning in gemmtune's words. Row 0 is none. */
struct gt_shim_epilogue {
    unsigned theirs;
    const char *text;  /* without the type of the bias */
    const char *typed; /* the same, for a declared bias; NULL: there is no bias */
    bool aux;          /* has a second output */
};
extern const struct gt_shim_epilogue gt_shim_epilogues[];
enum { GT_SHIM_EPILOGUES = 8 };

#endif
