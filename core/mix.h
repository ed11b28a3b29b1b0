/* SPDX-License-Identifier: Apache-2.0 */
/* mix.h - random-looking words of counters and of keys. */
#ifndef GT_CORE_MIX_H
#define GT_CORE_MIX_H

#include <stdint.h>

/* The step of splitmix64's counter: 2^64 over the golden ratio. */
#define GT_MIX_STEP UINT64_C(0x9e3779b97f4a7c15)

/* The finalizer of splitmix64 (Steele, Lea, Flood 2014): one to one, and each bit of the
 * result depends on all bits of z. */
static inline uint64_t gt_mix(uint64_t z) {
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

#endif
