/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.h - exec --check: ours goes into a copy of C, the original into C, and both are
 * compared. The host waits for the stream.
 *
 * Both results lie within a bound of the exact one, so they differ by twice that at most:
 *
 *     2 |alpha| |a| |b| ((k + 2) 4 u + r) + 2 v max(|ours|, |theirs|) + 4 u |beta c|
 *
 * - |a|, |b|: the Euclidean lengths of the row of op(A) and the column of op(B). They bound
 *   the sum of |a||b| over k (Cauchy and Schwarz).
 * - u: the unit of sums, 2^-24 for f32, 2^-53 for f64, 2^-14 where sums of 8-bit floats may
 *   be short. The factor 4 is for tensor cores, which cut off where others round
 *   (docs/split.md).
 * - r: twice the rounding of inputs that the arithmetic allows, 2^-10 for TF32; else 0.
 * - v: the unit of C's type.
 *
 * After an epilogue the bound is 1.2 times as large, since no slope of theirs is larger,
 * and 2^-8 of the value more for GELU.
 *
 * Integers are compared exactly. Where the bound is no number, since A or B has infinities,
 * nothing is compared.
 */
#ifndef GT_SHIM_CHECK_H
#define GT_SHIM_CHECK_H

#include "shim/call.h"
#include "shim/device.h"
#include "shim/table.h"

/* Launches ours. GT_SHIM_NONE: x->comparison is set, and gt_shim_check_end compares. */
enum gt_shim_reason gt_shim_check_begin(struct gt_shim_call *x, struct gt_shim_entry *e,
                                        void *workspace, void *stream,
                                        const struct gt_shim_driver *d);
void gt_shim_check_end(struct gt_shim_call *x, unsigned status);

#endif
