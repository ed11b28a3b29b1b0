/* SPDX-License-Identifier: Apache-2.0 */
/* split.c - see split.h. */
#include "core/split.h"

static int64_t least(int64_t x, int64_t y) {
    return x < y ? x : y;
}

static int64_t quotient_up(int64_t x, int64_t y) {
    return (x + y - 1) / y;
}

double gt_split_error(int64_t k) {
    enum { STEP = 8 }; /* of k, in an instruction */
    if (k <= 0)
        return 0;
    const int64_t steps = quotient_up(least(k, GT_SPLIT_DEPTH), STEP);
    const int64_t cut = 2 * (3 * steps - 2) * (least(k, STEP) + 2);
    return (double)(GT_SPLIT_PARTS + cut + quotient_up(k, GT_SPLIT_DEPTH) - 1);
}
