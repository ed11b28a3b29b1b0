/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dtype.h - the data types of a problem as one word ("f32", "tf32", "i8"), and what each
 * means for A, B, C and the accumulator. One table; nothing else lists the types.
 */
#ifndef GT_CORE_DTYPE_H
#define GT_CORE_DTYPE_H

#include "core/status.h"

#include <stdbool.h>

/* A row of the table. */
struct gt_dtype {
    const char *name; /* as in problem names: f32 f64 i32 f16 bf16 tf32 i8 e4m3 */
    gemmtune_dtype a, b, c, acc;
    gemmtune_math math;
};

/* The row called `name` (length `len`), or NULL. */
const struct gt_dtype *gt_dtype_by_name(const char *name, size_t len);
/* The row for a problem's types, or NULL when the mix has no name. */
const struct gt_dtype *gt_dtype_of(const gemmtune_problem *p);
/* Row i of the table, NULL past the end. */
const struct gt_dtype *gt_dtype_at(size_t i);

size_t gt_type_size(gemmtune_dtype type);      /* bytes per element */
const char *gt_type_name(gemmtune_dtype type); /* "f32", "i32", ... */
bool gt_type_is_float(gemmtune_dtype type);
/* unit roundoff u: 2^-24 for f32; 0 for integers */
double gt_type_unit(gemmtune_dtype type);

#endif
