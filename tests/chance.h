/* SPDX-License-Identifier: Apache-2.0 */
/* chance.h - random numbers for the data of tests. A program gets the same sequence in
 * every run. */
#ifndef GT_TESTS_CHANCE_H
#define GT_TESTS_CHANCE_H

#include "core/mix.h"

static uint64_t chance_seed;

static inline uint64_t any_bits(void) {
    return gt_mix(chance_seed += GT_MIX_STEP);
}

/* From -1 to 1. The factor fills the lower bits of small numbers. */
static inline double any_uniform(void) {
    return (double)((int64_t)any_bits() >> 11) * 0x1.fb8dc1fa2e9a7p-53;
}

#endif
