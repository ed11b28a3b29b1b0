/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npy_head.h - the header of a .npy file: a Python dictionary with the keys descr,
 * fortran_order and shape. It reads all that NumPy reads: both kinds of quotes, integers of
 * Python 2 (6L), any blanks; of a key that comes twice the last value counts.
 */
#ifndef GT_TUNER_STREAM_NPY_HEAD_H
#define GT_TUNER_STREAM_NPY_HEAD_H

#include "core/problem/problem.h"

enum { GT_NPY_HEAD_MAX = 64 * 1024, GT_NPY_NEW_HEAD = 128 };

/* A value as the header has it. */
struct gt_npy_value {
    const char *text;
    int len;
};

struct gt_npy_head {
    struct gt_npy_value descr, order, shape; /* in `text` */
    size_t data;                             /* where the elements begin */
    char text[GT_NPY_HEAD_MAX + 1];
};

/* Reads the begin of a file. EPARSE, with the path: it is no .npy file, or damaged. */
gt_status gt_npy_head_read(struct gt_npy_head *h, const unsigned char *file, size_t size,
                           const char *path, struct gt_err *err);
/* The type of the elements; false when it is none that gemmtune has. */
bool gt_npy_head_type(gemmtune_dtype *out, const struct gt_npy_head *h);
/* Whether the array is stored row by row. */
bool gt_npy_head_is_c(const struct gt_npy_head *h);
/* False when the array has not two dimensions. */
bool gt_npy_head_shape(struct gt_shape *out, const struct gt_npy_head *h);

/* NumPy's word for a type, "<f4"; NULL when it has none. */
const char *gt_npy_word(gemmtune_dtype type);
/* The header that NumPy writes, of version 1.0: the elements begin at a multiple of 64. */
void gt_npy_head_write(char out[GT_NPY_NEW_HEAD], gemmtune_dtype type,
                       struct gt_shape shape);

#endif
