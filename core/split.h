/* SPDX-License-Identifier: Apache-2.0 */
/* split.h - the accuracy that f32@split promises. docs/split.md derives it. */
#ifndef GT_CORE_SPLIT_H
#define GT_CORE_SPLIT_H

#include <stdint.h>

/* A sum of tensor cores runs over at most so many elements of k. templates/common/split.h
 * has the same number. */
enum { GT_SPLIT_DEPTH = 32 };

/* The error of one product a b that comes from splitting alone, in units of u |a||b|. */
enum { GT_SPLIT_PARTS = 9 };

/* f, where |c - r| <= f u |A||B| holds for an element c of a product of depth k, with u =
 * 2^-24, whatever the data are, as long as no part and no sum underflows. */
double gt_split_error(int64_t k);

#endif
