/* SPDX-License-Identifier: Apache-2.0 */
/* compare.h - two results of one call, in host memory: check.h has the bound. */
#ifndef GT_SHIM_COMPARE_H
#define GT_SHIM_COMPARE_H

#include "shim/table.h"

#include <stddef.h>

enum gt_shim_operand { GT_SHIM_A, GT_SHIM_B, GT_SHIM_C };

/* Bytes of an operand of the problem, from its first to its last element. */
size_t gt_shim_bytes(const struct gt_shim_key *key, enum gt_shim_operand operand);

/* The operands, as they are in device memory, and C in three states. */
struct gt_shim_results {
    void *a, *b, *before, *ours, *theirs;
    const void *alpha, *beta; /* host scalars */
};

/* Compares all elements and counts the call. The first wrong one of an entry is named on
 * stderr. */
void gt_shim_compare(struct gt_shim_entry *e, const struct gt_shim_results *r);

#endif
