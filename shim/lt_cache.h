/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lt_cache.h - what descriptors of cublasLt say, kept by their bytes. To ask cublasLt for
 * thirty attributes takes longer than the rest of a call. Descriptors hold their values, so
 * those with the same bytes say the same. Their sizes are known of some releases; of others
 * nothing is kept. Each thread keeps its own.
 */
#ifndef GT_SHIM_LT_CACHE_H
#define GT_SHIM_LT_CACHE_H

#include "shim/call.h"

/* The bytes of the five descriptors of a call. */
enum { GT_SHIM_DESC_WORDS = 32, GT_SHIM_LAYOUT_WORDS = 8 };
struct gt_shim_lt_bytes {
    uint64_t desc[GT_SHIM_DESC_WORDS];
    uint64_t layout[4][GT_SHIM_LAYOUT_WORDS];
};

struct gt_shim_lt_slot {
    uint64_t hash;
    const struct gt_shim_library *library; /* NULL: empty */
    struct gt_shim_lt_bytes bytes;
    struct gt_shim_call said; /* members that descriptors give */
    enum gt_shim_reason why;
    bool in_place; /* C and D have one layout */
};

/* The slot for the call's descriptors; *known: it has their meaning. NULL: nothing is
 * kept. */
struct gt_shim_lt_slot *gt_shim_lt_slot(bool *known, const struct gt_shim_call *x);

#endif
