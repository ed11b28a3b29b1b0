/* SPDX-License-Identifier: Apache-2.0 */
/* The tests of test_hash.c for a processor without SHA instructions. */
#include "core/hash_x86.h"

static bool has_none(void) {
    return false;
}

#define gt_hash_has_x86 has_none
#include "core/hash.c"
#undef gt_hash_has_x86

#include "tests/unit/test_hash.c"
