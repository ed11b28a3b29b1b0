/* SPDX-License-Identifier: Apache-2.0 */
/* split.h - the accuracy of f32@split and f32@bf16x3. docs/split.md derives it. */
#ifndef GT_CORE_SPLIT_H
#define GT_CORE_SPLIT_H

#include "include/gemmtune.h"

#include <stdbool.h>
#include <stdint.h>

/* A sum of tensor cores runs over at most GT_SPLIT_DEPTH elements of k, a number that
 * templates/common/split.h has as well. At most every GT_SPLIT_LEAST of k it is added to a
 * total: templates/triple/space.json has no point that does so more often. */
enum { GT_SPLIT_DEPTH = 32, GT_SPLIT_LEAST = 16 };

/* Whether F32 inputs may be two parts each: SPLIT and BF16X3. The functions below are for
 * these. */
bool gt_math_splits(gemmtune_math math);

/* f, where |c - r| <= f u |A||B| holds for an element c of a product of depth k, with u =
 * 2^-24, whatever the data are, as long as no part and no sum underflows. */
double gt_split_error(gemmtune_math math, int64_t k);

/* The part of f that splitting alone adds, for data of independent signs, such as the data
 * of checks. For other data the part may be larger. */
double gt_split_parts(gemmtune_math math, int64_t k);

#endif
