/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packed.h - the form of a packed B: a matrix with rows that begin at multiples of 128
 * bytes from its start, in the layout that kernels read fastest. It depends on the types,
 * the math, n and k of a problem, and on nothing else: not on m, the kernel or the device.
 * So one packed B serves products of every m, and to a kernel it is a matrix like any
 * other.
 *
 * The bytes between the end of a row and the next row are zeros.
 */
#ifndef GT_CORE_PROBLEM_PACKED_H
#define GT_CORE_PROBLEM_PACKED_H

#include "core/problem/problem.h"

enum { GT_PACKED_ROW_BYTES = 128 }; /* a row begins at a multiple of these */

/* Gives B of a row-major problem the layout, leading dimension and stride of the packed
 * form. A stride of 0 stays: one packed B for all products. EINVAL: n or k is too large for
 * a leading dimension, or 64 bits do not count the packed bytes. */
gt_status gt_packed_settle(gemmtune_problem *p, struct gt_err *err);

/* The least leading dimension of B as the problem describes it: with packed_b the packed
 * form's, else a row's length. */
int64_t gt_packed_ld(const gemmtune_problem *p);

/* Bytes of the packed B of a canonical problem with packed_b, all products together. A last
 * row counts whole. */
int64_t gt_packed_bytes(const gemmtune_problem *p);

#endif
