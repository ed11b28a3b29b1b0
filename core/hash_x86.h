/* SPDX-License-Identifier: Apache-2.0 */
/* hash_x86.h - SHA-256 by the SHA instructions of x86-64 processors, six times as fast as
 * hash.c without them. */
#ifndef GT_CORE_HASH_X86_H
#define GT_CORE_HASH_X86_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether this processor has the instructions. Asks it once. Any thread may call. */
bool gt_hash_has_x86(void);
/* Adds `count` blocks of 64 bytes to the state; `k` has the 64 constants of FIPS 180-4. */
void gt_hash_compress_x86(uint32_t state[8], const unsigned char *block, size_t count,
                          const uint32_t k[64]);

#endif
