/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call.h - a call of the program's, from its entry to its end.
 *
 * - entry.c: fills in the arguments and calls gt_shim_begin. Unless that has served the
 *   call, entry.c calls the original, then gt_shim_end.
 * - read.c, read_lt.c: make a key of the arguments, or say why the call is passed on
 * - table.c: finds the entry of a key without a lock
 * - decide.c: whether an entry is served, and by which plan
 * - serve.c: a call from its entry to its end; launch.c, check.c, record.c do the work
 */
#ifndef GT_SHIM_CALL_H
#define GT_SHIM_CALL_H

#include "include/gemmtune.h"
#include "shim/reason.h"

#include <stdbool.h>

struct gt_shim_comparison;

/* The functions of one loaded library: see original.h. */
struct gt_shim_library;

enum gt_shim_kind {
    GT_SHIM_ONE,
    GT_SHIM_AT_STRIDES,
    GT_SHIM_BY_POINTERS,
    GT_SHIM_IN_GROUPS
};

/* The arguments that cublasLtMatmul has beside a plain product. */
struct gt_shim_lt {
    void *desc, *layout[4]; /* of A, B, C and D */
    const void *c;          /* which is read */
    const void *algo;
    void *workspace;
    size_t workspace_bytes;
    void *stream;
};

/* The arguments of a call, column-major, as the program gave them. `a`, `b` and `c` are
 * arrays of pointers where kind is GT_SHIM_BY_POINTERS. */
struct gt_shim_call {
    int id; /* enum gt_shim_id */
    enum gt_shim_kind kind;
    const void *from; /* the address that the call returns to */
    void *handle;
    unsigned op_a, op_b, type_a, type_b, type_c, compute;
    int algo;
    int64_t m, n, k, lda, ldb, ldc, stride_a, stride_b, stride_c, batch;
    const void *alpha, *a, *b, *beta;
    void *c;
    const struct gt_shim_lt *lt; /* NULL: a call of cuBLAS */

    /* set by gt_shim_begin */
    const struct gt_shim_library *library;
    void *original;
    struct gt_shim_comparison *comparison; /* exec --check: gt_shim_end compares */
    bool entered;                          /* gt_shim_end leaves again */

    /* set by the reader */
    bool swaps;         /* cublasLt's D is in row order: the reader has exchanged a and b */
    unsigned epilogue;  /* a row of gt_shim_epilogues */
    unsigned bias_type; /* as type_a; of the bias alone */
    const void *bias;   /* or NULL */
    void *aux;          /* or NULL */
    int64_t aux_ld;
    int8_t fast; /* sums of 8-bit floats may have fewer bits */
};

/* Finds the original of the call, and serves the call if it may. True: *status is the
 * call's result. */
bool gt_shim_begin(unsigned *status, struct gt_shim_call *x);
/* After the original, which returned `status`. */
void gt_shim_end(struct gt_shim_call *x, unsigned status);

#endif
