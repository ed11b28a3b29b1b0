/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan_key.h - what a plan depends on, as words that are compared at every call of the
 * one-call functions: no padding, no text to write.
 */
#ifndef GT_RUNTIME_PLAN_KEY_H
#define GT_RUNTIME_PLAN_KEY_H

#include "core/problem.h"

enum {
    GT_PLAN_KEY_SIZES = 7, /* types and the like, m n k, lda ldb ldc: what the hash reads */
    GT_PLAN_KEY_WORDS = GT_PLAN_KEY_SIZES + 6 /* batch, its strides, rows, its kind */
};

struct gt_plan_key {
    uint64_t word[GT_PLAN_KEY_WORDS];
    const char *epilogue; /* the problem's own text, or NULL */
};

/* The key of a canonical problem; two problems have one key when they have one name. */
struct gt_plan_key gt_plan_key_of(const gemmtune_problem *p);
bool gt_plan_key_same(const struct gt_plan_key *x, const struct gt_plan_key *y);
size_t gt_plan_key_hash(const struct gt_plan_key *key);

#endif
