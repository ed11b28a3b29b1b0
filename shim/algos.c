/* SPDX-License-Identifier: Apache-2.0 */
/* algos.c - see algos.h. A set of hashes in a table that is never emptied. */
#include "shim/algos.h"

#include <stdatomic.h>
#include <string.h>

enum { SLOTS = 1 << 13, TRIES = 32 };

static atomic_uint_least64_t slots[SLOTS]; /* 0: free */

static uint64_t hash_of(const void *algo) {
    uint64_t word[GT_SHIM_ALGO_WORDS], hash = UINT64_C(14695981039346656037);
    memcpy(word, algo, sizeof word);
    for (int i = 0; i < GT_SHIM_ALGO_WORDS; i++) {
        hash = (hash ^ word[i]) * UINT64_C(0xff51afd7ed558ccd);
        hash ^= hash >> 32;
    }
    return hash | 1;
}

void gt_shim_algo_keep(const struct gt_shim_algo *algo) {
    const uint64_t hash = hash_of(algo);
    for (uint64_t i = 0; i < TRIES; i++) {
        atomic_uint_least64_t *slot = &slots[((hash >> 1) + i) & (SLOTS - 1)];
        uint_least64_t before = 0;
        if (atomic_compare_exchange_strong(slot, &before, hash) || before == hash)
            return;
    }
}

bool gt_shim_algo_is_known(const void *algo) {
    const uint64_t hash = hash_of(algo);
    for (uint64_t i = 0; i < TRIES; i++) {
        const uint64_t there = atomic_load_explicit(&slots[((hash >> 1) + i) & (SLOTS - 1)],
                                                    memory_order_relaxed);
        if (there == hash)
            return true;
        if (there == 0)
            return false;
    }
    return false;
}
