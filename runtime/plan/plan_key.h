/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan_key.h - everything that a plan depends on, as words. The one-call functions compare
 * them at every call: no padding, no text to write.
 */
#ifndef GT_RUNTIME_PLAN_PLAN_KEY_H
#define GT_RUNTIME_PLAN_PLAN_KEY_H

#include "core/problem/problem.h"

enum {
    GT_PLAN_KEY_SIZES = 7, /* the words that the hash reads: types .. ldc */
    GT_PLAN_KEY_WORDS =
        GT_PLAN_KEY_SIZES + 7 /* batch, its strides, rows, its kind; workspace */
};

struct gt_plan_key {
    uint64_t word[GT_PLAN_KEY_WORDS];
    const char *epilogue; /* the problem's own text, or NULL */
};

/* The key of a canonical problem with at most so many bytes of workspace. Two problems have
 * the same key when they have the same name. */
struct gt_plan_key gt_plan_key_of(const gemmtune_problem *p, size_t workspace_max);
bool gt_plan_key_same(const struct gt_plan_key *x, const struct gt_plan_key *y);
size_t gt_plan_key_hash(const struct gt_plan_key *key);

/* The key of a plan as bytes, with the worst match and whether the caller's problem is
 * column-major. The caller frees them. NULL: out of memory. */
void *gt_plan_key_bytes(size_t *size, const struct gt_plan_key *key, gemmtune_match worst,
                        bool swapped);

#endif
