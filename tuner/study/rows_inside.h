/* SPDX-License-Identifier: Apache-2.0 */
/* rows_inside.h - the matrices that rows.c and rows_memory.c share. */
#ifndef GT_TUNER_STUDY_ROWS_INSIDE_H
#define GT_TUNER_STUDY_ROWS_INSIDE_H

#include "core/epilogue/epilogue_keep.h"
#include "tuner/study/rows.h"

enum {
    GT_ROWS_PLACES = 2,    /* 0: aligned and packed; 1: at odd elements, with odd rows */
    GT_ROWS_PRODUCTS = 12, /* of a batch, or groups, at most */
    GT_ROWS_OFFSET = 3     /* elements before the matrices of place 1 */
};

/* A matrix in device memory. */
struct gt_rows_matrix {
    void *memory;
    int64_t ld, offset; /* in elements */
};

struct gt_rows_memory {
    struct gt_rig *rig;
    gemmtune_problem problem; /* all rows as one product */
    struct gt_rows_matrix a[GT_ROWS_PLACES], b, c;
    int64_t c_elems;
    void *rows;       /* lists of groups, GT_ROWS_PRODUCTS int32 */
    void *pointer[3]; /* arrays of pointers to A, B and C */
    void *workspace;
    int64_t workspace_bytes;
    const void *operand[GT_EPILOGUE_OPERANDS_MAX]; /* alike in all rows and products */
    void *d2;
    unsigned char *reference, *got; /* C of all rows: packed; as place 1 has it at most */
    int64_t ldc[GT_ROWS_PLACES];
};

/* Matrices of uniform numbers of the seed, where neighbouring rows of A differ; room for C.
 * The caller clears *m, also after a failure. ENOMEM, EDEVICE. */
gt_status gt_rows_memory_make(struct gt_rows_memory *m, struct gt_rig *rig,
                              const gemmtune_problem *all, uint64_t seed,
                              struct gt_err *err);
void gt_rows_memory_clear(struct gt_rows_memory *m);
/* At least so much workspace. ENOMEM. */
gt_status gt_rows_memory_need(struct gt_rows_memory *m, int64_t bytes, struct gt_err *err);

#endif
